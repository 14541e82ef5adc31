//! The XML declaration: version, encoding, standalone.

use super::scan::{Scan, Scanner, fault, shown};

/// The parts of an XML declaration `<?xml ...?>`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Declaration {
    /// After its `?>`.
    pub end: usize,
    /// Version 1.1; any other 1.x is treated as 1.0, as the fifth edition requires.
    pub v11: bool,
    /// `standalone="yes"`.
    pub standalone: bool,
}

/// Whether there is a declaration at `at`.
pub(super) fn is_declaration(scanner: &Scanner, at: usize) -> bool {
    scanner.looking_at(at, b"<?xml") && matches!(scanner.byte(at + 5), b' ' | b'\t' | b'\r' | b'\n')
}

/// Parse the declaration at `at`; `marked` if there is a byte order mark before it.
pub(super) fn declaration(scanner: &Scanner, at: usize, marked: bool) -> Scan<Declaration> {
    let mut says = Declaration::default();
    let start = at + 5;
    let Some((version, mut here)) = pseudo_attribute(scanner, start, b"version")? else {
        return fault(start, "XML declaration without a version");
    };
    says.v11 = version == b"1.1";
    let minor = version.strip_prefix(b"1.").unwrap_or_default();
    if minor.is_empty() || !minor.iter().all(u8::is_ascii_digit) {
        return fault(
            start,
            format!("version {:?}, expected \"1.0\" or \"1.1\"", shown(version)),
        );
    }
    if let Some((encoding, end)) = pseudo_attribute(scanner, here, b"encoding")? {
        let sound = |b: &u8| b.is_ascii_alphanumeric() || b"._-".contains(b);
        if !encoding.first().is_some_and(u8::is_ascii_alphabetic) || !encoding.iter().all(sound) {
            return fault(
                here,
                format!("encoding {:?} is not a valid name", shown(encoding)),
            );
        }
        let name = encoding.to_ascii_uppercase();
        if marked && !(name.starts_with(b"UTF") || name.starts_with(b"ISO-10646-UCS")) {
            let name = shown(encoding);
            return fault(
                here,
                format!("encoding {name:?} contradicts the Unicode byte order mark"),
            );
        }
        here = end;
    }
    if let Some((standalone, end)) = pseudo_attribute(scanner, here, b"standalone")? {
        says.standalone = standalone == b"yes";
        if !says.standalone && standalone != b"no" {
            let found = shown(standalone);
            return fault(
                here,
                format!("standalone {found:?}, expected \"yes\" or \"no\""),
            );
        }
        here = end;
    }
    here = scanner.space(here);
    if !scanner.looking_at(here, b"?>") {
        let found = scanner.found(here);
        return fault(
            here,
            format!("{found} in the XML declaration, expected \"?>\""),
        );
    }
    says.end = here + 2;
    Ok(says)
}

/// Parse `name = "value"` after white space at `at`; return the value and the offset after it.
fn pseudo_attribute<'s>(
    scanner: &Scanner<'s>,
    at: usize,
    name: &[u8],
) -> Scan<Option<(&'s [u8], usize)>> {
    let start = scanner.space(at);
    if start == at || !scanner.looking_at(start, name) {
        return Ok(None);
    }
    let equals = scanner.space(start + name.len());
    let quote = scanner.space(scanner.expect(equals, b'=', "in the XML declaration")?);
    let mark = scanner.byte(quote);
    let rest = scanner.src.get(quote + 1..).unwrap_or_default();
    match memchr::memchr(mark, rest) {
        Some(length) if matches!(mark, b'"' | b'\'') => {
            Ok(Some((&rest[..length], quote + 1 + length + 1)))
        }
        _ => {
            let found = scanner.found(quote);
            fault(
                quote,
                format!("{found} in the XML declaration, expected a quoted value"),
            )
        }
    }
}
