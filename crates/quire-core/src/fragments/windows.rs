//! Windows: hashes of all W consecutive bytes, and the S smallest of many hashes.
//!
//! A rolling hash, like Rabin's fingerprints (the paper: "similar to Rabin's function"): one
//! multiplication for each byte that enters and one for the byte that leaves. A polynomial modulo
//! 2^64 over a table of numbers for the bytes, with its bits mixed at the end, so that the smallest
//! K-bit values are a fair sample.

use crate::base::short_bytes;

/// An odd number without a pattern: the fraction of the root of 3.
const STEP: u64 = 0xbb67_ae85_84ca_a73b;

/// Another one: the fraction of the root of 2.
const SPREAD: u64 = 0x6a09_e667_f3bc_c909;

/// The number of each byte.
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

/// Hashes windows of one length to numbers with a given number of bits.
#[derive(Clone, Debug)]
pub struct Windows {
    length: usize,
    shift: u32,
    /// The effect of each byte when it leaves: its number times `STEP` to the power of `length`.
    leaving: [u64; 256],
}

impl Windows {
    /// Create windows of `length` bytes (at least 1), with hashes of 1 to 32 `bits`.
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
        // The first bits of a product depend on all bits of its factors.
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
        (short_bytes::hash(text, start, end) >> self.shift) as u32
    }

    /// Append the hashes of all windows of a text, in order; none if it is shorter than a window.
    ///
    /// ```
    /// use quire_core::fragments::Windows;
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

/// The smallest distinct numbers of those added, ascending.
pub struct Smallest {
    most: usize,
    /// Of numbers distributed evenly below 2^bits, `most` are almost certainly below this, divided
    /// by their count.
    enough: u64,
    kept: Vec<u32>,
    /// Buffer for merging two sequences.
    merged: Vec<u32>,
    /// Numbers that were taken but not sorted yet.
    fresh: [u32; 2 * BATCH],
    /// How many there are.
    waiting: usize,
}

/// Number of values sorted at a time: more than a usual sample, so that the first guess takes one
/// round.
const BATCH: usize = 64;

impl Smallest {
    /// Keep the `most` (at least 1) smallest of numbers with 1 to 32 `bits`.
    #[must_use]
    pub fn new(most: usize, bits: u32) -> Self {
        // Two standard deviations more, and two for the smallest samples: it is cheaper to take a
        // fortieth of the texts again than to sort more numbers of all of them.
        let surely = most + 2 * most.isqrt() + 2;
        Self {
            most,
            enough: (surely as u64) << bits,
            kept: Vec::with_capacity(most),
            merged: vec![0; most],
            fresh: [0; 2 * BATCH],
            waiting: 0,
        }
    }

    /// Start over.
    pub fn clear(&mut self) {
        self.kept.clear();
    }

    /// Return a number that almost certainly has enough of `count` evenly distributed ones below it.
    pub fn limit(&self, count: usize) -> u64 {
        self.enough / (count as u64).max(1)
    }

    /// Return the first number that is no longer needed; larger than all numbers while there are
    /// too few.
    #[inline]
    pub fn bound(&self) -> u64 {
        (self.kept.get(self.most - 1)).map_or(u64::MAX, |&number| number.into())
    }

    /// Add numbers in any order.
    ///
    /// Hashes are distributed evenly, so a bound below which enough of them lie is known
    /// beforehand; the others need no sorting. If the bound was too low, as for a repetitive text,
    /// all are processed again.
    pub fn add(&mut self, numbers: &[u32]) {
        let limit = self.limit(numbers.len());
        self.take(numbers, limit);
        self.finish();
        if self.bound() > limit {
            self.take(numbers, u64::MAX);
            self.finish();
        }
    }

    /// Add those of some numbers that are below a limit, in any order. They are among the kept ones
    /// after [`Self::finish`].
    #[inline]
    pub fn take(&mut self, numbers: &[u32], limit: u64) {
        let mut bound = self.bound().min(limit);
        for batch in numbers.chunks(BATCH) {
            // Whether a number is small enough is unpredictable, so this has no branch.
            let mut count = self.waiting;
            for &number in batch {
                self.fresh[count % (2 * BATCH)] = number;
                count += usize::from(u64::from(number) < bound);
            }
            self.waiting = count;
            if count > BATCH {
                self.finish();
                bound = self.bound().min(limit);
            }
        }
    }

    /// Sort the numbers taken, and keep the smallest.
    pub fn finish(&mut self) {
        let count = std::mem::take(&mut self.waiting);
        if count > BATCH {
            let mut fresh = self.fresh;
            let different = sort(&mut fresh[..count]);
            self.merge(&fresh[..different]);
            return;
        }
        let mut placed = [0; BATCH];
        let fresh = &self.fresh[..count];
        match count {
            0..=24 => place::<24>(fresh, &mut placed),
            25..=40 => place::<40>(fresh, &mut placed),
            _ => place::<BATCH>(fresh, &mut placed),
        }
        let placed = &mut placed[..count];
        // Without a jump for each number, so that several are compared at once.
        let misplaced: u32 = (placed.iter().zip(placed.iter().skip(1)))
            .map(|(one, next)| u32::from(one >= next))
            .sum();
        let different = if misplaced == 0 { count } else { sort(placed) };
        self.merge(&placed[..different]);
    }

    /// Add numbers that are ascending and distinct.
    pub fn merge(&mut self, numbers: &[u32]) {
        if self.kept.is_empty() {
            let kept = numbers.len().min(self.most);
            self.kept.extend_from_slice(&numbers[..kept]);
            return;
        }
        let Some(&first) = numbers.first() else {
            return;
        };
        if u64::from(first) >= self.bound() {
            return;
        }
        let (ours, theirs, merged) = (&self.kept[..], numbers, &mut self.merged[..]);
        let (mut i, mut j, mut n) = (0, 0, 0);
        while n < merged.len() && i < ours.len() && j < theirs.len() {
            let (our, their) = (ours[i], theirs[j]);
            merged[n] = our.min(their);
            n += 1;
            i += usize::from(our <= their);
            j += usize::from(their <= our);
        }
        for (to, &number) in (merged[n..].iter_mut()).zip(ours[i..].iter().chain(&theirs[j..])) {
            *to = number;
            n += 1;
        }
        self.kept.clear();
        self.kept.extend_from_slice(&merged[..n]);
    }

    /// Return the numbers kept.
    #[must_use]
    pub fn kept(&self) -> &[u32] {
        &self.kept
    }
}

/// Sort numbers and drop repeats; return how many are left. Takes one step for each number and for
/// each pair in the wrong order if there are few numbers.
fn sort(numbers: &mut [u32]) -> usize {
    if numbers.len() > BATCH {
        numbers.sort_unstable();
    }
    for at in 1..numbers.len() {
        let number = numbers[at];
        let mut to = at;
        while to > 0 && numbers[to - 1] > number {
            numbers[to] = numbers[to - 1];
            to -= 1;
        }
        numbers[to] = number;
    }
    let mut different = 0;
    for at in 0..numbers.len() {
        let number = numbers[at];
        numbers[different] = number;
        different += usize::from(numbers.get(at + 1) != Some(&number));
    }
    different
}

/// Bits for the index of a number in a batch, and bits of a number that are compared with them.
const INDEX_BITS: u32 = BATCH.ilog2();
const KEY_BITS: u32 = u16::BITS - INDEX_BITS;

/// Put at most `ROOM` numbers almost in order, by their first ten bits: each goes to the index
/// given by the count of those before it.
///
/// Faster than sorting by comparisons with unpredictable results: eight numbers are counted at
/// once. With their index, all are different. Usually the result is in order.
fn place<const ROOM: usize>(numbers: &[u32], placed: &mut [u32; BATCH]) {
    const TOP: u16 = 1 << 15; // processors compare signed numbers
    let all = numbers.iter().fold(0, |all, &number| all | number);
    let shift = (u32::BITS - all.leading_zeros()).saturating_sub(KEY_BITS);
    let mut keys = [i16::MAX; ROOM];
    for (at, (key, &number)) in keys.iter_mut().zip(numbers).enumerate() {
        let first = ((number >> shift) as u16) << INDEX_BITS;
        *key = ((first | at as u16) ^ TOP).cast_signed();
    }
    let mut before = [0i16; ROOM];
    for &other in &keys[..numbers.len()] {
        for (count, &key) in before.iter_mut().zip(&keys) {
            *count += i16::from(other < key);
        }
    }
    for (&count, &number) in before.iter().zip(numbers) {
        placed[count as usize % BATCH] = number;
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
        // Few distinct numbers, evenly distributed ones, none below the guess, the largest of all.
        let few: Vec<u32> = (0..300u32).map(|i| i * 7919 % 101).collect();
        let spread: Vec<u32> = (1..3000u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
        let large: Vec<u32> = (0..3000u32).map(|i| u32::MAX - i % 700).collect();
        for numbers in [&few, &spread, &large] {
            for most in [1, 2, 25, 101, 400, 1024] {
                for bits in [1, 7, 32] {
                    let mut smallest = Smallest::new(most, bits);
                    smallest.add(&numbers[..90]);
                    smallest.merge(&[3, 50]);
                    smallest.add(&numbers[90..]);
                    let mut expected = numbers.clone();
                    expected.extend([3, 50]);
                    expected.sort_unstable();
                    expected.dedup();
                    expected.truncate(most);
                    assert_eq!(smallest.kept(), expected, "{most} {bits}");
                }
            }
        }
    }

    #[test]
    fn few_numbers_are_sorted_and_distinct() {
        for count in 0..=BATCH {
            // Equal ones, some with equal first bits, spread ones, and few different ones.
            for step in [0, 1, 0x0010_0001, 0x9e37_79b9, 1 << 30] {
                let numbers: Vec<u32> = (0..count as u32)
                    .map(|i| i.wrapping_mul(step).wrapping_sub(7))
                    .collect();
                let mut smallest = Smallest::new(BATCH, 32);
                smallest.take(&numbers, u64::MAX);
                smallest.finish();
                let mut expected = numbers;
                expected.sort_unstable();
                expected.dedup();
                assert_eq!(smallest.kept(), expected);
            }
        }
    }

    #[test]
    fn numbers_taken_in_parts_are_those_taken_at_once() {
        let spread: Vec<u32> = (1..900u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
        for part in [1, 7, 19, 64, 65, 400] {
            let mut smallest = Smallest::new(25, 32);
            let limit = smallest.limit(spread.len());
            for numbers in spread.chunks(part) {
                smallest.take(numbers, limit);
            }
            smallest.finish();
            let mut expected = spread.clone();
            expected.sort_unstable();
            assert_eq!(smallest.kept(), &expected[..25]);
            assert!(smallest.bound() < limit);
        }
    }
}
