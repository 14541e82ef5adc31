//! Windows: the hashes of all W bytes in a row, and the S smallest of many hashes.
//!
//! A rolling hash, as Rabin's fingerprints are (the paper: "similar to Rabin's function"): one multiplication for
//! each byte that comes in and one for the byte that goes out. A polynomial modulo 2^64 over a table of
//! numbers for the bytes, spread over all bits at the end, so that the smallest K-bit values are a fair sample.

use crate::span;

/// An odd number without a pattern: the fraction of the root of 3.
const STEP: u64 = 0xbb67_ae85_84ca_a73b;

/// Another one: the fraction of the root of 2.
const SPREAD: u64 = 0x6a09_e667_f3bc_c909;

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
#[derive(Clone, Debug)]
pub struct Windows {
    length: usize,
    shift: u32,
    /// What each byte stands for when it leaves: its number, `STEP` to the power of `length` times.
    leaving: [u64; 256],
}

impl Windows {
    /// Windows of `length` bytes, 1 at least, as hashes of 1 to 32 `bits`.
    #[must_use]
    pub fn new(length: usize, bits: u32) -> Self {
        let power = (0..length).fold(1, |power: u64, _| power.wrapping_mul(STEP));
        Self {
            length,
            shift: 64 - bits,
            leaving: NUMBERS.map(|number| number.wrapping_mul(power)),
        }
    }

    #[inline]
    fn finish(&self, sum: u64) -> u32 {
        // The first bits of a product depend on all bits of what is multiplied.
        ((sum ^ sum >> 32).wrapping_mul(SPREAD) >> self.shift) as u32
    }

    fn sum(bytes: &[u8]) -> u64 {
        bytes.iter().fold(0, |sum: u64, &byte| {
            sum.wrapping_mul(STEP)
                .wrapping_add(NUMBERS[usize::from(byte)])
        })
    }

    /// Hash a window.
    #[must_use]
    pub fn whole(&self, bytes: &[u8]) -> u32 {
        self.finish(Self::sum(bytes))
    }

    /// Hash `text[start..end]`, which is shorter than a window.
    #[inline]
    #[must_use]
    pub fn short(&self, text: &[u8], start: usize, end: usize) -> u32 {
        (span::hash(text, start, end) >> self.shift) as u32
    }

    /// Append the hashes of all windows of a text, in order; none where it is shorter than a window.
    ///
    /// ```
    /// use quire_core::fragments::windows::Windows;
    /// let windows = Windows::new(4, 32);
    /// let mut found = Vec::new();
    /// windows.hash(b"chips", &mut found);
    /// assert_eq!(found, [windows.whole(b"chip"), windows.whole(b"hips")]);
    /// ```
    pub fn hash(&self, text: &[u8], found: &mut Vec<u32>) {
        let Some((first, coming)) = text.split_at_checked(self.length) else {
            return;
        };
        let mut sum = Self::sum(first);
        found.reserve(coming.len() + 1);
        found.push(self.finish(sum));
        found.extend(text.iter().zip(coming).map(|(&out, &into)| {
            let change = NUMBERS[usize::from(into)].wrapping_sub(self.leaving[usize::from(out)]);
            sum = sum.wrapping_mul(STEP).wrapping_add(change);
            self.finish(sum)
        }));
    }
}

/// The smallest different numbers of those it was given, ascending.
pub struct Smallest {
    most: usize,
    kept: Vec<u32>,
    /// Where two sequences become one.
    merged: Vec<u32>,
}

/// Append a number unless it is the last one already.
#[inline]
fn push_new(numbers: &mut Vec<u32>, number: u32) {
    if numbers.last() != Some(&number) {
        numbers.push(number);
    }
}

/// Numbers that are looked at first: as many as are sorted in no time. Of the others few are small enough.
const BATCH: usize = 32;
/// And then so many at a time.
const LARGE: usize = 256;

impl Smallest {
    /// Keep `most`, 1 at least.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self {
            most,
            kept: Vec::with_capacity(most),
            merged: Vec::with_capacity(most),
        }
    }

    /// Begin anew.
    pub fn clear(&mut self) {
        self.kept.clear();
    }

    /// The first number that is of no use any more, if there is one.
    #[inline]
    fn bound(&self) -> Option<u32> {
        self.kept.get(self.most - 1).copied()
    }

    /// Give it numbers in any order.
    pub fn add(&mut self, numbers: &[u32]) {
        if numbers.is_empty() {
            return;
        }
        let mut fresh = [0; LARGE];
        let (first, rest) = numbers.split_at(numbers.len().min(BATCH));
        for batch in std::iter::once(first).chain(rest.chunks(LARGE)) {
            let bound = self.bound().map_or(u64::MAX, u64::from);
            // Whether a number is small enough nobody can guess, so nothing waits for the answer.
            let mut count = 0;
            for &number in batch {
                fresh[count % LARGE] = number;
                count += usize::from(u64::from(number) < bound);
            }
            let fresh = &mut fresh[..count];
            fresh.sort_unstable();
            self.merge(fresh);
        }
    }

    /// Give it numbers that are ascending, maybe several times the same.
    pub fn merge(&mut self, numbers: &[u32]) {
        let (Some(&first), bound) = (numbers.first(), self.bound()) else {
            return;
        };
        if bound.is_some_and(|bound| first >= bound) {
            return;
        }
        self.merged.clear();
        let (ours, theirs) = (&self.kept[..], numbers);
        let (mut i, mut j) = (0, 0);
        while self.merged.len() < self.most
            && let (Some(&our), Some(&their)) = (ours.get(i), theirs.get(j))
        {
            push_new(&mut self.merged, our.min(their));
            i += usize::from(our <= their);
            j += usize::from(their <= our);
        }
        for &number in ours[i..].iter().chain(&theirs[j..]) {
            if self.merged.len() == self.most {
                break;
            }
            push_new(&mut self.merged, number);
        }
        std::mem::swap(&mut self.kept, &mut self.merged);
    }

    /// Begin anew with numbers that were kept elsewhere, ascending and different.
    pub fn take(&mut self, kept: &[u32]) {
        self.kept.clear();
        self.kept.extend_from_slice(kept);
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
                let mut found = Vec::new();
                windows.hash(&text[3..], &mut found);
                let expected: Vec<_> = text[3..]
                    .windows(length)
                    .map(|w| windows.whole(w))
                    .collect();
                assert_eq!(found, expected);
                assert!(found.iter().all(|&hash| u64::from(hash) < 1 << bits));
            }
        }
    }

    #[test]
    fn the_smallest_are_those_that_sorting_puts_first() {
        let numbers: Vec<u32> = (0..300u32).map(|i| i * 7919 % 101).collect();
        for most in [1, 2, 25, 101, 400] {
            let mut smallest = Smallest::new(most);
            smallest.add(&numbers[..90]);
            smallest.merge(&[3, 3, 50]);
            smallest.add(&numbers[90..]);
            let mut expected = numbers.clone();
            expected.sort_unstable();
            expected.dedup();
            expected.truncate(most);
            assert_eq!(smallest.kept(), expected);
        }
    }
}
