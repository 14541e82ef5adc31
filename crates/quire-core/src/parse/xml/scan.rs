//! The scanner: parses one construct at an offset and returns its end, or a fault.
//!
//! It has no position of its own and builds nothing. The tree, the document type and the check of
//! entities all call the same functions, each on its own text. References are passed to a
//! [`References`] as they are found.

use std::collections::HashSet;

use memchr::{memchr3, memmem};

use super::chars::{
    Rules, is_name_byte, is_name_start_byte, is_referable, is_space, wide_line_end, wide_name_char,
};

/// Input that is not well-formed, and where.
#[derive(Debug)]
pub(super) struct Fault {
    /// Offset in the scanned text.
    pub at: usize,
    /// Describes the finding and the expectation.
    pub message: String,
}

/// Boxed, so that only one word is moved if there is no fault.
pub(super) type Scan<T> = Result<T, Box<Fault>>;

/// Make a fault.
#[cold]
pub(super) fn fault<T>(at: usize, message: impl Into<String>) -> Scan<T> {
    Err(Box::new(Fault {
        at,
        message: message.into(),
    }))
}

/// Shorten a name for a message.
pub(super) fn shown(name: &[u8]) -> String {
    const LONGEST: usize = 60;
    let cut = &name[..name.len().min(LONGEST)];
    let dots = if name.len() > LONGEST { "..." } else { "" };
    format!("{}{dots}", String::from_utf8_lossy(cut))
}

/// Where a reference is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In the content of an element.
    Content = 0,
    /// In the value of an attribute.
    Attribute = 1,
}

/// Receives every reference to a general entity.
pub(super) trait References {
    /// Called for `&name;` at `at`.
    fn entity(&mut self, name: &[u8], at: usize, place: Place) -> Scan<()>;
}

/// A start tag or empty-element tag.
#[derive(Clone, Copy, Debug)]
pub(super) struct StartTag {
    /// After the name.
    pub name_end: usize,
    /// After the `>`.
    pub end: usize,
    /// `<name/>`.
    pub empty: bool,
}

/// From this number of attributes on, their names are compared with a hash set.
const MANY_ATTRIBUTES: usize = 16;

/// A text and the rules for it.
pub(super) struct Scanner<'s> {
    /// The text.
    pub src: &'s [u8],
    /// Version and encoding.
    pub rules: Rules,
    /// Names of the attributes of the current tag.
    attributes: Vec<(u32, u32)>,
}

impl<'s> Scanner<'s> {
    /// Scan `src`.
    pub fn new(src: &'s [u8], rules: Rules) -> Self {
        Self {
            src,
            rules,
            attributes: Vec::new(),
        }
    }

    /// Return the byte at `at`; past the end 0, which is never allowed.
    #[inline]
    pub fn byte(&self, at: usize) -> u8 {
        self.src.get(at).copied().unwrap_or(0)
    }

    /// Whether the text continues with `word` at `at`.
    #[inline]
    pub fn looking_at(&self, at: usize, word: &[u8]) -> bool {
        self.src
            .get(at..)
            .is_some_and(|rest| rest.starts_with(word))
    }

    /// Describe the input at `at`, for messages.
    pub fn found(&self, at: usize) -> String {
        match self.src.get(at) {
            None => "the end of the source".into(),
            Some(b @ 0x21..=0x7E) => format!("{:?}", *b as char),
            Some(_) => {
                let rest = &self.src[at..self.src.len().min(at + 4)];
                let text = String::from_utf8_lossy(rest);
                format!("{:?}", text.chars().next().unwrap_or('\u{FFFD}'))
            }
        }
    }

    /// Expect one byte; return the offset after it.
    pub fn expect(&self, at: usize, byte: u8, after: &str) -> Scan<usize> {
        if self.byte(at) == byte && at < self.src.len() {
            return Ok(at + 1);
        }
        fault(
            at,
            format!("{} {after}, expected {:?}", self.found(at), byte as char),
        )
    }

    /// Skip white space.
    #[inline]
    pub fn space(&self, mut at: usize) -> usize {
        while at < self.src.len() {
            if is_space(self.src[at]) {
                at += 1;
            } else if self.rules.v11 && self.src[at] >= 0x80 {
                match wide_line_end(self.src, at) {
                    0 => break,
                    length => at += length,
                }
            } else {
                break;
            }
        }
        at
    }

    /// Skip white space that is required.
    pub fn some_space(&self, at: usize, after: &str) -> Scan<usize> {
        let end = self.space(at);
        if end > at {
            return Ok(end);
        }
        fault(
            at,
            format!("{} {after}, expected white space", self.found(at)),
        )
    }

    /// Return the end of the name that starts at `at`; `at` itself if there is none.
    #[inline]
    pub fn name(&self, at: usize) -> usize {
        let first = self.byte(at);
        if is_name_start_byte(first) {
            self.name_rest(at + 1)
        } else if first >= 0x80 {
            match wide_name_char(self.src, at, true, self.rules) {
                0 => at,
                length => self.name_rest(at + length),
            }
        } else {
            at
        }
    }

    /// Return the end of the name token that starts at `at`: any name characters.
    #[inline]
    pub fn name_rest(&self, mut at: usize) -> usize {
        loop {
            while at < self.src.len() && is_name_byte(self.src[at]) {
                at += 1;
            }
            if self.byte(at) < 0x80 {
                return at;
            }
            match wide_name_char(self.src, at, false, self.rules) {
                0 => return at,
                length => at += length,
            }
        }
    }

    /// Return the end of a required name.
    pub fn some_name(&self, at: usize, what: &str) -> Scan<usize> {
        let end = self.name(at);
        if end > at {
            return Ok(end);
        }
        fault(at, format!("{} where {what} is expected", self.found(at)))
    }

    /// Scan the text from `at` to the next `<` or the end; return its end.
    #[inline]
    pub fn text(&self, mut at: usize, references: &mut impl References) -> Scan<usize> {
        loop {
            let Some(skip) = memchr3(b'<', b'&', b']', &self.src[at..]) else {
                return Ok(self.src.len());
            };
            at += skip;
            match self.src[at] {
                b'<' => return Ok(at),
                b'&' => at = self.reference(at, Place::Content, references)?,
                _ => {
                    // In Shift_JIS and similar encodings `]` may be the second byte of a character.
                    let trail = !self.rules.utf8 && at > 0 && self.src[at - 1] >= 0x80;
                    if self.looking_at(at, b"]]>") && !trail {
                        return fault(at, "\"]]>\" in text; write \"]]&gt;\"");
                    }
                    at += 1;
                }
            }
        }
    }

    /// Scan the reference whose `&` is at `at`; return its end.
    pub fn reference(
        &self,
        at: usize,
        place: Place,
        references: &mut impl References,
    ) -> Scan<usize> {
        if self.byte(at + 1) == b'#' {
            return self.character_reference(at).map(|(_, end)| end);
        }
        let end = self.name(at + 1);
        if end == at + 1 {
            return fault(at, "\"&\" does not start a reference; write \"&amp;\"");
        }
        let name = &self.src[at + 1..end];
        if self.byte(end) != b';' {
            return fault(
                at,
                format!("reference \"&{}\" without its \";\"", shown(name)),
            );
        }
        if !matches!(name, b"amp" | b"lt" | b"gt" | b"quot" | b"apos") {
            references.entity(name, at, place)?;
        }
        Ok(end + 1)
    }

    /// Return the character of `&#...;` at `at`, and the offset after it.
    pub fn character_reference(&self, at: usize) -> Scan<(u32, usize)> {
        let (digits, radix) = if self.byte(at + 2) == b'x' {
            (at + 3, 16)
        } else {
            (at + 2, 10)
        };
        let mut end = digits;
        let mut value = 0_u32;
        while let Some(digit) = (self.byte(end) as char).to_digit(radix) {
            value = value.saturating_mul(radix).saturating_add(digit);
            end += 1;
        }
        if end == digits || self.byte(end) != b';' {
            return fault(
                at,
                format!(
                    "{} in a character reference, expected digits and \";\"",
                    self.found(end)
                ),
            );
        }
        if !is_referable(value, self.rules) {
            return fault(
                at,
                format!("reference to U+{value:04X}, which XML does not allow"),
            );
        }
        Ok((value, end + 1))
    }

    /// Scan the quoted attribute value at `at`; return its end.
    #[inline]
    pub fn value(&self, at: usize, references: &mut impl References) -> Scan<usize> {
        let quote = self.byte(at);
        if quote != b'"' && quote != b'\'' {
            return fault(
                at,
                format!("{} where a quoted value is expected", self.found(at)),
            );
        }
        let mut here = at + 1;
        loop {
            let Some(skip) = memchr3(quote, b'<', b'&', &self.src[here..]) else {
                return fault(at, "attribute value without its closing quote");
            };
            here += skip;
            match self.src[here] {
                b'<' => return fault(here, "\"<\" in an attribute value; write \"&lt;\""),
                b'&' => here = self.reference(here, Place::Attribute, references)?,
                _ => return Ok(here + 1),
            }
        }
    }

    /// Scan the tag whose `<` is at `at`.
    #[inline]
    pub fn start_tag(&mut self, at: usize, references: &mut impl References) -> Scan<StartTag> {
        let name_end = self.name(at + 1);
        if name_end == at + 1 {
            return fault(
                at,
                format!("\"<\" followed by {}, expected a name", self.found(at + 1)),
            );
        }
        let mut here = name_end;
        self.attributes.clear();
        loop {
            let start = self.space(here);
            match self.byte(start) {
                b'>' => {
                    self.unique()?;
                    return Ok(StartTag {
                        name_end,
                        end: start + 1,
                        empty: false,
                    });
                }
                b'/' if self.byte(start + 1) == b'>' => {
                    self.unique()?;
                    return Ok(StartTag {
                        name_end,
                        end: start + 2,
                        empty: true,
                    });
                }
                _ => {}
            }
            let end = self.name(start);
            if end == start || start == here {
                return self.bad_tag(at, name_end, start, start == here);
            }
            let mut equals = end;
            if self.byte(equals) != b'=' {
                equals = self.space(end);
                if self.byte(equals) != b'=' {
                    let name = shown(&self.src[start..end]);
                    let found = self.found(equals);
                    return fault(
                        equals,
                        format!("{found} after attribute {name}, expected \"=\""),
                    );
                }
            }
            let mut quote = equals + 1;
            if is_space(self.byte(quote)) || self.rules.v11 {
                quote = self.space(quote);
            }
            self.attributes.push((start as u32, end as u32));
            here = self.value(quote, references)?;
        }
    }

    #[cold]
    fn bad_tag(&self, at: usize, name_end: usize, here: usize, joined: bool) -> Scan<StartTag> {
        let name = shown(&self.src[at + 1..name_end]);
        let expected = if joined && here > name_end {
            "white space"
        } else {
            "an attribute or \">\""
        };
        fault(
            here,
            format!("{} in tag <{name}>, expected {expected}", self.found(here)),
        )
    }

    /// Check that no two attributes of the current tag have the same name.
    fn unique(&self) -> Scan<()> {
        let name = |&(start, end): &(u32, u32)| &self.src[start as usize..end as usize];
        let twice = if self.attributes.len() <= MANY_ATTRIBUTES {
            (1..self.attributes.len()).find(|&later| {
                let this = name(&self.attributes[later]);
                self.attributes[..later]
                    .iter()
                    .any(|earlier| name(earlier) == this)
            })
        } else {
            let mut seen = HashSet::with_capacity(self.attributes.len());
            self.attributes
                .iter()
                .position(|attribute| !seen.insert(name(attribute)))
        };
        let Some(twice) = twice else { return Ok(()) };
        let attribute = self.attributes[twice];
        fault(
            attribute.0 as usize,
            format!("duplicate attribute {} in one tag", shown(name(&attribute))),
        )
    }

    /// Scan the end tag at `at`; return its end, and the end of its name.
    pub fn end_tag(&self, at: usize) -> Scan<(usize, usize)> {
        let name_end = self.some_name(at + 2, "the name of an end tag")?;
        let end = self.expect(self.space(name_end), b'>', "in an end tag")?;
        Ok((name_end, end))
    }

    /// Scan the comment at `at`, which starts with `<!--`; return its end.
    pub fn comment(&self, at: usize) -> Scan<usize> {
        let Some(length) = memmem::find(&self.src[at + 4..], b"--") else {
            return fault(at, "comment without its \"-->\"");
        };
        let dashes = at + 4 + length;
        if self.byte(dashes + 2) == b'>' {
            return Ok(dashes + 3);
        }
        fault(dashes, "\"--\" inside a comment, expected \"-->\"")
    }

    /// Scan the CDATA section at `at`, which starts with `<![CDATA[`; return its end.
    pub fn cdata(&self, at: usize) -> Scan<usize> {
        match memmem::find(&self.src[at + 9..], b"]]>") {
            Some(length) => Ok(at + 9 + length + 3),
            None => fault(at, "CDATA section without its \"]]>\""),
        }
    }

    /// Scan the processing instruction at `at`, which starts with `<?`; return its end.
    pub fn instruction(&self, at: usize) -> Scan<usize> {
        let end = self.some_name(at + 2, "the target of a processing instruction")?;
        if self.src[at + 2..end].eq_ignore_ascii_case(b"xml") {
            return fault(
                at,
                "processing instruction \"xml\"; an XML declaration is only allowed at the very \
                 start",
            );
        }
        if self.looking_at(end, b"?>") {
            return Ok(end + 2);
        }
        let body = self.some_space(end, "after the target of a processing instruction")?;
        match memmem::find(&self.src[body..], b"?>") {
            Some(length) => Ok(body + length + 2),
            None => fault(at, "processing instruction without its \"?>\""),
        }
    }
}
