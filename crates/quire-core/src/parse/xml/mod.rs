//! XML: our own scanner and tree builder, which write directly into a draft.
//!
//! Why not quick-xml: a digest needs the byte span of every construct, rejection of documents that
//! are not well-formed (quick-xml leaves names, characters, duplicates, references and the document
//! type to its caller), and a bound on the cost of every input. With these implemented here, a pull
//! parser would only save a few calls of `memchr`.
//!
//! Choices worth knowing before changing this folder:
//!
//! * XML 1.0, fifth edition, and 1.1 if the declaration asks for it. Namespaces are not checked:
//!   the prefix stays in the name.
//! * Nothing is fetched and nothing is expanded. The document type is one leaf, kept as bytes. A
//!   used entity is checked once, however often it is referred to (`entities`), so there is no
//!   amplification.
//! * White space outside the root element is not part of the tree; no node owns
//!   it, nor a byte order mark.
//! * No recursion; time and memory are linear in the source, also with `recover`: a search that
//!   failed once for the rest of the source is not repeated.
//!
//! `chars` knows the characters, `scan` parses one construct at a time, `declaration`, `doctype`
//! and `models` the prolog, `tree` the rest; `recovery` handles constructs that are not
//! well-formed.

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

/// Maximum length of a source: offsets and ids stay below `i32::MAX`.
const MAX_BYTES: usize = i32::MAX as usize;

/// How a source is parsed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Continue after faults, and set [`crate::page::flags::Flags::RECOVERED`] if there were any.
    pub recover: bool,
    /// Check that the source is UTF-8 and contains only characters allowed in XML. If false
    /// (another encoding that extends ASCII), bytes from 0x80 on are name characters or text.
    pub utf8: bool,
}

/// Parse XML into a draft.
///
/// `source` is UTF-8 or another encoding that extends ASCII; a byte order mark at its start is
/// skipped. With `recover` the only possible error is a source that is too long.
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
///     "not well-formed xml: end tag </a>, but <b> from line 2 is still open (line 2, column 4)"
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
