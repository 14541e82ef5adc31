//! General entities: which ones the document type declares, and which ones a document may use.
//!
//! Nothing is ever expanded. The replacement text of an entity is read at most twice, once for its
//! use in content and once for its use in attribute values, at the first reference; its own
//! references are followed with an explicit stack. So a "billion laughs" document costs no more
//! than its bytes.

use std::collections::HashMap;

use memchr::memchr2;

use super::chars::Rules;
use super::scan::{Place, References, Scan, Scanner, fault, shown};

/// The meaning of an entity name.
pub(super) enum Meaning {
    /// Replacement text: the literal with its character references resolved.
    Internal(Box<[u8]>),
    /// A parsed entity in another file. Never fetched.
    External,
    /// An unparsed entity (`NDATA`).
    Unparsed,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    New,
    Open,
    Done,
}

struct Entity {
    name: Box<[u8]>,
    meaning: Meaning,
    /// Whether a parameter entity declared it.
    declared_inside: bool,
    progress: [Progress; 2],
}

/// The entities a document declares.
pub(super) struct Entities {
    /// The rules for reading replacement texts.
    pub rules: Rules,
    /// `standalone="yes"`: only declarations in the document itself count.
    pub standalone: bool,
    /// There may be declarations elsewhere: an external subset or a parameter entity reference. An
    /// unknown name is then not a fault.
    pub may_be_elsewhere: bool,
    list: Vec<Entity>,
    index: HashMap<Box<[u8]>, u32>,
}

/// A use to check: which entity, and in which place.
type Use = (u32, Place);

impl Entities {
    /// Create an empty set.
    pub fn new(rules: Rules, standalone: bool) -> Self {
        Self {
            rules,
            standalone,
            may_be_elsewhere: false,
            list: Vec::new(),
            index: HashMap::new(),
        }
    }

    /// Declare an entity; `declared_inside` if a parameter entity declares it. Only the first
    /// declaration of a name counts.
    pub fn declare(&mut self, name: &[u8], meaning: Meaning, declared_inside: bool) {
        if self.index.contains_key(name) {
            return;
        }
        self.index.insert(name.into(), self.list.len() as u32);
        self.list.push(Entity {
            name: name.into(),
            meaning,
            declared_inside,
            progress: [Progress::New; 2],
        });
    }

    /// Return the entity of a reference, if its text is in this document.
    fn resolve(&self, name: &[u8], at: usize, place: Place) -> Scan<Option<u32>> {
        let Some(&id) = self.index.get(name) else {
            if self.may_be_elsewhere && !self.standalone {
                return Ok(None);
            }
            return fault(
                at,
                format!("reference to the undeclared entity &{};", shown(name)),
            );
        };
        let entity = &self.list[id as usize];
        let found = match entity.meaning {
            _ if self.standalone && entity.declared_inside => {
                "which a standalone document declares in a parameter entity"
            }
            Meaning::Unparsed => "which is not parsed",
            Meaning::External if place == Place::Attribute => {
                "which is external, in an attribute value"
            }
            Meaning::External => return Ok(None),
            Meaning::Internal(_) => return Ok(Some(id)),
        };
        fault(
            at,
            format!("reference to entity &{};, {found}", shown(name)),
        )
    }

    /// Check a use and all uses it leads to. Depth-first with a stack; each use is read once.
    fn check(&mut self, first: Use, at: usize) -> Scan<()> {
        let mut stack: Vec<(Use, Vec<Use>)> = Vec::new();
        let mut result = Ok(());
        let mut next = Some(first);
        loop {
            if let Some((id, place)) = next {
                let entity = &mut self.list[id as usize];
                match entity.progress[place as usize] {
                    Progress::Done => {}
                    Progress::Open => {
                        let name = shown(&entity.name);
                        result = fault(at, format!("entity &{name}; refers to itself"));
                        break;
                    }
                    Progress::New => {
                        entity.progress[place as usize] = Progress::Open;
                        match self.read((id, place)) {
                            Ok(uses) => stack.push(((id, place), uses)),
                            Err(inner) => {
                                let name = shown(&self.list[id as usize].name);
                                result =
                                    fault(at, format!("in entity &{name};: {}", inner.message));
                                self.list[id as usize].progress[place as usize] = Progress::Done;
                                break;
                            }
                        }
                    }
                }
            }
            let Some((_, uses)) = stack.last_mut() else {
                break;
            };
            next = uses.pop();
            if next.is_none()
                && let Some(((id, place), _)) = stack.pop()
            {
                self.list[id as usize].progress[place as usize] = Progress::Done;
            }
        }
        // Also after a fault: with recovery, the same text must not be read again.
        for ((id, place), _) in stack {
            self.list[id as usize].progress[place as usize] = Progress::Done;
        }
        result
    }

    /// Read one replacement text; return the entities it refers to.
    fn read(&self, (id, place): Use) -> Scan<Vec<Use>> {
        let Meaning::Internal(text) = &self.list[id as usize].meaning else {
            return Ok(Vec::new());
        };
        let mut uses = Uses {
            entities: self,
            found: Vec::new(),
        };
        let scanner = Scanner::new(text, self.rules);
        match place {
            Place::Content => content(scanner, &mut uses)?,
            Place::Attribute => attribute(&scanner, &mut uses)?,
        }
        Ok(uses.found)
    }
}

impl References for Entities {
    fn entity(&mut self, name: &[u8], at: usize, place: Place) -> Scan<()> {
        match self.resolve(name, at, place)? {
            Some(id) if self.list[id as usize].progress[place as usize] != Progress::Done => {
                self.check((id, place), at)
            }
            _ => Ok(()),
        }
    }
}

/// Collects the references of one replacement text.
struct Uses<'e> {
    entities: &'e Entities,
    found: Vec<Use>,
}

impl References for Uses<'_> {
    fn entity(&mut self, name: &[u8], at: usize, place: Place) -> Scan<()> {
        if let Some(id) = self.entities.resolve(name, at, place)? {
            self.found.push((id, place));
        }
        Ok(())
    }
}

/// Check a replacement text used in an attribute value: no `<`, and valid references.
fn attribute(scanner: &Scanner, uses: &mut Uses) -> Scan<()> {
    let mut at = 0;
    while let Some(skip) = memchr2(b'<', b'&', &scanner.src[at..]) {
        at += skip;
        if scanner.src[at] == b'<' {
            return fault(at, "\"<\" in an attribute value");
        }
        at = scanner.reference(at, Place::Attribute, uses)?;
    }
    Ok(())
}

/// Check a replacement text used in content: it must close the elements that it opens.
fn content(mut scanner: Scanner, uses: &mut Uses) -> Scan<()> {
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    loop {
        at = scanner.text(at, uses)?;
        if at == scanner.src.len() {
            break;
        }
        at = match scanner.byte(at + 1) {
            b'/' => {
                let (name_end, end) = scanner.end_tag(at)?;
                let name = &scanner.src[at + 2..name_end];
                if open
                    .pop()
                    .is_none_or(|(from, to)| &scanner.src[from..to] != name)
                {
                    return fault(
                        at,
                        format!("end tag </{}> does not match any start tag", shown(name)),
                    );
                }
                end
            }
            b'?' => scanner.instruction(at)?,
            b'!' if scanner.looking_at(at, b"<!--") => scanner.comment(at)?,
            b'!' if scanner.looking_at(at, b"<![CDATA[") => scanner.cdata(at)?,
            _ => {
                let tag = scanner.start_tag(at, uses)?;
                if !tag.empty {
                    open.push((at + 1, tag.name_end));
                }
                tag.end
            }
        };
    }
    match open.last() {
        None => Ok(()),
        Some(&(from, to)) => fault(
            from,
            format!(
                "element <{}> without its end tag",
                shown(&scanner.src[from..to])
            ),
        ),
    }
}
