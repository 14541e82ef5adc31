//! Any bytes in any kind and character set, sniffed or forced.
#![no_main]

#[path = "../../crates/quire-core/tests/common/pages.rs"]
mod pages;

use encoding_rs::Encoding;
use libfuzzer_sys::fuzz_target;
use quire_core::Kind;
use quire_core::Options;

const LABELS: [&str; 8] = [
    "utf-8",
    "utf-16le",
    "utf-16be",
    "shift_jis",
    "iso-2022-jp",
    "gb18030",
    "windows-874",
    "replacement",
];
const TYPES: [Option<&str>; 4] = [
    None,
    Some("text/html; charset=euc-kr"),
    Some("application/xml"),
    Some("text/plain; charset=\"utf-16\""),
];

fuzz_target!(|input: &[u8]| {
    let [first, second, source @ ..] = input else {
        return;
    };
    let kinds = [
        None,
        Some(Kind::Html),
        Some(Kind::Xml),
        Some(Kind::Json),
        Some(Kind::Text),
        Some(Kind::Bytes),
    ];
    let options = Options {
        kind: kinds[*first as usize % kinds.len()],
        content_type: TYPES[(*second / 16) as usize % 4].map(str::to_owned),
        encoding: LABELS
            .get(*second as usize % 16)
            .and_then(|label| Encoding::for_label(label.as_bytes())),
        recover: true,
        ..Options::default()
    };
    pages::sound(source, &options);
});
