//! From a node back to a selector: a name for a place on a page.
//!
//! Both kinds of path are unique: selecting one on the same page gives exactly the node it was
//! made for, if the language reaches that node at all. A node that it does not reach gets the
//! path of the nearest node around it that it does reach, so the path of a node may be that of
//! another; which nodes these are is said at each function.
//!
//! A path is never longer, and never takes more steps, than selectors may. Where the usual path
//! would be, there is a shorter one: in CSS from the nearest name that only one element has, in
//! `XPath` the number of the node in document order. Only elements some thousand levels deep,
//! which HTML does not have, can be without one in CSS.
//!
//! Cost: [`Paths`] goes over the page a few times when it is first asked. From then on a path
//! costs as much as it is long.

use std::sync::OnceLock;

use super::Page;
use css::CssParts;
use xpath::XPathParts;

mod css;
mod siblings;
mod xpath;

/// The paths of one page. Every call must come with the same page.
#[derive(Default)]
pub struct Paths {
    css: OnceLock<CssParts>,
    xpath: OnceLock<XPathParts>,
}

impl Paths {
    /// A CSS selector that matches this element and nothing else on the page.
    ///
    /// `#id` where no other element has that id, else names with `:nth-of-type(n)` where needed,
    /// from the nearest element with such an id (or the root) down. Ids and names of more than
    /// 256 bytes are passed over.
    ///
    /// CSS reaches elements and members of JSON objects outside of templates. Any other node gets
    /// the path of the nearest one around it: a text or comment that of its element, everything in
    /// a template that of the outermost `template`, and an element too deep for a selector that of
    /// the deepest one around it that is not. Where there is none around it (the document, a
    /// doctype, what stands beside the root) the path is `:root`, which finds nothing on a page
    /// without elements.
    pub fn css(&self, page: &dyn Page, node: u32) -> String {
        self.css_parts(page).path(page, node)
    }

    /// The same for many nodes, with a limit to the bytes of all of them that is linear in the
    /// page; `None` for a node beyond it, and for one that is too deep.
    pub fn css_all(&self, page: &dyn Page, nodes: &[u32]) -> Vec<Option<String>> {
        self.css_parts(page).paths(page, nodes)
    }

    /// An `XPath` that gives exactly this node: `/html/body/div[2]/p`, `…/text()[1]`,
    /// `…/comment()`; for a node too deep for that, `/descendant::node()[12]`.
    ///
    /// Nodes that `XPath` does not see get the path of the nearest node around them that it does
    /// see: a doctype, the content of a page of bytes and a paragraph of plain text that of the
    /// document, `/`; objects and arrays of JSON that of their member, or `/`; the content node of
    /// a template that of the `template`. What is in these is seen and has a path of its own.
    pub fn xpath(&self, page: &dyn Page, node: u32) -> String {
        (self.xpath.get_or_init(|| XPathParts::new(page))).path(page, node)
    }

    fn css_parts(&self, page: &dyn Page) -> &CssParts {
        self.css.get_or_init(|| CssParts::new(page))
    }
}

/// [`Paths::css`] for one node.
pub fn css_path(page: &dyn Page, node: u32) -> String {
    Paths::default().css(page, node)
}

/// [`Paths::xpath`] for one node.
pub fn xpath(page: &dyn Page, node: u32) -> String {
    Paths::default().xpath(page, node)
}

#[cfg(test)]
mod tests;
