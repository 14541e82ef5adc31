//! A good mapping in linear time, for want of a better one.
//!
//! From the top: sibling runs of matched parents are trimmed by equal subtrees,
//! then aligned at least cost where that is cheap, else anchored on equal
//! subtrees and paired side by side. Only children of matched parents are ever
//! matched, in order, so the mapping keeps order and ancestors by construction.

use super::forest::Forest;
use std::collections::HashMap;

/// Largest alignment table of one sibling run, and of all runs for each node.
/// 64 x 64 siblings are aligned well; more are anchored first.
const ALIGNMENT_CELLS: usize = 4_096;
const ALIGNMENT_CELLS_A_NODE: usize = 64;

/// Build a mapping. Ids are those of [`super::trim::subtree_ids`].
pub fn mapping(old: &Forest, new: &Forest, old_ids: &[u32], new_ids: &[u32]) -> Vec<(u32, u32)> {
    let mut builder = Builder {
        old,
        new,
        old_ids,
        new_ids,
        pairs: Vec::new(),
        runs: Vec::new(),
        cells_left: ALIGNMENT_CELLS_A_NODE * (old.len() + new.len()),
    };
    builder.runs.push(Run {
        olds: old.siblings(0..old.len()).collect(),
        news: new.siblings(0..new.len()).collect(),
        anchored: false,
    });
    while let Some(run) = builder.runs.pop() {
        builder.match_run(&run);
    }
    builder.pairs.sort_unstable();
    builder.pairs
}

/// Siblings whose parents are matched.
struct Run {
    olds: Vec<usize>,
    news: Vec<usize>,
    /// Lies between anchors. It is not anchored again, so that no sibling is looked at
    /// more often than twice.
    anchored: bool,
}

struct Builder<'a> {
    old: &'a Forest,
    new: &'a Forest,
    old_ids: &'a [u32],
    new_ids: &'a [u32],
    pairs: Vec<(u32, u32)>,
    /// What is still to be matched.
    runs: Vec<Run>,
    cells_left: usize,
}

impl Builder<'_> {
    fn match_run(&mut self, run: &Run) {
        let (mut olds, mut news) = (run.olds.as_slice(), run.news.as_slice());
        while let ([x, old_rest @ ..], [y, new_rest @ ..]) = (olds, news)
            && self.equal(*x, *y)
        {
            self.pair(*x, *y);
            (olds, news) = (old_rest, new_rest);
        }
        while let ([old_rest @ .., x], [new_rest @ .., y]) = (olds, news)
            && self.equal(*x, *y)
        {
            self.pair(*x, *y);
            (olds, news) = (old_rest, new_rest);
        }
        if olds.is_empty() || news.is_empty() {
            return;
        }
        let cells = olds.len().saturating_mul(news.len());
        if cells <= ALIGNMENT_CELLS.min(self.cells_left) {
            self.cells_left -= cells;
            self.align(olds, news);
            return;
        }
        if run.anchored {
            for (&x, &y) in olds.iter().zip(news) {
                self.pair(x, y);
            }
            return;
        }
        let (mut i, mut j) = (0, 0);
        let end = (olds.len(), news.len());
        for (next_i, next_j) in self.anchors(olds, news).into_iter().chain([end]) {
            self.runs.push(Run {
                olds: olds[i..next_i].to_vec(),
                news: news[j..next_j].to_vec(),
                anchored: true,
            });
            if (next_i, next_j) != end {
                self.pair(olds[next_i], news[next_j]);
            }
            (i, j) = (next_i + 1, next_j + 1);
        }
    }

    fn equal(&self, x: usize, y: usize) -> bool {
        self.old_ids[x] == self.new_ids[y]
    }

    /// Match two nodes: all below them when the subtrees are equal, else their children later.
    fn pair(&mut self, x: usize, y: usize) {
        if self.equal(x, y) {
            let twins = (x..x + self.old.size[x] as usize).zip(y..);
            self.pairs.extend(twins.map(|(x, y)| (x as u32, y as u32)));
            return;
        }
        self.pairs.push((x as u32, y as u32));
        self.runs.push(Run {
            olds: self.old.siblings(self.old.below(x)).collect(),
            news: self.new.siblings(self.new.below(y)).collect(),
            anchored: false,
        });
    }

    /// What matching two nodes will cost at least, by their labels and sizes.
    fn price(&self, x: usize, y: usize) -> u32 {
        if self.equal(x, y) {
            return 0;
        }
        let relabel = u32::from(self.old.label[x] != self.new.label[y]);
        (relabel + self.old.size[x].abs_diff(self.new.size[y])).max(1)
    }

    /// Align two runs at least total price.
    fn align(&mut self, olds: &[usize], news: &[usize]) {
        let width = news.len() + 1;
        let mut price = vec![0u32; (olds.len() + 1) * width];
        for (j, &y) in news.iter().enumerate() {
            price[j + 1] = price[j] + self.new.size[y];
        }
        for (i, &x) in olds.iter().enumerate() {
            let row = (i + 1) * width;
            price[row] = price[row - width] + self.old.size[x];
            for (j, &y) in news.iter().enumerate() {
                let delete = price[row - width + j + 1] + self.old.size[x];
                let insert = price[row + j] + self.new.size[y];
                let matched = price[row - width + j] + self.price(x, y);
                price[row + j + 1] = delete.min(insert).min(matched);
            }
        }
        let (mut i, mut j) = (olds.len(), news.len());
        while i > 0 && j > 0 {
            let (x, y) = (olds[i - 1], news[j - 1]);
            let here = price[i * width + j];
            if here == price[(i - 1) * width + j - 1] + self.price(x, y) {
                self.pair(x, y);
                (i, j) = (i - 1, j - 1);
            } else if here == price[(i - 1) * width + j] + self.old.size[x] {
                i -= 1;
            } else {
                j -= 1;
            }
        }
    }

    /// Places of equal subtrees in both runs, increasing on both sides: the k-th copy
    /// of one with the k-th of the other, then the longest increasing subsequence.
    fn anchors(&self, olds: &[usize], news: &[usize]) -> Vec<(usize, usize)> {
        let mut copies: HashMap<u32, Vec<usize>> = HashMap::new();
        for (j, &y) in news.iter().enumerate().rev() {
            copies.entry(self.new_ids[y]).or_default().push(j);
        }
        let twins = olds.iter().enumerate().filter_map(|(i, &x)| {
            let j = copies.get_mut(&self.old_ids[x])?.pop()?;
            Some((i, j))
        });
        longest_increasing(&twins.collect::<Vec<_>>())
    }
}

/// The longest run of pairs, in order, whose second numbers increase. `O(n log n)`.
fn longest_increasing(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length: the pair that ends such a run with the smallest number.
    let mut ends: Vec<usize> = Vec::new();
    let mut before = vec![None; pairs.len()];
    for (at, &(_, value)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end].1 < value);
        before[at] = length.checked_sub(1).map(|shorter| ends[shorter]);
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut at = ends.last().copied();
    while let Some(pair) = at {
        run.push(pairs[pair]);
        at = before[pair];
    }
    run.reverse();
    run
}
