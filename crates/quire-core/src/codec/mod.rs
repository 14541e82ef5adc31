//! Codecs of the archive: a page small, and back to the exact bytes, alone.
//!
//! Pages of a cluster have most of their bytes in common. `base_choice` chooses a few of them that
//! between them hold what the others repeat; `zstd_base` writes a page against them in a
//! frame of its own, quickly; `dense` does the same slowly and smaller. [`tbc`] is paper 003's delta
//! against one other page, by its name. Sizes and checksums of pages are kept by the container, not
//! here; a decoder takes the length as an argument and refuses a frame of another length.

mod base_choice;
mod dense;
#[cfg(test)]
mod samples;
pub mod tbc;
mod zstd_base;

pub use self::base_choice::{choose_base, choose_base_within};
pub use self::dense::DenseBase;
pub use self::zstd_base::Base;
use crate::base::error::Error;

/// The refusal of a frame.
fn refused(message: impl Into<String>) -> Error {
    Error::Codec {
        message: message.into(),
    }
}
