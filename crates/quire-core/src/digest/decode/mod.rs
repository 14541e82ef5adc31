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
use crate::base::short_bytes;
use crate::digest::Digest;
use crate::digest::format::Section;
use crate::page::flags::Flags;
use crate::parse::encoding;

/// One byte of a source becomes at most this many bytes in UTF-8 (Thai in windows-874).
const MAX_GROWTH: usize = 3;

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
        return inflate(stored, length).ok_or_else(|| wrong(0));
    }
    let mut out = Vec::with_capacity(length.min(digest.as_bytes().len().saturating_mul(16)));
    let mut sink = Capped {
        out: &mut out,
        left: length.saturating_mul(MAX_GROWTH),
    };
    emit(digest, &mut sink);
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
}

impl Sink for Capped<'_> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) -> bool {
        if bytes.len() > self.left {
            return false;
        }
        self.left -= bytes.len();
        self.out.extend_from_slice(bytes);
        true
    }

    #[inline]
    fn put_span(&mut self, text: &[u8], start: u32, end: u32) -> bool {
        let length = (end - start) as usize;
        if length > self.left {
            return false;
        }
        self.left -= length;
        short_bytes::append(self.out, text, start as usize, end as usize);
        true
    }
}

fn inflate(stored: &[u8], length: usize) -> Option<Vec<u8>> {
    use std::io::Read;
    let mut out = Vec::with_capacity(length.min(stored.len().saturating_mul(16)));
    let decoder = zstd::stream::read::Decoder::new(stored).ok()?;
    decoder.take(length as u64 + 1).read_to_end(&mut out).ok()?;
    (out.len() == length).then_some(out)
}
