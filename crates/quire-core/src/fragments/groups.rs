//! Groups: which values are alike, by a rule that no order of visiting can change.
//!
//! The paper takes the largest part that is left, groups all that are like it, and removes them. Which of two parts of one length is
//! the larger it does not say. Here values have a total order, longer first, then by hash, which depends on nothing but the
//! values. By it every value is a *leader*, or belongs to the first leader that takes it; a leader takes a value that
//! stands behind it and
//!
//! * is as long as `size_ratio` of the leader (the paper's P), and
//! * overlaps with it by `min_match`: shingles that both have, divided by all that either has. A value shorter than two windows takes
//!   and is taken by none: one edit erases its shingles.
//!
//! That is what the paper's loop computes, one value after another, and it has one answer. Equal values are one value here, as they would
//! be in one group there.
//!
//! # Finding them without comparing all with all
//!
//! Two sets with an overlap of t share at least t of the larger one. So when shingles are put into any one order, the first
//! common one is among the first `a - ceil(t a) + 1` of a set of `a`, of both sets. Values meet under these keys, as in
//! locality-sensitive hashing (shingles are min-wise hashes); unlike there no match can be missed. The order is
//! by rarity, so that values rarely meet because of the text that all pages have. Each meeting is then checked.
//!
//! Cost: linear in the values and their meetings. Pages made for it can meet often: then it is the paper's
//! comparing of all with all, each check taking at most 2 S steps.

use super::pool::Pool;

/// Which share of shingles counts as their overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimate {
    /// Of all that are in either sample: the paper's.
    Paper,
    /// Of the smallest S in both together: what is expected of it is the overlap of the texts themselves.
    Unbiased,
}

/// When a leader takes a value.
#[derive(Clone, Copy, Debug)]
pub struct Likeness {
    /// The overlap, at least (`MinMatchFactor`); more than 0.
    pub min_match: f64,
    /// The length, as a share of the leader's, at least (P).
    pub size_ratio: f64,
    /// Shorter values are alike only when equal; two windows.
    pub min_bytes: u32,
    /// Shingles in a sample (S).
    pub sample: usize,
    /// How overlaps are estimated.
    pub estimate: Estimate,
}

impl Likeness {
    /// The overlap of two samples, ascending.
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

    /// How many of `count` shingles are keys: among so many first ones a match has a common one.
    fn keys(&self, count: usize) -> usize {
        // The same division as in `overlap`, which never grows with what is divided by: no rounding can differ.
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

/// A leader and all it took, itself first; values by their numbers in the pool.
pub type Group = Vec<u32>;

/// All groups, in the order of their leaders. Every value of the pool is in one.
#[must_use]
pub fn groups(pool: &Pool, likeness: &Likeness) -> Vec<Group> {
    let mut order: Vec<u32> = (0..pool.values() as u32).collect();
    order.sort_unstable_by_key(|&value| {
        let value = value as usize;
        (std::cmp::Reverse(pool.bytes[value]), pool.hash[value])
    });
    let mut meetings = Meetings::new(pool, likeness, &order);
    let mut taken = vec![false; order.len()];
    let mut asked = vec![u32::MAX; order.len()]; // by which leader last
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

/// What becomes of a value that a leader met.
enum Visit {
    /// Later leaders meet it too.
    Keep,
    /// None does.
    Forget,
    /// It and all behind it are too short.
    Stop,
}

/// Where values meet: for each key the ranks of the values that have it, ascending.
struct Meetings {
    /// The keys of rank `i` are `keys[key_starts[i]..key_starts[i + 1]]`.
    key_starts: Vec<u64>,
    keys: Vec<u32>,
    /// The ranks of key `k` that are left: `ranks[from[k]..to[k]]`.
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
        let mut sorted: Vec<(u32, u32)> = Vec::new(); // shingle and place among the keys
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

    /// Give keys their numbers, and list the ranks of each.
    fn number(&mut self, mut sorted: Vec<(u32, u32)>) {
        let mut rank_of = vec![0u32; sorted.len()];
        for (rank, ends) in self.key_starts.windows(2).enumerate() {
            rank_of[ends[0] as usize..ends[1] as usize].fill(rank as u32);
        }
        sorted.sort_unstable(); // places go up with ranks
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

    /// Show a leader all that stand behind it under its keys, maybe more than once.
    fn visit(&mut self, leader: usize, mut visit: impl FnMut(usize) -> Visit) {
        let (first, last) = (self.key_starts[leader], self.key_starts[leader + 1]);
        for place in first..last {
            let key = self.keys[place as usize] as usize;
            let (from, to) = (self.from[key] as usize, self.to[key] as usize);
            self.kept.clear();
            let mut at = from;
            while at < to {
                let rank = self.ranks[at];
                // Leaders come in their order: what is before this one is taken.
                if rank as usize > leader {
                    match visit(rank as usize) {
                        Visit::Keep => self.kept.push(rank),
                        Visit::Forget => {}
                        Visit::Stop => break,
                    }
                }
                at += 1;
            }
            // Those that stay move up to the part that was not looked at.
            let start = at - self.kept.len();
            self.ranks[start..at].copy_from_slice(&self.kept);
            self.from[key] = start as u64;
        }
    }
}

/// How common shingles are, roughly: counted in as many bins as there are shingles, 2^24 at most.
///
/// A bin may hold several. That costs a meeting or two, but no match: any one order will do.
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

/// The smallest hashes are alike in their first bits; spread them.
#[inline]
fn spread(shingle: u32) -> u32 {
    shingle.wrapping_mul(0x9e37_79b1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pool of values with these lengths and shingles; no pages are needed to group them.
    fn pool(values: &[(u32, Vec<u32>)]) -> Pool {
        let mut pool = Pool::new(1);
        for (hash, (bytes, shingles)) in values.iter().enumerate() {
            pool.value(*bytes, hash as u64, shingles);
        }
        pool
    }

    /// The definition: leaders in their order, each asked about all that are left.
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
