//! Navigation derived from child counts: parent, depth, size.
//!
//! Child counts in pre-order are the whole structure (the paper's ST). One
//! forward and one backward pass give everything a walk needs: a subtree is the
//! slice `i .. i + size`, the next sibling is `i + size`.

use crate::draft::NONE;
use crate::error::Error;

/// Parent, depth and subtree size of every node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Derived {
    /// Parent of each node; [`NONE`] for the root.
    pub parent: Vec<u32>,
    /// Depth of each node; 0 for the root.
    pub depth: Vec<u32>,
    /// Nodes in each subtree, itself included.
    pub size: Vec<u32>,
}

/// Derive navigation from child counts, checking that they describe one tree.
///
/// Linear, no recursion. The counts must add up to `n - 1` and never run dry:
/// before the last node some node must still wait for a child.
///
/// ```
/// # use quire_core::tree::derive;
/// let tree = derive(&[2, 0, 1, 0]).unwrap();
/// assert_eq!(tree.size, [4, 1, 2, 1]);
/// assert_eq!(tree.depth, [0, 1, 1, 2]);
/// assert!(derive(&[1, 0, 0]).is_err()); // node 2 has no parent
/// ```
pub fn derive(children: &[u32]) -> Result<Derived, Error> {
    let n = children.len();
    let mut parent = vec![NONE; n];
    let mut depth = vec![0u32; n];
    let mut size = vec![1u32; n];
    // `at` is the node that waits for its next child; `left` counts what each still lacks.
    let mut left = children.to_vec();
    let mut at = 0usize;
    for i in 1..n {
        while left[at] == 0 {
            if at == 0 {
                return Err(Error::Tree {
                    message: format!("child counts end at node {i} of {n}: every parent is full"),
                });
            }
            at = parent[at] as usize;
        }
        left[at] -= 1;
        parent[i] = at as u32;
        depth[i] = depth[at] + 1;
        if left[i] > 0 {
            at = i;
        }
    }
    // All counts used up: then every subtree is complete.
    loop {
        match left.get(at) {
            Some(0) if at > 0 => at = parent[at] as usize,
            Some(0) | None => break,
            Some(&missing) => {
                return Err(Error::Tree {
                    message: format!("node {at} lacks {missing} of its {} children", children[at]),
                });
            }
        }
    }
    for i in (1..n).rev() {
        size[parent[i] as usize] += size[i];
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
            }
        }
    }
}
