//! Digest files are hostile input: whatever they contain, the result is an error or a digest, never
//! a panic.

#[path = "common/files.rs"]
mod files;
#[path = "common/pages.rs"]
mod pages;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use files::{FIXED, ROW, ask, read_everything, reseal};
use pages::{Random, html_options, page};
use quire_core::format::{MAGIC, SECTIONS, compress, decompress};
use quire_core::{Digest, Kind, Options, Verify, decode, encode};

/// Records the largest single allocation, so that a test can tell whether a count was trusted or
/// checked.
struct Watched;

static LARGEST: AtomicUsize = AtomicUsize::new(0);
/// Tests that measure allocations do not run in parallel with others.
static ALONE: Mutex<()> = Mutex::new(());

// SAFETY: passes everything to the system's allocator, with the layouts it was given.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// Return the largest allocation while `work` runs.
fn largest(work: impl FnOnce()) -> usize {
    LARGEST.store(0, Ordering::Relaxed);
    work();
    LARGEST.load(Ordering::Relaxed)
}

/// Return small digests of every kind, with every section among them.
fn digests() -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
    let of = |source: &[u8], options: &Options| {
        let digest = encode(source, options).expect("encodes");
        (source.to_vec(), digest.whole().unwrap().into_owned())
    };
    let kind = |kind| Options {
        kind: Some(kind),
        recover: true,
        ..Options::default()
    };
    let utf16: Vec<u8> = "\u{feff}<p>caf\u{e9}"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    [
        (
            "html",
            of(
                b"<!doctype html>\n<P a=1>x<b a=1>y</p>z</b><table>q<tr><td>&amp;</x></table><svg a/>",
                &html_options(0),
            ),
        ),
        ("fragment", of(b"<tr><td a=b>x", &html_options(16))),
        ("xml", of(b"<?xml version='1.0'?><a b='1'><!-- c --><b/>&lt;<![CDATA[x]]></a>", &kind(Kind::Xml))),
        ("json", of(b"{\n  \"a\": [1, true, \"x\"],\n  \"b\":null, \"c\": {}\n}\n", &kind(Kind::Json))),
        ("text", of(b"one\ntwo\r\n\n three", &kind(Kind::Text))),
        ("bytes", of(b"\0\x01\x02", &kind(Kind::Bytes))),
        ("transcoded", of(&utf16, &Options::default())),
        ("verbatim", of(b"\xff\xfe<\0p\0>\0\x00\xd8x\0", &Options::default())),
    ]
    .map(|(name, (source, bytes))| (name, source, bytes))
    .to_vec()
}

fn open(bytes: &[u8], verify: Verify) -> Option<Digest> {
    Digest::open(Box::new(bytes.to_vec()), verify).ok()
}

#[test]
fn every_section_is_in_some_of_these_digests() {
    let mut seen = [false; SECTIONS];
    for (_, _, bytes) in digests() {
        let digest = open(&bytes, Verify::All).expect("opens");
        for (id, place) in digest.header().places.iter().enumerate() {
            seen[id] |= place.width != 0;
        }
    }
    assert_eq!(
        seen[1..].iter().position(|&s| !s),
        None,
        "from section 1 on"
    );
}

#[test]
fn a_flipped_bit_is_always_found() {
    for (name, _, mut bytes) in digests() {
        for at in 0..bytes.len() {
            for bit in [0, 7] {
                bytes[at] ^= 1 << bit;
                assert!(
                    open(&bytes, Verify::All).is_none(),
                    "{name}: byte {at}, bit {bit}"
                );
                if bit == 0
                    && let Some(digest) = open(&bytes, Verify::Columns)
                {
                    ask(&digest);
                }
                bytes[at] ^= 1 << bit;
            }
        }
    }
}

#[test]
fn damaged_heaps_are_never_decoded() {
    for (name, source, mut bytes) in digests() {
        for at in 0..bytes.len() {
            bytes[at] ^= 0x20;
            if let Some(digest) = open(&bytes, Verify::Columns)
                && let Ok(decoded) = decode(&digest)
            {
                assert!(
                    decoded == source,
                    "{name}: byte {at} changes the decoded page"
                );
            }
            bytes[at] ^= 0x20;
        }
    }
}

#[test]
fn a_cut_digest_is_an_error_at_every_length() {
    for (name, _, bytes) in digests() {
        let packed = compress(&bytes, 3).expect("compresses");
        for length in 0..bytes.len() {
            assert!(!read_everything(&bytes[..length]), "{name}: {length} bytes");
        }
        for length in 0..packed.len() {
            assert!(
                decompress(&packed[..length]).is_err(),
                "{name}: {length} bytes, compressed"
            );
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(!read_everything(&longer), "{name}: one byte more");
    }
}

#[test]
fn bytes_that_only_look_like_a_digest_are_an_error() {
    let mut random = Random(7);
    for length in 0..2000 {
        let mut bytes: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        let mark = length.min(MAGIC.len());
        bytes[..mark].copy_from_slice(&MAGIC[..mark]);
        assert!(!read_everything(&bytes));
        reseal(&mut bytes);
        assert!(!read_everything(&bytes));
    }
}

const EXTREMES: [u64; 12] = [
    0,
    1,
    2,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0xffff_ffff,
    1 << 40,
    u64::MAX,
];

/// Every number of the header and the table, set to values that could break arithmetic.
#[test]
fn forged_counts_are_not_believed() {
    let _alone = ALONE.lock();
    for (name, _, bytes) in digests() {
        let rows = u32::from_le_bytes(bytes[20..24].try_into().unwrap()) as usize;
        let mut places = vec![
            (8, 2),
            (10, 1),
            (11, 1),
            (12, 4),
            (16, 4),
            (20, 4),
            (24, 8),
            (32, 8),
        ];
        for row in 0..rows {
            let at = FIXED + row * ROW;
            places.extend([
                (at, 2),
                (at + 2, 1),
                (at + 3, 1),
                (at + 4, 4),
                (at + 8, 8),
                (at + 16, 8),
            ]);
        }
        for (at, width) in places {
            let true_value = {
                let mut value = [0; 8];
                value[..width].copy_from_slice(&bytes[at..at + width]);
                u64::from_le_bytes(value)
            };
            let near = [
                true_value + 1,
                true_value.wrapping_sub(1),
                true_value * 2,
                true_value + 8,
            ];
            for value in EXTREMES.into_iter().chain(near) {
                let mut forged = bytes.clone();
                forged[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
                reseal(&mut forged);
                let most = largest(|| {
                    if let Some(digest) = open(&forged, Verify::All) {
                        ask(&digest);
                    }
                });
                let limit = 64 * forged.len() + (1 << 20);
                assert!(
                    most <= limit,
                    "{name}: {value} at {at} allocates {most} bytes"
                );
                read_everything(&forged);
            }
        }
    }
}

/// Every byte of every section, with corrected checksums.
#[test]
fn forged_columns_are_refused_or_harmless() {
    let _alone = ALONE.lock();
    for (_, _, bytes) in digests() {
        let rows = u32::from_le_bytes(bytes[20..24].try_into().unwrap()) as usize;
        for at in FIXED + rows * ROW + 8..bytes.len() {
            for value in [0, 1, 0x7f, 0xff, bytes[at].wrapping_add(1)] {
                let mut forged = bytes.clone();
                forged[at] = value;
                reseal(&mut forged);
                read_everything(&forged);
            }
        }
    }
}

/// Several forged bytes at once: lists that match each other, but not the tree.
#[test]
fn digests_with_many_forged_bytes_are_refused_or_harmless() {
    let _alone = ALONE.lock();
    let mut random = Random(0xf0_29ed);
    let mut opened = 0;
    let cases = digests();
    for round in 0..if cfg!(debug_assertions) { 1500 } else { 20_000 } {
        let mut forged = if round % 2 == 0 {
            cases[random.below(cases.len())].2.clone()
        } else {
            let pieces = 1 + random.below(20);
            let source = page(&mut random, pieces);
            let options = html_options(random.below(40));
            encode(&source, &options)
                .expect("encodes")
                .whole()
                .expect("is whole")
                .into_owned()
        };
        let rows = u32::from_le_bytes(forged[20..24].try_into().unwrap()) as usize;
        let from = if random.below(4) == 0 {
            8
        } else {
            FIXED + rows * ROW + 8
        };
        for _ in 0..=random.below(6) {
            let at = from + random.below(forged.len() - from);
            forged[at] = match random.below(4) {
                0 => random.next() as u8,
                1 => forged[at].wrapping_add(1),
                2 => forged[at].wrapping_sub(1),
                _ => [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
            };
        }
        reseal(&mut forged);
        opened += usize::from(read_everything(&forged));
    }
    // Otherwise the checks behind the checksums would not have been reached.
    assert!(
        opened > 50,
        "{opened} of the forged digests could be opened"
    );
}

/// A frame that holds far more than it claims, or claims far more than it holds.
#[test]
fn a_compressed_digest_is_unpacked_no_further_than_it_claims() {
    let _alone = ALONE.lock();
    let (_, _, bytes) = &digests()[0];
    let packed = compress(bytes, 3).expect("compresses");
    let rows = u32::from_le_bytes(packed[20..24].try_into().unwrap()) as usize;
    let header = FIXED + rows * ROW + 8;
    let bomb = zstd::bulk::compress(&vec![0; 64 << 20], 1).expect("compresses");
    let forged = [&packed[..header], &bomb].concat();
    let most = largest(|| assert!(decompress(&forged).is_err()));
    assert!(most < 16 << 20, "{most} bytes for a bomb");
    let mut forged = packed.clone();
    forged[32..40].copy_from_slice(&(4u64 << 30).to_le_bytes());
    reseal(&mut forged);
    let most = largest(|| assert!(decompress(&forged).is_err()));
    assert!(most < 16 << 20, "{most} bytes for a claim");
}

#[test]
fn a_source_section_is_unpacked_no_further_than_it_claims() {
    let _alone = ALONE.lock();
    let source: Vec<u8> = [&b"\xff\xfe<\0p\0>\0\x00\xd8"[..], &vec![b'x'; 32 << 20]].concat();
    let bytes = encode(&source, &Options::default())
        .expect("encodes")
        .whole()
        .expect("is whole")
        .into_owned();
    let mut forged = bytes;
    forged[24..32].copy_from_slice(&1000u64.to_le_bytes());
    reseal(&mut forged);
    // Its columns alone say more than a source of this length can.
    let forged = Box::new(forged);
    let most = largest(|| assert!(Digest::open(forged, Verify::Columns).is_err()));
    assert!(most < 16 << 20, "{most} bytes");
}
