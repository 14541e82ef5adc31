//! The basic vocabulary of pages: kinds, names, flags, text modes and the shape of the tree.

pub mod flags;
pub mod html_names;
pub mod html_properties;
pub mod kind;
pub mod limits;
pub mod text_mode;
pub mod tree;
pub mod vocabulary;
