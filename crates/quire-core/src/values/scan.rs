//! Search for the next relevant byte.
//!
//! Runs between delimiters are short on real pages (the median attribute value has about 15 bytes),
//! so a call into a vectorised search costs more than it saves. The first [`NEAR`] bytes are
//! searched here, 16 at a time; only then `memchr` takes over.

use wide::u8x16;

/// Bytes searched before `memchr` is called.
const NEAR: usize = 64;
/// Bytes searched in one step.
const LANE: usize = 16;

/// Load sixteen bytes of the source, if it has that many.
#[inline]
fn load(source: &[u8], at: usize) -> Option<u8x16> {
    Some(u8x16::new(*source.get(at..)?.first_chunk()?))
}

/// Return the position of the first byte that a comparison marked.
#[inline]
fn first(hits: u8x16) -> Option<usize> {
    let mask = hits.to_bitmask();
    (mask != 0).then(|| mask.trailing_zeros() as usize)
}

/// Return the first position at or after `from` that holds `byte`, or the end of the source.
#[inline]
pub fn find(source: &[u8], from: usize, byte: u8) -> usize {
    let wanted = u8x16::splat(byte);
    let mut at = from;
    while at < from + NEAR {
        let Some(lane) = load(source, at) else {
            return tail(source, at, |b| b == byte);
        };
        if let Some(place) = first(lane.simd_eq(wanted)) {
            return at + place;
        }
        at += LANE;
    }
    memchr::memchr(byte, &source[at..]).map_or(source.len(), |found| at + found)
}

/// [`find`] for attribute values: nearly all of them end within [`NEAR`] bytes, but no processor can
/// predict after how many steps of 16. So these bytes are searched in one step.
#[inline]
pub fn find_in_value(source: &[u8], from: usize, byte: u8) -> usize {
    let Some(near) = (source.get(from..)).and_then(<[u8]>::first_chunk::<NEAR>) else {
        return find(source, from, byte);
    };
    let wanted = u8x16::splat(byte);
    let lanes = near.as_chunks().0.iter().enumerate();
    let hits = lanes.fold(0, |hits, (i, &lane)| {
        hits | u64::from(u8x16::new(lane).simd_eq(wanted).to_bitmask()) << (i * LANE)
    });
    if hits != 0 {
        return from + hits.trailing_zeros() as usize;
    }
    let at = from + NEAR;
    memchr::memchr(byte, &source[at..]).map_or(source.len(), |found| at + found)
}

/// Return the first position at or after `from` that holds `&`, CR or NUL, or the end of the source.
#[inline]
pub fn find_special(source: &[u8], from: usize) -> usize {
    let mut at = from;
    while at < from + NEAR {
        let Some(lane) = load(source, at) else {
            return tail(source, at, |b| matches!(b, b'&' | b'\r' | 0));
        };
        let is = |byte| lane.simd_eq(u8x16::splat(byte));
        if let Some(place) = first(is(b'&') | is(b'\r') | is(0)) {
            return at + place;
        }
        at += LANE;
    }
    memchr::memchr3(b'&', b'\r', 0, &source[at..]).map_or(source.len(), |found| at + found)
}

/// Return the end of an attribute name: the first white space, `/`, `>` or `=` at or after `from`.
#[inline]
pub fn attribute_name_end(source: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(lane) = load(source, at) {
        // All white space is at or below the space character.
        let is = |byte| lane.simd_eq(u8x16::splat(byte));
        let low = lane.min(u8x16::splat(b' ')).simd_eq(lane);
        let Some(place) = first(low | is(b'/') | is(b'=') | is(b'>')) else {
            at += LANE;
            continue;
        };
        at += place;
        if CLASS[source[at] as usize] & ENDS_ATTRIBUTE != 0 {
            return at;
        }
        at += 1; // a control character that is not white space belongs to the name
    }
    tail(source, at, |b| CLASS[b as usize] & ENDS_ATTRIBUTE != 0)
}

/// Read a short tag name: its length and its bytes in lower case, as a little-endian number. `None`
/// if it has more than eight bytes, or the end of the source is near; then search byte by byte.
#[inline]
pub fn short_name(source: &[u8], from: usize) -> Option<(usize, u64, bool)> {
    let lane = load(source, from)?;
    let is = |byte| lane.simd_eq(u8x16::splat(byte));
    let low = lane.min(u8x16::splat(b' ')).simd_eq(lane);
    let length = first(low | is(b'/') | is(b'>'))?;
    let ends = CLASS[source[from + length] as usize] & ENDS_NAME != 0;
    if length > 8 || !ends {
        return None;
    }
    let word = u64::from_le_bytes(*source[from..].first_chunk()?);
    let word = if length < 8 {
        word & ((1 << (8 * length)) - 1)
    } else {
        word
    };
    let lowered = lower(word);
    Some((length, lowered, lowered != word))
}

/// Convert ASCII capitals among eight bytes to lower case.
#[inline]
pub const fn lower(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let low = word & (0x7f * ONES);
    let from_a = low + (0x80 - b'A' as u64) * ONES;
    let after_z = low + (0x7f - b'Z' as u64) * ONES;
    let capital = (from_a ^ after_z) & !word & (0x80 * ONES);
    word | (capital >> 2)
}

fn tail(source: &[u8], from: usize, wanted: impl Fn(u8) -> bool) -> usize {
    let from = from.min(source.len());
    source[from..]
        .iter()
        .position(|&b| wanted(b))
        .map_or(source.len(), |found| from + found)
}

/// Whether a byte is a tab, LF, FF, CR or space.
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

/// The classes of each byte for the tokenizer.
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

/// Return the first position at or after `from` whose byte is of `class`, or the end of the source.
#[inline]
pub fn find_class(source: &[u8], from: usize, class: u8) -> usize {
    tail(source, from, |b| CLASS[b as usize] & class != 0)
}

/// Return the first position at or after `from` whose byte is not of `class`, or the end of the
/// source.
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
        for length in 0..150 {
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
                    assert_eq!(
                        find_in_value(&text, from, b'<'),
                        expected,
                        "{length} {place}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_special_byte_is_found_at_every_distance() {
        for length in 0..100 {
            for byte in [b'&', b'\r', 0] {
                for place in 0..=length {
                    let mut text = vec![b'\n'; length];
                    if place < length {
                        text[place] = byte;
                    }
                    for from in [0, length / 2] {
                        let expected = if place < from { length } else { place };
                        assert_eq!(find_special(&text, from), expected, "{length} {byte}");
                    }
                }
            }
        }
    }

    #[test]
    fn find_goes_beyond_the_first_step() {
        assert_eq!(find(b"a long text, then <", 0, b'<'), 18);
    }

    #[test]
    fn a_name_ends_at_the_equals_sign() {
        assert_eq!(attribute_name_end(b"data-id=7", 0), 7);
    }

    #[test]
    fn lower_changes_letters_only() {
        let word = u64::from_le_bytes(*b"DIV-[@Z`");
        assert_eq!(lower(word).to_le_bytes(), *b"div-[@z`");
    }
}
