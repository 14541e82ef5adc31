//! Character references: the meaning of `&lt;`, `&#60;` and `&#x3c;`.
//!
//! [`html`] follows the WHATWG tokenizer, in text and in attribute values; [`xml`] knows numbers
//! and the five names defined by XML, and leaves everything else as written. Both look at the bytes
//! after an `&` and return the replacement and how many bytes it replaces.
//!
//! Names are found by their first two letters, then by binary search. If a name of the table is a
//! prefix of the input, it is also a prefix of the last name that sorts before the input. So each
//! entry stores the longest name inside it as its `parent`, and the search ends with a walk of at
//! most a few steps. A lookup reads at most 31 bytes, whatever the page contains.

use super::entities::{COUNT, LONGEST, TABLE};

/// The replacement for some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum With {
    /// A fixed text.
    Text(&'static str),
    /// A character given by its number.
    Char(char),
}

impl With {
    /// Append it.
    pub(super) fn push(self, out: &mut String) {
        match self {
            With::Text(text) => out.push_str(text),
            With::Char(character) => out.push(character),
        }
    }

    /// Append it in UTF-8.
    pub(super) fn push_bytes(self, out: &mut Vec<u8>) {
        match self {
            With::Text(text) => out.extend_from_slice(text.as_bytes()),
            With::Char(character) => {
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }
}

/// The position of one entry in the table.
#[derive(Clone, Copy)]
struct Entry {
    /// Its first byte.
    start: u16,
    /// The length of its name.
    name: u8,
    /// The longest other name that this one begins with, or [`NO_PARENT`].
    parent: u16,
}

const NO_PARENT: u16 = u16::MAX;

static ENTRIES: [Entry; COUNT] = entries();
/// For each pair of first bytes (see [`bucket`]), the number of names that start with a smaller
/// pair.
///
/// Every name has at least two letters, so all names that could match are in one bucket, with three
/// names on average.
static BUCKETS: [u16; BUCKET_COUNT + 1] = buckets();
const BUCKET_COUNT: usize = bucket(b'z', b'z') + 1;

/// Return the index of a letter followed by a letter or digit among all such pairs, in the order of
/// names.
const fn bucket(first: u8, second: u8) -> usize {
    (first - b'A') as usize * (b'z' - b'0' + 1) as usize + (second - b'0') as usize
}

const fn entries() -> [Entry; COUNT] {
    let table = TABLE.as_bytes();
    let mut out = [Entry {
        start: 0,
        name: 0,
        parent: NO_PARENT,
    }; COUNT];
    let (mut at, mut n) = (0, 0);
    while n < COUNT {
        let start = at;
        while table[at].is_ascii_alphanumeric() {
            at += 1;
        }
        out[n].start = start as u16;
        out[n].name = (at - start) as u8;
        // The previous name shares more with this one than any earlier name, so the longest name
        // inside this one is that name, or is inside it.
        let mut parent = if n == 0 { NO_PARENT } else { n as u16 - 1 };
        while parent != NO_PARENT {
            let other = out[parent as usize];
            let (mut same, length) = (0, other.name as usize);
            while same < length && table[other.start as usize + same] == table[start + same] {
                same += 1;
            }
            if same == length {
                break;
            }
            parent = other.parent;
        }
        out[n].parent = parent;
        while table[at] != 0 {
            at += 1;
        }
        at += 1;
        n += 1;
    }
    out
}

const fn buckets() -> [u16; BUCKET_COUNT + 1] {
    let table = TABLE.as_bytes();
    let mut out = [0; BUCKET_COUNT + 1];
    let (mut n, mut at) = (0, 0);
    while at <= BUCKET_COUNT {
        while n < COUNT {
            let start = ENTRIES[n].start as usize;
            if bucket(table[start], table[start + 1]) >= at {
                break;
            }
            n += 1;
        }
        out[at] = n as u16;
        at += 1;
    }
    out
}

/// Return the name of an entry.
fn name(entry: Entry) -> &'static [u8] {
    let start = entry.start as usize;
    &TABLE.as_bytes()[start..start + entry.name as usize]
}

/// Return the replacement of an entry, and whether its semicolon is optional.
fn value(index: usize) -> (&'static str, bool) {
    let mark = ENTRIES[index].start as usize + ENTRIES[index].name as usize;
    let end = ENTRIES
        .get(index + 1)
        .map_or(TABLE.len(), |next| next.start as usize);
    (&TABLE[mark + 1..end - 1], TABLE.as_bytes()[mark] == b'!')
}

/// Decode the reference after an `&` of an HTML page; return the replacement and the number of
/// bytes used.
///
/// In an attribute, a name without its semicolon is not a reference if `=` or a letter or digit
/// follows: `?a=1&copy=2` is an address, not a copyright sign.
pub(super) fn html(after: &[u8], in_attribute: bool) -> Option<(With, usize)> {
    match after.first()? {
        b'#' => {
            let (number, used) = digits(&after[1..], true)?;
            let semicolon = usize::from(after.get(1 + used) == Some(&b';'));
            Some((With::Char(html_character(number)), 1 + used + semicolon))
        }
        byte if byte.is_ascii_alphabetic() => named(after, in_attribute),
        _ => None,
    }
}

/// References found without a search: `&amp;` is more common than all others together.
const COMMON: [(&[u8], &str); 4] = [
    (b"amp;", "&"),
    (b"quot;", "\""),
    (b"lt;", "<"),
    (b"gt;", ">"),
];

fn named(after: &[u8], in_attribute: bool) -> Option<(With, usize)> {
    for (name, text) in COMMON {
        if after.starts_with(name) {
            return Some((With::Text(text), name.len()));
        }
    }
    let window = &after[..after.len().min(LONGEST)];
    let length = window.iter().position(|byte| !byte.is_ascii_alphanumeric());
    let key = &window[..length.unwrap_or(window.len())];
    let &[first, second, ..] = key else {
        return None;
    };
    // Any name inside the key lacks its semicolon, so it is none: `?a=1&b=2`.
    if in_attribute && after.get(key.len()) == Some(&b'=') {
        return None;
    }
    let from = BUCKETS[bucket(first, second)] as usize;
    let to = BUCKETS[bucket(first, second) + 1] as usize;
    let before = ENTRIES[from..to].partition_point(|&entry| name(entry) <= key);
    let mut index = if before == 0 {
        NO_PARENT
    } else {
        (from + before) as u16 - 1
    };
    while index != NO_PARENT {
        let entry = ENTRIES[index as usize];
        let used = entry.name as usize;
        if key.starts_with(name(entry)) {
            let (text, semicolon_optional) = value(index as usize);
            let next = after.get(used).copied();
            if next == Some(b';') {
                return Some((With::Text(text), used + 1));
            }
            if semicolon_optional {
                let refused = in_attribute
                    && next.is_some_and(|byte| byte == b'=' || byte.is_ascii_alphanumeric());
                return (!refused).then_some((With::Text(text), used));
            }
        }
        index = entry.parent;
    }
    None
}

/// Decode the reference after an `&` of an XML document; return the replacement and the number of
/// bytes used.
///
/// A number that is not a character stays as written, as does an entity that only the document type
/// could define.
pub(super) fn xml(after: &[u8]) -> Option<(With, usize)> {
    if after.first() == Some(&b'#') {
        let (number, used) = digits(&after[1..], false)?;
        let character = char::from_u32(number).filter(|&character| character != '\0')?;
        return (after.get(1 + used) == Some(&b';')).then_some((With::Char(character), 2 + used));
    }
    [
        ("amp;", "&"),
        ("lt;", "<"),
        ("gt;", ">"),
        ("quot;", "\""),
        ("apos;", "'"),
    ]
    .into_iter()
    .find(|(name, _)| after.starts_with(name.as_bytes()))
    .map(|(name, text)| (With::Text(text), name.len()))
}

/// Read the number after `&#`; return it and its length. Numbers beyond the last character
/// saturate.
fn digits(after: &[u8], upper_x: bool) -> Option<(u32, usize)> {
    let hex = after.first() == Some(&b'x') || upper_x && after.first() == Some(&b'X');
    let (radix, from) = if hex { (16, 1) } else { (10, 0) };
    let (mut number, mut at) = (0u32, from);
    while let Some(digit) = after
        .get(at)
        .and_then(|&byte| char::from(byte).to_digit(radix))
    {
        number = (number * radix + digit).min(0x11_0000);
        at += 1;
    }
    (at > from).then_some((number, at))
}

/// Return the character HTML gives for a number: `&#128;` is a euro sign, as on old Windows pages.
fn html_character(number: u32) -> char {
    const WINDOWS_1252: [char; 32] = [
        '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}',
        '\u{2021}', '\u{2c6}', '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}',
        '\u{8f}', '\u{90}', '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}', '\u{2022}', '\u{2013}',
        '\u{2014}', '\u{2dc}', '\u{2122}', '\u{161}', '\u{203a}', '\u{153}', '\u{9d}', '\u{17e}',
        '\u{178}',
    ];
    match number {
        0 => char::REPLACEMENT_CHARACTER,
        0x80..=0x9f => WINDOWS_1252[number as usize - 0x80],
        _ => char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every form of every name, with its replacement.
    fn forms() -> Vec<(String, &'static str)> {
        let mut forms = Vec::new();
        for entry in TABLE.split_terminator('\0') {
            let mark = entry.find(['!', ';']).unwrap();
            let (name, text) = (&entry[..mark], &entry[mark + 1..]);
            forms.push((format!("{name};"), text));
            if entry.as_bytes()[mark] == b'!' {
                forms.push((name.to_owned(), text));
            }
        }
        forms
    }

    #[test]
    fn every_name_cut_or_prolonged_is_found_as_by_trying_all() {
        let forms = forms();
        assert_eq!(forms.len(), 2231);
        assert_eq!(
            forms.iter().map(|(form, _)| form.len()).max(),
            Some(LONGEST + 1)
        );
        let name = |form: &str| form.trim_end_matches(';').to_owned();
        assert!(forms.is_sorted_by_key(|(form, _)| name(form)));
        for (form, _) in &forms {
            // Only names with the same first letter can match.
            let near: Vec<_> = forms
                .iter()
                .filter(|near| near.0[..1] == form[..1])
                .collect();
            let whole = name(form);
            for base in [&whole, &whole[..whole.len() - 1]] {
                for tail in [";", "", "x", "in;"] {
                    let input = format!("{base}{tail}");
                    let expected = near
                        .iter()
                        .filter(|(form, _)| input.starts_with(form.as_str()))
                        .max_by_key(|(form, _)| form.len())
                        .map(|(form, text)| (With::Text(text), form.len()));
                    if input.starts_with(&form[..1]) {
                        assert_eq!(html(input.as_bytes(), false), expected, "{input}");
                    }
                }
            }
        }
    }

    #[test]
    fn an_address_in_an_attribute_keeps_its_ampersands() {
        assert_eq!(html(b"copy=1", true), None);
        assert_eq!(html(b"copy1", true), None);
        assert_eq!(html(b"notit;", true), None);
        assert_eq!(html(b"copy;=", true), Some((With::Text("©"), 5)));
        assert_eq!(html(b"copy ", true), Some((With::Text("©"), 4)));
        assert_eq!(html(b"copy", true), Some((With::Text("©"), 4)));
        assert_eq!(html(b"#65=", true), Some((With::Char('A'), 3)));
    }

    #[test]
    fn numbers_follow_the_table_of_the_standard() {
        let of = |text: &str| html(text.as_bytes(), false);
        assert_eq!(of("#128;"), Some((With::Char('€'), 5)));
        assert_eq!(of("#x81"), Some((With::Char('\u{81}'), 4)));
        assert_eq!(of("#0;"), Some((With::Char('\u{fffd}'), 3)));
        assert_eq!(of("#xD800;"), Some((With::Char('\u{fffd}'), 7)));
        assert_eq!(of("#X10FFFF;"), Some((With::Char('\u{10ffff}'), 9)));
        assert_eq!(of("#x110000;"), Some((With::Char('\u{fffd}'), 9)));
        assert_eq!(of("#13;"), Some((With::Char('\r'), 4)));
        assert_eq!(of("#x;"), None);
        assert_eq!(of("#"), None);
        assert_eq!(of(""), None);
        let huge = format!("#{};", "9".repeat(100_000));
        assert_eq!(of(&huge), Some((With::Char('\u{fffd}'), huge.len())));
        // Leading zeros do not count.
        assert_eq!(of("#x00000000000041;"), Some((With::Char('A'), 17)));
    }

    #[test]
    fn xml_leaves_what_it_does_not_define() {
        assert_eq!(xml(b"apos;x"), Some((With::Text("'"), 5)));
        assert_eq!(xml(b"#x80;"), Some((With::Char('\u{80}'), 5)));
        for unknown in [
            "nbsp;",
            "amp",
            "#65",
            "#X41;",
            "#0;",
            "#xD800;",
            "#x110000;",
            "#;",
            "",
        ] {
            assert_eq!(xml(unknown.as_bytes()), None, "{unknown}");
        }
    }
}
