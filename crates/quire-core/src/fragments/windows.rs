//! Windows: hashes of all W consecutive bytes, and the S smallest of many hashes.
//!
//! A rolling hash, like Rabin's fingerprints (the paper: "similar to Rabin's function"): one
//! multiplication for each byte that enters and one for the byte that leaves. A polynomial modulo
//! 2^64 over a table of numbers for the bytes, with its bits mixed at the end, so that the smallest
//! K-bit values are a fair sample.

use wide::i16x8;

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
    /// A limit from here on excludes nothing.
    end: u64,
    /// The smallest so far, and room for a batch.
    kept: Vec<u32>,
    /// How many there are.
    length: usize,
    /// Buffer for merging two sequences.
    merged: Vec<u32>,
    /// Numbers that were taken but not sorted yet.
    fresh: [u32; 2 * BATCH + ROOM],
    /// How many there are.
    waiting: usize,
    /// None of them is larger.
    highest: u64,
}

/// Number of values sorted at a time: more than a usual sample, so that the first guess takes one
/// round.
const BATCH: usize = 64;
/// Numbers taken before their count is looked at, and compared at once.
const BLOCK: usize = 8;
/// Room for a block. The compiler proves that an index that grew by 0 or 1 for each of eight numbers
/// fits in eight bits, so that nothing is checked for each number.
const ROOM: usize = 1 << BLOCK;

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
            end: 1 << bits,
            kept: vec![0; most.max(2 * BATCH)],
            length: 0,
            merged: vec![0; most.max(2 * BATCH)],
            fresh: [0; 2 * BATCH + ROOM],
            waiting: 0,
            highest: 0,
        }
    }

    /// Start over.
    pub fn clear(&mut self) {
        self.length = 0;
    }

    /// Return a number that almost certainly has enough of `count` evenly distributed ones below it.
    pub fn limit(&self, count: usize) -> u64 {
        self.checked(self.enough / (count as u64).max(1))
    }

    /// Return a higher limit, for numbers that are not distributed evenly or often equal.
    pub fn higher(&self, limit: u64) -> u64 {
        self.checked(limit.saturating_mul(8).max(1))
    }

    /// Return a limit, or the largest one if it excludes nothing.
    fn checked(&self, limit: u64) -> u64 {
        if limit < self.end { limit } else { u64::MAX }
    }

    /// Return the first number that is no longer needed; larger than all numbers while there are
    /// too few.
    #[inline]
    pub fn bound(&self) -> u64 {
        match self.kept[..self.length].get(self.most - 1) {
            Some(&number) => number.into(),
            None => u64::MAX,
        }
    }

    /// Add numbers in any order.
    ///
    /// Hashes are distributed evenly, so a bound below which enough of them lie is known
    /// beforehand; the others need no sorting. If the bound was too low, as for a repetitive text,
    /// all are processed again with a higher one.
    pub fn add(&mut self, numbers: &[u32]) {
        let mut limit = self.limit(numbers.len());
        loop {
            self.take(numbers, limit);
            self.finish();
            if self.bound() <= limit {
                break;
            }
            limit = self.higher(limit);
        }
    }

    /// Add those of some numbers that are below a limit, in any order. They are among the kept ones
    /// after [`Self::finish`].
    #[inline]
    pub fn take(&mut self, numbers: &[u32], limit: u64) {
        for batch in numbers.chunks(BATCH) {
            let bound = self.next_bound(limit);
            let (blocks, rest) = batch.as_chunks();
            let mut waiting = self.waiting;
            for block in blocks {
                waiting += self.take_block(block, waiting, bound);
            }
            waiting += self.take_few(rest, waiting, bound);
            self.waiting = waiting;
            if waiting > BATCH {
                self.finish();
            }
        }
    }

    /// Add those of some ascending numbers that are below a limit, without looking at all of the
    /// others.
    #[inline]
    pub fn take_first(&mut self, ascending: &[u32], limit: u64) {
        for batch in ascending.chunks(BATCH) {
            let bound = self.next_bound(limit);
            let (blocks, rest) = batch.as_chunks::<BLOCK>();
            let mut waiting = self.waiting;
            let mut is_end = false;
            for block in blocks {
                waiting += self.take_block(block, waiting, bound);
                is_end = u64::from(block[BLOCK - 1]) >= bound;
                if is_end {
                    break;
                }
            }
            if !is_end {
                waiting += self.take_few(rest, waiting, bound);
            }
            self.waiting = waiting;
            if waiting > BATCH {
                self.finish();
            }
            if is_end {
                break;
            }
        }
    }

    /// Return the first number that need not be taken.
    #[inline]
    fn next_bound(&mut self, limit: u64) -> u64 {
        let bound = self.bound().min(limit);
        self.highest = self.highest.max(bound.min(1 << u32::BITS));
        bound
    }

    /// Put the numbers to take behind those waiting, and return how many there are. Whether one is
    /// small enough is unpredictable, so this has no branch.
    #[inline]
    fn take_block(&mut self, block: &[u32; BLOCK], waiting: usize, bound: u64) -> usize {
        let Some(fresh) = self.fresh[waiting..].first_chunk_mut::<ROOM>() else {
            return 0; // never: there is room behind two batches
        };
        let mut count = 0;
        for &number in block {
            fresh[count] = number;
            count += usize::from(u64::from(number) < bound);
        }
        count
    }

    #[inline]
    fn take_few(&mut self, numbers: &[u32], waiting: usize, bound: u64) -> usize {
        let mut count = 0;
        for &number in numbers {
            self.fresh[waiting + count] = number;
            count += usize::from(u64::from(number) < bound);
        }
        count
    }

    /// Sort the numbers taken, and keep the smallest.
    pub fn finish(&mut self) {
        let count = std::mem::take(&mut self.waiting);
        let highest = std::mem::take(&mut self.highest);
        if count > BATCH {
            let mut fresh = self.fresh;
            let different = sort(&mut fresh[..count]);
            self.merge(&fresh[..different]);
            return;
        }
        let to = if self.length == 0 {
            &mut self.kept
        } else {
            &mut self.merged
        };
        let Some(placed) = to.first_chunk_mut() else {
            return; // never: there is room for a batch
        };
        let shift = (u64::BITS - highest.leading_zeros()).saturating_sub(u16::BITS);
        let fresh = &mut self.fresh;
        fresh[count..count + BLOCK].fill(u32::MAX);
        let in_order = match count.div_ceil(BLOCK) {
            0 | 1 => place::<1>(fresh, count, shift, placed),
            2 => place::<2>(fresh, count, shift, placed),
            3 => place::<3>(fresh, count, shift, placed),
            4 => place::<4>(fresh, count, shift, placed),
            5 => place::<5>(fresh, count, shift, placed),
            6 => place::<6>(fresh, count, shift, placed),
            7 => place::<7>(fresh, count, shift, placed),
            _ => place::<{ BATCH / BLOCK }>(fresh, count, shift, placed),
        };
        let different = if in_order {
            count
        } else {
            sort(&mut placed[..count])
        };
        if self.length == 0 {
            self.length = different.min(self.most);
        } else {
            let placed = *placed;
            self.merge(&placed[..different]);
        }
    }

    /// Add numbers that are ascending and distinct.
    pub fn merge(&mut self, numbers: &[u32]) {
        let Some(&first) = numbers.first() else {
            return;
        };
        if u64::from(first) >= self.bound() {
            return;
        }
        let (ours, theirs) = (&self.kept[..self.length], numbers);
        let merged = &mut self.merged[..self.most];
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
        std::mem::swap(&mut self.kept, &mut self.merged);
        self.length = n;
    }

    /// Return the numbers kept.
    #[must_use]
    pub fn kept(&self) -> &[u32] {
        &self.kept[..self.length]
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

/// Put the first `count` numbers of a list in order by their first sixteen bits: each goes to the
/// index given by the count of those before it. Return whether all are different in these bits, as
/// they usually are; otherwise numbers with the same first bits are next to each other.
///
/// Faster than sorting by comparisons with unpredictable results: eight numbers are counted at
/// once. `BLOCKS` is `count` in blocks of eight, rounded up, so that no loop ends where the
/// processor does not expect it. The numbers in between are the largest of all. Keys and counts
/// stay in registers: with loops over plain arrays, the compiler reads each key from memory again.
fn place<const BLOCKS: usize>(
    numbers: &[u32],
    count: usize,
    shift: u32,
    placed: &mut [u32; 2 * BATCH],
) -> bool {
    let Some(blocks) = numbers.as_chunks().0.first_chunk::<BLOCKS>() else {
        return false; // never: there is room for a batch
    };
    let keys = blocks.map(|block| first_bits(block, shift));
    let mut before = [i16x8::ZERO; BLOCKS];
    for others in keys {
        for other in others.to_array() {
            let other = i16x8::splat(other);
            for (count, key) in before.iter_mut().zip(keys) {
                *count -= key.simd_gt(other); // -1 where the key is greater
            }
        }
    }
    let sum = (before.iter()).fold(i16x8::ZERO, |sum, &count| sum + count);
    let sum: i16 = sum.to_array().iter().sum();
    // Of two different numbers, one is before the other, and all are before each free place.
    let different = count * count.saturating_sub(1) / 2 + (BLOCKS * BLOCK - count) * count;
    let before = before.map(i16x8::to_array);
    let (before, numbers) = (before.as_flattened(), blocks.as_flattened());
    if sum as usize == different {
        scatter(before, numbers, placed);
        return true;
    }
    scatter_equal(before, &numbers[..count], placed);
    false
}

/// Return the sixteen bits of numbers from `shift` on.
#[inline]
fn first_bits(numbers: [u32; BLOCK], shift: u32) -> i16x8 {
    const TOP: u16 = 1 << 15; // processors compare signed numbers
    i16x8::new(numbers.map(|number| ((number >> shift) as u16 ^ TOP).cast_signed()))
}

/// Write each number to the index of its count. Not inlined, like the next one: unrolled for each
/// number of blocks, they would fill the processor's instruction cache.
#[inline(never)]
fn scatter(before: &[i16], numbers: &[u32], placed: &mut [u32; 2 * BATCH]) {
    let (blocks, _) = numbers.as_chunks::<BLOCK>();
    for (before, numbers) in before.as_chunks::<BLOCK>().0.iter().zip(blocks) {
        for (&count, &number) in before.iter().zip(numbers) {
            placed[count as usize % (2 * BATCH)] = number;
        }
    }
}

/// Write each number to the first free index from its count on.
#[inline(never)]
fn scatter_equal(before: &[i16], numbers: &[u32], placed: &mut [u32; 2 * BATCH]) {
    let mut taken = 0u64;
    for (&count, &number) in before.iter().zip(numbers) {
        let mut at = count as usize % BATCH;
        while taken >> at & 1 == 1 {
            at = (at + 1) % BATCH;
        }
        taken |= 1 << at;
        placed[at] = number;
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

    #[test]
    fn of_ascending_numbers_the_first_ones_are_taken() {
        let ascending: Vec<u32> = (0..400).map(|i| 5 * i).collect();
        for most in [1, 25, 64, 300] {
            for length in [0, 1, 7, 8, 9, 63, 64, 65, 400] {
                for limit in [0, 1, 35, 36, 320, 321, 1000, u64::MAX] {
                    let mut smallest = Smallest::new(most, 32);
                    smallest.take(&[7, 2, 11], limit);
                    smallest.take_first(&ascending[..length], limit);
                    smallest.finish();
                    let mut expected = [&ascending[..length], &[2, 7, 11]].concat();
                    expected.retain(|&number| u64::from(number) < limit);
                    expected.sort_unstable();
                    expected.truncate(most);
                    assert_eq!(smallest.kept(), expected, "{most} {length} {limit}");
                }
            }
        }
    }
}
