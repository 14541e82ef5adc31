//! The lowest layer: errors, hashes, strings, vectors and integer columns.
//!
//! Nothing here depends on pages.

pub mod common_ends;
pub mod error;
pub mod growing_column;
pub mod hash;
pub mod int_column;
pub mod interner;
pub mod memory;
pub mod short_bytes;
pub mod vec_pool;
pub mod word_chars;
