//! The stream: steps one after another, written and read by the same code.
//!
//! A step consists of these decisions, in this order. First, whether bytes are copied or stored
//! ([`Kind::Match`]); if not, one literal follows. If so, the source: for each candidate of
//! [`super::history`], whether it is the one ([`Kind::Which`]); then whether the source is far
//! ([`Kind::Form`]). If it is not far: whether it lies below the position where the last source
//! would continue, and the distance from there. If it is far: whether the run is stored, or the
//! distance back from here. Then the length of a copy, as a walk along marks: for each position in
//! the source where a match ended before, whether this one goes beyond it ([`Kind::Passes`]); if
//! not, whether it ends there ([`Kind::Exact`]), or how far before. After the last mark: the number
//! of further bytes, minus one. A stored run has its length minus one, followed by its bytes.
//!
//! A copy marks where it began, in the source and here, if literals came before it, and where it
//! ended in both. Before each step, its position is entered into the tables.

use super::coder::Bits;
use super::history::History;
use super::literal::{FORETOLD, Foretold, Literals, Word, last_bytes};
use super::places::Candidates;
use super::side::{Kind, Side, hash};
use super::source::STORED;

/// One step of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// A single byte.
    Literal(u8),
    /// Bytes copied from an earlier position.
    Copy { from: usize, length: usize },
    /// Bytes stored as they are, at least one.
    Stored(&'a [u8]),
}

/// The complete adaptive state.
#[derive(Clone)]
pub struct Model {
    pub history: History,
    literals: Literals,
    pub side: Side,
    saved_side: Side,
    word: Word,
    /// Whether the last copies passed the marks they reached, the last one lowest.
    pub passed: u32,
}

impl Model {
    pub fn new(table_log: u32) -> Model {
        Model {
            history: History::new(),
            literals: Literals::new(table_log),
            side: Side::new(),
            saved_side: Side::new(),
            word: Word::default(),
            passed: 0,
        }
    }

    /// Make the current state the base, to which [`Model::restore`] returns.
    pub fn begin(&mut self) {
        self.history.begin();
        self.literals.begin();
        self.saved_side.copy_from(&self.side);
        (self.word, self.passed) = (Word::default(), 0);
    }

    /// Restore the state at which [`Model::begin`] was called.
    pub fn restore(&mut self) {
        self.history.restore();
        self.literals.restore();
        self.side.copy_from(&self.saved_side);
        (self.word, self.passed) = (Word::default(), 0);
    }

    /// Code one step at the end of the history, and append its bytes. `left` is the number of bytes
    /// still to come, at least one. Returns false if the input is not valid.
    pub fn step<B: Bits>(
        &mut self,
        bits: &mut B,
        candidates: &Candidates,
        left: usize,
        step: Step<'_>,
    ) -> bool {
        self.history.enter(self.history.bytes.len());
        let matched = self.flag(bits, candidates, !matches!(step, Step::Literal(_)));
        if !matched {
            let byte = if let Step::Literal(byte) = step {
                byte
            } else {
                0
            };
            self.literal(bits, candidates, byte);
            return true;
        }
        let (from, length, stored): (usize, usize, &[u8]) = match step {
            Step::Copy { from, length } => (from, length, &[]),
            Step::Stored(bytes) => (STORED, bytes.len(), bytes),
            Step::Literal(_) => (0, 1, &[]), // when reading, where it is not used
        };
        match self.whence(bits, candidates, from) {
            Some((STORED, _)) => {
                let length = self.side.number(bits, 5, 0, length as u32 - 1) as usize + 1;
                length <= left && self.store(bits, length, stored)
            }
            Some((from, form)) if from < self.history.bytes.len() => {
                let length = self.length(bits, from, form, left, length);
                let possible = (1..=left).contains(&length);
                if possible {
                    self.copy(from, length);
                }
                possible
            }
            _ => false,
        }
    }

    /// Code bytes as they are. The model does not learn from them, and no source continues after
    /// them.
    fn store<B: Bits>(&mut self, bits: &mut B, length: usize, stored: &[u8]) -> bool {
        for at in 0..length {
            if bits.ran_dry() {
                return false;
            }
            let byte = stored.get(at).copied().unwrap_or(0);
            let byte = bits.flat(u32::from(byte), 8) as u8;
            self.history.bytes.push(byte);
        }
        (self.history.source, self.history.literals) = (0, 0);
        self.word = Word::default();
        true
    }

    /// Code whether a match comes next.
    fn flag<B: Bits>(&mut self, bits: &mut B, candidates: &Candidates, matched: bool) -> bool {
        let history = &self.history;
        let last = last_bytes(&history.bytes);
        let byte_at = |from: u8| {
            let candidate = candidates.of(from);
            candidate.map_or(256, |c| u32::from(history.bytes[c.at as usize]))
        };
        let trust = |from: u8| {
            candidates
                .of(from)
                .map_or(0, |c| u32::from(c.agreed / 4 + 1))
        };
        let literals = history.literals as u32;
        let (long, resumed, along) = (byte_at(0), byte_at(1), byte_at(2));
        let shape = u32::from(long == resumed)
            | u32::from(long == along) << 1
            | u32::from(resumed == along) << 2;
        let contexts = [
            trust(0) << 16 | trust(3) << 8 | literals.min(7) << 3 | shape,
            hash(
                long << 16 | resumed,
                last as u32 & 0xff | literals.min(3) << 8,
            ),
            hash(last as u32, literals.min(1)),
            hash(
                resumed << 16 | along,
                last as u32 & 0xffff | literals.min(15) << 16,
            ),
            hash(last as u32, (last >> 32) as u32),
            last as u32 & 0xff | literals.min(31) << 8 | trust(0) << 16,
        ];
        let set = (literals.min(3) * 4 + trust(0).min(3)) as usize;
        self.side.decide(bits, Kind::Match, set, &contexts, matched)
    }

    /// Code a literal and update the tables.
    fn literal<B: Bits>(&mut self, bits: &mut B, candidates: &Candidates, byte: u8) {
        let history = &mut self.history;
        let literals = history.literals;
        let mut foretold = [Foretold::default(); FORETOLD];
        let by_context = candidates.of(0).or(candidates.of(3));
        if let Some(candidate) = by_context {
            foretold[0].byte = history.bytes[candidate.at as usize];
            foretold[0].trust = 1 + (candidate.agreed / 3).min(14);
        }
        if let Some(candidate) = candidates.of(2).or(candidates.of(1)) {
            foretold[1].byte = history.bytes[candidate.at as usize];
            foretold[1].trust = 1 + literals.min(14) as u8;
        }
        let byte = self
            .literals
            .code(bits, &history.bytes, literals, self.word, foretold, byte);
        history.bytes.push(byte);
        history.literals += 1;
        self.word.push(byte);
    }

    /// Append the bytes of a match and record where it began and ended.
    fn copy(&mut self, from: usize, length: usize) {
        let history = &mut self.history;
        let at = history.bytes.len();
        if from + length <= at {
            history.bytes.extend_from_within(from..from + length);
        } else {
            for place in from..from + length {
                let byte = history.bytes[place];
                history.bytes.push(byte);
            }
        }
        if history.literals > 0 {
            history.mark_start(from);
            history.mark_start(at);
        }
        let end = at + length;
        history.mark_end(from + length);
        history.mark_end(end);
        history.source = from + length;
        history.literals = 0;
        for place in end.saturating_sub(24).max(at)..end {
            self.word.push(history.bytes[place]);
        }
    }
}
