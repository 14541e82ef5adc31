//! A delta as bytes.
//!
//! Steps in a row, each three numbers and new bytes: bytes of the reference to skip, bytes to insert, bytes to copy, then
//! the inserted bytes. Numbers are in base 128, seven bits a byte, the least first; the top bit says that more
//! follow. It ends where the page is complete, and nothing may follow.
//!
//! Bytes and not tokens are counted, so that reading is a few copies and need not cut the reference.

use super::merge::Step;
use super::tokens::Tokens;
use crate::base::error::Error;
use crate::codec::refused;

/// Write the steps from the reference, cut into `one`, to the page, cut into `other`.
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
        // What is skipped at the very end need not be said.
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
    // Asked for as it grows: a damaged length must not take memory that the delta cannot fill.
    let mut page = Vec::with_capacity(length.min(reference.len() + delta.len()));
    let mut at = 0usize;
    while page.len() < length {
        let skipped = read_number(&mut delta)?;
        let inserted = read_number(&mut delta)?;
        let copied = read_number(&mut delta)?;
        if inserted > delta.len() || inserted > length - page.len() {
            return Err(refused(format!(
                "a delta inserts {inserted} bytes, but has {} and {} are missing",
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
                "a delta copies {copied} bytes from {skipped} behind {at}, but the reference has {}",
                reference.len()
            )));
        };
        page.extend_from_slice(part);
        if inserted == 0 && copied == 0 {
            return Err(refused("a delta has a step that makes nothing"));
        }
        at += skipped + copied;
    }
    if delta.is_empty() {
        Ok(page)
    } else {
        Err(refused(format!(
            "a delta goes on for {} bytes after its page of {length}",
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

/// Longest number: sources are shorter than 2^35 bytes.
const MOST_BYTES: usize = 5;

fn read_number(delta: &mut &[u8]) -> Result<usize, Error> {
    let mut number = 0;
    for at in 0..MOST_BYTES {
        let Some((&byte, rest)) = delta.split_first() else {
            return Err(refused("a delta ends within a step"));
        };
        *delta = rest;
        number |= usize::from(byte & 0x7f) << (7 * at);
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(refused("a number in a delta does not end"))
}
