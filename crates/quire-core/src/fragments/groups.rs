//! Groups: finds values that are similar, by a rule that does not depend on the order of visiting.
//!
//! The paper takes the largest remaining part, groups all parts that are similar to it, and removes
//! them. It does not say which of two parts of equal length is larger. Here values have a total
//! order: longer first, then by hash, which depends only on the values. In this order every value
//! is a *leader*, or belongs to the first leader that takes it. A leader takes a value that comes
//! after it and
//!
//! * is at least `size_ratio` as long as the leader (the paper's P), and
//! * overlaps with it by at least `min_match`: shingles in both, divided by shingles in either. A
//!   value shorter than two windows neither takes nor is taken: one edit would change all its
//!   shingles.
//!
//! This is what the paper's loop computes, one value after another, with a unique result. Equal
//! values are one value here; in the paper they would be in one group.
//!
//! # How they are found without comparing all with all
//!
//! Two sets with an overlap of t share at least t of the larger one. So if shingles are put into
//! any fixed order, the first common one is among the first `a - ceil(t a) + 1` of a set of `a`, in
//! both sets. Values meet under these keys, as in locality-sensitive hashing (shingles are min-wise
//! hashes); but here no match can be missed. The order is by rarity, so that values rarely meet
//! because of text that all pages have. Each meeting is then checked.
//!
//! Cost: linear in the values and their meetings. Crafted pages can meet often: then it is the
//! paper's comparison of all with all, each check taking at most 2 S steps.

use super::pool::Pool;

/// Which share of shingles counts as the overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimate {
    /// Of all shingles in either sample: the paper's estimate.
    Paper,
    /// Of the smallest S in both together: its expected value is the overlap of the texts
    /// themselves.
    Unbiased,
}

/// The rule by which a leader takes a value.
#[derive(Clone, Copy, Debug)]
pub struct Likeness {
    /// Minimum overlap (`MinMatchFactor`); more than 0.
    pub min_match: f64,
    /// Minimum length, as a share of the leader's (P).
    pub size_ratio: f64,
    /// Shorter values match only if they are equal; two windows.
    pub min_bytes: u32,
    /// Number of shingles in a sample (S).
    pub sample: usize,
    /// How overlaps are estimated.
    pub estimate: Estimate,
}

impl Likeness {
    /// Return the overlap of two ascending samples.
    #[must_use]
    pub fn overlap(&self, one: &[u32], other: &[u32]) -> f64 {
        let most = match self.estimate {
            Estimate::Paper => usize::MAX,
            Estimate::Unbiased => self.sample,
        };
        let (mut i, mut j, mut shared, mut all) = (0, 0, 0u32, 0);
        while i < one.len() && j < other.len() && all < most {
            let (a, b) = (one[i], other[j]);
            i += usize::from(a <= b);
            j += usize::from(b <= a);
            shared += u32::from(a == b);
            all += 1;
        }
        all = (all + one.len() - i + other.len() - j).min(most);
        share(shared, all)
    }

    /// Return how many of `count` shingles are keys: two values that match share one of their first
    /// so many.
    fn keys(&self, count: usize) -> usize {
        // The same division as in `overlap`; its result never grows with the divisor, so rounding
        // cannot differ.
        let needed = (0..=count as u32).find(|&shared| share(shared, count) >= self.min_match);
        needed.map_or(0, |needed| count + 1 - (needed as usize).max(1))
    }

    fn is_long_enough(&self, bytes: u32, leader: u32) -> bool {
        f64::from(bytes) >= self.size_ratio * f64::from(leader)
    }
}

fn share(shared: u32, all: usize) -> f64 {
    f64::from(shared) / f64::from(all.max(1) as u32)
}

/// A leader and all values it took, the leader first; values by their numbers in the pool.
pub type Group = Vec<u32>;

/// Return all groups, in the order of their leaders. Every value of the pool is in one.
#[must_use]
pub fn groups(pool: &Pool, likeness: &Likeness) -> Vec<Group> {
    let mut order: Vec<u32> = (0..pool.values() as u32).collect();
    order.sort_unstable_by_key(|&value| {
        let value = value as usize;
        (std::cmp::Reverse(pool.bytes[value]), pool.hash[value])
    });
    let mut meetings = Meetings::new(pool, likeness, &order);
    let mut taken = vec![false; order.len()];
    let mut asked = vec![u32::MAX; order.len()]; // the last leader that asked
    let mut found = Vec::new();
    for rank in 0..order.len() {
        if std::mem::replace(&mut taken[rank], true) {
            continue;
        }
        let leader = order[rank] as usize;
        let mut group = vec![rank as u32];
        let ours = pool.shingles(leader);
        meetings.visit(rank, |other| {
            let value = order[other] as usize;
            if !likeness.is_long_enough(pool.bytes[value], pool.bytes[leader]) {
                return Visit::Stop;
            }
            if taken[other] {
                return Visit::Forget;
            }
            if std::mem::replace(&mut asked[other], rank as u32) != rank as u32
                && likeness.overlap(ours, pool.shingles(value)) >= likeness.min_match
            {
                taken[other] = true;
                group.push(other as u32);
                return Visit::Forget;
            }
            Visit::Keep
        });
        group.sort_unstable();
        found.push(group.iter().map(|&rank| order[rank as usize]).collect());
    }
    found
}

/// How to proceed with a value that a leader met.
enum Visit {
    /// Later leaders meet it too.
    Keep,
    /// No later leader meets it.
    Forget,
    /// It and all values after it are too short.
    Stop,
}

/// Where values meet: for each key, the ranks of the values that have it, ascending.
struct Meetings {
    /// The keys of rank `i` are `keys[key_starts[i]..key_starts[i + 1]]`.
    key_starts: Vec<u64>,
    keys: Vec<u32>,
    /// The remaining ranks of key `k`: `ranks[from[k]..to[k]]`.
    ranks: Vec<u32>,
    from: Vec<u64>,
    to: Vec<u64>,
    kept: Vec<u32>,
}

impl Meetings {
    fn new(pool: &Pool, likeness: &Likeness, order: &[u32]) -> Self {
        let long = |value: u32| pool.bytes[value as usize] >= likeness.min_bytes;
        let rarity = Rarity::new(pool, order.iter().copied().filter(|&value| long(value)));
        let mut meetings = Self {
            key_starts: vec![0],
            keys: Vec::new(),
            ranks: Vec::new(),
            from: Vec::new(),
            to: Vec::new(),
            kept: Vec::new(),
        };
        let mut sorted: Vec<(u32, u32)> = Vec::new(); // shingle and index among the keys
        let mut rarest = Vec::new();
        for &value in order {
            if long(value) {
                let shingles = pool.shingles(value as usize);
                rarest.clear();
                rarest.extend(
                    shingles
                        .iter()
                        .map(|&shingle| (rarity.of(shingle), shingle)),
                );
                rarest.sort_unstable();
                rarest.truncate(likeness.keys(shingles.len()));
                for &(_, shingle) in &rarest {
                    sorted.push((shingle, sorted.len() as u32));
                }
            }
            meetings.key_starts.push(sorted.len() as u64);
        }
        meetings.number(sorted);
        meetings
    }

    /// Number the keys, and list the ranks of each.
    fn number(&mut self, mut sorted: Vec<(u32, u32)>) {
        let mut rank_of = vec![0u32; sorted.len()];
        for (rank, ends) in self.key_starts.windows(2).enumerate() {
            rank_of[ends[0] as usize..ends[1] as usize].fill(rank as u32);
        }
        sorted.sort_unstable(); // indexes ascend with ranks
        self.keys = vec![0; sorted.len()];
        self.ranks.reserve(sorted.len());
        for run in sorted.chunk_by(|one, other| one.0 == other.0) {
            self.from.push(self.ranks.len() as u64);
            for &(_, place) in run {
                self.keys[place as usize] = self.to.len() as u32;
                self.ranks.push(rank_of[place as usize]);
            }
            self.to.push(self.ranks.len() as u64);
        }
    }

    /// Call `visit` for all values after a leader under its keys, possibly more than once.
    fn visit(&mut self, leader: usize, mut visit: impl FnMut(usize) -> Visit) {
        let (first, last) = (self.key_starts[leader], self.key_starts[leader + 1]);
        for place in first..last {
            let key = self.keys[place as usize] as usize;
            let (from, to) = (self.from[key] as usize, self.to[key] as usize);
            self.kept.clear();
            let mut at = from;
            while at < to {
                let rank = self.ranks[at];
                // Leaders come in order: values before this one are already taken.
                if rank as usize > leader {
                    match visit(rank as usize) {
                        Visit::Keep => self.kept.push(rank),
                        Visit::Forget => {}
                        Visit::Stop => break,
                    }
                }
                at += 1;
            }
            // Values that stay are moved up to the part not yet visited.
            let start = at - self.kept.len();
            self.ranks[start..at].copy_from_slice(&self.kept);
            self.from[key] = start as u64;
        }
    }
}

/// How common shingles are, approximately: counted in as many bins as there are shingles, at most
/// 2^24.
///
/// A bin may count several shingles. That costs a few more meetings, but no match: any fixed order
/// works.
struct Rarity {
    bins: Vec<u32>,
    shift: u32,
}

impl Rarity {
    fn new(pool: &Pool, values: impl Iterator<Item = u32> + Clone) -> Self {
        let all: usize = (values.clone())
            .map(|value| pool.shingles(value as usize).len())
            .sum();
        let bits = (all.max(2).next_power_of_two().ilog2()).min(24);
        let mut rarity = Self {
            bins: vec![0; 1 << bits],
            shift: 32 - bits,
        };
        for value in values {
            for &shingle in pool.shingles(value as usize) {
                let bin = rarity.bin(shingle);
                rarity.bins[bin] += 1;
            }
        }
        rarity
    }

    #[inline]
    fn bin(&self, shingle: u32) -> usize {
        (spread(shingle) >> self.shift) as usize
    }

    #[inline]
    fn of(&self, shingle: u32) -> u32 {
        self.bins[self.bin(shingle)]
    }
}

/// Mix the bits: the smallest hashes are equal in their first bits.
#[inline]
fn spread(shingle: u32) -> u32 {
    shingle.wrapping_mul(0x9e37_79b1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Make a pool of values with these lengths and shingles; grouping needs no pages.
    fn pool(values: &[(u32, Vec<u32>)]) -> Pool {
        let mut pool = Pool::new(1);
        for (hash, (bytes, shingles)) in values.iter().enumerate() {
            pool.value(*bytes, hash as u64, shingles);
        }
        pool
    }

    /// The definition: leaders in order, each compared with all remaining values.
    fn one_by_one(pool: &Pool, likeness: &Likeness) -> Vec<Group> {
        let mut left: Vec<u32> = (0..pool.values() as u32).collect();
        left.sort_by_key(|&v| {
            (
                std::cmp::Reverse(pool.bytes[v as usize]),
                pool.hash[v as usize],
            )
        });
        let mut found = Vec::new();
        while let Some(&leader) = left.first() {
            let takes = |value: u32| {
                let (bytes, longest) = (pool.bytes[value as usize], pool.bytes[leader as usize]);
                let overlap = likeness.overlap(
                    pool.shingles(leader as usize),
                    pool.shingles(value as usize),
                );
                value == leader
                    || bytes >= likeness.min_bytes
                        && f64::from(bytes) >= likeness.size_ratio * f64::from(longest)
                        && overlap >= likeness.min_match
            };
            let (group, others) = left.iter().partition(|&&value| takes(value));
            found.push(group);
            left = others;
        }
        found
    }

    #[test]
    fn no_match_is_missed() {
        let mut state = 1u64;
        let mut random = move |below: u64| {
            state = super::super::slices::mixed(state.wrapping_add(0x9e37_79b9_7f4a_7c15));
            state % below
        };
        for round in 0..300 {
            let sample = [1, 2, 5, 25][round % 4];
            let values: Vec<(u32, Vec<u32>)> = (0..60)
                .map(|_| {
                    let mut shingles: Vec<u32> = (0..=random(sample))
                        .map(|_| random(2 * sample) as u32)
                        .collect();
                    shingles.sort_unstable();
                    shingles.dedup();
                    (30 + random(40) as u32, shingles)
                })
                .collect();
            let pool = pool(&values);
            for min_match in [0.05, 0.3, 0.5, 0.7, 0.9, 1.0] {
                for estimate in [Estimate::Paper, Estimate::Unbiased] {
                    let likeness = Likeness {
                        min_match,
                        size_ratio: [0.0, 0.7, 0.9][round % 3],
                        min_bytes: 40,
                        sample: sample as usize,
                        estimate,
                    };
                    assert_eq!(groups(&pool, &likeness), one_by_one(&pool, &likeness));
                }
            }
        }
    }

    #[test]
    fn overlaps_are_what_both_have_of_what_either_has() {
        let likeness = |estimate| Likeness {
            min_match: 0.5,
            size_ratio: 0.0,
            min_bytes: 0,
            sample: 4,
            estimate,
        };
        let (one, other) = ([1, 2, 3, 9], [2, 3, 4, 5]);
        assert!((likeness(Estimate::Paper).overlap(&one, &other) - 2.0 / 6.0).abs() < 1e-12);
        // The smallest four of both: 1, 2, 3, 4.
        assert!((likeness(Estimate::Unbiased).overlap(&one, &other) - 0.5).abs() < 1e-12);
        assert!(likeness(Estimate::Paper).overlap(&[], &[]) == 0.0);
    }
}
