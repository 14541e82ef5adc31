//! Templates: which pages of a collection were made alike.
//!
//! The default grouping never compares all pages with all. Its steps are apart, so that each can run on many
//! machines; all are deterministic, whatever the order of rows.
//!
//! 1. **Hubs** ([`hubs`](mod@hubs)). Pages that agree in a bin of their sketches meet in a bucket, and there the *smallest* page is the
//!    hub: of all pages of a template the smallest is nearest to the template itself. A page is linked with the hubs it meets
//!    most often. N pages have at most m N meetings, and a link for each hub that a page keeps.
//! 2. **Exact check** ([`bags`]). A link holds when most of the smaller page is in the larger one: shared parts divided by the
//!    parts of the smaller page (containment) are at least the threshold. Pages of one template differ in length by
//!    a factor of a hundred, which an index that divides by the larger one takes for unlikeness. Since nearly nothing
//!    is contained in everything, the pages also share [`LEAST_SHARED`] of all they have.
//! 3. **Groups** ([`groups`]). A page joins its best hub. Then groups merge along links that remain, *by size*: a few pages
//!    join a group by one link, but two groups of many pages are one only if half of the smaller one's pages have
//!    a partner in the other, and not all the same one. One odd page never ties two templates together.
//!
//! [`sampling`] is the clustering of paper 003, by its own name.

mod bags;
mod groups;
mod hubs;
mod sampling;

pub use bags::Bags;
pub use groups::{Link, medoid, merge, sample, stars};
pub use hubs::{hubs, most_met};
pub use sampling::{Settings, cluster};

/// What two pages share of all they have, at least, to be linked.
const LEAST_SHARED: f64 = 0.1;
/// Groups of so few pages join another by one link.
const FEW_PAGES: usize = 4;
/// Pages that stand for a group when two large ones are compared.
const SAMPLE: usize = 64;

/// How two bags overlap, for whoever decides on a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Likeness {
    /// Shared, of what the smaller bag has.
    pub contained: f64,
    /// Shared, of what either has.
    pub resemblance: f64,
}

impl Likeness {
    /// From what is shared and what each has.
    #[allow(clippy::cast_precision_loss)] // a page has fewer than 2^32 features
    pub fn new(shared: u64, one: u64, other: u64) -> Self {
        let ratio = |of: u64| {
            if of == 0 {
                1.0
            } else {
                shared as f64 / of as f64
            }
        };
        let smaller = one.min(other);
        Self {
            // Nothing is contained in nothing alone.
            contained: if smaller == 0 && one != other {
                0.0
            } else {
                ratio(smaller)
            },
            resemblance: ratio(one + other - shared),
        }
    }

    /// Whether pages this alike are linked.
    pub fn holds(self, threshold: f64) -> bool {
        self.contained >= threshold && self.resemblance >= LEAST_SHARED
    }
}
