//! Content models and attribute types: the two small languages inside a document type.
//!
//! Only their syntax is checked. Nesting is kept on a stack of one byte per open bracket, so a
//! model may have any depth.

use super::scan::{Scan, Scanner, fault};

/// Parse a content model (`EMPTY`, `ANY`, `(#PCDATA...)` or groups); return its end.
pub(super) fn content_model(scanner: &Scanner, at: usize) -> Scan<usize> {
    for word in [&b"EMPTY"[..], b"ANY"] {
        if scanner.looking_at(at, word) {
            return Ok(at + word.len());
        }
    }
    let first = scanner.space(scanner.expect(at, b'(', "where a content model is expected")?);
    if scanner.looking_at(first, b"#PCDATA") {
        mixed(scanner, first + 7)
    } else {
        groups(scanner, first)
    }
}

/// Parse mixed content from after its `#PCDATA`; return its end.
fn mixed(scanner: &Scanner, at: usize) -> Scan<usize> {
    let mut here = scanner.space(at);
    let mut names = false;
    while scanner.byte(here) == b'|' {
        names = true;
        here = scanner.space(here + 1);
        here = scanner.space(scanner.some_name(here, "the name of an element")?);
    }
    here = scanner.expect(here, b')', "in mixed content")?;
    if scanner.byte(here) == b'*' {
        return Ok(here + 1);
    }
    if names {
        return fault(
            here,
            format!("{} after mixed content, expected '*'", scanner.found(here)),
        );
    }
    Ok(here)
}

/// Parse groups of element names from after the first `(`; return their end.
fn groups(scanner: &Scanner, at: usize) -> Scan<usize> {
    // For each open bracket, the separator its members use; 0 while it is unknown.
    let mut separators = vec![0_u8];
    let mut here = at;
    loop {
        // One member, or its opening bracket.
        here = scanner.space(here);
        if scanner.byte(here) == b'(' {
            separators.push(0);
            here += 1;
            continue;
        }
        here = repeat(
            scanner,
            scanner.some_name(here, "the name of an element or \"(\"")?,
        );
        // After a member: closing brackets, then a separator.
        loop {
            here = scanner.space(here);
            if scanner.byte(here) != b')' {
                break;
            }
            here = repeat(scanner, here + 1);
            separators.pop();
            if separators.is_empty() {
                return Ok(here);
            }
        }
        let found = scanner.byte(here);
        let Some(separator) = separators.last_mut() else {
            return Ok(here);
        };
        if !matches!(found, b'|' | b',') || *separator != 0 && *separator != found {
            let expected = if *separator == b'|' { "'|'" } else { "','" };
            let found = scanner.found(here);
            return fault(
                here,
                format!("{found} in a content model, expected {expected} or ')'"),
            );
        }
        *separator = found;
        here += 1;
    }
}

/// Skip a `?`, `*` or `+`, if there is one.
fn repeat(scanner: &Scanner, at: usize) -> usize {
    at + usize::from(matches!(scanner.byte(at), b'?' | b'*' | b'+'))
}

/// Parse the type of an attribute; return its end.
pub(super) fn attribute_type(scanner: &Scanner, at: usize) -> Scan<usize> {
    if scanner.byte(at) == b'(' {
        return choices(scanner, at, |here| {
            let end = scanner.name_rest(here);
            if end > here {
                Ok(end)
            } else {
                scanner.some_name(here, "a name token")
            }
        });
    }
    let end = scanner.name(at);
    match &scanner.src[at..end] {
        b"CDATA" | b"ID" | b"IDREF" | b"IDREFS" | b"ENTITY" | b"ENTITIES" | b"NMTOKEN"
        | b"NMTOKENS" => Ok(end),
        b"NOTATION" => {
            let open = scanner.some_space(end, "after NOTATION")?;
            choices(scanner, open, |here| {
                scanner.some_name(here, "the name of a notation")
            })
        }
        _ => fault(
            at,
            format!(
                "{} where the type of an attribute is expected",
                scanner.found(at)
            ),
        ),
    }
}

/// Parse `(one|two|...)`; return its end.
fn choices(scanner: &Scanner, at: usize, one: impl Fn(usize) -> Scan<usize>) -> Scan<usize> {
    let mut here = scanner.expect(at, b'(', "in the type of an attribute")?;
    loop {
        here = scanner.space(one(scanner.space(here))?);
        if scanner.byte(here) != b'|' {
            return scanner.expect(here, b')', "in the type of an attribute");
        }
        here += 1;
    }
}
