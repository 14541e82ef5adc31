//! Every page is restored exactly, and every stored digest can be read: on deliberately mis-nested
//! pages.

#[path = "common/pages.rs"]
mod pages;

use pages::{Random, assert_sound, html_options, mutate, page, sound};
use quire_core::{Columns, Flags, Kind, Options, decode, from_columns};

/// Return the number of pages per test; more with `QUIRE_PAGES=1000000`.
fn seeds() -> u64 {
    std::env::var("QUIRE_PAGES").map_or(4000, |n| n.parse().expect("a number of pages"))
}

#[test]
fn mis_nested_pages_come_back_and_their_files_open() {
    let mut verbatim = 0;
    for seed in 1..=seeds() {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let pieces = 1 + random.below(40);
        let mut source = page(&mut random, pieces);
        if random.below(3) == 0 {
            mutate(&mut random, &mut source);
        }
        let options = html_options(random.below(40));
        let found = std::panic::catch_unwind(|| sound(&source, &options).flags());
        let Ok(flags) = found else {
            panic!(
                "seed {seed}: {:?} in {options:?}",
                String::from_utf8_lossy(&source)
            );
        };
        if flags.has(Flags::VERBATIM) {
            verbatim += 1;
            if std::env::var("QUIRE_SHOW").is_ok() {
                println!(
                    "verbatim, seed {seed}: {:?} in {:?}",
                    String::from_utf8_lossy(&source),
                    options.context
                );
            }
        }
    }
    println!("{verbatim} of {} pages were kept verbatim", seeds());
    // Strays of small pages are free, so the source is stored only if the walk cannot describe it.
    assert!(
        verbatim * 50 <= seeds(),
        "{verbatim} pages of {} could not be described",
        seeds()
    );
}

/// Long enough for caps, for strays that cost more than they save, and for wider columns.
#[test]
fn long_mis_nested_pages_come_back_too() {
    for seed in 1..=seeds() / 40 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let pieces = 300 + random.below(3000);
        let mut source = page(&mut random, pieces);
        mutate(&mut random, &mut source);
        sound(&source, &html_options(random.below(40)));
    }
}

#[test]
fn every_other_kind_comes_back_too() {
    for seed in 1..=seeds() / 4 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let pieces = 1 + random.below(20);
        let mut source = page(&mut random, pieces);
        mutate(&mut random, &mut source);
        for kind in [
            None,
            Some(Kind::Xml),
            Some(Kind::Json),
            Some(Kind::Text),
            Some(Kind::Bytes),
        ] {
            let options = Options {
                kind,
                recover: true,
                ..Options::default()
            };
            sound(&source, &options);
        }
    }
}

#[test]
fn a_page_cut_at_any_byte_comes_back() {
    for seed in 1..=20 {
        let mut random = Random(seed * 0x1234_5677);
        let source = page(&mut random, 30);
        for cut in 0..=source.len() {
            for choice in [0, 1, 16] {
                sound(&source[..cut], &html_options(choice));
            }
        }
    }
}

fn utf16(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(order).collect()
}

/// Return sources whose bytes differ from their characters, each with a name.
#[allow(clippy::too_many_lines)] // one list
fn odd_sources() -> Vec<(&'static str, Vec<u8>)> {
    let page = "<p title=\u{e9}>caf\u{e9} \u{4e2d}\u{1f600}</p>";
    let declared = "<?xml version='1.0' encoding='UTF-16'?><a \u{e9}='1'>\u{1f600}</a>";
    let mut odd = utf16(page, u16::to_le_bytes);
    odd.insert(0, 0xfe);
    odd.insert(0, 0xff);
    odd.push(b'x');
    vec![
        ("empty", vec![]),
        ("only a byte order mark", b"\xef\xbb\xbf".to_vec()),
        ("only a UTF-16 byte order mark", b"\xff\xfe".to_vec()),
        ("half a byte order mark", b"\xef\xbb".to_vec()),
        ("only NUL", vec![0; 100]),
        ("one NUL", vec![0]),
        (
            "UTF-16 with mark",
            utf16(&format!("\u{feff}{page}"), u16::to_le_bytes),
        ),
        (
            "UTF-16 the other way",
            utf16(&format!("\u{feff}{page}"), u16::to_be_bytes),
        ),
        (
            "UTF-16 with two marks",
            utf16(&format!("\u{feff}\u{feff}{page}"), u16::to_be_bytes),
        ),
        ("UTF-16 without mark", utf16(page, u16::to_le_bytes)),
        ("UTF-16 that says so", utf16(declared, u16::to_le_bytes)),
        (
            "UTF-16 that says so, the other way",
            utf16(declared, u16::to_be_bytes),
        ),
        ("UTF-16 of odd length", odd),
        (
            "UTF-16 with a lone surrogate",
            b"\xff\xfe<\0p\0>\0\x00\xd8x\0".to_vec(),
        ),
        (
            "UTF-16 JSON",
            utf16("\u{feff}{\"a\": [1, \"\u{e9}\"]}", u16::to_le_bytes),
        ),
        (
            "Shift_JIS",
            b"<meta charset=shift_jis><\x83A a=\x83\x5c>\x83\x41\x83</\x83A>".to_vec(),
        ),
        (
            "EUC-KR",
            b"<meta charset=euc-kr><p>\xb0\xa1\xb0</p>".to_vec(),
        ),
        (
            "GB18030",
            b"<meta charset=gb18030><p>\x81\x30\x81\x30\x84\x31\xa4\x37</p>".to_vec(),
        ),
        (
            "ISO-2022-JP",
            b"<meta charset=iso-2022-jp><p>\x1b$B$\"\x1b(B</p>".to_vec(),
        ),
        (
            "ISO-2022-JP, half width",
            b"<meta charset=iso-2022-jp><p>\x1b(I\x31\x32\x33\x34\x1b(B</p>".to_vec(),
        ),
        (
            "ISO-2022-JP, cut",
            b"<meta charset=iso-2022-jp><p>\x1b$B$".to_vec(),
        ),
        (
            "ISO-2022-JP, needless escapes",
            b"<meta charset=iso-2022-jp>\x1b(B\x1b(J\x1b(B<p>".to_vec(),
        ),
        (
            "replacement",
            b"<meta charset=iso-2022-kr><p>\x1b$)C</p>".to_vec(),
        ),
        (
            "user-defined",
            b"<meta charset=x-user-defined><p>\x80\xff</p>".to_vec(),
        ),
        ("windows-1252", b"<p>caf\xe9 \x80\x81</p>".to_vec()),
        // Three bytes of UTF-8 for each of its own.
        (
            "Thai XML",
            [
                &b"<?xml version='1.0' encoding='windows-874'?><a>"[..],
                &[0xa1; 500],
                b"</a>",
            ]
            .concat(),
        ),
        (
            "XML in a set with holes",
            b"<?xml version='1.0' encoding='windows-1253'?><a>\xd2\xaa</a>".to_vec(),
        ),
        (
            "PNG",
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0".to_vec(),
        ),
        (
            "gzip",
            b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x4b\x04\0\x43\xbe\xb7\xe8\x01\0\0\0".to_vec(),
        ),
        ("a digest", b"\x89quire\r\n\x01\0\0\0".to_vec()),
        (
            "broken UTF-8",
            b"<p>\xc3</p>\xf0\x9f\x98<b\xff>\xed\xa0\x80".to_vec(),
        ),
        ("overlong UTF-8", b"<p>\xc0\xaf\xe0\x80\xaf</p>".to_vec()),
    ]
}

#[test]
fn no_character_set_loses_a_byte() {
    let given = [
        "utf-8",
        "utf-16le",
        "utf-16be",
        "shift_jis",
        "iso-2022-jp",
        "gb18030",
        "windows-874",
        "replacement",
    ];
    for (name, source) in odd_sources() {
        for kind in [
            None,
            Some(Kind::Html),
            Some(Kind::Xml),
            Some(Kind::Json),
            Some(Kind::Text),
            Some(Kind::Bytes),
        ] {
            for label in given.iter().map(Some).chain([None]) {
                let encoding = label.and_then(|l| encoding_rs::Encoding::for_label(l.as_bytes()));
                let options = Options {
                    kind,
                    encoding,
                    recover: true,
                    ..Options::default()
                };
                let found = std::panic::catch_unwind(|| sound(&source, &options));
                assert!(found.is_ok(), "{name} as {kind:?} in {label:?}");
            }
        }
    }
}

#[test]
fn utf16_that_comes_back_exactly_is_described_and_not_kept() {
    for (name, source) in odd_sources()
        .iter()
        .filter(|(name, _)| name.starts_with("UTF-16"))
    {
        let digest = sound(source, &Options::default());
        let inexact = name.contains("odd length") || name.contains("lone surrogate");
        assert_eq!(digest.flags().has(Flags::VERBATIM), inexact, "{name}");
    }
}

#[test]
fn the_name_of_a_shift_jis_tag_is_decoded_before_it_is_lower_cased() {
    let source = b"<meta charset=shift_jis><X\x83\x41>";
    let digest = sound(source, &Options::default());
    let name = digest.tag_name(digest.tag().get(digest.n() - 1) as usize);
    assert_eq!(name, "x\u{30a2}");
}

/// Names and values that a serialisation could get wrong.
const NAMES: [&str; 14] = [
    "a",
    "a",
    "b",
    "#text",
    "#comment",
    "#document",
    "#cdata",
    "",
    "a b",
    "a>",
    "/",
    "\u{e9}",
    "a\0",
    "a:b",
];
const VALUES: [&str; 9] = ["", "x", "<", "&", "\"'", "-->", "\0", "\u{4e2d}\r\n", "]]>"];

#[test]
fn any_tree_is_refused_or_comes_back() {
    let mut made = 0;
    for seed in 1..=seeds() {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let n = 1 + random.below(12);
        let mut columns = Columns {
            children: vec![0; n],
            ..Columns::default()
        };
        // Every node takes an earlier one as its parent; pre-order follows from the counts.
        let mut left = n - 1;
        for node in 0..n {
            let waiting: usize = columns.children[..node].iter().map(|&c| c as usize).sum();
            let least = usize::from(left > 0 && waiting == node);
            let count = least.max(random.below(left + 1).min(3)).min(left);
            columns.children[node] = count as u32;
            left -= count;
        }
        if random.below(20) == 0 {
            columns.children[random.below(n)] = random.below(5) as u32;
        }
        let plain = random.below(2) == 0;
        for node in 0..n {
            let names = if plain { &NAMES[..3] } else { &NAMES[..] };
            columns.tags.push(random.pick(names).to_owned());
            let pairs = (0..random.below(3))
                .map(|_| {
                    (
                        random.pick(names).to_owned(),
                        random.pick(&VALUES).to_owned(),
                    )
                })
                .collect();
            columns.attributes.push(pairs);
            let content = random.pick(&VALUES).as_bytes().to_vec();
            let leaf = columns.children[node] == 0 || random.below(8) == 0;
            columns
                .contents
                .push((leaf && random.below(2) == 0).then_some(content));
        }
        let Ok(digest) = from_columns(&columns) else {
            continue;
        };
        made += 1;
        let source = decode(&digest).expect("decodes");
        assert_sound(&source, &digest);
        assert!(!digest.flags().has(Flags::VERBATIM), "{columns:?}");
    }
    assert!(made * 8 > seeds(), "only {made} trees were accepted");
}
