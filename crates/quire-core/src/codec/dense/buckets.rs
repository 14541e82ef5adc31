//! The table of buckets: counters for literals by context, found by hash.
//!
//! A bucket has a check of 16 bits and 15 counters, one for each prefix of a nibble. Buckets are
//! stored in pairs that share a cache line. In `spread`, the context's hash times
//! 0x9e3779b97f4a7c15, bits 36 and up select the pair; bits 16 to 31, with the lowest set to one,
//! are the check. A context found in neither bucket takes the one whose first counter was seen less
//! often (the first one if equal) and clears it.

use super::mix::UNSEEN;
use super::side::hash;

/// A bucket without any counts.
const EMPTY: [u16; 16] = {
    let mut bucket = [UNSEEN; 16];
    bucket[0] = 0;
    bucket
};

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Pair([[u16; 16]; 2]);

/// Buckets, and the data to restore an earlier state.
#[derive(Clone)]
pub struct Buckets {
    pairs: Vec<Pair>,
    /// Pairs as they were before they changed.
    undo: Vec<(u32, Pair)>,
    /// Which pairs are in `undo`, one bit each; empty if nothing is recorded.
    noted: Vec<u64>,
}

impl Buckets {
    /// Create 2^`log` empty buckets.
    pub fn new(log: u32) -> Buckets {
        Buckets {
            pairs: vec![Pair([EMPTY; 2]); 1 << (log - 1)],
            undo: Vec::new(),
            noted: Vec::new(),
        }
    }

    /// Return one counter of a bucket, by the prefix of the nibble (1 to 15).
    #[inline]
    pub fn counter(&mut self, bucket: usize, node: usize) -> &mut u16 {
        &mut self.pairs[bucket >> 1].0[bucket & 1][node & 15]
    }

    /// Find the buckets of contexts; also return how many of them were already there.
    #[inline]
    pub fn find<const N: usize>(&mut self, contexts: &[u32; N], part: u32) -> ([usize; N], usize) {
        let mut wanted = [(0usize, 0u16, 0u16); N];
        for (wanted, &context) in wanted.iter_mut().zip(contexts) {
            let spread = u64::from(hash(context, part)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let pair = (spread >> 36) as usize & (self.pairs.len() - 1);
            // All pairs are requested before the first one is needed.
            *wanted = (pair, (spread >> 16) as u16 | 1, self.pairs[pair].0[0][0]);
        }
        let mut known = 0;
        let found = wanted.map(|(pair, check, first)| {
            self.note(pair);
            let two = &mut self.pairs[pair].0;
            if first == check && two[0][0] == check {
                known += 1;
                pair * 2
            } else if two[1][0] == check {
                known += 1;
                pair * 2 + 1
            } else {
                let less = usize::from(two[0][1] & 7 > two[1][1] & 7);
                two[less] = EMPTY;
                two[less][0] = check;
                pair * 2 + less
            }
        });
        (found, known)
    }

    /// Record a pair before it changes.
    #[inline]
    fn note(&mut self, pair: usize) {
        if let Some(word) = self.noted.get_mut(pair / 64)
            && *word >> (pair % 64) & 1 == 0
        {
            *word |= 1 << (pair % 64);
            self.undo.push((pair as u32, self.pairs[pair]));
        }
    }

    /// Start recording, so that this state can be restored.
    pub fn begin(&mut self) {
        self.undo.clear();
        self.noted = vec![0; self.pairs.len().div_ceil(64)];
    }

    /// Restore the recorded state.
    pub fn restore(&mut self) {
        for (pair, before) in self.undo.drain(..) {
            self.pairs[pair as usize] = before;
            self.noted[pair as usize / 64] = 0;
        }
    }
}
