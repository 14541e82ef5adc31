//! Navigation derived from child counts: parent, depth, size.
//!
//! Child counts in pre-order are the whole structure (the paper's ST). One pass derives everything
//! needed to walk the tree: a subtree is the slice `i .. i + size`, the next sibling is `i + size`.

use crate::base::error::Error;
use crate::base::int_column::Ints;

/// Stands for "no node" and "no position".
pub const NONE: u32 = u32::MAX;

/// Parent, depth and subtree size of every node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Derived {
    /// Parent of each node; [`NONE`] for the root.
    pub parent: Vec<u32>,
    /// Depth of each node; 0 for the root.
    pub depth: Vec<u32>,
    /// Number of nodes in each subtree, including its root.
    pub size: Vec<u32>,
}

/// Number of nodes that [`check`] handles at once.
const BLOCK: usize = 8;

/// Check that child counts describe one tree, without building anything.
///
/// After each node but the last, at least one node must still expect a child; after the last, none.
/// A node uses up one expected child, so while at least a block's worth is expected, only the sum
/// of the block matters.
pub fn check<T: Copy>(children: &[T], count: impl Fn(T) -> u32) -> Result<(), Error> {
    let n = children.len();
    let (blocks, rest) = children.as_chunks::<BLOCK>();
    let mut waiting = 1u64;
    let check_each = |waiting: &mut u64, start: usize, nodes: &[T]| {
        for (i, &node) in nodes.iter().enumerate() {
            if *waiting == 0 {
                let i = start + i;
                return Err(Error::Tree {
                    message: format!("child counts leave no parent for node {i} of {n}"),
                });
            }
            *waiting = *waiting - 1 + u64::from(count(node));
        }
        Ok(())
    };
    for (i, block) in blocks.iter().enumerate() {
        if waiting >= BLOCK as u64 {
            let sum: u64 = block.iter().map(|&node| u64::from(count(node))).sum();
            waiting = waiting - BLOCK as u64 + sum;
        } else {
            check_each(&mut waiting, i * BLOCK, block)?;
        }
    }
    check_each(&mut waiting, n - rest.len(), rest)?;
    if waiting == 0 {
        return Ok(());
    }
    Err(Error::Tree {
        message: format!("child counts need {waiting} more nodes than the {n} given"),
    })
}

/// Check a column of child counts with [`check`].
pub fn check_column(children: Ints) -> Result<(), Error> {
    let (bytes, width) = children.stored();
    match width {
        1 => check(bytes, u32::from),
        2 => check(bytes.as_chunks().0, |c| u16::from_le_bytes(c).into()),
        _ => check(bytes.as_chunks().0, u32::from_le_bytes),
    }
}

/// Derive navigation from child counts, checking that they describe one tree.
///
/// Linear, no recursion. The counts must add up to `n - 1`, and before the last node some node must
/// always expect another child.
pub fn derive(children: &[u32]) -> Result<Derived, Error> {
    let n = children.len();
    let mut parent = Vec::with_capacity(n);
    let mut depth = Vec::with_capacity(n);
    let mut size = vec![1u32; n];
    // The ancestors of `at` that still expect children, and how many.
    let mut waiting: Vec<(u32, u32)> = Vec::with_capacity(64);
    let (mut at, mut left) = (NONE, 1);
    for (i, &count) in children.iter().enumerate() {
        if left == 0 {
            return Err(Error::Tree {
                message: format!("child counts leave no parent for node {i} of {n}"),
            });
        }
        parent.push(at);
        depth.push(waiting.len() as u32);
        left -= 1;
        if count > 0 {
            waiting.push((at, left));
            (at, left) = (i as u32, count);
            continue;
        }
        // A leaf may complete its parent, and the parent its own parent.
        while left == 0
            && let Some(above) = waiting.pop()
        {
            size[at as usize] = i as u32 + 1 - at;
            (at, left) = above;
        }
    }
    if left > 0 && at != NONE {
        let of = children[at as usize];
        return Err(Error::Tree {
            message: format!("node {at} is missing {left} of its {of} children"),
        });
    }
    Ok(Derived {
        parent,
        depth,
        size,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, by recursion.
    fn oracle(children: &[u32]) -> Option<Derived> {
        fn walk(
            children: &[u32],
            at: &mut usize,
            parent: u32,
            depth: u32,
            out: &mut Derived,
        ) -> Option<()> {
            let i = *at;
            let count = *children.get(i)?;
            *at += 1;
            out.parent.push(parent);
            out.depth.push(depth);
            out.size.push(0);
            for _ in 0..count {
                walk(children, at, i as u32, depth + 1, out)?;
            }
            out.size[i] = (*at - i) as u32;
            Some(())
        }
        let mut out = Derived::default();
        let mut at = 0;
        walk(children, &mut at, NONE, 0, &mut out)?;
        (at == children.len()).then_some(out)
    }

    #[test]
    fn derive_equals_the_recursive_definition_on_every_small_sequence() {
        for n in 1..6usize {
            for code in 0..4usize.pow(n as u32) {
                let children: Vec<u32> = (0..n)
                    .map(|i| (code / 4usize.pow(i as u32) % 4) as u32)
                    .collect();
                assert_eq!(derive(&children).ok(), oracle(&children), "{children:?}");
                let checked = check(&children, |count| count).is_ok();
                assert_eq!(checked, oracle(&children).is_some(), "{children:?}");
            }
        }
    }

    // The tree ends at every position of a block, with few and with many children expected before
    // it.
    #[test]
    fn check_equals_derive_on_sequences_of_several_blocks() {
        for first in 0..4 * BLOCK as u32 {
            for second in 0..4u32 {
                for n in 1..5 * BLOCK {
                    let mut children = vec![0; n];
                    children[0] = first;
                    children[n / 2] += second;
                    let found = check(&children, |count| count);
                    assert_eq!(found.is_ok(), derive(&children).is_ok(), "{children:?}");
                }
            }
        }
    }

    #[test]
    fn check_refuses_missing_parents_and_missing_children() {
        assert!(check(&[2u8, 0, 1, 0], u32::from).is_ok());
        assert!(check(&[1u8, 0, 0], u32::from).is_err()); // node 2 has no parent
        assert!(check(&[2u8, 0], u32::from).is_err()); // node 0 lacks a child
    }

    #[test]
    fn derive_gives_sizes_and_depths() {
        let tree = derive(&[2, 0, 1, 0]).unwrap();
        assert_eq!(tree.size, [4, 1, 2, 1]);
        assert_eq!(tree.depth, [0, 1, 1, 2]);
        assert!(derive(&[1, 0, 0]).is_err()); // node 2 has no parent
    }
}
