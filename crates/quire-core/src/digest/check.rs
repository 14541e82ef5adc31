//! The checks of a stored digest before it is used: everything that later code relies on.
//!
//! One pass over the columns, in their stored width if that matters. After it no access can leave
//! its section, whatever the file contains.

use super::{Digest, Meta, TagInfo, bad};
use crate::base::error::Error;
use crate::digest::format::Section;
use crate::page::limits::{FREE_NAME_BYTES, max_content_bytes, max_name_bytes, max_run_bytes};
use crate::page::text_mode::Mode;
use crate::page::tree::check_column;
use crate::page::vocabulary::{Class, Namespace};

impl Digest {
    /// Check everything that later code relies on.
    pub(super) fn check(&mut self) -> Result<(), Error> {
        let n = self.n();
        if n == 0 {
            return Err(bad("digest has no nodes; expected at least the document"));
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
                    "column {column:?} refers to entries {low} to {high}, but the list has \
                     {entries}"
                )));
            }
            self.check_lengths(lengths, heap)?;
        }
        let modes = self.section(Section::ContentModes);
        if modes.len() != self.ints(Section::ContentLengths).len()
            || modes.iter().any(|&m| Mode::from_u8(m).is_none())
        {
            return Err(bad(
                "the modes of the content list do not match its entries",
            ));
        }
        self.check_exceptions()?;
        self.check_names()?;
        check_column(self.children()).map_err(|e| bad(e.to_string()))?;
        self.check_nodes()
    }

    /// Check the nodes: node 0 is the only document, leaves have content and no children, no other
    /// node has content, and only elements have attributes.
    ///
    /// Works in blocks of nodes that fit into the nearest cache, one column after the other in its
    /// own width.
    fn check_nodes(&self) -> Result<(), Error> {
        const BLOCK: usize = 512;
        const DOCUMENT: u8 = 1;
        const LEAF: u8 = 2;
        const CHILDREN: u8 = 4;
        const ELEMENT: u8 = 8;
        /// The parts that a class must have, not only may have.
        const NEEDED: u8 = DOCUMENT | LEAF;
        let allowed_of = |info: &TagInfo| match info.class {
            Class::Document => DOCUMENT | CHILDREN,
            Class::Element => ELEMENT | CHILDREN,
            class if class.is_leaf() => LEAF,
            _ => CHILDREN,
        };
        let mut near = [0u8; 256];
        (near.iter_mut().zip(&self.tag_info)).for_each(|(out, info)| *out = allowed_of(info));
        let far: Vec<u8> = (self.tag_info.iter().skip(near.len()).map(allowed_of)).collect();
        let (tag, children, attr, content) =
            (self.tag(), self.children(), self.attr(), self.content());
        let (mut allowed, mut found) = ([0u8; BLOCK], [0u8; BLOCK]);
        for start in (0..self.n()).step_by(BLOCK) {
            let length = BLOCK.min(self.n() - start);
            let (allowed, found) = (&mut allowed[..length], &mut found[..length]);
            found.fill(0);
            if start == 0 {
                found[0] = DOCUMENT;
            }
            tag.look_up(start, &near, &far, allowed);
            children.mark_positive(start, CHILDREN, found);
            attr.mark_some(start, ELEMENT, found);
            content.mark_some(start, LEAF, found);
            let wrong =
                |(&allowed, &found): (&u8, &u8)| (found & !allowed) | (allowed & !found & NEEDED);
            let nodes = || allowed.iter().zip(&*found);
            if nodes().map(wrong).fold(0, |all, wrong| all | wrong) != 0 {
                let node = start + nodes().take_while(|&node| wrong(node) == 0).count();
                return Err(bad(format!(
                    "node {node} has content, children or attributes, which its class does not \
                     allow"
                )));
            }
        }
        Ok(())
    }

    /// Check that the names of all nodes are not longer than the page.
    fn check_names(&self) -> Result<(), Error> {
        let length =
            |tag: usize| u64::from(self.tag_offsets[3 * tag + 1] - self.tag_offsets[3 * tag]);
        if (0..self.tag_count()).all(|tag| length(tag) <= FREE_NAME_BYTES) {
            return Ok(());
        }
        let counts = self.tag().histogram(self.tag_count());
        let sum = (counts.iter().enumerate())
            .map(|(tag, &nodes)| length(tag) * u64::from(nodes))
            .sum();
        let most = max_name_bytes(self.header.source_length, self.n() as u64);
        self.check_sum("names", sum, most)
    }

    /// Check that the contents and attributes of all nodes are not longer than the page: a few
    /// bytes could name one long text a million times.
    pub(super) fn check_texts(&self) -> Result<(), Error> {
        let source = self.header.source_length;
        for (what, column, lengths, most) in [
            (
                "contents",
                Section::Content,
                Section::ContentLengths,
                max_content_bytes(source),
            ),
            (
                "attributes",
                Section::Attr,
                Section::AttrLengths,
                max_run_bytes(source),
            ),
        ] {
            let lengths = self.ints(lengths);
            if u64::from(lengths.max()) * self.n() as u64 <= most {
                continue;
            }
            // The first entry stands for "none", which spares the pass a branch for every node.
            let table: Vec<u32> = std::iter::once(0).chain(lengths.to_vec()).collect();
            let length = |id: i32| u64::from(table[(id + 1) as usize]);
            self.check_sum(what, self.ids(column).map_sum(length), most)?;
        }
        Ok(())
    }

    fn check_sum(&self, what: &str, sum: u64, most: u64) -> Result<(), Error> {
        if sum <= most {
            return Ok(());
        }
        Err(bad(format!(
            "the {what} of all nodes add up to {sum} bytes, but a source of {} bytes has at most \
             {most}",
            self.header.source_length
        )))
    }

    /// Check that the bytes between sections are zero, so that equal pages are equal files.
    pub(super) fn check_padding(&self) -> Result<(), Error> {
        let bytes = self.memory();
        let mut end = self.header.length;
        // Sections are in the order of their offsets, see `Header::read`.
        let places = self.header.places.iter().filter(|p| p.width != 0);
        for place in places {
            if bytes[end..place.offset as usize].iter().any(|&b| b != 0) {
                return Err(bad("unexpected bytes between the sections of the digest"));
            }
            end = (place.offset + place.length) as usize;
        }
        if end == bytes.len() {
            Ok(())
        } else {
            Err(bad("unexpected bytes after the last section of the digest"))
        }
    }

    pub(super) fn read_meta(&mut self) -> Result<(), Error> {
        self.meta = Meta::read(self.section(Section::Meta))
            .ok_or_else(|| bad("the metadata of the digest is cut off"))?;
        Ok(())
    }

    pub(super) fn read_tags(&mut self) -> Result<(), Error> {
        let info = self.section(Section::TagInfo);
        let tags = info.len() / 3;
        let lengths = self.ints(Section::TagLengths);
        if info.len() != tags * 3 || lengths.len() != tags * 3 || tags == 0 {
            return Err(bad("the tag list does not match its lengths"));
        }
        if self.ints(Section::Tag).max() as usize >= tags {
            return Err(bad(format!(
                "a node refers to a tag beyond the {tags} of the page"
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
        let ascii = heap.is_ascii();
        // Names are nearly always ASCII; then one check of all of them is enough.
        for tag in (0..tags).filter(|_| !ascii) {
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
                return Err(bad(format!("{id:?} is not an ascending list of nodes")));
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
                    "{id:?} does not have one value for each of the {strays} strays"
                )));
            }
        }
        self.check_lengths(Section::StrayLength, Section::StrayHeap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::format::Header;
    use crate::encode::{Options, encode};

    /// Return the first invalid node, by the definition, node by node.
    fn first_wrong(page: &Digest) -> Option<usize> {
        (0..page.n()).find(|&node| {
            let class = page.class(node);
            let has_content = page.content().get(node) >= 0;
            let has_children = page.children().get(node) > 0;
            let has_attributes = page.attr().get(node) >= 0;
            (class == Class::Document) != (node == 0)
                || class.is_leaf() != has_content
                || class.is_leaf() && has_children
                || class != Class::Element && has_attributes
        })
    }

    // More nodes than a block has, and more tags than fit into a byte.
    #[test]
    fn nodes_are_refused_as_the_definition_says() {
        let tags: Vec<String> = (0..300)
            .map(|i| format!("<x{i} a={i}>{i}</x{i}>"))
            .collect();
        for source in ["<p a=b>x<!-- y -->", &tags.concat()] {
            let page = encode(source.as_bytes(), &Options::default()).unwrap();
            let bytes = page.memory();
            let nodes = (0..page.n()).filter(|node| node % 37 < 3 || (510..515).contains(node));
            for node in nodes.chain([page.n() - 1]) {
                for column in [
                    Section::Children,
                    Section::Tag,
                    Section::Attr,
                    Section::Content,
                ] {
                    let place = page.header().places[column as usize];
                    let width = place.width as usize;
                    let at = place.offset as usize + node * width;
                    for value in [0i32, 1, 3, 4, -1] {
                        let mut forged = bytes.to_vec();
                        forged[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
                        let header = Header::read(&forged).unwrap();
                        let mut forged = Digest::bare(header, Box::new(forged), None).unwrap();
                        if forged.read_tags().is_err() {
                            continue;
                        }
                        let found = forged.check_nodes().err().map(|e| e.to_string());
                        let expected = first_wrong(&forged).map(|node| {
                            format!("node {node} has content, children or attributes, which its class does not allow")
                        });
                        assert_eq!(found, expected, "{column:?} of {node} is {value}");
                    }
                }
            }
        }
    }
}
