//! The stream: steps one after the other, written or read by the same code.
//!
//! A step is, in this order: whether bytes are copied or stored ([`Kind::Match`]); if not, one literal.
//! If so, whence: for each candidate of [`super::history`] whether it is the one ([`Kind::Which`]);
//! then whether the source is far ([`Kind::Form`]); if not, whether it lies below the place where the last
//! source would go on, and how far from there; if so, whether the run is stored, or the distance
//! back from here. A copy's length follows, as a walk along marks: for each place in the source where a
//! match ended before, whether this one goes beyond ([`Kind::Passes`]); if not, whether it ends there
//! ([`Kind::Exact`]), or how much before. Past the last mark: how many bytes more, less one. A stored run has its length
//! less one, and then its bytes as they are.
//!
//! A copy marks where it began in the source and here, if literals stood before it, and where it ended
//! in both. Before each step, the place it begins at is entered into the tables.

use super::coder::Bits;
use super::history::History;
use super::literal::{FORETOLD, Foretold, Literals, Word, last_bytes};
use super::places::Candidates;
use super::side::{Kind, Side, hash};
use super::source::STORED;

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// A byte of its own.
    Literal(u8),
    /// Bytes from a place before.
    Copy { from: usize, length: usize },
    /// Bytes as they are, at least one.
    Stored(&'a [u8]),
}

/// Everything that adapts.
#[derive(Clone)]
pub struct Model {
    pub history: History,
    literals: Literals,
    pub side: Side,
    saved_side: Side,
    word: Word,
    /// Whether the last copies passed the marks they met, the last one lowest.
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

    /// What was coded until now is the base: [`Model::restore`] comes back to here.
    pub fn begin(&mut self) {
        self.history.begin();
        self.literals.begin();
        self.saved_side.copy_from(&self.side);
        (self.word, self.passed) = (Word::default(), 0);
    }

    /// Come back to where [`Model::begin`] was called.
    pub fn restore(&mut self) {
        self.history.restore();
        self.literals.restore();
        self.side.copy_from(&self.saved_side);
        (self.word, self.passed) = (Word::default(), 0);
    }

    /// Code one step at the end of the history, and add its bytes. `left` is how many bytes may
    /// still come, at least one. Gives false when what was read cannot be.
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
            Step::Literal(_) => (0, 1, &[]), // when reading, where it is not looked at
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

    /// Code bytes as they are. Nothing is learned from them, and no source goes on after them.
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

    /// Whether a match comes next.
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

    /// Code a literal and enter what follows it.
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

    /// Add the bytes of a match and remember where it began and ended.
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
