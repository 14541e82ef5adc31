//! Sets of places in the history: marks, and candidates for the source of a copy.

/// No mark is looked for further away than this many words of 64 places.
const REACH: usize = 64;

/// A set of places.
#[derive(Clone, Default)]
pub struct Marks(Vec<u64>);

impl Marks {
    /// Add a place; false if it was there.
    pub fn set(&mut self, at: usize) -> bool {
        if self.0.len() <= at / 64 {
            self.0.resize(at / 64 + 1, 0);
        }
        let word = &mut self.0[at / 64];
        let new = *word >> (at % 64) & 1 == 0;
        *word |= 1 << (at % 64);
        new
    }

    /// Take a place out.
    pub fn unset(&mut self, at: usize) {
        self.0[at / 64] &= !(1 << (at % 64));
    }

    /// The first place of the set from `from` on, if it is before `end` and not too far away.
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

/// A place from which a match may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub at: u32,
    /// 0 the last place after these 12 bytes, 1 where the source was resumed before, 2 the source
    /// after as many bytes as were literals, 3 the last place after these 6 bytes.
    pub from: u8,
    /// How many bytes before it are the same, up to 32; 0 where it is not looked at.
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
    /// Add one, unless its place is there.
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

    /// The candidate of a kind.
    #[inline]
    pub fn of(&self, from: u8) -> Option<&Candidate> {
        self.iter().find(|candidate| candidate.from == from)
    }
}
