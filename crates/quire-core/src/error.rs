//! Everything that can go wrong on purpose. A message names the thing, the finding and the expectation.

use std::fmt;

/// Why a kernel refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The source is longer than offsets can reach.
    TooLarge {
        /// Its length.
        bytes: u64,
        /// The longest that is read.
        limit: u64,
    },
    /// XML or JSON that is not well-formed.
    Syntax {
        /// `xml` or `json`.
        kind: &'static str,
        /// What was found and what was expected.
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
        /// What was found and what was expected.
        message: String,
    },
    /// The digest was written by a newer version.
    Version {
        /// The format it is in.
        found: u16,
        /// The newest format this version reads.
        newest: u16,
    },
    /// A selector or path that cannot be read, or asks for what is not supported.
    Selector {
        /// The selector.
        selector: String,
        /// What was found and what was expected.
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
    /// A tree that is not a tree, or a node that is not there.
    Tree {
        /// What was found and what was expected.
        message: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::TooLarge { bytes, limit } => {
                write!(f, "source has {bytes} bytes, but at most {limit} are read")
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
                write!(
                    f,
                    "selector {selector:?}: {message} (at character {offset})"
                )
            }
            Error::Budget { selector, steps } => {
                write!(
                    f,
                    "selector {selector:?}: stopped after {steps} steps; make it more specific"
                )
            }
            Error::Format { message } | Error::Tree { message } => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {}

/// Line and column (both from 1, column in bytes) of an offset; CR, LF and CRLF end a line.
///
/// ```
/// assert_eq!(quire_core::error::position(b"a\r\nbc", 4), (2, 2));
/// ```
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
