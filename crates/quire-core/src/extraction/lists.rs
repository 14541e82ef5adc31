//! Lists: everything on a page that repeats, as records that do not overlap.

use super::candidates::candidates;
use super::nesting::resolve;
use super::outline::Outline;
use super::shapes::Shapes;
use crate::digest::Digest;

/// A list of records.
#[derive(Clone, Debug, PartialEq)]
pub struct List {
    /// The node around all records.
    pub node: u32,
    /// The nodes of each record; several if a record is a run of siblings.
    pub records: Vec<Vec<u32>>,
    /// How alike neighbouring records are, from 0 to 1.
    pub likeness: f64,
}

impl List {
    /// The nodes of all records.
    pub(super) fn roots(&self) -> Vec<u32> {
        self.records.iter().flatten().copied().collect()
    }
}

/// Find the lists of a page, in the order of the page.
///
/// ```
/// use quire_core::extraction::{Outline, lists};
/// use quire_core::{Options, encode};
///
/// let source = b"<ul><li><b>Cod</b> 8<li><b>Hake</b> 9<li><b>Eel</b> 7</ul>";
/// let page = encode(source, &Options::default()).unwrap();
/// let found = lists(&page, &Outline::of(&page));
/// assert_eq!(found[0].records, [[5], [9], [13]]);
/// ```
#[must_use]
pub fn lists(page: &Digest, outline: &Outline) -> Vec<List> {
    let mut shapes = Shapes::new(page, outline);
    let found = candidates(page, outline, &mut shapes);
    resolve(page, outline, &mut shapes, found)
}
