//! From JSON source to draft: nodes with their tokens and the gaps before them.
//!
//! One loop over three states, with the open brackets on a stack. Whether the gaps match the
//! prediction is decided afterwards (see [`super::predict`]), because it depends on the layout of
//! the whole source and on later siblings.

use std::collections::HashMap;

use memchr::memchr2;

use super::token::{self, Fault};
use crate::page::text_mode::Mode;
use crate::page::vocabulary::{ARRAY, Class, Namespace, OBJECT, STRING, Tag};
use crate::parse::draft::{Draft, DraftNode};

/// The expected next input.
enum State {
    /// A value, as a child of this node.
    Value(u32),
    /// The first item of the innermost bracket, or its end.
    First,
    /// A comma, a closing bracket or the end, after a complete value.
    After,
}

struct Parser<'a> {
    source: &'a [u8],
    /// The next byte to read.
    at: usize,
    /// After the last byte that belongs to a node.
    owned: usize,
    draft: Draft,
    /// Objects and arrays that are not closed yet.
    open: Vec<u32>,
    /// Keys by their spelling, so that a repeated key is decoded once.
    keys: HashMap<&'a [u8], Tag>,
}

/// Parse as far as the source is JSON. The draft holds everything before the fault.
pub(super) fn read(source: &[u8]) -> (Draft, Option<Fault>) {
    let begin = if source.starts_with(b"\xEF\xBB\xBF") {
        3
    } else {
        0
    };
    let mut draft = Draft::new(source.len());
    // JSON has more nodes per byte than markup; reserved memory that is never touched costs
    // nothing.
    draft.nodes.reserve(source.len() / 12);
    let mut parser = Parser {
        source,
        at: begin,
        owned: begin,
        draft,
        open: Vec::new(),
        keys: HashMap::new(),
    };
    let fault = parser.document().err();
    (parser.draft, fault)
}

impl<'a> Parser<'a> {
    fn document(&mut self) -> Result<(), Fault> {
        let mut state = State::Value(0);
        loop {
            self.at = token::space(self.source, self.at);
            state = match state {
                State::Value(parent) => self.value(parent)?,
                State::First => match self.open.last() {
                    Some(&node) if self.source.get(self.at) == Some(&self.bracket(node)) => {
                        self.close()
                    }
                    _ => self.item()?,
                },
                State::After => {
                    let next = self.source.get(self.at);
                    match self.open.last() {
                        None if next.is_none() => return Ok(()),
                        None if memchr2(b'\n', b'\r', &self.source[self.owned..self.at])
                            .is_some() =>
                        {
                            State::Value(0)
                        }
                        None => return self.fault("the end of the source"),
                        Some(_) if next == Some(&b',') => {
                            self.at = token::space(self.source, self.at + 1);
                            self.item()?
                        }
                        Some(&node) if next == Some(&self.bracket(node)) => self.close(),
                        Some(&node) if self.is_object(node) => return self.fault("',' or '}'"),
                        Some(_) => return self.fault("',' or ']'"),
                    }
                }
            };
        }
    }

    /// Parse the value at `at`, completely if it is a scalar.
    fn value(&mut self, parent: u32) -> Result<State, Fault> {
        let (tag, end) = match self.source.get(self.at) {
            Some(b'{') => (OBJECT, self.at + 1),
            Some(b'[') => (ARRAY, self.at + 1),
            _ => match token::scalar(self.source, self.at) {
                Ok(found) => found,
                Err(fault) => {
                    self.forget_member(parent);
                    return Err(fault);
                }
            },
        };
        let node = self.push(tag, parent, end);
        if tag == OBJECT || tag == ARRAY {
            self.open.push(node);
            return Ok(State::First);
        }
        Ok(State::After)
    }

    /// Parse an item of the innermost bracket: a value, or a key with its colon.
    fn item(&mut self) -> Result<State, Fault> {
        let parent = self.open.last().copied().unwrap_or(0);
        if !self.is_object(parent) {
            return Ok(State::Value(parent));
        }
        if self.source.get(self.at) != Some(&b'"') {
            return self.fault("a key in quotes");
        }
        let end = token::string(self.source, self.at)?;
        let colon = token::space(self.source, end);
        if self.source.get(colon) != Some(&b':') {
            return Err(Fault {
                offset: colon,
                expected: "':'",
            });
        }
        let tag = self.key(&self.source[self.at + 1..end - 1]);
        let member = self.push(tag, parent, end);
        self.at = colon + 1;
        Ok(State::Value(member))
    }

    fn key(&mut self, inner: &'a [u8]) -> Tag {
        let names = &mut self.draft.names;
        *self.keys.entry(inner).or_insert_with(|| {
            names.intern(
                Namespace::Json,
                Class::Member,
                token::decode(inner).as_bytes(),
            )
        })
    }

    fn push(&mut self, tag: Tag, parent: u32, end: usize) -> u32 {
        let node = DraftNode {
            tag,
            parent,
            start: self.owned as u32,
            run: self.at as u32,
            end: end as u32,
            flags: 0,
            mode: if tag == STRING {
                Mode::JsonString
            } else {
                Mode::Plain
            },
        };
        self.at = end;
        self.owned = end;
        self.draft.push(node)
    }

    /// Parse the closing bracket at `at`.
    fn close(&mut self) -> State {
        let end = self.at + 1;
        if let Some(node) = self.open.pop() {
            self.draft
                .end_tag(node, self.owned as u32, end as u32, false);
        }
        self.at = end;
        self.owned = end;
        State::After
    }

    /// Remove a key whose value cannot be parsed.
    fn forget_member(&mut self, parent: u32) {
        let tag = self.draft.tag(parent as usize);
        if self.draft.names.class(tag) == Class::Member {
            self.draft.pop();
        }
    }

    fn is_object(&self, node: u32) -> bool {
        self.draft.tag(node as usize) == OBJECT
    }

    fn bracket(&self, node: u32) -> u8 {
        if self.is_object(node) { b'}' } else { b']' }
    }

    fn fault<T>(&self, expected: &'static str) -> Result<T, Fault> {
        Err(Fault {
            offset: self.at,
            expected,
        })
    }
}
