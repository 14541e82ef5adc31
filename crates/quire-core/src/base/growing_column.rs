//! Columns that grow value by value, always in the narrowest width that holds the values so far.
//!
//! A page can have a node for each byte, so a column must not be wider while it is built than in
//! the digest. A value that does not fit widens the whole column, which happens at most twice.

use crate::base::int_column::{Ids, Ints};
use crate::base::vec_pool::Reused;

/// A growing column of unsigned integers.
pub struct GrowingInts {
    bytes: Reused<u8>,
    width: u8,
}

/// A growing column of ids in which -1 means "none".
pub struct GrowingIds {
    bytes: Reused<u8>,
    width: u8,
}

impl GrowingInts {
    /// Start a column with room for `capacity` values of one byte.
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            bytes: Reused::with_capacity(capacity),
            width: 1,
        }
    }

    /// Append a value.
    #[inline(always)]
    #[allow(clippy::inline_always)] // called for every node
    pub fn push(&mut self, value: u32) {
        match self.width {
            1 if value <= 0xff => self.bytes.push(value as u8),
            2 if value <= 0xffff => (self.bytes).extend_from_slice(&(value as u16).to_le_bytes()),
            4 => self.bytes.extend_from_slice(&value.to_le_bytes()),
            _ => self.widen(value),
        }
    }

    #[cold]
    fn widen(&mut self, value: u32) {
        let width = if value <= 0xffff { 2 } else { 4 };
        self.bytes = match (self.width, width) {
            (1, 2) => widened(&self.bytes, |[b]| u16::from(b).to_le_bytes()),
            (1, _) => widened(&self.bytes, |[b]| u32::from(b).to_le_bytes()),
            _ => widened(&self.bytes, |c| {
                u32::from(u16::from_le_bytes(c)).to_le_bytes()
            }),
        };
        self.width = width;
        self.push(value);
    }

    /// Return the values.
    pub fn ints(&self) -> Ints<'_> {
        Ints {
            bytes: &self.bytes,
            width: self.width.into(),
        }
    }

    /// Return the stored bytes and their width.
    pub fn stored(&self) -> (&[u8], u8) {
        (&self.bytes, self.width)
    }
}

impl GrowingIds {
    /// Start a column with room for `capacity` values of one byte.
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            bytes: Reused::with_capacity(capacity),
            width: 1,
        }
    }

    /// Append an id, or -1.
    #[inline(always)]
    #[allow(clippy::inline_always)] // called twice for every node
    pub fn push(&mut self, id: i32) {
        match self.width {
            1 if id <= 0x7f => self.bytes.push(id as u8),
            2 if id <= 0x7fff => self.bytes.extend_from_slice(&(id as i16).to_le_bytes()),
            4 => self.bytes.extend_from_slice(&id.to_le_bytes()),
            _ => self.widen(id),
        }
    }

    #[cold]
    fn widen(&mut self, id: i32) {
        let width = if id <= 0x7fff { 2 } else { 4 };
        self.bytes = match (self.width, width) {
            (1, 2) => widened(&self.bytes, |[b]| i16::from(b.cast_signed()).to_le_bytes()),
            (1, _) => widened(&self.bytes, |[b]| i32::from(b.cast_signed()).to_le_bytes()),
            _ => widened(&self.bytes, |c| {
                i32::from(i16::from_le_bytes(c)).to_le_bytes()
            }),
        };
        self.width = width;
        self.push(id);
    }

    /// Return the ids.
    pub fn ids(&self) -> Ids<'_> {
        Ids {
            bytes: &self.bytes,
            width: self.width.into(),
        }
    }

    /// Return the stored bytes and their width.
    pub fn stored(&self) -> (&[u8], u8) {
        (&self.bytes, self.width)
    }
}

/// Return a column in another width.
fn widened<const FROM: usize, const TO: usize>(
    bytes: &[u8],
    widen: impl Fn([u8; FROM]) -> [u8; TO],
) -> Reused<u8> {
    let (values, _) = bytes.as_chunks();
    let mut wide = Reused::filled(values.len() * TO, 0);
    for (place, &value) in wide.as_chunks_mut().0.iter_mut().zip(values) {
        *place = widen(value);
    }
    wide
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::int_column::{write_ids, write_ints};

    #[test]
    fn a_column_is_what_it_would_be_if_written_at_once() {
        for top in [
            0,
            1,
            0x7f,
            0x80,
            0xff,
            0x100,
            0x7fff,
            0x8000,
            0xffff,
            0x1_0000,
            0x7fff_fffe,
        ] {
            let values = [0, top / 3, top / 2, 1, top, 0];
            let mut growing = GrowingInts::with_capacity(0);
            for &value in &values {
                growing.push(value);
            }
            let mut bytes = Vec::new();
            let width = write_ints(values.iter().copied(), &mut bytes);
            assert_eq!(growing.stored(), (&bytes[..], width));

            let ids = [-1, 0, top as i32 / 2, -1, top as i32, -1];
            let mut growing = GrowingIds::with_capacity(0);
            for &id in &ids {
                growing.push(id);
            }
            let mut bytes = Vec::new();
            let width = write_ids(&ids, top as usize + 1, &mut bytes);
            assert_eq!(growing.stored(), (&bytes[..], width));
        }
    }
}
