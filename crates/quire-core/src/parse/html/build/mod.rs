//! Tree construction: the WHATWG rules, one file per group of insertion modes.
//!
//! | file | rules |
//! | --- | --- |
//! | [`arena`] | where nodes go |
//! | `follow` | which bytes the tree predicts, while it grows |
//! | [`stack`] | open elements |
//! | `insert` | inserting and closing elements |
//! | `formatting` | active formatting elements, the adoption agency |
//! | `head` | from the first byte to the start of the body |
//! | `body` | "in body" |
//! | `tables` | tables, captions, cells |
//! | `frames` | after the body, framesets, templates |
//! | `foreign` | SVG and MathML |
//!
//! Two deviations from the rules, both bounded and flagged in the digest: elements deeper than
//! [`MAX_DEPTH`] become siblings, as in Blink; the list of formatting elements is short, and copies
//! of formatting elements are limited (see `formatting`). Everything else follows the rules and
//! uses their names.

pub mod arena;
mod body;
mod follow;
mod foreign;
mod formatting;
mod frames;
mod head;
mod insert;
pub mod stack;
mod tables;

use encoding_rs::Encoding;

use self::arena::{Arena, Spot};
use self::formatting::Formatting;
use self::stack::{HTML_INTEGRATION, NOWHERE, Open, Stack, TEXT_INTEGRATION};
use crate::page::flags::Flags;
use crate::page::html_names;
use crate::page::html_names::Name;
use crate::page::text_mode::Mode;
use crate::page::tree::NONE;
use crate::page::vocabulary::{COMMENT, DOCTYPE, Namespace, Tag};
use crate::parse::draft::Draft;
use crate::parse::html::tokenizer::{TagToken, Token, Tokenizer};
use crate::values;
use crate::values::{Syntax, scan};

/// 512: the limit of browsers. Deeper start tags become children of the 512th open element, as in
/// Blink, and the digest is flagged `depth-capped`.
pub const MAX_DEPTH: usize = 512;

/// The form element pointer of a fragment whose context is inside a form.
const FORM_OUTSIDE: u32 = NONE - 1;

/// An insertion mode, by its name in the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InsertionMode {
    Initial,
    BeforeHtml,
    BeforeHead,
    InHead,
    InHeadNoscript,
    AfterHead,
    InBody,
    InTable,
    InCaption,
    InColumnGroup,
    InTableBody,
    InRow,
    InCell,
    InTemplate,
    AfterBody,
    InFrameset,
    AfterFrameset,
    AfterAfterBody,
    AfterAfterFrameset,
}

impl InsertionMode {
    /// Whether the body has not started yet.
    fn is_early(self) -> bool {
        matches!(
            self,
            M::Initial
                | M::BeforeHtml
                | M::BeforeHead
                | M::InHead
                | M::InHeadNoscript
                | M::AfterHead
        )
    }
}

use InsertionMode as M;

/// The element a fragment is parsed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// Its namespace.
    pub namespace: Namespace,
    /// Its name, in lower case for HTML.
    pub name: String,
    /// For `annotation-xml`: whether its `encoding` makes it an HTML integration point.
    pub html_integration: bool,
}

/// How a page is parsed.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether scripts run: `noscript` then holds text.
    pub scripting: bool,
    /// Parse as a fragment inside this element.
    pub context: Option<Context>,
    /// Character set of the page (ASCII-compatible).
    pub encoding: &'static Encoding,
    /// Bytes of byte order mark to skip.
    pub skip: usize,
}

/// Parse a page.
pub fn parse(source: &[u8], options: &Options) -> Draft {
    let mut builder = Builder::new(source, options);
    builder.run();
    builder.finish()
}

/// The outcome of a rule for a token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// The token is done.
    Done,
    /// Process the token again, in the current mode.
    Again,
}

#[allow(clippy::struct_excessive_bools)] // the flags of the standard, with the same names
struct Builder<'a> {
    source: &'a [u8],
    options: &'a Options,
    tokenizer: Tokenizer<'a>,
    arena: Arena,
    stack: Stack,
    formatting: Formatting,
    mode: InsertionMode,
    template_modes: Vec<InsertionMode>,
    head: u32,
    form: u32,
    html: u32,
    frameset_ok: bool,
    quirks: bool,
    foster: bool,
    /// The last tag was `<pre>`, `<listing>` or `<textarea>`: a line end right after it is dropped.
    skip_line_end: bool,
    /// The context of a fragment, as an entry of the stack.
    context: Option<Open>,
}

impl<'a> Builder<'a> {
    fn new(source: &'a [u8], options: &'a Options) -> Self {
        Self {
            source,
            options,
            tokenizer: Tokenizer::new(source, options.skip),
            arena: Arena::new(source.len()),
            stack: Stack::new(),
            formatting: Formatting::default(),
            mode: M::Initial,
            template_modes: Vec::new(),
            head: NONE,
            form: NONE,
            html: NONE,
            frameset_ok: true,
            quirks: false,
            foster: false,
            skip_line_end: false,
            context: None,
        }
    }

    fn run(&mut self) {
        if let Some(context) = &self.options.context {
            self.begin_fragment(context);
        }
        loop {
            let cdata = (self.adjusted_current()).is_some_and(|o| o.namespace != Namespace::Html);
            let token = self.tokenizer.next(cdata);
            let skip_line_end = std::mem::take(&mut self.skip_line_end);
            // By reference: a copy of the token would wait for its parts to be written.
            match &token {
                &Token::Text { start, end } => self.text(start, end, skip_line_end),
                Token::Start(tag) => self.start(tag),
                Token::End(tag) => self.end(tag),
                &Token::Comment { start, end } => self.comment(start, end),
                &Token::Doctype { start, end } => self.doctype(start, end),
                &Token::Cdata { start, end, empty } => {
                    if !empty {
                        self.foreign_text(start, end);
                    }
                }
                Token::Eof => {
                    self.eof();
                    return;
                }
            }
        }
    }

    fn finish(mut self) -> Draft {
        if self.options.scripting {
            self.arena.draft.flags.set(Flags::SCRIPTING);
        }
        drop((self.stack, self.formatting)); // their memory is free for what follows
        self.arena.finish()
    }

    /// Start the fragment parsing algorithm: the document takes the place of the root `html`
    /// element.
    fn begin_fragment(&mut self, context: &Context) {
        let known = html_names::lookup(context.name.to_ascii_lowercase().as_bytes());
        let tag = self.tag_in(context.namespace, known, context.name.as_bytes());
        let extra = if context.html_integration {
            HTML_INTEGRATION
        } else {
            0
        };
        self.stack.push(NONE, NONE, tag, context.namespace, extra);
        self.context = self.stack.pop();
        self.html = 0;
        self.stack
            .push(0, 0, html_names::html(html_names::HTML), Namespace::Html, 0);
        self.arena.draft.flags.set(Flags::FRAGMENT);
        let html_name = if context.namespace == Namespace::Html {
            known
        } else {
            None
        };
        if html_name == Some(html_names::TEMPLATE) {
            self.template_modes.push(M::InTemplate);
        }
        if html_name == Some(html_names::FORM) {
            self.form = FORM_OUTSIDE;
        }
        self.reset_insertion_mode();
        match html_name {
            Some(html_names::TITLE | html_names::TEXTAREA) => self.rest_as_text(Mode::Rcdata),
            Some(
                html_names::STYLE
                | html_names::XMP
                | html_names::IFRAME
                | html_names::NOEMBED
                | html_names::NOFRAMES
                | html_names::SCRIPT
                | html_names::PLAINTEXT,
            ) => self.rest_as_text(Mode::RawText),
            Some(html_names::NOSCRIPT) if self.options.scripting => {
                self.rest_as_text(Mode::RawText);
            }
            _ => {}
        }
    }

    fn rest_as_text(&mut self, mode: Mode) {
        let (start, end) = self.tokenizer.rest();
        if start < end {
            self.insert_text(start, end, mode);
        }
    }

    // ------------------------------------------------------------ dispatch

    /// Return the adjusted current node.
    #[inline]
    fn adjusted_current(&self) -> Option<&Open> {
        match (&self.context, self.stack.len()) {
            (Some(context), 1) => Some(context),
            _ => self.stack.top(),
        }
    }

    fn text(&mut self, start: usize, end: usize, skip_line_end: bool) {
        if let Some(open) = self.adjusted_current()
            && open.namespace != Namespace::Html
            && open.properties & (HTML_INTEGRATION | TEXT_INTEGRATION) == 0
        {
            self.foreign_text(start, end);
            return;
        }
        let mut start = start;
        let mut mode = Mode::Data;
        if skip_line_end {
            let line_end = line_end(&self.source[start..end]);
            let reference = if line_end == 0 {
                self.line_end_reference(start, end)
            } else {
                0
            };
            if line_end + reference == end - start {
                return;
            }
            start += reference;
            if line_end > 0 && self.mode == M::InBody {
                mode = Mode::DataAfterPre;
            } else {
                start += line_end;
            }
        }
        match self.mode {
            M::InBody | M::InCaption | M::InCell | M::InTemplate => {
                self.body_text(start, end, mode);
            }
            M::InTable | M::InTableBody | M::InRow => self.table_text(start, end),
            M::AfterBody | M::AfterAfterBody => self.after_body_text(start, end),
            M::InFrameset | M::AfterFrameset | M::AfterAfterFrameset => {
                self.frameset_text(start, end);
            }
            _ => self.early_text(start, end),
        }
    }

    fn start(&mut self, tag: &TagToken) {
        let foreign = self.adjusted_current().is_some_and(|open| {
            open.namespace != Namespace::Html
                && (open.properties & TEXT_INTEGRATION == 0
                    || matches!(tag.name, html_names::MGLYPH | html_names::MALIGNMARK))
                && !(open.name == html_names::ANNOTATION_XML
                    && open.namespace == Namespace::MathMl
                    && tag.name == html_names::SVG)
                && open.properties & HTML_INTEGRATION == 0
        });
        if foreign && self.foreign_start(tag) == Next::Done {
            return;
        }
        while self.start_in(self.mode, tag) == Next::Again {}
    }

    fn start_in(&mut self, mode: InsertionMode, tag: &TagToken) -> Next {
        match mode {
            M::InBody => self.body_start(tag),
            M::InTable => self.table_start(tag),
            M::InTableBody => self.table_body_start(tag),
            M::InRow => self.row_start(tag),
            M::InCell => self.cell_start(tag),
            M::InCaption => self.caption_start(tag),
            M::InColumnGroup => self.column_group_start(tag),
            M::InTemplate => self.template_start(tag),
            M::AfterBody | M::AfterAfterBody => self.after_body_start(tag),
            M::InFrameset | M::AfterFrameset | M::AfterAfterFrameset => {
                self.frameset_start(mode, tag)
            }
            _ => self.early_start(mode, tag), // the body has not started
        }
    }

    fn end(&mut self, tag: &TagToken) {
        let foreign = self
            .adjusted_current()
            .is_some_and(|open| open.namespace != Namespace::Html);
        if foreign && self.foreign_end(tag) == Next::Done {
            return;
        }
        while self.end_in(self.mode, tag) == Next::Again {}
    }

    fn end_in(&mut self, mode: InsertionMode, tag: &TagToken) -> Next {
        match mode {
            M::InBody => self.body_end(tag),
            M::InTable => self.table_end(tag),
            M::InTableBody => self.table_body_end(tag),
            M::InRow => self.row_end(tag),
            M::InCell => self.cell_end(tag),
            M::InCaption => self.caption_end(tag),
            M::InColumnGroup => self.column_group_end(tag),
            M::InTemplate => self.template_end(tag),
            M::AfterBody | M::AfterAfterBody => self.after_body_end(tag),
            M::InFrameset | M::AfterFrameset | M::AfterAfterFrameset => {
                self.frameset_end(mode, tag)
            }
            _ => self.early_end(mode, tag), // the body has not started
        }
    }

    fn comment(&mut self, start: usize, end: usize) {
        let spot = match self.mode {
            M::Initial | M::BeforeHtml | M::AfterAfterBody | M::AfterAfterFrameset => {
                Spot::last_of(0)
            }
            M::AfterBody => Spot::last_of(self.html),
            _ => self.spot(),
        };
        self.add_leaf(spot, COMMENT, start, end, Mode::Comment);
    }

    fn doctype(&mut self, start: usize, end: usize) {
        if self.mode != M::Initial {
            return;
        }
        self.add_leaf(Spot::last_of(0), DOCTYPE, start, end, Mode::Doctype);
        match values::quirks(&values::doctype(&self.source[start..end]), false) {
            values::Quirks::No => {}
            values::Quirks::Limited => self.arena.draft.flags.set(Flags::LIMITED_QUIRKS),
            values::Quirks::Yes => self.set_quirks(),
        }
        self.mode = M::BeforeHtml;
    }

    fn set_quirks(&mut self) {
        self.quirks = true;
        self.arena.draft.flags.set(Flags::QUIRKS);
    }

    fn eof(&mut self) {
        // A page without a body gets one: the rules up to "after head" treat the end of the page
        // like any other token. After that, only the ends of templates are left to handle.
        if self.mode.is_early() {
            self.early_eof();
        }
        while self.stack.last_html(html_names::TEMPLATE) != NOWHERE
            && !self.template_modes.is_empty()
        {
            self.pop_until(html_names::TEMPLATE);
            self.formatting.clear_to_marker();
            self.template_modes.pop();
            self.reset_insertion_mode();
            if self.mode.is_early() {
                self.early_eof();
            }
        }
    }

    /// Reset the insertion mode appropriately.
    fn reset_insertion_mode(&mut self) {
        use html_names::{
            BODY, CAPTION, COLGROUP, FRAMESET, HEAD, HTML, TABLE, TBODY, TD, TEMPLATE, TFOOT, TH,
            THEAD, TR,
        };
        // Only these decide; the topmost of them is found without walking the stack.
        const DECIDING: [Name; 14] = [
            TD, TH, TR, TBODY, THEAD, TFOOT, CAPTION, COLGROUP, TABLE, TEMPLATE, HEAD, BODY,
            FRAMESET, HTML,
        ];
        let position = self.stack.last_of(&DECIDING);
        let last = position <= 1;
        let name = match (&self.context, last) {
            (Some(context), true) if context.namespace == Namespace::Html => context.name,
            (Some(_), true) => html_names::COUNT as Name,
            _ if position == NOWHERE => HTML,
            _ => self.stack.at(position).name,
        };
        self.mode = match name {
            TD | TH if !last => M::InCell,
            TR => M::InRow,
            TBODY | THEAD | TFOOT => M::InTableBody,
            CAPTION => M::InCaption,
            COLGROUP => M::InColumnGroup,
            TABLE => M::InTable,
            TEMPLATE => self.template_modes.last().copied().unwrap_or(M::InBody),
            HEAD if !last => M::InHead,
            FRAMESET => M::InFrameset,
            HTML if self.head == NONE => M::BeforeHead,
            HTML => M::AfterHead,
            _ => M::InBody,
        };
    }

    /// Return the value of an attribute of a tag.
    fn attribute(&self, tag: &TagToken, name: &str) -> Option<String> {
        let run = &self.source[tag.name_end..tag.end - 1];
        let (_, value) = values::attribute_spans(run)
            .find(|(found, _)| run[found.clone()].eq_ignore_ascii_case(name.as_bytes()))?;
        let value = value.map_or(&[][..], |value| &run[value]);
        let syntax = Syntax::Html(Namespace::Html);
        Some(values::attribute_value(value, syntax, self.options.encoding).into_owned())
    }

    /// Return the length of a reference to LF at the start of a text, as in `<pre>&#10;`.
    fn line_end_reference(&self, start: usize, end: usize) -> usize {
        if self.source[start] != b'&' {
            return 0;
        }
        let length =
            memchr::memchr(b';', &self.source[start..end.min(start + 12)]).map_or(0, |l| l + 1);
        let text = values::text(
            &self.source[start..start + length],
            Mode::Data,
            self.options.encoding,
        );
        if text == "\n" { length } else { 0 }
    }

    /// Return the number of bytes of white space at the start of the text, including character
    /// references.
    fn leading_space(&self, start: usize, end: usize) -> usize {
        let mut at = start;
        loop {
            while at < end && scan::is_space(self.source[at]) {
                at += 1;
            }
            if at < end && self.source[at] == b'&' {
                let length =
                    memchr::memchr(b';', &self.source[at..end.min(at + 12)]).map_or(0, |l| l + 1);
                let text = values::text(
                    &self.source[at..at + length],
                    Mode::Data,
                    self.options.encoding,
                );
                if length > 0 && !text.is_empty() && text.bytes().all(scan::is_space) {
                    at += length;
                    continue;
                }
            }
            return at - start;
        }
    }
}

/// Return the tag of a known name.
fn known_tag(namespace: Namespace, name: Name) -> Tag {
    let name = if namespace == Namespace::Svg {
        html_names::SVG_NAME[name as usize]
    } else {
        name
    };
    html_names::tag(namespace, name)
}

/// Return the length of the line end a text begins with.
fn line_end(text: &[u8]) -> usize {
    match text {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => 0,
    }
}
