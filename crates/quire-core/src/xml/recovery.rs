//! The second reading of a construct that is not well-formed.
//!
//! Used with `recover` only. Either the construct has an end one can live with,
//! or its bytes are text. Linear over the whole source, because a reading that
//! fails gives the offset up to which it looked, the builder goes on there, and
//! a search that ran to the end of the source in vain is never repeated.

use memchr::{memchr, memchr2, memmem};

use super::chars::is_space;
use super::scan::{Scanner, StartTag};
use super::tree::Markup;
use crate::html::names::KNOWN_END;
use crate::vocabulary::{CDATA, COMMENT, DOCTYPE, INSTRUCTION, Tag};

/// What is known about the rest of the source, and which names are open.
#[derive(Default)]
pub(super) struct Recovery {
    /// No `-->` is left.
    pub no_comment_end: bool,
    /// No `]]>` is left.
    pub no_cdata_end: bool,
    /// No `?>` is left.
    pub no_instruction_end: bool,
    no_double_quote: bool,
    no_single_quote: bool,
    doctype: bool,
    /// How many open elements have a tag, by tag.
    open: Vec<u32>,
}

impl Recovery {
    /// An element was opened.
    pub fn opened(&mut self, tag: Tag) {
        let index = (tag - KNOWN_END) as usize;
        if index >= self.open.len() {
            self.open.resize(index + 1, 0);
        }
        self.open[index] += 1;
    }

    /// An element was closed.
    pub fn closed(&mut self, tag: Tag) {
        self.open[(tag - KNOWN_END) as usize] -= 1;
    }

    /// Whether an element with this tag is open.
    pub fn is_open(&self, tag: Tag) -> bool {
        self.open
            .get((tag - KNOWN_END) as usize)
            .is_some_and(|&count| count > 0)
    }

    /// Read the construct at `at` again; `Err` is the offset up to which it is text.
    pub fn read(&mut self, scanner: &Scanner, at: usize) -> Result<Markup, usize> {
        let text = Err(at + 1);
        match scanner.byte(at + 1) {
            b'/' => Self::end_tag(scanner, at),
            b'?' => Self::until(scanner, at, 2, b"?>", &mut self.no_instruction_end)
                .map_or(text, |end| Ok(Markup::Leaf(INSTRUCTION, end))),
            b'!' if scanner.looking_at(at, b"<!--") => {
                Self::until(scanner, at, 4, b"-->", &mut self.no_comment_end)
                    .map_or(text, |end| Ok(Markup::Leaf(COMMENT, end)))
            }
            b'!' if scanner.looking_at(at, b"<![CDATA[") => {
                Self::until(scanner, at, 9, b"]]>", &mut self.no_cdata_end)
                    .map_or(text, |end| Ok(Markup::Leaf(CDATA, end)))
            }
            b'!' if scanner.looking_at(at, b"<!DOCTYPE") && !self.doctype => {
                self.doctype = true;
                doctype_end(scanner.src, at).map_or(text, |end| Ok(Markup::Leaf(DOCTYPE, end)))
            }
            _ => self.start_tag(scanner, at),
        }
    }

    fn until(
        scanner: &Scanner,
        at: usize,
        skip: usize,
        mark: &[u8],
        lost: &mut bool,
    ) -> Option<usize> {
        if *lost {
            return None;
        }
        let found = memmem::find(&scanner.src[at + skip..], mark);
        *lost = found.is_none();
        found.map(|length| at + skip + length + mark.len())
    }

    /// `</name`, anything, `>`.
    fn end_tag(scanner: &Scanner, at: usize) -> Result<Markup, usize> {
        let name_end = scanner.name(at + 2);
        if name_end == at + 2 {
            return Err(at + 2);
        }
        match memchr2(b'<', b'>', &scanner.src[name_end..]) {
            Some(length) if scanner.src[name_end + length] == b'>' => {
                Ok(Markup::End(name_end, name_end + length + 1))
            }
            Some(length) => Err(name_end + length),
            None => Err(scanner.src.len()),
        }
    }

    /// `<name`, anything with quoted values in it, `>`.
    fn start_tag(&mut self, scanner: &Scanner, at: usize) -> Result<Markup, usize> {
        let source = scanner.src;
        let name_end = scanner.name(at + 1);
        if name_end == at + 1 {
            return Err(at + 1);
        }
        let mut here = name_end;
        let mut after_equals = false;
        while here < source.len() {
            match source[here] {
                b'<' => return Err(here),
                b'>' => {
                    let empty = source[here - 1] == b'/' && here > name_end;
                    return Ok(Markup::Start(StartTag {
                        name_end,
                        end: here + 1,
                        empty,
                    }));
                }
                quote @ (b'"' | b'\'') if after_equals => {
                    let lost = match quote {
                        b'"' => &mut self.no_double_quote,
                        _ => &mut self.no_single_quote,
                    };
                    if !*lost {
                        match memchr(quote, &source[here + 1..]) {
                            Some(length) => here += 1 + length,
                            None => *lost = true,
                        }
                    }
                    after_equals = false;
                }
                byte => after_equals = byte == b'=' || after_equals && is_space(byte),
            }
            here += 1;
        }
        Err(source.len())
    }
}

/// After a document type that has a fault: its `>` outside brackets and quotes, else the first one.
fn doctype_end(source: &[u8], at: usize) -> Option<usize> {
    let mut here = at + 9;
    let mut brackets = 0_usize;
    while here < source.len() {
        match source[here] {
            b'[' => brackets += 1,
            b']' => brackets = brackets.saturating_sub(1),
            b'>' if brackets == 0 => return Some(here + 1),
            b'<' if source[here..].starts_with(b"<!--") => {
                match memmem::find(&source[here..], b"-->") {
                    Some(length) => here += length + 2,
                    None => break,
                }
            }
            quote @ (b'"' | b'\'') => match memchr(quote, &source[here + 1..]) {
                Some(length) => here += 1 + length,
                None => break,
            },
            _ => {}
        }
        here += 1;
    }
    memchr(b'>', &source[at..]).map(|length| at + length + 1)
}
