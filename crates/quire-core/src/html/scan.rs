//! Finding the next interesting byte.
//!
//! Runs between delimiters are short on real pages (the median attribute value
//! has about 15 bytes), where a call into a vectorised search costs more than it
//! saves. So the first 32 bytes are looked at eight at a time in a register, and
//! only then `memchr` takes over.

/// Bytes looked at before `memchr` is called.
const NEAR: usize = 32;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The high bit of the lowest zero byte is exact; higher ones may be false, and are not looked at.
#[inline]
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGHS
}

#[inline]
fn load(source: &[u8], at: usize) -> Option<u64> {
    source
        .get(at..at + 8)
        .map(|b| u64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]))
}

/// The first place at or after `from` that holds `byte`, or the end of the source.
///
/// ```
/// assert_eq!(quire_core::html::scan::find(b"a long text, then <", 0, b'<'), 18);
/// ```
#[inline]
pub fn find(source: &[u8], from: usize, byte: u8) -> usize {
    let pattern = ONES * u64::from(byte);
    let mut at = from;
    while at < from + NEAR {
        let Some(word) = load(source, at) else {
            return tail(source, at, |b| b == byte);
        };
        let hits = zero_bytes(word ^ pattern);
        if hits != 0 {
            return at + (hits.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    memchr::memchr(byte, &source[at..]).map_or(source.len(), |found| at + found)
}

/// The high bit of the lowest byte below `limit` (at most 0x80) is exact, as above.
#[inline]
fn bytes_below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(ONES * u64::from(limit)) & !word & HIGHS
}

/// The end of an attribute name: the first white space, `/`, `>` or `=` at or after `from`.
///
/// ```
/// assert_eq!(quire_core::html::scan::attribute_name_end(b"data-id=7", 0), 7);
/// ```
#[inline]
pub fn attribute_name_end(source: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(word) = load(source, at) {
        let hits = bytes_below(word, b' ' + 1)
            | zero_bytes(word ^ (ONES * u64::from(b'/')))
            | zero_bytes(word ^ (ONES * u64::from(b'=')))
            | zero_bytes(word ^ (ONES * u64::from(b'>')));
        if hits == 0 {
            at += 8;
            continue;
        }
        at += (hits.trailing_zeros() / 8) as usize;
        if CLASS[source[at] as usize] & ENDS_ATTRIBUTE != 0 {
            return at;
        }
        at += 1; // a control character that is no white space belongs to the name
    }
    tail(source, at, |b| CLASS[b as usize] & ENDS_ATTRIBUTE != 0)
}

fn tail(source: &[u8], from: usize, wanted: impl Fn(u8) -> bool) -> usize {
    let from = from.min(source.len());
    source[from..]
        .iter()
        .position(|&b| wanted(b))
        .map_or(source.len(), |found| from + found)
}

/// Tab, LF, FF, CR, space.
#[inline]
pub fn is_space(byte: u8) -> bool {
    CLASS[byte as usize] & SPACE != 0
}

/// White space as HTML defines it.
pub const SPACE: u8 = 1;
/// Ends a tag name: white space, `/`, `>`.
pub const ENDS_NAME: u8 = 2;
/// Ends an attribute name: white space, `/`, `>`, `=`.
pub const ENDS_ATTRIBUTE: u8 = 4;
/// Ends an unquoted value: white space, `>`.
pub const ENDS_VALUE: u8 = 8;
/// `A` to `Z`.
pub const UPPER: u8 = 16;
/// `A` to `Z`, `a` to `z`.
pub const LETTER: u8 = 32;

/// What each byte is to the tokenizer.
pub const CLASS: [u8; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let byte = i as u8;
        table[i] = match byte {
            b'\t' | b'\n' | 0x0c | b'\r' | b' ' => SPACE | ENDS_NAME | ENDS_ATTRIBUTE | ENDS_VALUE,
            b'/' => ENDS_NAME | ENDS_ATTRIBUTE,
            b'>' => ENDS_NAME | ENDS_ATTRIBUTE | ENDS_VALUE,
            b'=' => ENDS_ATTRIBUTE,
            b'A'..=b'Z' => UPPER | LETTER,
            b'a'..=b'z' => LETTER,
            _ => 0,
        };
        i += 1;
    }
    table
};

/// The first place at or after `from` whose byte is of `class`, or the end of the source.
#[inline]
pub fn find_class(source: &[u8], from: usize, class: u8) -> usize {
    tail(source, from, |b| CLASS[b as usize] & class != 0)
}

/// The first place at or after `from` whose byte is not of `class`, or the end of the source.
#[inline]
pub fn skip_class(source: &[u8], from: usize, class: u8) -> usize {
    tail(source, from, |b| CLASS[b as usize] & class == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_where_the_class_of_a_byte_says() {
        for stop in 0..=255u8 {
            for place in 0..20 {
                let mut text = vec![b'a'; 20];
                text[place] = stop;
                text.extend_from_slice(b"\x01z=");
                for from in 0..text.len() {
                    let expected = find_class(&text, from, ENDS_ATTRIBUTE);
                    assert_eq!(
                        attribute_name_end(&text, from),
                        expected,
                        "{stop} {place} {from}"
                    );
                }
            }
        }
    }

    #[test]
    fn find_equals_a_plain_search_at_every_distance() {
        for length in 0..80 {
            for place in 0..=length {
                let mut text = vec![b'='; length];
                if place < length {
                    text[place] = b'<';
                }
                for from in 0..=length {
                    let expected = text[from..]
                        .iter()
                        .position(|&b| b == b'<')
                        .map_or(length, |p| from + p);
                    assert_eq!(find(&text, from, b'<'), expected, "{length} {place} {from}");
                }
            }
        }
    }
}
