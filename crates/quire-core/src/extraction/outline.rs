//! The outline of a page: the numbers about its nodes that every search for records starts from.
//!
//! Only visible nodes count: elements and texts outside scripts, styles and templates. One pass.

use std::sync::OnceLock;

use super::measures::Counts;
use crate::digest::Digest;
use crate::page::tree::NONE;
use crate::page::vocabulary::Class;
use crate::text::Reader;

/// Texts that consist of nothing else are blank, besides white space.
const BLANKS: [&[u8]; 5] = [
    b"&nbsp;",
    b"&#160;",
    b"\xc2\xa0",
    b"&zwnj;",
    b"\xe2\x80\x8b",
];

/// The columns of a page that a search for records needs.
#[derive(Debug)]
pub struct Outline {
    /// Whether a node is a visible element.
    pub elements: Vec<bool>,
    /// Whether a node shows something itself: a text that is not blank, or an image.
    pub leaves: Vec<bool>,
    /// Bytes of each visible text, as written, without white space around it; else 0.
    pub own_text: Vec<u32>,
    /// The first node after each subtree.
    pub end: Vec<u32>,
    /// Leaves in front of each node; one entry more than nodes.
    pub leaves_before: Vec<u32>,
    /// Bytes of text in front of each node; one entry more than nodes.
    pub text_before: Vec<u32>,
    /// Counts that the measures of lists need; made when first asked for.
    counts: OnceLock<Counts>,
}

impl Outline {
    /// Measure the nodes of a page.
    ///
    /// ```
    /// use quire_core::extraction::Outline;
    /// use quire_core::{Options, encode};
    ///
    /// let page = encode(b"<ul><li>Cod<li>Chips</ul><script>x</script>", &Options::default()).unwrap();
    /// let outline = Outline::of(&page);
    /// assert_eq!(outline.text_before.last(), Some(&8));
    /// assert_eq!(outline.leaf_count(0), 2);
    /// ```
    #[must_use]
    pub fn of(page: &Digest) -> Self {
        let n = page.n();
        let names: Vec<&str> = (0..page.tag_count())
            .map(|tag| page.tag_name(tag))
            .collect();
        let is_text: Vec<bool> = (0..page.tag_count())
            .map(|tag| page.tag_info(tag).class == Class::Text)
            .collect();
        let (tags, contents) = (page.tag(), page.content());
        let visible = Reader::new(page).visible();
        let sizes = &page.derived().size;
        let mut found = Self {
            elements: Vec::with_capacity(n),
            leaves: Vec::with_capacity(n),
            own_text: Vec::with_capacity(n),
            end: Vec::with_capacity(n),
            leaves_before: Vec::with_capacity(n + 1),
            text_before: Vec::with_capacity(n + 1),
            counts: OnceLock::new(),
        };
        let is_element: Vec<bool> = names.iter().map(|name| !name.starts_with('#')).collect();
        let is_image: Vec<bool> = names.iter().map(|name| *name == "img").collect();
        let (mut leaves, mut text) = (0, 0);
        found.leaves_before.push(0);
        found.text_before.push(0);
        for node in 0..n {
            let tag = tags.get(node) as usize;
            let element = visible[node] && is_element[tag];
            let content = contents.get(node);
            let own = if visible[node] && is_text[tag] && content >= 0 {
                shown_bytes(page.content_raw(content as usize))
            } else {
                0
            };
            let leaf = own > 0 || (element && is_image[tag]);
            leaves += u32::from(leaf);
            text += own;
            found.elements.push(element);
            found.leaves.push(leaf);
            found.own_text.push(own);
            found.end.push(node as u32 + sizes[node]);
            found.leaves_before.push(leaves);
            found.text_before.push(text);
        }
        found
    }

    /// The number of nodes.
    #[must_use]
    pub fn n(&self) -> usize {
        self.end.len()
    }

    /// The number of leaves in a subtree.
    #[must_use]
    pub fn leaf_count(&self, node: u32) -> u32 {
        let node = node as usize;
        self.leaves_before[self.end[node] as usize] - self.leaves_before[node]
    }

    /// Bytes of text in a subtree.
    #[must_use]
    pub fn text_bytes(&self, node: u32) -> u32 {
        let node = node as usize;
        self.text_before[self.end[node] as usize] - self.text_before[node]
    }

    /// Counts for the measures of lists; `page` is the page of this outline.
    pub(super) fn counts(&self, page: &Digest) -> &Counts {
        self.counts.get_or_init(|| Counts::of(page, self))
    }

    /// How many visible elements with one of the names are in front of each node, and in all.
    pub(super) fn count(&self, page: &Digest, names: &[&str]) -> Vec<u32> {
        let wanted: Vec<bool> = (0..page.tag_count())
            .map(|tag| names.contains(&page.tag_name(tag)))
            .collect();
        let tags = page.tag();
        let mut before = Vec::with_capacity(self.n() + 1);
        let mut found = 0;
        before.push(0);
        for node in 0..self.n() {
            found += u32::from(self.elements[node] && wanted[tags.get(node) as usize]);
            before.push(found);
        }
        before
    }

    /// How many leaves inside visible elements with the name are in front of each node, and in all.
    pub(super) fn count_inside(&self, page: &Digest, name: &str) -> Vec<u32> {
        let wanted: Vec<bool> = (0..page.tag_count())
            .map(|tag| page.tag_name(tag) == name)
            .collect();
        let tags = page.tag();
        let mut before = Vec::with_capacity(self.n() + 1);
        let (mut found, mut inside) = (0, 0);
        before.push(0);
        for node in 0..self.n() {
            if self.elements[node] && wanted[tags.get(node) as usize] {
                inside = inside.max(self.end[node]);
            }
            found += u32::from(self.leaves[node] && (node as u32) < inside);
            before.push(found);
        }
        before
    }
}

/// The parent of a node, if it has one.
pub(super) fn parent(page: &Digest, node: u32) -> Option<u32> {
    Some(page.derived().parent[node as usize]).filter(|&parent| parent != NONE)
}

/// Bytes of a text without white space around it; 0 if it is blank.
fn shown_bytes(raw: &[u8]) -> u32 {
    let kept = trimmed(raw);
    // Only a text that starts with a blank character can be one of nothing else.
    if !matches!(kept.first(), Some(b'&' | 0xc2 | 0xe2)) {
        return kept.len() as u32;
    }
    let mut kept = kept.to_vec();
    for blank in BLANKS {
        if memchr::memmem::find(&kept, blank).is_some() {
            kept = without(&kept, blank);
        }
    }
    trimmed(&kept).len() as u32
}

/// As `bytes.strip` of Python does.
fn trimmed(raw: &[u8]) -> &[u8] {
    let is_white = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c);
    let start = raw.iter().position(|byte| !is_white(byte));
    let end = raw.iter().rposition(|byte| !is_white(byte));
    match (start, end) {
        (Some(start), Some(end)) => &raw[start..=end],
        _ => &[],
    }
}

fn without(raw: &[u8], blank: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(raw.len());
    let mut from = 0;
    for at in memchr::memmem::find_iter(raw, blank) {
        kept.extend_from_slice(&raw[from..at]);
        from = at + blank.len();
    }
    kept.extend_from_slice(&raw[from..]);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_characters_do_not_count() {
        assert_eq!(shown_bytes(b" a\x0bb \n"), 3);
        assert_eq!(shown_bytes(b"&nbsp; &#160;\xc2\xa0\xe2\x80\x8b"), 0);
        assert_eq!(shown_bytes(b"&nbsp;x&nbsp;"), 1);
        assert_eq!(shown_bytes(b"x&nbsp;"), 7);
        assert_eq!(shown_bytes(b"&nb&nbsp;sp;"), 6);
    }
}
