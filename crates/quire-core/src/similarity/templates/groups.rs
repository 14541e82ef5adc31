//! Groups: turns links between pages into sets of pages.
//!
//! Pages are numbered in an order that does not depend on where they were read, so groups do not
//! either. `stars` assigns every page to its best hub; `merge` joins groups along the remaining
//! links, by size (see [`super`]).
//!
//! Cost: `stars` is one pass over the links. `merge` processes links between groups until nothing
//! changes; two large groups are compared again only if one has grown, with at most [`SAMPLE`]
//! times [`SAMPLE`] bags.

use std::collections::HashMap;

use super::{Bags, FEW_PAGES, Likeness, SAMPLE};

/// A link between a page and a hub.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The page.
    pub page: u32,
    /// The hub.
    pub hub: u32,
    /// Their similarity.
    pub likeness: Likeness,
}

impl Link {
    /// Compare links, best first: most contained, most similar, then by number.
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let key = |link: &Self| (link.likeness.contained, link.likeness.resemblance);
        let ((a, b), (c, d)) = (key(other), key(self));
        (a.total_cmp(&c).then(b.total_cmp(&d)))
            .then((self.hub, self.page).cmp(&(other.hub, other.page)))
    }
}

/// Disjoint sets that can be united; a set is named by its smallest member.
struct Sets {
    parent: Vec<u32>,
}

impl Sets {
    fn new(n: usize) -> Self {
        Self {
            parent: (0..n as u32).collect(),
        }
    }

    fn find(&mut self, mut at: u32) -> u32 {
        while self.parent[at as usize] != at {
            let above = self.parent[self.parent[at as usize] as usize];
            self.parent[at as usize] = above;
            at = above;
        }
        at
    }

    fn join(&mut self, one: u32, other: u32) -> u32 {
        let (one, other) = (self.find(one), self.find(other));
        self.parent[one.max(other) as usize] = one.min(other);
        one.min(other)
    }
}

/// Assign each of `n` pages to its best hub; return the smallest page number of its group for every
/// page.
///
/// ```
/// use quire_core::similarity::templates::Likeness;
/// use quire_core::similarity::templates::{Link, stars};
///
/// let link = |page, hub, shared| Link { page, hub, likeness: Likeness::new(shared, 10, 10) };
/// assert_eq!(stars(4, &[link(1, 0, 8), link(1, 3, 9), link(2, 0, 10)]), [0, 1, 0, 1]);
/// ```
#[must_use]
pub fn stars(n: usize, links: &[Link]) -> Vec<u32> {
    let mut best: Vec<Option<&Link>> = vec![None; n];
    for link in links {
        let known = &mut best[link.page as usize];
        if known.is_none_or(|known| link.order(known).is_lt()) {
            *known = Some(link);
        }
    }
    let mut sets = Sets::new(n);
    for link in best.into_iter().flatten() {
        sets.join(link.page, link.hub);
    }
    (0..n as u32).map(|page| sets.find(page)).collect()
}

/// Choose the pages that represent their groups: the first [`SAMPLE`] of each by number. Ascending.
#[must_use]
pub fn sample(groups: &[u32]) -> Vec<u32> {
    let mut taken: HashMap<u32, usize> = HashMap::new();
    (0..groups.len() as u32)
        .filter(|&page| {
            let count = taken.entry(groups[page as usize]).or_default();
            *count += 1;
            *count <= SAMPLE
        })
        .collect()
}

/// A group during merging.
struct Group {
    /// Number of pages.
    size: usize,
    /// Indexes in the sample of the pages that represent it.
    sample: Vec<usize>,
    /// How often it has grown.
    version: u32,
}

/// Merge groups along links, by size.
///
/// `groups` come from [`stars`], `sampled` from [`sample`], and `bags` belong to these, in the same
/// order.
#[must_use]
pub fn merge(
    groups: &[u32],
    links: &[Link],
    sampled: &[u32],
    bags: &Bags,
    threshold: f64,
) -> Vec<u32> {
    let mut sets = Sets::new(groups.len());
    let mut known: HashMap<u32, Group> = HashMap::new();
    for (page, &group) in groups.iter().enumerate() {
        sets.join(page as u32, group);
        known
            .entry(group)
            .or_insert(Group {
                size: 0,
                sample: Vec::new(),
                version: 0,
            })
            .size += 1;
    }
    for (place, &page) in sampled.iter().enumerate() {
        if let Some(group) = known.get_mut(&groups[page as usize]) {
            group.sample.push(place);
        }
    }
    let mut between: Vec<Link> = (links.iter().copied())
        .filter(|link| groups[link.page as usize] != groups[link.hub as usize])
        .collect();
    between.sort_unstable_by(Link::order);
    // Pairs that were compared and stay separate, with the versions they had.
    let mut apart: HashMap<(u32, u32), (u32, u32)> = HashMap::new();
    loop {
        let mut grew = false;
        for link in &between {
            let (one, other) = (sets.find(link.page), sets.find(link.hub));
            if one == other {
                continue;
            }
            let pair = (one.min(other), one.max(other));
            let (a, b) = (&known[&pair.0], &known[&pair.1]);
            let versions = (a.version, b.version);
            if apart.get(&pair) == Some(&versions) {
                continue;
            }
            if !are_one(a, b, bags, threshold) {
                apart.insert(pair, versions);
                continue;
            }
            grew = true;
            let (Some(a), Some(b)) = (known.remove(&pair.0), known.remove(&pair.1)) else {
                continue;
            };
            let mut sample = [a.sample, b.sample].concat();
            sample.sort_unstable();
            sample.truncate(SAMPLE);
            known.insert(
                sets.join(one, other),
                Group {
                    size: a.size + b.size,
                    sample,
                    version: a.version.max(b.version) + 1,
                },
            );
        }
        if !grew {
            return (0..groups.len() as u32)
                .map(|page| sets.find(page))
                .collect();
        }
    }
}

/// Whether two linked groups are one: the smaller has few pages, or half of its pages have a
/// partner in the larger one.
///
/// A page that contains all of two templates would be a partner of every page, so there must also
/// be many partners: half as many.
fn are_one(one: &Group, other: &Group, bags: &Bags, threshold: f64) -> bool {
    // Equal sizes: the first counts as the smaller one, as pairs come in the order of their
    // numbers.
    let (small, large) = if one.size <= other.size {
        (one, other)
    } else {
        (other, one)
    };
    if small.size <= FEW_PAGES {
        return true;
    }
    let needed = small.sample.len().div_ceil(2);
    let mut with_partner = 0;
    let mut is_partner = vec![false; large.sample.len()];
    for (tried, &page) in small.sample.iter().enumerate() {
        if with_partner + small.sample.len() - tried < needed {
            return false;
        }
        let mut has_partner = false;
        for (is_partner, &of) in is_partner.iter_mut().zip(&large.sample) {
            // Once both are known to have partners, further comparisons of this page do not matter.
            if (!*is_partner || !has_partner) && bags.linked(page, of, threshold) {
                *is_partner = true;
                has_partner = true;
            }
        }
        with_partner += usize::from(has_partner);
        let partners = is_partner.iter().filter(|&&is| is).count();
        if with_partner >= needed && partners >= needed.div_ceil(2).min(large.sample.len()) {
            return true;
        }
    }
    false
}

/// Return the bag of those given that is most similar to all others; the first of equals.
///
/// Compares all with all, so it is meant for samples.
#[must_use]
pub fn medoid(bags: &Bags, of: &[usize]) -> Option<usize> {
    let mut sums = vec![0.0; of.len()];
    for (i, &one) in of.iter().enumerate() {
        for (j, &other) in of.iter().enumerate().skip(i + 1) {
            let found = bags.likeness(one, bags, other).resemblance;
            sums[i] += found;
            sums[j] += found;
        }
    }
    let best = (0..of.len()).max_by(|&a, &b| sums[a].total_cmp(&sums[b]).then(b.cmp(&a)))?;
    Some(of[best])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::{Bag, Measure};

    // Pages as sets of numbers: a range for the template, and a few of their own.
    fn bags(pages: &[(u64, u64, u64)]) -> Bags {
        let mut bags = Bags::default();
        for &(start, end, own) in pages {
            let hashes = (start..end).chain([1_000_000 + own, 2_000_000 + own]);
            bags.push(&Bag::from_hashes(hashes.collect()), Measure::Structure);
        }
        bags
    }

    fn all_links(bags: &Bags, threshold: f64) -> Vec<Link> {
        let n = bags.len();
        (0..n * n)
            .map(|k| (k / n, k % n))
            .filter(|(page, hub)| page > hub)
            .map(|(page, hub)| Link {
                page: page as u32,
                hub: hub as u32,
                likeness: bags.likeness(page, bags, hub),
            })
            .filter(|link| link.likeness.holds(threshold))
            .collect()
    }

    fn grouped(pages: &[(u64, u64, u64)]) -> Vec<u32> {
        let bags = bags(pages);
        let links = all_links(&bags, 0.8);
        let groups = stars(bags.len(), &links);
        let sampled = sample(&groups);
        assert_eq!(sampled.len(), bags.len());
        merge(&groups, &links, &sampled, &bags, 0.8)
    }

    #[test]
    fn pages_of_one_template_are_one_group_however_long_they_are() {
        // Each is contained in the next longer one; the first and the last share too little to be
        // linked.
        let pages: Vec<_> = (0..9).map(|i| (0, 20 << i, i)).collect();
        assert_eq!(grouped(&pages), [0; 9]);
    }

    #[test]
    fn one_odd_page_does_not_tie_two_templates_together() {
        let mut pages: Vec<_> = (0..20).map(|i| (0, 100, i)).collect();
        pages.extend((20..40).map(|i| (500, 600, i)));
        assert_eq!(grouped(&pages).iter().max(), Some(&20));
        // A page that contains all of both.
        let mut bridge = bags(&pages);
        let both = (0..100).chain(500..600).collect();
        bridge.push(&Bag::from_hashes(both), Measure::Structure);
        let links = all_links(&bridge, 0.8);
        assert_eq!(links.iter().filter(|link| link.page == 40).count(), 40);
        let groups = stars(41, &links);
        let merged = merge(&groups, &links, &sample(&groups), &bridge, 0.8);
        assert_eq!((merged[0], merged[39]), (0, 20));
    }

    #[test]
    fn the_order_of_links_is_no_matter() {
        let pages: Vec<_> = (0..60)
            .map(|i| ((i % 4) * 60, (i % 4) * 60 + 90 + (i * 7) % 31, i))
            .collect();
        let bags = bags(&pages);
        let mut links = all_links(&bags, 0.6);
        let groups = stars(60, &links);
        let merged = merge(&groups, &links, &sample(&groups), &bags, 0.6);
        for turn in 1..20 {
            let n = links.len();
            links.rotate_left(turn * 7 % n);
            links.reverse();
            assert_eq!(stars(60, &links), groups);
            assert_eq!(merge(&groups, &links, &sample(&groups), &bags, 0.6), merged);
        }
    }

    #[test]
    fn the_medoid_is_most_like_all_others() {
        let bags = bags(&[(0, 10, 0), (0, 40, 1), (0, 50, 2), (0, 60, 3)]);
        assert_eq!(medoid(&bags, &[0, 1, 2, 3]), Some(2));
        assert_eq!(medoid(&bags, &[]), None);
    }
}
