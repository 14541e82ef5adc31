//! Texts that may or may not be edit scripts.
//!
//! The first byte selects: 0, the rest is JSON as it is; otherwise the script of a small pair of
//! pages with edits of four bytes each: position (two bytes), kind of edit (one), value (one).
#![no_main]

#[path = "../../crates/quire-core/tests/common/scripts.rs"]
mod scripts;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((&choice, rest)) = input.split_first() else {
        return;
    };
    let (old, sample) = scripts::sample(choice as usize);
    let mut text = sample.into_bytes();
    if choice == 0 {
        text = rest.to_vec();
    } else {
        for edit in rest.chunks_exact(4) {
            let at = u16::from_le_bytes([edit[0], edit[1]]) as usize % text.len().max(1);
            match edit[2] % 4 {
                0 if at < text.len() => text[at] = edit[3],
                1 if at < text.len() => {
                    text.remove(at);
                }
                2 => text.insert(at, edit[3]),
                _ => {
                    // Copy a part of the script to another position.
                    let end = (at + edit[3] as usize).min(text.len());
                    let part = text[at..end].to_vec();
                    let to = (at + 3 * edit[3] as usize) % (text.len() + 1);
                    text.splice(to..to, part);
                }
            }
        }
    }
    if let Ok(text) = std::str::from_utf8(&text) {
        scripts::try_everything(&old, text);
    }
});
