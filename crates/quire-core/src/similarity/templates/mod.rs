//! Templates: finds the pages of a collection that were made from the same template.
//!
//! The default grouping never compares all pages with all. Its steps are separate, so that each can
//! run on many machines; all are deterministic, whatever the order of rows.
//!
//! 1. **Hubs** ([`hubs`](mod@hubs)). Pages that agree in a bin of their sketches meet in a bucket,
//!    and the *smallest* page there is the hub: of all pages of a template, the smallest is closest
//!    to the template itself. A page is linked with the hubs it meets most often. N pages have at
//!    most m N meetings, and one link for each hub that a page keeps.
//! 2. **Exact check** ([`bags`]). A link holds if most of the smaller page is in the larger one:
//!    shared features divided by the features of the smaller page (containment) reach the
//!    threshold. Pages of one template differ in length by up to a factor of a hundred, which a
//!    measure that divides by the larger one would treat as dissimilarity. Since an almost empty
//!    page is contained in everything, the pages must also share [`LEAST_SHARED`] of all their
//!    features.
//! 3. **Groups** ([`groups`]). A page joins its best hub. Then groups merge along the remaining
//!    links, *by size*: a few pages join a group by one link, but two groups of many pages are one
//!    only if half of the smaller group's pages have a partner in the other, and not all the same
//!    one. So one odd page never joins two templates.
//!
//! [`sampling`] is the clustering of paper 003.

mod bags;
mod groups;
mod hubs;
mod sampling;

pub use bags::Bags;
pub use groups::{Link, medoid, merge, sample, stars};
pub use hubs::{hubs, most_met};
pub use sampling::{Settings, cluster};

/// Minimum share of features that two pages must have in common to be linked.
const LEAST_SHARED: f64 = 0.1;
/// Groups of up to this many pages join another by one link.
const FEW_PAGES: usize = 4;
/// Number of pages that represent a group when two large ones are compared.
const SAMPLE: usize = 64;

/// How two bags overlap, as needed to decide on a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Likeness {
    /// Shared features, as a share of the smaller bag.
    pub contained: f64,
    /// Shared features, as a share of those in either bag.
    pub resemblance: f64,
}

impl Likeness {
    /// Compute from the number of shared features and the totals of both bags.
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
            // An empty bag is contained only in an empty bag.
            contained: if smaller == 0 && one != other {
                0.0
            } else {
                ratio(smaller)
            },
            resemblance: ratio(one + other - shared),
        }
    }

    /// Whether pages with this similarity are linked.
    pub fn holds(self, threshold: f64) -> bool {
        self.contained >= threshold && self.resemblance >= LEAST_SHARED
    }
}
