//! Files that may or may not be digests.
//!
//! The first byte selects: 0, the rest is a file as it is; 1, the same with corrected checksums;
//! otherwise the digest of a small page with edits of five bytes each: position (two bytes), kind
//! of edit (one), value (two).
#![no_main]

#[path = "../../crates/quire-core/tests/common/files.rs"]
mod files;
#[path = "../../crates/quire-core/tests/common/pages.rs"]
mod pages;

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use quire_core::format::compress;
use quire_core::{Options, encode};

fn samples() -> &'static [Vec<u8>] {
    static SAMPLES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let sources: [&[u8]; 6] = [
            b"<!doctype html>\n<P a=1>x<b a=1>y</p>z</b><table>q<tr><td>&amp;</x></table><svg a/>",
            b"<?xml version='1.0'?><a b='1'><!-- c --><b/>&lt;<![CDATA[x]]></a>",
            b"{\n  \"a\": [1, true, \"x\"],\n  \"b\":null, \"c\": {}\n}\n",
            b"one\ntwo\r\n\n three",
            b"\xff\xfe<\0p\0>\0x\0",
            b"\xff\xfe<\0p\0>\0\x00\xd8x\0",
        ];
        sources
            .iter()
            .map(|source| {
                encode(source, &Options::default())
                    .expect("encodes")
                    .whole()
                    .expect("is whole")
                    .into_owned()
            })
            .collect()
    })
}

fuzz_target!(|input: &[u8]| {
    let Some((&choice, rest)) = input.split_first() else {
        return;
    };
    let mut file = match choice {
        0 | 1 => rest.to_vec(),
        _ => samples()[choice as usize % samples().len()].clone(),
    };
    if choice > 1 {
        for edit in rest.chunks_exact(5) {
            let at = u16::from_le_bytes([edit[0], edit[1]]) as usize % file.len();
            let value = [edit[3], edit[4]];
            match edit[2] % 4 {
                0 => file[at] = value[0],
                1 => file[at] = file[at].wrapping_add(value[0]),
                2 if at + 2 <= file.len() => file[at..at + 2].copy_from_slice(&value),
                _ => file.truncate(at.max(8)),
            }
        }
    }
    if choice > 0 {
        files::reseal(&mut file);
    }
    files::read_everything(&file);
    if let Ok(packed) = compress(&file, 1) {
        files::read_everything(&packed);
    }
});
