//! The WHATWG tokenizer, with tokens as spans over the source.
//!
//! A token records the positions of its bytes; nothing is decoded or copied. The tree builder
//! requests one token at a time, because the meaning of a byte depends on the tree: raw text after
//! `<script>`, CDATA inside SVG. Character references stay in the text as written and are decoded
//! by [`crate::values`] on demand.
//!
//! Bytes that do not form a token (`</>`, a tag cut off by the end of the page) are skipped: they
//! belong to no node.
//!
//! Cost: linear; every byte is visited once, runs of text with [`scan`].

use crate::page::html_names::{self, Name};
use crate::values::scan::{self, CLASS, ENDS_NAME, ENDS_VALUE, LETTER, SPACE, UPPER};

/// A start or end tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagToken {
    /// The `<`.
    pub start: usize,
    /// The first byte of the name.
    pub name_start: usize,
    /// After the name, where the attribute run begins.
    pub name_end: usize,
    /// After the `>`.
    pub end: usize,
    /// The known name, or [`html_names::COUNT`].
    pub name: Name,
    /// Whether the name has capitals.
    pub capitals: bool,
    /// Whether it ends in `/>`.
    pub self_closing: bool,
}

/// A piece of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// Text up to the next markup, never empty.
    Text {
        /// First byte.
        start: usize,
        /// After the last byte.
        end: usize,
    },
    /// `<![CDATA[...]]>` if it is allowed here; the span includes the delimiters.
    Cdata {
        /// First byte.
        start: usize,
        /// After the last byte.
        end: usize,
        /// Whether there is nothing between the delimiters.
        empty: bool,
    },
    /// A start tag.
    Start(TagToken),
    /// An end tag.
    End(TagToken),
    /// A comment, including bogus ones, with its delimiters.
    Comment {
        /// First byte.
        start: usize,
        /// After the last byte.
        end: usize,
    },
    /// A doctype with its delimiters.
    Doctype {
        /// First byte.
        start: usize,
        /// After the last byte.
        end: usize,
    },
    /// The end of the page.
    Eof,
}

/// How the end of raw text is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawKind {
    /// `title`, `textarea`, `style`, ...: up to the end tag.
    Simple,
    /// `script`: comments hide end tags.
    Script,
}

/// Reads tokens from a page.
pub struct Tokenizer<'a> {
    source: &'a [u8],
    at: usize,
}

impl<'a> Tokenizer<'a> {
    /// Begin at byte `from` (after a byte order mark).
    pub fn new(source: &'a [u8], from: usize) -> Self {
        Self { source, at: from }
    }

    /// Return the position where the next token is searched.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Return the next token. `cdata`: whether `<![CDATA[` opens a CDATA section here.
    #[inline(always)]
    #[allow(clippy::inline_always)] // inlined, the match on a token becomes part of finding it
    pub fn next(&mut self, cdata: bool) -> Token {
        let source = self.source;
        let mut start = self.at;
        let mut at = start;
        loop {
            // Mostly the next token is a tag, which is known sooner without a search.
            if source.get(at) != Some(&b'<') {
                at = scan::find(source, at, b'<');
            }
            if at == source.len() {
                self.at = at;
                return if at > start {
                    Token::Text { start, end: at }
                } else {
                    Token::Eof
                };
            }
            let next = source.get(at + 1).copied().unwrap_or(0);
            let markup = CLASS[next as usize] & LETTER != 0
                || next == b'!'
                || next == b'?'
                || (next == b'/' && at + 2 < source.len());
            if !markup {
                at += 1;
                continue;
            }
            if at > start {
                self.at = at;
                return Token::Text { start, end: at };
            }
            if CLASS[next as usize] & LETTER != 0 {
                return match self.tag(at, at + 1) {
                    Some(tag) => Token::Start(tag),
                    None => Token::Eof,
                };
            }
            if next == b'/' {
                let third = source[at + 2];
                if CLASS[third as usize] & LETTER != 0 {
                    return match self.tag(at, at + 2) {
                        Some(tag) => Token::End(tag),
                        None => Token::Eof,
                    };
                }
                if third == b'>' {
                    // `</>` is not a token; the bytes after it start a new one.
                    start = at + 3;
                    at = start;
                    continue;
                }
                return self.bogus_comment(at);
            }
            return if next == b'?' {
                self.bogus_comment(at)
            } else {
                self.declaration(at, cdata)
            };
        }
    }

    /// Read the name that starts at `from`: its end, its number, and whether it has capitals.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as for `tag`
    fn name(&self, from: usize) -> (usize, Name, bool) {
        match scan::short_name(self.source, from) {
            Some((length, word, capitals)) => {
                (from + length, html_names::find_short(word), capitals)
            }
            None => self.long_name(from),
        }
    }

    #[cold]
    fn long_name(&self, from: usize) -> (usize, Name, bool) {
        let end = scan::find_class(self.source, from, ENDS_NAME);
        let name = &self.source[from..end];
        let capitals = name.iter().any(|&byte| CLASS[byte as usize] & UPPER != 0);
        let known =
            html_names::lookup(&name.to_ascii_lowercase()).unwrap_or(html_names::COUNT as Name);
        (end, known, capitals)
    }

    /// Read a tag whose name starts at `name_start`; `None` if the page ends inside it.
    #[inline(always)]
    #[allow(clippy::inline_always)] // a call would return the tag through memory, and wait for it
    fn tag(&mut self, start: usize, name_start: usize) -> Option<TagToken> {
        let source = self.source;
        let (name_end, name, capitals) = self.name(name_start);
        let at = name_end;
        let (end, self_closing) = match source.get(at) {
            Some(b'>') => (at + 1, false),
            _ => self.attributes(at),
        };
        self.at = end;
        if end > source.len() {
            self.at = source.len();
            return None;
        }
        Some(TagToken {
            start,
            name_start,
            name_end,
            end,
            name,
            capitals,
            self_closing,
        })
    }

    /// Skip the attributes; return the position after the `>` (beyond the source if the page ends
    /// first), and whether the tag is self-closing.
    #[inline(never)]
    fn attributes(&self, from: usize) -> (usize, bool) {
        let source = self.source;
        let cut_off = (source.len() + 1, false);
        let mut at = from;
        loop {
            // Nearly all are written ` name="value"`: one search for each part, no decisions.
            if source.get(at) == Some(&b' ') {
                let name_end = scan::attribute_name_end(source, at + 1);
                let value = name_end + 2;
                if name_end > at + 1 && source.get(name_end..value) == Some(b"=\"") {
                    at = scan::find_in_value(source, value, b'"') + 1;
                    match source.get(at) {
                        None => return cut_off,
                        Some(b'>') => return (at + 1, false),
                        Some(_) => continue,
                    }
                }
            }
            // before attribute name
            at = scan::skip_class(source, at, SPACE);
            match source.get(at) {
                None => return cut_off,
                Some(b'>') => return (at + 1, false),
                Some(b'/') => {
                    at += 1;
                    if source.get(at) == Some(&b'>') {
                        return (at + 1, true);
                    }
                    continue;
                }
                Some(_) => {}
            }
            // attribute name; its first byte may be anything, `=` included
            at = scan::attribute_name_end(source, at + 1);
            let after = scan::skip_class(source, at, SPACE);
            if source.get(after) != Some(&b'=') {
                at = after;
                continue;
            }
            at = scan::skip_class(source, after + 1, SPACE);
            match source.get(at) {
                None => return cut_off,
                Some(&quote @ (b'"' | b'\'')) => {
                    at = scan::find(source, at + 1, quote);
                    if at == source.len() {
                        return cut_off;
                    }
                    at += 1;
                }
                Some(b'>') => return (at + 1, false),
                Some(_) => at = scan::find_class(source, at, ENDS_VALUE),
            }
        }
    }

    /// Read `<?...>`, `</ ...>` or `<!x...>`, up to the next `>`.
    #[cold]
    fn bogus_comment(&mut self, start: usize) -> Token {
        let end = scan::find(self.source, start + 2, b'>');
        self.at = (end + 1).min(self.source.len());
        Token::Comment {
            start,
            end: self.at,
        }
    }

    /// Read a `<!`: comment, doctype, CDATA or bogus comment.
    fn declaration(&mut self, start: usize, cdata: bool) -> Token {
        let rest = &self.source[start + 2..];
        if rest.starts_with(b"--") {
            self.at = start + 4 + comment_end(&self.source[start + 4..]);
            return Token::Comment {
                start,
                end: self.at,
            };
        }
        if rest.len() >= 7 && rest[..7].eq_ignore_ascii_case(b"doctype") {
            self.at = start + 9 + doctype_end(&self.source[start + 9..]);
            return Token::Doctype {
                start,
                end: self.at,
            };
        }
        if cdata && rest.starts_with(b"[CDATA[") {
            let inner = &self.source[start + 9..];
            let length = memchr::memmem::find(inner, b"]]>");
            self.at = start + 9 + length.map_or(inner.len(), |l| l + 3);
            let empty = length.unwrap_or(inner.len()) == 0;
            return Token::Cdata {
                start,
                end: self.at,
                empty,
            };
        }
        self.bogus_comment(start)
    }

    /// Read text up to the end tag of `name`; it may be empty. The next token is the end tag.
    pub fn raw_text(&mut self, name: &[u8], kind: RawKind) -> (usize, usize) {
        let start = self.at;
        self.at = match kind {
            RawKind::Simple => self.find_end_tag(start, name),
            RawKind::Script => self.find_script_end(start, name),
        };
        (start, self.at)
    }

    /// Return all remaining bytes.
    pub fn rest(&mut self) -> (usize, usize) {
        let start = self.at;
        self.at = self.source.len();
        (start, self.at)
    }

    fn find_end_tag(&self, from: usize, name: &[u8]) -> usize {
        let source = self.source;
        let mut at = from;
        loop {
            at = memchr::memchr(b'<', &source[at..]).map_or(source.len(), |found| at + found);
            if at == source.len() || is_end_tag(&source[at..], name) {
                return at;
            }
            at += 1;
        }
    }

    /// Find the end of script data with its escaped states: inside `<!-- ... -->`, a `<script`
    /// hides one `</script`. The end tag is that of `name`; the hiding and hidden tags are always
    /// `script`.
    fn find_script_end(&self, from: usize, name: &[u8]) -> usize {
        #[derive(PartialEq, Eq)]
        enum State {
            Data,
            Escaped,
            Hidden,
        }
        let source = self.source;
        let mut state = State::Data;
        // Dashes that may close a comment start here: those of `<!--` itself count.
        let mut dashes_from = from;
        let mut at = from;
        loop {
            let rest = &source[at..];
            // Only inside a comment does a `>` matter, and scripts are full of them.
            let found = if state == State::Data {
                memchr::memchr(b'<', rest)
            } else {
                memchr::memchr2(b'<', b'>', rest)
            };
            let Some(found) = found else {
                return source.len();
            };
            at += found;
            if source[at] == b'>' {
                if at >= dashes_from + 2 && source[at - 2..at] == *b"--" {
                    state = State::Data;
                }
            } else if state == State::Data && source[at..].starts_with(b"<!--") {
                state = State::Escaped;
                dashes_from = at + 2;
                at += 3;
            } else if state == State::Hidden {
                if is_end_tag(&source[at..], b"script") {
                    state = State::Escaped;
                }
            } else if is_end_tag(&source[at..], name) {
                return at;
            } else if state == State::Escaped && is_start_of_script(&source[at..]) {
                state = State::Hidden;
            }
            at += 1;
        }
    }
}

fn ends_name(rest: &[u8], length: usize) -> bool {
    rest.get(length)
        .is_some_and(|&b| CLASS[b as usize] & ENDS_NAME != 0)
}

/// Whether `rest` starts with `</name` and a byte that ends a name.
fn is_end_tag(rest: &[u8], name: &[u8]) -> bool {
    let length = name.len() + 2;
    rest.get(1) == Some(&b'/')
        && rest.len() > length
        && rest[2..length].eq_ignore_ascii_case(name)
        && ends_name(rest, length)
}

fn is_start_of_script(rest: &[u8]) -> bool {
    rest.len() > 7 && rest[1..7].eq_ignore_ascii_case(b"script") && ends_name(rest, 7)
}

/// Return the length of a comment after its `<!--`, including its end.
fn comment_end(rest: &[u8]) -> usize {
    if rest.starts_with(b">") {
        return 1;
    }
    if rest.starts_with(b"->") {
        return 2;
    }
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'>', &rest[at..]) {
        at += found;
        if rest[..at].ends_with(b"--") || rest[..at].ends_with(b"--!") {
            return at + 1;
        }
        at += 1;
    }
    rest.len()
}

/// Return the length of a doctype after `<!DOCTYPE`, including its `>`. A `>` ends it even inside
/// quotes.
fn doctype_end(rest: &[u8]) -> usize {
    memchr::memchr(b'>', rest).map_or(rest.len(), |at| at + 1)
}
