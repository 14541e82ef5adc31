//! The stack of open elements; answers every question of the rules in constant time.
//!
//! "Is there a `p` in button scope", "is a special element in between": the rules walk the stack,
//! which makes deep pages quadratic. Here each entry remembers the entry of the same tag below it,
//! and the nearest scope boundary, special element and list barrier; a pop restores the heads of
//! these chains. The positions of nodes that the rules ask for (formatting elements, `form`, `head`)
//! are kept by node. So every question is a comparison of two positions.

use crate::base::vec_pool::{Reused, kept};
use crate::page::html_names;
use crate::page::html_names::Name;
use crate::page::tree::NONE;
use crate::page::vocabulary::{Namespace, Tag};

/// Means "not on the stack"; smaller than every position.
pub const NOWHERE: u32 = 0;

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

impl Open {
    /// Create an entry that is not linked with the entries below it.
    #[inline]
    fn new(node: u32, target: u32, tag: Tag, namespace: Namespace, extra: u16) -> Self {
        let name = html_names::name_of(tag);
        Self {
            node,
            target,
            tag,
            name,
            namespace,
            properties: properties(namespace, name) | extra,
            same: NOWHERE,
            scope: NOWHERE,
            special: NOWHERE,
            barrier: NOWHERE,
            html: NOWHERE,
        }
    }
}

/// HTML inside SVG or MathML may begin here.
pub const HTML_INTEGRATION: u16 = 1 << 14;
/// Text and HTML inside MathML may begin here.
pub const TEXT_INTEGRATION: u16 = 1 << 15;

/// The positions of the nodes that are on the stack, by node.
///
/// Blocks of nodes without any on the stack take no memory: a page can have a node for each byte,
/// but most of them are closed again.
#[derive(Default)]
struct Positions {
    /// The block of each [`BLOCK`] nodes; 0 if none of them is on the stack.
    block_of: Reused<u32>,
    /// The blocks; that with number 0 is never used.
    blocks: Vec<Block>,
    /// Blocks that are free again.
    free: Vec<u32>,
}

/// Number of nodes in a block.
const BLOCK: usize = 16;

#[derive(Clone, Copy, Default)]
struct Block {
    positions: [u32; BLOCK],
    /// Number of nodes on the stack.
    open: u32,
}

impl Positions {
    #[inline]
    fn get(&self, node: u32) -> u32 {
        let node = node as usize;
        match self.block_of.get(node / BLOCK) {
            None | Some(0) => NOWHERE,
            Some(&block) => self.blocks[block as usize].positions[node % BLOCK],
        }
    }

    /// Record the position of a node. The context of a fragment is not a node.
    #[inline]
    fn set(&mut self, node: u32, position: u32) {
        if node == NONE {
            return;
        }
        let (at, node) = (node as usize / BLOCK, node as usize % BLOCK);
        let mut block = self.block_of.get(at).copied().unwrap_or_default();
        if block == 0 {
            if position == NOWHERE {
                return;
            }
            block = self.take_block(at);
        }
        let found = &mut self.blocks[block as usize];
        let before = std::mem::replace(&mut found.positions[node], position);
        found.open += u32::from(position != NOWHERE);
        found.open -= u32::from(before != NOWHERE);
        if found.open == 0 {
            self.block_of[at] = 0;
            self.free.push(block);
        }
    }

    /// Take a block for the nodes from `at` times [`BLOCK`] on.
    fn take_block(&mut self, at: usize) -> u32 {
        let block = self.free.pop().unwrap_or_else(|| {
            self.blocks
                .resize(self.blocks.len().max(1) + 1, Block::default());
            self.blocks.len() as u32 - 1
        });
        if at >= self.block_of.len() {
            self.block_of.resize(at + BLOCK, 0);
        }
        self.block_of[at] = block;
        block
    }
}

/// The stack.
pub struct Stack {
    entries: Reused<Open>,
    /// Topmost position of each tag.
    last: Reused<u32>,
    positions: Positions,
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
            positions: Positions::default(),
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
        let open = Open::new(node, target, tag, namespace, extra);
        let open = self.link(open, self.entries.len() as u32 + 1);
        self.entries.push(open);
    }

    /// Make an entry at a position the topmost one: return it with the chains below it.
    #[inline(always)]
    #[allow(clippy::inline_always)] // a call would return the entry through memory, and wait for it
    fn link(&mut self, open: Open, position: u32) -> Open {
        let Open {
            node,
            tag,
            name,
            namespace,
            properties,
            ..
        } = open;
        if tag as usize >= self.last.len() {
            self.last.resize(tag as usize + 64, NOWHERE);
        }
        let open = Open {
            same: self.last[tag as usize],
            scope: self.scope,
            special: self.special,
            barrier: self.barrier,
            html: self.html,
            ..open
        };
        if is_asked_for(tag) {
            self.positions.set(node, position);
        }
        if namespace == Namespace::Html {
            self.html = position;
        }
        self.last[tag as usize] = position;
        if properties & html_names::IS_SCOPE != 0 {
            self.scope = position;
        }
        if properties & html_names::IS_SPECIAL != 0 {
            self.special = position;
            let is_open = namespace == Namespace::Html
                && matches!(name, html_names::ADDRESS | html_names::DIV | html_names::P);
            if !is_open {
                self.barrier = position;
            }
        }
        open
    }

    /// Pop the current node.
    #[inline]
    pub fn pop(&mut self) -> Option<Open> {
        let open = self.entries.pop()?;
        self.unlink(&open);
        Some(open)
    }

    /// Restore the chains as they were before the topmost entry.
    #[inline]
    fn unlink(&mut self, open: &Open) {
        if is_asked_for(open.tag) {
            self.positions.set(open.node, NOWHERE);
        }
        self.last[open.tag as usize] = open.same;
        self.scope = open.scope;
        self.special = open.special;
        self.barrier = open.barrier;
        self.html = open.html;
    }

    /// Pop until the stack has `length` entries.
    pub fn truncate(&mut self, length: usize) {
        while self.entries.len() > length {
            self.pop();
        }
    }

    /// Remove an entry from the middle. The cost is the number of entries above it.
    pub fn remove(&mut self, position: u32) {
        self.change(position, |entries, at| {
            entries.remove(at);
        });
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
        let open = Open::new(node, target, tag, namespace, 0);
        self.change(position, |entries, at| entries.insert(at, open));
    }

    /// Change the entries from a position on, in place: a stack can be as deep as its page is long.
    fn change(&mut self, position: u32, change: impl FnOnce(&mut Vec<Open>, usize)) {
        let from = position as usize - 1;
        for at in (from..self.entries.len()).rev() {
            let open = self.entries[at];
            self.unlink(&open);
        }
        change(&mut self.entries, from);
        for at in from..self.entries.len() {
            self.entries[at] = self.link(self.entries[at], at as u32 + 1);
        }
    }

    /// Let an entry refer to another node with the same tag.
    pub fn replace(&mut self, position: u32, node: u32) {
        let entry = &mut self.entries[position as usize - 1];
        let before = std::mem::replace(&mut entry.node, node);
        entry.target = node;
        self.positions.set(before, NOWHERE);
        self.positions.set(node, position);
    }

    /// Return the position of a formatting element, a `form` or a `head`.
    #[inline]
    pub fn position_of(&self, node: u32) -> u32 {
        self.positions.get(node)
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

/// Whether the rules ask where nodes of a tag are on the stack.
#[inline]
fn is_asked_for(tag: Tag) -> bool {
    ASKED_FOR.get(tag as usize).is_some_and(|&asked| asked)
}

const ASKED_FOR: [bool; html_names::KNOWN_END as usize] = {
    use html_names::{
        A, B, BIG, CODE, EM, FONT, FORM, HEAD, I, NOBR, S, SMALL, STRIKE, STRONG, TT, U,
    };
    let names = [
        A, B, BIG, CODE, EM, FONT, FORM, HEAD, I, NOBR, S, SMALL, STRIKE, STRONG, TT, U,
    ];
    let mut asked = [false; html_names::KNOWN_END as usize];
    let mut at = 0;
    while at < names.len() {
        asked[html_names::html(names[at]) as usize] = true;
        at += 1;
    }
    asked
};

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
