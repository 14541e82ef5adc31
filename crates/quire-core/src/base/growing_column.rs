//! Columns that grow part by part, always in the narrowest width that holds the values so far.
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

    /// Append values. They are narrowed in one loop without decisions.
    pub fn extend(&mut self, values: &[u32]) {
        let most = values.iter().fold(0, |most, &value| most.max(value));
        if most > u32::MAX >> (32 - 8 * self.width) {
            self.widen(most);
        }
        match self.width {
            1 => narrow(&mut self.bytes, values, |v| [v as u8]),
            2 => narrow(&mut self.bytes, values, |v| (v as u16).to_le_bytes()),
            _ => narrow(&mut self.bytes, values, u32::to_le_bytes),
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

    /// Append ids, or -1. They are narrowed in one loop without decisions.
    pub fn extend(&mut self, ids: &[i32]) {
        let most = ids.iter().fold(0, |most, &id| most.max(id));
        if most > i32::MAX >> (32 - 8 * self.width) {
            self.widen(most);
        }
        match self.width {
            1 => narrow(&mut self.bytes, ids, |id| [id as u8]),
            2 => narrow(&mut self.bytes, ids, |id| (id as i16).to_le_bytes()),
            _ => narrow(&mut self.bytes, ids, i32::to_le_bytes),
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

/// Append values in the width of a column.
fn narrow<T: Copy, const WIDTH: usize>(
    bytes: &mut Vec<u8>,
    values: &[T],
    narrowed: impl Fn(T) -> [u8; WIDTH],
) {
    let start = bytes.len();
    bytes.resize(start + values.len() * WIDTH, 0);
    let (places, _) = bytes[start..].as_chunks_mut();
    for (place, &value) in places.iter_mut().zip(values) {
        *place = narrowed(value);
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
            for values in values.chunks(2) {
                growing.extend(values);
            }
            let mut bytes = Vec::new();
            let width = write_ints(values.iter().copied(), &mut bytes);
            assert_eq!(growing.stored(), (&bytes[..], width));

            let ids = [-1, 0, top as i32 / 2, -1, top as i32, -1];
            let mut growing = GrowingIds::with_capacity(0);
            for ids in ids.chunks(2) {
                growing.extend(ids);
            }
            let mut bytes = Vec::new();
            let width = write_ids(&ids, top as usize + 1, &mut bytes);
            assert_eq!(growing.stored(), (&bytes[..], width));
        }
    }
}
