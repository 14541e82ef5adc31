//! Stored digests: how much of a file is read, and when.
//!
//! Small files are read: a copy costs less than the page faults of a map. If the caller asks only
//! for columns, the heaps stay in the file. They must still be available later, even if another
//! file has the same name by then, and users may hold thousands of digests, more than a process may
//! have open files. So the last few digests keep their files open. The file of an older digest that
//! is still in use is mapped and closed. Most digests are dropped before that; a map that is never
//! read would cost as much as reading and checking the columns. Heaps needed while their file is
//! open are read: then a truncated file is an error, while under a map it would end the process.
//!
//! Mapping needs `unsafe` code, which this crate forbids, so the caller passes a function for it.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use super::format::Header;
use super::{Buffer, Digest, Rest, Verify};
use crate::base::error::Error;

/// Maps a file from its first byte; the map outlives the file descriptor.
pub type Map = fn(&File, u64) -> io::Result<Buffer>;

/// Files and columns up to this size are read, larger ones mapped.
const MAX_READ_BYTES: u64 = 1 << 20;
/// Files up to this size are read as a whole if only columns are requested.
const MAX_SMALL_BYTES: u64 = 16 << 10;
/// Compressed files up to this size are read if only columns are requested, larger ones mapped.
const MAX_PACKED_BYTES: u64 = 64 << 10;
/// Bytes to read first: more than the longest header.
const HEAD_BYTES: usize = 4 << 10;
/// Maximum number of files kept open at the same time, in the whole process.
const MAX_OPEN: usize = 16;

/// Open a stored digest, compressed or not.
///
/// The file must not be written to or truncated while the digest is in use.
pub fn open_file(path: &Path, verify: Verify, map: Map) -> io::Result<Result<Digest, Error>> {
    let mut file = File::open(path)?;
    let facts = file.metadata()?;
    let length = facts.len();
    if !facts.is_file() {
        // A pipe has no length and cannot be mapped.
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        return Ok(Digest::open(Box::new(bytes), verify));
    }
    if verify == Verify::Columns && length > MAX_SMALL_BYTES {
        return open_columns(file, length, map);
    }
    let bytes = read_or_map(file, &[], length, MAX_READ_BYTES, map)?;
    Ok(Digest::open(bytes, verify))
}

/// Open a digest of more than [`HEAD_BYTES`] bytes without its heaps.
fn open_columns(mut file: File, length: u64, map: Map) -> io::Result<Result<Digest, Error>> {
    let mut head = [0; HEAD_BYTES];
    file.read_exact(&mut head)?;
    let header = match Header::read(&head) {
        Ok(header) => header,
        Err(error) => return Ok(Err(error)),
    };
    let start = header.heap_start();
    if header.compressed || start > length.min(MAX_READ_BYTES) {
        let bytes = read_or_map(file, &head, length, MAX_PACKED_BYTES, map)?;
        return Ok(Digest::open(bytes, Verify::Columns));
    }
    let mut columns = vec![0; start as usize];
    let known = columns.len().min(HEAD_BYTES);
    columns[..known].copy_from_slice(&head[..known]);
    file.read_exact(&mut columns[known..])?;
    let heaps = Arc::new(Heaps {
        file: Mutex::new(Some(file)),
        map,
        start,
        length: length - start,
        bytes: OnceLock::new(),
    });
    let digest = Digest::open_columns(header, Box::new(columns), Box::new(Shared(heaps.clone())));
    if digest.is_ok() {
        keep_open(&heaps);
    }
    Ok(digest)
}

/// Return all bytes of a file; `head` has already been read.
fn read_or_map(
    mut file: File,
    head: &[u8],
    length: u64,
    max_read: u64,
    map: Map,
) -> io::Result<Buffer> {
    if length > max_read {
        return map(&file, length);
    }
    // Not `read_to_end`: it asks for the length again, and reads once more at the end.
    let mut bytes = vec![0; length as usize];
    bytes[..head.len()].copy_from_slice(head);
    let mut known = head.len();
    while known < bytes.len() {
        match file.read(&mut bytes[known..]) {
            Ok(0) => bytes.truncate(known), // cut off since; the digest will say so
            Ok(more) => known += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Box::new(bytes))
}

/// The heaps of a digest: first in an open file, later in memory or in a map of the file.
struct Heaps {
    file: Mutex<Option<File>>,
    map: Map,
    start: u64,
    length: u64,
    bytes: OnceLock<Result<(Buffer, usize), Error>>,
}

impl Heaps {
    /// Read the heaps, or map them if they are longer than `max_read`, and close the file; only
    /// once.
    fn settle(&self, max_read: u64) -> &Result<(Buffer, usize), Error> {
        self.bytes.get_or_init(|| {
            let file = self.file.lock().ok().and_then(|mut file| file.take());
            let file = file.ok_or_else(|| io::Error::other("the file is closed"));
            file.and_then(|file| self.fetch(file, max_read))
                .map_err(|error| Error::Format {
                    message: format!("the texts of the digest could not be read: {error}"),
                })
        })
    }

    fn fetch(&self, mut file: File, max_read: u64) -> io::Result<(Buffer, usize)> {
        let end = self.start + self.length;
        // Another process may have written to the file since it was opened. Reading a map beyond
        // the end of the file does not return an error: the system ends the process.
        let length = file.metadata()?.len();
        if length < end {
            return Err(cut_short(length, end));
        }
        if self.length > max_read
            && let Ok(map) = (self.map)(&file, end)
        {
            return Ok((map, self.start as usize));
        }
        // Also if mapping fails: a process may only have a limited number of maps, fewer than the
        // digests that fit into memory.
        let mut bytes = Vec::with_capacity(self.length as usize);
        file.seek(SeekFrom::Start(self.start))?;
        file.take(self.length).read_to_end(&mut bytes)?;
        if (bytes.len() as u64) < self.length {
            return Err(cut_short(self.start + bytes.len() as u64, end));
        }
        Ok((Box::new(bytes), 0))
    }
}

fn cut_short(found: u64, expected: u64) -> io::Error {
    io::Error::other(format!(
        "the file shrank to {found} bytes while in use; it had {expected} bytes when it was loaded"
    ))
}

/// The heaps as the digest holds them; [`OPEN`] refers to them too.
struct Shared(Arc<Heaps>);

impl Rest for Shared {
    fn length(&self) -> u64 {
        self.0.length
    }

    fn bytes(&self) -> Result<&[u8], Error> {
        let (bytes, start) = self
            .0
            .settle(MAX_READ_BYTES)
            .as_ref()
            .map_err(Error::clone)?;
        let bytes: &[u8] = (**bytes).as_ref();
        Ok(&bytes[*start..])
    }
}

/// Digests whose files may be open, the oldest first.
static OPEN: Mutex<VecDeque<Weak<Heaps>>> = Mutex::new(VecDeque::new());

/// Let a digest keep its file open; close that of the oldest if there are too many.
fn keep_open(heaps: &Arc<Heaps>) {
    // Never blocks: after a fork, the thread that would unlock it may not exist.
    let oldest = match OPEN.try_lock() {
        Ok(mut open) => {
            open.push_back(Arc::downgrade(heaps));
            if open.len() > MAX_OPEN {
                open.pop_front()
            } else {
                None
            }
        }
        Err(_) => Some(Arc::downgrade(heaps)),
    };
    if let Some(heaps) = oldest.and_then(|heaps| heaps.upgrade()) {
        // The heaps may never be needed, and a map takes no memory.
        let _ = heaps.settle(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::decode::decode;
    use crate::encode::{Options, encode};

    /// Copy the file: a mapping function for tests.
    fn copy(mut file: &File, length: u64) -> io::Result<Buffer> {
        let mut bytes = vec![0; length as usize];
        file.seek(SeekFrom::Start(0))?;
        file.read_exact(&mut bytes)?;
        Ok(Box::new(bytes))
    }

    fn stored(name: &str, source: &[u8]) -> std::path::PathBuf {
        let name = format!("quire-{name}-{}.qd", std::process::id());
        let path = std::env::temp_dir().join(name);
        let page = encode(source, &Options::default()).unwrap();
        std::fs::write(&path, page.whole().unwrap()).unwrap();
        path
    }

    fn check_many() {
        let source: Vec<u8> = (0..4000)
            .flat_map(|i| format!("<p>{i}").into_bytes())
            .collect();
        let path = stored("many", &source);
        let open = |verify| open_file(&path, verify, copy).unwrap().unwrap();
        let digests: Vec<_> = (0..2 * MAX_OPEN).map(|_| open(Verify::Columns)).collect();
        std::fs::remove_file(&path).unwrap();
        for digest in digests {
            assert!(decode(&digest).unwrap() == source);
        }
    }

    fn check_cut() {
        let source: Vec<u8> = (0..4000)
            .flat_map(|i| format!("<p>{i}").into_bytes())
            .collect();
        let path = stored("cut", &source);
        let digest = open_file(&path, Verify::Columns, copy).unwrap().unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(file.metadata().unwrap().len() - 1).unwrap();
        std::fs::remove_file(&path).unwrap();
        let error = decode(&digest).unwrap_err().to_string();
        assert!(error.contains("the file shrank"), "{error}");
    }

    // One test, because opening many digests closes the files of others.
    #[test]
    fn many_digests_read_the_same_and_a_file_cut_short_is_an_error() {
        check_many();
        check_cut();
    }
}
