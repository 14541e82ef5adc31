//! All decisions except literals: whether, from where and how much to copy.
//!
//! A decision is predicted in several contexts at once. Each is hashed into one table of counters,
//! without a check; a mixer for the kind of decision weighs their predictions.

use super::coder::Bits;
use super::mix::{Mixer, UNSEEN, seen, squash, word_of};

/// Number of contexts of a decision; a kind that needs fewer leaves the rest 0.
pub const CONTEXTS: usize = 6;
/// Inputs of the mixer: the contexts, and some constants.
const WORDS: usize = 8;
/// Size of the table of counters, as a power of two.
const TABLE_LOG: u32 = 17;

/// The kind of a decision. Each kind has its own counters and weights.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Match,
    Which,
    Form,
    Passes,
    Exact,
    Number,
}

/// The counters of all decisions except the bits of literals.
#[derive(Clone)]
pub struct Side {
    counters: Vec<u16>,
    mixer: Mixer<WORDS>,
}

/// Hash a context to 32 bits.
#[inline]
pub fn hash(a: u32, b: u32) -> u32 {
    let mixed = (u64::from(a) << 32 | u64::from(b)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) as u32 ^ (mixed >> 20) as u32
}

impl Side {
    pub fn new() -> Side {
        Side {
            counters: vec![UNSEEN; 1 << TABLE_LOG],
            mixer: Mixer::new(6 * 16, (1 << 16) / 3),
        }
    }

    pub fn copy_from(&mut self, other: &Side) {
        self.counters.copy_from_slice(&other.counters);
        self.mixer.copy_from(&other.mixer);
    }

    /// Code one decision of a kind; `set` (below 16) selects weights within the kind.
    pub fn decide<B: Bits>(
        &mut self,
        bits: &mut B,
        kind: Kind,
        set: usize,
        contexts: &[u32; CONTEXTS],
        bit: bool,
    ) -> bool {
        let mut at = [0usize; CONTEXTS];
        let mut words = [256i16; WORDS];
        for (number, &context) in contexts.iter().enumerate() {
            let spread = hash(context, (kind as u32) << 8 | number as u32);
            at[number] = (spread >> (32 - TABLE_LOG)) as usize;
            words[number] = word_of(self.counters[at[number]]);
        }
        let mixed = self.mixer.mix(&words, kind as usize * 16 + set);
        let bit = bits.code(bit, squash(mixed).clamp(16, 65520));
        self.mixer.learn(&words, bit);
        for at in at {
            seen(&mut self.counters[at], bit);
        }
        bit
    }

    /// Code a number of up to 31 bits: its number of bits, then the bits; all but the highest four
    /// are flat.
    pub fn number<B: Bits>(&mut self, bits: &mut B, name: u32, context: u32, value: u32) -> u32 {
        let value = value.wrapping_add(1);
        let length = 32 - value.leading_zeros();
        let mut found = 1;
        loop {
            let here = hash(name, found);
            let contexts = [here, hash(here, context), 0, 0, 0, 0];
            if found == 31
                || !self.decide(bits, Kind::Number, name as usize, &contexts, length > found)
            {
                break;
            }
            found += 1;
        }
        let mut read = 1;
        for at in (0..found - 1).rev() {
            let bit = value >> at & 1 == 1;
            let bit = if found - 1 - at <= 3 {
                let here = hash(name | 1 << 8, found << 8 | read);
                let contexts = [here, hash(here, context), 0, 0, 0, 0];
                self.decide(bits, Kind::Number, name as usize, &contexts, bit)
            } else {
                bits.code(bit, 1 << 15)
            };
            read = read << 1 | u32::from(bit);
        }
        read - 1
    }
}
