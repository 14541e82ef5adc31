//! The text of a page in reading order, its links and images, and which nodes are visible.
//!
//! [`text`] follows `innerText` without a style sheet: only names decide. The rules:
//!
//! * The text of a leaf itself is its decoded content, with white space unchanged.
//! * Runs of (ASCII) white space become one space; lines have none at their ends.
//! * HTML: block elements are on lines of their own, `br` ends a line, cells of a table row are
//!   separated by tabs. `pre`, `textarea`, `listing`, `xmp` and `plaintext` keep their white space.
//! * HTML: [`HIDDEN_ELEMENTS`] below the given node are left out. `title` is a line like any other.
//! * XML and trees: an element is on a line of its own unless its parent also has text of its own.
//!   XML whose root is `html` follows the rules of HTML.
//! * JSON: a line per member (`key: value`) and per item.
//! * Text: its lines, with LF as line end. Bytes: nothing.
//!
//! One pass over the subtree, with a stack as deep as the tree. Links can be nested, so only the
//! beginning of their text is read: see [`Reader::beginning`].

mod flow;
mod lines;
mod passages;
mod references;
mod visible;

pub use lines::{Line, read_lines};
pub use passages::{Passage, passages};
pub(crate) use references::referring;
pub use references::{MAX_LINK_TEXT, Reference, base, images, links};
pub use visible::HIDDEN_ELEMENTS;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use crate::digest::Digest;
use crate::page::flags::Flags;
use crate::page::kind::Kind;
use crate::page::vocabulary::{Class, Namespace};
use crate::values;
use flow::Flow;
use visible::is_hidden;

/// How an element affects the text around and inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Inline,
    Block,
    Preformatted,
    Break,
    Row,
    Cell,
    Hidden,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Role::Inline => "inline",
            Role::Block => "block",
            Role::Preformatted => "pre",
            Role::Break => "break",
            Role::Row => "row",
            Role::Cell => "cell",
            Role::Hidden => "hidden",
        }
    }

    fn of(name: &str, scripting: bool) -> Self {
        match name {
            "br" => Role::Break,
            "tr" => Role::Row,
            "td" | "th" => Role::Cell,
            "pre" | "textarea" | "listing" | "xmp" | "plaintext" => Role::Preformatted,
            _ if is_hidden(name, scripting) => Role::Hidden,
            "address" | "article" | "aside" | "blockquote" | "body" | "caption" | "center"
            | "dd" | "details" | "dialog" | "dir" | "div" | "dl" | "dt" | "fieldset"
            | "figcaption" | "figure" | "footer" | "form" | "frameset" | "h1" | "h2" | "h3"
            | "h4" | "h5" | "h6" | "head" | "header" | "hgroup" | "hr" | "html" | "legend"
            | "li" | "main" | "menu" | "nav" | "ol" | "optgroup" | "option" | "p" | "search"
            | "section" | "summary" | "table" | "tbody" | "tfoot" | "thead" | "title" | "ul" => {
                Role::Block
            }
            _ => Role::Inline,
        }
    }
}

/// Return the text of a subtree in reading order.
///
/// ```
/// use quire_core::{Options, encode};
/// use quire_core::text::text;
///
/// let source = b"<h1>Prices</h1><table><tr><td>Fish &amp;\n chips<td>9.50</table><script>x()</script>";
/// let page = encode(source, &Options::default()).unwrap();
/// assert_eq!(text(&page, 0), "Prices\nFish & chips\t9.50");
/// ```
#[must_use]
pub fn text(digest: &Digest, node: usize) -> String {
    Reader::new(digest).text(node)
}

/// What the tags of a page do; kept beside a page that is read again and again.
#[derive(Clone, Default)]
pub struct TagRoles(Arc<OnceLock<Vec<Role>>>);

/// Reads many subtrees of one page; what its tags mean is found out once.
pub struct Reader<'a> {
    digest: &'a Digest,
    /// What each tag does; empty where the layout decides.
    roles: TagRoles,
}

impl<'a> Reader<'a> {
    /// Prepare to read a page.
    #[must_use]
    pub fn new(digest: &'a Digest) -> Self {
        Self::with_roles(digest, &TagRoles::default())
    }

    /// The same with the roles that an earlier reader of this page found out, or finds out now.
    #[must_use]
    pub fn with_roles(digest: &'a Digest, known: &TagRoles) -> Self {
        known.0.get_or_init(|| {
            let by_name = match digest.kind() {
                Kind::Html => true,
                Kind::Xml => is_xhtml(digest),
                _ => false,
            };
            if by_name { roles(digest) } else { Vec::new() }
        });
        let roles = known.clone();
        Self { digest, roles }
    }

    fn roles(&self) -> &[Role] {
        self.roles.0.get().map_or(&[], Vec::as_slice)
    }

    /// The text of a subtree in reading order: see [`text`].
    #[must_use]
    pub fn text(&self, node: usize) -> String {
        self.read(node, &mut Budget::unlimited(self.digest, node), |_| ())
    }

    /// The text of a subtree as if some of the nodes in it were not there.
    ///
    /// `without` says for each node of the page whether it is left out, with everything in it.
    ///
    /// ```
    /// use quire_core::{Options, encode};
    /// use quire_core::text::Reader;
    ///
    /// let page = encode(b"<p>Fish <b>and</b> chips", &Options::default()).unwrap();
    /// let mut without = vec![false; page.n()];
    /// without[6] = true; // document, html, head, body, p, text, b
    /// assert_eq!(Reader::new(&page).text_without(0, &without), "Fish chips");
    /// ```
    #[must_use]
    pub fn text_without(&self, node: usize, without: &[bool]) -> String {
        let mut budget = Budget::unlimited(self.digest, node);
        budget.without = without;
        self.read(node, &mut budget, |_| ())
    }

    /// What each tag of the page does to the text around it, by the number of the tag.
    ///
    /// One of `inline`, `block`, `pre`, `break`, `row`, `cell`, `hidden`. Empty for pages whose
    /// layout decides, and for those that are not markup.
    #[must_use]
    pub fn role_names(&self) -> Vec<&'static str> {
        (self.roles().iter()).map(|role| role.name()).collect()
    }

    /// Return the text, and pass the position of each node's own words to `heed`.
    fn text_heeding(&self, node: usize, heed: impl FnMut(Span)) -> String {
        self.read(node, &mut Budget::unlimited(self.digest, node), heed)
    }

    /// Return the first `most` characters of the text of a subtree, without reading all of it.
    ///
    /// Looks at no more than `most` nodes and 16 bytes of content per character, so the cost does
    /// not depend on the size of the subtree.
    #[must_use]
    pub fn beginning(&self, node: usize, most: usize) -> String {
        let mut budget = Budget::unlimited(self.digest, node);
        budget.end = budget.end.min(node.saturating_add(most));
        budget.bytes = most.saturating_mul(BYTES_FOR_A_CHARACTER);
        budget.ahead = budget.bytes;
        budget.length = most.saturating_mul(4); // a character has at most 4 bytes in UTF-8
        let mut text = self.read(node, &mut budget, |_| ());
        if let Some((end, _)) = text.char_indices().nth(most) {
            text.truncate(end);
            text.truncate(text.trim_ascii_end().len());
        }
        text
    }

    fn read(&self, node: usize, budget: &mut Budget<'_>, heed: impl FnMut(Span)) -> String {
        let digest = self.digest;
        let class = digest.class(node);
        if class.is_leaf() {
            let id = digest.content().get(node);
            if id < 0 || class == Class::Bytes {
                return String::new();
            }
            return budget.content(digest, node).into_owned();
        }
        match digest.kind() {
            Kind::Bytes => String::new(),
            Kind::Text => lines(digest, node, budget, heed),
            Kind::Json => members(digest, node, budget, heed),
            _ if !self.roles().is_empty() => by_roles(digest, node, self.roles(), budget, heed),
            _ => by_layout(digest, node, budget, heed),
        }
    }
}

/// Bytes of content read for each wanted character: white space and character references
/// (`&#x4e00;`) are longer in the source than in the text.
const BYTES_FOR_A_CHARACTER: usize = 16;

/// How much of a subtree may be read.
struct Budget<'a> {
    /// The node at which to stop.
    end: usize,
    /// Remaining bytes of content.
    bytes: usize,
    /// Remaining bytes of content that may be read ahead, to see whether they are words.
    ahead: usize,
    /// Number of bytes of text that is enough.
    length: usize,
    /// For each node whether it is left out, with everything in it; none if empty.
    without: &'a [bool],
}

impl Budget<'_> {
    fn unlimited(digest: &Digest, node: usize) -> Self {
        Self {
            end: node + digest.derived().size[node] as usize,
            bytes: usize::MAX,
            ahead: usize::MAX,
            length: usize::MAX,
            without: &[],
        }
    }

    /// Whether a node is left out, with everything in it.
    fn leaves_out(&self, node: usize) -> bool {
        self.without.get(node) == Some(&true)
    }

    /// Return the decoded content of a leaf, as far as it may still be read.
    fn content<'a>(&mut self, digest: &'a Digest, node: usize) -> Cow<'a, str> {
        cut(digest, node, &mut self.bytes)
    }

    /// Whether the budget is used up.
    fn is_spent(&self, flow: &Flow) -> bool {
        self.bytes == 0 || flow.len() >= self.length
    }
}

/// Return the decoded content of a leaf, limited to the bytes left: cut where white space ends a
/// word, so never within a character or a reference, unless the word itself is too long.
fn cut<'a>(digest: &'a Digest, node: usize, left: &mut usize) -> Cow<'a, str> {
    let id = digest.content().get(node);
    if id < 0 {
        return Cow::Borrowed("");
    }
    let id = id as usize;
    let raw = digest.content_raw(id);
    if raw.len() <= *left {
        *left -= raw.len();
        return digest.content_text(id);
    }
    let raw = &raw[..std::mem::take(left)];
    let end = raw.iter().rposition(u8::is_ascii_whitespace);
    let raw = &raw[..end.unwrap_or(raw.len())];
    values::text(raw, digest.content_mode(id), digest.encoding())
}

/// Return a tag name without its prefix.
fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// Whether the root element of an XML page is `html`.
pub(crate) fn is_xhtml(digest: &Digest) -> bool {
    let root = (1..digest.n()).find(|&node| digest.class(node) == Class::Element);
    root.is_some_and(|node| local(digest.tag_name(digest.tag().get(node) as usize)) == "html")
}

/// Return the decoded content of a leaf that is text.
fn content(digest: &Digest, node: usize) -> Cow<'_, str> {
    match digest.content().get(node) {
        -1 => Cow::Borrowed(""),
        id => digest.content_text(id as usize),
    }
}

/// A node that has not ended yet.
struct Open {
    end: usize,
    role: Role,
    mixed: bool,
}

/// Return the role of each tag of a page.
fn roles(digest: &Digest) -> Vec<Role> {
    let scripting = digest.flags().has(Flags::SCRIPTING);
    (0..digest.tag_count())
        .map(|tag| {
            let info = digest.tag_info(tag);
            let name = digest.tag_name(tag);
            match (info.class, info.namespace) {
                (Class::Element, Namespace::Html) => Role::of(name, scripting),
                (Class::Element, Namespace::Xml) => Role::of(local(name), scripting),
                // SVG has scripts and styles too; everything else in it flows.
                (Class::Element, _) if matches!(name, "script" | "style") => Role::Hidden,
                _ => Role::Inline,
            }
        })
        .collect()
}

/// The position of a node's words in a text, in bytes; white space may come before them.
#[derive(Clone, Copy)]
struct Span {
    node: u32,
    start: usize,
    end: usize,
    /// Whether it continues a preformatted text: then line ends do not separate it.
    continues: bool,
}

fn by_roles(
    digest: &Digest,
    node: usize,
    roles: &[Role],
    budget: &mut Budget<'_>,
    mut heed: impl FnMut(Span),
) -> String {
    let sizes = &digest.derived().size;
    let tags = digest.tag();
    let mut flow = Flow::default();
    let mut open: Vec<Open> = Vec::new();
    let mut kept = 0; // number of open elements that keep white space
    let mut continues = false; // whether one of them had text already
    let mut at = node;
    while at < budget.end && !budget.is_spent(&flow) {
        while let Some(top) = open.pop_if(|top| top.end == at) {
            kept -= usize::from(top.role == Role::Preformatted);
            continues &= kept > 0;
            close(top.role, &mut flow);
        }
        let tag = tags.get(at) as usize;
        let role = roles[tag];
        if budget.leaves_out(at) || (role == Role::Hidden && at != node) {
            at += sizes[at] as usize;
            continue;
        }
        let class = digest.tag_info(tag).class;
        if class.is_text() {
            let start = flow.len();
            if kept > 0 {
                flow.keep(&budget.content(digest, at));
            } else {
                flow.words(&budget.content(digest, at));
            }
            if flow.len() > start {
                let (node, end) = (at as u32, flow.len());
                heed(Span {
                    node,
                    start,
                    end,
                    continues,
                });
                continues = kept > 0;
            }
        } else if !class.is_leaf() {
            match role {
                Role::Break => flow.hard_break(),
                Role::Row => flow.row(),
                Role::Block | Role::Preformatted => flow.block(),
                Role::Inline | Role::Cell | Role::Hidden => {}
            }
            kept += usize::from(role == Role::Preformatted);
            open.push(Open {
                end: at + sizes[at] as usize,
                role,
                mixed: false,
            });
        }
        at += 1;
    }
    flow.finish()
}

fn heed_span(heed: &mut impl FnMut(Span), node: usize, start: usize, end: usize) {
    if end > start {
        heed(Span {
            node: node as u32,
            start,
            end,
            continues: false,
        });
    }
}

fn close(role: Role, flow: &mut Flow) {
    match role {
        Role::Cell => flow.cell(),
        Role::Row => flow.row_end(),
        Role::Block | Role::Preformatted => flow.block(),
        Role::Inline | Role::Break | Role::Hidden => {}
    }
}

/// Read XML and trees: the position of text decides which elements break lines.
fn by_layout(
    digest: &Digest,
    node: usize,
    budget: &mut Budget<'_>,
    mut heed: impl FnMut(Span),
) -> String {
    let sizes = &digest.derived().size;
    let mut flow = Flow::default();
    let mut open: Vec<Open> = Vec::new();
    let mut at = node;
    while at < budget.end && !budget.is_spent(&flow) {
        let size = sizes[at] as usize;
        while let Some(top) = open.pop_if(|top| top.end == at) {
            close(top.role, &mut flow);
        }
        if budget.leaves_out(at) {
            at += size;
            continue;
        }
        let class = digest.class(at);
        if class.is_text() {
            let start = flow.len();
            flow.words(&budget.content(digest, at));
            heed_span(&mut heed, at, start, flow.len());
        } else if !class.is_leaf() {
            let inline = open.last().is_some_and(|parent| parent.mixed);
            let role = if inline { Role::Inline } else { Role::Block };
            if role == Role::Block {
                flow.block();
            }
            open.push(Open {
                end: at + size,
                role,
                // Content of an inline element flows with it.
                mixed: inline || has_words(digest, at, budget),
            });
        }
        at += 1;
    }
    flow.finish()
}

/// Whether an element has text of its own that is not only white space.
fn has_words(digest: &Digest, node: usize, budget: &mut Budget<'_>) -> bool {
    let sizes = &digest.derived().size;
    let end = budget.end.min(node + sizes[node] as usize);
    let mut child = node + 1;
    while child < end {
        if digest.class(child).is_text()
            && !budget.leaves_out(child)
            && !cut(digest, child, &mut budget.ahead)
                .trim_ascii()
                .is_empty()
        {
            return true;
        }
        child += sizes[child] as usize;
    }
    false
}

fn members(
    digest: &Digest,
    node: usize,
    budget: &Budget<'_>,
    mut heed: impl FnMut(Span),
) -> String {
    let mut out = String::new();
    let mut after_key = false;
    let mut at = node;
    while at < budget.end {
        if budget.leaves_out(at) {
            at += digest.derived().size[at] as usize;
            continue;
        }
        let start = out.len();
        let tag = digest.tag().get(at) as usize;
        match digest.tag_info(tag).class {
            Class::Member => {
                new_line(&mut out);
                out.push_str(digest.tag_name(tag));
                out.push(':');
                after_key = true;
            }
            Class::Scalar => {
                if after_key {
                    out.push(' ');
                } else {
                    new_line(&mut out);
                }
                out.push_str(&content(digest, at));
                after_key = false;
            }
            _ => after_key = false,
        }
        heed_span(&mut heed, at, start, out.len());
        at += 1;
    }
    out
}

fn new_line(out: &mut String) {
    if !out.is_empty() {
        out.push('\n');
    }
}

fn lines(digest: &Digest, node: usize, budget: &Budget<'_>, mut heed: impl FnMut(Span)) -> String {
    let mut out = String::new();
    for at in node..budget.end {
        if digest.class(at).is_text() && !budget.leaves_out(at) {
            let start = out.len();
            let line = content(digest, at);
            if line.contains('\r') {
                out.push_str(&line.replace("\r\n", "\n").replace('\r', "\n"));
            } else {
                out.push_str(&line);
            }
            heed_span(&mut heed, at, start, out.len());
        }
    }
    out
}

#[cfg(test)]
mod tests;
