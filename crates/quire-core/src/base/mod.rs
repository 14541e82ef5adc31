//! The ground floor: errors, hashes, strings, vectors and columns of integers.
//!
//! Nothing here knows what a page is.

pub mod error;
pub mod hash;
pub mod int_column;
pub mod interner;
pub mod short_bytes;
pub mod vec_pool;
pub mod word_chars;
