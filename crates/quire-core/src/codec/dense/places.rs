//! Sets of positions in the history: marks, and candidates for the source of a copy.

/// Marks are searched at most this many words of 64 positions ahead.
const REACH: usize = 64;

/// A set of positions.
#[derive(Clone, Default)]
pub struct Marks(Vec<u64>);

impl Marks {
    /// Add a position; returns false if it was there already.
    pub fn set(&mut self, at: usize) -> bool {
        if self.0.len() <= at / 64 {
            self.0.resize(at / 64 + 1, 0);
        }
        let word = &mut self.0[at / 64];
        let new = *word >> (at % 64) & 1 == 0;
        *word |= 1 << (at % 64);
        new
    }

    /// Remove a position.
    pub fn unset(&mut self, at: usize) {
        self.0[at / 64] &= !(1 << (at % 64));
    }

    /// Return the first position of the set from `from` on, if it is before `end` and not too far
    /// away.
    pub fn next(&self, from: usize, end: usize) -> Option<usize> {
        let mut word = from / 64;
        let mut bits = self.0.get(word)? & !0 << (from % 64);
        for _ in 0..REACH {
            if bits != 0 {
                let at = word * 64 + bits.trailing_zeros() as usize;
                return (at < end).then_some(at);
            }
            word += 1;
            bits = *self.0.get(word)?;
        }
        None
    }
}

/// A position from which a match may be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub at: u32,
    /// 0: the last position after these 12 bytes; 1: where the source was resumed before; 2: the
    /// source after as many bytes as there were literals; 3: the last position after these 6 bytes.
    pub from: u8,
    /// How many bytes before it are equal, up to 32; 0 if not computed.
    pub agreed: u8,
}

/// Up to four candidates.
#[derive(Clone, Copy)]
pub struct Candidates {
    pub all: [Candidate; 4],
    pub count: usize,
}

impl Default for Candidates {
    fn default() -> Self {
        let none = Candidate {
            at: 0,
            from: 0,
            agreed: 0,
        };
        Candidates {
            all: [none; 4],
            count: 0,
        }
    }
}

impl Candidates {
    #[inline]
    /// Add a candidate, unless its position is there already.
    pub fn add(&mut self, at: u32, from: u8, agreed: u8) {
        if !self.iter().any(|candidate| candidate.at == at) {
            self.all[self.count] = Candidate { at, from, agreed };
            self.count += 1;
        }
    }

    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &Candidate> {
        self.all[..self.count].iter()
    }

    /// Return the candidate of a kind.
    #[inline]
    pub fn of(&self, from: u8) -> Option<&Candidate> {
        self.iter().find(|candidate| candidate.from == from)
    }
}
