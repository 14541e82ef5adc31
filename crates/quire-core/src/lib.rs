//! The kernels of quire: a page in, flat columns out, and the exact bytes back.
//!
//! Nothing here knows Python. A parser ([`html`], [`xml`], [`json`], [`text`])
//! turns a source into a [`draft`]; [`reconcile`] finds what the tree alone does
//! not predict about the bytes; [`assemble`] writes the columns into one buffer,
//! which is also the file; [`emit`] walks the columns and writes the source.

pub mod assemble;
pub mod chunks;
pub mod codec;
pub mod cook;
pub mod digest;
pub mod draft;
pub mod emit;
pub mod encode;
pub mod encoding;
pub mod error;
pub mod flags;
pub mod format;
pub mod fragments;
pub mod from_tree;
pub mod hash;
pub mod html;
pub mod intern;
pub mod ints;
pub mod json;
mod letters;
pub mod order;
pub mod reading;
pub mod reconcile;
pub mod reuse;
pub mod sdiff;
pub mod select;
pub mod signature;
pub mod similarity;
pub mod sniff;
pub mod span;
pub mod spelling;
pub mod text;
pub mod tree;
pub mod view;
pub mod vocabulary;
pub mod xml;
