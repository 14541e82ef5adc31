//! Extraction: the lists of records of a page, and the cells of a list.
//!
//! A digest goes in. [`outline`](mod@outline) measures its nodes, [`subtrees`] scores them as Omini
//! does, [`lists`](mod@lists) finds all lists, [`measures`] measures one and
//! [`cells`](mod@cells) reads its records. Python decides how likely a list is one of records, and
//! makes tables of the cells.
//!
//! # Data
//!
//! Every measure is a column with one entry for each node, in pre-order. A subtree is a slice, so
//! a sum over a subtree is one subtraction of prefix sums. The shape of a node, which says how
//! alike two nodes are, is a sorted slice of numbers; all of them are in one vector, and only the
//! nodes that are compared have one.
//!
//! # Cost
//!
//! Nothing recurses over the tree. Each node is part of the shapes of at most [`shapes::LEVELS`] nodes above it,
//! so shapes take a constant number of steps and bytes for each node, whatever the depth. Two
//! shapes are compared in steps of the smaller one. A list is compared with the nodes inside it, so
//! a node costs a step for each list around it; at most [`candidates::MOST_PARENTS`] lists are
//! looked at.
//!
//! `tests/extraction/oracle` has the same in plain Python, and tests compare the answers.

#![allow(clippy::cast_precision_loss)] // counts of a page are below 2^53

mod attributes;
mod candidates;
pub mod cells;
mod kinds;
pub mod lists;
pub mod measures;
mod nesting;
pub mod outline;
mod paths;
mod runs;
mod shapes;
pub mod subtrees;
mod white_space;

pub use self::cells::{Cells, Source, cells};
pub use self::lists::{List, lists};
pub use self::measures::{Measures, measure};
pub use self::outline::Outline;
pub use self::subtrees::Subtree;
