//! Codecs: how the archive makes pages small, one page at a time.

pub mod tbc;
