//! Twins: which subtrees occur on both sides, and how often.
//!
//! Every distinct subtree hash of both pages gets a small number, so that counts
//! and lists of candidates are plain arrays. A subtree that does not occur on the other side is
//! *novel*; so is everything above it. One pass over each side.

use super::tree::Tree;

/// The numbers of equal subtrees, and how often each occurs.
pub struct Twins {
    /// Number of each subtree of the old side.
    pub old: Vec<u32>,
    /// Number of each subtree of the new side.
    pub new: Vec<u32>,
    /// How often each number occurs on the old side, and on the new one.
    pub counts: Vec<(u32, u32)>,
}

impl Twins {
    /// Number the subtrees of both sides.
    pub fn new(old: Tree, new: Tree) -> Self {
        let mut table = Table::new(old.n() + new.n());
        let mut counts: Vec<(u32, u32)> = Vec::new();
        let mut number = |hash: u64| {
            let id = table.number(hash, counts.len() as u32);
            if id as usize == counts.len() {
                counts.push((0, 0));
            }
            id
        };
        let old: Vec<u32> = old.side.hash.iter().map(|&hash| number(hash)).collect();
        let new: Vec<u32> = new.side.hash.iter().map(|&hash| number(hash)).collect();
        for &id in &old {
            counts[id as usize].0 += 1;
        }
        for &id in &new {
            counts[id as usize].1 += 1;
        }
        Self { old, new, counts }
    }

    /// Whether a subtree of the old side does not occur on the new one.
    #[inline]
    pub fn novel_old(&self, node: u32) -> bool {
        self.counts[self.old[node as usize] as usize].1 == 0
    }

    /// Whether a subtree of the new side does not occur on the old one.
    #[inline]
    pub fn novel_new(&self, node: u32) -> bool {
        self.counts[self.new[node as usize] as usize].0 == 0
    }
}

/// Numbers for hashes, by open addressing. The hashes are well mixed and keyed.
struct Table {
    slots: Vec<(u64, u32)>,
}

impl Table {
    const FREE: u32 = u32::MAX;

    fn new(entries: usize) -> Self {
        let size = (entries * 2).next_power_of_two().max(16);
        Self {
            slots: vec![(0, Self::FREE); size],
        }
    }

    /// The number of a hash: its own, or `next` when it is new.
    #[inline]
    fn number(&mut self, hash: u64, next: u32) -> u32 {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let (found, id) = self.slots[slot];
            if id == Self::FREE {
                self.slots[slot] = (hash, next);
                return next;
            }
            if found == hash {
                return id;
            }
            slot = (slot + 1) & mask;
        }
    }
}
