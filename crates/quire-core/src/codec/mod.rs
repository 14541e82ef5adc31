//! Codecs of the archive: store a page in few bytes, and read it back exactly, independent of other
//! pages.
//!
//! Pages of a cluster have most of their bytes in common; `clusters` finds them. `base_choice`
//! selects a few pages that together contain most of the content the others repeat. `zstd_base`
//! compresses a page against them into a frame of its own, quickly; `dense` does the same more
//! slowly, with smaller frames. [`tbc`] is paper 003's delta against one other page. The container
//! stores lengths and checksums of pages; a decoder takes the length as an argument and refuses a
//! frame of a different length.

mod base_choice;
mod clusters;
mod dense;
#[cfg(test)]
mod samples;
pub mod tbc;
mod zstd_base;

pub use self::base_choice::{choose_base, choose_base_within};
pub use self::clusters::{EMPTY, Neighbours, SKETCH_VALUES, Sketch, page_clusters, page_sketch};
pub use self::dense::DenseBase;
pub use self::zstd_base::{Base, Search};
use crate::base::error::Error;

/// Make the error for a frame that cannot be decoded.
fn refused(message: impl Into<String>) -> Error {
    Error::Codec {
        message: message.into(),
    }
}
