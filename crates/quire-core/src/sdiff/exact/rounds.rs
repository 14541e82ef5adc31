//! Rounds of the dynamic program for growing numbers of edits.

use super::Budget;
use super::forest::{Forest, PostOrder};
use super::table::Problem;

/// Edits beyond the difference in size that the first round looks for.
const FIRST_SPARE: u32 = 8;

/// What the rounds showed.
pub struct Proof {
    /// No mapping has fewer edits.
    pub at_least: u32,
    /// A mapping with fewer edits than were known, if one was found.
    pub pairs: Option<Vec<(u32, u32)>>,
}

/// Close the gap between what is known from below and from above, within the budget.
///
/// A round looks for mappings of at most `k` edits. It finds the minimum, or shows
/// that it is larger than `k`. Even then it finds good mappings: what it leaves out are those
/// whose sizes run out of step by more than about `k / 2`. So the first round is narrow, and
/// where its mapping meets the lower bound no wide one is needed. Each next one
/// looks twice as wide and costs about four times as much, so the last one dominates.
pub fn prove(
    old: &Forest,
    new: &Forest,
    mut at_least: u32,
    mut at_most: u32,
    budget: &Budget,
) -> Proof {
    let mut pairs = None;
    if at_least >= at_most {
        return Proof { at_least, pairs };
    }
    // The table has a row for each node of one forest and at most all of the other's
    // twice: rows for the smaller one bound it by 2 n1 n2.
    let swapped = old.len() > new.len();
    let (small, large) = if swapped { (new, old) } else { (old, new) };
    let both = small.len() as u64 * large.len() as u64;
    let sides = [
        (PostOrder::forward(small), PostOrder::forward(large)),
        (PostOrder::mirrored(small), PostOrder::mirrored(large)),
    ];
    let mut steps_left = budget.steps;
    // The cheaper of both directions, if the budget allows either.
    let plan = |edits: u32, steps_left: u64| {
        let problems = sides.iter().filter_map(|(small, large)| {
            let problem = Problem::new(small, large, edits)?;
            let fits = problem.cells().min(both) <= budget.cells;
            let steps = fits.then(|| problem.steps(steps_left))??;
            Some((steps, problem))
        });
        problems.min_by_key(|&(steps, _)| steps)
    };
    let difference = (large.len() - small.len()) as u32;
    let mut spare = FIRST_SPARE;
    while at_least < at_most {
        let mut edits = difference.saturating_add(spare).min(at_most - 1);
        let Some((mut steps, mut problem)) = plan(edits, steps_left) else {
            break;
        };
        // A round that is sure to settle the matter is worth some more steps than one that may.
        if let Some(sure) = plan(at_most - 1, steps_left.min(steps.saturating_mul(4))) {
            edits = at_most - 1;
            (steps, problem) = sure;
        }
        steps_left -= steps;
        let tables = problem.solve();
        let distance = problem.distance(&tables);
        if let Some(found) = distance
            && found < at_most
        {
            // At most as many steps again, once a round.
            steps_left = steps_left.saturating_sub(steps);
            pairs = Some(problem.mapping(tables));
            at_most = found;
        }
        at_least = at_most.min(at_least.max(edits + 1));
        spare = spare.saturating_mul(2);
    }
    if swapped && let Some(pairs) = &mut pairs {
        for pair in pairs {
            *pair = (pair.1, pair.0);
        }
    }
    Proof { at_least, pairs }
}
