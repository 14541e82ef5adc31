//! Stored digests: how much of a file is read, and when.
//!
//! What is looked at anyway is read: a copy costs less than the page faults of a map. When only
//! columns are asked for, the heaps are mapped and left alone. They must be there later, even
//! if another file has its name by then, and people hold thousands of digests, more than a
//! process may have files open: a map outlives both.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use memmap2::Mmap;
use quire_core::digest::{Buffer, Digest, Rest, Verify};
use quire_core::error::Error;
use quire_core::format::Header;

use crate::buffers::map;

/// Files and columns up to this size are read, larger ones mapped.
const MAX_READ_BYTES: u64 = 1 << 20;
/// Files up to this size are read as a whole when columns are asked for.
const MAX_SMALL_BYTES: u64 = 32 << 10;
/// Compressed files up to this size are read when columns are asked for, larger ones mapped.
const MAX_PACKED_BYTES: u64 = 64 << 10;
/// What is read first: more than the longest header.
const HEAD_BYTES: usize = 1 << 10;

/// Open a stored digest, compressed or not.
pub fn open(path: &Path, verify: Verify) -> io::Result<Result<Digest, Error>> {
    let mut file = File::open(path)?;
    let facts = file.metadata()?;
    let length = facts.len();
    if !facts.is_file() {
        // A pipe: neither its length nor a map of it can be had.
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        return Ok(Digest::open(Box::new(bytes), verify));
    }
    if verify == Verify::Columns && length > MAX_SMALL_BYTES {
        return open_columns(file, length);
    }
    let bytes = read_or_map(file, &[], length, MAX_READ_BYTES)?;
    Ok(Digest::open(bytes, verify))
}

/// Open a digest of more than [`HEAD_BYTES`] bytes without its heaps.
fn open_columns(mut file: File, length: u64) -> io::Result<Result<Digest, Error>> {
    let mut head = [0; HEAD_BYTES];
    file.read_exact(&mut head)?;
    let header = match Header::read(&head) {
        Ok(header) => header,
        Err(error) => return Ok(Err(error)),
    };
    let start = header.heap_start();
    if header.compressed || start > length.min(MAX_READ_BYTES) {
        let bytes = read_or_map(file, &head, length, MAX_PACKED_BYTES)?;
        return Ok(Digest::open(bytes, Verify::Columns));
    }
    let mut columns = vec![0; start as usize];
    let known = columns.len().min(HEAD_BYTES);
    columns[..known].copy_from_slice(&head[..known]);
    file.read_exact(&mut columns[known..])?;
    let heaps = Heaps {
        map: map(&file, length)?,
        start: start as usize,
    };
    Ok(Digest::open_columns(
        header,
        Box::new(columns),
        Box::new(heaps),
    ))
}

/// All bytes of a file, of which `head` is read already.
fn read_or_map(mut file: File, head: &[u8], length: u64, max_read: u64) -> io::Result<Buffer> {
    if length > max_read {
        return Ok(Box::new(map(&file, length)?));
    }
    let mut bytes = Vec::with_capacity(length as usize + 1);
    bytes.extend_from_slice(head);
    file.read_to_end(&mut bytes)?;
    Ok(Box::new(bytes))
}

/// The heaps of a digest in a map of its file.
struct Heaps {
    map: Mmap,
    start: usize,
}

impl Rest for Heaps {
    fn length(&self) -> u64 {
        (self.map.len() - self.start) as u64
    }

    fn bytes(&self) -> Result<&[u8], Error> {
        Ok(&self.map[self.start..])
    }
}
