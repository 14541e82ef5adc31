//! Myers' O(ND) difference algorithm in linear space: the fewest deletions and insertions between
//! two sequences.
//!
//! Paths from both ends grow towards each other until they meet in a *middle snake*; the parts
//! before and after it are processed the same way (Myers 1986, section 4b). Time O(N D), memory
//! O(N). Uses a stack instead of recursion.
//!
//! Sequences with little in common cost N times N, so there is a budget of steps for the whole. A
//! part started after the budget is used up is replaced as a whole: the script is still correct,
//! and reported as possibly not the shortest.

/// A run of tokens that both sides have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its start in the first sequence.
    pub one: usize,
    /// Its start in the second sequence.
    pub other: usize,
    /// Its number of tokens.
    pub length: usize,
}

/// Number of steps that is always allowed, and further steps for every token.
const STEPS: u64 = 1 << 24;
const STEPS_A_TOKEN: u64 = 1 << 10;

/// Return the runs that two sequences have in common, in order, as left by a shortest edit script;
/// and whether it is known to be shortest.
pub fn matches(one: &[u32], other: &[u32]) -> (Vec<Run>, bool) {
    let tokens = (one.len() + other.len()) as u64;
    matches_within(one, other, STEPS + tokens * STEPS_A_TOKEN)
}

/// Compute [`matches`] with a budget of steps.
pub fn matches_within(one: &[u32], other: &[u32], budget: u64) -> (Vec<Run>, bool) {
    let mut search = Search {
        one,
        other,
        forward: vec![0; one.len() + other.len() + 3],
        backward: vec![0; one.len() + other.len() + 3],
        left: budget,
    };
    let mut found: Vec<Run> = Vec::new();
    let mut is_shortest = true;
    // Remaining parts, the first on top.
    let mut parts = vec![Part {
        one: (0, one.len()),
        other: (0, other.len()),
    }];
    while let Some(mut part) = parts.pop() {
        let before = part.trim_start(one, other);
        add(&mut found, before);
        let after = part.trim_end(one, other);
        if part.is_one_sided() {
            add(&mut found, after);
            continue;
        }
        match search.middle(&part) {
            None => {
                is_shortest = false;
                add(&mut found, after);
            }
            Some((x, y)) => {
                // The tail waits below the two halves, as a part that is equal on both sides.
                parts.push(Part {
                    one: (after.one, after.one + after.length),
                    other: (after.other, after.other + after.length),
                });
                parts.push(Part {
                    one: (x, part.one.1),
                    other: (y, part.other.1),
                });
                parts.push(Part {
                    one: (part.one.0, x),
                    other: (part.other.0, y),
                });
            }
        }
    }
    (found, is_shortest)
}

/// Add a run; if it continues the last one, that one becomes longer.
fn add(found: &mut Vec<Run>, run: Run) {
    if run.length == 0 {
        return;
    }
    if let Some(last) = found.last_mut()
        && last.one + last.length == run.one
        && last.other + last.length == run.other
    {
        last.length += run.length;
        return;
    }
    found.push(run);
}

/// A part of both sequences.
struct Part {
    one: (usize, usize),
    other: (usize, usize),
}

impl Part {
    fn is_one_sided(&self) -> bool {
        self.one.0 == self.one.1 || self.other.0 == self.other.1
    }

    fn trim_start(&mut self, one: &[u32], other: &[u32]) -> Run {
        let (a, b) = (
            &one[self.one.0..self.one.1],
            &other[self.other.0..self.other.1],
        );
        let length = common_start(a, b);
        let run = Run {
            one: self.one.0,
            other: self.other.0,
            length,
        };
        self.one.0 += length;
        self.other.0 += length;
        run
    }

    fn trim_end(&mut self, one: &[u32], other: &[u32]) -> Run {
        let (a, b) = (
            &one[self.one.0..self.one.1],
            &other[self.other.0..self.other.1],
        );
        let length = common_end(a, b);
        self.one.1 -= length;
        self.other.1 -= length;
        Run {
            one: self.one.1,
            other: self.other.1,
            length,
        }
    }
}

struct Search<'a> {
    one: &'a [u32],
    other: &'a [u32],
    /// Furthest x on each diagonal from the start, and from the end; `NOWHERE` and its negative for
    /// "none".
    forward: Vec<i32>,
    backward: Vec<i32>,
    left: u64,
}

/// So far out that no number of steps can return.
const NOWHERE: i32 = i32::MIN / 2;
/// Longer sequences are not compared, so that positions fit into 32 bits: half a billion tokens
/// have at least as many bytes.
const MOST_TOKENS: usize = 1 << 29;

impl Search<'_> {
    /// Return a point on a shortest script, inside the part and not at one of its ends; `None` if
    /// the budget is used up.
    ///
    /// Both sides of the part are not empty and differ in their first and last tokens: there are at
    /// least two edits.
    #[allow(clippy::many_single_char_names)] // the names of the paper
    fn middle(&mut self, part: &Part) -> Option<(usize, usize)> {
        let (a, b) = (
            &self.one[part.one.0..part.one.1],
            &self.other[part.other.0..part.other.1],
        );
        if a.len() + b.len() > MOST_TOKENS {
            return None;
        }
        let (n, m) = (a.len() as i32, b.len() as i32);
        let delta = n - m;
        let is_odd = delta % 2 != 0;
        // Diagonals go from -m to n; those next to the outermost are read too.
        let at = |k: i32| (k + m + 1) as usize;
        let has_place = |k: i32| (-m - 1..=n + 1).contains(&k);
        // The diagonals of step d around a middle one, without those outside.
        let around = |middle: i32, d: i32| {
            let (low, high) = (middle - d, middle + d);
            let outside = |by: i32| by.max(0) + (by.max(0) & 1);
            (low + outside(-m - low), high - outside(high - n))
        };
        let point = |x: i32, k: i32| (part.one.0 + x as usize, part.other.0 + (x - k) as usize);
        let (forward, backward) = (&mut self.forward[..], &mut self.backward[..]);
        for d in 0..=(n + m + 1) / 2 {
            self.left = self.left.checked_sub(2 * d as u64 + 1)?;
            for k in [-d - 1, d + 1] {
                if has_place(k) {
                    forward[at(k)] = NOWHERE;
                }
                if has_place(delta + k) {
                    backward[at(delta + k)] = -NOWHERE;
                }
            }
            let (low, high) = around(0, d);
            for k in (low..=high).step_by(2) {
                let right = forward[at(k - 1)] + 1;
                let down = forward[at(k + 1)];
                let right = if right > n { NOWHERE } else { right };
                let down = if down - k > m { NOWHERE } else { down };
                let mut x = if d == 0 { 0 } else { right.max(down) };
                if x >= 0 {
                    while x < n && x - k < m && a[x as usize] == b[(x - k) as usize] {
                        x += 1;
                    }
                    if is_odd && (k - delta).abs() < d && x >= backward[at(k)] {
                        return Some(point(x, k));
                    }
                }
                forward[at(k)] = x;
            }
            let (low, high) = around(delta, d);
            for k in (low..=high).step_by(2) {
                let left = backward[at(k + 1)] - 1;
                let up = backward[at(k - 1)];
                let left = if left < 0 { -NOWHERE } else { left };
                let up = if up < k { -NOWHERE } else { up };
                let mut x = if d == 0 { n } else { left.min(up) };
                if x <= n {
                    while x > 0 && x > k && a[x as usize - 1] == b[(x - k) as usize - 1] {
                        x -= 1;
                    }
                    if !is_odd && k.abs() <= d && x <= forward[at(k)] {
                        return Some(point(x, k));
                    }
                }
                backward[at(k)] = x;
            }
        }
        None
    }
}

fn common_start(a: &[u32], b: &[u32]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

fn common_end(a: &[u32], b: &[u32]) -> usize {
    let pairs = a.iter().rev().zip(b.iter().rev());
    pairs.take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::hash::hash64;

    /// Count the fewest deletions and insertions with the plain dynamic program.
    fn distance(one: &[u32], other: &[u32]) -> usize {
        let mut row: Vec<usize> = (0..=other.len()).collect();
        for (i, a) in one.iter().enumerate() {
            let mut diagonal = row[0];
            row[0] = i + 1;
            for (j, b) in other.iter().enumerate() {
                let best = if a == b {
                    diagonal
                } else {
                    row[j].min(row[j + 1]) + 1
                };
                diagonal = std::mem::replace(&mut row[j + 1], best);
            }
        }
        row[other.len()]
    }

    fn some(seed: u64, n: u64, kinds: u64) -> Vec<u32> {
        (0..n)
            .map(|i| (hash64(&[seed, i].map(u64::to_le_bytes).concat()) % kinds) as u32)
            .collect()
    }

    fn check(one: &[u32], other: &[u32], runs: &[Run]) -> usize {
        let (mut x, mut y, mut common) = (0, 0, 0);
        for run in runs {
            assert!(run.length > 0 && run.one >= x && run.other >= y);
            assert_eq!(
                one[run.one..run.one + run.length],
                other[run.other..run.other + run.length]
            );
            (x, y) = (run.one + run.length, run.other + run.length);
            common += run.length;
        }
        one.len() + other.len() - 2 * common
    }

    #[test]
    fn scripts_are_as_short_as_the_dynamic_program_finds() {
        for seed in 0..3000 {
            let length = |part| hash64(&[seed, part].map(u64::to_le_bytes).concat()) % 40;
            let kinds = 1 + seed % 7;
            let (one, other) = (
                some(seed, length(1), kinds),
                some(seed + 9999, length(2), kinds),
            );
            let (runs, is_shortest) = matches(&one, &other);
            assert!(is_shortest);
            assert_eq!(check(&one, &other, &runs), distance(&one, &other));
        }
    }

    #[test]
    fn edited_sequences_too() {
        for seed in 0..300 {
            let one = some(seed, 300, 30);
            let mut other = one.clone();
            for edit in 0..seed % 20 {
                let at =
                    hash64(&[seed, edit].map(u64::to_le_bytes).concat()) as usize % other.len();
                match edit % 3 {
                    0 => other[at] = 77,
                    1 => drop(other.remove(at)),
                    _ => other.insert(at, 5),
                }
            }
            let (runs, _) = matches(&one, &other);
            assert_eq!(check(&one, &other, &runs), distance(&one, &other));
        }
    }

    #[test]
    fn a_budget_ends_the_search_and_not_the_answer() {
        let (one, other) = (some(1, 2000, 3), some(2, 2000, 3));
        for budget in [0, 1, 1000, 100_000] {
            let (runs, is_shortest) = matches_within(&one, &other, budget);
            check(&one, &other, &runs);
            assert!(!is_shortest);
        }
        let fewest = check(&one, &other, &matches_within(&one, &other, u64::MAX).0);
        assert_eq!(fewest, distance(&one, &other));
    }

    #[test]
    fn matches_are_runs_of_the_shortest_script() {
        let (found, is_shortest) = matches(&[1, 2, 3, 4], &[1, 3, 4, 5]);
        assert_eq!(
            found,
            [
                Run {
                    one: 0,
                    other: 0,
                    length: 1
                },
                Run {
                    one: 2,
                    other: 1,
                    length: 2
                }
            ]
        );
        assert!(is_shortest);
    }
}
