//! The document type: its syntax, and the entities its internal subset declares.
//!
//! The tree keeps the whole declaration as one leaf; this module only finds its end and fills
//! [`Entities`]. External identifiers are parsed but never fetched. A parameter entity declared
//! here is read at its first reference, and not again: a second reading would declare nothing new,
//! because the first declaration of a name counts. So the cost is linear, and a bomb made of
//! parameter entities is as cheap as one made of general entities.

use std::collections::HashMap;
use std::rc::Rc;

use memchr::{memchr, memchr3};

use super::entities::{Entities, Meaning};
use super::models::{attribute_type, content_model};
use super::scan::{Scan, Scanner, fault, shown};

/// A parameter entity.
enum Parameter {
    /// Its replacement text, until it has been read.
    Unread(Rc<[u8]>),
    /// Being read.
    Open,
    /// Read.
    Read,
    /// Stored in another file.
    External,
}

/// Why a run of declarations ended.
enum Stop {
    /// `]`, or the end of a parameter entity.
    End(usize),
    /// The text of a parameter entity comes next; then continue here.
    Parameter(Box<[u8]>, usize),
}

/// A parameter entity being read: its name, its text, and the position in it.
type Reading = (Box<[u8]>, Rc<[u8]>, usize);

struct Subset<'e> {
    entities: &'e mut Entities,
    parameters: HashMap<Box<[u8]>, Parameter>,
    /// A parameter entity was not read, so later declarations may not be the first ones.
    unread: bool,
}

/// Parse the document type declaration at `at`, which starts with `<!DOCTYPE`; return its end.
pub(super) fn doctype(scanner: &Scanner, at: usize, entities: &mut Entities) -> Scan<usize> {
    let name = scanner.some_space(at + 9, "after \"<!DOCTYPE\"")?;
    let name_end = scanner.some_name(name, "the name of the root element")?;
    let mut here = scanner.space(name_end);
    if here > name_end && !matches!(scanner.byte(here), b'[' | b'>') {
        here = scanner.space(external_id(scanner, here, false)?);
        entities.may_be_elsewhere = true;
    }
    if scanner.byte(here) == b'[' {
        let subset = Subset {
            entities,
            parameters: HashMap::new(),
            unread: false,
        };
        here = scanner.space(subset.read(scanner, here + 1)?);
    }
    scanner.expect(here, b'>', "in the document type declaration")
}

/// Parse an external identifier; return its end. `alone` allows a public identifier without a
/// system one.
fn external_id(scanner: &Scanner, at: usize, alone: bool) -> Scan<usize> {
    if scanner.looking_at(at, b"SYSTEM") {
        return literal(scanner, scanner.some_space(at + 6, "after SYSTEM")?, false);
    }
    if !scanner.looking_at(at, b"PUBLIC") {
        let found = scanner.found(at);
        return fault(at, format!("{found} where SYSTEM or PUBLIC is expected"));
    }
    let public = literal(scanner, scanner.some_space(at + 6, "after PUBLIC")?, true)?;
    let system = scanner.space(public);
    if alone && scanner.byte(system) == b'>' {
        return Ok(public);
    }
    literal(
        scanner,
        scanner.some_space(public, "after a public identifier")?,
        false,
    )
}

/// Parse a quoted literal; return its end.
fn literal(scanner: &Scanner, at: usize, public: bool) -> Scan<usize> {
    let quote = scanner.byte(at);
    if quote != b'"' && quote != b'\'' {
        return fault(
            at,
            format!("{} where a quoted literal is expected", scanner.found(at)),
        );
    }
    let Some(length) = memchr(quote, &scanner.src[at + 1..]) else {
        return fault(at, "literal without its closing quote");
    };
    let end = at + 1 + length;
    let allowed = |b: &u8| b.is_ascii_alphanumeric() || b" \r\n-'()+,./:=?;!*#@$_%".contains(b);
    if public && let Some(odd) = scanner.src[at + 1..end].iter().position(|b| !allowed(b)) {
        let odd = at + 1 + odd;
        return fault(
            odd,
            format!("{} in a public identifier", scanner.found(odd)),
        );
    }
    Ok(end + 1)
}

impl Subset<'_> {
    /// Read the internal subset from after its `[` to after its `]`.
    fn read(mut self, document: &Scanner, at: usize) -> Scan<usize> {
        let mut here = at;
        let mut stack: Vec<Reading> = Vec::new();
        loop {
            let step = if let Some((_, text, from)) = stack.last() {
                let scanner = Scanner::new(text, document.rules);
                self.declarations(&scanner, *from, true)
                    .map_err(|mut inner| {
                        inner.message = format!("in a parameter entity: {}", inner.message);
                        inner.at = here;
                        inner
                    })?
            } else {
                self.declarations(document, here, false)?
            };
            match step {
                Stop::End(end) if stack.is_empty() => return Ok(end),
                Stop::End(_) => {
                    if let Some((name, ..)) = stack.pop() {
                        self.parameters.insert(name, Parameter::Read);
                    }
                }
                Stop::Parameter(name, next) => {
                    match stack.last_mut() {
                        Some((_, _, from)) => *from = next,
                        None => here = next,
                    }
                    if let Some(text) = self.enter(&name, here)? {
                        stack.push((name, text, 0));
                    }
                }
            }
        }
    }

    /// Return the text of a parameter entity, if it is declared here and was not read before.
    fn enter(&mut self, name: &[u8], at: usize) -> Scan<Option<Rc<[u8]>>> {
        self.entities.may_be_elsewhere = true;
        let Some(parameter) = self.parameters.get_mut(name) else {
            self.unread = true;
            return Ok(None);
        };
        match parameter {
            Parameter::Unread(text) => {
                let text = Rc::clone(text);
                *parameter = Parameter::Open;
                return Ok(Some(text));
            }
            Parameter::Open => {
                let name = shown(name);
                return fault(at, format!("parameter entity %{name}; refers to itself"));
            }
            Parameter::Read => {}
            Parameter::External => self.unread = true,
        }
        Ok(None)
    }

    /// Parse declarations one after another.
    fn declarations(&mut self, scanner: &Scanner, at: usize, inner: bool) -> Scan<Stop> {
        let mut at = at;
        loop {
            at = scanner.space(at);
            if inner && at == scanner.src.len() {
                return Ok(Stop::End(at));
            }
            at = match scanner.byte(at) {
                b']' if !inner => return Ok(Stop::End(at + 1)),
                b'%' => {
                    let end = scanner.some_name(at + 1, "the name of a parameter entity")?;
                    let next = scanner.expect(end, b';', "in a parameter entity reference")?;
                    return Ok(Stop::Parameter(scanner.src[at + 1..end].into(), next));
                }
                _ if scanner.looking_at(at, b"<!--") => scanner.comment(at)?,
                _ if scanner.looking_at(at, b"<?") => scanner.instruction(at)?,
                _ if scanner.looking_at(at, b"<!ENTITY") => self.entity(scanner, at, inner)?,
                _ if scanner.looking_at(at, b"<!ATTLIST") => self.attribute_list(scanner, at)?,
                _ if scanner.looking_at(at, b"<!ELEMENT") => element(scanner, at)?,
                _ if scanner.looking_at(at, b"<!NOTATION") => notation(scanner, at)?,
                _ if inner && scanner.looking_at(at, b"<![") => {
                    // A conditional section, allowed in parameter entities only: skipped.
                    self.unread = true;
                    return Ok(Stop::End(at));
                }
                _ => {
                    let found = scanner.found(at);
                    return fault(
                        at,
                        format!("{found} where a declaration or \"]\" is expected"),
                    );
                }
            };
        }
    }

    /// Parse `<!ENTITY name ...>` or `<!ENTITY % name ...>`.
    fn entity(&mut self, scanner: &Scanner, at: usize, inner: bool) -> Scan<usize> {
        let mut here = scanner.some_space(at + 8, "after \"<!ENTITY\"")?;
        let parameter = scanner.byte(here) == b'%';
        if parameter {
            here = scanner.some_space(here + 1, "after \"%\"")?;
        }
        let name_end = scanner.some_name(here, "the name of an entity")?;
        let name = &scanner.src[here..name_end];
        here = scanner.some_space(name_end, "after the name of an entity")?;
        let mut meaning;
        if matches!(scanner.byte(here), b'"' | b'\'') {
            let (text, end) = entity_value(scanner, here)?;
            meaning = Meaning::Internal(text);
            here = scanner.space(end);
        } else {
            meaning = Meaning::External;
            let end = external_id(scanner, here, false)?;
            here = scanner.space(end);
            if !parameter && here > end && scanner.looking_at(here, b"NDATA") {
                let notation = scanner.some_space(here + 5, "after NDATA")?;
                here = scanner.space(scanner.some_name(notation, "the name of a notation")?);
                meaning = Meaning::Unparsed;
            }
        }
        let end = scanner.expect(here, b'>', "in an entity declaration")?;
        if !self.unread || self.entities.standalone {
            if parameter {
                self.parameters.entry(name.into()).or_insert(match meaning {
                    Meaning::Internal(text) => Parameter::Unread(text.into()),
                    _ => Parameter::External,
                });
            } else {
                self.entities.declare(name, meaning, inner);
            }
        }
        Ok(end)
    }

    /// Parse `<!ATTLIST name ...>`; default values are attribute values.
    fn attribute_list(&mut self, scanner: &Scanner, at: usize) -> Scan<usize> {
        let name = scanner.some_space(at + 9, "after \"<!ATTLIST\"")?;
        let mut here = scanner.some_name(name, "the name of an element")?;
        loop {
            let next = scanner.space(here);
            if scanner.byte(next) == b'>' {
                return Ok(next + 1);
            }
            let name = scanner.some_space(here, "in an attribute list")?;
            let name_end = scanner.some_name(name, "the name of an attribute")?;
            let kind = scanner.some_space(name_end, "after the name of an attribute")?;
            let kind_end = attribute_type(scanner, kind)?;
            let mut default = scanner.some_space(kind_end, "after the type of an attribute")?;
            if scanner.looking_at(default, b"#REQUIRED") {
                here = default + 9;
            } else if scanner.looking_at(default, b"#IMPLIED") {
                here = default + 8;
            } else {
                if scanner.looking_at(default, b"#FIXED") {
                    default = scanner.some_space(default + 6, "after #FIXED")?;
                }
                here = scanner.value(default, self.entities)?;
            }
        }
    }
}

/// Return the replacement text of a quoted entity value, and the offset after it.
fn entity_value(scanner: &Scanner, at: usize) -> Scan<(Box<[u8]>, usize)> {
    let quote = scanner.byte(at);
    let mut text = Vec::new();
    let mut here = at + 1;
    loop {
        let Some(skip) = memchr3(quote, b'&', b'%', &scanner.src[here..]) else {
            return fault(at, "entity value without its closing quote");
        };
        text.extend_from_slice(&scanner.src[here..here + skip]);
        here += skip;
        match scanner.src[here] {
            b'%' => {
                return fault(
                    here,
                    "\"%\" in an entity value of the internal subset; write \"&#37;\"",
                );
            }
            b'&' if scanner.byte(here + 1) == b'#' => {
                let (value, end) = scanner.character_reference(here)?;
                let c = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
                text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                here = end;
            }
            b'&' => {
                let end = scanner.some_name(here + 1, "the name of an entity")?;
                let end = scanner.expect(end, b';', "in a reference")?;
                text.extend_from_slice(&scanner.src[here..end]);
                here = end;
            }
            _ => return Ok((text.into(), here + 1)),
        }
    }
}

/// Parse `<!ELEMENT name model>`.
fn element(scanner: &Scanner, at: usize) -> Scan<usize> {
    let name = scanner.some_space(at + 9, "after \"<!ELEMENT\"")?;
    let name_end = scanner.some_name(name, "the name of an element")?;
    let model = scanner.some_space(name_end, "after the name of an element")?;
    let end = scanner.space(content_model(scanner, model)?);
    let name = shown(&scanner.src[name..name_end]);
    scanner.expect(end, b'>', &format!("in the declaration of <{name}>"))
}

/// Parse `<!NOTATION name id>`.
fn notation(scanner: &Scanner, at: usize) -> Scan<usize> {
    let name = scanner.some_space(at + 10, "after \"<!NOTATION\"")?;
    let name_end = scanner.some_name(name, "the name of a notation")?;
    let id = scanner.some_space(name_end, "after the name of a notation")?;
    let end = scanner.space(external_id(scanner, id, true)?);
    scanner.expect(end, b'>', "in a notation declaration")
}
