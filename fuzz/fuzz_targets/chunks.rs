//! A page split into chunks anywhere: the digest is that of the whole page.
#![no_main]

#[path = "../../crates/quire-core/tests/common/pages.rs"]
mod pages;

use libfuzzer_sys::fuzz_target;
use quire_core::Encoder;

fuzz_target!(|input: &[u8]| {
    // The first bytes are the lengths of the chunks, in turn; 0 is an empty chunk.
    let Some((lengths, source)) = input.split_at_checked(4) else {
        return;
    };
    let options = pages::html_options(lengths[0] as usize);
    let mut encoder = Encoder::new(options.clone());
    let mut rest = source;
    for turn in 0.. {
        let length = usize::from(lengths[turn % 4]) + turn / 64;
        let (chunk, after) = rest.split_at(length.min(rest.len()));
        encoder.feed(chunk).expect("short enough");
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    let whole = pages::sound(source, &options);
    let fed = encoder.finish().expect("HTML is never refused");
    assert!(
        fed.whole().unwrap() == whole.whole().unwrap(),
        "the cuts made a difference"
    );
});
