//! The stack of open elements; answers every question of the rules in constant time.
//!
//! "Is there a `p` in button scope", "is a special element in between": the rules walk the stack,
//! which makes deep pages quadratic. Here each entry remembers the entry of the same tag below it,
//! and the nearest scope boundary, special element and list barrier; a pop restores the heads of
//! these chains. A list by node holds the position of each node. So every question is a comparison
//! of two positions.

use crate::base::vec_pool::{Reused, kept};
use crate::page::html_names;
use crate::page::html_names::Name;
use crate::page::tree::NONE;
use crate::page::vocabulary::{Namespace, Tag};

/// Means "not on the stack"; smaller than every position.
pub const NOWHERE: u32 = 0;

/// Number of nodes by which the list of positions grows at once.
const ROOM: usize = 1024;

/// An open element. Positions count from 1; 0 means "none".
#[derive(Clone, Copy, Debug)]
pub struct Open {
    /// The element.
    pub node: u32,
    /// Where its children go: itself, or the content of a template.
    pub target: u32,
    /// Its tag.
    pub tag: Tag,
    /// Its known name, or `html_names::COUNT`.
    pub name: Name,
    /// Its namespace.
    pub namespace: Namespace,
    /// Properties of an HTML element (`html_names::IS_...`), plus the ones below.
    pub properties: u16,
    same: u32,
    scope: u32,
    special: u32,
    barrier: u32,
    html: u32,
}

kept!(Open);

/// HTML inside SVG or MathML may begin here.
pub const HTML_INTEGRATION: u16 = 1 << 14;
/// Text and HTML inside MathML may begin here.
pub const TEXT_INTEGRATION: u16 = 1 << 15;

/// The stack.
pub struct Stack {
    entries: Reused<Open>,
    /// Topmost position of each tag.
    last: Reused<u32>,
    /// Position of each node, at least up to the last one pushed.
    positions: Reused<u32>,
    scope: u32,
    special: u32,
    barrier: u32,
    html: u32,
}

impl Stack {
    /// Create an empty stack.
    pub fn new() -> Self {
        Self {
            entries: Reused::with_capacity(64),
            last: Reused::filled(html_names::KNOWN_END as usize, NOWHERE),
            positions: Reused::with_capacity(0),
            scope: NOWHERE,
            special: NOWHERE,
            barrier: NOWHERE,
            html: NOWHERE,
        }
    }

    /// Return the number of open elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Return the current node.
    #[inline]
    pub fn top(&self) -> Option<&Open> {
        self.entries.last()
    }

    /// Return the entry at a position.
    pub fn at(&self, position: u32) -> &Open {
        &self.entries[position as usize - 1]
    }

    /// Return the topmost position of a tag.
    #[inline]
    pub fn last(&self, tag: Tag) -> u32 {
        self.last.get(tag as usize).copied().unwrap_or(NOWHERE)
    }

    /// Return the topmost position of an HTML element.
    #[inline]
    pub fn last_html(&self, name: Name) -> u32 {
        self.last[html_names::html(name) as usize]
    }

    /// Return the topmost position of any of these HTML elements.
    pub fn last_of(&self, names: &[Name]) -> u32 {
        names
            .iter()
            .map(|&name| self.last_html(name))
            .max()
            .unwrap_or(NOWHERE)
    }

    /// Return the topmost special element.
    #[inline]
    pub fn last_special(&self) -> u32 {
        self.special
    }

    /// Return the topmost special element other than `address`, `div` and `p`.
    #[inline]
    pub fn last_barrier(&self) -> u32 {
        self.barrier
    }

    /// Return the topmost HTML element.
    #[inline]
    pub fn last_html_element(&self) -> u32 {
        self.html
    }

    /// Whether a position is in scope.
    #[inline]
    pub fn in_scope(&self, position: u32) -> bool {
        position != NOWHERE && position >= self.scope
    }

    /// Whether an HTML element is in scope.
    #[inline]
    pub fn has_in_scope(&self, name: Name) -> bool {
        self.in_scope(self.last_html(name))
    }

    /// Whether an HTML element is in button scope.
    #[inline]
    pub fn has_in_button_scope(&self, name: Name) -> bool {
        let position = self.last_html(name);
        self.in_scope(position) && position >= self.last_html(html_names::BUTTON)
    }

    /// Whether an HTML element is in list item scope.
    pub fn has_in_list_scope(&self, name: Name) -> bool {
        let position = self.last_html(name);
        self.in_scope(position) && position >= self.last_of(&[html_names::OL, html_names::UL])
    }

    /// Whether an HTML element is in table scope.
    pub fn has_in_table_scope(&self, name: Name) -> bool {
        let position = self.last_html(name);
        position != NOWHERE
            && position
                >= self.last_of(&[html_names::HTML, html_names::TABLE, html_names::TEMPLATE])
    }

    /// Push an element.
    #[inline]
    pub fn push(&mut self, node: u32, target: u32, tag: Tag, namespace: Namespace, extra: u16) {
        let name = html_names::name_of(tag);
        let position = self.entries.len() as u32 + 1;
        let properties = properties(namespace, name) | extra;
        if tag as usize >= self.last.len() {
            self.last.resize(tag as usize + 64, NOWHERE);
        }
        self.entries.push(Open {
            node,
            target,
            tag,
            name,
            namespace,
            properties,
            same: self.last[tag as usize],
            scope: self.scope,
            special: self.special,
            barrier: self.barrier,
            html: self.html,
        });
        self.set_position(node, position);
        if namespace == Namespace::Html {
            self.html = position;
        }
        self.last[tag as usize] = position;
        if properties & html_names::IS_SCOPE != 0 {
            self.scope = position;
        }
        if properties & html_names::IS_SPECIAL != 0 {
            self.special = position;
            let open = namespace == Namespace::Html
                && matches!(name, html_names::ADDRESS | html_names::DIV | html_names::P);
            if !open {
                self.barrier = position;
            }
        }
    }

    /// Pop the current node.
    #[inline]
    pub fn pop(&mut self) -> Option<Open> {
        let open = self.entries.pop()?;
        if let Some(position) = self.positions.get_mut(open.node as usize) {
            *position = NOWHERE;
        }
        self.last[open.tag as usize] = open.same;
        self.scope = open.scope;
        self.special = open.special;
        self.barrier = open.barrier;
        self.html = open.html;
        Some(open)
    }

    /// Pop until the stack has `length` entries.
    pub fn truncate(&mut self, length: usize) {
        while self.entries.len() > length {
            self.pop();
        }
    }

    /// Remove an entry from the middle. The cost is the number of entries above it.
    pub fn remove(&mut self, position: u32) {
        let above = self.take_above(position);
        self.pop();
        self.push_all(&above);
    }

    /// Insert an entry in the middle, at `position`.
    pub fn insert(
        &mut self,
        position: u32,
        node: u32,
        target: u32,
        tag: Tag,
        namespace: Namespace,
    ) {
        let above = self.take_above(position - 1);
        self.push(node, target, tag, namespace, 0);
        self.push_all(&above);
    }

    /// Let an entry refer to another node with the same tag.
    pub fn replace(&mut self, position: u32, node: u32) {
        let entry = &mut self.entries[position as usize - 1];
        let before = std::mem::replace(&mut entry.node, node);
        entry.target = node;
        self.set_position(before, NOWHERE);
        self.set_position(node, position);
    }

    /// Record the position of a node. The context of a fragment is not a node.
    #[inline]
    fn set_position(&mut self, node: u32, position: u32) {
        if node == NONE {
            return;
        }
        if node as usize >= self.positions.len() {
            self.positions.resize(node as usize + ROOM, NOWHERE);
        }
        self.positions[node as usize] = position;
    }

    fn take_above(&mut self, position: u32) -> Vec<Open> {
        let mut above = self.entries[position as usize..].to_vec();
        self.truncate(position as usize);
        above.reverse();
        above
    }

    fn push_all(&mut self, reversed: &[Open]) {
        for open in reversed.iter().rev() {
            let extra = open.properties & (HTML_INTEGRATION | TEXT_INTEGRATION);
            self.push(open.node, open.target, open.tag, open.namespace, extra);
        }
    }

    /// Return the position of a node.
    #[inline]
    pub fn position_of(&self, node: u32) -> u32 {
        (self.positions.get(node as usize)).map_or(NOWHERE, |&position| position)
    }

    /// Return the lowest special element above a position.
    pub fn special_above(&self, position: u32) -> u32 {
        let mut found = NOWHERE;
        let mut at = self.special;
        while at > position {
            found = at;
            at = self.at(at).special;
        }
        found
    }
}

impl Default for Stack {
    fn default() -> Self {
        Self::new()
    }
}

/// Return the properties of an element in the HTML rules.
fn properties(namespace: Namespace, name: Name) -> u16 {
    if name as usize >= html_names::COUNT {
        return 0;
    }
    match (namespace, name) {
        (Namespace::Html, _) => html_names::PROPERTIES[name as usize],
        (
            Namespace::MathMl,
            html_names::MI | html_names::MO | html_names::MN | html_names::MS | html_names::MTEXT,
        ) => html_names::IS_SCOPE | html_names::IS_SPECIAL | TEXT_INTEGRATION,
        (Namespace::MathMl, html_names::ANNOTATION_XML) => {
            html_names::IS_SCOPE | html_names::IS_SPECIAL
        }
        (Namespace::Svg, html_names::SVG_FOREIGNOBJECT | html_names::DESC | html_names::TITLE) => {
            html_names::IS_SCOPE | html_names::IS_SPECIAL | HTML_INTEGRATION
        }
        _ => 0,
    }
}
