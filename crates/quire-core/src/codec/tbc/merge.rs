//! The merge: combines the tokens set aside and the script between the others into one script, in
//! one pass.

use super::myers::Run;

/// One step of the script, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Number of tokens of the reference to leave out.
    pub deleted: usize,
    /// Number of new tokens of the page.
    pub inserted: usize,
    /// Number of tokens to copy afterwards.
    pub copied: usize,
}

/// Merge into one script: `kept` tells which tokens of each side the filter kept, and `runs` what
/// these have in common.
#[must_use]
pub fn merge(kept_one: &[bool], kept_other: &[bool], runs: &[Run]) -> Vec<Step> {
    let one = places(kept_one);
    let other = places(kept_other);
    let mut steps: Vec<Step> = Vec::new();
    let (mut at, mut at_other) = (0, 0);
    for run in runs {
        for i in 0..run.length {
            let (x, y) = (one[run.one + i], other[run.other + i]);
            match steps.last_mut() {
                // Adjacent on both sides: the copy continues.
                Some(last) if x == at && y == at_other => last.copied += 1,
                _ => steps.push(Step {
                    deleted: x - at,
                    inserted: y - at_other,
                    copied: 1,
                }),
            }
            (at, at_other) = (x + 1, y + 1);
        }
    }
    if at < kept_one.len() || at_other < kept_other.len() {
        steps.push(Step {
            deleted: kept_one.len() - at,
            inserted: kept_other.len() - at_other,
            copied: 0,
        });
    }
    steps
}

fn places(kept: &[bool]) -> Vec<usize> {
    (0..kept.len()).filter(|&at| kept[at]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_put_aside_are_deleted_and_inserted_at_their_places() {
        // A = x a b, B = a b y; the filter set x and y aside.
        let steps = merge(
            &[false, true, true],
            &[true, true, false],
            &[Run {
                one: 0,
                other: 0,
                length: 2,
            }],
        );
        assert_eq!(
            steps[0],
            Step {
                deleted: 1,
                inserted: 0,
                copied: 2
            }
        );
        assert_eq!(
            steps[1],
            Step {
                deleted: 0,
                inserted: 1,
                copied: 0
            }
        );
    }
}
