//! Second attempt at a construct that is not well-formed.
//!
//! Used only with `recover`. Either the construct has an acceptable end, or its bytes are text.
//! Linear over the whole source: an attempt that fails returns the offset up to which it looked,
//! the builder continues there, and a search that reached the end of the source without success is
//! never repeated.

use memchr::{memchr, memchr2, memmem};

use super::chars::is_space;
use super::scan::{Scanner, StartTag};
use super::tree::Markup;
use crate::page::html_names::KNOWN_END;
use crate::page::vocabulary::{CDATA, COMMENT, DOCTYPE, INSTRUCTION, Tag};

/// The end of a construct; once a search for it failed, none is left in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// `-->`
    Comment,
    /// `]]>`
    Cdata,
    /// `?>`
    Instruction,
    /// `"`
    DoubleQuote,
    /// `'`
    SingleQuote,
}

/// Which searches have failed for the rest of the source, and which names are open.
#[derive(Default)]
pub(super) struct Recovery {
    lost: [bool; 5],
    doctype: bool,
    /// Number of open elements, by tag.
    open: Vec<u32>,
}

impl Recovery {
    /// Count an opened element.
    pub fn opened(&mut self, tag: Tag) {
        let index = (tag - KNOWN_END) as usize;
        if index >= self.open.len() {
            self.open.resize(index + 1, 0);
        }
        self.open[index] += 1;
    }

    /// Count a closed element.
    pub fn closed(&mut self, tag: Tag) {
        self.open[(tag - KNOWN_END) as usize] -= 1;
    }

    /// Whether an element with this tag is open.
    pub fn is_open(&self, tag: Tag) -> bool {
        self.open
            .get((tag - KNOWN_END) as usize)
            .is_some_and(|&count| count > 0)
    }

    /// Whether a search for this mark has failed before.
    pub fn lost(&self, mark: Mark) -> bool {
        self.lost[mark as usize]
    }

    /// Return the position after the next `mark` from `from` on.
    fn find(&mut self, scanner: &Scanner, from: usize, mark: Mark) -> Option<usize> {
        if self.lost(mark) {
            return None;
        }
        let bytes: &[u8] = match mark {
            Mark::Comment => b"-->",
            Mark::Cdata => b"]]>",
            Mark::Instruction => b"?>",
            Mark::DoubleQuote => b"\"",
            Mark::SingleQuote => b"'",
        };
        let found = memmem::find(&scanner.src[from..], bytes);
        self.lost[mark as usize] = found.is_none();
        found.map(|length| from + length + bytes.len())
    }

    /// Parse the construct at `at` again; `Err` is the offset up to which it is text.
    pub fn read(&mut self, scanner: &Scanner, at: usize) -> Result<Markup, usize> {
        let (tag, end) = match scanner.byte(at + 1) {
            b'/' => return Self::end_tag(scanner, at),
            b'?' => (INSTRUCTION, self.find(scanner, at + 2, Mark::Instruction)),
            b'!' if scanner.looking_at(at, b"<!--") => {
                (COMMENT, self.find(scanner, at + 4, Mark::Comment))
            }
            b'!' if scanner.looking_at(at, b"<![CDATA[") => {
                (CDATA, self.find(scanner, at + 9, Mark::Cdata))
            }
            b'!' if scanner.looking_at(at, b"<!DOCTYPE") && !self.doctype => {
                self.doctype = true;
                (DOCTYPE, doctype_end(scanner.src, at))
            }
            _ => return self.start_tag(scanner, at),
        };
        end.map(|end| Markup::Leaf(tag, end)).ok_or(at + 1)
    }

    /// Parse `</name`, anything, `>`.
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

    /// Parse `<name`, anything with quoted values in it, `>`.
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
                    let mark = if quote == b'"' {
                        Mark::DoubleQuote
                    } else {
                        Mark::SingleQuote
                    };
                    if let Some(end) = self.find(scanner, here + 1, mark) {
                        here = end - 1;
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

/// Return the end of a faulty document type: its `>` outside brackets and quotes, else the first
/// `>`.
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
