//! The kernels of quire: a page in, flat columns out, and the exact bytes back.

pub mod base;
pub mod codec;
pub mod digest;
pub mod encode;
pub mod fragments;
pub mod page;
pub mod parse;
pub mod sdiff;
pub mod select;
pub mod similarity;
pub mod text;
pub mod values;
