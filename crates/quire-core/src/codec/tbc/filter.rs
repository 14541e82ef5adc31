//! The filter: tokens in no window that both pages have are put aside.
//!
//! Windows of S tokens are known by Rabin fingerprints: a window is a polynomial over GF(2), and its fingerprint the rest modulo
//! an irreducible one of degree 64. It rolls: the next window's is made from the last by one token in and one out, eight table
//! look-ups each. Linear in the tokens, whatever the window. A chance collision keeps tokens that could have gone.

use std::collections::HashSet;

use crate::hash::hash64;

/// The polynomial x^64 + x^4 + x^3 + x + 1, without its first term.
const POLYNOMIAL: u64 = 0x1b;

/// Which tokens of two sequences are kept. A window of 0 keeps all.
///
/// ```
/// use quire_core::codec::tbc::filter::filter;
///
/// let (one, other) = filter(&[1, 2, 3, 9, 4], &[7, 1, 2, 3, 4], 3);
/// assert_eq!(one, [true, true, true, false, false]);
/// assert_eq!(other, [false, true, true, true, false]);
/// ```
pub fn filter(one: &[u32], other: &[u32], window: usize) -> (Vec<bool>, Vec<bool>) {
    if window == 0 {
        return (vec![true; one.len()], vec![true; other.len()]);
    }
    if one.len() < window || other.len() < window {
        return (vec![false; one.len()], vec![false; other.len()]);
    }
    let rolling = Rolling::new(window);
    let (ours, theirs) = (rolling.fingerprints(one), rolling.fingerprints(other));
    (
        reserved(&ours, &theirs, one.len(), window),
        reserved(&theirs, &ours, other.len(), window),
    )
}

/// Which of `n` tokens are in a window whose fingerprint the others have.
fn reserved(ours: &[u64], theirs: &[u64], n: usize, window: usize) -> Vec<bool> {
    let known: HashSet<u64> = theirs.iter().copied().collect();
    let mut kept = vec![false; n];
    let mut until = 0; // tokens before this are decided
    for (start, fingerprint) in ours.iter().enumerate() {
        if known.contains(fingerprint) {
            kept[until.max(start)..start + window].fill(true);
            until = start + window;
        }
    }
    kept
}

/// Multiply a polynomial by x^8.
fn times_x8(mut f: u64) -> u64 {
    for _ in 0..8 {
        let carry = f >> 63;
        f = (f << 1) ^ (carry * POLYNOMIAL);
    }
    f
}

/// The tables of a window.
struct Rolling {
    window: usize,
    /// A byte that is pushed out at the top, times x^64.
    reduce: [u64; 256],
    /// A byte of the token that leaves, at its place, as it stands when the next token has come in.
    leave: [[u64; 256]; 8],
}

impl Rolling {
    fn new(window: usize) -> Self {
        let mut reduce = [0; 256];
        for (byte, entry) in (0u64..).zip(&mut reduce) {
            *entry = (0..8).fold(byte, |f, _| times_x8(f));
        }
        let mut rolling = Self {
            window,
            reduce,
            leave: [[0; 256]; 8],
        };
        for place in 0..8 {
            for byte in 0..256u64 {
                let alone = byte << (8 * place);
                rolling.leave[place][byte as usize] =
                    (0..window).fold(alone, |f, _| rolling.push(f, 0));
            }
        }
        rolling
    }

    /// Push a token in.
    #[inline]
    fn push(&self, f: u64, token: u64) -> u64 {
        token.to_be_bytes().iter().fold(f, |f, &byte| {
            (f << 8) ^ u64::from(byte) ^ self.reduce[(f >> 56) as usize]
        })
    }

    fn fingerprints(&self, tokens: &[u32]) -> Vec<u64> {
        // Numbers of tokens are small, and small polynomials collide in sums: spread them first.
        let spread: Vec<u64> = tokens.iter().map(|id| hash64(&id.to_le_bytes())).collect();
        let mut found = Vec::with_capacity(tokens.len());
        let mut f = 0;
        for (at, &token) in spread.iter().enumerate() {
            f = self.push(f, token);
            if at >= self.window {
                for (place, byte) in spread[at - self.window].to_le_bytes().iter().enumerate() {
                    f ^= self.leave[place][usize::from(*byte)];
                }
            }
            if at + 1 >= self.window {
                found.push(f);
            }
        }
        found
    }
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
            let rolled = rolling.fingerprints(&tokens);
            let fresh: Vec<u64> = (tokens.windows(window))
                .map(|part| rolling.fingerprints(part)[0])
                .collect();
            assert_eq!(rolled, fresh);
        }
    }

    #[test]
    fn what_is_kept_is_in_a_window_of_both() {
        for seed in 0..30 {
            let (one, other) = (some(seed, 120, 5), some(seed + 100, 90, 5));
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
                assert_eq!(filter(&one, &other, window), expected);
            }
        }
        assert_eq!(
            filter(&[1, 2], &[1, 2], 3),
            (vec![false; 2], vec![false; 2])
        );
    }
}
