//! The page as `XPath` sees it: elements, text, comments and attributes.
//!
//! Objects and arrays of JSON, paragraphs, and the content node of a `template` are *skipped*:
//! their children count as children of their parent. Since a subtree is a range, that costs
//! nothing: moving to the next sibling adds the size of a node, entering a skipped node adds one.

use std::borrow::Cow;

use super::expr::{Axis, Test};
use crate::base::error::Error;
use crate::page::vocabulary::Class;
use crate::select::{Page, Steps, html_namespace};

/// A node, or one of its attributes. Document order is the order of the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Item {
    pub node: u32,
    /// 0 for the node itself, else the index of the attribute plus one.
    pub attribute: u32,
}

impl Item {
    pub fn node(node: u32) -> Self {
        Self { node, attribute: 0 }
    }

    pub fn is_attribute(self) -> bool {
        self.attribute > 0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Document,
    Element,
    Text,
    Comment,
    Instruction,
    /// Skipped: its children count as children of its parent.
    Through,
    /// Not part of the `XPath` data model.
    Unseen,
}

impl Kind {
    pub fn of(class: Class) -> Self {
        match class {
            Class::Document => Kind::Document,
            Class::Element | Class::Member => Kind::Element,
            Class::Text | Class::Cdata | Class::Scalar | Class::Line => Kind::Text,
            Class::Comment => Kind::Comment,
            Class::Instruction => Kind::Instruction,
            Class::Fragment | Class::Object | Class::Array | Class::Paragraph => Kind::Through,
            Class::Doctype | Class::Bytes => Kind::Unseen,
        }
    }
}

/// Called for each node on an axis; returns whether to continue.
pub(super) type Visit<'v> = &'v mut dyn FnMut(Item) -> Result<bool, Error>;

pub(super) struct Tree<'a> {
    pub page: &'a dyn Page,
    pub steps: &'a Steps<'a>,
    kinds: Vec<Kind>,
}

impl<'a> Tree<'a> {
    pub fn new(page: &'a dyn Page, steps: &'a Steps<'a>) -> Self {
        let kinds = (0..page.tag_count())
            .map(|tag| Kind::of(page.tag_class(tag)))
            .collect();
        Self { page, steps, kinds }
    }

    pub fn kind(&self, node: u32) -> Kind {
        self.kinds[self.page.tags()[node as usize] as usize]
    }

    pub fn end(&self, node: u32) -> u32 {
        node + self.page.sizes()[node as usize]
    }

    /// Return the parent of a node in `XPath`, `None` for the document.
    pub fn parent(&self, node: u32) -> Result<Option<u32>, Error> {
        let mut above = self.page.parents()[node as usize];
        while above != u32::MAX {
            self.steps.take(1)?;
            if self.kind(above) != Kind::Through {
                return Ok(Some(above));
            }
            above = self.page.parents()[above as usize];
        }
        Ok(None)
    }

    /// Visit the children of `parent` from `node` on.
    fn children_from(&self, mut node: u32, parent: u32, visit: Visit<'_>) -> Result<bool, Error> {
        let end = self.end(parent);
        while node < end {
            self.steps.take(1)?;
            match self.kind(node) {
                Kind::Through => node += 1,
                Kind::Unseen => node = self.end(node),
                _ => {
                    if !visit(Item::node(node))? {
                        return Ok(false);
                    }
                    node = self.end(node);
                }
            }
        }
        Ok(true)
    }

    /// Return the child of `parent` before `node`, which is also a child.
    fn previous(&self, node: u32, parent: u32) -> Result<Option<u32>, Error> {
        let mut before = node;
        loop {
            before -= 1;
            // From the last node of the previous subtree up to the root of that subtree.
            let (mut above, mut top) = (before, None);
            while above != parent {
                self.steps.take(1)?;
                if self.kind(above) != Kind::Through {
                    top = Some(above);
                }
                above = self.page.parents()[above as usize];
            }
            match top {
                Some(top) if self.kind(top) != Kind::Unseen => return Ok(Some(top)),
                Some(top) => before = top,
                None if before == parent => return Ok(None),
                None => {}
            }
        }
    }

    /// Visit an axis in its own order: away from the context node.
    pub fn walk(&self, axis: Axis, from: Item, visit: Visit<'_>) -> Result<(), Error> {
        let Item { node, attribute } = from;
        match axis {
            Axis::Itself => visit(from).map(drop),
            Axis::Parent if from.is_attribute() => visit(Item::node(node)).map(drop),
            Axis::Parent => match self.parent(node)? {
                Some(parent) => visit(Item::node(parent)).map(drop),
                None => Ok(()),
            },
            Axis::Ancestor | Axis::AncestorOrSelf => {
                if axis == Axis::AncestorOrSelf && !visit(from)? {
                    return Ok(());
                }
                let mut above = if attribute > 0 {
                    Some(node)
                } else {
                    self.parent(node)?
                };
                while let Some(node) = above {
                    if !visit(Item::node(node))? {
                        break;
                    }
                    above = self.parent(node)?;
                }
                Ok(())
            }
            _ if from.is_attribute() => {
                if axis == Axis::DescendantOrSelf {
                    visit(from).map(drop)
                } else {
                    Ok(())
                }
            }
            Axis::Child => self.children_from(node + 1, node, visit).map(drop),
            Axis::Descendant => self.range(node + 1, self.end(node), visit),
            Axis::DescendantOrSelf => self.range(node, self.end(node), visit),
            Axis::Attribute => {
                for item in self.attributes(node) {
                    // Names are compared, and may be long.
                    self.steps.take(1 + self.attribute(item).0.len() / 16)?;
                    if !visit(item)? {
                        break;
                    }
                }
                Ok(())
            }
            Axis::FollowingSibling => match self.parent(node)? {
                Some(parent) => self.children_from(self.end(node), parent, visit).map(drop),
                None => Ok(()),
            },
            Axis::PrecedingSibling => {
                let Some(parent) = self.parent(node)? else {
                    return Ok(());
                };
                let mut before = self.previous(node, parent)?;
                while let Some(node) = before {
                    if !visit(Item::node(node))? {
                        break;
                    }
                    before = self.previous(node, parent)?;
                }
                Ok(())
            }
        }
    }

    /// Visit every node in a range.
    pub fn range(&self, start: u32, end: u32, visit: Visit<'_>) -> Result<(), Error> {
        self.steps.take(end.saturating_sub(start) as usize)?;
        for node in start..end {
            if !matches!(self.kind(node), Kind::Through | Kind::Unseen) && !visit(Item::node(node))?
            {
                break;
            }
        }
        Ok(())
    }

    fn attributes(&self, node: u32) -> impl Iterator<Item = Item> + use<> {
        let id = self.page.attr_ids()[node as usize];
        let count = if id < 0 {
            0
        } else {
            self.page.attributes(id).len() as u32
        };
        (1..=count).map(move |attribute| Item { node, attribute })
    }

    /// Return the name and value of an attribute.
    pub fn attribute(&self, item: Item) -> (&'a str, &'a str) {
        let id = self.page.attr_ids()[item.node as usize];
        let (name, value) = &self.page.attributes(id)[item.attribute as usize - 1];
        (name, value)
    }

    /// Return the string-value of `XPath`: all text inside.
    pub fn text(&self, item: Item) -> Result<Cow<'a, str>, Error> {
        if item.is_attribute() {
            let text = self.attribute(item).1;
            self.steps.take(1 + text.len() / 16)?;
            return Ok(Cow::Borrowed(text));
        }
        let node = item.node;
        if self.page.sizes()[node as usize] == 1
            && !matches!(self.kind(node), Kind::Element | Kind::Document)
        {
            let text = self.page.text_of_leaf(node);
            self.steps.take(1 + text.len() / 16)?;
            return Ok(text);
        }
        let mut all = Cow::Borrowed("");
        self.range(node, self.end(node), &mut |item| {
            if self.kind(item.node) == Kind::Text {
                let text = self.page.text_of_leaf(item.node);
                self.steps.take(1 + text.len() / 16)?;
                if all.is_empty() {
                    all = text;
                } else {
                    all.to_mut().push_str(&text);
                }
            }
            Ok(true)
        })?;
        Ok(all)
    }

    /// Whether nodes with this tag pass a test.
    pub fn tag_passes(&self, tag: u32, test: &Test) -> bool {
        tag_passes(self.page, tag, test)
    }

    /// Whether an attribute passes a test of the attribute axis.
    pub fn attribute_passes(&self, item: Item, test: &Test) -> bool {
        let (name, html) = (self.attribute(item).0, self.page.is_html());
        // Namespace declarations are not attributes in XPath.
        if !html && (name == "xmlns" || name.starts_with("xmlns:")) {
            return false;
        }
        match test {
            Test::Any | Test::Node => true,
            Test::Name(wanted) => same(html, name, wanted),
            Test::Qualified(prefix, wanted) => {
                let parts = name.split_once(':');
                parts.is_some_and(|(before, local)| {
                    same(html, before, prefix) && same(html, local, wanted)
                })
            }
            Test::Prefix(prefix) => name
                .split_once(':')
                .is_some_and(|(before, _)| same(html, before, prefix)),
            Test::Text | Test::Comment | Test::Instruction => false,
        }
    }
}

fn same(html: bool, found: &str, wanted: &str) -> bool {
    found == wanted || (html && found.eq_ignore_ascii_case(wanted))
}

/// Whether nodes with this tag pass a test. A bare name matches the name as written: in HTML the
/// local name in any namespace, in XML a name without a prefix.
pub(in crate::select) fn tag_passes(page: &dyn Page, tag: u32, test: &Test) -> bool {
    let (kind, html) = (Kind::of(page.tag_class(tag)), page.is_html());
    let (name, namespace) = (page.tag_name(tag), page.tag_namespace(tag));
    match test {
        Test::Node => !matches!(kind, Kind::Through | Kind::Unseen),
        Test::Text => kind == Kind::Text,
        Test::Comment => kind == Kind::Comment,
        Test::Instruction => kind == Kind::Instruction,
        _ if kind != Kind::Element => false,
        Test::Any => true,
        Test::Name(wanted) => same(html, name, wanted),
        Test::Qualified(prefix, wanted) => match html_namespace(prefix) {
            Some(known) if html => known == namespace && same(html, name, wanted),
            _ => name.split_once(':').is_some_and(|(before, local)| {
                same(html, before, prefix) && same(html, local, wanted)
            }),
        },
        Test::Prefix(prefix) => match html_namespace(prefix) {
            Some(known) if html => known == namespace,
            _ => name
                .split_once(':')
                .is_some_and(|(before, _)| same(html, before, prefix)),
        },
    }
}
