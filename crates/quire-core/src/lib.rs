//! The kernels of quire: a page in, flat columns out, and the exact bytes back.
//!
//! Nothing here knows Python. The folders are floors: each uses only the ones above it in this table,
//! and `tests/floors.rs` keeps it so.
//!
//! | folder | turns | into |
//! | --- | --- | --- |
//! | `base` | | errors, hashes, integer columns, interned strings, kept vectors |
//! | `page` | | the words for pages: kinds, names, flags, text modes, tree shape, limits |
//! | [`style`] | a style sheet of an untrusted page | one that loads and hides nothing |
//! | [`values`] | raw bytes of a text or an attribute run | decoded values |
//! | `parse` | a source of any kind | a draft: nodes and end tags with their places |
//! | `digest` | a buffer or a file | checked columns, and the exact source again |
//! | `encode` | a draft | a digest, with everything that the tree does not predict |
//! | [`text`] | a digest | the text in reading order, links, images |
//! | [`select`] | a digest and a CSS or `XPath` expression | nodes, and paths to nodes |
//! | [`sdiff`] | two digests | which nodes changed, and edit scripts |
//! | [`similarity`] | digests | how alike they are, groups of pages with one template |
//! | [`fragments`] | digests | the parts that pages share |
//! | [`extraction`] | a digest | its lists of records, and their cells |
//!
//! `text` and `select` do not use each other, nor do `sdiff`, `similarity`, `fragments`
//! and `extraction`. [`codec`] compresses pages for the archive and uses `base` only.
//!
//! ```
//! use quire_core::{Options, decode, encode};
//!
//! let page = encode(b"<p class=a>Fish", &Options::default()).unwrap();
//! assert_eq!(decode(&page).unwrap(), b"<p class=a>Fish");
//! ```

mod base;
pub mod codec;
mod digest;
mod encode;
pub mod extraction;
pub mod fragments;
mod page;
mod parse;
pub mod sdiff;
pub mod select;
pub mod similarity;
pub mod style;
pub mod text;
pub mod values;

pub use crate::base::error::Error;
pub use crate::base::hash;
pub use crate::base::memory;
pub use crate::digest::decode::{Places, Sink, Spans, decode, emit, places};
pub use crate::digest::{Buffer, Digest, Map, Rest, Verify, format, open_file};
pub use crate::encode::chunks::Encoder;
pub use crate::encode::from_tree::{Columns, from_columns};
pub use crate::encode::{Options, encode};
pub use crate::page::flags::Flags;
pub use crate::page::kind::Kind;
pub use crate::page::text_mode::Mode;
pub use crate::page::tree::NONE;
pub use crate::page::vocabulary::{Class, Namespace};
pub use crate::parse::sniff::sniff;
pub use crate::parse::{encoding, html, json, plain_text, xml};
