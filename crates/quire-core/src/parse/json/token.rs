//! The tokens of JSON: find the end of a string, number or literal, and decode keys.
//!
//! Scanners take the source and the offset of the first byte, and return the
//! offset after the last one, or the fault. Each looks at every byte once.

use std::borrow::Cow;

use memchr::memchr2;

use crate::page::vocabulary::{FALSE, NULL, NUMBER, STRING, TRUE, Tag};

/// Where parsing stopped, and what was expected there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// Offset of the byte that does not fit; the length of the source if it ended too early.
    pub offset: usize,
    /// The expected input.
    pub expected: &'static str,
}

impl Fault {
    /// Return the finding and the expectation as a message.
    pub fn message(&self, source: &[u8]) -> String {
        let expected = self.expected;
        match source.get(self.offset) {
            None => format!("found the end of the source, expected {expected}"),
            Some(&byte) if byte.is_ascii_graphic() || byte == b' ' => {
                format!("found '{}', expected {expected}", char::from(byte))
            }
            Some(byte) => format!("found byte 0x{byte:02X}, expected {expected}"),
        }
    }
}

fn fault<T>(offset: usize, expected: &'static str) -> Result<T, Fault> {
    Err(Fault { offset, expected })
}

/// Skip white space.
pub(super) fn space(source: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = source.get(at) {
        at += 1;
    }
    at
}

/// Return the scalar at `at`: its tag and its end.
pub(super) fn scalar(source: &[u8], at: usize) -> Result<(Tag, usize), Fault> {
    let literal = |word: &'static str, tag, expected| {
        let found = &source[at..];
        let same = found
            .iter()
            .zip(word.as_bytes())
            .take_while(|(a, b)| a == b)
            .count();
        if same == word.len() {
            Ok((tag, at + same))
        } else {
            fault(at + same, expected)
        }
    };
    match source.get(at) {
        Some(b'"') => Ok((STRING, string(source, at)?)),
        Some(b'-' | b'0'..=b'9') => Ok((NUMBER, number(source, at)?)),
        Some(b't') => literal("true", TRUE, "'true'"),
        Some(b'f') => literal("false", FALSE, "'false'"),
        Some(b'n') => literal("null", NULL, "'null'"),
        _ => fault(at, "a value"),
    }
}

/// Return the end of the string whose opening quote is at `at`.
pub(super) fn string(source: &[u8], at: usize) -> Result<usize, Fault> {
    let mut at = at + 1;
    loop {
        let rest = &source[at..];
        let stop = memchr2(b'"', b'\\', rest);
        let plain = &rest[..stop.unwrap_or(rest.len())];
        // `any` first: an early exit would gain little, and without one it runs on whole vectors.
        if plain.iter().any(|&byte| byte < b' ') {
            let control = plain.iter().position(|&byte| byte < b' ').unwrap_or(0);
            return fault(at + control, "an escape such as '\\n' for it in a string");
        }
        at += plain.len();
        match source.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(_) => at = escape(source, at)?,
            None => return fault(at, "'\"' at the end of a string"),
        }
    }
}

/// Return the end of the escape whose backslash is at `at`.
fn escape(source: &[u8], at: usize) -> Result<usize, Fault> {
    match source.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => {
            for digit in at + 2..at + 6 {
                if !source.get(digit).is_some_and(u8::is_ascii_hexdigit) {
                    return fault(digit, "a hexadecimal digit");
                }
            }
            Ok(at + 6)
        }
        _ => fault(at + 1, "one of '\"\\/bfnrtu' after a backslash"),
    }
}

/// Return the end of the number that begins at `at` with a digit or a minus.
fn number(source: &[u8], mut at: usize) -> Result<usize, Fault> {
    if source.get(at) == Some(&b'-') {
        at += 1;
    }
    at = if source.get(at) == Some(&b'0') {
        at + 1
    } else {
        digits(source, at)?
    };
    if source.get(at) == Some(&b'.') {
        at = digits(source, at + 1)?;
    }
    if let Some(b'e' | b'E') = source.get(at) {
        at += 1;
        if let Some(b'+' | b'-') = source.get(at) {
            at += 1;
        }
        at = digits(source, at)?;
    }
    Ok(at)
}

/// Return the end of one or more digits.
fn digits(source: &[u8], at: usize) -> Result<usize, Fault> {
    let count = source[at.min(source.len())..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if count == 0 {
        fault(at, "a digit")
    } else {
        Ok(at + count)
    }
}

/// Decode a valid string to UTF-8; `inner` is without the quotes.
///
/// Bytes that are not UTF-8, and halves of surrogate pairs, become U+FFFD.
pub(super) fn decode(inner: &[u8]) -> Cow<'_, str> {
    if memchr::memchr(b'\\', inner).is_none() {
        return String::from_utf8_lossy(inner);
    }
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        text.push_str(&String::from_utf8_lossy(&rest[..at]));
        let (decoded, used) = unescape(&rest[at..]);
        text.push(decoded);
        rest = &rest[at + used..];
    }
    text.push_str(&String::from_utf8_lossy(rest));
    Cow::Owned(text)
}

/// Return the character of the valid escape at the start of `rest`, and the bytes it takes.
fn unescape(rest: &[u8]) -> (char, usize) {
    let simple = match rest.get(1) {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => {
            let Some(unit) = unit(rest) else {
                return (char::REPLACEMENT_CHARACTER, rest.len().min(2));
            };
            if (0xD800..0xDC00).contains(&unit) {
                let low = unit_after(rest).filter(|low| (0xDC00..0xE000).contains(low));
                if let Some(low) = low {
                    let code = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                    return (
                        char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
                        12,
                    );
                }
            }
            return (
                char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER),
                6,
            );
        }
        Some(&byte) => char::from(byte),
        None => return (char::REPLACEMENT_CHARACTER, 1),
    };
    (simple, 2)
}

/// Return the code unit of the `\uXXXX` at the start of `rest`.
fn unit(rest: &[u8]) -> Option<u32> {
    let digits = rest.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |sum, &digit| {
        Some(sum * 16 + char::from(digit).to_digit(16)?)
    })
}

/// Return the code unit of a second `\uXXXX` right after the first.
fn unit_after(rest: &[u8]) -> Option<u32> {
    unit(rest.get(6..)?)
}
