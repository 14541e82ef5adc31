//! Positions among siblings, for all nodes of a page at once.

use crate::page::vocabulary::Class;
use crate::select::Page;

/// Marks a tag whose nodes do not count.
pub(super) const NOT_COUNTED: u32 = u32::MAX;

/// The position of every node among the siblings of its key, from 1; 0 for a node without such
/// siblings, and for nodes that do not count.
///
/// `keys` has the key of each tag, below `key_count`, or [`NOT_COUNTED`]. Children of a node
/// that is looked `through` count as children of the node around it. One pass: each node is seen
/// once, by the node it is a child of.
pub(super) fn positions(
    page: &dyn Page,
    through: impl Fn(Class) -> bool,
    keys: &[u32],
    key_count: usize,
) -> Vec<u32> {
    let (sizes, tags) = (page.sizes(), page.tags());
    let through: Vec<bool> = (0..page.tag_count())
        .map(|tag| through(page.tag_class(tag)))
        .collect();
    let mut positions = vec![0; page.n() as usize];
    // By key: the parent that counted last, how many it has counted, and the first of them.
    let mut counters = vec![(u32::MAX, 0_u32, 0_u32); key_count];
    for parent in 0..page.n() {
        if parent > 0 && through[tags[parent as usize] as usize] {
            continue;
        }
        let end = parent + sizes[parent as usize];
        let mut child = parent + 1;
        while child < end {
            let tag = tags[child as usize] as usize;
            if through[tag] {
                child += 1;
                continue;
            }
            if keys[tag] != NOT_COUNTED {
                let counter = &mut counters[keys[tag] as usize];
                if counter.0 != parent {
                    *counter = (parent, 0, child);
                }
                counter.1 += 1;
                if counter.1 > 1 {
                    positions[child as usize] = counter.1;
                    positions[counter.2 as usize] = 1;
                }
            }
            child += sizes[child as usize];
        }
    }
    positions
}
