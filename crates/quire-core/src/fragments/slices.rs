//! Slices: hashes any part of a text in constant time, after one pass over the text.
//!
//! Subtrees overlap: hashed one by one, a page of depth 500 would be read 500 times. So the text is
//! read as one polynomial modulo 2^61 - 1, and the hash of a slice is a difference of two prefixes.
//! Every sixteenth prefix is stored (half a byte for each byte of text); the others are at most
//! fifteen steps away.
//!
//! The hash depends only on the bytes of the slice, not on the text around it. It has no key, so
//! colliding texts can be crafted; code that composes pages from slices must compare their bytes.

use crate::digest::decode::Spans;

/// Bytes between two stored prefixes.
const BLOCK: usize = 16;
/// 2^61 - 1, a prime.
const PRIME: u64 = (1 << 61) - 1;
/// The fraction of the golden ratio, in 61 bits.
const BASE: u64 = 0x1e37_79b9_7f4a_7c15 & PRIME;
/// Number of lengths whose powers are stored; powers of longer ones are products of two.
const POWERS: usize = 1 << 10;

/// A text whose slices can be hashed.
pub struct Slices<'a> {
    text: &'a [u8],
    /// The polynomial of `text[..BLOCK * i]`.
    kept: Vec<u64>,
    /// `BASE` to the power of `i`, and of `POWERS * i`.
    small: Vec<u64>,
    large: Vec<u64>,
}

#[inline]
fn reduce(wide: u128) -> u64 {
    let folded = (wide & u128::from(PRIME)) as u64 + (wide >> 61) as u64;
    if folded >= PRIME {
        folded - PRIME
    } else {
        folded
    }
}

#[inline]
fn times(a: u64, b: u64) -> u64 {
    reduce(u128::from(a) * u128::from(b))
}

/// Return a byte as a coefficient: never 0, so that zeros count.
#[inline]
fn coefficient(byte: u8) -> u64 {
    u64::from(byte) + 1
}

impl<'a> Slices<'a> {
    /// Read a text. Linear.
    #[must_use]
    pub fn new(text: &'a [u8]) -> Self {
        let powers = |step: u64, count: usize| {
            std::iter::successors(Some(1), |&power| Some(times(power, step)))
                .take(count)
                .collect::<Vec<_>>()
        };
        let small = powers(BASE, POWERS);
        let large = powers(times(small[POWERS - 1], BASE), text.len() / POWERS + 1);
        let mut weights = [0; BLOCK];
        for (weight, &power) in weights.iter_mut().rev().zip(&small) {
            *weight = power;
        }
        let (blocks, _) = text.as_chunks::<BLOCK>();
        let mut kept = Vec::with_capacity(blocks.len() + 1);
        let mut so_far = 0;
        kept.push(so_far);
        for block in blocks {
            // Sixteen products of 9 and 61 bits: their sum cannot overflow.
            let sum: u128 = (block.iter().zip(&weights))
                .map(|(&byte, &weight)| u128::from(coefficient(byte)) * u128::from(weight))
                .sum();
            so_far = reduce(u128::from(so_far) * u128::from(small[BLOCK]) + sum);
            kept.push(so_far);
        }
        Self {
            text,
            kept,
            small,
            large,
        }
    }

    #[inline]
    fn prefix(&self, end: usize) -> u64 {
        let block = end / BLOCK;
        (self.text[block * BLOCK..end].iter()).fold(self.kept[block], |sum, &byte| {
            reduce(u128::from(sum) * u128::from(BASE) + u128::from(coefficient(byte)))
        })
    }

    /// Hash `text[start..end]` to 64 bits.
    #[must_use]
    pub fn hash(&self, start: usize, end: usize) -> u64 {
        let length = end - start;
        let power = times(self.small[length % POWERS], self.large[length / POWERS]);
        let before = times(self.prefix(start), power);
        let polynomial = self.prefix(end) + PRIME - before;
        mixed((polynomial % PRIME) ^ (length as u64).rotate_left(40))
    }
}

/// Mix a number over all 64 bits, one to one (the final step of `MurmurHash3`).
#[inline]
#[must_use]
pub fn mixed(mut number: u64) -> u64 {
    number = (number ^ number >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    number = (number ^ number >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    number ^ number >> 33
}

/// Return the hash of every node's bytes.
pub fn span_hashes(spans: &Spans) -> Vec<u64> {
    let slices = Slices::new(&spans.source);
    (spans.start.iter().zip(&spans.end))
        .map(|(&start, &end)| slices.hash(start as usize, end as usize))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Options, encode};

    #[test]
    fn a_slice_has_the_hash_of_its_bytes_wherever_it_lies() {
        let text: Vec<u8> = (0..3000u32).map(|i| (i * i % 251) as u8).collect();
        let slices = Slices::new(&text);
        for start in [0, 1, 15, 16, 17, 40, 1023] {
            for length in [0, 1, 2, 15, 16, 17, 33, 100, 1023, 1024, 1025, 1900] {
                let alone = Slices::new(&text[start..start + length]);
                assert_eq!(slices.hash(start, start + length), alone.hash(0, length));
            }
        }
    }

    #[test]
    fn every_byte_and_the_length_count() {
        let text: Vec<u8> = (1..71u8).collect();
        let mut seen = std::collections::HashSet::new();
        for length in 0..text.len() {
            assert!(seen.insert(Slices::new(&text).hash(0, length)));
            assert!(length == 0 || seen.insert(Slices::new(&vec![0; length]).hash(0, length)));
            for at in 0..length {
                let mut other = text[..length].to_vec();
                other[at] ^= 0x80;
                assert!(
                    seen.insert(Slices::new(&other).hash(0, length)),
                    "{length} {at}"
                );
            }
        }
    }

    #[test]
    fn an_empty_text_has_one_slice() {
        assert_eq!(Slices::new(b"").hash(0, 0), Slices::new(b"abc").hash(2, 2));
    }

    #[test]
    fn equal_slices_of_two_texts_have_one_hash() {
        let (one, two) = (Slices::new(b"fish and chips"), Slices::new(b"more chips"));
        assert_eq!(one.hash(9, 14), two.hash(5, 10));
        assert_ne!(one.hash(9, 14), one.hash(9, 13));
    }

    fn hashes(source: &[u8]) -> Vec<u64> {
        let page = encode(source, &Options::default()).unwrap();
        span_hashes(&Spans::of(&page).unwrap().unwrap())
    }

    #[test]
    fn equal_bytes_have_equal_hashes_on_any_page() {
        let (one, two) = (
            hashes(b"<p>fish</p><i>x</i>"),
            hashes(b"<h1>y</h1><p>fish</p>"),
        );
        assert_eq!(one[4], two[6]);
        assert_ne!(one[4], one[6]);
    }
}
