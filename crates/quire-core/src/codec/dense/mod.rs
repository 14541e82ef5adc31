//! The dense codec: copies from the base, and a context-mixing model for the rest.
//!
//! For cold archives: pages stored against their bases take 6 to 27 % less than all of them in one
//! solid `xz -9` (template sites and version histories, at most 32 bases), and each can still be
//! read on its own, in milliseconds instead of microseconds.
//!
//! # Format
//!
//! A frame is the output of a range coder (`coder`): binary decisions, each with a probability that
//! the reader computes from the input so far. It has no header and no length; the container stores
//! the length of the page, and the reader stops there. After the page come 8 flat bits, the low
//! bits of its XXH3-64 with the length as seed: they detect most damage at once, but the checksum
//! of the container is the one to rely on. `stream` defines the decisions and their order,
//! `history` the sources that a copy can refer to without writing them out, `side` and `literal`
//! the contexts of the probabilities, `mix` how these are combined. Every constant in these modules
//! is part of the format, except those of `parse`.
//!
//! The model starts empty, with 2^n buckets for literals: n is the integer part of the base-2
//! logarithm of the base's length, at least 14 and at most 17. The base is coded first, as one
//! frame; every page starts from the resulting model. Before a page, the last source, the literals
//! since it, the current word and the history of passed marks are reset. Nothing else of a page
//! affects later ones.
//!
//! Only integers are used, so the bytes are the same on every machine.
//!
//! # Cost
//!
//! One to two microseconds per literal; copies cost little, whatever their length. Writing runs at
//! 2 to 10 MB/s; a page of 40 KB of a template site is read in 3 to 5 ms. Opening decodes the base:
//! 2 to 4 ms for each KB of its frame, so keep bases open. Eight bases instead of 32 open in half
//! the time, for 3 to 8 % more bytes. A model takes up to 7 MB besides the base, and as much again
//! for the log while a long page is coded. Pages are undone, not copied: the log records their
//! changes. Each [`DenseBase`] handles one page at a time; threads wait for each other, or use
//! clones.

mod buckets;
mod coder;
mod history;
mod literal;
mod mix;
mod parse;
mod places;
mod side;
mod source;
mod stream;

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use coder::{Bits, Reader, Writer};
use parse::{Chains, Parser};
use stream::{Model, Step};

use super::refused;
use crate::base::error::Error;
use crate::base::hash::hash64_seeded;

/// Base and page together must be shorter than this: positions have 32 bits.
const LIMIT: usize = 1 << 31;
/// Number of check bits after a page.
const CHECK_BITS: u32 = 8;

/// A base that the model has learned, ready for pages.
pub struct DenseBase {
    model: Mutex<Model>,
    /// Needed only for writing; built when the first page is written.
    chains: OnceLock<Chains>,
}

impl DenseBase {
    /// Learn a base. It may be empty: pages are then coded on their own.
    ///
    /// ```
    /// # use quire_core::codec::DenseBase;
    /// let base = DenseBase::new(b"<title>Monday</title><p>the same as ever</p>");
    /// let page = b"<title>Tuesday</title><p>the same as ever</p>";
    /// let frame = base.encode(page);
    /// assert!(frame.len() < 15);
    /// assert_eq!(base.decode(&frame, page.len())?, page);
    /// # Ok::<(), quire_core::Error>(())
    /// ```
    #[must_use]
    pub fn new(base: &[u8]) -> DenseBase {
        DenseBase::create(base).0
    }

    /// Learn a base; return it with the frame that [`DenseBase::open`] reads.
    #[must_use]
    pub fn create(base: &[u8]) -> (DenseBase, Vec<u8>) {
        let mut model = Model::new(table_log(base.len()));
        let frame = write(&mut model, &Chains::of(&[]), base);
        (DenseBase::primed(model), frame)
    }

    /// Learn a base of `base_len` bytes from its frame.
    ///
    /// Costs 2 to 4 ms for each KB of the frame: to open in a tenth of a second, keep stored bases
    /// below 25 KB.
    pub fn open(frame: &[u8], base_len: usize) -> Result<DenseBase, Error> {
        let mut model = Model::new(table_log(base_len));
        read(&mut model, frame, base_len)?;
        Ok(DenseBase::primed(model))
    }

    /// Learn more content on top of this base: content that part of the cluster has in common.
    /// Returns the longer base and the frame that [`DenseBase::open_more`] reads.
    ///
    /// ```
    /// # use quire_core::codec::DenseBase;
    /// let all = DenseBase::new(b"<title>Monday</title><p>the same as ever</p>");
    /// let (part, frame) = all.learn_more(b"<title>Monday</title><p>the same as last week</p>");
    /// let page = b"<title>Tuesday</title><p>the same as last week</p>";
    /// let opened = all.open_more(&frame, 49)?;
    /// assert_eq!(opened.decode(&part.encode(page), page.len())?, page);
    /// # Ok::<(), quire_core::Error>(())
    /// ```
    #[must_use]
    pub fn learn_more(&self, more: &[u8]) -> (DenseBase, Vec<u8>) {
        let mut model = self.locked().clone();
        let chains = self.chains.get_or_init(|| Chains::of(&model.history.bytes));
        let frame = write(&mut model, chains, more);
        (DenseBase::primed(model), frame)
    }

    /// Learn `more_len` more bytes on top of this base, from their frame.
    pub fn open_more(&self, frame: &[u8], more_len: usize) -> Result<DenseBase, Error> {
        let mut model = self.locked().clone();
        read(&mut model, frame, more_len)?;
        Ok(DenseBase::primed(model))
    }

    fn primed(mut model: Model) -> DenseBase {
        model.begin();
        DenseBase {
            model: Mutex::new(model),
            chains: OnceLock::new(),
        }
    }

    /// Return the base itself.
    #[must_use]
    pub fn base(&self) -> Vec<u8> {
        self.locked().history.bytes.clone()
    }

    /// Compress a page against this base.
    ///
    /// # Panics
    ///
    /// If page and base together have 2 GiB or more; no source of this package has.
    #[must_use]
    pub fn encode(&self, page: &[u8]) -> Vec<u8> {
        let mut model = self.locked();
        let chains = self.chains.get_or_init(|| Chains::of(&model.history.bytes));
        let frame = write(&mut model, chains, page);
        model.restore();
        frame
    }

    /// Decompress a page: exactly `expected_len` bytes, or an error. Memory use depends on the
    /// actual content of the frame, and never exceeds the expected length by more than a constant
    /// factor.
    pub fn decode(&self, frame: &[u8], expected_len: usize) -> Result<Vec<u8>, Error> {
        let mut model = self.locked();
        let base_len = model.history.bytes.len();
        let read = read(&mut model, frame, expected_len);
        let page = read.map(|()| model.history.bytes[base_len..].to_vec());
        model.restore();
        page
    }

    fn locked(&self) -> MutexGuard<'_, Model> {
        self.model.lock().unwrap_or_else(|poisoned| {
            // A bug stopped another thread in the middle of a page.
            let mut model = PoisonError::into_inner(poisoned);
            model.restore();
            model
        })
    }
}

impl Clone for DenseBase {
    fn clone(&self) -> Self {
        DenseBase {
            model: Mutex::new(self.locked().clone()),
            chains: OnceLock::new(),
        }
    }
}

/// Return the number of buckets for literals, as a power of two.
fn table_log(base_len: usize) -> u32 {
    base_len.max(1).ilog2().clamp(14, 17)
}

fn write(model: &mut Model, chains: &Chains, page: &[u8]) -> Vec<u8> {
    let base_len = model.history.bytes.len();
    let text = [&model.history.bytes[..], page].concat();
    assert!(
        text.len() < LIMIT,
        "page and base have {} bytes together, more than the limit of {LIMIT}",
        text.len()
    );
    let mut parser = Parser::new(&text, chains, base_len);
    let mut bits = Writer::new();
    while model.history.bytes.len() < text.len() {
        let at = model.history.bytes.len();
        let candidates = model.history.candidates();
        let along = model.history.source + model.history.literals;
        let history = &model.history;
        let peek = |later| history.foretell(&text, later);
        let step = parser.step(at, &candidates, along, &peek);
        let coded = model.step(&mut bits, &candidates, text.len() - at, step);
        assert!(coded, "a step of the parser is always possible");
    }
    bits.flat(check(page), CHECK_BITS);
    bits.finish()
}

fn read(model: &mut Model, frame: &[u8], expected_len: usize) -> Result<(), Error> {
    let start = model.history.bytes.len();
    let end = start.saturating_add(expected_len);
    if end >= LIMIT {
        return Err(refused(format!(
            "page and base would have {end} bytes together, more than the limit of {LIMIT}"
        )));
    }
    let mut bits = Reader::new(frame);
    while model.history.bytes.len() < end {
        let left = end - model.history.bytes.len();
        let candidates = model.history.candidates();
        let possible = model.step(&mut bits, &candidates, left, Step::Literal(0));
        if bits.ran_dry() {
            return Err(refused(format!(
                "dense frame of {} bytes ends {left} bytes short of the expected {expected_len}",
                frame.len()
            )));
        }
        if !possible {
            return Err(refused(format!(
                "dense frame is damaged or not for this base: {left} of {expected_len} bytes \
                 before the end, it copies from outside the data"
            )));
        }
    }
    if bits.flat(0, CHECK_BITS) == check(&model.history.bytes[start..]) && bits.is_done() {
        return Ok(());
    }
    Err(refused(format!(
        "dense frame of {} bytes is damaged, or its page does not have {expected_len} bytes",
        frame.len()
    )))
}

/// Return the check bits after a page: they detect damage and wrong lengths, except one in 256.
fn check(page: &[u8]) -> u32 {
    hash64_seeded(page, page.len() as u64) as u32 & 0xff
}

#[cfg(test)]
mod tests;
