//! Short pieces of a longer text: hashed, compared and copied in place.
//!
//! A page consists of thousands of strings of a few bytes, and no processor can predict the length
//! of the next one. Code that depends on it (a jump for each length class, a call of `memcmp`)
//! stalls several times per string. Here sixteen bytes are read at once (or four times sixteen,
//! where longer strings are common), including bytes after the end of the piece, which are masked
//! off. So a string of up to that length takes the same few steps, and longer ones take a loop.
//! Long strings go to the vectorised library functions.
//!
//! All functions are linear and never read outside the text.

use wide::u8x16;

use crate::base::hash::hash64;

/// Bytes read in one step.
const LANE: usize = 16;
/// Longer pieces are hashed with XXH3, which processes many bytes at once.
const LONG: usize = 256;

/// Masks for the first `n` of sixteen bytes.
const FIRST: [u128; LANE + 1] = {
    let mut masks = [0; LANE + 1];
    let mut n = 1;
    while n <= LANE {
        masks[n] = u128::MAX >> (8 * (LANE - n));
        n += 1;
    }
    masks
};

/// Up to this number of bytes, strings are hashed and compared in the same steps.
const NEAR: usize = 4 * LANE;

/// From place [`NEAR`] - `n` on: a mask for the first `n` of [`NEAR`] bytes.
const MASKS: [u8; 2 * NEAR] = {
    let mut masks = [0; 2 * NEAR];
    let mut n = 0;
    while n < NEAR {
        masks[n] = 0xff;
        n += 1;
    }
    masks
};

/// Return [`NEAR`] bytes from `at` on, if the text has that many.
#[inline]
fn near(text: &[u8], at: usize) -> Option<&[u8; NEAR]> {
    text.get(at..)?.first_chunk()
}

/// Return a mask for the first `length` of [`NEAR`] bytes.
#[inline]
fn mask(length: usize) -> &'static [u8; NEAR] {
    (MASKS[NEAR - length..].first_chunk()).unwrap_or(&[0; NEAR])
}

/// Return the first `length` bytes in blocks of sixteen, with zeros after them.
#[inline]
fn blocks(near: &[u8; NEAR], length: usize) -> [u128; 4] {
    let (near, mask) = (near.as_chunks().0, mask(length).as_chunks().0);
    [0, 1, 2, 3].map(|i| u128::from_le_bytes(near[i]) & u128::from_le_bytes(mask[i]))
}

// Odd numbers without a pattern: the fractions of the golden ratio and of the roots of 2 and 3.
const K0: u64 = 0x9e37_79b9_7f4a_7c15;
const K1: u64 = 0x6a09_e667_f3bc_c909;
const K2: u64 = 0xbb67_ae85_84ca_a73b;

/// Load sixteen bytes from `at` on; zeros after the end of the text.
#[inline]
fn load(text: &[u8], at: usize) -> u128 {
    match text.get(at..).and_then(<[u8]>::first_chunk) {
        Some(&lane) => u128::from_le_bytes(lane),
        None => load_last(text, at),
    }
}

#[cold]
#[inline(never)]
fn load_last(text: &[u8], at: usize) -> u128 {
    let rest = text.get(at..).unwrap_or_default();
    (rest.iter().rev()).fold(0, |lane, &byte| lane << 8 | u128::from(byte))
}

/// Multiply and combine both halves of the product.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// Hash `text[start..end]`. Signatures are computed from it, so its values are part of their
/// definition.
///
/// Blocks of sixteen bytes (the last one padded with zeros) are folded one after another, then the
/// length. Pieces of more than 256 bytes are hashed with XXH3.
#[inline]
#[must_use]
pub fn hash(text: &[u8], start: usize, end: usize) -> u64 {
    let length = end - start;
    match near(text, start) {
        Some(near) if length <= NEAR => hash_near(near, length),
        _ => hash_long(text, start, end),
    }
}

#[inline]
fn hash_near(near: &[u8; NEAR], length: usize) -> u64 {
    let mut state = K0;
    let states = blocks(near, length).map(|block| {
        state = add(state, block);
        state
    });
    // The state after the last block that the piece reaches; even an empty one has a first block.
    finish(states[length.saturating_sub(1) / LANE % 4], length)
}

#[inline(never)]
fn hash_long(text: &[u8], start: usize, end: usize) -> u64 {
    let text = &text[..text.len().min(end + LANE)];
    let length = end - start;
    if length > LONG {
        return hash64(&text[start..end]);
    }
    if length <= LANE {
        return finish(add(K0, load(text, start) & FIRST[length]), length);
    }
    let (blocks, _) = text[start..end - 1].as_chunks();
    let state = (blocks.iter()).fold(K0, |state, &block| add(state, u128::from_le_bytes(block)));
    let at = start + blocks.len() * LANE;
    finish(add(state, load(text, at) & FIRST[end - at]), length)
}

/// Hash `text[start..end]` for a table in memory.
///
/// Unlike in [`hash`], blocks do not wait for each other: each is multiplied on its own, and the
/// products are rotated and added. The values are stored nowhere, so they may change.
#[inline(always)]
#[allow(clippy::inline_always)] // called for nearly every node
#[must_use]
pub fn table_hash(text: &[u8], start: usize, end: usize) -> u64 {
    let length = end - start;
    match near(text, start) {
        Some(near) if length <= NEAR => table_hash_near(near, length),
        _ => table_hash_long(text, start, end),
    }
}

#[inline(always)]
#[allow(clippy::inline_always)] // as for `table_hash`
fn table_hash_near(near: &[u8; NEAR], length: usize) -> u64 {
    let state = (blocks(near, length).into_iter()).fold(0u64, |state, block| {
        (state.rotate_left(19)).wrapping_add(add(K0, block))
    });
    finish(state, length)
}

#[inline(never)]
fn table_hash_long(text: &[u8], start: usize, end: usize) -> u64 {
    let length = end - start;
    if length <= NEAR {
        let mut near = [0; NEAR];
        near[..length].copy_from_slice(&text[start..end]);
        return table_hash_near(&near, length);
    }
    if length > LONG {
        return hash64(&text[start..end]);
    }
    let text = &text[..text.len().min(end + LANE)];
    let (blocks, _) = text[start..end - 1].as_chunks();
    let state = (blocks.iter()).fold(0u64, |state, &block| {
        (state.rotate_left(19)).wrapping_add(add(K0, u128::from_le_bytes(block)))
    });
    // The last block may overlap the one before it, which spares a mask.
    let last = add(K0, load(text, end - LANE));
    finish(state.rotate_left(19).wrapping_add(last), length)
}

#[inline]
fn finish(state: u64, length: usize) -> u64 {
    fold(state ^ K2, K0 ^ length as u64)
}

#[inline]
fn add(state: u64, block: u128) -> u64 {
    fold(block as u64 ^ state, (block >> 64) as u64 ^ K1)
}

/// Hash a whole string with [`hash`].
#[inline]
#[must_use]
pub fn hash_of(bytes: &[u8]) -> u64 {
    hash(bytes, 0, bytes.len())
}

/// Whether `length` bytes of `a` from `a_at` on equal those of `b` from `b_at` on. Both texts must
/// have that many bytes.
#[inline(always)]
#[allow(clippy::inline_always)] // a call would cost more than the comparison
#[must_use]
pub fn same(a: &[u8], a_at: usize, b: &[u8], b_at: usize, length: usize) -> bool {
    if length > LANE {
        return same_long(a, a_at, b, b_at, length);
    }
    (load(a, a_at) ^ load(b, b_at)) & FIRST[length] == 0
}

/// [`same`] for pieces of which many have more than sixteen bytes.
#[inline(always)]
#[allow(clippy::inline_always)] // a call would cost more than the comparison
#[must_use]
pub fn same_near(a: &[u8], a_at: usize, b: &[u8], b_at: usize, length: usize) -> bool {
    match (near(a, a_at), near(b, b_at)) {
        (Some(a), Some(b)) if length <= NEAR => {
            let (a, b, mask) = (a.as_chunks().0, b.as_chunks().0, mask(length).as_chunks().0);
            let differs = |i: usize| (u8x16::new(a[i]) ^ u8x16::new(b[i])) & u8x16::new(mask[i]);
            let any = (differs(0) | differs(1)) | (differs(2) | differs(3));
            any.simd_eq(u8x16::splat(0)).to_bitmask() == 0xffff
        }
        _ => same_bytes(a, a_at, b, b_at, length),
    }
}

#[inline(never)]
fn same_bytes(a: &[u8], a_at: usize, b: &[u8], b_at: usize, length: usize) -> bool {
    a[a_at..a_at + length] == b[b_at..b_at + length]
}

#[inline(never)]
fn same_long(a: &[u8], a_at: usize, b: &[u8], b_at: usize, length: usize) -> bool {
    let last = length - LANE;
    if length > 2 * LANE {
        return a[a_at..a_at + length] == b[b_at..b_at + length];
    }
    let first = load(a, a_at) ^ load(b, b_at);
    first | (load(a, a_at + last) ^ load(b, b_at + last)) == 0
}

/// Append `text[start..end]` to `out`.
#[inline]
pub fn append(out: &mut Vec<u8>, text: &[u8], start: usize, end: usize) {
    const SHORT: usize = 2 * LANE;
    let length = end - start;
    match text.get(start..).and_then(<[u8]>::first_chunk::<SHORT>) {
        Some(short) if length <= SHORT => {
            // A copy of fixed length is two instructions; the surplus is truncated again.
            let before = out.len();
            out.extend_from_slice(short);
            out.truncate(before + length);
        }
        _ => out.extend_from_slice(&text[start..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Return a text without repeats, so that a wrong position is noticed.
    fn text() -> Vec<u8> {
        (0..400u32).map(|i| (i * i % 251) as u8 + 1).collect()
    }

    #[test]
    fn a_hash_depends_on_the_bytes_of_the_span_and_on_nothing_around_it() {
        let text = text();
        for start in 0..40 {
            for end in (start..120).chain(250..300) {
                let alone = &text[start..end];
                assert_eq!(hash(&text, start, end), hash_of(alone), "{start}..{end}");
                assert_eq!(hash(&text[..end], start, end), hash_of(alone));
            }
        }
    }

    #[test]
    fn every_byte_and_the_length_count_in_a_hash() {
        let text = text();
        let mut seen = std::collections::HashSet::new();
        for length in 0..300 {
            assert!(seen.insert(hash(&text, 0, length)));
            for at in 0..length {
                let mut other = text[..length].to_vec();
                other[at] = 0; // also try the byte that pads a block
                assert!(seen.insert(hash_of(&other)), "{length} {at}");
            }
        }
    }

    #[test]
    fn every_byte_and_the_length_count_in_a_hash_for_tables() {
        let text = text();
        let mut seen = std::collections::HashSet::new();
        for length in 0..300 {
            assert!(seen.insert(table_hash(&text, 0, length)));
            assert_eq!(
                table_hash(&text, 0, length),
                table_hash(&text[..length], 0, length)
            );
            for at in 0..length {
                let mut other = text[..length].to_vec();
                other[at] = 0; // also try the byte that pads a block
                assert!(seen.insert(table_hash(&other, 0, length)), "{length} {at}");
            }
        }
    }

    #[test]
    fn spans_are_the_same_when_all_their_bytes_are() {
        let text = text();
        for length in 0..80 {
            for start in [0, 3, text.len() - length] {
                let alone = text[start..start + length].to_vec();
                assert!(same(&text, start, &alone, 0, length));
                assert!(same_near(&text, start, &alone, 0, length));
                assert!(same_near(&text, start, &text, start, length));
                for at in 0..length {
                    let mut other = alone.clone();
                    other[at] ^= 0x80;
                    assert!(!same(&text, start, &other, 0, length), "{length} {at}");
                    assert!(!same_near(&text, start, &other, 0, length));
                    // Also with bytes after the end of both.
                    other.extend_from_slice(&text);
                    assert!(!same_near(&text, start, &other, 0, length));
                }
            }
        }
    }

    #[test]
    fn what_is_appended_is_the_span() {
        let text = text();
        for length in 0..80 {
            for start in [0, 3, text.len() - length] {
                let mut out = b"before".to_vec();
                append(&mut out, &text, start, start + length);
                let expected = [b"before", &text[start..start + length]].concat();
                assert_eq!(out, expected);
            }
        }
    }

    #[test]
    fn a_hash_depends_on_the_bytes_and_not_on_their_place() {
        assert_eq!(hash(b"fish and chips", 9, 14), hash(b"chips", 0, 5));
    }

    #[test]
    fn equal_bytes_in_two_places_are_the_same() {
        assert!(same(b"fish and chips", 9, b"chipshop", 0, 5));
    }
}
