//! Separates pairs that moved although their texts have little in common.
//!
//! A node that stayed in its place may have a new text: its place and the partners around it are
//! evidence enough that, say, a cell was updated. For a node that moved, only the text is evidence.
//! So a pair that moved, or is inside a part that moved, stays a pair only if at least half of the
//! words of the longer text are in the other one, counted with repetitions. All other pairs are
//! separated: the old text was deleted and the new one inserted.
//!
//! Words come from texts only. Comments and scripts have none; they go where their place goes.
//! Two cases need care:
//!
//! * A text too short to be recognised elsewhere (a price, a counter) depends on its place. In a
//!   row that moved it stays with its partner if the row does; it never moves on its own.
//! * When an element is separated, the nodes below it move on their own and need evidence of their
//!   own: equal subtrees need [`ENOUGH`] information, all others mostly the same words.
//!
//! Separating changes which of several siblings moved, so this takes some rounds. Words are compared
//! as sorted lists: those of a text always, those of larger parts within a budget. Beyond the budget
//! such a part keeps its partner.

use super::{ENOUGH, LETTER, Matcher, Pairs, Tree};
use crate::page::tree::NONE;
use crate::sdiff::common_words::{mostly_same, word_hashes};
use crate::sdiff::placement::{Party, place};

/// Rounds of parting; one is nearly always enough.
const MAX_ROUNDS: usize = 8;
/// Words of parts with several nodes that are compared for a pair of pages: some 100 ms.
const BUDGET: usize = 1 << 21;

/// Elements whose text nobody reads.
const UNREAD: [&str; 4] = ["script", "style", "noscript", "template"];

/// The hashes of all words of a side that are read, one node after another.
struct Words {
    hashes: Vec<u64>,
    /// Where the words of each node begin, and the end.
    starts: Vec<u32>,
}

impl Words {
    fn new(tree: Tree) -> Self {
        let wide = tree.page.wide();
        let mut found = Self {
            hashes: Vec::new(),
            starts: Vec::with_capacity(tree.n() + 1),
        };
        for node in 0..tree.n() as u32 {
            found.starts.push(found.hashes.len() as u32);
            let is_read = tree.class(node).is_text()
                && (tree.above(node)).is_none_or(|above| !UNREAD.contains(&tree.tag_name(above)));
            if is_read && let Ok(id) = usize::try_from(wide.content[tree.at(node)]) {
                let text = tree.page.content_text(id);
                found.hashes.extend(word_hashes(&text));
            }
        }
        found.starts.push(found.hashes.len() as u32);
        found
    }

    /// The words of a subtree.
    fn of(&self, tree: Tree, node: u32) -> &[u64] {
        let (from, to) = (node as usize, (node + tree.size(node)) as usize);
        &self.hashes[self.starts[from] as usize..self.starts[to] as usize]
    }
}

impl Matcher<'_> {
    /// Part the pairs that moved but do not read the same.
    pub(super) fn part_strangers(&mut self) {
        let mut all_words = None;
        let mut budget = BUDGET;
        for _ in 0..MAX_ROUNDS {
            let moved = self.moved();
            if !moved.contains(&true) {
                return;
            }
            let (old_words, new_words) =
                all_words.get_or_insert_with(|| (Words::new(self.old), Words::new(self.new)));
            if !self.part_round(&moved, old_words, new_words, &mut budget) {
                return;
            }
        }
    }

    /// Which nodes of the new side moved.
    fn moved(&self) -> Vec<bool> {
        let (old, new) = (self.old, self.new);
        let mut pairs = Pairs::new(old.page.n(), new.page.n());
        for (x, &y) in self.pairs.to_new.iter().enumerate() {
            if y != NONE {
                pairs.join(old.side.node[x], new.side.node[y as usize]);
            }
        }
        let moved = place(party(old), party(new), &pairs, false).moved;
        (0..new.n() as u32).map(|y| moved[new.at(y)]).collect()
    }

    /// Look at all that moved once, from the top down; `false` when nothing was parted.
    fn part_round(
        &mut self,
        moved: &[bool],
        old_words: &Words,
        new_words: &Words,
        budget: &mut usize,
    ) -> bool {
        let n = self.new.n() as u32;
        // What stands in something that moved, and what stood in something that was parted.
        let mut displaced = vec![false; n as usize];
        let mut orphaned = vec![false; n as usize];
        let mut any = false;
        let mut y = 0;
        while y < n {
            let at = y as usize;
            if let Some(above) = self.new.above(y) {
                displaced[at] = displaced[above as usize];
                orphaned[at] = orphaned[above as usize];
            }
            let x = self.pairs.to_old[at];
            displaced[at] |= moved[at];
            if x == NONE || !displaced[at] {
                y += 1;
                continue;
            }
            let size = self.new.size(y);
            if self.old.hash(x) == self.new.hash(y) {
                // Whatever is paired below an equal node was paired with it, or moves on its own.
                if orphaned[at] && self.new_info(y) < ENOUGH {
                    any |= self.part_subtree(y);
                }
                y += size;
                continue;
            }
            let letters =
                (self.old_weights.letters(self.old, x)).max(self.new_weights.letters(self.new, y));
            let strict = moved[at] || orphaned[at] || letters * LETTER >= ENOUGH;
            let (one, other) = (old_words.of(self.old, x), new_words.of(self.new, y));
            let is_same = if one.is_empty() && other.is_empty() {
                !orphaned[at]
            } else if !strict {
                true
            } else {
                // Leaves and what holds only one are apart from each other: all of them are linear.
                let cost = if size > 2 { one.len() + other.len() } else { 0 };
                let affordable = cost <= *budget;
                *budget -= cost.min(*budget);
                !affordable || mostly_same(one, other)
            };
            if is_same {
                orphaned[at] = false;
            } else {
                self.pairs.to_old[at] = NONE;
                self.pairs.to_new[x as usize] = NONE;
                orphaned[at] = true;
                any = true;
            }
            y += 1;
        }
        any
    }

    /// Part all nodes of a subtree of the new side from their partners.
    fn part_subtree(&mut self, y: u32) -> bool {
        let mut any = false;
        for node in y..y + self.new.size(y) {
            let x = std::mem::replace(&mut self.pairs.to_old[node as usize], NONE);
            if x != NONE {
                self.pairs.to_new[x as usize] = NONE;
                any = true;
            }
        }
        any
    }
}

fn party(tree: Tree<'_>) -> Party<'_> {
    Party {
        page: tree.page,
        blank: &tree.labels.blank,
        inside: Some(&tree.side.inside),
    }
}
