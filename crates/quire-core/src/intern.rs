//! Interning: equal strings are kept once.
//!
//! One open-addressing table of (hash, id) pairs; strings go straight into the
//! heap that becomes a section of the digest. Hits compare bytes, so a hash
//! collision costs time, never truth. The 64-bit hashes stay, because facet
//! signatures are folded from them.

use crate::hash::hash64;
use crate::reuse::Reused;

/// Longest search for a string. Strings crafted to collide are kept without
/// finding their copies, so a hostile page costs space, not quadratic time.
const MAX_PROBES: usize = 128;

/// A set of strings with ids in order of first use.
pub struct Interner {
    /// (upper hash bits, id + 1); id 0 means the slot is free.
    slots: Reused<(u32, u32)>,
    /// All strings, one after another.
    pub heap: Reused<u8>,
    /// Length of each string.
    pub lengths: Reused<u32>,
    /// Hash of each string.
    pub hashes: Reused<u64>,
    /// The extra key each string was interned with.
    pub keys: Reused<u8>,
    starts: Reused<u32>,
}

impl Interner {
    /// An empty set that expects about `entries` strings and `bytes` bytes.
    pub fn new(entries: usize, bytes: usize) -> Self {
        let slots = (entries * 2).next_power_of_two().max(64);
        Self {
            slots: Reused::filled(slots, (0, 0)),
            heap: Reused::with_capacity(bytes),
            lengths: Reused::with_capacity(entries),
            hashes: Reused::with_capacity(entries),
            keys: Reused::with_capacity(entries),
            starts: Reused::with_capacity(entries),
        }
    }

    /// Number of strings.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Whether there is no string yet.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// The string with this id.
    pub fn get(&self, id: usize) -> &[u8] {
        let start = self.starts[id] as usize;
        &self.heap[start..start + self.lengths[id] as usize]
    }

    /// The id of a string; strings with different keys are different.
    #[inline]
    pub fn intern(&mut self, bytes: &[u8], key: u8) -> u32 {
        let hash = hash64(bytes);
        let probe = hash.wrapping_add(u64::from(key).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mask = self.slots.len() - 1;
        let mark = (probe >> 32) as u32;
        let mut slot = probe as usize & mask;
        let mut free = false;
        for _ in 0..MAX_PROBES {
            let (found, id) = self.slots[slot];
            if id == 0 {
                free = true;
                break;
            }
            let at = id as usize - 1;
            if found == mark && self.keys[at] == key && same(self.get(at), bytes) {
                return id - 1;
            }
            slot = (slot + 1) & mask;
        }
        let id = self.lengths.len() as u32;
        if free {
            self.slots[slot] = (mark, id + 1);
        }
        self.starts.push(self.heap.len() as u32);
        self.heap.extend_from_slice(bytes);
        self.lengths.push(bytes.len() as u32);
        self.hashes.push(hash);
        self.keys.push(key);
        if self.lengths.len() * 2 > self.slots.len() {
            self.grow();
        }
        id
    }

    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        let mask = size - 1;
        let mut slots = Reused::filled(size, (0, 0));
        for (id, (&hash, &key)) in self.hashes.iter().zip(self.keys.iter()).enumerate() {
            let probe = hash.wrapping_add(u64::from(key).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let mut slot = probe as usize & mask;
            for _ in 0..MAX_PROBES {
                if slots[slot].1 == 0 {
                    slots[slot] = ((probe >> 32) as u32, id as u32 + 1);
                    break;
                }
                slot = (slot + 1) & mask;
            }
        }
        self.slots = slots;
    }
}

/// Equality without a call for the short strings that pages are full of.
#[inline]
pub fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    if a.len() > 64 {
        return a == b;
    }
    let (a_words, a_rest) = a.as_chunks::<8>();
    let (b_words, b_rest) = b.as_chunks::<8>();
    (a_words.iter().zip(b_words)).all(|(x, y)| u64::from_ne_bytes(*x) == u64::from_ne_bytes(*y))
        && a_rest.iter().zip(b_rest).all(|(x, y)| x == y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_first_use_and_survive_growth() {
        let mut strings = Interner::new(1, 0);
        for round in 0..2 {
            for i in 0..5000u32 {
                let id = strings.intern(format!("text {}", i / 2).as_bytes(), (i % 2) as u8);
                assert_eq!(id, i, "round {round}: the key is part of the identity");
            }
        }
        assert_eq!(strings.len(), 5000);
        assert_eq!(strings.get(7), b"text 3");
    }
}
