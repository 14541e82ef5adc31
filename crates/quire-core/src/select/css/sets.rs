//! Sets of nodes, and the passes that move a whole set along a combinator.
//!
//! A set is one `bool` per node of the page, of which only the searched part (the *domain*) is ever
//! read or written: a subtree and the ancestors of its top. Every pass is linear in the domain.

use std::borrow::Cow;

use selectors::parser::Combinator;

use crate::base::error::Error;
use crate::page::vocabulary::Class;
use crate::select::{Page, Steps, is_element};

/// One flag per node.
pub(super) type Set = Vec<bool>;

/// Whether CSS skips nodes of this class: objects and arrays are not elements, and their content
/// belongs to the element around them.
pub(super) fn is_through(class: Class) -> bool {
    matches!(class, Class::Object | Class::Array)
}

/// The searched part of a page, and its elements.
pub(super) struct Domain<'a> {
    pub page: &'a dyn Page,
    steps: &'a Steps<'a>,
    /// Ancestors of the window, from the document down.
    chain: Vec<u32>,
    window: std::ops::Range<u32>,
    /// The parent, or in JSON the nearest member above or the document.
    up: Cow<'a, [u32]>,
    /// Elements outside of templates.
    pub elements: Set,
}

impl<'a> Domain<'a> {
    /// Create the domain of the subtree of `top` with its ancestors; without `top`, of the page.
    pub fn new(page: &'a dyn Page, steps: &'a Steps<'a>, top: Option<u32>) -> Result<Self, Error> {
        let mut top = top.unwrap_or(0);
        let (parents, sizes) = (page.parents(), page.sizes());
        // A skipped node has no children of its own: their siblings may be around it.
        while is_through(page.tag_class(page.tags()[top as usize])) && top != 0 {
            top = parents[top as usize];
        }
        let mut chain = Vec::new();
        let mut above = parents[top as usize];
        while above != u32::MAX {
            chain.push(above);
            above = parents[above as usize];
        }
        chain.reverse();
        let window = top..top + sizes[top as usize];
        let elements = vec![false; page.n() as usize];
        let mut domain = Self {
            page,
            steps,
            chain,
            window,
            up: Cow::Borrowed(parents),
            elements,
        };
        steps.take(domain.len() + page.tag_count() as usize)?;
        domain.find_elements();
        Ok(domain)
    }

    fn find_elements(&mut self) {
        let page = self.page;
        let tags = page.tags();
        let classes: Vec<Class> = (0..page.tag_count())
            .map(|tag| page.tag_class(tag))
            .collect();
        let class = |node: u32| classes[tags[node as usize] as usize];
        // Inside a template nothing is an element, so a window in there stays empty.
        if self
            .chain
            .iter()
            .any(|&node| class(node) == Class::Fragment)
        {
            return;
        }
        for &node in &self.chain {
            self.elements[node as usize] = is_element(class(node));
        }
        let mut node = self.window.start;
        while node < self.window.end {
            if class(node) == Class::Fragment {
                node += page.sizes()[node as usize];
                continue;
            }
            self.elements[node as usize] = is_element(class(node));
            node += 1;
        }
        // Only JSON has nodes between an element and its parent element.
        if classes.iter().any(|&class| is_through(class)) {
            let mut up = vec![0; page.n() as usize];
            for node in self
                .chain
                .iter()
                .copied()
                .chain(self.window.clone())
                .skip(1)
            {
                let parent = page.parents()[node as usize];
                up[node as usize] = if is_through(class(parent)) {
                    up[parent as usize]
                } else {
                    parent
                };
            }
            self.up = Cow::Owned(up);
        }
    }

    fn len(&self) -> usize {
        self.chain.len() + self.window.len()
    }

    /// Return every node of the domain except the document, in order.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = u32> + use<> {
        // The document is first in the chain, or in the window if there is no chain.
        let start = self.window.start.max(1);
        self.chain
            .clone()
            .into_iter()
            .skip(1)
            .chain(start..self.window.end)
    }

    /// Return the nodes of the subtree.
    pub fn window(&self) -> std::ops::Range<u32> {
        self.window.clone()
    }

    /// Return the parent, or in JSON the nearest member above or the document.
    pub fn parent(&self, node: u32) -> u32 {
        self.up[node as usize]
    }

    /// Count one pass over the domain.
    pub fn pass(&self) -> Result<(), Error> {
        self.steps.take(self.len())
    }

    /// Count some other work.
    pub fn take(&self, steps: usize) -> Result<(), Error> {
        self.steps.take(steps)
    }

    /// Return an empty set.
    pub fn none(&self) -> Set {
        vec![false; self.elements.len()]
    }

    /// Keep the nodes that are in both sets.
    pub fn keep(&self, set: &mut Set, other: &Set) -> Result<(), Error> {
        self.pass()?;
        self.nodes()
            .for_each(|node| set[node as usize] &= other[node as usize]);
        Ok(())
    }

    /// Add the nodes of the other set.
    pub fn add(&self, set: &mut Set, other: &Set) -> Result<(), Error> {
        self.pass()?;
        self.nodes()
            .for_each(|node| set[node as usize] |= other[node as usize]);
        Ok(())
    }

    /// Return the nodes that a combinator leads to from any node in `from`.
    pub fn forward(&self, combinator: Combinator, from: &Set) -> Result<Set, Error> {
        self.pass()?;
        let mut to = self.none();
        match combinator {
            Combinator::Child => {
                for node in self.nodes() {
                    to[node as usize] = from[self.up[node as usize] as usize];
                }
            }
            Combinator::Descendant => {
                for node in self.nodes() {
                    let up = self.up[node as usize] as usize;
                    to[node as usize] = from[up] || to[up];
                }
            }
            Combinator::NextSibling | Combinator::LaterSibling => {
                let later = combinator == Combinator::LaterSibling;
                self.along_siblings(self.window.start + 1..self.window.end, later, from, &mut to);
            }
            // These belong to pseudo-elements, which the parser refuses.
            Combinator::PseudoElement | Combinator::SlotAssignment | Combinator::Part => {}
        }
        Ok(to)
    }

    /// Return the nodes from which a combinator leads to any node in `to`.
    pub fn backward(&self, combinator: Combinator, to: &Set) -> Result<Set, Error> {
        self.pass()?;
        let mut from = self.none();
        match combinator {
            Combinator::Child => {
                for node in self.nodes().filter(|&node| to[node as usize]) {
                    from[self.up[node as usize] as usize] = true;
                }
            }
            Combinator::Descendant => {
                // Backwards, so that a node is complete before its parent is visited.
                for node in self.nodes().rev() {
                    if to[node as usize] || from[node as usize] {
                        from[self.up[node as usize] as usize] = true;
                    }
                }
            }
            Combinator::NextSibling | Combinator::LaterSibling => {
                let later = combinator == Combinator::LaterSibling;
                let nodes = (self.window.start + 1..self.window.end).rev();
                self.along_siblings(nodes, later, to, &mut from);
            }
            Combinator::PseudoElement | Combinator::SlotAssignment | Combinator::Part => {}
        }
        Ok(from)
    }

    /// Pass a flag from each element to the next one (or all later ones) with the same parent, in
    /// the order of `nodes`; needs only one flag per parent.
    fn along_siblings(
        &self,
        nodes: impl Iterator<Item = u32>,
        later: bool,
        from: &Set,
        to: &mut Set,
    ) {
        let mut last = self.none();
        for node in nodes.filter(|&node| self.elements[node as usize]) {
            let flag = &mut last[self.up[node as usize] as usize];
            to[node as usize] = *flag;
            *flag = from[node as usize] || (later && *flag);
        }
    }
}
