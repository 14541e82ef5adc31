//! Integer columns in the narrowest width that holds their values.
//!
//! A column is stored little-endian in 1, 2 or 4 bytes per value, the same in memory and in a file,
//! so a loaded digest is read in place. Reading one value costs a predictable branch. A loop over a
//! whole column should use [`Ints::to_vec`], which is one vectorised pass.

use std::ops::Range;

/// A column of unsigned integers.
#[derive(Clone, Copy, Debug)]
pub struct Ints<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) width: usize,
}

impl<'a> Ints<'a> {
    /// View `bytes` as a column; `None` unless the width is 1, 2 or 4 and divides the length.
    pub fn new(bytes: &'a [u8], width: u8) -> Option<Self> {
        let width = width as usize;
        (matches!(width, 1 | 2 | 4) && bytes.len().is_multiple_of(width))
            .then_some(Self { bytes, width })
    }

    /// Return the number of values.
    pub fn len(self) -> usize {
        self.bytes.len() / self.width
    }

    /// Whether the column is empty.
    pub fn is_empty(self) -> bool {
        self.bytes.is_empty()
    }

    /// Return the value at `i`. Panics outside the column, like a slice.
    #[inline]
    pub fn get(self, i: usize) -> u32 {
        match self.width {
            1 => u32::from(self.bytes[i]),
            2 => u32::from(u16::from_le_bytes([
                self.bytes[2 * i],
                self.bytes[2 * i + 1],
            ])),
            _ => {
                let at = &self.bytes[4 * i..4 * i + 4];
                u32::from_le_bytes([at[0], at[1], at[2], at[3]])
            }
        }
    }

    /// Return all values as `u32`.
    pub fn to_vec(self) -> Vec<u32> {
        match self.width {
            1 => self.bytes.iter().map(|&b| u32::from(b)).collect(),
            2 => (self.bytes.chunks_exact(2))
                .map(|c| u32::from(u16::from_le_bytes([c[0], c[1]])))
                .collect(),
            _ => (self.bytes.chunks_exact(4))
                .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
                .collect(),
        }
    }

    /// Replace `out` by the values at `part`.
    pub fn copy_to(self, part: Range<usize>, out: &mut Vec<u32>) {
        out.clear();
        let bytes = &self.bytes[part.start * self.width..part.end * self.width];
        match self.width {
            1 => out.extend(bytes.iter().map(|&b| u32::from(b))),
            2 => {
                out.extend((bytes.as_chunks().0.iter()).map(|&c| u32::from(u16::from_le_bytes(c))));
            }
            _ => out.extend((bytes.as_chunks().0.iter()).map(|&c| u32::from_le_bytes(c))),
        }
    }

    /// Call `each` with every position and its value. One pass over the stored bytes.
    #[inline]
    pub fn for_each(self, mut each: impl FnMut(usize, u32)) {
        // In blocks, so that there is one place that calls `each`: it is then part of the loop.
        let mut block = [0; 512];
        for start in (0..self.len()).step_by(block.len()) {
            let length = block.len().min(self.len() - start);
            let block = &mut block[..length];
            match self.width {
                1 => zip(block, &self.bytes[start..], |out, &b| *out = b.into()),
                2 => zip(block, &self.bytes.as_chunks().0[start..], |out, &c| {
                    *out = u16::from_le_bytes(c).into();
                }),
                _ => zip(block, &self.bytes.as_chunks().0[start..], |out, &c| {
                    *out = u32::from_le_bytes(c);
                }),
            }
            for (i, &value) in block.iter().enumerate() {
                each(start + i, value);
            }
        }
    }

    /// Return the stored bytes and their width, for code with a separate pass for each width.
    #[inline]
    pub fn stored(self) -> (&'a [u8], usize) {
        (self.bytes, self.width)
    }

    /// Look up the values from `start` on in two tables, one continuing the other, and write the
    /// results to `out`; 0 for values beyond both. The first table has an entry for every one-byte
    /// value, so those are never beyond it.
    pub fn look_up(self, start: usize, table: &[u8; 256], beyond: &[u8], out: &mut [u8]) {
        let at = |value: u32| {
            let value = value as usize;
            *(table.get(value).or_else(|| beyond.get(value - table.len()))).unwrap_or(&0)
        };
        match self.width {
            1 => zip(out, &self.bytes[start..], |out, &b| {
                *out = table[b as usize];
            }),
            2 => zip(out, &self.bytes.as_chunks().0[start..], |out, &c| {
                *out = at(u16::from_le_bytes(c).into());
            }),
            _ => zip(out, &self.bytes.as_chunks().0[start..], |out, &c| {
                *out = at(u32::from_le_bytes(c));
            }),
        }
    }

    /// Set the bits of `mark` in `out` for values from `start` on that are not 0.
    pub fn mark_positive(self, start: usize, mark: u8, out: &mut [u8]) {
        let of = |positive: bool| if positive { mark } else { 0 };
        match self.width {
            1 => zip(out, &self.bytes[start..], |out, &b| *out |= of(b != 0)),
            2 => zip(out, &self.bytes.as_chunks().0[start..], |out, &c| {
                *out |= of(u16::from_le_bytes(c) != 0);
            }),
            _ => zip(out, &self.bytes.as_chunks().0[start..], |out, &c| {
                *out |= of(u32::from_le_bytes(c) != 0);
            }),
        }
    }

    /// Count how often each value below `values` occurs. Larger values are not counted.
    pub fn histogram(self, values: usize) -> Vec<u32> {
        if self.width != 1 {
            let mut counts = vec![0; values];
            for i in 0..self.len() {
                if let Some(count) = counts.get_mut(self.get(i) as usize) {
                    *count += 1;
                }
            }
            return counts;
        }
        // Four tables in turn: with one, runs of equal values would wait for the same counter to be
        // stored.
        let mut tables = [[0u32; 256]; 4];
        let (fours, rest) = self.bytes.as_chunks::<4>();
        for four in fours {
            for (table, &value) in tables.iter_mut().zip(four) {
                table[value as usize] += 1;
            }
        }
        for &value in rest {
            tables[0][value as usize] += 1;
        }
        (0..values)
            .map(|value| tables.iter().filter_map(|table| table.get(value)).sum())
            .collect()
    }

    /// Return the largest value, 0 if the column is empty. One pass over the stored bytes.
    pub fn max(self) -> u32 {
        match self.width {
            1 => u32::from(self.bytes.iter().copied().max().unwrap_or(0)),
            2 => u32::from(
                (self.bytes.chunks_exact(2))
                    .map(|c| u16::from_le_bytes([c[0], c[1]]))
                    .fold(0, u16::max),
            ),
            _ => (self.bytes.chunks_exact(4))
                .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
                .fold(0, u32::max),
        }
    }

    /// Return the sum of all values.
    pub fn sum(self) -> u64 {
        match self.width {
            1 => self.bytes.iter().map(|&b| u64::from(b)).sum(),
            2 => (self.bytes.chunks_exact(2))
                .map(|c| u64::from(u16::from_le_bytes([c[0], c[1]])))
                .sum(),
            _ => (self.bytes.chunks_exact(4))
                .map(|c| u64::from(u32::from_le_bytes([c[0], c[1], c[2], c[3]])))
                .sum(),
        }
    }

    /// Read the column as lengths and return the offsets of the entries: one more than there are
    /// lengths.
    pub fn offsets(self) -> Vec<u32> {
        let mut offsets = Vec::with_capacity(self.len() + 1);
        let mut at = 0u32;
        offsets.push(0);
        for i in 0..self.len() {
            at = at.wrapping_add(self.get(i));
            offsets.push(at);
        }
        offsets
    }
}

/// Call `each` with the values of two slices side by side, up to the end of the shorter one.
#[inline]
fn zip<T, U>(out: &mut [T], values: &[U], each: impl Fn(&mut T, &U)) {
    out.iter_mut()
        .zip(values)
        .for_each(|(out, value)| each(out, value));
}

/// A column of ids in which -1 means "none".
#[derive(Clone, Copy, Debug)]
pub struct Ids<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) width: usize,
}

impl<'a> Ids<'a> {
    /// View `bytes` as a column; `None` unless the width is 1, 2 or 4 and divides the length.
    pub fn new(bytes: &'a [u8], width: u8) -> Option<Self> {
        Ints::new(bytes, width).map(|ints| Self {
            bytes: ints.bytes,
            width: ints.width,
        })
    }

    /// Return the number of values.
    pub fn len(self) -> usize {
        self.bytes.len() / self.width
    }

    /// Whether the column is empty.
    pub fn is_empty(self) -> bool {
        self.bytes.is_empty()
    }

    /// Return the id at `i`, or -1. Panics outside the column, like a slice.
    #[inline]
    pub fn get(self, i: usize) -> i32 {
        match self.width {
            1 => i32::from(self.bytes[i].cast_signed()),
            2 => i32::from(i16::from_le_bytes([
                self.bytes[2 * i],
                self.bytes[2 * i + 1],
            ])),
            _ => {
                let at = &self.bytes[4 * i..4 * i + 4];
                i32::from_le_bytes([at[0], at[1], at[2], at[3]])
            }
        }
    }

    /// Return all ids as `i32`.
    pub fn to_vec(self) -> Vec<i32> {
        match self.width {
            1 => self
                .bytes
                .iter()
                .map(|&b| i32::from(b.cast_signed()))
                .collect(),
            2 => (self.bytes.chunks_exact(2))
                .map(|c| i32::from(i16::from_le_bytes([c[0], c[1]])))
                .collect(),
            _ => (self.bytes.chunks_exact(4))
                .map(|c| i32::from_le_bytes([c[0], c[1], c[2], c[3]]))
                .collect(),
        }
    }

    /// Replace `out` by the ids at `part`.
    pub fn copy_to(self, part: Range<usize>, out: &mut Vec<i32>) {
        out.clear();
        let bytes = &self.bytes[part.start * self.width..part.end * self.width];
        match self.width {
            1 => out.extend(bytes.iter().map(|&b| i32::from(b.cast_signed()))),
            2 => {
                out.extend((bytes.as_chunks().0.iter()).map(|&c| i32::from(i16::from_le_bytes(c))));
            }
            _ => out.extend((bytes.as_chunks().0.iter()).map(|&c| i32::from_le_bytes(c))),
        }
    }

    /// Return the stored bytes and their width, for code with a separate pass for each width.
    #[inline]
    pub fn stored(self) -> (&'a [u8], usize) {
        (self.bytes, self.width)
    }

    /// Set the bits of `mark` in `out` for ids from `start` on that are not "none".
    pub fn mark_some(self, start: usize, mark: u8, out: &mut [u8]) {
        let of = |some: bool| if some { mark } else { 0 };
        match self.width {
            1 => zip(out, &self.bytes[start..], |out, &b| {
                *out |= of(b.cast_signed() >= 0);
            }),
            2 => zip(out, &self.bytes.as_chunks().0[start..], |out, &c| {
                *out |= of(i16::from_le_bytes(c) >= 0);
            }),
            _ => zip(out, &self.bytes.as_chunks().0[start..], |out, &c| {
                *out |= of(i32::from_le_bytes(c) >= 0);
            }),
        }
    }

    /// Return the sum of a function of every id. One pass over the stored bytes.
    pub fn map_sum(self, of: impl Fn(i32) -> u64) -> u64 {
        match self.width {
            1 => (self.bytes.iter())
                .map(|&b| of(i32::from(b.cast_signed())))
                .sum(),
            2 => (self.bytes.as_chunks().0.iter())
                .map(|&c| of(i32::from(i16::from_le_bytes(c))))
                .sum(),
            _ => (self.bytes.as_chunks().0.iter())
                .map(|&c| of(i32::from_le_bytes(c)))
                .sum(),
        }
    }

    /// Return the smallest and largest id, (-1, -1) if the column is empty. One pass over the
    /// stored bytes.
    pub fn range(self) -> (i32, i32) {
        fn of(values: impl Iterator<Item = i32>) -> (i32, i32) {
            values.fold((-1, -1), |(low, high), v| (low.min(v), high.max(v)))
        }
        match self.width {
            1 => {
                let (low, high) = (self.bytes.iter()).fold((-1i8, -1i8), |(l, h), &b| {
                    (l.min(b.cast_signed()), h.max(b.cast_signed()))
                });
                (i32::from(low), i32::from(high))
            }
            2 => {
                let (low, high) = (self.bytes.chunks_exact(2))
                    .map(|c| i16::from_le_bytes([c[0], c[1]]))
                    .fold((-1i16, -1i16), |(l, h), v| (l.min(v), h.max(v)));
                (i32::from(low), i32::from(high))
            }
            _ => {
                of((self.bytes.chunks_exact(4))
                    .map(|c| i32::from_le_bytes([c[0], c[1], c[2], c[3]])))
            }
        }
    }
}

/// Return the narrowest width for values up to `max`.
pub fn width_of(max: u32) -> usize {
    match max {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        _ => 4,
    }
}

/// Append `values` to `out` in the narrowest width; return that width.
pub fn write_ints(values: impl ExactSizeIterator<Item = u32> + Clone, out: &mut Vec<u8>) -> u8 {
    let max = values.clone().fold(0, u32::max);
    if max <= 0xff {
        out.extend(values.map(|v| v as u8));
        1
    } else if max <= 0xffff {
        write(values.map(|v| (v as u16).to_le_bytes()), out)
    } else {
        write(values.map(u32::to_le_bytes), out)
    }
}

/// Append ids below `count` (or -1) to `out` in the narrowest width; return that width.
pub fn write_ids(values: &[i32], count: usize, out: &mut Vec<u8>) -> u8 {
    if count <= 0x80 {
        out.extend(values.iter().map(|&v| (v as i8).cast_unsigned()));
        1
    } else if count <= 0x8000 {
        write(values.iter().map(|&v| (v as i16).to_le_bytes()), out)
    } else {
        write(values.iter().map(|v| v.to_le_bytes()), out)
    }
}

/// Append values of `WIDTH` bytes; return that width. The space is reserved first, so the loop only
/// copies.
fn write<const WIDTH: usize>(
    values: impl ExactSizeIterator<Item = [u8; WIDTH]>,
    out: &mut Vec<u8>,
) -> u8 {
    let start = out.len();
    out.resize(start + values.len() * WIDTH, 0);
    let (places, _) = out[start..].as_chunks_mut();
    for (place, value) in places.iter_mut().zip(values) {
        *place = value;
    }
    WIDTH as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_at_every_width_boundary() {
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
            let values = [0, top / 2, top];
            let mut bytes = Vec::new();
            let width = write_ints(values.iter().copied(), &mut bytes);
            let ints = Ints::new(&bytes, width).unwrap();
            assert_eq!(ints.to_vec(), values);
            assert_eq!((0..3).map(|i| ints.get(i)).collect::<Vec<_>>(), values);
            assert_eq!(
                (ints.max(), ints.sum()),
                (top, u64::from(top / 2) + u64::from(top))
            );

            let ids = [-1, 0, top as i32];
            let mut bytes = Vec::new();
            let width = write_ids(&ids, top as usize + 1, &mut bytes);
            let column = Ids::new(&bytes, width).unwrap();
            assert_eq!(column.to_vec(), ids);
            assert_eq!((0..3).map(|i| column.get(i)).collect::<Vec<_>>(), ids);
            assert_eq!(column.range(), (-1, top as i32));
        }
    }

    #[test]
    fn marks_are_those_of_the_single_values() {
        let mut near = [0; 256];
        (near.iter_mut().enumerate()).for_each(|(value, out)| *out = value as u8 ^ 0x55);
        let far = [7u8, 9];
        for width in [1u8, 2, 4] {
            let bytes: Vec<u8> = [0u32, 1, 0x80, 0xff, 0x100, 0x101, 0x102, 0x8000, u32::MAX]
                .iter()
                .flat_map(|value| value.to_le_bytes()[..width as usize].to_vec())
                .collect();
            let (ints, ids) = (
                Ints::new(&bytes, width).unwrap(),
                Ids::new(&bytes, width).unwrap(),
            );
            for start in 0..ints.len() {
                let mut out = vec![1; ints.len() - start];
                ints.mark_positive(start, 4, &mut out);
                ids.mark_some(start, 8, &mut out);
                let mut found = vec![0; ints.len() - start];
                ints.look_up(start, &near, &far, &mut found);
                for (i, (out, found)) in out.into_iter().zip(found).enumerate() {
                    let (value, id) = (ints.get(start + i), ids.get(start + i));
                    assert_eq!(out, 1 | u8::from(value > 0) << 2 | u8::from(id >= 0) << 3);
                    let expected = match value {
                        0..256 => value as u8 ^ 0x55,
                        256 | 257 => far[value as usize - 256],
                        _ => 0,
                    };
                    assert_eq!(found, expected, "{value}");
                }
            }
        }
    }

    #[test]
    fn a_histogram_counts_each_value() {
        assert_eq!(Ints::new(&[2, 0, 2], 1).unwrap().histogram(3), [1, 0, 2]);
    }

    #[test]
    fn offsets_are_running_sums_of_lengths() {
        assert_eq!(Ints::new(&[2, 0, 3], 1).unwrap().offsets(), [0, 2, 2, 5]);
    }
}
