//! HTML: the WHATWG tokenizer and tree builder, writing straight into a draft.

mod build;
mod tokenizer;

pub use build::{Context, MAX_DEPTH, Options, parse};
pub use tokenizer::{RawKind, TagToken, Token, Tokenizer};
