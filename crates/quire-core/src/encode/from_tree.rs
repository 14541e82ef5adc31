//! Makes a digest of any ordered tree: columns in, and a serialisation as the source.
//!
//! A tree that quire did not parse has no source, so it gets one: the output of the paper's
//! Algorithm 2, with `<tag>` when a node is entered, `</tag>` when it is left, and attributes and
//! contents escaped as in XML. Then it is processed like every page, and decoding the digest
//! returns that serialisation.
//!
//! Node 0 of the digest is `#document`, as on every page. The content of a node becomes a `#text`
//! before its children, unless its name makes it a leaf (`#text`, `#comment`): only leaves have
//! content. One pass, no recursion.

use crate::base::error::Error;
use crate::digest::{Digest, Meta};
use crate::encode::assemble::{Job, assemble};
use crate::page::kind::Kind;
use crate::page::limits::MAX_SOURCE;
use crate::page::text_mode::Mode;
use crate::page::tree::derive;
use crate::page::vocabulary::{COMMENT, Class, Namespace, TEXT};
use crate::parse::draft::Draft;

/// A tree in pre-order, one entry per node in every list.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// Child counts (the paper's ST).
    pub children: Vec<u32>,
    /// Names.
    pub tags: Vec<String>,
    /// Attributes, in order. May be empty if no node has any.
    pub attributes: Vec<Vec<(String, String)>>,
    /// Contents. May be empty if no node has any.
    pub contents: Vec<Option<Vec<u8>>>,
}

fn bad(message: impl Into<String>) -> Error {
    Error::Tree {
        message: message.into(),
    }
}

/// Make the digest of a tree.
///
/// ```
/// use quire_core::decode;
/// use quire_core::{Columns, from_columns};
///
/// let digest = from_columns(&Columns {
///     children: vec![2, 0, 0],
///     tags: ["book", "title", "title"].map(String::from).to_vec(),
///     attributes: vec![],
///     contents: vec![None, Some(b"Fish & chips".to_vec()), None],
/// }).unwrap();
/// assert_eq!(digest.n(), 5); // with the document and the text
/// assert_eq!(
///     decode(&digest).unwrap(),
///     b"<book><title>Fish &amp; chips</title><title></title></book>"
/// );
/// ```
pub fn from_columns(columns: &Columns) -> Result<Digest, Error> {
    let n = columns.children.len();
    check_lengths(columns)?;
    derive(&columns.children)?;
    let mut draft = Draft::new(n * 40);
    let mut source = Vec::with_capacity(n * 16);
    // Open nodes: index in the draft, name, remaining children.
    let mut open: Vec<(u32, &str, u32)> = Vec::new();
    for node in 0..n {
        let parent = open.last().map_or(0, |&(id, ..)| id);
        let content = columns.contents.get(node).and_then(Option::as_deref);
        let attributes = columns.attributes.get(node).map_or(&[][..], Vec::as_slice);
        let name = columns.tags[node].as_str();
        let count = columns.children[node];
        if name.starts_with('#') {
            if node == 0 && name == "#document" {
                return Err(bad(
                    "node 0 is named \"#document\", but the only names with # are #text and \
                     #comment; leave the document out, it is added for you",
                ));
            }
            if count > 0 || !attributes.is_empty() {
                return Err(bad(format!(
                    "node {node} is a {name}, which cannot have children or attributes"
                )));
            }
            let content = content.unwrap_or_default();
            match name {
                "#text" => text(&mut draft, &mut source, parent, content),
                "#comment" => comment(&mut draft, &mut source, parent, content, node)?,
                _ => {
                    return Err(bad(format!(
                        "node {node} is named {name:?}, but the only names with # are #text and \
                         #comment"
                    )));
                }
            }
        } else {
            check_name(name, node)?;
            let start = source.len() as u32;
            source.push(b'<');
            source.extend_from_slice(name.as_bytes());
            let run = source.len() as u32;
            for (key, value) in attributes {
                check_name(key, node)?;
                source.push(b' ');
                source.extend_from_slice(key.as_bytes());
                source.extend_from_slice(b"=\"");
                escape(value.as_bytes(), true, &mut source);
                source.push(b'"');
            }
            source.push(b'>');
            let tag = draft
                .names
                .intern(Namespace::Tree, Class::Element, name.as_bytes());
            let id = draft.element(parent, tag, start, run, source.len() as u32);
            if let Some(content) = content.filter(|c| !c.is_empty()) {
                text(&mut draft, &mut source, id, content);
            }
            open.push((id, name, count + 1)); // plus itself, subtracted below
        }
        while let Some((id, name, left)) = open.last_mut() {
            *left -= 1;
            if *left > 0 {
                break;
            }
            let start = source.len() as u32;
            source.extend_from_slice(b"</");
            source.extend_from_slice(name.as_bytes());
            source.push(b'>');
            draft.end_tag(*id, start, source.len() as u32, false);
            open.pop();
        }
        if source.len() > MAX_SOURCE {
            return Err(Error::TooLarge {
                bytes: source.len() as u64,
                limit: MAX_SOURCE as u64,
            });
        }
    }
    let meta = Meta {
        encoding: "utf-8".to_owned(),
        encoding_reason: "given".to_owned(),
        ..Meta::default()
    };
    assemble(
        draft,
        &Job {
            kind: Kind::Tree,
            meta,
            text: &source,
            original: None,
            invertible: true,
        },
    )
}

fn check_lengths(columns: &Columns) -> Result<(), Error> {
    let n = columns.children.len();
    if n == 0 {
        return Err(bad(
            "the list of child counts is empty; expected at least one node",
        ));
    }
    for (what, found, may_be_empty) in [
        ("tags", columns.tags.len(), false),
        ("attributes", columns.attributes.len(), true),
        ("contents", columns.contents.len(), true),
    ] {
        if found != n && !(may_be_empty && found == 0) {
            return Err(bad(format!(
                "found {found} {what} for {n} child counts; expected one per node"
            )));
        }
    }
    Ok(())
}

/// Check a name: it may contain anything that does not end a name in markup.
fn check_name(name: &str, node: usize) -> Result<(), Error> {
    let ends = |c: char| c.is_whitespace() || c.is_control() || "<>&\"'/=#".contains(c);
    if name.is_empty() || name.contains(ends) {
        return Err(bad(format!(
            "node {node} has the invalid name {name:?}; a name is not empty and contains no \
             white space and none of < > & \" ' / = #"
        )));
    }
    Ok(())
}

fn text(draft: &mut Draft, source: &mut Vec<u8>, parent: u32, content: &[u8]) {
    let start = source.len() as u32;
    escape(content, false, source);
    draft.leaf(parent, TEXT, start, source.len() as u32, Mode::XmlText);
}

fn comment(
    draft: &mut Draft,
    source: &mut Vec<u8>,
    parent: u32,
    content: &[u8],
    node: usize,
) -> Result<(), Error> {
    if memchr::memmem::find(content, b"--").is_some() || content.ends_with(b"-") {
        return Err(bad(format!(
            "node {node} is a comment that contains -- or ends with -, which would close it early"
        )));
    }
    let start = source.len() as u32;
    source.extend_from_slice(b"<!--");
    source.extend_from_slice(content);
    source.extend_from_slice(b"-->");
    draft.leaf(parent, COMMENT, start, source.len() as u32, Mode::XmlMarkup);
    Ok(())
}

/// Escape `bytes` so that readers get them back. CR is escaped because readers turn it into LF; in
/// attributes also tab and LF, because readers turn them into spaces.
fn escape(bytes: &[u8], attribute: bool, out: &mut Vec<u8>) {
    for &byte in bytes {
        match byte {
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'\r' => out.extend_from_slice(b"&#13;"),
            b'"' if attribute => out.extend_from_slice(b"&quot;"),
            b'\t' if attribute => out.extend_from_slice(b"&#9;"),
            b'\n' if attribute => out.extend_from_slice(b"&#10;"),
            _ => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::decode::decode;
    use crate::page::flags::Flags;

    fn tree(children: &[u32], tags: &[&str]) -> Columns {
        Columns {
            children: children.to_vec(),
            tags: tags.iter().map(|&t| t.to_owned()).collect(),
            ..Columns::default()
        }
    }

    #[test]
    fn attributes_and_contents_read_as_they_were_given() {
        let value = "a\"<&>\t\r\n'";
        let digest = from_columns(&Columns {
            attributes: vec![vec![("k".into(), value.into())], vec![]],
            contents: vec![None, Some(b"x\r\n<y>".to_vec())],
            ..tree(&[1, 0], &["a", "#text"])
        })
        .unwrap();
        assert!(!digest.flags().has(Flags::VERBATIM));
        assert_eq!(&*digest.attributes(1)[0].1, value);
        assert_eq!(digest.content_text(0), "x\r\n<y>");
        assert_eq!(
            decode(&digest).unwrap(),
            b"<a k=\"a&quot;&lt;&amp;&gt;&#9;&#13;&#10;'\">x&#13;\n&lt;y&gt;</a>"
        );
    }

    #[test]
    fn columns_that_are_no_tree_are_refused() {
        for columns in [
            tree(&[], &[]),
            tree(&[1], &["a"]),
            tree(&[0, 0], &["a", "b"]),
            tree(&[0], &["a", "b"]),
            tree(&[0], &["a b"]),
            tree(&[0], &[""]),
            tree(&[0], &["#document"]),
            tree(&[1, 0], &["#text", "a"]),
        ] {
            let error = from_columns(&columns).err().unwrap();
            assert!(matches!(error, Error::Tree { .. }), "{columns:?}");
        }
    }

    #[test]
    fn a_deep_tree_needs_no_deep_stack() {
        let n = 200_000;
        let mut columns = tree(&vec![1; n], &vec!["a"; n]);
        columns.children[n - 1] = 0;
        let digest = from_columns(&columns).unwrap();
        assert_eq!(digest.n(), n + 1);
        assert_eq!(decode(&digest).unwrap().len(), 7 * n);
    }
}
