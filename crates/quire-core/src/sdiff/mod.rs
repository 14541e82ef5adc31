//! What changed between two pages.

pub mod exact;
