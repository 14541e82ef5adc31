//! Edit scripts: they turn one page into another, byte for byte, and back.
//!
//! A script has three layers. *Actions* are the changes a reader would name, and the ones that are
//! counted. *Layout* is white space between things and other spellings of the same. The *residual* holds
//! the bytes that belong to no node and, only if the layers do not give the exact source, a patch.
//! A script is made from any one-to-one pairing whose roots are partners: a better pairing makes it
//! shorter, none makes it wrong, because each script is applied once when it is made, in both directions.
//!
//! | file | holds |
//! | --- | --- |
//! | `model` | the script as data, which is its JSON form too |
//! | `page_facts` | exceptions of a page by node |
//! | `between` | from two pages to their script |
//! | `derive` | from partners to the layers |
//! | `apply` | from the old page and the layers to the new page |
//! | `invert`, `compose` | the way back; two scripts as one |
//!
//! Every step is linear but for the longest increasing subsequences of the placement.

mod apply;
mod between;
mod compose;
mod derive;
mod invert;
mod model;
mod page_facts;

use self::apply::{Whole, make_patch, source};
pub use self::between::{Wanted, between};
use self::derive::{Derivation, Page, page_edit, strays};
pub use self::model::*;
use self::page_facts::Facts;
use super::labels::Labels;
use super::matching::Pairs;
use crate::base::error::Error;
use crate::base::hash::hash128;
use crate::digest::Digest;
use crate::digest::decode::decode;
use crate::page::flags::Flags;
use crate::page::tree::NONE;

fn refuse(message: impl Into<String>) -> Error {
    Error::Script {
        message: message.into(),
    }
}

/// How a script is made.
#[derive(Clone, Copy, Debug)]
pub struct Making {
    /// Each inserted, deleted and relabelled node is an action of its own: the tree edit distance.
    pub nodewise: bool,
    /// Keep what the way back needs.
    pub invertible: bool,
}

impl Default for Making {
    fn default() -> Self {
        Self {
            nodewise: false,
            invertible: true,
        }
    }
}

/// Make the script of a pairing.
///
/// ```
/// use quire_core::{Options, encode};
/// use quire_core::decode;
/// use quire_core::sdiff::Labels;
/// use quire_core::sdiff::script::{Making, edit_script};
/// use quire_core::sdiff::{Pairs, Rules};
///
/// let page = |source: &str| encode(source.as_bytes(), &Options::default()).unwrap();
/// let (old, new) = (page("<p>a"), page("<p>b"));
/// let labels = [&old, &new].map(|page| Labels::new(page, &Rules::default()));
/// let mut pairs = Pairs::new(old.n(), new.n());
/// (0..6).for_each(|node| pairs.join(node, node));
///
/// let script = edit_script(&old, &new, [&labels[0], &labels[1]], &pairs, Making::default()).unwrap();
/// assert_eq!(script.actions.len(), 1);
/// assert_eq!(decode(&script.apply(&old).unwrap()).unwrap(), b"<p>b");
/// ```
pub fn edit_script(
    old: &Digest,
    new: &Digest,
    labels: [&Labels; 2],
    pairs: &Pairs,
    making: Making,
) -> Result<Script, Error> {
    check_pairs(old, new, pairs)?;
    old.check_heaps()?;
    new.check_heaps()?;
    let old_page = Page {
        facts: Facts::new(old),
        labels: labels[0],
    };
    let new_page = Page {
        facts: Facts::new(new),
        labels: labels[1],
    };
    let derivation = Derivation::new(&old_page, &new_page, pairs, making.nodewise);
    let mut script = Script {
        format: Mark,
        version: Version,
        old: Head::of(old),
        new: Head::of(new),
        invertible: true,
        residual: Residual {
            strays: strays(&old_page.facts, &new_page.facts, &derivation.pairs),
            page: page_edit(old, new),
            old_patch: None,
            new_patch: None,
        },
        actions: derivation.actions,
        layout: derivation.layout,
        node_edits: None,
        proven_minimal: false,
        coarse: Vec::new(),
    };
    script.residual.new_patch = mend(&script, old, new)?;
    if making.invertible {
        script.residual.old_patch = mend(&script.invert()?, new, old)?;
    } else {
        script.forget();
    }
    if making.nodewise {
        script.node_edits = Some(script.actions.len() as u64);
    }
    Ok(script)
}

/// The partners must be one to one, and the roots partners.
fn check_pairs(old: &Digest, new: &Digest, pairs: &Pairs) -> Result<(), Error> {
    let agree = |one: &[u32], other: &[u32]| {
        (one.iter().enumerate())
            .all(|(at, &to)| to == NONE || other.get(to as usize) == Some(&(at as u32)))
    };
    let right = pairs.to_new.len() == old.n()
        && pairs.to_old.len() == new.n()
        && pairs.to_new.first() == Some(&0)
        && agree(&pairs.to_new, &pairs.to_old)
        && agree(&pairs.to_old, &pairs.to_new);
    if right {
        return Ok(());
    }
    Err(refuse(
        "partners are not one to one, or the roots are not partners",
    ))
}

/// Apply a new script; where it does not give the exact source, make the patch that does.
fn mend(script: &Script, old: &Digest, new: &Digest) -> Result<Option<Patch>, Error> {
    let verbatim = |page: &Digest| page.flags().has(Flags::VERBATIM);
    if verbatim(old) || verbatim(new) {
        return make_patch(Base::Source, &decode(old)?, &decode(new)?).map(Some);
    }
    let whole = Whole::new(script, old)?;
    match source(script, old, &whole) {
        Ok(made) if hash128(&made) == script.new.signature => Ok(None),
        Ok(made) => make_patch(Base::Predicted, &made, &decode(new)?).map(Some),
        Err(_) => make_patch(Base::Source, &decode(old)?, &decode(new)?).map(Some),
    }
}

impl Script {
    /// Whether the layers alone give the new source, without a patch.
    pub fn is_exact_tree(&self) -> bool {
        self.residual.new_patch.is_none()
    }

    /// Write the script as JSON.
    pub fn to_json(&self) -> Result<String, Error> {
        serde_json::to_string(self)
            .map_err(|error| refuse(format!("script cannot be written as JSON: {error}")))
    }

    /// Read a script from JSON.
    ///
    /// Only its form is checked: whether it fits a page is found out when it is applied.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        let script: Self = serde_json::from_str(text).map_err(|error| {
            let message = error.to_string();
            let message = crate::base::error::shortened(&message);
            refuse(format!("not an edit script: {message}"))
        })?;
        for (place, action) in script.actions.iter().enumerate() {
            let missing = match action {
                Action::Insert(piece) | Action::Delete(piece) if piece.nodes.is_empty() => "nodes",
                Action::Move(moved) if moved.nodes.is_empty() => "nodes",
                Action::Rename(edit) if edit.tag.is_none() => "tag",
                _ => continue,
            };
            return Err(refuse(format!(
                "not an edit script: action {place} needs {missing}"
            )));
        }
        Ok(script)
    }

    /// Leave out what only the way back needs.
    fn forget(&mut self) {
        self.invertible = false;
        let bare = |piece: &mut Piece| {
            for row in &mut piece.nodes {
                *row = Row {
                    old: row.old,
                    new: row.new,
                    children: row.children,
                    ..Row::default()
                };
            }
        };
        for action in &mut self.actions {
            match action {
                Action::Delete(piece) => bare(piece),
                Action::Update(edit) | Action::Rename(edit) => edit.forget(),
                Action::Insert(_) | Action::Move(_) => {}
            }
        }
        for layout in &mut self.layout {
            match layout {
                Layout::Delete(piece) => bare(piece),
                Layout::Blank(edit) | Layout::Spelling(edit) => edit.forget(),
                Layout::Tag(spelling) => {
                    spelling.start.old = None;
                    spelling.end.old = None;
                }
                Layout::Insert(_) => {}
            }
        }
        for stray in &mut self.residual.strays {
            stray.old.clear();
        }
    }
}

impl NodeEdit {
    fn forget(&mut self) {
        fn drop<T>(change: &mut Option<Change<T>>) {
            if let Some(change) = change {
                change.old = None;
            }
        }
        drop(&mut self.tag);
        drop(&mut self.attributes);
        drop(&mut self.content);
        drop(&mut self.implied);
        drop(&mut self.end);
    }
}
