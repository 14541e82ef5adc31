//! Fragments: the parts that pages share (paper 004).
//!
//! A page becomes an AF tree ([`tree`]): its parts with text, each with its value, its bytes in the source
//! ([`spans`]) and hashes of both ([`slices`]). [`hish`] gives every part its shingles, the smallest hashes of its windows
//! ([`windows`]), by folding children into parents.
//!
//! The parts of many pages go into a [`pool`]. [`groups`] finds those that are alike, by a rule that does not depend on any order
//! of visiting; [`maximal`] keeps the groups that are fragments by the paper's rule about ancestors.
//! [`packed`] is a page's share of the pool as bytes, for pages that are looked at elsewhere.
//!
//! [`alike`] pairs the parts of two versions of one page.

pub mod alike;
pub mod groups;
pub mod hish;
pub mod maximal;
pub mod packed;
pub mod pool;
pub mod slices;
pub mod spans;
pub mod tree;
pub mod windows;
