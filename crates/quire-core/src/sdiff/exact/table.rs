//! Zhang and Shasha's dynamic program, kept to what `k` edits can reach.
//!
//! Both forests are in post-order ([`PostOrder`]). For a pair of spines, one
//! table holds the distances between prefixes of the two subtrees; nodes on
//! both spines give distances of whole subtrees, which larger tables use. Row
//! and column count the nodes of the prefixes.
//!
//! A cell splits a mapping in three: what ends before the subtrees start, the
//! prefixes, and the rest. None of them maps into another, so each costs at least
//! its difference in size, and a cell whose three differences exceed `k` lies on
//! no mapping of at most `k` edits. What remains is a band of diagonals in each
//! table and a window of spines for each spine. All values are costs of real
//! mappings, so a result of at most `k` is the minimum, and any other still bounds it
//! from above. (After Touzet, "Comparing similar ordered trees in linear-time".)

use super::forest::{PostOrder, Spine};

/// More than any distance, and small enough to be added to another without overflow.
const UNREACHED: u32 = 1 << 29;

/// What a pair of spines costs beyond its cells, in steps.
const STEPS_A_TABLE: u64 = 16;

/// A range of diagonals: columns less rows.
#[derive(Clone, Copy)]
struct Band {
    low: i64,
    high: i64,
}

impl Band {
    /// The diagonals `p` with `|p| + |rest - p| <= edits`.
    fn new(rest: i64, edits: i64) -> Option<Self> {
        let spare = edits - rest.abs();
        (spare >= 0).then(|| Self {
            low: rest.min(0) - spare / 2,
            high: rest.max(0) + spare / 2,
        })
    }

    fn width(self) -> usize {
        (self.high - self.low + 1) as usize
    }

    fn has(self, diagonal: i64) -> bool {
        (self.low..=self.high).contains(&diagonal)
    }
}

/// Two subtrees or forests, each from a leaf on, and the cells between them that matter.
#[derive(Clone, Copy)]
struct Frame {
    old_leaf: usize,
    new_leaf: usize,
    rows: usize,
    columns: usize,
    band: Band,
    /// Cells from a row to the next.
    step: usize,
    /// Cells before row 0, column 0.
    start: usize,
}

impl Frame {
    /// A row keeps one cell past the band, which the row below it reads.
    fn new(old: Spine, new: Spine, band: Band) -> Self {
        let columns = new.size as usize;
        let whole = columns + 2;
        let (step, start) = if whole <= band.width() {
            (whole, 0)
        } else {
            (band.width(), (-band.low) as usize)
        };
        Self {
            old_leaf: old.leaf as usize,
            new_leaf: new.leaf as usize,
            // Rows below this one meet the band outside the table.
            rows: (i64::from(old.size)).min(i64::from(new.size) - band.low) as usize,
            columns,
            band,
            step,
            start,
        }
    }

    fn cell(&self, row: usize, column: usize) -> usize {
        row * self.step + column + self.start
    }

    /// First and last column of a row.
    fn span(&self, row: usize) -> (usize, usize) {
        let first = (row as i64 + self.band.low).max(0) as usize;
        let last = (row as i64 + self.band.high).min(self.columns as i64) as usize;
        (first, last)
    }

    fn steps(&self) -> u64 {
        self.rows as u64 * self.columns.min(self.band.width()) as u64 + STEPS_A_TABLE
    }
}

/// Two forests and the number of edits that is looked for.
pub struct Problem<'a> {
    old: &'a PostOrder,
    new: &'a PostOrder,
    edits: i64,
    /// Places of new nodes less places of old nodes that may match.
    band: Band,
}

impl<'a> Problem<'a> {
    /// None when the sizes alone differ by more than `edits`.
    pub fn new(old: &'a PostOrder, new: &'a PostOrder, edits: u32) -> Option<Self> {
        // More edits than nodes are never needed.
        let edits = i64::from(edits).min((old.len() + new.len()) as i64);
        Some(Self {
            old,
            new,
            edits,
            band: Band::new(new.len() as i64 - old.len() as i64, edits)?,
        })
    }

    /// Cells of the table of subtree distances.
    pub fn cells(&self) -> u64 {
        (self.old.len() as u64).saturating_mul(self.band.width() as u64)
    }

    /// Steps that [`Self::solve`] takes at most, or none when they exceed `at_most`.
    pub fn steps(&self, at_most: u64) -> Option<u64> {
        let window = self.band.width().min(self.new.spines.len()) as u64;
        if self.old.spines.len() as u64 * window > at_most / STEPS_A_TABLE {
            return None;
        }
        let mut steps = self.whole().steps();
        for frame in self.frames() {
            steps += frame.steps();
            if steps > at_most {
                return None;
            }
        }
        Some(steps)
    }

    /// Every pair of spines that matters, each after those it depends on.
    fn frames(&self) -> impl Iterator<Item = Frame> + '_ {
        self.old.spines.iter().rev().flat_map(move |&old| {
            let leaf = i64::from(old.leaf);
            let from = leaf + self.band.low;
            let to = leaf + self.band.high;
            let spines = &self.new.spines;
            let from = spines.partition_point(|spine| i64::from(spine.leaf) < from);
            let to = spines.partition_point(|spine| i64::from(spine.leaf) <= to);
            let near = spines[from..to].iter().rev();
            near.filter_map(move |&new| self.frame(old, new))
        })
    }

    /// None when no cell is within reach, or the table of the whole holds it.
    fn frame(&self, old: Spine, new: Spine) -> Option<Frame> {
        if old.leaf == 0 && new.leaf == 0 {
            return None;
        }
        let before = i64::from(new.leaf) - i64::from(old.leaf);
        let rest = self.new.len() as i64 - self.old.len() as i64 - before;
        let band = Band::new(rest, self.edits - before.abs())?;
        Some(Frame::new(old, new, band))
    }

    /// Both forests from end to end.
    fn whole(&self) -> Frame {
        let all = |side: &PostOrder| Spine {
            leaf: 0,
            size: side.len() as u32,
        };
        Frame::new(all(self.old), all(self.new), self.band)
    }

    /// Fill all tables. Never more than [`Self::steps`].
    pub fn solve(&self) -> Tables {
        let rows = self.old.len() + 1;
        let mut tables = Tables {
            subtrees: vec![UNREACHED; self.cells() as usize],
            prefixes: vec![UNREACHED; rows * (self.band.width() + 2)],
        };
        for frame in self.frames() {
            self.fill(&frame, &mut tables);
        }
        self.fill(&self.whole(), &mut tables);
        tables
    }

    /// Fill the table of one pair of spines, or of two subtrees on them.
    fn fill(&self, frame: &Frame, tables: &mut Tables) {
        let (_, last) = frame.span(0);
        let top = frame.cell(0, 0);
        for column in 0..=last {
            tables.prefixes[top + column] = column as u32;
        }
        tables.prefixes[top + last + 1] = UNREACHED;
        for row in 1..=frame.rows {
            let old = frame.old_leaf + row - 1;
            if self.old.first[old] as usize == frame.old_leaf {
                self.fill_spine_row(frame, row, tables);
            } else {
                self.fill_row(frame, row, tables);
            }
        }
    }

    /// A row whose last node is not on the spine: its whole subtree is matched, or it is deleted.
    fn fill_row(&self, frame: &Frame, row: usize, tables: &mut Tables) {
        let (first, last) = frame.span(row);
        let old = frame.old_leaf + row - 1;
        let (done, current) = tables.prefixes.split_at_mut(frame.cell(row, first));
        current[last - first + 1] = UNREACHED;
        let begin = first.max(1);
        let mut left = UNREACHED;
        if first == 0 {
            left = row as u32;
            current[0] = left;
        }
        // What stands before the subtree, and the new prefixes it can be compared with.
        let split = self.old.first[old] as usize - frame.old_leaf;
        let (split_first, split_last) = frame.span(split);
        let split = &done[frame.cell(split, split_first)..=frame.cell(split, split_last)];
        let skip = frame.new_leaf + split_first;

        let news = frame.new_leaf + begin - 1..frame.new_leaf + last;
        let above = &done[frame.cell(row - 1, begin)..=frame.cell(row - 1, last)];
        let subtrees = &tables.subtrees[self.subtree(old, news.start)..];
        let current = &mut current[begin - first..];
        let firsts = &self.new.first[news];
        for (((cell, &above), &first), &subtree) in
            current.iter_mut().zip(above).zip(firsts).zip(subtrees)
        {
            let before = split.get((first as usize).wrapping_sub(skip));
            let matched = before.map_or(UNREACHED, |before| before + subtree);
            left = (above.min(left) + 1).min(matched);
            *cell = left;
        }
    }

    /// A row whose last node is on the spine: with one on the other spine it gives a subtree distance.
    fn fill_spine_row(&self, frame: &Frame, row: usize, tables: &mut Tables) {
        let (first, last) = frame.span(row);
        let old = frame.old_leaf + row - 1;
        let label = self.old.label[old];
        let (done, current) = tables.prefixes.split_at_mut(frame.cell(row, first));
        current[last - first + 1] = UNREACHED;
        let begin = first.max(1);
        let mut left = UNREACHED;
        if first == 0 {
            left = row as u32;
            current[0] = left;
        }
        let news = frame.new_leaf + begin - 1..frame.new_leaf + last;
        // One cell more: the one before and the one above.
        let above = &done[frame.cell(row - 1, begin - 1)..=frame.cell(row - 1, last)];
        let subtree = self.subtree(old, news.start);
        let subtrees = &mut tables.subtrees[subtree..subtree + news.len()];
        let current = &mut current[begin - first..];
        for (at, new) in news.enumerate() {
            let nearer = above[at + 1].min(left) + 1;
            let before = self.new.first[new] as usize - frame.new_leaf;
            if before == 0 {
                left = nearer.min(above[at] + u32::from(label != self.new.label[new]));
                subtrees[at] = left;
            } else {
                left = nearer;
                if before as i64 <= frame.band.high {
                    left = left.min(before as u32 + subtrees[at]);
                }
            }
            current[at] = left;
        }
    }

    /// Where the distance of two subtrees is kept.
    fn subtree(&self, old: usize, new: usize) -> usize {
        let diagonal = new as i64 - old as i64 - self.band.low;
        old * self.band.width() + diagonal as usize
    }

    /// The distance of the forests, if any cell of the band led there.
    pub fn distance(&self, tables: &Tables) -> Option<u32> {
        let whole = self.whole();
        tables.at(&whole, whole.rows, whole.columns)
    }

    /// A mapping of that distance, as pairs of pre-order numbers.
    ///
    /// From the last cell of the whole back to its first; a subtree matched on the
    /// way is looked into later, and its table filled again. No two of those
    /// start at the same pair of leaves, so this costs no more than [`Self::solve`].
    pub fn mapping(&self, mut tables: Tables) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        let mut later = Vec::new();
        let mut frame = Some(self.whole());
        while let Some(current) = frame {
            self.walk_back(&current, &tables, &mut pairs, &mut later);
            frame = later.pop().and_then(|(old, new)| self.frame(old, new));
            if let Some(next) = &frame {
                self.fill(next, &mut tables);
            }
        }
        pairs
    }

    fn walk_back(
        &self,
        frame: &Frame,
        tables: &Tables,
        pairs: &mut Vec<(u32, u32)>,
        later: &mut Vec<(Spine, Spine)>,
    ) {
        let subtree = |side: &PostOrder, place: usize| Spine {
            leaf: side.first[place],
            size: place as u32 + 1 - side.first[place],
        };
        let (mut row, mut column) = (frame.rows, frame.columns);
        while row > 0 && column > 0 {
            let (old, new) = (frame.old_leaf + row - 1, frame.new_leaf + column - 1);
            let here = tables.at(frame, row, column);
            let old_before = self.old.first[old] as usize - frame.old_leaf;
            let new_before = self.new.first[new] as usize - frame.new_leaf;
            let both_on_spine = old_before == 0 && new_before == 0;
            let (split, price) = if both_on_spine {
                let relabel = u32::from(self.old.label[old] != self.new.label[new]);
                ((row - 1, column - 1), relabel)
            } else {
                let price = tables.subtrees[self.subtree(old, new)];
                ((old_before, new_before), price)
            };
            let plus = |cost: Option<u32>, price: u32| cost.map(|cost| cost + price);
            if plus(tables.at(frame, split.0, split.1), price) == here {
                if both_on_spine {
                    pairs.push((self.old.node[old], self.new.node[new]));
                } else {
                    later.push((subtree(self.old, old), subtree(self.new, new)));
                }
                (row, column) = split;
            } else if plus(tables.at(frame, row - 1, column), 1) == here {
                row -= 1;
            } else {
                column -= 1;
            }
        }
    }
}

/// Distances found.
pub struct Tables {
    /// Of subtrees: a row for each old node, a column for each diagonal of the band.
    subtrees: Vec<u32>,
    /// Of prefixes, in the frame filled last.
    prefixes: Vec<u32>,
}

impl Tables {
    fn at(&self, frame: &Frame, row: usize, column: usize) -> Option<u32> {
        let inside = frame.band.has(column as i64 - row as i64);
        let value = inside.then(|| self.prefixes[frame.cell(row, column)]);
        value.filter(|&value| value < UNREACHED)
    }
}
