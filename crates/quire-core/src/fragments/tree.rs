//! The AF tree (augmented fragment tree): the parts of a page that contain text, each once.
//!
//! Built from the tree of the page, in one pass:
//!
//! * **Formatting tags** (a list given by the caller) are removed as if they had never been
//!   written. Their content belongs to the element around them, and texts separated only by them
//!   (or by comments) are one text.
//! * **Nodes without text** are not parts: white space, comments, `img`, empty elements.
//! * **Chains** are one node, the outermost: an element with only one part has the same text as
//!   that part.
//!
//! A *leaf* is a text; its value is the text as a reader sees it (references and characters decoded
//! to UTF-8), with runs of white space as one space and none at the ends. Scripts and styles are
//! texts like any other: they are bytes of the page. The paper's **`SubtreeValue`** is the
//! concatenation of the leaves. A line feed ends each leaf, and no leaf contains one, so `ab` and
//! `c` differ from `a` and `bc`. So all values of a page are slices of one text.
//!
//! Node 0 is the document, also on a page without text. Cost: linear; the stack is as deep as the
//! tree.

use super::slices::Slices;
use crate::base::error::Error;
use crate::digest::Digest;
use crate::digest::decode::Spans;
use crate::page::tree::NONE;
use crate::page::vocabulary::{Class, Namespace};
use crate::text::is_xhtml;

/// Formatting tags for tests.
#[cfg(test)]
pub(super) const FORMATTING: [&str; 13] = [
    "b", "big", "em", "font", "i", "s", "small", "strike", "strong", "sub", "sup", "tt", "u",
];
/// Maximum length of the text of a page: offsets have 32 bits.
const MAX_TEXT: usize = u32::MAX as usize;

/// Nodes in pre-order and their values, as slices of one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Number of nodes in each subtree, including its root.
    pub size: Vec<u32>,
    /// Start of each node's value in the text.
    pub value_start: Vec<u32>,
    /// End of each node's value in the text.
    pub value_end: Vec<u32>,
}

impl Shape {
    /// Return the position of a node's value.
    #[inline]
    pub fn value(&self, node: usize) -> (usize, usize) {
        (
            self.value_start[node] as usize,
            self.value_end[node] as usize,
        )
    }

    /// Return the length of a value: the paper's `SubtreeSize`.
    #[inline]
    pub fn bytes(&self, node: usize) -> u32 {
        self.value_end[node] - self.value_start[node]
    }

    /// Return the children of a node.
    pub fn children(&self, node: usize) -> impl Iterator<Item = usize> {
        let end = node + self.size[node] as usize;
        let mut next = node + 1;
        std::iter::from_fn(move || {
            let child = next;
            (child < end).then(|| {
                next += self.size[child] as usize;
                child
            })
        })
    }
}

/// Number of page nodes that are not in the AF tree, by reason; together with its own nodes they
/// add up to all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Formatting tags.
    pub formatting: u32,
    /// Nodes without text.
    pub blank: u32,
    /// Texts joined with a text before them.
    pub joined: u32,
    /// Only children.
    pub chained: u32,
}

/// An AF tree, as columns in pre-order.
#[derive(Clone, Debug, Default)]
pub struct AfTree {
    /// Subtrees and values.
    pub shape: Shape,
    /// The value of node 0, which contains the values of all nodes.
    pub text: Vec<u8>,
    /// Parent of each node; [`NONE`] for node 0.
    pub parent: Vec<u32>,
    /// Depth of each node.
    pub depth: Vec<u32>,
    /// Its index among its parent's children: the last number of the paper's `NodeID`.
    pub index: Vec<u32>,
    /// The first node of the page that belongs to it.
    pub node: Vec<u32>,
    /// After the last one.
    pub node_end: Vec<u32>,
    /// Hash of each value, by [`Slices`].
    pub value_hash: Vec<u64>,
    /// Its first byte in the source; these three columns are empty if a page has no [`Spans`].
    pub byte_start: Vec<u32>,
    /// After the last of its bytes.
    pub byte_end: Vec<u32>,
    /// Hash of its bytes, by [`Slices`].
    pub source_hash: Vec<u64>,
    /// The nodes that were left out.
    pub pruned: Pruned,
}

/// A node that may still be removed.
struct Part {
    node: u32,
    node_end: u32,
    parent: u32,
    children: u32,
    start: u32,
    end: u32,
}

/// Collects parts during a walk.
#[derive(Default)]
struct Gathering {
    parts: Vec<Part>,
    /// Open elements.
    open: Vec<u32>,
    text: Vec<u8>,
    /// The open text: its first node, the node after its last, and its start.
    leaf: Option<(u32, u32, u32)>,
    /// Whether white space waits for a word of the same text.
    space: bool,
    joined: u32,
}

impl Gathering {
    fn add(&mut self, part: Part) {
        if part.parent != NONE {
            self.parts[part.parent as usize].children += 1;
        }
        self.parts.push(part);
    }

    fn top(&self) -> u32 {
        self.open.last().map_or(NONE, |&top| top)
    }

    fn open(&mut self, node: u32, node_end: u32) {
        self.end_leaf();
        let (parent, start) = (self.top(), self.text.len() as u32);
        self.open.push(self.parts.len() as u32);
        self.add(Part {
            node,
            node_end,
            parent,
            children: 0,
            start,
            end: start,
        });
    }

    fn close(&mut self) {
        self.end_leaf();
        let Some(top) = self.open.pop() else {
            return;
        };
        let part = &mut self.parts[top as usize];
        part.end = self.text.len() as u32;
        // Without text it has no parts either, and is the last.
        if part.start == part.end && top > 0 {
            let parent = part.parent as usize;
            self.parts.truncate(top as usize);
            self.parts[parent].children -= 1;
        }
    }

    fn words(&mut self, node: u32, text: &str) {
        let mut rest = text.as_bytes();
        loop {
            let trimmed = rest.trim_ascii_start();
            self.space |= trimmed.len() < rest.len();
            if trimmed.is_empty() {
                return;
            }
            let end = trimmed.iter().position(u8::is_ascii_whitespace);
            let (word, after) = trimmed.split_at(end.unwrap_or(trimmed.len()));
            let start = self.text.len() as u32;
            if let Some(leaf) = &mut self.leaf {
                self.joined += u32::from(leaf.1 <= node);
                leaf.1 = node + 1;
                if self.space {
                    self.text.push(b' ');
                }
            } else {
                self.leaf = Some((node, node + 1, start));
            }
            self.space = false;
            self.text.extend_from_slice(word);
            rest = after;
        }
    }

    fn end_leaf(&mut self) {
        self.space = false;
        if let Some((node, node_end, start)) = self.leaf.take() {
            self.text.push(b'\n');
            let (parent, end) = (self.top(), self.text.len() as u32);
            self.add(Part {
                node,
                node_end,
                parent,
                children: 0,
                start,
                end,
            });
        }
    }
}

impl AfTree {
    /// Build the AF tree of a page; `formatting` names the tags to remove. With `chains`, only
    /// children are nodes of their own, as in the paper's trees.
    ///
    /// ```
    /// use quire_core::{Options, encode};
    /// use quire_core::fragments::AfTree;
    ///
    /// let source = b"<ul><li>Fish <b>and</b> chips<li><a href=/>Peas</a></ul>";
    /// let tree = AfTree::of(&encode(source, &Options::default()).unwrap(), &["b"], false).unwrap();
    /// assert_eq!(tree.text, b"Fish and chips\nPeas\n");
    /// assert_eq!(tree.node, [0, 5, 10]); // all, and the two items
    /// assert_eq!(tree.shape.size, [3, 1, 1]);
    /// ```
    pub fn of<Name: AsRef<str>>(
        digest: &Digest,
        formatting: &[Name],
        chains: bool,
    ) -> Result<Self, Error> {
        digest.check_heaps()?;
        let removed = removed_tags(digest, formatting);
        let (mut gathering, formatting) = gather(digest, &removed)?;
        let mut tree = Self::compacted(&gathering.parts, chains);
        tree.text = std::mem::take(&mut gathering.text);
        let slices = Slices::new(&tree.text);
        tree.value_hash = (0..tree.node.len())
            .map(|node| tree.shape.value(node))
            .map(|(start, end)| slices.hash(start, end))
            .collect();
        if let Some(spans) = Spans::of(digest)? {
            tree.place(&spans, &digest.derived().size);
        }
        let (kept, chained) = (tree.node.len() as u32, tree.pruned.chained);
        tree.pruned = Pruned {
            formatting,
            blank: digest.n() as u32 - kept - formatting - gathering.joined - chained,
            joined: gathering.joined,
            chained,
        };
        Ok(tree)
    }

    /// Return the number of nodes.
    pub fn n(&self) -> usize {
        self.node.len()
    }

    /// Record the positions of the nodes in the source. `sizes` are those of the page.
    fn place(&mut self, spans: &Spans, sizes: &[u32]) {
        let slices = Slices::new(&spans.source);
        for (&node, &node_end) in self.node.iter().zip(&self.node_end) {
            // A text may consist of several nodes of the page; an element ends with its own span.
            let last = if sizes[node as usize] == 1 {
                node_end - 1
            } else {
                node
            };
            let (start, end) = (spans.start[node as usize], spans.end[last as usize]);
            self.byte_start.push(start);
            self.byte_end.push(end);
            self.source_hash
                .push(slices.hash(start as usize, end as usize));
        }
    }

    /// Return the nodes left after merging only children with their parents; all of them with
    /// `chains`.
    fn compacted(parts: &[Part], chains: bool) -> Self {
        let mut tree = Self::default();
        let mut place = Vec::with_capacity(parts.len());
        let mut counted: Vec<u32> = Vec::new(); // number of children so far
        for part in parts {
            let parent = match part.parent {
                NONE => NONE,
                parent => place[parent as usize],
            };
            if !chains && parent != NONE && parts[part.parent as usize].children == 1 {
                tree.pruned.chained += 1;
                place.push(parent);
                continue;
            }
            place.push(tree.node.len() as u32);
            let (mut depth, mut index) = (0, 0);
            if parent != NONE {
                depth = tree.depth[parent as usize] + 1;
                index = counted[parent as usize];
                counted[parent as usize] += 1;
            }
            counted.push(0);
            tree.parent.push(parent);
            tree.depth.push(depth);
            tree.index.push(index);
            tree.node.push(part.node);
            tree.node_end.push(part.node_end);
            tree.shape.size.push(1);
            tree.shape.value_start.push(part.start);
            tree.shape.value_end.push(part.end);
        }
        for node in (1..tree.node.len()).rev() {
            let size = tree.shape.size[node];
            tree.shape.size[tree.parent[node] as usize] += size;
        }
        tree
    }
}

/// Return which tags are removed.
fn removed_tags<Name: AsRef<str>>(digest: &Digest, formatting: &[Name]) -> Vec<bool> {
    let xhtml = is_xhtml(digest);
    (0..digest.tag_count())
        .map(|tag| {
            let info = digest.tag_info(tag);
            let is_html = match info.namespace {
                Namespace::Html => true,
                Namespace::Xml => xhtml,
                _ => false,
            };
            let name = digest.tag_name(tag);
            info.class == Class::Element
                && is_html
                && formatting
                    .iter()
                    .any(|formatting| formatting.as_ref() == name)
        })
        .collect()
}

/// Walk a page; return its parts, and the number of formatting tags.
fn gather(digest: &Digest, removed: &[bool]) -> Result<(Gathering, u32), Error> {
    let wide = digest.wide();
    let sizes = &digest.derived().size;
    let classes: Vec<Class> = (0..digest.tag_count())
        .map(|tag| digest.tag_info(tag).class)
        .collect();
    let mut gathering = Gathering::default();
    let mut formatting = 0;
    for (node, &size) in sizes.iter().enumerate() {
        while let top = gathering.top()
            && top != NONE
            && gathering.parts[top as usize].node_end as usize <= node
        {
            gathering.close();
        }
        let tag = wide.tag[node] as usize;
        let class = classes[tag];
        if class.is_text() {
            let content = wide.content[node];
            if class == Class::Scalar {
                gathering.end_leaf(); // adjacent values of JSON are not one text
            }
            if content >= 0 {
                gathering.words(node as u32, &digest.content_text(content as usize));
                // A forged digest can repeat a content more often than any source could.
                if gathering.text.len() >= MAX_TEXT {
                    return Err(Error::TooLarge {
                        bytes: gathering.text.len() as u64,
                        limit: MAX_TEXT as u64,
                    });
                }
            }
        } else if removed[tag] {
            formatting += 1;
        } else if !class.is_leaf() {
            gathering.open(node as u32, node as u32 + size);
        }
    }
    while gathering.top() != NONE {
        gathering.close();
    }
    Ok((gathering, formatting))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Options, encode};

    fn tree(source: &str) -> AfTree {
        AfTree::of(
            &encode(source.as_bytes(), &Options::default()).unwrap(),
            &FORMATTING,
            false,
        )
        .unwrap()
    }

    #[test]
    fn formatting_is_as_if_it_had_never_been_written() {
        let plain = tree("<p>Fish and chips</p><p>peas</p>");
        let marked = tree("<p><b>F</b>ish <i>and <u>ch</u></i><!-- x -->ips</p><p>peas</p>");
        assert_eq!(plain.text, b"Fish and chips\npeas\n");
        assert_eq!(plain.text, marked.text);
        assert_eq!(plain.shape, marked.shape);
        assert_eq!((marked.pruned.formatting, marked.pruned.joined), (3, 4));
    }

    #[test]
    fn elements_that_stay_keep_texts_apart() {
        let found = tree("<p>a<br>b <span>c</span>d</p>");
        assert_eq!(found.text, b"a\nb\nc\nd\n");
        assert_eq!(found.shape.size, [5, 1, 1, 1, 1]);
        assert_eq!(found.index, [0, 0, 1, 2, 3]);
    }

    #[test]
    fn what_was_left_out_adds_up() {
        for source in [
            "",
            "<p> </p><img>",
            "<title>t</title><p>a <b>b</b><p>c",
            "<script>x()</script>",
        ] {
            let page = encode(source.as_bytes(), &Options::default()).unwrap();
            let found = AfTree::of(&page, &FORMATTING, false).unwrap();
            let Pruned {
                formatting,
                blank,
                joined,
                chained,
            } = found.pruned;
            let left_out = formatting + blank + joined + chained;
            assert_eq!(found.n() + left_out as usize, page.n(), "{source}");
        }
    }

    #[test]
    fn a_page_without_text_is_one_part() {
        let found = tree("<div><img><br> </div>");
        assert_eq!((found.n(), found.text.len()), (1, 0));
        assert_eq!((found.node[0], found.byte_end[0]), (0, 21));
    }

    #[test]
    fn a_part_in_several_texts_has_the_bytes_from_the_first_to_the_last() {
        let source = "<div>a <b>b</b> c<p>d</p></div><p>e";
        let found = tree(source);
        let bytes: Vec<_> = (found.byte_start.iter().zip(&found.byte_end))
            .map(|(&start, &end)| &source[start as usize..end as usize])
            .collect();
        let div = "<div>a <b>b</b> c<p>d</p></div>";
        assert_eq!(bytes, [source, div, "a <b>b</b> c", "<p>d</p>", "<p>e"]);
    }

    #[test]
    fn chains_can_be_kept() {
        let page = encode(b"<div><ul><li>a</ul></div>b", &Options::default()).unwrap();
        let found = AfTree::of(&page, &FORMATTING, true).unwrap();
        // Document, html, body, div, ul, li, a; b.
        assert_eq!(found.depth, [0, 1, 2, 3, 4, 5, 6, 3]);
        assert_eq!(found.pruned.chained, 0);
        assert_eq!(found.value_hash[3], found.value_hash[6]);
    }

    #[test]
    fn deep_pages_are_no_trouble() {
        let depth = 200_000;
        let source = format!("<a>{}{}</a>", "<b>x".repeat(depth), "</b>".repeat(depth));
        let options = Options {
            kind: Some(crate::page::kind::Kind::Xml),
            ..Options::default()
        };
        let page = encode(source.as_bytes(), &options).unwrap();
        let found = AfTree::of(&page, &FORMATTING, false).unwrap();
        assert_eq!(found.text.len(), 2 * depth);
        assert_eq!(found.depth.iter().max(), Some(&(depth as u32 - 1)));
    }
}
