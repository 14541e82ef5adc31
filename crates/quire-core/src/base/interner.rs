//! Interning: equal strings are stored once.
//!
//! One open-addressing table of (hash, id) pairs; strings go straight into the heap that becomes a
//! section of the digest. Hits compare bytes, so a hash collision costs time, never a wrong result.
//! The 64-bit hashes are kept, because facet signatures are computed from them.

use std::ops::Range;

use crate::base::short_bytes;
use crate::base::vec_pool::{Reused, kept};

/// Maximum number of slots searched for a string. Strings crafted to collide are stored without
/// finding their copies, so a hostile page costs space, not quadratic time.
const MAX_PROBES: usize = 128;

/// One string of the set.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its hash.
    pub hash: u64,
    start: u32,
    /// Its length.
    pub length: u32,
    /// The extra key that was given with it.
    pub key: u8,
}

kept!(Entry);

impl Entry {
    /// Return its position in the heap.
    #[inline]
    pub fn range(&self) -> Range<usize> {
        self.start as usize..(self.start + self.length) as usize
    }
}

/// A set of strings with ids in order of first use.
pub struct Interner {
    /// (upper hash bits, id + 1); id 0 means that the slot is free.
    slots: Reused<(u32, u32)>,
    /// All strings, one after another.
    pub heap: Reused<u8>,
    /// Hash, position, length and key of each string.
    pub entries: Reused<Entry>,
}

/// Return the slot where the search for a string starts, and the hash bits stored there.
#[inline]
fn probe(hash: u64, key: u8) -> (usize, u32) {
    let probe = hash.wrapping_add(u64::from(key).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    (probe as u32 as usize, (probe >> 32) as u32)
}

impl Interner {
    /// Create an empty set with room for about `entries` strings and `bytes` bytes.
    pub fn new(entries: usize, bytes: usize) -> Self {
        let slots = (entries * 2).next_power_of_two().max(64);
        Self {
            slots: Reused::filled(slots, (0, 0)),
            heap: Reused::with_capacity(bytes),
            entries: Reused::with_capacity(entries),
        }
    }

    /// Let go of everything that is needed only to add strings.
    pub fn finish(&mut self) {
        self.slots = Reused::default();
    }

    /// Return the number of strings.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Return the string with this id.
    #[inline]
    pub fn get(&self, id: usize) -> &[u8] {
        &self.heap[self.entries[id].range()]
    }

    /// Return the id of a string, adding it if it is new. Strings with different keys are
    /// different.
    pub fn intern(&mut self, bytes: &[u8], key: u8) -> u32 {
        self.intern_span(bytes, 0..bytes.len(), key)
    }

    /// Return the id of a part of a text, adding it if it is new.
    #[inline]
    pub fn intern_span(&mut self, text: &[u8], part: Range<usize>, key: u8) -> u32 {
        let hash = short_bytes::hash(text, part.start, part.end);
        let (home, mark) = probe(hash, key);
        let last = self.slots.len() - 1;
        for distance in 0..MAX_PROBES {
            let slot = (home + distance) & last;
            let (found, id) = self.slots[slot];
            if id == 0 {
                self.slots[slot] = (mark, self.entries.len() as u32 + 1);
                break;
            }
            if found == mark && self.is(id as usize - 1, text, &part, key) {
                return id - 1;
            }
        }
        self.add(hash, text, part, key)
    }

    /// Add a new string.
    #[inline(never)]
    fn add(&mut self, hash: u64, text: &[u8], part: Range<usize>, key: u8) -> u32 {
        let id = self.entries.len() as u32;
        self.entries.push(Entry {
            hash,
            start: self.heap.len() as u32,
            length: part.len() as u32,
            key,
        });
        short_bytes::append(&mut self.heap, text, part.start, part.end);
        if self.entries.len() * 2 > self.slots.len() {
            self.grow();
        }
        id
    }

    /// Whether entry `id` is this string.
    #[inline]
    fn is(&self, id: usize, text: &[u8], part: &Range<usize>, key: u8) -> bool {
        let entry = &self.entries[id];
        entry.key == key
            && entry.length as usize == part.len()
            && short_bytes::same(
                &self.heap,
                entry.start as usize,
                text,
                part.start,
                part.len(),
            )
    }

    #[cold]
    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        // The slots are made anew from the entries, so the old ones need not stay.
        let mut slots = std::mem::take(&mut self.slots);
        slots.clear();
        slots.resize(size, (0, 0));
        for (id, entry) in self.entries.iter().enumerate() {
            let (at, mark) = probe(entry.hash, entry.key);
            let mut slot = at & (size - 1);
            for _ in 0..MAX_PROBES {
                if slots[slot].1 == 0 {
                    slots[slot] = (mark, id as u32 + 1);
                    break;
                }
                slot = (slot + 1) & (size - 1);
            }
        }
        self.slots = slots;
    }
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
