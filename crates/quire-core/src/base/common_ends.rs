//! The parts that two lists have in common at their starts and ends.

/// How many items are equal at the start and at the end of two lists. They do not overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommonEnds {
    /// Equal items at the start.
    pub start: usize,
    /// Equal items at the end.
    pub end: usize,
}

impl CommonEnds {
    /// Count the equal items of two lists.
    pub fn of<T: Copy + Eq>(one: &[T], other: &[T]) -> Self {
        let start = common_start(one, other);
        let end = common_end(&one[start..], &other[start..]);
        Self { start, end }
    }

    /// Return the smaller count at each end.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.min(other.end),
        }
    }

    /// Copy what is known of equal items from one list to the other.
    pub fn copy<T: Copy>(self, from: &[T], to: &mut [T]) {
        to[..self.start].copy_from_slice(&from[..self.start]);
        let (behind, rest) = (from.len() - self.end, to.len() - self.end);
        to[rest..].copy_from_slice(&from[behind..]);
    }
}

/// Items compared at once.
const BLOCK: usize = 32;

/// Count the equal items at the start of two lists.
pub fn common_start<T: Copy + Eq>(one: &[T], other: &[T]) -> usize {
    let blocks = (one.as_chunks::<BLOCK>().0.iter()).zip(other.as_chunks::<BLOCK>().0);
    let equal = BLOCK * blocks.take_while(|(a, b)| a == b).count();
    let rest = one[equal..].iter().zip(&other[equal..]);
    equal + rest.take_while(|(a, b)| a == b).count()
}

/// Count the equal items at the end of two lists.
pub fn common_end<T: Copy + Eq>(one: &[T], other: &[T]) -> usize {
    let (blocks, others) = (one.as_rchunks::<BLOCK>().1, other.as_rchunks::<BLOCK>().1);
    let blocks = blocks.iter().rev().zip(others.iter().rev());
    let equal = BLOCK * blocks.take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[..one.len() - equal], &other[..other.len() - equal]);
    let rest = one.iter().rev().zip(other.iter().rev());
    equal + rest.take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_do_not_overlap() {
        let ends = |one: &[u8], other: &[u8]| {
            let CommonEnds { start, end } = CommonEnds::of(one, other);
            (start, end)
        };
        assert_eq!(ends(b"abc", b"abc"), (3, 0));
        assert_eq!(ends(b"aa", b"aaa"), (2, 0));
        assert_eq!(ends(b"abxcd", b"abcd"), (2, 2));
        assert_eq!(ends(b"", b"a"), (0, 0));
        let long: Vec<u8> = (0..200).collect();
        let mut other = long.clone();
        other[100] = 0;
        assert_eq!(ends(&long, &other), (100, 99));
        other.insert(100, 7);
        assert_eq!(ends(&long, &other), (100, 99));
    }

    #[test]
    fn known_items_are_copied_to_both_ends() {
        let mut to = [0; 4];
        CommonEnds { start: 1, end: 2 }.copy(&[1, 2, 3, 4, 5], &mut to);
        assert_eq!(to, [1, 0, 4, 5]);
    }
}
