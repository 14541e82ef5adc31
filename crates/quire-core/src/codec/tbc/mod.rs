//! TBC, template-based compression: paper 003's delta of a page against another page of its
//! cluster.
//!
//! Five steps, each a module:
//!
//! 1. [`tokens`]: both pages are split into tags and the strings between them; equal tokens get
//!    equal numbers.
//! 2. [`filter`]: a window of S tokens slides over both; tokens in no window shared by both sides
//!    are set aside. The remaining parts of A and B are A' and B', and the tokens set aside are the
//!    paper's scripts `S_A` and `S_B`.
//! 3. [`myers`]: the shortest edit script between A' and B' [SES'].
//! 4. [`merge`]: `S_A`, SES' and `S_B` become one script from A to B, in linear time.
//! 5. [`stored`]: the script as bytes. Decoding does not use tokens: it copies from A and inserts
//!    new bytes.
//!
//! Cost: linear except for step 3, which takes O(N D) and has a budget. A delta is exact for any
//! script; the window, the budget and accidental collisions of fingerprints only make it longer.

mod filter;
mod hashed;
mod merge;
mod myers;
mod stored;
mod tokens;

use std::time::{Duration, Instant};

use crate::base::error::Error;

/// The paper's window, in tokens.
pub const WINDOW: usize = 7;

/// Counts of the steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// Tokens of the reference and of the page.
    pub tokens: (usize, usize),
    /// Number of those kept by the filter.
    pub kept: (usize, usize),
    /// Deletions and insertions between the kept tokens (the paper's D).
    pub edits: usize,
    /// Whether that is known to be the minimum.
    pub is_shortest: bool,
}

/// Elapsed time of the steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// Splitting pages into tokens.
    pub cut: Duration,
    /// Filtering.
    pub filter: Duration,
    /// The shortest script.
    pub myers: Duration,
    /// Merging the scripts and writing the bytes.
    pub merge: Duration,
}

/// A page that others are stored against: its tokens and windows are computed once.
#[derive(Debug)]
pub struct Reference<Bytes> {
    bytes: Bytes,
    cut: tokens::Cut,
    windows: filter::Windows,
    /// Time it took to prepare.
    pub spent: Spent,
}

impl<Bytes: AsRef<[u8]>> Reference<Bytes> {
    /// Prepare a reference. A window of 0 sets nothing aside.
    pub fn new(bytes: Bytes, window: usize) -> Self {
        let mut watch = Watch::new();
        let cut = tokens::Cut::new(bytes.as_ref());
        let for_cut = watch.lap();
        let windows = filter::Windows::new(&cut.tokens.ids, window);
        let spent = Spent {
            cut: for_cut,
            filter: watch.lap(),
            ..Spent::default()
        };
        Self {
            bytes,
            cut,
            windows,
            spent,
        }
    }

    /// Return the delta that turns the reference into `page`.
    pub fn delta(&self, page: &[u8]) -> (Vec<u8>, Steps, Spent) {
        let mut watch = Watch::new();
        let mut spent = Spent::default();
        let ours = &self.cut.tokens;
        let theirs = self.cut.cut(self.bytes.as_ref(), page);
        spent.cut = watch.lap();
        let kept = self.windows.filter(&theirs.ids);
        let (one, other) = (left(&ours.ids, &kept.0), left(&theirs.ids, &kept.1));
        spent.filter = watch.lap();
        let (matches, is_shortest) = myers::matches(&one, &other);
        spent.myers = watch.lap();
        let common: usize = matches.iter().map(|run| run.length).sum();
        let steps = Steps {
            tokens: (ours.ids.len(), theirs.ids.len()),
            kept: (one.len(), other.len()),
            edits: one.len() + other.len() - 2 * common,
            is_shortest,
        };
        let script = merge::merge(&kept.0, &kept.1, &matches);
        let delta = stored::write(page, ours, &theirs, &script);
        spent.merge = watch.lap();
        (delta, steps, spent)
    }
}

/// Return the tokens that are kept.
fn left(ids: &[u32], is_kept: &[bool]) -> Vec<u32> {
    let both = ids.iter().zip(is_kept);
    both.filter(|(_, kept)| **kept).map(|(&id, _)| id).collect()
}

/// Measures the time of steps.
struct Watch(Instant);

impl Watch {
    fn new() -> Self {
        Self(Instant::now())
    }

    /// Return the time since the last call.
    fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now - std::mem::replace(&mut self.0, now)
    }
}

/// Return the delta that turns `reference`, used only once, into `page`. A window of 0 sets nothing
/// aside.
///
/// ```
/// use quire_core::codec::tbc::{WINDOW, apply, delta};
///
/// let (a, b) = (b"<ul><li>Cod</li><li>Ham</li></ul>", b"<ul><li>Cod</li><li>Eel</li></ul>");
/// let delta = delta(a, b, WINDOW).0;
/// assert_eq!(apply(a, &delta, b.len()).unwrap(), b);
/// ```
pub fn delta(reference: &[u8], page: &[u8], window: usize) -> (Vec<u8>, Steps) {
    let (delta, steps, _) = Reference::new(reference, window).delta(page);
    (delta, steps)
}

/// Rebuild the page of `length` bytes from the reference and a delta.
pub fn apply(reference: &[u8], delta: &[u8], length: usize) -> Result<Vec<u8>, Error> {
    stored::read(reference, delta, length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::hash::hash64;

    fn random(seed: u64, n: u64) -> Vec<u8> {
        let words: [&[u8]; 9] = [
            b"<p>",
            b"</p>",
            b"<br>",
            b"cod",
            b" ham ",
            b"<a href='x'>",
            b"</a>",
            b"<",
            b"<!-- - -->",
        ];
        (0..n)
            .flat_map(|i| words[(hash64(&[seed, i].map(u64::to_le_bytes).concat()) % 9) as usize])
            .copied()
            .collect()
    }

    #[test]
    fn any_page_comes_back_from_any_reference_with_any_window() {
        let mut pages: Vec<Vec<u8>> = (0..12).map(|seed| random(seed / 2, seed * seed)).collect();
        pages.push(b"<<<<>>>".to_vec());
        pages.push(vec![0xff; 300]);
        pages.push((0..=255).collect());
        for reference in &pages {
            for page in &pages {
                for window in [0, 1, 2, 7, 14, 1000] {
                    let (delta, steps) = delta(reference, page, window);
                    assert_eq!(&apply(reference, &delta, page.len()).unwrap(), page);
                    assert!(steps.kept.0 <= steps.tokens.0 && steps.kept.1 <= steps.tokens.1);
                    assert!(window != 0 || steps.kept == steps.tokens);
                }
            }
        }
    }

    #[test]
    fn a_page_against_itself_is_a_few_bytes() {
        let page = random(3, 5000);
        let (delta, steps) = delta(&page, &page, WINDOW);
        assert!(delta.len() < 8 && steps.edits == 0 && steps.is_shortest);
    }

    #[test]
    fn damaged_deltas_are_refused_or_give_a_page_of_the_length_asked_for() {
        let (reference, page) = (random(1, 400), random(2, 400));
        let (delta, _) = delta(&reference, &page, WINDOW);
        for length in 0..delta.len() {
            assert!(apply(&reference, &delta[..length], page.len()).is_err());
        }
        for at in 0..delta.len() {
            for bit in 0..8 {
                let mut wrong = delta.clone();
                wrong[at] ^= 1 << bit;
                if let Ok(made) = apply(&reference, &wrong, page.len()) {
                    assert_eq!(made.len(), page.len());
                }
            }
        }
        assert!(apply(&reference, &delta, page.len() + 1).is_err());
        assert!(apply(b"", &delta, page.len()).is_err());
    }
}
