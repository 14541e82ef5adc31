//! Finds the page of a block that another page resembles more than it resembles the base.

use std::collections::HashMap;

use super::sketch::{EMPTY, SKETCH_VALUES, Sketch, all_values};

/// A neighbour has to have this share of the values of a page, in percent.
const LEAST_PERCENT: usize = 20;

/// The base of some pages, and those of them that others may depend on.
pub struct Neighbours {
    base: Vec<u32>,
    pages: HashMap<u32, Vec<u32>>,
    count: usize,
}

impl Neighbours {
    /// Begin with a base and no pages.
    #[must_use]
    pub fn new(base: &[u8]) -> Neighbours {
        Neighbours {
            base: all_values(base),
            pages: HashMap::new(),
            count: 0,
        }
    }

    /// Use another base, with the same pages.
    pub fn set_base(&mut self, base: &[u8]) {
        self.base = all_values(base);
    }

    /// Forget all pages.
    pub fn clear(&mut self) {
        self.pages.clear();
        self.count = 0;
    }

    /// Add a page and return its number, counted from 0.
    pub fn add(&mut self, sketch: &Sketch) -> usize {
        for &value in used(sketch) {
            self.pages.entry(value).or_default().push(self.count as u32);
        }
        self.count += 1;
        self.count - 1
    }

    /// Return the page that has most values in common with this one; of equal ones, the latest.
    ///
    /// Returns `None` if it has no more of them than the base, or less than a fifth.
    #[must_use]
    pub fn nearest(&self, sketch: &Sketch) -> Option<usize> {
        let mut counts = vec![0; self.count];
        for value in used(sketch) {
            for &page in self.pages.get(value).into_iter().flatten() {
                counts[page as usize] += 1;
            }
        }
        let (&held, page) = counts.iter().zip(0..).max()?;
        let in_base = |value: &&u32| self.base.binary_search(value).is_ok();
        let is_near = 100 * held >= LEAST_PERCENT * used(sketch).count();
        (held > 0 && is_near && held > used(sketch).filter(in_base).count()).then_some(page)
    }
}

fn used(sketch: &Sketch) -> impl Iterator<Item = &u32> {
    sketch
        .iter()
        .take(SKETCH_VALUES)
        .take_while(|&&value| value != EMPTY)
}
