//! Frames that no encoder wrote, and pages that must be restored.
//!
//! The first byte selects the codec and the base; the second and third are the expected length. The
//! rest is a frame as it is, a page, or the frame of a page with edits of three bytes each:
//! position (two bytes), value (one).
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use quire_core::codec::Base;
use quire_core::codec::DenseBase;

const PAGE: &[u8] = b"<html><body><table><tr><td>1</td><td>one</td></tr><tr><td>2</td><td>two</td></tr></table></body></html>";

static BASES: LazyLock<[(Base, DenseBase); 2]> = LazyLock::new(|| {
    let base = PAGE.repeat(3);
    [
        (Base::none(), DenseBase::new(&[])),
        (Base::new(&base), DenseBase::new(&base)),
    ]
});

fuzz_target!(|input: &[u8]| {
    let [choice, low, high, rest @ ..] = input else {
        return;
    };
    let (zstd, dense) = &BASES[usize::from(choice & 1)];
    let length = usize::from(u16::from_le_bytes([*low, *high]));
    let encode = |page: &[u8]| match choice & 2 {
        0 => zstd.encode(page, 3).expect("pages can be written"),
        _ => dense.encode(page),
    };
    let decode = |frame: &[u8], length: usize| match choice & 2 {
        0 => zstd.decode(frame, length),
        _ => dense.decode(frame, length),
    };
    match choice >> 2 & 3 {
        0 => {
            if let Ok(page) = decode(rest, length) {
                assert_eq!(page.len(), length);
            }
        }
        1 => {
            let mut frame = encode(PAGE);
            for edit in rest.chunks_exact(3) {
                let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % frame.len();
                frame[at] ^= edit[2];
            }
            if let Ok(page) = decode(&frame, PAGE.len()) {
                assert_eq!(page.len(), PAGE.len());
            }
        }
        2 => {
            if let Ok(dense) = DenseBase::open(rest, length) {
                assert_eq!(dense.base().len(), length);
            }
            if let Ok(above) = dense.open_more(rest, length) {
                assert_eq!(above.base().len(), dense.base().len() + length);
            }
        }
        _ => {
            let frame = encode(rest);
            assert_eq!(decode(&frame, rest.len()).expect("a frame that was just written"), rest);
            // The model is unchanged.
            assert_eq!(encode(rest), frame);
        }
    }
});
