//! Similarity of two pages, as one number from 0 to 1.
//!
//! A page becomes a *bag of features* ([`bag`], [`features`]): hashes of small parts of it, with
//! their counts. The similarity of two pages is that of their bags: the features they share,
//! divided by the features that either has (the Jaccard coefficient; with counts, the sum of the
//! smaller counts divided by the sum of the larger ones). The [`Measure`] decides which parts are
//! the features. [`kang`](fn@kang) is the one measure that does not use bags.
//!
//! * Feature hashes have no key and never change, so bags and sketches from different machines can
//!   be compared. A page can be crafted so that its features collide; that only gives wrong results
//!   about the page itself.
//! * Everything is linear in the page except sorting a bag, which takes `n log n` only on crafted
//!   pages. Nothing recurses.
//! * Two pages without features have similarity 1; one with and one without have 0.
//!
//! Also here: [`scope`] (parts that a selector chooses), [`sketch`] and [`pairs`] (fixed-size
//! samples of bags, and many of them at once), [`explain`](mod@explain) (which parts differ),
//! [`templates`] (groups of similar pages).

mod bag;
mod explain;
mod features;
mod kang;
mod occurrences;
mod pairs;
mod scope;
mod sketch;
mod structure_pair;
pub mod templates;
mod words;

pub use bag::Bag;
pub use explain::explain;
pub use kang::kang;
pub use pairs::{all_pairs, one_with_many};
pub use scope::Scope;
pub use sketch::{Sketch, Values, token_bins};

use crate::base::error::Error;
use crate::digest::Digest;

/// Which parts of a page are its features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Measure {
    /// Four tags in a row, in document order; a bag.
    Structure = 1,
    /// An element with its classes, below its parent and grandparent with theirs; a bag.
    StructureClass = 2,
    /// Five words in a row; a set.
    Content = 3,
    /// The path from the root to an element; a set (Buttler's path shingles).
    Paths = 4,
    /// The same with counts; a bag.
    PathsCounts = 5,
    /// Three consecutive tokens, where a tag or a whole text is a token; a set (paper 003).
    Tokens = 6,
}

impl Measure {
    /// All measures.
    pub const ALL: [Self; 6] = [
        Self::Structure,
        Self::StructureClass,
        Self::Content,
        Self::Paths,
        Self::PathsCounts,
        Self::Tokens,
    ];

    /// Return the name that users see.
    pub fn name(self) -> &'static str {
        match self {
            Self::Structure => "structure",
            Self::StructureClass => "structure+class",
            Self::Content => "content",
            Self::Paths => "paths",
            Self::PathsCounts => "paths+counts",
            Self::Tokens => "tokens",
        }
    }

    /// Return the measure of this name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|measure| measure.name() == name)
    }

    /// Return the measure with this number in stored sketches, if there is one.
    pub fn from_u8(value: u8) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|&measure| measure as u8 == value)
    }

    /// Whether the measure counts how often a feature occurs.
    pub fn counts(self) -> bool {
        matches!(
            self,
            Self::Structure | Self::StructureClass | Self::PathsCounts
        )
    }

    /// Whether the measure reads attributes or contents, not only tags.
    pub fn reads_strings(self) -> bool {
        matches!(self, Self::StructureClass | Self::Content | Self::Tokens)
    }
}

/// Return the similarity of two pages, or of the parts that `nodes` (a CSS selector) chooses.
///
/// ```
/// use quire_core::{Options, encode};
/// use quire_core::similarity::{Measure, similarity};
///
/// let page = |source: &str| encode(source.as_bytes(), &Options::default()).unwrap();
/// let (one, two) = (page("<p>a<p>b"), page("<p>c<p>d"));
/// assert_eq!(similarity(&one, &two, Measure::Structure, None), Ok(1.0));
/// assert_eq!(similarity(&one, &two, Measure::Content, Some("p")), Ok(0.0));
/// ```
pub fn similarity(
    one: &Digest,
    other: &Digest,
    measure: Measure,
    nodes: Option<&str>,
) -> Result<f64, Error> {
    if measure == Measure::Structure
        && nodes.is_none()
        && let Some(overlap) = structure_pair::overlap(one, other)
    {
        return Ok(overlap.ratio());
    }
    let (one, other) = (
        Bag::of(one, measure, &Scope::new(one, nodes)?)?,
        Bag::of(other, measure, &Scope::new(other, nodes)?)?,
    );
    Ok(one.similarity(&other, measure))
}
