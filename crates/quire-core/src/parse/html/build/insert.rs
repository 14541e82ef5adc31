//! Inserts and closes elements, with function names close to the terms of the standard.

use super::arena::Spot;
use super::stack::NOWHERE;
use super::{Builder, MAX_DEPTH, known_tag, line_end};
use crate::page::flags::Flags;
use crate::page::html_names;
use crate::page::html_names::Name;
use crate::page::text_mode::Mode;
use crate::page::tree::NONE;
use crate::page::vocabulary::{Class, FRAGMENT, Namespace, Tag};
use crate::parse::draft::{DraftNode, ODD};
use crate::parse::html::tokenizer::{RawKind, TagToken, Token};
use crate::values;

impl Builder<'_> {
    /// Return the appropriate place for inserting a node.
    #[inline]
    pub(super) fn spot(&mut self) -> Spot {
        match self.stack.top() {
            None => Spot::last_of(0),
            Some(open) if self.foster && open.properties & html_names::IS_TABLE_PART != 0 => {
                self.foster_spot()
            }
            Some(open) => {
                let (node, target) = (open.node, open.target);
                self.capped(node, target)
            }
        }
    }

    /// Apply the depth cap: a node that would become a child becomes a sibling, and content of a
    /// template goes next to it.
    #[inline]
    pub(super) fn capped(&mut self, node: u32, target: u32) -> Spot {
        if self.stack.len() <= MAX_DEPTH {
            return Spot::last_of(target);
        }
        self.arena.draft.flags.set(Flags::DEPTH_CAPPED);
        match self.arena.parent(node) {
            NONE => Spot::last_of(target),
            parent => Spot::last_of(parent),
        }
    }

    /// Return the insertion point for content that does not belong into a table.
    pub(super) fn foster_spot(&mut self) -> Spot {
        let table = self.stack.last_html(html_names::TABLE);
        let template = self.stack.last_html(html_names::TEMPLATE);
        if template > table {
            return Spot::last_of(self.stack.at(template).target);
        }
        if table == NOWHERE {
            return Spot::last_of(self.html);
        }
        let node = self.stack.at(table).node;
        let parent = self.arena.parent(node);
        if parent == NONE {
            return Spot::last_of(self.stack.at(table - 1).target);
        }
        Spot {
            parent,
            before: node,
        }
    }

    pub(super) fn add_leaf(&mut self, spot: Spot, tag: Tag, start: usize, end: usize, mode: Mode) {
        let (start, end) = (start as u32, end as u32);
        self.arena.add(
            spot,
            DraftNode {
                tag,
                parent: 0,
                start,
                run: start,
                end,
                flags: 0,
                mode,
            },
        );
    }

    pub(super) fn insert_text(&mut self, start: usize, end: usize, mode: Mode) {
        let spot = self.spot();
        if spot.parent == 0 && self.context.is_none() {
            return; // a document has no text children
        }
        self.arena.add_text(spot, start, end, mode);
    }

    /// Add the element of a start tag at an insertion point, without opening it.
    #[inline]
    pub(super) fn add_element(&mut self, spot: Spot, element: Tag, tag: &TagToken) -> u32 {
        let odd = self.spelled_differently(element, tag);
        self.arena.add(
            spot,
            DraftNode {
                tag: element,
                parent: 0,
                start: tag.start as u32,
                run: tag.name_end as u32,
                end: tag.end as u32,
                flags: if odd { ODD } else { 0 },
                mode: Mode::Plain,
            },
        )
    }

    /// Whether the source spells a name differently from the tree. Capitals alone do not tell: the
    /// tree has them too in `clipPath`.
    #[inline]
    pub(super) fn spelled_differently(&self, element: Tag, tag: &TagToken) -> bool {
        if (tag.name as usize) < html_names::COUNT && element == html_names::html(tag.name) {
            return tag.capitals;
        }
        self.arena.draft.names.name(element) != &self.source[tag.name_start..tag.name_end]
    }

    /// Insert an element and open it.
    #[inline]
    pub(super) fn push_element(
        &mut self,
        element: Tag,
        namespace: Namespace,
        tag: &TagToken,
        extra: u16,
    ) -> u32 {
        let spot = self.spot();
        let node = self.add_element(spot, element, tag);
        self.stack.push(node, node, element, namespace, extra);
        node
    }

    /// Insert the HTML element of a start tag and open it.
    #[inline]
    pub(super) fn insert(&mut self, tag: &TagToken) -> u32 {
        let element = self.html_tag(tag);
        self.push_element(element, Namespace::Html, tag, 0)
    }

    /// Insert an HTML element without content.
    pub(super) fn insert_void(&mut self, tag: &TagToken) {
        let element = self.html_tag(tag);
        let spot = self.spot();
        self.add_element(spot, element, tag);
    }

    /// Insert an HTML element that has no tag in the source.
    pub(super) fn insert_implied(&mut self, name: Name) -> u32 {
        let element = html_names::html(name);
        let spot = self.spot();
        let node = self.arena.add_implied(spot, element);
        self.stack.push(node, node, element, Namespace::Html, 0);
        node
    }

    pub(super) fn insert_template(&mut self, tag: &TagToken) {
        let spot = self.spot();
        let node = self.add_element(spot, html_names::html(html_names::TEMPLATE), tag);
        let content = self.arena.add_implied(Spot::last_of(node), FRAGMENT);
        self.stack.push(
            node,
            content,
            html_names::html(html_names::TEMPLATE),
            Namespace::Html,
            0,
        );
    }

    /// Insert an element whose content is text up to its end tag.
    pub(super) fn insert_raw(&mut self, tag: &TagToken, mode: Mode) {
        self.insert(tag);
        let kind = if tag.name == html_names::SCRIPT {
            RawKind::Script
        } else {
            RawKind::Simple
        };
        let name = html_names::NAMES[tag.name as usize].as_bytes();
        let (mut start, end) = self.tokenizer.raw_text(name, kind);
        let mut mode = mode;
        if tag.name == html_names::TEXTAREA {
            let line_end = line_end(&self.source[start..end]);
            if line_end == end - start {
                start = end;
            } else if line_end > 0 {
                mode = Mode::RcdataAfterTextarea;
            }
        }
        if start < end {
            self.insert_text(start, end, mode);
        }
        // The end tag, unless the page is cut off before it.
        if let Token::End(end_tag) = &self.tokenizer.next(false) {
            self.record_end(end_tag);
        }
        self.stack.pop();
    }

    /// Return the HTML tag of a token.
    #[inline]
    pub(super) fn html_tag(&mut self, tag: &TagToken) -> Tag {
        if (tag.name as usize) < html_names::COUNT {
            return html_names::html(tag.name);
        }
        self.tag_in(
            Namespace::Html,
            None,
            &self.source[tag.name_start..tag.name_end],
        )
    }

    /// Return the tag of a name in a namespace; `raw` is the name as written.
    pub(super) fn tag_in(&mut self, namespace: Namespace, known: Option<Name>, raw: &[u8]) -> Tag {
        if let Some(name) = known {
            return known_tag(namespace, name);
        }
        let name = self.own_name(raw);
        let names = &mut self.arena.draft.names;
        names.intern(namespace, Class::Element, name.as_bytes())
    }

    /// Return the tag of a name that already occurred on this page.
    pub(super) fn find_tag(
        &self,
        namespace: Namespace,
        known: Option<Name>,
        raw: &[u8],
    ) -> Option<Tag> {
        if let Some(name) = known {
            return Some(known_tag(namespace, name));
        }
        let name = self.own_name(raw);
        let names = &self.arena.draft.names;
        names.find(namespace, Class::Element, name.as_bytes())
    }

    /// Return a name as it is in the tree. It is decoded before it is put into lower case: in
    /// `Shift_JIS` the second byte of a character can look like a capital.
    pub(super) fn own_name(&self, raw: &[u8]) -> String {
        let mut name = values::text(raw, Mode::RawText, self.options.encoding).into_owned();
        name.make_ascii_lowercase();
        name
    }

    // ------------------------------------------------------------ closing

    /// Record the end tag of the current node.
    #[inline]
    pub(super) fn record_end(&mut self, tag: &TagToken) {
        if let Some(&open) = self.stack.top() {
            self.record_end_of(open.node, open.tag, tag);
        }
    }

    pub(super) fn record_end_of(&mut self, node: u32, element: Tag, tag: &TagToken) {
        let bare = tag.end == tag.name_end + 1;
        let odd = !bare || self.spelled_differently(element, tag);
        if element == html_names::html(html_names::BODY)
            || element == html_names::html(html_names::HTML)
        {
            self.arena.stop_following();
        }
        self.arena
            .end_tag(node, tag.start as u32, tag.end as u32, odd);
    }

    /// Pop until an HTML element of this name has been popped.
    pub(super) fn pop_until(&mut self, name: Name) {
        let position = self.stack.last_html(name);
        if position != NOWHERE {
            self.stack.truncate(position as usize - 1);
        }
    }

    /// Pop down to the entry at `position`, to which this end tag belongs.
    pub(super) fn close(&mut self, position: u32, tag: &TagToken) {
        self.close_at(position, Some(tag));
    }

    /// Pop down to the entry at `position`; the end tag may be missing in the source.
    pub(super) fn close_at(&mut self, position: u32, tag: Option<&TagToken>) {
        self.stack.truncate(position as usize);
        if let Some(tag) = tag {
            self.record_end(tag);
        }
        self.stack.pop();
    }

    /// Generate implied end tags, except for one name.
    pub(super) fn generate_implied_ends(&mut self, except: Name) {
        while let Some(open) = self.stack.top() {
            if open.properties & html_names::IS_IMPLIED_END == 0 || open.name == except {
                return;
            }
            self.stack.pop();
        }
    }

    pub(super) fn generate_all_implied_ends(&mut self) {
        while let Some(open) = self.stack.top() {
            if open.properties & html_names::IS_THOROUGHLY_IMPLIED_END == 0 {
                return;
            }
            self.stack.pop();
        }
    }

    /// Whether the current node is this HTML element.
    #[inline]
    pub(super) fn current_is(&self, name: Name) -> bool {
        self.stack
            .top()
            .is_some_and(|o| o.name == name && o.namespace == Namespace::Html)
    }
}
