//! What the matching asks of a side: its columns, and through them its page.

use crate::digest::Digest;
use crate::page::tree::NONE;
use crate::page::vocabulary::Class;
use crate::sdiff::labels::Labels;
use crate::sdiff::side::Side;

/// A side with its page. Nodes are those of the side.
#[derive(Clone, Copy)]
pub struct Tree<'a> {
    /// The page.
    pub page: &'a Digest,
    /// What counts of each node of the page.
    pub labels: &'a Labels,
    /// The nodes that take part.
    pub side: &'a Side,
}

impl<'a> Tree<'a> {
    /// Number of nodes.
    #[inline]
    pub fn n(self) -> usize {
        self.side.n()
    }

    /// The node of the page that a node is.
    #[inline]
    pub fn at(self, node: u32) -> usize {
        self.side.node[node as usize] as usize
    }

    /// Hash of a subtree.
    #[inline]
    pub fn hash(self, node: u32) -> u64 {
        self.side.hash[node as usize]
    }

    /// Hash of a node alone.
    #[inline]
    pub fn label(self, node: u32) -> u64 {
        self.side.label[node as usize]
    }

    /// Size of a subtree.
    #[inline]
    pub fn size(self, node: u32) -> u32 {
        self.side.size[node as usize]
    }

    /// Parent of a node; [`NONE`] for the root.
    #[inline]
    pub fn parent(self, node: u32) -> u32 {
        self.side.parent[node as usize]
    }

    /// Hash of the tag.
    #[inline]
    pub fn tag(self, node: u32) -> u64 {
        self.labels.tag[self.at(node)]
    }

    /// Hash of the attributes.
    #[inline]
    pub fn attributes(self, node: u32) -> u64 {
        self.labels.attributes[self.at(node)]
    }

    /// Hash of the content.
    #[inline]
    pub fn content(self, node: u32) -> u64 {
        self.labels.content[self.at(node)]
    }

    /// What a node is.
    #[inline]
    pub fn class(self, node: u32) -> Class {
        let tag = self.page.wide().tag[self.at(node)] as usize;
        self.page.tag_info(tag).class
    }

    /// Name of the tag.
    pub fn tag_name(self, node: u32) -> &'a str {
        self.page
            .tag_name(self.page.wide().tag[self.at(node)] as usize)
    }

    /// The path a node links to: without host, query and fragment, which change with campaigns
    /// and servers. Nothing for a link to the page itself.
    pub fn link_path(self, node: u32) -> Option<&'a str> {
        path_of(self.attribute(node, "href")?)
    }

    /// The children of a node.
    pub fn children(self, node: u32) -> Vec<u32> {
        self.side.children(node).collect()
    }

    /// The value of an attribute.
    pub fn attribute(self, node: u32, name: &str) -> Option<&'a str> {
        let attributes = self.page.attributes(self.at(node));
        (attributes.iter())
            .find(|(known, _)| &**known == name)
            .map(|(_, value)| &**value)
    }

    /// Whether a node is the root of the page, or the only element on top of a page.
    pub fn is_top(self, node: u32) -> bool {
        node == 0 || self.parent(node) == 0
    }

    /// The parent, if there is one.
    pub fn above(self, node: u32) -> Option<u32> {
        Some(self.parent(node)).filter(|&parent| parent != NONE)
    }
}

/// How many subtrees are equal at the beginning of two lists, and then at their ends.
pub fn trimmed(old: Tree, new: Tree, xs: &[u32], ys: &[u32]) -> (usize, usize) {
    let same = |&(&x, &y): &(&u32, &u32)| old.hash(x) == new.hash(y);
    let head = xs.iter().zip(ys).take_while(same).count();
    let most = xs.len().min(ys.len()) - head;
    let ends = xs.iter().rev().zip(ys.iter().rev());
    (head, ends.take(most).take_while(same).count())
}

/// The path of an address.
fn path_of(address: &str) -> Option<&str> {
    let rest = match address.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("", |at| &rest[at..]),
        None => address,
    };
    let end = rest.find(['?', '#']).unwrap_or(rest.len());
    Some(&rest[..end]).filter(|path| path.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_compared_by_path() {
        assert_eq!(path_of("https://example.org/a/b?utm=1#top"), Some("/a/b"));
        assert_eq!(path_of("/a/b"), Some("/a/b"));
        assert_eq!(path_of("https://example.org"), None);
        assert_eq!(path_of("#top"), None);
    }
}
