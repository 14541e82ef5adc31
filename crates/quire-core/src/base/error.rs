//! Every error that the kernels return on purpose. A message names the thing, the finding and the
//! expectation.

use std::borrow::Cow;
use std::fmt;

/// Why a kernel refused its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The source is too long for the offsets of a digest.
    TooLarge {
        /// Its length.
        bytes: u64,
        /// The maximum length.
        limit: u64,
    },
    /// The system does not have the memory that a kernel needs.
    Memory {
        /// How much it needs.
        bytes: u64,
    },
    /// XML or JSON that is not well-formed.
    Syntax {
        /// `xml` or `json`.
        kind: &'static str,
        /// Describes the finding and the expectation.
        message: String,
        /// Offset of the fault in the source.
        offset: usize,
        /// Its line, from 1.
        line: usize,
        /// Its column in bytes, from 1.
        column: usize,
    },
    /// The bytes are not a digest this version reads.
    Format {
        /// Describes the finding and the expectation.
        message: String,
    },
    /// The digest was written by a newer version.
    Version {
        /// The format of the digest.
        found: u16,
        /// The newest format this version reads.
        newest: u16,
    },
    /// A selector or XPath that cannot be parsed, or uses an unsupported feature.
    Selector {
        /// The selector.
        selector: String,
        /// Describes the finding and the expectation.
        message: String,
        /// Offset of the fault in the selector.
        offset: usize,
    },
    /// A selector ran past its budget of steps.
    Budget {
        /// The selector.
        selector: String,
        /// The budget.
        steps: u64,
    },
    /// A regular expression that cannot be parsed, or would take too much memory.
    Pattern {
        /// The pattern.
        pattern: String,
        /// Describes the finding and the expectation.
        message: String,
        /// Offset of the fault in the pattern, in characters; absent if the fault is the pattern as
        /// a whole.
        offset: Option<usize>,
    },
    /// Columns that do not form a tree, or a node that does not exist.
    Tree {
        /// Describes the finding and the expectation.
        message: String,
    },
    /// An edit script that cannot be read, is damaged, or does not fit this page.
    Script {
        /// Describes the finding and the expectation.
        message: String,
    },
    /// A sketch that cannot be read, or two that cannot be compared.
    Sketch {
        /// Describes the finding and the expectation.
        message: String,
    },
    /// A stored page that cannot be decoded, or does not have the expected length.
    Codec {
        /// Describes the finding and the expectation.
        message: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::TooLarge { bytes, limit } => {
                write!(
                    f,
                    "source has {bytes} bytes, more than the limit of {limit}"
                )
            }
            Error::Memory { bytes } => {
                write!(f, "not enough memory: this page needs up to {bytes} bytes")
            }
            Error::Syntax {
                kind,
                message,
                line,
                column,
                ..
            } => {
                write!(
                    f,
                    "not well-formed {kind}: {message} (line {line}, column {column})"
                )
            }
            Error::Version { found, newest } => {
                write!(
                    f,
                    "digest format {found}, but this version reads up to {newest}"
                )
            }
            Error::Selector {
                selector,
                message,
                offset,
            } => {
                let selector = shortened(selector);
                write!(
                    f,
                    "selector {selector:?}: {message} (at character {offset})"
                )
            }
            Error::Budget { selector, steps } => {
                let selector = shortened(selector);
                write!(
                    f,
                    "selector {selector:?}: stopped after {steps} steps; use a more specific \
                     selector"
                )
            }
            Error::Pattern {
                pattern,
                message,
                offset,
            } => {
                write!(f, "pattern {:?}: {message}", shortened(pattern))?;
                offset.map_or(Ok(()), |offset| write!(f, " (at character {offset})"))
            }
            Error::Format { message }
            | Error::Tree { message }
            | Error::Script { message }
            | Error::Sketch { message }
            | Error::Codec { message } => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {}

/// Number of characters of a selector that a message repeats; the error itself keeps all of them.
const SHOWN: usize = 80;

/// Shorten a text for a message: its start, and an ellipsis if it is long.
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// Return line and column of an offset, both from 1, the column in bytes. CR, LF and CRLF end a
/// line.
pub fn position(source: &[u8], offset: usize) -> (usize, usize) {
    let before = &source[..offset.min(source.len())];
    let mut line = 1;
    let mut start = 0;
    for at in memchr::memchr2_iter(b'\n', b'\r', before) {
        if before[at] == b'\r' && source.get(at + 1) == Some(&b'\n') {
            continue;
        }
        line += 1;
        start = at + 1;
    }
    (line, before.len() - start + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_repeat_the_start_of_a_long_selector() {
        let selector = "é".repeat(81);
        let start = format!("selector \"{}…\": ", "é".repeat(80));
        let refused = Error::Selector {
            selector: selector.clone(),
            message: "what".to_owned(),
            offset: 7,
        };
        let told = refused.to_string();
        assert_eq!(told, format!("{start}what (at character 7)"));
        let stopped = Error::Budget { selector, steps: 9 };
        assert!(stopped.to_string().starts_with(&start), "{stopped}");
        let whole = Error::Budget {
            selector: "é".repeat(80),
            steps: 9,
        };
        assert!(!whole.to_string().contains('…'), "{whole}");
    }

    #[test]
    fn messages_repeat_the_start_of_a_long_name() {
        use crate::select::{CssSelector, XPath};

        let name = "x".repeat(60_000);
        let paths = [
            format!("a {name}"),
            format!("${name}"),
            format!("{name}()"),
            format!("a/{name}()"),
            format!("{name}::a"),
        ];
        let mut told: Vec<String> = paths
            .iter()
            .map(|path| XPath::parse(path).unwrap_err().to_string())
            .collect();
        for selector in [format!("a:{name}"), format!("a::{name}()")] {
            told.push(CssSelector::parse(&selector).unwrap_err().to_string());
        }
        for told in told {
            assert!(told.contains('…') && told.len() < 700, "{told}");
        }
    }

    #[test]
    fn errors_keep_selectors_whole() {
        let long = "a".repeat(70_000);
        match crate::select::XPath::parse(&long) {
            Err(Error::Selector { selector, .. }) => assert_eq!(selector, long),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_position_counts_lines_and_columns_from_one() {
        assert_eq!(position(b"a\r\nbc", 4), (2, 2));
    }
}
