//! HTML: the WHATWG tokenizer and tree builder, writing straight into a draft.

pub mod build;
pub mod tokenizer;

pub use build::{Context, MAX_DEPTH, Options, parse};
