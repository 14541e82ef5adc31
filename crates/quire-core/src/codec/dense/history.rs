//! The bytes so far, and positions in them where a match is likely to begin or end.
//!
//! Two tables map the last 12 and the last 6 bytes to the last position that followed them. Only
//! new positions are entered: after each literal, and at the end of each match. Two sets of marks
//! record where in the source matches began and ended: the borders of the parts that vary on these
//! pages.

use super::places::{Candidates, Marks};

/// Sizes of the tables, as powers of two.
const LONG_LOG: u32 = 17;
const SHORT_LOG: u32 = 17;
/// Number of bytes in the keys of the tables.
const LONG: usize = 12;
const SHORT: usize = 6;

/// The bytes so far, with the tables and marks.
#[derive(Clone)]
pub struct History {
    pub bytes: Vec<u8>,
    long: Vec<u32>,
    short: Vec<u32>,
    ends: Marks,
    starts: Marks,
    /// Changes since [`History::begin`], if they are to be undone.
    log: Option<Vec<Change>>,
    base: usize,
    /// Where the last match would continue in its source.
    pub source: usize,
    /// Number of literals since then.
    pub literals: usize,
}

/// One change since the base was learned: the old entry of a table, or a mark that was set.
#[derive(Clone, Copy)]
enum Change {
    Long(u32, u32),
    Short(u32, u32),
    End(u32),
    Start(u32),
}

impl History {
    pub fn new() -> History {
        History {
            bytes: Vec::new(),
            long: vec![0; 1 << LONG_LOG],
            short: vec![0; 1 << SHORT_LOG],
            ends: Marks::default(),
            starts: Marks::default(),
            log: None,
            base: 0,
            source: 0,
            literals: 0,
        }
    }

    /// Return the candidates at a later position of `text` (which starts with the history), from
    /// the tables only.
    pub fn foretell(&self, text: &[u8], at: usize) -> Candidates {
        let mut found = Candidates::default();
        for place in [
            slot::<LONG>(text, at).map_or(0, |slot| self.long[slot]),
            slot::<SHORT>(text, at).map_or(0, |slot| self.short[slot]),
        ] {
            if place > 0 {
                found.add(place, 0, 0);
            }
        }
        found
    }

    /// Return the candidates for a match at the end, most likely first, each position once.
    #[inline]
    pub fn candidates(&self) -> Candidates {
        let at = self.bytes.len();
        let mut found = Candidates::default();
        let long = slot::<LONG>(&self.bytes, at).map_or(0, |slot| self.long[slot]);
        if long > 0 {
            found.add(long, 0, self.agreed(long as usize, at));
        }
        if self.source > 0 {
            if let Some(resumed) = self.starts.next(self.source, at.min(self.source + 512)) {
                found.add(resumed as u32, 1, 0);
            }
            let along = self.source + self.literals;
            if along < at {
                found.add(along as u32, 2, 0);
            }
        }
        let short = slot::<SHORT>(&self.bytes, at).map_or(0, |slot| self.short[slot]);
        if short > 0 && short != long {
            found.add(short, 3, self.agreed(short as usize, at));
        }
        found
    }

    /// Enter the position `at` into the tables.
    #[inline]
    pub fn enter(&mut self, at: usize) {
        if let Some(slot) = slot::<LONG>(&self.bytes, at) {
            let old = std::mem::replace(&mut self.long[slot], at as u32);
            self.note(Change::Long(slot as u32, old));
        }
        if let Some(slot) = slot::<SHORT>(&self.bytes, at) {
            let old = std::mem::replace(&mut self.short[slot], at as u32);
            self.note(Change::Short(slot as u32, old));
        }
    }

    /// Mark a position where a match ended.
    pub fn mark_end(&mut self, at: usize) {
        if self.ends.set(at) {
            self.note(Change::End(at as u32));
        }
    }

    /// Mark a position where a match began after literals.
    pub fn mark_start(&mut self, at: usize) {
        if self.starts.set(at) {
            self.note(Change::Start(at as u32));
        }
    }

    /// Return the next position from `from` on, before `end`, where a match ended.
    pub fn next_end(&self, from: usize, end: usize) -> Option<usize> {
        self.ends.next(from, end)
    }

    #[inline]
    fn note(&mut self, change: Change) {
        if let Some(log) = &mut self.log {
            log.push(change);
        }
    }

    /// Make the current state the base, to which [`History::restore`] returns.
    pub fn begin(&mut self) {
        self.log = Some(Vec::new());
        self.base = self.bytes.len();
        (self.source, self.literals) = (0, 0);
    }

    pub fn restore(&mut self) {
        let mut log = self.log.take().unwrap_or_default();
        for change in log.drain(..).rev() {
            match change {
                Change::Long(slot, old) => self.long[slot as usize] = old,
                Change::Short(slot, old) => self.short[slot as usize] = old,
                Change::End(at) => self.ends.unset(at as usize),
                Change::Start(at) => self.starts.unset(at as usize),
            }
        }
        self.log = Some(log);
        self.bytes.truncate(self.base);
        (self.source, self.literals) = (0, 0);
    }

    /// Return how many bytes before two positions are equal, up to 32.
    #[inline]
    fn agreed(&self, one: usize, two: usize) -> u8 {
        let (mut one, mut two) = (&self.bytes[..one], &self.bytes[..two]);
        let mut same = 0;
        while let (Some((rest, a)), Some((other, b))) =
            (one.split_last_chunk::<8>(), two.split_last_chunk::<8>())
            && same < 32
        {
            let differ = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
            if differ != 0 {
                return same + (differ.leading_zeros() / 8) as u8;
            }
            same += 8;
            (one, two) = (rest, other);
        }
        same
    }
}

/// Return the slot for the bytes before a position.
#[inline]
fn slot<const KEY: usize>(bytes: &[u8], at: usize) -> Option<usize> {
    let key = bytes.get(at.checked_sub(KEY)?..at)?;
    let mut high = [0; 8];
    let mut low = [0; 8];
    if KEY == LONG {
        high.copy_from_slice(&key[..8]);
        low[..4].copy_from_slice(&key[8..12]);
    } else {
        low[..KEY].copy_from_slice(key);
    }
    let spread =
        u64::from_le_bytes(high).wrapping_mul(0xd6e8_feb8_6659_fd93) ^ u64::from_le_bytes(low);
    let spread = spread.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let log = if KEY == LONG { LONG_LOG } else { SHORT_LOG };
    Some((spread >> (64 - log)) as usize)
}
