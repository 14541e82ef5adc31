//! XML: a scanner of our own and a tree builder, writing straight into a draft.
//!
//! Why not quick-xml: a digest needs the byte span of every construct, the
//! refusal of documents that are not well-formed (quick-xml leaves names, characters,
//! duplicates, references and the document type to its caller), and a bound on
//! the cost of every input. What is left of a pull parser once these are one's
//! own is a few calls of `memchr`, and those are here.
//!
//! Choices worth knowing before changing this folder:
//!
//! * XML 1.0, fifth edition, and 1.1 where the declaration asks for it.
//!   Namespaces are not judged: the prefix stays in the name.
//! * Nothing is fetched and nothing is expanded. The document type is one leaf,
//!   kept as bytes. A used entity is checked once, whatever refers to it
//!   (`entities`), so there is no amplification to limit.
//! * White space outside the root element is not part of the tree; no node owns
//!   it, nor a byte order mark.
//! * No recursion, time and memory linear in the source, with `recover` too: a
//!   search that failed once for the rest of the source is not repeated.
//!
//! `chars` knows the characters, `scan` one construct at a time, `declaration`,
//! `doctype` and `models` the prolog, `tree` the rest, `recovery` the second reading.

mod chars;
mod declaration;
mod doctype;
mod entities;
mod models;
mod recovery;
mod scan;
#[cfg(test)]
mod tests;
mod tree;

use crate::base::error::{Error, position};
use crate::parse::draft::Draft;

/// The longest source that is read: offsets and ids stay below `i32::MAX`.
const MAX_BYTES: usize = i32::MAX as usize;

/// How to read a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Read on after faults, and set [`crate::page::flags::Flags::RECOVERED`] when one was met.
    pub recover: bool,
    /// Check that the source is UTF-8 and holds only characters XML allows. Without it
    /// (another encoding that extends ASCII) bytes from 0x80 on are name characters or text.
    pub utf8: bool,
}

/// Read XML into a draft.
///
/// `source` is UTF-8 or another encoding that extends ASCII; a byte order mark
/// at its start is passed over. With `recover` the only error left is a source
/// that is too long.
///
/// ```
/// use quire_core::xml::{Options, parse};
///
/// let options = Options { utf8: true, recover: false };
/// let draft = parse(b"<a><b/>text</a>", &options)?;
/// assert_eq!(draft.nodes.len(), 4); // document, a, b, text
///
/// let error = parse(b"<a>\n<b></a>", &options).err().unwrap();
/// assert_eq!(
///     error.to_string(),
///     "not well-formed xml: end tag </a>, but <b> from line 2 is open (line 2, column 4)"
/// );
/// # Ok::<(), quire_core::Error>(())
/// ```
pub fn parse(source: &[u8], options: &Options) -> Result<Draft, Error> {
    if source.len() > MAX_BYTES {
        return Err(Error::TooLarge {
            bytes: source.len() as u64,
            limit: MAX_BYTES as u64,
        });
    }
    tree::build(source, *options).map_err(|fault| {
        let (line, column) = position(source, fault.at);
        Error::Syntax {
            kind: "xml",
            message: fault.message,
            offset: fault.at,
            line,
            column,
        }
    })
}
