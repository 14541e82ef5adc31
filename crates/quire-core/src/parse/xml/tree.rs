//! The tree builder: runs the scanner over a document and writes the draft.
//!
//! Nodes are created in source order, which is pre-order, and every construct is scanned to its end
//! before anything is recorded. So a fault leaves nothing half-made: the builder either stops
//! there, or (with `recover`) asks [`super::recovery`] to parse the same bytes differently.

use memchr::memchr;

use super::Options;
use super::chars::{Rules, first_forbidden};
use super::declaration::{declaration, is_declaration};
use super::doctype::doctype;
use super::entities::Entities;
use super::recovery::{Mark, Recovery};
use super::scan::{Fault, Scan, Scanner, StartTag, fault, shown};
use crate::base::error::position;
use crate::page::flags::Flags;
use crate::page::text_mode::Mode;
use crate::page::vocabulary::{CDATA, COMMENT, Class, DOCTYPE, INSTRUCTION, Namespace, TEXT, Tag};
use crate::parse::draft::Draft;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// One construct that starts with `<`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Markup {
    /// A start tag or empty-element tag.
    Start(StartTag),
    /// An end tag: after its name, after its `>`.
    End(usize, usize),
    /// Comment, CDATA section, instruction or doctype, and the offset after it.
    Leaf(Tag, usize),
}

struct Builder<'s> {
    scanner: Scanner<'s>,
    entities: Entities,
    draft: Draft,
    /// The open elements. Their names are looked up in the draft, to keep this small.
    open: Vec<u32>,
    root: bool,
    doctype: bool,
    recovery: Option<Recovery>,
}

/// Build the draft of a source.
pub(super) fn build(source: &[u8], options: Options) -> Scan<Draft> {
    let rules = Rules {
        utf8: options.utf8,
        v11: false,
    };
    let mut builder = Builder {
        scanner: Scanner::new(source, rules),
        entities: Entities::new(rules, false),
        draft: Draft::new(source.len()),
        open: Vec::new(),
        root: false,
        doctype: false,
        recovery: options.recover.then(Recovery::default),
    };
    let result = builder.document();
    let forbidden = first_forbidden(source, builder.scanner.rules);
    match (result, forbidden) {
        // Of two faults the first is reported.
        (Err(fault), Some((at, _))) if fault.at <= at => return Err(fault),
        (_, Some((at, what))) => builder.met(fault(at, what))?,
        (Err(fault), None) => return Err(fault),
        (Ok(()), None) => {}
    }
    Ok(builder.draft)
}

impl<'s> Builder<'s> {
    /// Stop at a fault, or record it and continue.
    #[cold]
    fn met(&mut self, fault: Scan<()>) -> Scan<()> {
        if self.recovery.is_none() {
            return fault;
        }
        if fault.is_err() {
            self.draft.flags.set(Flags::RECOVERED);
        }
        Ok(())
    }

    fn document(&mut self) -> Scan<()> {
        let marked = self.scanner.src.starts_with(BYTE_ORDER_MARK);
        let mut at = if marked { BYTE_ORDER_MARK.len() } else { 0 };
        if is_declaration(&self.scanner, at) {
            match declaration(&self.scanner, at, marked) {
                Ok(says) => {
                    self.scanner.rules.v11 = says.v11;
                    self.entities = Entities::new(self.scanner.rules, says.standalone);
                    self.leaf(INSTRUCTION, at, says.end, Mode::XmlMarkup);
                    at = says.end;
                }
                Err(fault) => self.met(Err(fault))?,
            }
        }
        let end = self.content(at)?;
        if let Some(&open) = self.open.last() {
            let name = shown(self.name_of(open));
            let (line, _) = self.position_of(open);
            self.met(fault(
                end,
                format!("end of the source, but <{name}> from line {line} is still open"),
            ))?;
        } else if !self.root {
            self.met(fault(end, "end of the source, expected a root element"))?;
        }
        Ok(())
    }

    /// Parse everything after the declaration.
    fn content(&mut self, at: usize) -> Scan<usize> {
        let source = self.scanner.src;
        let mut text = at;
        let mut at = at;
        loop {
            at = self.text(at)?;
            if at == source.len() {
                self.end_text(text, at);
                return Ok(at);
            }
            let markup = match self.markup(at) {
                Ok(markup) => markup,
                Err(fault) => match self.second_reading(at, fault)? {
                    Ok(markup) => markup,
                    // These bytes are text and extend the text before them.
                    Err(next) => {
                        at = next;
                        continue;
                    }
                },
            };
            self.end_text(text, at);
            at = self.apply(at, markup)?;
            text = at;
        }
    }

    /// Parse the text at `at`; return its end: the next `<`, or the end of the source.
    #[inline]
    fn text(&mut self, at: usize) -> Scan<usize> {
        let source = self.scanner.src;
        if source.get(at) == Some(&b'<') {
            return Ok(at);
        }
        let result = if self.open.is_empty() {
            let end = self.scanner.space(at);
            if end == source.len() || source[end] == b'<' {
                return Ok(end);
            }
            fault(
                end,
                format!("{} outside the root element", self.scanner.found(end)),
            )
        } else {
            self.scanner.text(at, &mut self.entities)
        };
        result.or_else(|fault: Box<Fault>| {
            self.met(Err(fault))?;
            Ok(memchr(b'<', &source[at..]).map_or(source.len(), |length| at + length))
        })
    }

    /// Record the text `from..to`, if it is part of the tree.
    #[inline]
    fn end_text(&mut self, from: usize, to: usize) {
        if from == to || self.open.is_empty() && self.scanner.space(from) >= to {
            return;
        }
        self.leaf(TEXT, from, to, Mode::XmlText);
    }

    fn leaf(&mut self, tag: Tag, from: usize, to: usize, mode: Mode) {
        let parent = self.open.last().copied().unwrap_or(0);
        self.draft.leaf(parent, tag, from as u32, to as u32, mode);
    }

    /// Scan the construct whose `<` is at `at`.
    #[inline]
    fn markup(&mut self, at: usize) -> Scan<Markup> {
        match self.scanner.byte(at + 1) {
            b'/' => self.end_tag(at),
            b'!' => self.declared(at),
            b'?' => {
                if self
                    .recovery
                    .as_ref()
                    .is_some_and(|r| r.lost(Mark::Instruction))
                {
                    return fault(at, "processing instruction without its \"?>\"");
                }
                Ok(Markup::Leaf(INSTRUCTION, self.scanner.instruction(at)?))
            }
            _ => self
                .scanner
                .start_tag(at, &mut self.entities)
                .map(Markup::Start),
        }
    }

    #[inline]
    fn end_tag(&mut self, at: usize) -> Scan<Markup> {
        if let Some(&open) = self.open.last() {
            let name = self.name_of(open);
            let end = at + 2 + name.len();
            if self.scanner.byte(end) == b'>' && self.scanner.src[at + 2..].starts_with(name) {
                return Ok(Markup::End(end, end + 1));
            }
        }
        self.scanner
            .end_tag(at)
            .map(|(name_end, end)| Markup::End(name_end, end))
    }

    /// Scan a construct that starts with `<!`.
    fn declared(&mut self, at: usize) -> Scan<Markup> {
        let recovery = self.recovery.as_ref();
        if self.scanner.looking_at(at, b"<!--") {
            if recovery.is_some_and(|r| r.lost(Mark::Comment)) {
                return fault(at, "comment without its \"-->\"");
            }
            return Ok(Markup::Leaf(COMMENT, self.scanner.comment(at)?));
        }
        if self.scanner.looking_at(at, b"<![CDATA[") {
            if recovery.is_some_and(|r| r.lost(Mark::Cdata)) {
                return fault(at, "CDATA section without its \"]]>\"");
            }
            return Ok(Markup::Leaf(CDATA, self.scanner.cdata(at)?));
        }
        if !self.scanner.looking_at(at, b"<!DOCTYPE") {
            return fault(
                at,
                "\"<!\" does not start a comment, CDATA section or document type",
            );
        }
        if self.doctype || self.root {
            return fault(
                at,
                "unexpected document type declaration; expected at most one, before the root \
                 element",
            );
        }
        self.doctype = true;
        Ok(Markup::Leaf(
            DOCTYPE,
            doctype(&self.scanner, at, &mut self.entities)?,
        ))
    }

    /// Decide how to treat the construct at `at` after a fault; `Err` is the end of the bytes that
    /// are text.
    #[cold]
    fn second_reading(&mut self, at: usize, fault: Box<Fault>) -> Scan<Result<Markup, usize>> {
        self.met(Err(fault))?;
        match &mut self.recovery {
            Some(recovery) => Ok(recovery.read(&self.scanner, at)),
            None => Ok(Err(at + 1)),
        }
    }

    /// Record a construct; return the offset after it.
    #[inline]
    fn apply(&mut self, at: usize, markup: Markup) -> Scan<usize> {
        match markup {
            Markup::Start(tag) => {
                if self.open.is_empty() {
                    if self.root {
                        let name = shown(&self.scanner.src[at + 1..tag.name_end]);
                        self.met(fault(
                            at,
                            format!("second root element <{name}>, expected one"),
                        ))?;
                    }
                    self.root = true;
                }
                self.start(at, tag);
                Ok(tag.end)
            }
            Markup::End(name_end, end) => {
                self.end(at, name_end, end)?;
                Ok(end)
            }
            Markup::Leaf(tag, end) => {
                if tag == CDATA && self.open.is_empty() {
                    self.met(fault(at, "CDATA section outside the root element"))?;
                }
                self.leaf(tag, at, end, Mode::XmlMarkup);
                Ok(end)
            }
        }
    }

    #[inline]
    fn start(&mut self, at: usize, found: StartTag) {
        let name = &self.scanner.src[at + 1..found.name_end];
        let tag = self
            .draft
            .names
            .intern(Namespace::Xml, Class::Element, name);
        let parent = self.open.last().copied().unwrap_or(0);
        let (start, run, end) = (at as u32, found.name_end as u32, found.end as u32);
        let node = self.draft.element(parent, tag, start, run, end);
        if !found.empty {
            if let Some(recovery) = &mut self.recovery {
                recovery.opened(tag);
            }
            self.open.push(node);
        }
    }

    #[inline]
    fn end(&mut self, at: usize, name_end: usize, end: usize) -> Scan<()> {
        let name = &self.scanner.src[at + 2..name_end];
        if let Some(&open) = self.open.last() {
            if self.name_of(open) == name {
                self.close(at, name_end, end);
                return Ok(());
            }
            let found = shown(name);
            let expected = shown(self.name_of(open));
            // The line is computed only for a message that will be shown.
            let line = match self.recovery {
                None => self.position_of(open).0,
                Some(_) => 0,
            };
            self.met(fault(
                at,
                format!("end tag </{found}>, but <{expected}> from line {line} is still open"),
            ))?;
        } else {
            self.met(fault(
                at,
                format!("end tag </{}>, but no element is open", shown(name)),
            ))?;
        }
        // Close up to the element of that name. Without one, the end tag belongs to no node.
        let tag = self.draft.names.find(Namespace::Xml, Class::Element, name);
        if tag.is_some_and(|tag| self.recovery.as_ref().is_some_and(|r| r.is_open(tag))) {
            while self
                .open
                .last()
                .is_some_and(|&open| Some(self.tag_of(open)) != tag)
            {
                self.pop();
            }
            self.close(at, name_end, end);
        }
        Ok(())
    }

    /// Close the last open element with an end tag.
    fn close(&mut self, at: usize, name_end: usize, end: usize) {
        if let Some(node) = self.pop() {
            self.draft
                .end_tag(node, at as u32, end as u32, name_end + 1 != end);
        }
    }

    fn pop(&mut self) -> Option<u32> {
        let node = self.open.pop()?;
        let tag = self.tag_of(node);
        if let Some(recovery) = &mut self.recovery {
            recovery.closed(tag);
        }
        Some(node)
    }

    fn tag_of(&self, node: u32) -> Tag {
        self.draft.tag(node as usize)
    }

    /// Return the name of an element as written in its start tag.
    #[inline]
    fn name_of(&self, node: u32) -> &'s [u8] {
        let node = node as usize;
        let start = self.draft.nodes[node].start();
        &self.scanner.src[start as usize + 1..self.draft.run(node) as usize]
    }

    fn position_of(&self, node: u32) -> (usize, usize) {
        position(
            self.scanner.src,
            self.draft.nodes[node as usize].start() as usize,
        )
    }
}
