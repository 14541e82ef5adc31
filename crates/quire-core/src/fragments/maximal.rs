//! Fragments: the groups that enough pages share and that are not merely parts of larger ones.
//!
//! Groups come in the order of their leaders, longest first. A group is a fragment if
//!
//! * its members are on at least `min_pages` different pages (`ShareFactor`). Of nested members
//!   only the outermost counts: a part and a part of it are one place on the page;
//! * its members do not all lie in the same fragments. A group whose members all lie within members
//!   of the same fragments (at least one) is a *trivial* fragment, and rejected.
//!
//! The fragments around a member are those found before it. They are kept as a sum over the rows of
//! its page, in a binary indexed tree: a new fragment adds its mixed number to the rows below its
//! members. The sum, with a count, represents the set: different sets have different sums, except
//! with a probability of 2^-64.
//!
//! Cost: `log n` for each member, whatever the depth of pages.

use super::groups::Group;
use super::pool::Pool;
use super::slices::mixed;

/// A fragment: its members as rows of the pool, by page and position.
pub type Members = Vec<u32>;

/// Return the fragments among groups, in the order of the groups.
#[must_use]
pub fn fragments(pool: &Pool, groups: &[Group], min_pages: usize) -> Vec<Members> {
    let rows = &pool.rows;
    let (starts, by_value) = rows_by_value(pool);
    let mut around = Around::new(rows.len());
    let mut found = Vec::new();
    let mut members: Members = Vec::new();
    for group in groups {
        members.clear();
        for &value in group {
            let value = value as usize;
            members
                .extend_from_slice(&by_value[starts[value] as usize..starts[value + 1] as usize]);
        }
        members.sort_unstable();
        keep_outermost(pool, &mut members);
        let changes = |pair: &[u32]| rows[pair[0] as usize].page != rows[pair[1] as usize].page;
        let pages = 1 + members.windows(2).filter(|pair| changes(pair)).count();
        if pages < min_pages {
            continue;
        }
        let first = around.of(members[0]);
        if first != Sum::default() && members.iter().all(|&row| around.of(row) == first) {
            continue;
        }
        let number = Sum {
            count: 1,
            mixed: mixed(found.len() as u64 + 1),
        };
        for &row in &members {
            around.add(row + 1, row + rows[row as usize].size, number);
        }
        found.push(members.clone());
    }
    found
}

/// Return the rows of each value: those of `i` are between `starts[i]` and `starts[i + 1]`,
/// ascending.
fn rows_by_value(pool: &Pool) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; pool.values() + 1];
    for row in &pool.rows {
        starts[row.value as usize + 1] += 1;
    }
    for value in 0..pool.values() {
        starts[value + 1] += starts[value];
    }
    let mut next = starts.clone();
    let mut rows = vec![0; pool.rows.len()];
    for (at, row) in pool.rows.iter().enumerate() {
        let place = &mut next[row.value as usize];
        rows[*place as usize] = at as u32;
        *place += 1;
    }
    (starts, rows)
}

/// Remove rows inside others; rows are ascending, and a subtree is a slice.
fn keep_outermost(pool: &Pool, members: &mut Members) {
    let mut end = 0;
    members.retain(|&row| {
        let outermost = row >= end;
        if outermost {
            end = row + pool.rows[row as usize].size;
        }
        outermost
    });
}

/// A set of fragments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    count: u32,
    mixed: u64,
}

impl Sum {
    fn plus(self, other: Self) -> Self {
        Self {
            count: self.count.wrapping_add(other.count),
            mixed: self.mixed.wrapping_add(other.mixed),
        }
    }

    fn minus(self) -> Self {
        Self {
            count: self.count.wrapping_neg(),
            mixed: self.mixed.wrapping_neg(),
        }
    }
}

/// The fragments around every row: a binary indexed tree of differences, so that adding a fragment
/// to a slice of rows takes `log n` steps, and the sum of a row is a prefix.
struct Around {
    tree: Vec<Sum>,
}

impl Around {
    fn new(rows: usize) -> Self {
        Self {
            tree: vec![Sum::default(); rows + 2],
        }
    }

    fn add(&mut self, start: u32, end: u32, sum: Sum) {
        for (place, sum) in [(start, sum), (end, sum.minus())] {
            let mut at = place as usize + 1;
            while at < self.tree.len() {
                self.tree[at] = self.tree[at].plus(sum);
                at += at & at.wrapping_neg();
            }
        }
    }

    fn of(&self, row: u32) -> Sum {
        let mut sum = Sum::default();
        let mut at = row as usize + 1;
        while at > 0 {
            sum = sum.plus(self.tree[at]);
            at &= at - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Options, encode};
    use crate::fragments::groups::{Estimate, Likeness, groups};
    use crate::fragments::hish::{Shingling, hish};
    use crate::fragments::tree::{AfTree, FORMATTING};

    /// Return the tags of the members of each fragment, with their pages.
    fn found(pages: &[&str], min_pages: usize) -> Vec<Vec<(u32, String)>> {
        let pages: Vec<_> = (pages.iter())
            .map(|page| encode(page.as_bytes(), &Options::default()).unwrap())
            .collect();
        let mut pool = Pool::new(30);
        for page in &pages {
            let tree = AfTree::of(page, &FORMATTING, false).unwrap();
            pool.push(&tree, &hish(&tree.shape, &tree.text, Shingling::default()));
        }
        let likeness = Likeness {
            min_match: 0.9,
            size_ratio: 0.9,
            min_bytes: 40,
            sample: 25,
            estimate: Estimate::Paper,
        };
        let name = |&row: &u32| {
            let row = pool.rows[row as usize];
            let page = &pages[row.page as usize];
            let tag = page.tag().get(row.node as usize) as usize;
            (row.page, page.tag_name(tag).to_owned())
        };
        fragments(&pool, &groups(&pool, &likeness), min_pages)
            .iter()
            .map(|members| members.iter().map(name).collect())
            .collect()
    }

    const LINE: &str = "<p>a paragraph of more than forty bytes, for all";
    const OTHER: &str = "<h2>and a headline that is just as long as it</h2>";

    fn named(found: &[(u32, &str)]) -> Vec<(u32, String)> {
        (found.iter())
            .map(|&(page, name)| (page, name.to_owned()))
            .collect()
    }

    #[test]
    fn parts_of_a_fragment_are_none_of_their_own() {
        let page = format!("<div>{LINE}{OTHER}</div>");
        let all = named(&[(0, "#document"), (1, "#document")]);
        assert_eq!(found(&[&page, &page], 2), [all]);
    }

    #[test]
    fn a_part_that_is_elsewhere_too_is_one() {
        let both = format!("<div>{LINE}{OTHER}</div>");
        let one = format!("{LINE}<h1>quite another text, with words of its own</h1>");
        let fragments = found(&[&both, &both, &one], 2);
        assert_eq!(fragments[0], named(&[(0, "#document"), (1, "#document")]));
        assert_eq!(fragments[1], named(&[(0, "p"), (1, "p"), (2, "p")]));
        assert_eq!(fragments.len(), 2);
    }

    #[test]
    fn pages_are_counted_and_not_parts() {
        let page = LINE.repeat(5);
        assert!(found(&[&page], 2).is_empty());
        let other = format!("{LINE}<h1>quite another text, with words of its own</h1>");
        assert_eq!(found(&[&page, &other], 2).len(), 1);
        assert!(found(&[&page, &other], 3).is_empty());
    }

    #[test]
    fn ranges_gain_what_is_added_to_them() {
        let mut around = Around::new(50);
        let mut plain = [0u32; 50];
        for (start, end) in [(0, 50), (3, 3), (7, 20), (19, 50), (49, 50)] {
            let sum = Sum { count: 1, mixed: 1 };
            around.add(start, end, sum);
            (start..end).for_each(|row| plain[row as usize] += 1);
        }
        for row in 0..50 {
            assert_eq!(around.of(row).count, plain[row as usize]);
        }
    }
}
