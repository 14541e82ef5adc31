//! What counts as a difference, and where.
//!
//! Rules that change what a node *says* (case, white space, attributes, parts of texts) are
//! applied before anything is hashed, so nodes that differ only in ignored parts are
//! equal everywhere. Rules that forgive a difference (order, numbers that are close) are applied
//! to the pairs at the end: being close is not transitive, so it has no hash.

use regex::{Regex, RegexBuilder};

use crate::base::error::Error;

/// Patterns may be this long, as selectors may.
const MAX_PATTERN_BYTES: usize = 65_536;

/// Compiled patterns may take this much memory each, which no pattern written by hand needs.
const MAX_COMPILED_BYTES: usize = 1 << 20;

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
    /// let error = Rules::pattern("a(b").unwrap_err().to_string();
    /// assert_eq!(error, r#"pattern "a(b": unclosed group (at character 1)"#);
    /// ```
    pub fn pattern(pattern: &str) -> Result<Regex, Error> {
        let refusal = |message, offset| Error::Pattern {
            pattern: pattern.to_owned(),
            message,
            offset,
        };
        if pattern.len() > MAX_PATTERN_BYTES {
            let found = pattern.len();
            let message = format!("{found} bytes long, but the limit is {MAX_PATTERN_BYTES}");
            return Err(refusal(message, None));
        }
        RegexBuilder::new(pattern)
            .size_limit(MAX_COMPILED_BYTES)
            .build()
            .map_err(|error| match error {
                regex::Error::CompiledTooBig(limit) => refusal(
                    format!("too large: compiled, it takes more than {limit} bytes"),
                    None,
                ),
                error => {
                    let (message, at) = fault(pattern).unwrap_or((error.to_string(), 0));
                    refusal(message, Some(pattern[..at].chars().count()))
                }
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

/// What is wrong with a pattern, in one line, and where. `regex` itself only gives a drawing of it.
fn fault(pattern: &str) -> Option<(String, usize)> {
    match regex_syntax::parse(pattern) {
        Err(regex_syntax::Error::Parse(error)) => {
            Some((error.kind().to_string(), error.span().start.offset))
        }
        Err(regex_syntax::Error::Translate(error)) => {
            Some((error.kind().to_string(), error.span().start.offset))
        }
        _ => None,
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
    fn a_pattern_that_cannot_be_read_is_told_in_one_line_with_the_place() {
        for (pattern, told) in [
            ("é(b", "unclosed group (at character 1)"),
            ("a\n[b", "unclosed character class (at character 2)"),
            (r"é\p{Foo}", "Unicode property not found (at character 1)"),
            (
                "a(?=b)",
                "look-around, including look-ahead and look-behind, is not supported (at character 1)",
            ),
        ] {
            let error = Rules::pattern(pattern).unwrap_err().to_string();
            assert_eq!(error, format!("pattern {pattern:?}: {told}"));
        }
    }

    #[test]
    fn a_pattern_that_takes_too_much_is_refused() {
        let told = |pattern: &str| Rules::pattern(pattern).unwrap_err().to_string();
        assert_eq!(
            told("(a{1000}){1000}"),
            r#"pattern "(a{1000}){1000}": too large: compiled, it takes more than 1048576 bytes"#
        );
        let long = told(&"a".repeat(65_537));
        assert!(
            long.ends_with("…\": 65537 bytes long, but the limit is 65536"),
            "{long}"
        );
        assert!(told(&"(".repeat(65_536)).len() < 300);
        assert!(Rules::pattern(&"a".repeat(10_000)).is_ok());
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
