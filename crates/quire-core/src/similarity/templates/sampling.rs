//! The clustering of paper 003 (its figure 1): random pages become templates, and pages join the
//! first template that is similar to them.
//!
//! Works in rounds. k templates are drawn from the remaining pages, no two of them more similar
//! than the threshold. Every remaining page joins the first template whose sketch is more similar
//! than the threshold, and is removed, as is the template. A template that no page joined has been
//! compared with all remaining pages, so it is removed alone. The paper stops after the first round
//! in which no page joins; `patience` is the number of such rounds.
//!
//! Cost: N k comparisons of sketches per round. The same seed always gives the same clusters.

use crate::similarity::pairs::estimate;

/// The settings of the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Templates drawn in each round (the paper's k).
    pub k: usize,
    /// Pages join a template if they are more similar than this (the paper's sim).
    pub threshold: f32,
    /// Random seed.
    pub seed: u64,
    /// Number of consecutive rounds without a page joining, after which it stops; at least 1.
    pub patience: usize,
}

/// `SplitMix64`: a small random generator, the same on every machine.
struct Random(u64);

impl Random {
    /// Return a random number below `n`, which is not 0. The bias is below `n` / 2^64.
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        ((u128::from(z) * n as u128) >> 64) as usize
    }
}

/// Cluster sketches, given as rows of `m` bins; return for every row the row of its template, or
/// `None`.
///
/// ```
/// use quire_core::similarity::templates::{Settings, cluster};
///
/// let settings = Settings { k: 30, threshold: 0.5, seed: 1, patience: 1 };
/// let found = cluster(&[1, 2, 1, 2, 8, 9], 2, &settings);
/// assert!(found[0].is_some() && found[0] == found[1] && found[2].is_none());
/// ```
#[must_use]
pub fn cluster(rows: &[u32], m: usize, settings: &Settings) -> Vec<Option<u32>> {
    let n = rows.len().checked_div(m).unwrap_or(0);
    let row = |i: u32| &rows[i as usize * m..(i as usize + 1) * m];
    let mut found = vec![None; n];
    let mut left: Vec<u32> = (0..n as u32).collect();
    let mut random = Random(settings.seed);
    let mut idle = 0;
    while !left.is_empty() && idle < settings.patience.max(1) {
        let drawn = draw(&mut left, settings, &mut random, row);
        let before = left.len();
        let mut has_pages = vec![false; drawn.len()];
        left.retain(|&page| {
            let like = |&t: &u32| estimate(row(page), row(t)) > settings.threshold;
            let Some(which) = drawn.iter().position(like) else {
                return true;
            };
            has_pages[which] = true;
            found[page as usize] = Some(drawn[which]);
            false
        });
        for (&template, &has_pages) in drawn.iter().zip(&has_pages) {
            if has_pages {
                found[template as usize] = Some(template);
            }
        }
        idle = if left.len() < before { 0 } else { idle + 1 };
    }
    found
}

/// Draw templates from the remaining pages, until there are k or none differs enough from those
/// drawn (the paper's `Select_Template`).
fn draw<'a>(
    left: &mut Vec<u32>,
    settings: &Settings,
    random: &mut Random,
    row: impl Fn(u32) -> &'a [u32],
) -> Vec<u32> {
    let mut drawn: Vec<u32> = Vec::new();
    // Pages drawn and rejected are moved behind this index and not drawn again in the round.
    let mut end = left.len();
    while drawn.len() < settings.k.max(1) && end > 0 {
        let at = random.below(end);
        let page = left[at];
        end -= 1;
        left.swap(at, end);
        let is_new = (drawn.iter()).all(|&t| estimate(row(page), row(t)) < settings.threshold);
        if is_new {
            drawn.push(page);
            left.swap_remove(end);
        }
    }
    // Drawing is random; pages are then processed in the order of their numbers.
    left.sort_unstable();
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::hash::hash64;

    // `kinds` templates of ten bins; a page changes one of them.
    fn rows(n: u64, kinds: u64) -> Vec<u32> {
        (0..n)
            .flat_map(|page| {
                (0..10).map(move |bin| {
                    let own = if bin == page % 10 {
                        page + 1000
                    } else {
                        page % kinds
                    };
                    hash64(&[bin, own].map(u64::to_le_bytes).concat()) as u32
                })
            })
            .collect()
    }

    fn settings(k: usize, seed: u64) -> Settings {
        Settings {
            k,
            threshold: 0.5,
            seed,
            patience: 1,
        }
    }

    #[test]
    fn pages_of_one_template_have_one_cluster_whatever_the_seed() {
        for (k, seed) in [(1, 1), (3, 2), (30, 3), (300, 4)] {
            let found = cluster(&rows(200, 7), 10, &settings(k, seed));
            for (page, template) in found.iter().enumerate() {
                let template = template.unwrap();
                assert_eq!(u64::from(template) % 7, page as u64 % 7);
                assert_eq!(found[template as usize], Some(template));
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_clusters() {
        let rows = rows(300, 40);
        let of = |seed| cluster(&rows, 10, &settings(5, seed));
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn it_ends_where_no_page_is_like_another() {
        let rows = rows(60, 60);
        assert!(
            cluster(&rows, 10, &settings(3, 1))
                .iter()
                .all(Option::is_none)
        );
        assert!(
            cluster(&[], 10, &settings(3, 1)).is_empty()
                && cluster(&[], 0, &settings(3, 1)).is_empty()
        );
        let patient = Settings {
            patience: usize::MAX,
            ..settings(1, 1)
        };
        assert!(cluster(&rows, 10, &patient).iter().all(Option::is_none));
    }
}
