//! A digest as selectors see it: the columns that [`Page`] needs, read in place.
//!
//! The wide columns and the parsed attributes stay with the digest, so a second selector on a page
//! only costs its own passes.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::digest::{Digest, Wide};
use crate::page::flags::Flags;
use crate::page::kind::Kind;
use crate::page::tree::{Derived, NONE};
use crate::page::vocabulary::{Class, Namespace};
use crate::select::Page;

/// A digest in which selectors can find nodes.
///
/// ```
/// use quire_core::{Options, encode};
/// use quire_core::select::{Limits, css};
/// use quire_core::select::View;
///
/// let page = encode(b"<ul><li>a<li class=x>b</ul>", &Options::default()).unwrap();
/// let found = css(&View::new(&page), "li.x", 0, Limits::default()).unwrap();
/// assert_eq!(found, [7]); // document, html, head, body, ul, li, text, li
/// ```
pub struct View<'a> {
    digest: &'a Digest,
    wide: &'a Wide,
    derived: &'a Derived,
    /// One node of each attribute run: the namespace of its tag decides how the run is parsed.
    bearers: OnceLock<Vec<u32>>,
}

impl<'a> View<'a> {
    /// Wrap a digest. Linear the first time, free afterwards.
    pub fn new(digest: &'a Digest) -> Self {
        Self {
            digest,
            wide: digest.wide(),
            derived: digest.derived(),
            bearers: OnceLock::new(),
        }
    }

    fn bearer(&self, attr_id: i32) -> u32 {
        let bearers = self.bearers.get_or_init(|| {
            let mut bearers = vec![NONE; self.digest.attr_count()];
            for (node, &id) in self.wide.attr.iter().enumerate().rev() {
                if id >= 0 {
                    bearers[id as usize] = node as u32;
                }
            }
            bearers
        });
        usize::try_from(attr_id)
            .ok()
            .and_then(|id| bearers.get(id))
            .map_or(NONE, |&node| node)
    }
}

impl Page for View<'_> {
    fn n(&self) -> u32 {
        self.digest.n() as u32
    }

    fn parents(&self) -> &[u32] {
        &self.derived.parent
    }

    fn sizes(&self) -> &[u32] {
        &self.derived.size
    }

    fn tags(&self) -> &[u32] {
        &self.wide.tag
    }

    fn tag_count(&self) -> u32 {
        self.digest.tag_count() as u32
    }

    fn tag_name(&self, tag: u32) -> &str {
        self.digest.tag_name(tag as usize)
    }

    fn tag_class(&self, tag: u32) -> Class {
        self.digest.tag_info(tag as usize).class
    }

    fn tag_namespace(&self, tag: u32) -> Namespace {
        self.digest.tag_info(tag as usize).namespace
    }

    fn attr_ids(&self) -> &[i32] {
        &self.wide.attr
    }

    fn attributes(&self, attr_id: i32) -> &[(Box<str>, Box<str>)] {
        match self.bearer(attr_id) {
            NONE => &[],
            node => self.digest.attributes(node as usize),
        }
    }

    fn text_of_leaf(&self, node: u32) -> Cow<'_, str> {
        match self.wide.content[node as usize] {
            -1 => Cow::Borrowed(""),
            id => self.digest.content_text(id as usize),
        }
    }

    fn is_html(&self) -> bool {
        self.digest.kind() == Kind::Html
    }

    fn is_quirks(&self) -> bool {
        self.digest.flags().has(Flags::QUIRKS)
    }
}
