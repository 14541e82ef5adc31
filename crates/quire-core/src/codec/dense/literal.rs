//! Bytes that no match covers, coded bit by bit, each bit predicted from many contexts at once.
//!
//! A byte is two nibbles, high bits first. The contexts are the last 1, 2, 3, 4 and 6 bytes; the
//! current word with the last byte; and the byte that the history predicts. For each context and
//! nibble there is a bucket of counters ([`super::buckets`]). Two mixers weigh the predictions of
//! these counters, those of the counters for the foretold bytes (as long as the byte so far agrees
//! with them), and a constant. One mixer selects its weights by the number of known contexts,
//! whether the last byte was a literal, and the trust in the first foretold byte; the other by the
//! byte so far. Both results are averaged, and the average is averaged again with its refinement by
//! the byte so far and the number of literals since the last match, up to three.

use super::buckets::Buckets;
use super::coder::Bits;
use super::mix::{Mixer, Refiner, UNSEEN, seen, squash, word_of};
use super::side::hash;

const CONTEXTS: usize = 7;
/// Number of bytes that candidates foretell.
pub const FORETOLD: usize = 2;
/// Inputs of a mixer, processed eight at a time; unused ones predict nothing.
const WORDS: usize = 16;

/// A byte that a candidate foretells, and its trust (below 16; 0 for none).
#[derive(Clone, Copy, Default)]
pub struct Foretold {
    pub byte: u8,
    pub trust: u8,
}

/// The model of literals.
#[derive(Clone)]
pub struct Literals {
    buckets: Buckets,
    small: Small,
    saved: Small,
}

/// The parts small enough to be copied whole for every page.
#[derive(Clone)]
struct Small {
    foretold: Vec<u16>,
    by_place: Mixer<WORDS>,
    by_bits: Mixer<WORDS>,
    refiner: Refiner,
}

impl Small {
    fn new() -> Small {
        Small {
            foretold: vec![UNSEEN; FORETOLD * 16 * 2 * 8],
            by_place: Mixer::new((CONTEXTS + 1) * 32, (1 << 16) / 5),
            by_bits: Mixer::new(256, (1 << 16) / 5),
            refiner: Refiner::new(1024),
        }
    }

    fn copy_from(&mut self, other: &Small) {
        self.foretold.copy_from_slice(&other.foretold);
        self.by_place.copy_from(&other.by_place);
        self.by_bits.copy_from(&other.by_bits);
        self.refiner.copy_from(&other.refiner);
    }
}

impl Literals {
    /// Create an empty model with 2^`log` buckets.
    pub fn new(log: u32) -> Literals {
        Literals {
            buckets: Buckets::new(log),
            small: Small::new(),
            saved: Small::new(),
        }
    }

    /// Code a byte after `before`, with `literals` literals before it since the last match.
    pub fn code<B: Bits>(
        &mut self,
        bits: &mut B,
        before: &[u8],
        literals: usize,
        word: Word,
        foretold: [Foretold; FORETOLD],
        byte: u8,
    ) -> u8 {
        let contexts = contexts(before, literals, word, foretold);
        let mut so_far = 1u32;
        for _ in 0..2 {
            let (found, known) = self.buckets.find(&contexts, so_far);
            let place = known * 2 + usize::from(literals > 0);
            let place = place * 16 + (foretold[0].trust as usize & 15);
            let mut node = 1;
            for _ in 0..4 {
                let mut words = [0i16; WORDS];
                words[WORDS - 1] = 256;
                for (word, &bucket) in words.iter_mut().zip(&found) {
                    *word = word_of(*self.buckets.counter(bucket, node));
                }
                let cells = cells(foretold, so_far);
                for (word, cell) in words[CONTEXTS..].iter_mut().zip(cells) {
                    *word = self.small.foretold.get(cell).map_or(0, |&c| word_of(c));
                }
                let small = &mut self.small;
                let one = small.by_place.mix(&words, place);
                let two = small.by_bits.mix(&words, so_far as usize);
                let mixed = (one + two) >> 1;
                let context = so_far as usize | literals.min(3) << 8;
                let refined = small.refiner.refine(mixed, context);
                let p = (squash(mixed) + refined) >> 1;
                let at = 8 - so_far.ilog2() - 1;
                let bit = bits.code(byte >> at & 1 == 1, p.clamp(16, 65_520));
                small.by_place.learn(&words, bit);
                small.by_bits.learn(&words, bit);
                small.refiner.learn(bit);
                for cell in cells {
                    if let Some(counter) = small.foretold.get_mut(cell) {
                        seen(counter, bit);
                    }
                }
                for bucket in found {
                    seen(self.buckets.counter(bucket, node), bit);
                }
                so_far = so_far << 1 | u32::from(bit);
                node = node << 1 | usize::from(bit);
            }
        }
        so_far as u8
    }

    /// Start recording, so that this state can be restored.
    pub fn begin(&mut self) {
        self.buckets.begin();
        self.saved.copy_from(&self.small);
    }

    /// Restore the recorded state.
    pub fn restore(&mut self) {
        self.buckets.restore();
        self.small.copy_from(&self.saved);
    }
}

/// Return the active counters of foretold bytes: by the order of the bytes, trust, next bit and its
/// position. None for a byte that is not foretold, or does not start like the byte so far.
#[inline]
fn cells(foretold: [Foretold; FORETOLD], so_far: u32) -> [usize; FORETOLD] {
    let known = so_far.ilog2();
    let mut cells = [usize::MAX; FORETOLD];
    for (number, foretold) in foretold.iter().enumerate() {
        let whole = u32::from(foretold.byte) | 0x100;
        if foretold.trust > 0 && whole >> (8 - known) == so_far {
            let next = whole >> (7 - known) & 1;
            let cell = (number * 16 + foretold.trust as usize) * 2 + next as usize;
            cells[number] = cell * 8 + known as usize;
        }
    }
    cells
}

/// The hash of the current word: letters and digits since the last other byte.
#[derive(Clone, Copy, Default)]
pub struct Word(u32);

impl Word {
    /// Add a byte.
    #[inline]
    pub fn push(&mut self, byte: u8) {
        self.0 = if byte.is_ascii_alphanumeric() || byte >= 0x80 {
            hash(self.0, u32::from(byte.to_ascii_lowercase()))
        } else {
            0
        };
    }
}

#[inline]
fn contexts(
    before: &[u8],
    literals: usize,
    word: Word,
    foretold: [Foretold; FORETOLD],
) -> [u32; CONTEXTS] {
    let last = last_bytes(before);
    let order = |count: u32| {
        let some = last & ((1 << (8 * count)) - 1);
        hash(some as u32, (some >> 32) as u32 | count << 24)
    };
    let last = last as u32 & 0xff;
    let told = u32::from(foretold[0].byte) << 8 | u32::from(foretold[1].byte);
    [
        order(1),
        order(2),
        order(3),
        order(4),
        order(6),
        hash(word.0, 0x7000_0000 | last),
        hash(told, 0x7200_0000 | (literals.min(3) as u32) << 8 | last),
    ]
}

/// Return the last eight bytes, the last one lowest; zeros if there are fewer.
#[inline]
pub fn last_bytes(bytes: &[u8]) -> u64 {
    if let Some(last) = bytes.last_chunk() {
        return u64::from_be_bytes(*last);
    }
    let some = bytes.iter();
    some.fold(0, |last, &byte| last << 8 | u64::from(byte))
}
