//! The parts of a page that are compared: all of it, or the elements that a selector chooses.
//!
//! A chosen element counts with everything in it, as if nothing else was there: sequences do not
//! continue from one chosen part to the next, and paths start at it. If chosen elements are nested,
//! only the outer ones count, so that nothing counts twice.

use std::ops::Range;

use crate::base::error::Error;
use crate::digest::Digest;
use crate::select::{CssSelector, Limits, View};

/// Parts of a page, as ranges of nodes, in document order and disjoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    parts: Vec<Range<usize>>,
}

impl Scope {
    /// Choose the whole page, or the elements that match `nodes` (a CSS selector).
    pub fn new(page: &Digest, nodes: Option<&str>) -> Result<Self, Error> {
        let Some(selector) = nodes else {
            return Ok(Self::whole(page));
        };
        page.check_heaps()?;
        let chosen =
            CssSelector::parse(selector)?.select(&View::new(page), 0, Limits::default())?;
        let sizes = &page.derived().size;
        let mut parts: Vec<Range<usize>> = Vec::new();
        for node in chosen {
            let start = node as usize;
            if parts.last().is_none_or(|last| last.end <= start) {
                parts.push(start..start + sizes[start] as usize);
            }
        }
        Ok(Self { parts })
    }

    /// Choose the whole page.
    pub fn whole(page: &Digest) -> Self {
        Self {
            parts: std::iter::once(0..page.n()).collect(),
        }
    }

    /// Return the parts.
    pub fn parts(&self) -> impl Iterator<Item = Range<usize>> {
        self.parts.iter().cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Options, encode};

    #[test]
    fn of_nested_parts_the_outer_one_counts() {
        let source = b"<div><div>a</div></div><p>b<div>c</div>";
        let page = encode(source, &Options::default()).unwrap();
        // document, html, head, body, div, div, a, p, b, div, c
        let parts = |selector| Scope::new(&page, Some(selector)).map(|scope| scope.parts);
        assert_eq!(parts("div"), Ok(vec![4..7, 9..11]));
        assert_eq!(parts("table"), Ok(Vec::new()));
        assert!(parts("p[").is_err());
        assert_eq!(Scope::new(&page, None), Ok(Scope::whole(&page)));
    }
}
