//! Texts of a compressed digest, unpacked when somebody reads one.

use std::sync::OnceLock;

use super::Buffer;
use crate::error::Error;
use crate::format::{self, Header};

/// The heaps of a compressed digest, unpacked when somebody reads a string.
pub(super) struct LateHeaps {
    file: Buffer,
    /// Where their frame begins in the file.
    frame: usize,
    pub(super) heaps: OnceLock<Vec<u8>>,
    pub(super) failure: OnceLock<Error>,
}

impl LateHeaps {
    pub(super) fn new(file: Buffer, frame: usize) -> Self {
        Self {
            file,
            frame,
            heaps: OnceLock::new(),
            failure: OnceLock::new(),
        }
    }

    /// All heaps, one after another. When their frame is damaged the failure is kept and they are
    /// empty: every string is then empty too, and [`super::Digest::check_heaps`] says why.
    pub(super) fn heaps(&self, header: &Header) -> &[u8] {
        self.heaps.get_or_init(|| {
            let length = header.length as u64 + header.body_length - header.heap_start();
            let mut heaps = Vec::new();
            let file: &[u8] = (*self.file).as_ref();
            if let Err(error) = format::unpack(&file[self.frame..], length, &mut heaps) {
                let _ = self.failure.set(error);
                heaps = Vec::new();
            }
            heaps
        })
    }
}
