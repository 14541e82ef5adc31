//! Interning: equal strings are stored once.
//!
//! One open-addressing table of (hash, id) pairs. Nearly all strings are parts of one text; they stay
//! there, and are copied once, when the set is written. Hits compare bytes, so a hash collision
//! costs time, never a wrong result.

use std::ops::Range;

use crate::base::short_bytes;
use crate::base::vec_pool::{Reused, kept};

/// Maximum number of slots searched for a string. Strings crafted to collide are stored without
/// finding their copies, so a hostile page costs space, not quadratic time.
const MAX_PROBES: usize = 128;

/// One string of the set.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its hash, for when the table grows.
    hash: u64,
    start: u32,
    /// Its length.
    pub length: u32,
    /// The extra key that was given with it.
    pub key: u8,
    /// Whether it is not in the text.
    aside: bool,
}

kept!(Entry);

impl Entry {
    fn range(&self) -> Range<usize> {
        self.start as usize..(self.start + self.length) as usize
    }
}

/// A set of strings with ids in order of first use.
pub struct Interner<'a> {
    /// (upper hash bits, id + 1); id 0 means that the slot is free.
    slots: Reused<(u32, u32)>,
    /// The text that most strings are parts of.
    text: &'a [u8],
    /// Strings that are not parts of it, one after another.
    aside: Vec<u8>,
    /// Position, length and key of each string.
    pub entries: Reused<Entry>,
    bytes: usize,
}

/// Return the slot where the search for a string starts, and the hash bits stored there.
#[inline]
fn probe(hash: u64, key: u8) -> (usize, u32) {
    let probe = hash.wrapping_add(u64::from(key).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    (probe as u32 as usize, (probe >> 32) as u32)
}

impl<'a> Interner<'a> {
    /// Create an empty set with room for about `entries` strings of a text.
    pub fn new(entries: usize, text: &'a [u8]) -> Self {
        let slots = (entries * 2).next_power_of_two().max(64);
        Self {
            slots: Reused::filled(slots, (0, 0)),
            text,
            aside: Vec::new(),
            entries: Reused::with_capacity(entries),
            bytes: 0,
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

    /// Return the number of bytes of all strings.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Return the string with this id.
    #[inline]
    pub fn get(&self, id: usize) -> &[u8] {
        let entry = &self.entries[id];
        &self.home(entry)[entry.range()]
    }

    /// Return the bytes that hold a string.
    #[inline]
    fn home(&self, entry: &Entry) -> &[u8] {
        if entry.aside { &self.aside } else { self.text }
    }

    /// Append all strings, one after another.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.reserve(self.bytes);
        for entry in &*self.entries {
            let Range { start, end } = entry.range();
            short_bytes::append(out, self.home(entry), start, end);
        }
    }

    /// Return the id of a string that need not be in the text, adding it if it is new. Strings with
    /// different keys are different.
    pub fn intern(&mut self, bytes: &[u8], key: u8) -> u32 {
        let hash = short_bytes::table_hash(bytes, 0, bytes.len());
        if let Some(id) = self.find(hash, bytes, &(0..bytes.len()), key) {
            return id;
        }
        let start = self.aside.len();
        self.aside.extend_from_slice(bytes);
        self.add(hash, start..self.aside.len(), key, true)
    }

    /// Return the id of a part of the text, adding it if it is new.
    #[inline(always)]
    #[allow(clippy::inline_always)] // called for nearly every node
    pub fn intern_part(&mut self, part: Range<usize>, key: u8) -> u32 {
        let text = self.text;
        let hash = short_bytes::table_hash(text, part.start, part.end);
        (self.find(hash, text, &part, key)).unwrap_or_else(|| self.add(hash, part, key, false))
    }

    /// [`Self::intern_part`], for the parts that are seldom asked for.
    #[cold]
    pub fn intern_rare_part(&mut self, part: Range<usize>, key: u8) -> u32 {
        self.intern_part(part, key)
    }

    /// Return the id of a string, or take the slot for it.
    #[inline(always)]
    #[allow(clippy::inline_always)] // called for nearly every node
    fn find(&mut self, hash: u64, text: &[u8], part: &Range<usize>, key: u8) -> Option<u32> {
        let (home, mark) = probe(hash, key);
        let last = self.slots.len() - 1;
        for distance in 0..MAX_PROBES {
            let slot = (home + distance) & last;
            let (found, id) = self.slots[slot];
            if id == 0 {
                self.slots[slot] = (mark, self.entries.len() as u32 + 1);
                return None;
            }
            if found == mark && self.is(id as usize - 1, text, part, key) {
                return Some(id - 1);
            }
        }
        None
    }

    /// Add a new string.
    #[inline]
    fn add(&mut self, hash: u64, part: Range<usize>, key: u8, aside: bool) -> u32 {
        let id = self.entries.len() as u32;
        self.bytes += part.len();
        self.entries.push(Entry {
            hash,
            start: part.start as u32,
            length: part.len() as u32,
            key,
            aside,
        });
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
            && short_bytes::same_near(
                self.home(entry),
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
        let mut strings = Interner::new(1, b"");
        for round in 0..2 {
            for i in 0..5000u32 {
                let id = strings.intern(format!("text {}", i / 2).as_bytes(), (i % 2) as u8);
                assert_eq!(id, i, "round {round}: the key is part of the identity");
            }
        }
        assert_eq!(strings.len(), 5000);
        assert_eq!(strings.get(7), b"text 3");
    }

    #[test]
    fn a_string_is_the_same_in_the_text_and_aside() {
        let text = b"fish and chips and fish";
        let mut strings = Interner::new(1, text);
        assert_eq!(strings.intern_part(0..4, 0), 0);
        assert_eq!(strings.intern(b"peas", 0), 1);
        assert_eq!(strings.intern_part(9..14, 0), 2);
        assert_eq!(strings.intern(b"chips", 0), 2);
        assert_eq!(strings.intern(b"peas", 0), 1);
        assert_eq!(strings.intern_part(19..23, 0), 0);
        let mut out = b"heap: ".to_vec();
        strings.write(&mut out);
        assert_eq!(out, b"heap: fishpeaschips");
        assert_eq!((strings.bytes(), strings.get(1)), (13, &b"peas"[..]));
    }
}
