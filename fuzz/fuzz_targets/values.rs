//! Any string in any mode, as text, attributes and doctype.
#![no_main]

use encoding_rs::Encoding;
use libfuzzer_sys::fuzz_target;
use quire_core::Mode;
use quire_core::Namespace;
use quire_core::encoding;
use quire_core::values;
use quire_core::values::Syntax;

const LABELS: [&str; 6] = [
    "utf-8",
    "windows-1252",
    "shift_jis",
    "gb18030",
    "euc-jp",
    "big5",
];

fuzz_target!(|input: &[u8]| {
    let [first, second, raw @ ..] = input else {
        return;
    };
    let mode = Mode::from_u8(*first % 12).expect("there are twelve modes");
    let set =
        Encoding::for_label(LABELS[*second as usize % LABELS.len()].as_bytes()).expect("known");
    let text = values::text(raw, mode, set);
    if values::is_plain(raw, mode, set) {
        assert_eq!(
            text.as_bytes(),
            raw,
            "plain, but reads differently as {mode:?}"
        );
    }
    // The largest growth is six bytes for `&nGg;` and three for an invalid byte.
    assert!(
        text.len() <= 3 * raw.len() + 3,
        "{} bytes become {}",
        raw.len(),
        text.len()
    );
    let spans: Vec<_> = values::attribute_spans(raw).collect();
    let mut end = 0;
    for (name, value) in &spans {
        assert!(end <= name.start && name.start < name.end);
        end = value.as_ref().map_or(name.end, |v| v.end);
        assert!(name.end <= end && end <= raw.len());
    }
    for syntax in [
        Syntax::Html(Namespace::Html),
        Syntax::Html(Namespace::Svg),
        Syntax::Xml,
    ] {
        let found = values::attributes(raw, syntax, set);
        assert!(found.len() <= spans.len());
        let mut names: Vec<_> = found.iter().map(|(name, _)| name.as_ref()).collect();
        names.sort_unstable();
        assert!(
            names.windows(2).all(|pair| pair[0] != pair[1]),
            "a name twice"
        );
    }
    let _ = values::quirks(&values::doctype(raw), false);
    let sniffed = encoding::sniff_html(raw, None);
    let (utf8, exact) = encoding::transcode(raw, sniffed.encoding);
    if exact {
        assert_eq!(
            encoding::transcode_back(&utf8, sniffed.encoding).as_deref(),
            Some(raw)
        );
    }
    let _ = encoding::sniff_xml(raw, None);
});
