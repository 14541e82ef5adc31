//! Deltas between pages, and bytes that may or may not be deltas.
//!
//! The first byte selects. Even: half of it is the window, the rest is reference and page,
//! separated by a NUL. Odd: the rest is the length of a page (two bytes) and a delta against a
//! small reference, as it is.
#![no_main]

#[path = "../../crates/quire-core/tests/common/deltas.rs"]
mod deltas;

use libfuzzer_sys::fuzz_target;

const REFERENCE: &[u8] =
    b"<!doctype html><ul><li>Cod</li><li>Ham</li><li>Eel</li></ul><p class=x>one < two</p>";

fuzz_target!(|input: &[u8]| {
    let Some((&choice, rest)) = input.split_first() else {
        return;
    };
    if choice % 2 == 0 {
        let middle = rest
            .iter()
            .position(|&byte| byte == 0)
            .unwrap_or(rest.len());
        let (reference, page) = rest.split_at(middle);
        deltas::comes_back(
            reference,
            page.get(1..).unwrap_or_default(),
            usize::from(choice / 2),
        );
    } else if let Some((length, delta)) = rest.split_first_chunk() {
        deltas::refused_or_of_length(REFERENCE, delta, usize::from(u16::from_le_bytes(*length)));
    }
});
