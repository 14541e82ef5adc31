//! The table of buckets: counters of literals by context, found by hash.
//!
//! A bucket has a check of 16 bits and 15 counters, one for each beginning of a nibble. Buckets lie in pairs,
//! which share a line of the cache. Of `spread`, the context's hash times 0x9e3779b97f4a7c15, bits 36 and up choose
//! the pair, bits 16 to 31, the lowest set to one, are the check. A context that is in neither bucket takes the one whose
//! first counter was seen less often, the first one if both were as often, and empties it.

use super::mix::UNSEEN;
use super::side::hash;

/// A bucket that nothing was counted in.
const EMPTY: [u16; 16] = {
    let mut bucket = [UNSEEN; 16];
    bucket[0] = 0;
    bucket
};

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Pair([[u16; 16]; 2]);

/// Buckets, and how to come back to an earlier state of them.
#[derive(Clone)]
pub struct Buckets {
    pairs: Vec<Pair>,
    /// Pairs as they were before they were changed.
    undo: Vec<(u32, Pair)>,
    /// Which pairs are in `undo`, a bit for each; empty while nothing is to be undone.
    noted: Vec<u64>,
}

impl Buckets {
    /// 2^`log` empty buckets.
    pub fn new(log: u32) -> Buckets {
        Buckets {
            pairs: vec![Pair([EMPTY; 2]); 1 << (log - 1)],
            undo: Vec::new(),
            noted: Vec::new(),
        }
    }

    /// One counter of a bucket, by the beginning of the nibble (1 to 15).
    #[inline]
    pub fn counter(&mut self, bucket: usize, node: usize) -> &mut u16 {
        &mut self.pairs[bucket >> 1].0[bucket & 1][node & 15]
    }

    /// The buckets of contexts, and how many of them were there.
    #[inline]
    pub fn find<const N: usize>(&mut self, contexts: &[u32; N], part: u32) -> ([usize; N], usize) {
        let mut wanted = [(0usize, 0u16, 0u16); N];
        for (wanted, &context) in wanted.iter_mut().zip(contexts) {
            let spread = u64::from(hash(context, part)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let pair = (spread >> 36) as usize & (self.pairs.len() - 1);
            // All pairs are asked for before the first answer is needed.
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

    /// Keep a pair as it is before it changes.
    #[inline]
    fn note(&mut self, pair: usize) {
        if let Some(word) = self.noted.get_mut(pair / 64)
            && *word >> (pair % 64) & 1 == 0
        {
            *word |= 1 << (pair % 64);
            self.undo.push((pair as u32, self.pairs[pair]));
        }
    }

    /// From here on, keep what is needed to come back to this state.
    pub fn begin(&mut self) {
        self.undo.clear();
        self.noted = vec![0; self.pairs.len().div_ceil(64)];
    }

    /// Come back to it.
    pub fn restore(&mut self) {
        for (pair, before) in self.undo.drain(..) {
            self.pairs[pair as usize] = before;
            self.noted[pair as usize / 64] = 0;
        }
    }
}
