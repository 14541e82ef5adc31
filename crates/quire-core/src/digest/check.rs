//! What a reader checks before it believes a digest: everything later code relies on.
//!
//! One pass over the columns, in their stored width where that matters. After it no
//! access can leave its section, whatever the file says.

use super::{Digest, Meta, TagInfo, bad};
use crate::draft::Mode;
use crate::error::Error;
use crate::format::Section;
use crate::vocabulary::{Class, Namespace};

impl Digest {
    /// Everything later code relies on.
    pub(super) fn check(&mut self) -> Result<(), Error> {
        let n = self.n();
        if n == 0 {
            return Err(bad("digest has no node, but every page has its document"));
        }
        for id in [
            Section::Children,
            Section::Tag,
            Section::Attr,
            Section::Content,
        ] {
            let found = self.ints(id).len();
            if found != n {
                return Err(bad(format!(
                    "column {id:?} has {found} values, but the page has {n} nodes"
                )));
            }
        }
        self.read_meta()?;
        self.read_tags()?;
        for (column, lengths, heap) in [
            (Section::Attr, Section::AttrLengths, Section::AttrHeap),
            (
                Section::Content,
                Section::ContentLengths,
                Section::ContentHeap,
            ),
        ] {
            let entries = self.ints(lengths).len();
            let (low, high) = self.ids(column).range();
            if low < -1 || high >= entries as i32 {
                return Err(bad(format!(
                    "column {column:?} names entry {high} of {entries}"
                )));
            }
            self.check_lengths(lengths, heap)?;
        }
        let modes = self.section(Section::ContentModes);
        if modes.len() != self.ints(Section::ContentLengths).len()
            || modes.iter().any(|&m| Mode::from_u8(m).is_none())
        {
            return Err(bad("content entries and their modes do not agree"));
        }
        self.check_exceptions()?;
        (self.children().check_tree()).map_err(|e| bad(e.to_string()))?;
        self.check_nodes()
    }

    /// Node 0 is the document and no other is, leaves have content and no children, no other node
    /// has content, and only elements have attributes.
    fn check_nodes(&self) -> Result<(), Error> {
        const DOCUMENT: u8 = 1;
        const LEAF: u8 = 2;
        const CHILDREN: u8 = 4;
        const ELEMENT: u8 = 8;
        let allowed: Vec<u8> = (self.tag_info.iter())
            .map(|info| match info.class {
                Class::Document => DOCUMENT | CHILDREN,
                Class::Element => ELEMENT | CHILDREN,
                class if class.is_leaf() => LEAF,
                _ => CHILDREN,
            })
            .collect();
        let tag = self.tag().to_vec();
        let children = self.children().to_vec();
        let attr = self.attr().to_vec();
        let content = self.content().to_vec();
        let mut nodes = tag.iter().zip(&children).zip(&attr).zip(&content);
        let mut document = DOCUMENT;
        let wrong = nodes.position(|(((&tag, &count), &attr), &content)| {
            // All tests always, without a branch that depends on the page.
            let allowed = allowed[tag as usize];
            let leaf = if content >= 0 { LEAF } else { 0 };
            let parent = if count > 0 { CHILDREN } else { 0 };
            let element = if attr >= 0 { ELEMENT } else { 0 };
            let wrong =
                (allowed & (DOCUMENT | LEAF) ^ (document | leaf)) | ((parent | element) & !allowed);
            document = 0;
            wrong != 0
        });
        match wrong {
            None => Ok(()),
            Some(node) => Err(bad(format!(
                "node {node} has content, children or attributes that its class does not have"
            ))),
        }
    }

    /// What lies between the sections is zero, so that equal pages are equal files.
    pub(super) fn check_padding(&self) -> Result<(), Error> {
        let bytes = self.as_bytes();
        let mut end = self.header.length;
        // Places are in the order of their offsets, see `Header::read`.
        let places = self.header.places.iter().filter(|p| p.width != 0);
        for place in places {
            if bytes[end..place.offset as usize].iter().any(|&b| b != 0) {
                return Err(bad("there are bytes between the sections of the digest"));
            }
            end = (place.offset + place.length) as usize;
        }
        if end == bytes.len() {
            Ok(())
        } else {
            Err(bad("there are bytes after the last section of the digest"))
        }
    }

    pub(super) fn read_meta(&mut self) -> Result<(), Error> {
        self.meta = Meta::read(self.section(Section::Meta))
            .ok_or_else(|| bad("the facts about the page are cut off"))?;
        Ok(())
    }

    pub(super) fn read_tags(&mut self) -> Result<(), Error> {
        let info = self.section(Section::TagInfo);
        let tags = info.len() / 3;
        let lengths = self.ints(Section::TagLengths);
        if info.len() != tags * 3 || lengths.len() != tags * 3 || tags == 0 {
            return Err(bad("the tag list and its lengths do not agree"));
        }
        if self.ints(Section::Tag).max() as usize >= tags {
            return Err(bad(format!(
                "a node has a tag beyond the {tags} of the page"
            )));
        }
        self.check_lengths(Section::TagLengths, Section::TagHeap)?;
        let tag_info = (info.chunks_exact(3))
            .map(|row| {
                Some(TagInfo {
                    class: Class::from_u8(row[0])?,
                    namespace: Namespace::from_u8(row[1])?,
                    ends: row[2] & 1 != 0,
                })
            })
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| bad("a tag has an unknown class or namespace"))?;
        let offsets = lengths.offsets();
        let heap = self.section(Section::TagHeap);
        for tag in 0..tags {
            let name = &heap[offsets[3 * tag] as usize..offsets[3 * tag + 1] as usize];
            if std::str::from_utf8(name).is_err() {
                return Err(bad(format!("the name of tag {tag} is not UTF-8")));
            }
        }
        self.tag_info = tag_info;
        self.tag_offsets = offsets;
        Ok(())
    }

    fn check_lengths(&self, lengths: Section, heap: Section) -> Result<(), Error> {
        let (sum, bytes) = (
            self.ints(lengths).sum(),
            self.header.places[heap as usize].length,
        );
        if sum == bytes {
            Ok(())
        } else {
            Err(bad(format!(
                "{lengths:?} add up to {sum}, but {heap:?} has {bytes} bytes"
            )))
        }
    }

    fn check_exceptions(&self) -> Result<(), Error> {
        let n = self.n() as u32;
        for id in [Section::Implied, Section::EndFlipped] {
            let nodes = self.ints(id).to_vec();
            if nodes.last().is_some_and(|&last| last >= n) || !nodes.is_sorted_by(|a, b| a < b) {
                return Err(bad(format!("{id:?} is not a rising list of nodes")));
            }
        }
        let strays = self.ints(Section::StrayNode).len();
        for id in [
            Section::StrayDepth,
            Section::StrayOffset,
            Section::StrayLength,
        ] {
            if self.ints(id).len() != strays {
                return Err(bad(format!(
                    "{id:?} does not have one value for each of {strays} strays"
                )));
            }
        }
        self.check_lengths(Section::StrayLength, Section::StrayHeap)
    }
}
