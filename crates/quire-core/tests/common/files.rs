//! Digest files with deliberate faults, and everything a reader may do with them.
//!
//! A changed byte is found by its checksum. To reach the checks behind the checksums, a forger
//! recomputes them: [`reseal`].

#![allow(dead_code)] // every test binary and fuzz target uses its own part of this

use quire_core::format::{Header, compress, decompress};
use quire_core::hash::hash64;
use quire_core::select::{Limits, View, XPath, css, css_path, xpath_of};
use quire_core::{Digest, Error, Rest, Sink, Verify, decode, emit, places, text};

/// Fixed part of the header, and a row of the section table; see `docs/format.md`.
pub const FIXED: usize = 152;
pub const ROW: usize = 32;

fn number(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let mut value = [0; 8];
    value[..width].copy_from_slice(bytes.get(at..at + width)?);
    Some(u64::from_le_bytes(value))
}

/// Recompute every checksum, as far as the file still has room for them.
pub fn reseal(bytes: &mut [u8]) {
    let rows = number(bytes, 20, 4).unwrap_or(0).min(64) as usize;
    for row in 0..rows {
        let at = FIXED + row * ROW;
        let (Some(offset), Some(length)) = (number(bytes, at + 8, 8), number(bytes, at + 16, 8))
        else {
            return;
        };
        let end = offset.saturating_add(length).min(bytes.len() as u64) as usize;
        let checksum = hash64(bytes.get(offset as usize..end).unwrap_or_default());
        if let Some(place) = bytes.get_mut(at + 24..at + 32) {
            place.copy_from_slice(&checksum.to_le_bytes());
        }
    }
    let end = FIXED + rows * ROW;
    if bytes.len() >= end + 8 {
        let checksum = hash64(&bytes[..end]);
        bytes[end..end + 8].copy_from_slice(&checksum.to_le_bytes());
    }
}

/// A sink that takes only a limited number of bytes.
struct Limited(usize);

impl Sink for Limited {
    fn put(&mut self, bytes: &[u8]) -> bool {
        self.0 = self.0.saturating_sub(bytes.len());
        self.0 > 0
    }
}

/// The heaps of a file, apart from its columns.
struct Heaps(Vec<u8>);

impl Rest for Heaps {
    fn length(&self) -> u64 {
        self.0.len() as u64
    }
    fn bytes(&self) -> Result<&[u8], Error> {
        Ok(&self.0)
    }
}

/// Open an uncompressed file without its heaps, like a mapped one.
fn open_in_parts(bytes: &[u8]) -> Option<Digest> {
    let header = Header::read(bytes).ok()?;
    let (columns, heaps) = bytes.split_at_checked(header.heap_start() as usize)?;
    let (columns, heaps) = (columns.to_vec(), Heaps(heaps.to_vec()));
    Digest::open_columns(header, Box::new(columns), Box::new(heaps)).ok()
}

/// Open a file in every way and read everything. Checks only that nothing panics; returns whether
/// the file could be opened with every check.
pub fn read_everything(bytes: &[u8]) -> bool {
    let _ = Header::read(bytes);
    let unpacked = decompress(bytes);
    let _ = compress(bytes, 1);
    let all = Digest::open(Box::new(bytes.to_vec()), Verify::All);
    let columns = Digest::open(Box::new(bytes.to_vec()), Verify::Columns);
    if Header::read(bytes).is_ok_and(|header| !header.compressed) {
        let parts = open_in_parts(bytes);
        assert_eq!(parts.is_some(), columns.is_ok(), "parts open as the whole");
        if let Some(digest) = parts {
            ask(&digest);
        }
    }
    if let Ok(digest) = columns {
        ask(&digest);
    } else {
        assert!(all.is_err(), "opens with every check, but not with some");
    }
    if let Ok(unpacked) = unpacked
        && unpacked != bytes
        && let Ok(digest) = Digest::open(Box::new(unpacked), Verify::All)
    {
        ask(&digest);
    }
    all.is_ok_and(|digest| {
        ask(&digest);
        true
    })
}

/// Read everything a digest offers, whatever its strings contain.
pub fn ask(digest: &Digest) {
    super::pages::visit(digest);
    let _ = digest.check_heaps();
    let _ = decode(digest);
    emit(digest, &mut Limited(1 << 16));
    let _ = (digest.signatures(), digest.flags().names().count());
    let view = View::new(digest);
    let limits = Limits { steps: 100_000 };
    let _ = css(
        &view,
        "p.a > b:nth-child(2n+1), [href], template *",
        0,
        limits,
    );
    let _ = XPath::parse("//a[@href]/text() | //*[last()]")
        .and_then(|path| path.select(&view, 0, limits));
    let last = digest.n() - 1;
    let _ = css_path(&view, last as u32);
    let _ = xpath_of(&view, last as u32);
    for node in [0, digest.n() / 2, last] {
        let _ = text::text(digest, node);
    }
    let _ = text::Reader::new(digest).visible();
    let _ = places(digest);
    (0..digest.tag_count()).for_each(|tag| drop(digest.tag_label(tag)));
    let _ = text::links(digest);
    let _ = text::images(digest);
}
