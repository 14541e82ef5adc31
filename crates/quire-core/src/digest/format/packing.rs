//! The compressed form of a digest: the header, then zstd frames.
//!
//! Two frames, so that columns can be read without the texts. The size that a frame claims is not
//! trusted: memory grows with the bytes that are really there.

use std::cell::RefCell;
use std::io::{self, Cursor, Read};

use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::CParameter;

use super::{Header, bad};
use crate::base::error::Error;

/// Shorter matches stay literals: they would save a fortieth of the bytes, but cost a fourteenth of
/// the time at every load.
const MIN_MATCH: u32 = 6;
/// From the next level on, zstd weighs matches against literals itself; callers who choose it want
/// few bytes.
const MAX_QUICK_LEVEL: i32 = 12;

/// Compress a digest: the header stays readable, the body becomes two zstd frames.
pub fn compress(digest: &[u8], level: i32) -> Result<Vec<u8>, Error> {
    let mut header = Header::read(digest)?;
    if header.compressed {
        return Ok(digest.to_vec());
    }
    let split = header.heap_start() as usize;
    if split < header.length || split > digest.len() {
        return Err(bad("digest is cut off before its heaps"));
    }
    header.compressed = true;
    let mut out = header.write();
    let failed = |e: io::Error| bad(format!("digest could not be compressed: {e}"));
    let mut compressor = Compressor::new(level).map_err(failed)?;
    if level <= MAX_QUICK_LEVEL {
        compressor
            .set_parameter(CParameter::MinMatch(MIN_MATCH))
            .map_err(failed)?;
    }
    // Two frames, so that columns can be read without the texts. Concatenated, they are the body.
    for part in [&digest[header.length..split], &digest[split..]] {
        if !part.is_empty() {
            out.extend_from_slice(&compressor.compress(part).map_err(failed)?);
        }
    }
    Ok(out)
}

/// A frame that claims to grow by more than this factor is decompressed step by step.
const PLAUSIBLE_RATIO: u64 = 64;

/// Undo [`compress`]. Memory use depends on the actual content of the frame, not on the size it
/// claims.
pub fn decompress(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut header = Header::read(bytes)?;
    header.unpack_all(bytes)
}

impl Header {
    /// Decompress the digest that starts with this header; the header becomes that of the
    /// uncompressed digest.
    pub(crate) fn unpack_all(&mut self, bytes: &[u8]) -> Result<Vec<u8>, Error> {
        if !self.compressed {
            return Ok(bytes.to_vec());
        }
        self.compressed = false;
        let mut out = self.write();
        unpack(&bytes[self.length..], self.body_length, &mut out)?;
        Ok(out)
    }

    /// Decompress everything but the heaps of the digest that starts with this header; the header
    /// becomes that of the uncompressed digest. Returns the digest up to its heaps, and the offset
    /// of their frame in `bytes`.
    pub(crate) fn unpack_columns(&mut self, bytes: &[u8]) -> Result<(Vec<u8>, usize), Error> {
        self.compressed = false;
        let frames = &bytes[self.length..];
        let length = zstd::zstd_safe::find_frame_compressed_size(frames)
            .map_err(|_| bad("compressed digest is damaged: it does not start with a zstd frame"))?
            .min(frames.len());
        let mut out = self.write();
        let claimed = self.heap_start() - self.length as u64;
        unpack(&frames[..length], claimed, &mut out)?;
        Ok((out, self.length + length))
    }
}

/// Append the content of frames to `out`; it must have the claimed size. Memory use depends on the
/// actual content.
pub fn unpack(frames: &[u8], claimed: u64, out: &mut Vec<u8>) -> Result<(), Error> {
    let start = out.len();
    let grown = if claimed <= frames.len() as u64 * PLAUSIBLE_RATIO {
        inflate(frames, claimed as usize, out)
    } else {
        grow(frames, claimed, out)
    };
    grown.map_err(|e| match e.kind() {
        io::ErrorKind::OutOfMemory => Error::Memory { bytes: claimed },
        _ => bad(format!("compressed digest is damaged: {e}")),
    })?;
    let found = (out.len() - start) as u64;
    if found == claimed {
        return Ok(());
    }
    Err(bad(format!(
        "compressed digest holds at least {found} bytes, but its header says {claimed}"
    )))
}

thread_local! {
    /// Reused: creating a decompressor costs as much as using it on a page.
    static INFLATER: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Decompress a frame of at most `limit` bytes and append it to `out`.
fn inflate(frame: &[u8], limit: usize, out: &mut Vec<u8>) -> io::Result<()> {
    INFLATER.with_borrow_mut(|kept| {
        let decompressor = match kept {
            Some(kept) => kept,
            None => kept.insert(Decompressor::new()?),
        };
        out.try_reserve_exact(limit)?;
        let start = out.len() as u64;
        let mut end = Cursor::new(out);
        end.set_position(start);
        decompressor.decompress_to_buffer(frame, &mut end)?;
        Ok(())
    })
}

/// Decompress a frame with an implausible size, up to one byte more than it claims.
fn grow(frame: &[u8], claimed: u64, out: &mut Vec<u8>) -> io::Result<()> {
    let decoder = zstd::stream::read::Decoder::new(frame)?;
    decoder.take(claimed + 1).read_to_end(out)?;
    Ok(())
}
