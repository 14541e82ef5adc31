//! Any bytes as JSON, with and without recovery.
#![no_main]

#[path = "../../crates/quire-core/tests/common/pages.rs"]
mod pages;

use libfuzzer_sys::fuzz_target;
use quire_core::encode::{Options, encode};
use quire_core::flags::Flags;
use quire_core::sniff::Kind;

fuzz_target!(|source: &[u8]| {
    let mut options = Options {
        kind: Some(Kind::Json),
        recover: true,
        ..Options::default()
    };
    let recovered = pages::sound(source, &options);
    options.recover = false;
    match encode(source, &options) {
        Ok(strict) => {
            pages::assert_sound(source, &strict);
            assert!(strict.as_bytes() == recovered.as_bytes(), "recovery changes a sound page");
        }
        Err(_) => assert!(recovered.flags().has(Flags::RECOVERED), "a fault that is not flagged"),
    }
});
