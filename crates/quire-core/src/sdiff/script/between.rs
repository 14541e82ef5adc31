//! From two pages to their script: labels, partners, actions.

use super::{Making, NodeRef, Script, edit_script};
use crate::base::error::Error;
use crate::digest::Digest;
use crate::sdiff::exact::Budget;
use crate::sdiff::matching::Granularity;
use crate::sdiff::pairing::{Compared, Way, pair_pages};
use crate::sdiff::rules::{Rules, Scope};

/// Which script is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The fewest inserted, deleted and relabelled nodes, without moves, each an action of its own.
    pub exact: bool,
    /// What the pairing prefers.
    pub granularity: Granularity,
    /// How much may be spent on that.
    pub budget: Budget,
    /// Keep what the way back needs.
    pub invertible: bool,
}

impl Default for Wanted {
    fn default() -> Self {
        Self {
            exact: false,
            granularity: Granularity::Normal,
            budget: Budget::default(),
            invertible: true,
        }
    }
}

/// Make the script that turns one page into another.
///
/// ```
/// use quire_core::{Options, encode};
/// use quire_core::decode;
/// use quire_core::sdiff::script::{Wanted, between};
///
/// let page = |source: &str| encode(source.as_bytes(), &Options::default()).unwrap();
/// let (old, new) = (page("<p>a<p>b"), page("<p>a<p>c"));
/// let script = between(&old, &new, Wanted::default()).unwrap();
/// assert_eq!(script.actions.len(), 1);
/// assert_eq!(decode(&script.apply(&old).unwrap()).unwrap(), b"<p>a<p>c");
/// ```
pub fn between(old: &Digest, new: &Digest, wanted: Wanted) -> Result<Script, Error> {
    let compared = |page| Compared {
        page,
        scope: Scope::default(),
    };
    let way = Way {
        granularity: wanted.granularity,
        exact: wanted.exact.then_some(wanted.budget),
    };
    let paired = pair_pages(&compared(old), &compared(new), &Rules::default(), way)?;
    let making = Making {
        nodewise: wanted.exact,
        invertible: wanted.invertible,
    };
    let labels = [&paired.old.labels, &paired.new.labels];
    let mut script = edit_script(old, new, labels, &paired.pairs, making)?;
    script.proven_minimal = paired.proven;
    script.coarse = (paired.coarse.iter())
        .map(|at| NodeRef {
            old: Some(at.old),
            new: Some(at.new),
        })
        .collect();
    Ok(script)
}
