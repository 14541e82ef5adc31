//! Finding nodes: CSS selectors and an `XPath` subset over the columns of a page, and paths back.
//!
//! This folder does not depend on where the columns come from: a page is anything that implements
//! [`Page`]. Three choices worth knowing before changing this folder:
//!
//! * Both languages are evaluated *a column at a time*: a selector is a few linear passes over the
//!   whole page (or the requested part), not a test for every node. So the cost of CSS is `nodes ×
//!   parts of the selector` for any selector, and no pass recurses into the tree.
//! * Every pass counts its steps against [`Limits`], so that hostile expressions end with
//!   [`Error::Budget`] instead of a hang. Expressions themselves are short (64 KiB) and shallow, so
//!   parsing them is bounded too.
//! * Content of a `template` ([`Class::Fragment`]) is invisible to CSS, as in browsers. In `XPath`,
//!   where users expect the tree as written, it consists of children of the `template`.

use std::borrow::Cow;
use std::cell::Cell;

use crate::base::error::Error;
use crate::page::vocabulary::{Class, Namespace};

mod css;
mod digest_page;
mod path;
mod xpath;

#[cfg(test)]
pub(crate) mod sample;

pub use css::{CssSelector, css};
pub use digest_page::View;
pub use path::{Paths, css_path, xpath as xpath_of};
pub use xpath::{Found, XPath};

/// The columns that a selector reads. Nodes are in pre-order; node 0 is the document.
pub trait Page {
    /// Return the number of nodes.
    fn n(&self) -> u32;
    /// Return the parent of every node, `u32::MAX` for node 0.
    fn parents(&self) -> &[u32];
    /// Return the subtree size of every node: the subtree of `i` is `i .. i + size`.
    fn sizes(&self) -> &[u32];
    /// Return the index in the tag list of every node.
    fn tags(&self) -> &[u32];
    /// Return the length of the tag list.
    fn tag_count(&self) -> u32;
    /// Return the name of a tag; XML names with their prefix.
    fn tag_name(&self, tag: u32) -> &str;
    /// Return the class of nodes with this tag.
    fn tag_class(&self, tag: u32) -> Class;
    /// Return the namespace of a tag.
    fn tag_namespace(&self, tag: u32) -> Namespace;
    /// Return the attribute run of every node, or -1. Nodes with the same run have the same
    /// attributes.
    fn attr_ids(&self) -> &[i32];
    /// Return the attributes of a run, in order, with unique names.
    fn attributes(&self, attr_id: i32) -> &[(Box<str>, Box<str>)];
    /// Return the decoded text of one leaf.
    fn text_of_leaf(&self, node: u32) -> Cow<'_, str>;
    /// Whether names compare as in HTML: ASCII case does not matter.
    fn is_html(&self) -> bool;
    /// Whether the page is in quirks mode: the case of classes and ids does not matter either.
    fn is_quirks(&self) -> bool;
}

/// How much work one selection may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of nodes visited, over all passes.
    pub steps: u64,
}

impl Default for Limits {
    /// 50 million: about 50 ms, or 500 passes over a page of 100,000 nodes.
    fn default() -> Self {
        Self { steps: 50_000_000 }
    }
}

// 64 KiB: the path of the deepest node that browsers allow (512 levels) takes 10 KiB. Bounds every
// parser here.
pub(crate) const MAX_SELECTOR_BYTES: usize = 65_536;

/// Make an [`Error::Selector`] for a byte offset; reported in characters, as people count.
pub(crate) fn fault(selector: &str, byte: usize, message: impl Into<String>) -> Error {
    let offset = selector
        .char_indices()
        .take_while(|&(at, _)| at < byte)
        .count();
    Error::Selector {
        selector: selector.to_owned(),
        message: message.into(),
        offset,
    }
}

/// Refuse a selector that is too long.
pub(crate) fn check_length(selector: &str) -> Result<(), Error> {
    if selector.len() <= MAX_SELECTOR_BYTES {
        return Ok(());
    }
    let bytes = selector.len();
    let message = format!("has {bytes} bytes, more than the limit of {MAX_SELECTOR_BYTES}");
    Err(fault(selector, 0, message))
}

/// The steps still allowed.
pub(crate) struct Steps<'a> {
    selector: &'a str,
    limit: u64,
    used: Cell<u64>,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(selector: &'a str, limits: Limits) -> Self {
        Self {
            selector,
            limit: limits.steps,
            used: Cell::new(0),
        }
    }

    /// Count `steps`, or fail if there are not enough left.
    #[inline]
    pub(crate) fn take(&self, steps: usize) -> Result<(), Error> {
        let used = self.used.get().saturating_add(steps as u64);
        self.used.set(used);
        if used <= self.limit {
            return Ok(());
        }
        Err(Error::Budget {
            selector: self.selector.to_owned(),
            steps: self.limit,
        })
    }
}

/// Whether nodes of this class count as elements.
pub(crate) fn is_element(class: Class) -> bool {
    matches!(class, Class::Element | Class::Member)
}

/// Return the part of a name after its prefix.
pub(crate) fn local_part(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// Return the namespace of a built-in prefix in HTML.
pub(crate) fn html_namespace(prefix: &str) -> Option<Namespace> {
    match prefix {
        "html" => Some(Namespace::Html),
        "svg" => Some(Namespace::Svg),
        "math" => Some(Namespace::MathMl),
        _ => None,
    }
}
