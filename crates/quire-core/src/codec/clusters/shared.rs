//! The values that at least two pages have, numbered.

use super::sketch::{EMPTY, Sketch};
use super::{NONE, count_of};

/// Which pages have which shared values, in both directions.
pub(super) struct Shared {
    /// Numbers of values, page by page.
    numbers: Vec<u32>,
    /// Where each page begins in `numbers`; one more entry than pages.
    starts: Vec<u32>,
    /// Pages, value by value, each list in ascending order.
    holders: Vec<u32>,
    /// Where each value begins in `holders`; one more entry than values.
    holder_starts: Vec<u32>,
}

impl Shared {
    pub(super) fn of(sketches: &[Sketch]) -> Shared {
        // Value and page in one number each: sorted, the pages with a value stand together.
        let mut rows: Vec<u64> = Vec::new();
        for (page, sketch) in sketches.iter().enumerate() {
            let used = sketch.iter().take_while(|&&value| value != EMPTY);
            rows.extend(used.map(|&value| u64::from(value) << 32 | page as u64));
        }
        Shared::of_rows(rows, sketches.len(), usize::MAX)
    }

    /// Number the values anew that two pages share among these, but no more than `most`.
    ///
    /// In the result, pages are numbered by their places in `pages`.
    pub(super) fn within(&self, pages: &[u32], most: usize) -> Shared {
        let mut rows: Vec<u64> = Vec::new();
        for (at, &page) in pages.iter().enumerate() {
            let values = self.of_page(page as usize).iter();
            rows.extend(values.map(|&value| u64::from(value) << 32 | at as u64));
        }
        Shared::of_rows(rows, pages.len(), most)
    }

    /// Take rows of value and page; values that one page has, or more than `most`, are dropped.
    fn of_rows(mut rows: Vec<u64>, pages: usize, most: usize) -> Shared {
        rows.sort_unstable();
        let mut starts = vec![0u32; pages + 1];
        let (mut holders, mut holder_starts) = (Vec::new(), vec![0]);
        for run in rows.chunk_by(|a, b| a >> 32 == b >> 32) {
            if run.len() > 1 && run.len() <= most {
                for &row in run {
                    let page = row as u32;
                    holders.push(page);
                    starts[page as usize + 1] += 1;
                }
                holder_starts.push(holders.len() as u32);
            }
        }
        drop(rows);
        for page in 0..pages {
            starts[page + 1] += starts[page];
        }
        let mut next = starts.clone();
        let mut numbers = vec![0; holders.len()];
        for number in 0..holder_starts.len() - 1 {
            let pages = holder_starts[number] as usize..holder_starts[number + 1] as usize;
            for &page in &holders[pages] {
                let at = &mut next[page as usize];
                numbers[*at as usize] = number as u32;
                *at += 1;
            }
        }
        Shared {
            numbers,
            starts,
            holders,
            holder_starts,
        }
    }

    pub(super) fn pages(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn values(&self) -> usize {
        self.holder_starts.len() - 1
    }

    /// Return the numbers of the shared values of a page.
    pub(super) fn of_page(&self, page: usize) -> &[u32] {
        &self.numbers[self.starts[page] as usize..self.starts[page + 1] as usize]
    }

    /// Return the pages that have a value.
    fn holders(&self, value: usize) -> &[u32] {
        &self.holders[self.holder_starts[value] as usize..self.holder_starts[value + 1] as usize]
    }
}

/// For each value, the clusters that hold it.
pub(super) struct Index {
    entries: Vec<Entry>,
    starts: Vec<u32>,
}

/// A cluster that holds a value, and how many of its pages do.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) cluster: u32,
    pub(super) pages: u32,
}

impl Index {
    /// Index the clusters of all pages. A value in more than `most` clusters gets no entry.
    pub(super) fn of(shared: &Shared, cluster_of: &[u32], most: usize) -> Index {
        let mut entries: Vec<Entry> = Vec::new();
        let mut starts = vec![0];
        // By cluster: the entry of the current value, if it has one.
        let mut entry_of = vec![usize::MAX; count_of(cluster_of)];
        for value in 0..shared.values() {
            let start = entries.len();
            for &page in shared.holders(value) {
                let cluster = cluster_of[page as usize];
                if cluster == NONE {
                    continue;
                }
                let at = &mut entry_of[cluster as usize];
                if *at == usize::MAX {
                    *at = entries.len();
                    entries.push(Entry { cluster, pages: 0 });
                }
                entries[*at].pages += 1;
            }
            for entry in &entries[start..] {
                entry_of[entry.cluster as usize] = usize::MAX;
            }
            if entries.len() - start > most {
                entries.truncate(start);
            }
            starts.push(entries.len() as u32);
        }
        Index { entries, starts }
    }

    pub(super) fn clusters(&self, value: u32) -> &[Entry] {
        let value = value as usize;
        &self.entries[self.starts[value] as usize..self.starts[value + 1] as usize]
    }
}

/// Counts by cluster that are cheap to clear.
pub(super) struct Counts {
    counts: Vec<u32>,
    touched: Vec<u32>,
}

impl Counts {
    pub(super) fn new(clusters: usize) -> Counts {
        Counts {
            counts: vec![0; clusters],
            touched: Vec::new(),
        }
    }

    /// Make room for one more cluster.
    pub(super) fn grow(&mut self) {
        self.counts.push(0);
    }

    pub(super) fn add(&mut self, cluster: u32, count: u32) {
        let held = &mut self.counts[cluster as usize];
        if *held == 0 {
            self.touched.push(cluster);
        }
        *held += count;
    }

    /// Take all clusters with their counts, and clear them.
    pub(super) fn take(&mut self) -> impl Iterator<Item = (u32, u32)> {
        self.touched.drain(..).map(|cluster| {
            let count = std::mem::take(&mut self.counts[cluster as usize]);
            (cluster, count)
        })
    }
}
