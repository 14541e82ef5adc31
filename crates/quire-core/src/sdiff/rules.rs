//! What counts as a difference, and where.
//!
//! Rules that change what a node *says* (case, white space, attributes, parts of texts) are
//! applied before anything is hashed, so nodes that differ only in what is ignored are
//! equal everywhere. Rules that forgive a difference (order, numbers that are close) are applied
//! to the pairs at the end: being close is not transitive, so it has no hash.

use regex::{Regex, RegexBuilder};

use crate::error::Error;

/// Compiled patterns may take this much memory each, which no pattern written by hand needs.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// What is not a difference. The default ignores nothing.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Runs of white space are one space, and none at the ends of a text.
    pub ignore_space: bool,
    /// Texts and attribute values are compared in lower case.
    pub ignore_case: bool,
    /// Names of attributes that are not compared; `data-*` stands for all that begin so.
    pub ignore_attributes: Vec<String>,
    /// Parts of texts that are not compared.
    pub ignore_text: Vec<Regex>,
    /// Siblings that only changed places are unchanged.
    pub ignore_order: bool,
    /// Numbers this close are equal.
    pub tolerance: Option<Tolerance>,
}

/// How far two numbers may be apart and still be the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// By this much, or
    pub absolute: f64,
    /// by this share of the larger one.
    pub relative: f64,
}

impl Tolerance {
    /// Whether two numbers are the same.
    pub fn allows(self, old: f64, new: f64) -> bool {
        let apart = (old - new).abs();
        apart <= self.absolute || apart <= self.relative * old.abs().max(new.abs())
    }
}

/// Which parts of a page are compared, as nodes of that page.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Only these subtrees; all of the page when absent.
    pub only: Option<Vec<u32>>,
    /// Not these subtrees.
    pub without: Vec<u32>,
}

impl Rules {
    /// Read a pattern for [`Rules::ignore_text`].
    ///
    /// Patterns are matched in time linear in the text, so a page cannot make one slow.
    ///
    /// ```
    /// use quire_core::sdiff::Rules;
    ///
    /// assert!(Rules::pattern(r"\d+ visitors").is_ok());
    /// assert!(Rules::pattern("(").is_err());
    /// ```
    pub fn pattern(pattern: &str) -> Result<Regex, Error> {
        RegexBuilder::new(pattern)
            .size_limit(MAX_PATTERN_BYTES)
            .build()
            .map_err(|error| Error::Selector {
                selector: pattern.to_owned(),
                message: format!("not a regular expression: {error}"),
                offset: 0,
            })
    }

    /// Whether texts must be rewritten before they are compared.
    pub fn rewrites_text(&self) -> bool {
        self.ignore_space || self.ignore_case || !self.ignore_text.is_empty()
    }

    /// A text as it is compared.
    ///
    /// ```
    /// use quire_core::sdiff::Rules;
    ///
    /// let rules = Rules { ignore_space: true, ignore_case: true, ..Rules::default() };
    /// assert_eq!(rules.rewrite("  Open\n 9 to 5 "), "open 9 to 5");
    /// ```
    pub fn rewrite(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for pattern in &self.ignore_text {
            text = pattern.replace_all(&text, "").into_owned();
        }
        if self.ignore_case {
            text = text.to_lowercase();
        }
        if self.ignore_space {
            let mut words = String::with_capacity(text.len());
            for word in text.split_whitespace() {
                if !words.is_empty() {
                    words.push(' ');
                }
                words.push_str(word);
            }
            text = words;
        }
        text
    }

    /// Whether an attribute is compared.
    pub fn compares(&self, name: &str) -> bool {
        !self
            .ignore_attributes
            .iter()
            .any(|ignored| match ignored.strip_suffix('*') {
                Some(prefix) => name.starts_with(prefix),
                None => name == ignored,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_at_the_end_stands_for_anything() {
        let rules = Rules {
            ignore_attributes: vec!["nonce".into(), "data-*".into()],
            ..Rules::default()
        };
        assert!(!rules.compares("nonce"));
        assert!(!rules.compares("data-id"));
        assert!(rules.compares("data"));
        assert!(rules.compares("nonce2"));
    }

    #[test]
    fn numbers_are_close_by_difference_or_by_share() {
        let tolerance = Tolerance {
            absolute: 0.5,
            relative: 0.01,
        };
        assert!(tolerance.allows(1.0, 1.5));
        assert!(!tolerance.allows(1.0, 1.6));
        assert!(tolerance.allows(1000.0, 1009.0));
        assert!(!tolerance.allows(0.0, 0.6));
    }
}
