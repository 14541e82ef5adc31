//! Counts siblings.

use selectors::parser::NthSelectorData;

use super::evaluate::Evaluation;
use super::sets::{Set, is_through};
use crate::base::error::Error;

impl Evaluation<'_> {
    /// Evaluate `:nth-child()` and similar: children are counted per parent, by type if requested,
    /// and only those in `counted`.
    pub(super) fn nth(
        &self,
        data: &NthSelectorData,
        counted: Option<&Set>,
        set: &mut Set,
    ) -> Result<(), Error> {
        let counted = counted.unwrap_or(&self.domain.elements);
        let (sizes, tags) = (self.page.sizes(), self.page.tags());
        let (from_end, only) = (data.ty.is_from_end(), data.ty.is_only());
        let kind = |node: u32| {
            if data.ty.is_of_type() {
                tags[node as usize] as usize
            } else {
                0
            }
        };
        // One counter per tag; each parent resets them to zero.
        let mut counts = vec![0_i32; self.page.tag_count() as usize + 1];
        let mut children = Vec::new();
        self.domain.pass()?;
        self.domain.pass()?;
        self.domain.take(self.page.tag_count() as usize)?;
        let through: Vec<bool> = (0..self.page.tag_count())
            .map(|tag| is_through(self.page.tag_class(tag)))
            .collect();
        let through = |node: u32| through[tags[node as usize] as usize];
        for parent in self.domain.window().filter(|&node| !through(node)) {
            let end = parent + sizes[parent as usize];
            let mut child = parent + 1;
            children.clear();
            while child < end {
                if counted[child as usize] {
                    children.push(child);
                    counts[kind(child)] += 1;
                }
                child += if through(child) {
                    1
                } else {
                    sizes[child as usize]
                };
            }
            if only {
                for &child in &children {
                    set[child as usize] &= counts[kind(child)] == 1;
                }
                for &child in &children {
                    counts[kind(child)] = 0;
                }
                continue;
            }
            // Backwards, the counter is the index from the start; forwards, from the end.
            if !from_end {
                children.reverse();
            }
            for &child in &children {
                let left = &mut counts[kind(child)];
                set[child as usize] &= data.an_plus_b.matches_index(*left);
                *left -= 1;
            }
        }
        // Nodes that are not counted have no index.
        self.domain.keep(set, counted)
    }
}
