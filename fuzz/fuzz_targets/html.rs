//! Any bytes as an HTML page or fragment.
#![no_main]

#[path = "../../crates/quire-core/tests/common/pages.rs"]
mod pages;

use libfuzzer_sys::fuzz_target;
use quire_core::encode;
use quire_core::html::MAX_DEPTH;

fuzz_target!(|input: &[u8]| {
    let Some((&choice, source)) = input.split_first() else {
        return;
    };
    let options = pages::html_options(choice as usize);
    let digest = pages::sound(source, &options);
    let deepest = digest.derived().depth.iter().max().copied().unwrap_or(0);
    assert!(deepest as usize <= 2 * MAX_DEPTH, "{deepest} levels");
    // Working memory is reused from page to page; nothing of a page may remain in it.
    let _ = encode(b"<b a=1><i><table>x<svg></b>", &options);
    let again = encode(source, &options).expect("encodes again");
    assert!(again.whole().unwrap() == digest.whole().unwrap(), "not the same twice");
});
