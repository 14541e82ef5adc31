//! Sdiff: the changes between two versions of a page, from a yes or no to an edit script.
//!
//! Everything here asks two digests and gives arrays. The steps, each in a file:
//!
//! | step | gives |
//! | --- | --- |
//! | [`labels`] | three hashes of each node: tag, attributes, content |
//! | [`side`] | the nodes that take part, as a tree of their own with subtree hashes |
//! | [`matching`] | pairs: which node of the old page is which node of the new one |
//! | [`common_words`] | whether two texts read mostly the same |
//! | [`blanks`] | pairs of the white space that took no part |
//! | [`exact`] | the smallest number of edits without moves, within a budget |
//! | [`placement`] | which pairs moved, and which stayed in their place |
//! | [`annotation`] | a status for every node of both pages |
//! | [`script`] | the script that turns one page into the other, byte for byte, and back |
//! | [`words`] | changes inside a text |
//! | [`long_runs`](mod@long_runs) | long runs of words that two rewritten texts have in common |
//! | [`rows`](mod@rows) | the lines of both pages side by side |
//!
//! Any one-to-one pairing in which the roots are partners gives a right answer;
//! a better one gives a shorter. So nothing above [`matching`] trusts it for more
//! than that, and its budgets can cost length but never truth.

mod annotation;
mod blanks;
mod common_words;
mod exact;
mod labels;
mod long_runs;
mod matching;
mod numbers;
mod pairing;
mod placement;
mod references;
mod rows;
mod rules;
pub mod script;
mod side;
mod words;

pub use self::annotation::{Annotation, Compared, Status, annotate};
pub use self::exact::Budget;
pub use self::labels::Labels;
pub use self::long_runs::{CommonPart, long_runs};
pub use self::matching::{Coarse, Granularity, Pairs};
pub use self::rows::{Page, Row, rows};
pub use self::rules::{Rules, Scope, Tolerance};
pub use self::words::word_changes;
pub use regex::Regex; // the patterns of [`Rules`]
