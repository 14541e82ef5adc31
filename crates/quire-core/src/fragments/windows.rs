//! Windows: the hashes of all W bytes in a row, and the S smallest of many hashes.
//!
//! A rolling hash, as Rabin's fingerprints are (the paper: "similar to Rabin's function"): one multiplication for
//! each byte that comes in and one for the byte that goes out. A polynomial modulo 2^64 over a table of
//! numbers for the bytes, spread over all bits at the end, so that the smallest K-bit values are a fair sample.

use super::slices::mixed;

/// An odd number without a pattern: the fraction of the root of 3.
const STEP: u64 = 0xbb67_ae85_84ca_a73b;

/// What each byte stands for.
const NUMBERS: [u64; 256] = {
    let mut numbers = [0; 256];
    let mut state = 0u64;
    let mut at = 0;
    while at < 256 {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = state;
        number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        numbers[at] = number ^ number >> 31;
        at += 1;
    }
    numbers
};

/// Hashes windows of one length to numbers of so many bits.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    length: usize,
    shift: u32,
    /// `STEP` to the power of `length`.
    leaving: u64,
}

impl Windows {
    /// Windows of `length` bytes, 1 at least, as hashes of 1 to 32 `bits`.
    #[must_use]
    pub fn new(length: usize, bits: u32) -> Self {
        Self {
            length,
            shift: 64 - bits,
            leaving: (0..length).fold(1, |power: u64, _| power.wrapping_mul(STEP)),
        }
    }

    #[inline]
    fn finish(&self, sum: u64) -> u32 {
        (mixed(sum) >> self.shift) as u32
    }

    fn sum(bytes: &[u8]) -> u64 {
        bytes.iter().fold(0, |sum: u64, &byte| {
            sum.wrapping_mul(STEP)
                .wrapping_add(NUMBERS[usize::from(byte)])
        })
    }

    /// Hash bytes as one window, whatever their number.
    #[must_use]
    pub fn whole(&self, bytes: &[u8]) -> u32 {
        self.finish(Self::sum(bytes))
    }

    /// Hand over the hashes of the windows that begin at `starts`, in order. All must end within the text.
    ///
    /// ```
    /// use quire_core::fragments::windows::Windows;
    /// let windows = Windows::new(4, 32);
    /// let mut found = Vec::new();
    /// windows.each(b"fish and chips", 9..11, |hash| found.push(hash));
    /// assert_eq!(found, [windows.whole(b"chip"), windows.whole(b"hips")]);
    /// ```
    #[inline]
    pub fn each(&self, text: &[u8], starts: std::ops::Range<usize>, mut hash: impl FnMut(u32)) {
        if starts.is_empty() {
            return;
        }
        let first = starts.start;
        let mut sum = Self::sum(&text[first..first + self.length]);
        hash(self.finish(sum));
        let coming = &text[first + self.length..starts.end - 1 + self.length];
        for (&out, &into) in text[first..].iter().zip(coming) {
            sum = (sum.wrapping_mul(STEP))
                .wrapping_add(NUMBERS[usize::from(into)])
                .wrapping_sub(NUMBERS[usize::from(out)].wrapping_mul(self.leaving));
            hash(self.finish(sum));
        }
    }
}

/// The smallest different numbers of those it was offered, ascending.
pub struct Smallest {
    most: usize,
    kept: Vec<u32>,
    /// Numbers from here on are of no use.
    bound: u64,
}

impl Smallest {
    /// Keep `most`, 1 at least.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self {
            most,
            kept: Vec::with_capacity(most + 1),
            bound: u64::MAX,
        }
    }

    /// Begin anew.
    pub fn clear(&mut self) {
        self.kept.clear();
        self.bound = u64::MAX;
    }

    /// Offer a number; `false` when it, and all larger ones, are of no use any more.
    #[inline]
    pub fn offer(&mut self, number: u32) -> bool {
        if u64::from(number) >= self.bound {
            return false;
        }
        self.insert(number);
        true
    }

    fn insert(&mut self, number: u32) {
        if let Err(place) = self.kept.binary_search(&number) {
            self.kept.insert(place, number);
            self.kept.truncate(self.most);
            if self.kept.len() == self.most {
                self.bound = u64::from(self.kept[self.most - 1]);
            }
        }
    }

    /// What was kept.
    #[must_use]
    pub fn kept(&self) -> &[u32] {
        &self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rolling_hash_is_that_of_the_window_alone() {
        let text: Vec<u8> = (0..500u32).map(|i| (i * i % 253) as u8).collect();
        for length in [1, 2, 20, 64] {
            for bits in [1, 8, 32] {
                let windows = Windows::new(length, bits);
                let mut at = 3;
                let end = text.len() - length + 1;
                windows.each(&text, 3..end, |hash| {
                    assert_eq!(hash, windows.whole(&text[at..at + length]));
                    assert!(u64::from(hash) < 1 << bits);
                    at += 1;
                });
                assert_eq!(at, end);
            }
        }
    }

    #[test]
    fn the_smallest_are_those_that_sorting_puts_first() {
        let numbers: Vec<u32> = (0..300u32).map(|i| i * 7919 % 101).collect();
        for most in [1, 2, 25, 101, 400] {
            let mut smallest = Smallest::new(most);
            for &number in &numbers {
                smallest.offer(number);
            }
            let mut expected = numbers.clone();
            expected.sort_unstable();
            expected.dedup();
            expected.truncate(most);
            assert_eq!(smallest.kept(), expected);
        }
    }
}
