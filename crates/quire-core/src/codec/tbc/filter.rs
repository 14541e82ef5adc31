//! The filter: sets aside tokens that are in no window shared by both pages.
//!
//! Windows of S tokens are identified by Rabin fingerprints: a window is a polynomial over GF(2),
//! and its fingerprint the remainder modulo an irreducible polynomial of degree 64. The hash rolls:
//! the next fingerprint is computed from the last one by adding one token and removing one, with
//! eight table lookups each. Linear in the tokens, whatever the window. An accidental collision
//! keeps tokens that could have been set aside.

use super::hashed::{Known, hash};
use super::tokens::NEW;
use crate::base::hash::hash64;

/// The polynomial x^64 + x^4 + x^3 + x + 1, without its first term.
const POLYNOMIAL: u64 = 0x1b;

/// The windows of a reference, used to filter it and pages.
#[derive(Debug)]
pub struct Windows {
    /// Number of tokens of the reference.
    tokens: usize,
    /// `None` if nothing is filtered.
    rolling: Option<Rolling>,
    /// A number for each window, in order; equal windows have equal numbers.
    numbers: Vec<u32>,
    known: Known,
}

impl Windows {
    /// Create windows of `window` tokens; 0 keeps all tokens of both sides.
    pub fn new(reference: &[u32], window: usize) -> Self {
        let mut made = Self {
            tokens: reference.len(),
            rolling: None,
            numbers: Vec::new(),
            known: Known::default(),
        };
        if window == 0 {
            return made;
        }
        // All windows longer than the reference are equivalent: it contains none of them.
        let rolling = Rolling::new(window.min(reference.len() + 1));
        rolling.each(reference, |_, fingerprint| {
            let next = made.known.len() as u32;
            let number = *made.known.entry(hashed(fingerprint)).or_insert(next);
            made.numbers.push(number);
        });
        made.rolling = Some(rolling);
        made
    }

    /// Return which tokens of the reference and of a page are kept.
    pub fn filter(&self, page: &[u32]) -> (Vec<bool>, Vec<bool>) {
        let Some(rolling) = &self.rolling else {
            return (vec![true; self.tokens], vec![true; page.len()]);
        };
        let mut met = vec![false; self.known.len()];
        let mut theirs = Kept::new(page.len(), rolling.window);
        rolling.each(page, |start, fingerprint| {
            if let Some(&number) = self.known.get(&hashed(fingerprint)) {
                met[number as usize] = true;
                theirs.keep(start);
            }
        });
        let mut ours = Kept::new(self.tokens, rolling.window);
        for (start, &number) in self.numbers.iter().enumerate() {
            if met[number as usize] {
                ours.keep(start);
            }
        }
        (ours.tokens, theirs.tokens)
    }
}

#[inline]
fn hashed(fingerprint: u64) -> u64 {
    hash(&fingerprint.to_le_bytes())
}

/// The tokens in windows that are kept.
struct Kept {
    tokens: Vec<bool>,
    window: usize,
    /// Tokens before this are decided.
    until: usize,
}

impl Kept {
    fn new(tokens: usize, window: usize) -> Self {
        Self {
            tokens: vec![false; tokens],
            window,
            until: 0,
        }
    }

    /// Keep a window; each begins after the previous one.
    fn keep(&mut self, start: usize) {
        self.tokens[self.until.max(start)..start + self.window].fill(true);
        self.until = start + self.window;
    }
}

/// Multiply a polynomial by x^8.
fn times_x8(mut f: u64) -> u64 {
    for _ in 0..8 {
        let carry = f >> 63;
        f = (f << 1) ^ (carry * POLYNOMIAL);
    }
    f
}

/// Lookup tables for a window size.
#[derive(Debug)]
struct Rolling {
    window: usize,
    /// The effect of a byte pushed out at the top, times x^64.
    reduce: [u64; 256],
    /// The effect of a byte of the leaving token, by its position, after the next token came in.
    leave: [[u64; 256]; 8],
}

impl Rolling {
    fn new(window: usize) -> Self {
        let mut rolling = Self {
            window,
            reduce: linear(|bit| (0..8).fold(bit, |f, _| times_x8(f))),
            leave: [[0; 256]; 8],
        };
        for place in 0..8 {
            rolling.leave[place] =
                linear(|bit| (0..window).fold(bit << (8 * place), |f, _| rolling.push(f, 0)));
        }
        rolling
    }

    /// Add a token.
    #[inline]
    fn push(&self, f: u64, token: u64) -> u64 {
        token.to_be_bytes().iter().fold(f, |f, &byte| {
            (f << 8) ^ u64::from(byte) ^ self.reduce[(f >> 56) as usize]
        })
    }

    /// Call `found` with the start and fingerprint of each window, except windows with tokens that
    /// only the page has.
    #[inline]
    fn each(&self, tokens: &[u32], mut found: impl FnMut(usize, u64)) {
        // Token numbers are small, and small polynomials collide in sums, so they are hashed first.
        let spread = |id: u32| hash64(&id.to_le_bytes());
        let mut f = 0;
        let mut first = 0; // first token of the window, which grows up to its size
        for (at, &id) in tokens.iter().enumerate() {
            if id == NEW {
                (f, first) = (0, at + 1);
                continue;
            }
            f = self.push(f, spread(id));
            if at - first == self.window {
                for (place, byte) in spread(tokens[first]).to_le_bytes().iter().enumerate() {
                    f ^= self.leave[place][usize::from(*byte)];
                }
                first += 1;
            }
            if at + 1 - first == self.window {
                found(first, f);
            }
        }
    }
}

/// Build the table of a function of bytes that is linear over GF(2), from its values for single
/// bits.
fn linear(of: impl Fn(u64) -> u64) -> [u64; 256] {
    let mut table = [0; 256];
    for bit in 0..8 {
        let alone = 1 << bit;
        table[alone] = of(alone as u64);
        for below in 1..alone {
            table[alone + below] = table[alone] ^ table[below];
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(seed: u64, n: u64, kinds: u64) -> Vec<u32> {
        (0..n)
            .map(|i| (hash64(&[seed, i].map(u64::to_le_bytes).concat()) % kinds) as u32)
            .collect()
    }

    #[test]
    fn a_fingerprint_is_the_windows_alone() {
        for window in [1, 2, 7, 14] {
            let rolling = Rolling::new(window);
            let tokens = some(1, 200, 50);
            let fingerprints = |of: &[u32]| {
                let mut found = Vec::new();
                rolling.each(of, |start, f| found.push((start, f)));
                found
            };
            let rolled = fingerprints(&tokens);
            let fresh: Vec<(usize, u64)> = (tokens.windows(window).enumerate())
                .map(|(start, part)| (start, fingerprints(part)[0].1))
                .collect();
            assert_eq!(rolled, fresh);
        }
    }

    #[test]
    fn the_tables_are_those_of_their_definition() {
        for window in [1, 7] {
            let rolling = Rolling::new(window);
            for byte in 0..256u64 {
                let times_x64 = (0..8).fold(byte, |f, _| times_x8(f));
                assert_eq!(rolling.reduce[byte as usize], times_x64);
                for place in 0..8 {
                    let left = (0..8 * window).fold(byte << (8 * place), |f, _| times_x8(f));
                    assert_eq!(rolling.leave[place][byte as usize], left);
                }
            }
        }
    }

    #[test]
    fn what_is_kept_is_in_a_window_of_both() {
        for seed in 0..30 {
            let (one, mut other) = (some(seed, 120, 5), some(seed + 100, 90, 5));
            // New tokens are in no window; windows start again after them.
            (other.iter_mut().step_by(11))
                .for_each(|id| *id = if seed % 2 == 0 { NEW } else { *id });
            for window in 1..9 {
                let of = |mine: &[u32], others: &[u32]| -> Vec<bool> {
                    let mut kept = vec![false; mine.len()];
                    for (at, part) in mine.windows(window).enumerate() {
                        if others.windows(window).any(|theirs| theirs == part) {
                            kept[at..at + window].fill(true);
                        }
                    }
                    kept
                };
                let expected = (of(&one, &other), of(&other, &one));
                assert_eq!(Windows::new(&one, window).filter(&other), expected);
            }
        }
        for window in [3, usize::MAX] {
            let nothing = (vec![false; 2], vec![false; 4]);
            assert_eq!(Windows::new(&[1, 2], window).filter(&[1, 2, 1, 2]), nothing);
        }
    }

    #[test]
    fn tokens_in_no_common_window_are_put_aside() {
        let (one, other) = Windows::new(&[1, 2, 3, 9, 4], 3).filter(&[7, 1, 2, 3, 4]);
        assert_eq!(one, [true, true, true, false, false]);
        assert_eq!(other, [false, true, true, true, false]);
    }
}
