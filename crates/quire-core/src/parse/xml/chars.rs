//! Which characters XML allows where, for version 1.0 (fifth edition) and 1.1.
//!
//! ASCII is looked up in a table; other characters are decoded and compared with the ranges of the
//! productions `Char`, `NameStartChar` and `NameChar`. The whole source is checked for forbidden
//! characters in a few vectorised passes before it is scanned, so the scanner never checks plain
//! text byte by byte.

use memchr::{memchr, memmem};

/// Version and encoding of a source, as the scanner needs them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Whether the source claims to be UTF-8; if not, bytes from 0x80 on are not checked.
    pub utf8: bool,
    /// Version 1.1: controls are allowed as references; NEL and LINE SEPARATOR are line ends.
    pub v11: bool,
}

const SPACE: u8 = 1;
const NAME: u8 = 2;
const NAME_START: u8 = 4;

const CLASSES: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        let b = byte as u8;
        table[byte] = match b {
            b' ' | b'\t' | b'\r' | b'\n' => SPACE,
            b':' | b'_' => NAME | NAME_START,
            b'-' | b'.' => NAME,
            _ if b.is_ascii_alphabetic() => NAME | NAME_START,
            _ if b.is_ascii_digit() => NAME,
            _ => 0,
        };
        byte += 1;
    }
    table
};

/// Whether a byte is white space, in both versions.
pub(super) fn is_space(byte: u8) -> bool {
    CLASSES[byte as usize] & SPACE != 0
}

/// Whether an ASCII character may be part of a name.
pub(super) fn is_name_byte(byte: u8) -> bool {
    CLASSES[byte as usize] & NAME != 0
}

/// Whether an ASCII character may start a name.
pub(super) fn is_name_start_byte(byte: u8) -> bool {
    CLASSES[byte as usize] & NAME_START != 0
}

/// Whether a character beyond ASCII matches production `NameStartChar`.
fn is_name_start(c: u32) -> bool {
    matches!(c,
        0xC0..=0xD6 | 0xD8..=0xF6 | 0xF8..=0x2FF | 0x370..=0x37D | 0x37F..=0x1FFF
        | 0x200C..=0x200D | 0x2070..=0x218F | 0x2C00..=0x2FEF | 0x3001..=0xD7FF
        | 0xF900..=0xFDCF | 0xFDF0..=0xFFFD | 0x1_0000..=0xE_FFFF)
}

/// Whether a character beyond ASCII matches production `NameChar`.
fn is_name(c: u32) -> bool {
    is_name_start(c) || matches!(c, 0xB7 | 0x300..=0x36F | 0x203F..=0x2040)
}

/// Whether a character reference to this character is allowed.
pub(super) fn is_referable(c: u32, rules: Rules) -> bool {
    match c {
        0x9 | 0xA | 0xD | 0x20..=0xD7FF | 0xE000..=0xFFFD | 0x1_0000..=0x10_FFFF => true,
        0x1..=0x1F => rules.v11,
        _ => false,
    }
}

/// Decode the character beyond ASCII that starts at `at`; return it and its length, or `None` if
/// UTF-8 is broken.
fn decode(source: &[u8], at: usize) -> Option<(u32, usize)> {
    let length = match *source.get(at)? {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => return None,
    };
    let text = std::str::from_utf8(source.get(at..at + length)?).ok()?;
    text.chars().next().map(|c| (c as u32, length))
}

/// Return the length of the name character beyond ASCII at `at`, 0 if there is none.
#[cold]
pub(super) fn wide_name_char(source: &[u8], at: usize, start: bool, rules: Rules) -> usize {
    if !rules.utf8 {
        return usize::from(source[at] >= 0x80);
    }
    match decode(source, at) {
        Some((c, length)) if is_name_start(c) || !start && is_name(c) => length,
        _ => 0,
    }
}

/// Return the length of a line end of version 1.1 that is not ASCII, 0 if there is none.
pub(super) fn wide_line_end(source: &[u8], at: usize) -> usize {
    let rest = &source[at..];
    if rest.starts_with(b"\xC2\x85") {
        2
    } else if rest.starts_with(b"\xE2\x80\xA8") {
        3
    } else {
        0
    }
}

/// Find the first character that is not allowed in a source.
///
/// A few passes, each far faster than the scan that follows.
pub(super) fn first_forbidden(source: &[u8], rules: Rules) -> Option<(usize, String)> {
    let mut found: Option<(usize, String)> = None;
    let mut keep = |at: usize, what: String| {
        if found.as_ref().is_none_or(|(first, _)| at < *first) {
            found = Some((at, what));
        }
    };
    if let Some(at) = first_control(source) {
        keep(
            at,
            format!("control character U+{:04X} is not allowed", source[at]),
        );
    }
    if rules.utf8 && !source.is_ascii() {
        if let Err(error) = std::str::from_utf8(source) {
            let at = error.valid_up_to();
            keep(at, format!("byte 0x{:02X} is not UTF-8 here", source[at]));
        }
        for character in ["\u{FFFE}", "\u{FFFF}"] {
            if let Some(at) = memmem::find(source, character.as_bytes()) {
                keep(
                    at,
                    format!("U+FFF{:X} is not a character", source[at + 2] & 15),
                );
            }
        }
        if rules.v11
            && let Some(at) = memmem_c1(source)
        {
            keep(
                at,
                format!(
                    "control character U+{:04X} is only allowed as a character reference",
                    source[at + 1]
                ),
            );
        }
    }
    if rules.v11
        && let Some(at) = memchr(0x7F, source)
    {
        keep(
            at,
            "control character U+007F is only allowed as a character reference".into(),
        );
    }
    found
}

/// Return the first byte below the space that is not tab, line feed or carriage return.
fn first_control(source: &[u8]) -> Option<usize> {
    // Counted per chunk without a branch, so that the compiler can use wide registers.
    let control = |b: u8| b < 0x20 && !matches!(b, b'\t' | b'\n' | b'\r');
    let any = |chunk: &[u8]| chunk.iter().fold(false, |any, &b| any | control(b));
    for (index, chunk) in source.chunks(256).enumerate() {
        if any(chunk) {
            return chunk
                .iter()
                .position(|&b| control(b))
                .map(|at| index * 256 + at);
        }
    }
    None
}

/// Return the first control U+0080 to U+009F other than NEL; version 1.1 allows these only as
/// references.
fn memmem_c1(source: &[u8]) -> Option<usize> {
    memchr::memchr_iter(0xC2, source)
        .find(|&at| matches!(source.get(at + 1), Some(0x80..=0x84 | 0x86..=0x9F)))
}
