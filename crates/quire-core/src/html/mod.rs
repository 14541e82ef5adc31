//! HTML: the WHATWG tokenizer and tree builder, writing straight into a draft.

pub mod names;
