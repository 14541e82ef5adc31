//! Decoding: from a digest back to the exact source.
//!
//! [`emit()`] walks the columns and writes the bytes they predict; [`decode`] adds the two other
//! cases (a source stored whole, a page in UTF-16) and checks the length.

mod emit;
mod spans;

use encoding_rs::{Encoding, UTF_8};

pub use self::emit::{Comparison, Sink, emit, self_closed};
pub use self::spans::{Places, Spans, places};
use crate::base::error::Error;
use crate::base::memory::reserve;
use crate::base::short_bytes;
use crate::digest::Digest;
use crate::digest::format::Section;
use crate::page::flags::Flags;
use crate::page::limits::MAX_GROWTH;
use crate::parse::encoding;

/// Return the exact source (the paper's Algorithm 2).
///
/// The result is checked against the length in the header; a damaged digest gives an error, never
/// different bytes.
pub fn decode(digest: &Digest) -> Result<Vec<u8>, Error> {
    digest.check_heaps()?;
    let length = usize::try_from(digest.header().source_length).unwrap_or(usize::MAX);
    let wrong = |found: usize| Error::Format {
        message: format!("digest decodes to {found} bytes, but its source had {length}"),
    };
    if digest.flags().has(Flags::VERBATIM) {
        let stored = digest.section(Section::Source);
        return inflate(stored, length)?.ok_or_else(|| wrong(0));
    }
    let mut out = Vec::new();
    reserve(
        &mut out,
        length.min(digest.memory().len().saturating_mul(16)),
    )?;
    let mut sink = Capped {
        out: &mut out,
        left: length.saturating_mul(MAX_GROWTH),
        lacks_memory: false,
    };
    emit(digest, &mut sink);
    if sink.lacks_memory {
        return Err(Error::Memory {
            bytes: length as u64,
        });
    }
    if digest.flags().has(Flags::TRANSCODED) {
        let label = Encoding::for_label(digest.meta().encoding.as_bytes()).unwrap_or(UTF_8);
        out = encoding::transcode_back(&out, label).ok_or_else(|| wrong(0))?;
    }
    if out.len() == length {
        Ok(out)
    } else {
        Err(wrong(out.len()))
    }
}

/// Stops a forged digest from writing without end.
struct Capped<'a> {
    out: &'a mut Vec<u8>,
    left: usize,
    lacks_memory: bool,
}

impl Capped<'_> {
    /// Take room for bytes; false if they are too many.
    #[inline]
    fn take(&mut self, length: usize) -> bool {
        if length > self.left {
            return false;
        }
        self.left -= length;
        self.out.capacity() - self.out.len() >= length || self.grow(length)
    }

    #[cold]
    fn grow(&mut self, length: usize) -> bool {
        self.lacks_memory = self.out.try_reserve(length).is_err();
        !self.lacks_memory
    }
}

impl Sink for Capped<'_> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) -> bool {
        if !self.take(bytes.len()) {
            return false;
        }
        self.out.extend_from_slice(bytes);
        true
    }

    #[inline]
    fn put_span(&mut self, text: &[u8], start: u32, end: u32) -> bool {
        if !self.take((end - start) as usize) {
            return false;
        }
        short_bytes::append(self.out, text, start as usize, end as usize);
        true
    }
}

/// Unpack a stored source; `None` if it does not have this length.
fn inflate(stored: &[u8], length: usize) -> Result<Option<Vec<u8>>, Error> {
    use std::io::{ErrorKind, Read};
    let mut out = Vec::new();
    reserve(&mut out, length.min(stored.len().saturating_mul(16)))?;
    let Ok(decoder) = zstd::stream::read::Decoder::new(stored) else {
        return Ok(None);
    };
    match decoder.take(length as u64 + 1).read_to_end(&mut out) {
        Ok(_) => Ok(Some(out).filter(|out| out.len() == length)),
        Err(error) if error.kind() == ErrorKind::OutOfMemory => Err(Error::Memory {
            bytes: length as u64,
        }),
        Err(_) => Ok(None),
    }
}
