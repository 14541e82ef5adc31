//! Fragments: the parts that pages share (paper 004).
//!
//! A page becomes an AF tree ([`tree`]): its parts with text, each with its value, its bytes in the
//! source ([`Spans`](crate::Spans)) and hashes of both ([`slices`]). [`hish`](mod@hish) computes
//! the shingles of every part, the smallest hashes of its windows ([`windows`]), by folding
//! children into parents.
//!
//! The parts of many pages go into a [`pool`]. [`groups`](mod@groups) finds those that are similar,
//! by a rule that does not depend on the order of visiting; [`maximal`] keeps the groups that are
//! fragments by the paper's rule about ancestors. [`packed`] is the contribution of one page to the
//! pool as bytes, for pages that are processed in another process.
//!
//! [`alike`] pairs the parts of two versions of one page.

mod alike;
mod groups;
mod hish;
mod maximal;
mod packed;
mod pool;
mod slices;
mod tree;
mod windows;

pub use self::alike::{Rows, pair_alike};
pub use self::groups::{Estimate, Likeness, groups};
pub use self::hish::{Shingling, direct, hish};
pub use self::maximal::fragments;
pub use self::packed::Packer;
pub use self::pool::{Pool, Row};
pub use self::slices::span_hashes;
pub use self::tree::AfTree;
pub use self::windows::Windows;
