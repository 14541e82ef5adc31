//! Numbers of edits that no mapping can go below.

use super::forest::Forest;

/// By size and labels: nodes of the larger forest that find no equal label in the other.
pub fn counts(old: &Forest, new: &Forest) -> u32 {
    let sorted = |forest: &Forest| {
        let mut labels = forest.label.clone();
        labels.sort_unstable();
        labels
    };
    let (olds, news) = (sorted(old), sorted(new));
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < olds.len() && j < news.len() {
        let order = olds[i].cmp(&news[j]);
        shared += usize::from(order.is_eq());
        i += usize::from(order.is_le());
        j += usize::from(order.is_ge());
    }
    (olds.len().max(news.len()) - shared) as u32
}

/// By label strings: a mapping keeps pre-order and post-order, so it aligns both.
///
/// Never above `at_most`, and of use below it. `steps` bounds the work.
pub fn strings(old: &Forest, new: &Forest, at_most: u32, steps: u64) -> u32 {
    let ends = |forest: &Forest| {
        let mut labels = vec![0; forest.len()];
        for x in 0..forest.len() {
            labels[forest.post(x)] = forest.label[x];
        }
        labels
    };
    let starts = string_distance(&old.label, &new.label, at_most, steps / 2);
    if starts == at_most {
        return at_most;
    }
    starts.max(string_distance(&ends(old), &ends(new), at_most, steps / 2))
}

/// Edit distance of two strings, or as much of it as is shown within `at_most` and `steps`.
///
/// Ukkonen's furthest points: after `e` edits, how far along `a` each diagonal
/// gets. An answer of `e` is always a lower bound, so the search may stop anywhere.
pub fn string_distance(a: &[u32], b: &[u32], at_most: u32, mut steps: u64) -> u32 {
    const UNREACHED: i64 = i64::MIN / 2;
    let (rows, columns) = (a.len() as i64, b.len() as i64);
    let goal = columns - rows;
    let limit = i64::from(at_most);
    if goal.abs() >= limit {
        return at_most;
    }
    let mut before = vec![UNREACHED; 2 * at_most as usize + 3];
    let mut after = before.clone();
    let place = |diagonal: i64| (diagonal + limit + 1) as usize;
    for edits in 0..limit {
        // A diagonal that is too far from the goal for the edits that remain is not followed.
        let reach = limit - 1 - edits;
        let low = (-edits).max(goal - reach).max(-rows);
        let high = edits.min(goal + reach).min(columns);
        for diagonal in low..=high {
            let here = place(diagonal);
            let furthest = if edits == 0 {
                0
            } else {
                (before[here] + 1)
                    .max(before[here - 1])
                    .max(before[here + 1] + 1)
                    .min(rows)
                    .min(columns - diagonal)
            };
            after[here] = furthest;
            if furthest < 0 || furthest + diagonal < 0 {
                continue;
            }
            let rests = a[furthest as usize..]
                .iter()
                .zip(&b[(furthest + diagonal) as usize..]);
            let same = rests.take_while(|(x, y)| x == y).count();
            after[here] += same as i64;
            if diagonal == goal && after[here] == rows {
                return edits as u32;
            }
            steps = steps.saturating_sub(4 + same as u64);
            if steps == 0 {
                return edits as u32;
            }
        }
        std::mem::swap(&mut before, &mut after);
    }
    at_most
}
