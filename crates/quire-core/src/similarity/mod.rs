//! Similarity: how alike two pages are, in one number from 0 to 1.
//!
//! A page becomes a *bag of features* ([`bag`], [`features`]): hashes of small parts of it, with how often
//! each occurs. Two pages are as alike as their bags: what they share, divided by what either has (the
//! Jaccard coefficient; with counts, the smaller count divided by the larger one, summed). Which parts
//! are the features is the [`Measure`]. [`kang`](fn@kang) is the one measure that does not use bags.
//!
//! * Feature hashes have no key and never change: bags and sketches of different machines compare. A page
//!   can be written so that its features collide; all it gains is a wrong answer about itself.
//! * Everything is linear in the page but for the order of a bag, which takes `n log n` on crafted pages
//!   only. Nothing recurses.
//! * Two pages without features are alike (1), one without and one with are not (0).
//!
//! Beside them: [`scope`] (parts that a selector chooses), [`sketch`] and [`pairs`] (fixed-size samples of
//! bags, and many of them at once), [`explain`](mod@explain) (which parts differ), [`templates`] (groups of alike pages).

mod bag;
mod explain;
mod features;
mod kang;
mod occurrences;
mod pairs;
mod scope;
mod sketch;
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
    /// Three tokens in a row, where a tag is a token and a text is one, however long; a set (paper 003).
    Tokens = 6,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Structure,
        Self::StructureClass,
        Self::Content,
        Self::Paths,
        Self::PathsCounts,
        Self::Tokens,
    ];

    /// The name users know it by.
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

    /// The measure of this name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|measure| measure.name() == name)
    }

    /// The measure with this number in stored sketches, if there is one.
    pub fn from_u8(value: u8) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|&measure| measure as u8 == value)
    }

    /// Whether it counts how often a feature occurs.
    pub fn counts(self) -> bool {
        matches!(
            self,
            Self::Structure | Self::StructureClass | Self::PathsCounts
        )
    }

    /// Whether it reads attributes or contents, and not tags alone.
    pub fn reads_strings(self) -> bool {
        matches!(self, Self::StructureClass | Self::Content | Self::Tokens)
    }
}

/// How alike two pages are, or the parts of them that `nodes` (a CSS selector) chooses.
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
    let (one, other) = (
        Bag::of(one, measure, &Scope::new(one, nodes)?)?,
        Bag::of(other, measure, &Scope::new(other, nodes)?)?,
    );
    Ok(one.similarity(&other, measure))
}
