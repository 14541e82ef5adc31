//! Texts of a stored digest, loaded when one is first read.

use std::sync::OnceLock;

use super::Buffer;
use crate::base::error::Error;
use crate::digest::format;
use crate::digest::format::Header;

/// The heaps of a digest in an uncompressed file: everything after its columns.
pub trait Rest: Send + Sync {
    /// Return the number of bytes.
    fn length(&self) -> u64;
    /// Return the bytes; the same ones, at the same address, at every call.
    fn bytes(&self) -> Result<&[u8], Error>;
}

/// The heaps of a digest that was opened without them.
pub(super) struct LateHeaps {
    source: Source,
    pub(super) failure: OnceLock<Error>,
}

enum Source {
    Rest(Box<dyn Rest>),
    Packed {
        file: Buffer,
        /// Where their frame begins in the file.
        frame: usize,
        heaps: OnceLock<Vec<u8>>,
    },
}

impl LateHeaps {
    pub(super) fn stored(rest: Box<dyn Rest>) -> Self {
        Self {
            source: Source::Rest(rest),
            failure: OnceLock::new(),
        }
    }

    pub(super) fn packed(file: Buffer, frame: usize) -> Self {
        Self {
            source: Source::Packed {
                file,
                frame,
                heaps: OnceLock::new(),
            },
            failure: OnceLock::new(),
        }
    }

    /// Return all heaps, one after another. If they cannot be loaded, the error is kept and they
    /// are empty: every string is then empty too, and [`super::Digest::check_heaps`] returns the
    /// error.
    pub(super) fn heaps(&self, header: &Header) -> &[u8] {
        let fail = |error| {
            let _ = self.failure.set(error);
        };
        match &self.source {
            Source::Rest(rest) => rest.bytes().map_err(fail).unwrap_or_default(),
            Source::Packed { file, frame, heaps } => heaps.get_or_init(|| {
                let mut heaps = Vec::new();
                let file: &[u8] = (**file).as_ref();
                match format::unpack(&file[*frame..], header.heaps_length(), &mut heaps) {
                    Ok(()) => heaps,
                    Err(error) => {
                        fail(error);
                        Vec::new()
                    }
                }
            }),
        }
    }
}
