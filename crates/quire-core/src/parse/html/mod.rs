//! HTML: the WHATWG tokenizer and tree builder, which write directly into a draft.

mod build;
mod tokenizer;

pub use build::{Context, MAX_DEPTH, Options, parse};
pub use tokenizer::{RawKind, TagToken, Token, Tokenizer};
