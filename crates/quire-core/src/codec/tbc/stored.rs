//! A delta as bytes.
//!
//! A sequence of steps, each with three numbers and new bytes: bytes of the reference to skip,
//! bytes to insert, bytes to copy, then the inserted bytes. Numbers are in base 128, seven bits per
//! byte, least significant first; the top bit is set if more follow. It ends when the page is
//! complete, and nothing may follow.
//!
//! Counts are in bytes, not tokens, so that reading is a few copies and need not tokenize the
//! reference.

use super::merge::Step;
use super::tokens::Tokens;
use crate::base::error::Error;
use crate::codec::refused;

/// Write the steps from the reference, with tokens `one`, to the page, with tokens `other`.
#[must_use]
pub fn write(page: &[u8], one: &Tokens, other: &Tokens, steps: &[Step]) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut at, mut at_page) = (0, 0);
    for step in steps {
        let skipped = one.start(at + step.deleted) - one.start(at);
        let new = other.start(at_page)..other.start(at_page + step.inserted);
        at += step.deleted;
        at_page += step.inserted;
        let copied = one.start(at + step.copied) - one.start(at);
        at += step.copied;
        at_page += step.copied;
        // A skip at the very end is not written.
        let is_rest = new.is_empty() && copied == 0;
        if !is_rest {
            for number in [skipped, new.len(), copied] {
                write_number(&mut out, number);
            }
            out.extend_from_slice(&page[new]);
        }
    }
    out
}

/// Read a page of `length` bytes.
pub fn read(reference: &[u8], mut delta: &[u8], length: usize) -> Result<Vec<u8>, Error> {
    // Grows step by step: a damaged length must not allocate memory that the delta cannot fill.
    let mut page = Vec::with_capacity(length.min(reference.len() + delta.len()));
    let mut at = 0usize;
    while page.len() < length {
        let skipped = read_number(&mut delta)?;
        let inserted = read_number(&mut delta)?;
        let copied = read_number(&mut delta)?;
        if inserted > delta.len() || inserted > length - page.len() {
            return Err(refused(format!(
                "delta is damaged: it inserts {inserted} bytes, but {} are left in it and the \
                 page lacks {}",
                delta.len(),
                length - page.len()
            )));
        }
        let (new, rest) = delta.split_at(inserted);
        page.extend_from_slice(new);
        delta = rest;
        let from = at
            .checked_add(skipped)
            .filter(|&from| from <= reference.len());
        let part = from.and_then(|from| reference[from..].get(..copied));
        let Some(part) = part.filter(|part| part.len() <= length - page.len()) else {
            return Err(refused(format!(
                "delta is damaged: it copies {copied} bytes from {skipped} after {at}, but the \
                 reference has {}",
                reference.len()
            )));
        };
        page.extend_from_slice(part);
        if inserted == 0 && copied == 0 {
            return Err(refused("delta is damaged: one of its steps adds no bytes"));
        }
        at += skipped + copied;
    }
    if delta.is_empty() {
        Ok(page)
    } else {
        Err(refused(format!(
            "delta is damaged: {} unused bytes follow its page of {length} bytes",
            delta.len()
        )))
    }
}

fn write_number(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Maximum length of a number: sources are shorter than 2^35 bytes.
const MOST_BYTES: usize = 5;

fn read_number(delta: &mut &[u8]) -> Result<usize, Error> {
    let mut number = 0;
    for at in 0..MOST_BYTES {
        let Some((&byte, rest)) = delta.split_first() else {
            return Err(refused("delta is cut off: it ends in the middle of a step"));
        };
        *delta = rest;
        number |= usize::from(byte & 0x7f) << (7 * at);
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(refused(format!(
        "delta is damaged: a number has more than {MOST_BYTES} bytes"
    )))
}
