//! Any bytes as XML, with and without recovery.
#![no_main]

#[path = "../../crates/quire-core/tests/common/pages.rs"]
mod pages;

use libfuzzer_sys::fuzz_target;
use quire_core::Kind;

fuzz_target!(|source: &[u8]| {
    pages::sound_with_and_without_recovery(source, Kind::Xml);
});
