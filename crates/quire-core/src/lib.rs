//! The kernels of quire: a page in, flat columns out, and the exact bytes back.
//!
//! Nothing here knows Python. A parser ([`html`], [`xml`], [`json`], [`text`])
//! turns a source into a [`draft`]; [`reconcile`] finds what the tree alone does
//! not predict about the bytes; [`assemble`] writes the columns into one buffer,
//! which is also the file; [`emit`] walks the columns and writes the source.

pub mod draft;
pub mod error;
pub mod flags;
pub mod html;
pub mod select;
pub mod vocabulary;
