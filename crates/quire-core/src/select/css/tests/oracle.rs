//! The crate's own matcher, called node by node. Recursive and slow, but not our code.

use selectors::attr::{AttrSelectorOperation, CaseSensitivity, NamespaceConstraint};
use selectors::bloom::BloomFilter;
use selectors::context::{
    MatchingContext, MatchingForInvalidation, MatchingMode, NeedsSelectorFlags, QuirksMode,
    SelectorCaches,
};
use selectors::matching::{ElementSelectorFlags, matches_selector_list};
use selectors::parser::SelectorList;
use selectors::{Element, OpaqueElement};

use crate::page::vocabulary::{Class, Namespace};
use crate::select::css::names::{Name, NoPseudoElement, State, Types};
use crate::select::sample::Sample;
use crate::select::{Page, is_element};

#[derive(Clone, Copy)]
struct Node<'p> {
    page: &'p Sample,
    node: u32,
}

impl std::fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.node)
    }
}

pub(super) fn select(page: &Sample, list: &SelectorList<Types>, scope: u32) -> Vec<u32> {
    let end = scope + page.sizes()[scope as usize];
    (scope + 1..end)
        .filter(|&node| ask(page, list, node, scope))
        .collect()
}

pub(super) fn matches(page: &Sample, list: &SelectorList<Types>, node: u32) -> bool {
    ask(page, list, node, node)
}

fn ask(page: &Sample, list: &SelectorList<Types>, node: u32, scope: u32) -> bool {
    let at = |node| Node { page, node };
    if !at(node).is_element() {
        return false;
    }
    let quirks = if page.quirks {
        QuirksMode::Quirks
    } else {
        QuirksMode::NoQuirks
    };
    let mut caches = SelectorCaches::default();
    let mut context = MatchingContext::new(
        MatchingMode::Normal,
        None,
        &mut caches,
        quirks,
        NeedsSelectorFlags::No,
        MatchingForInvalidation::No,
    );
    context.scope_element = (scope != 0).then(|| at(scope).opaque());
    matches_selector_list(list, at(node), &mut context)
}

impl Node<'_> {
    fn is_element(self) -> bool {
        is_element(self.page.tag_class(self.tag()))
    }

    fn tag(self) -> u32 {
        self.page.tags()[self.node as usize]
    }

    fn attributes(&self) -> &[(Box<str>, Box<str>)] {
        match self.page.attr_ids()[self.node as usize] {
            -1 => &[],
            id => self.page.attributes(id),
        }
    }

    fn siblings(self) -> impl DoubleEndedIterator<Item = Self> {
        let parents = self.page.parents();
        let parent = parents[self.node as usize];
        (0..self.page.n())
            .filter(move |&node| parents[node as usize] == parent)
            .map(move |node| Node { node, ..self })
            .filter(|it| it.is_element())
            .collect::<Vec<_>>()
            .into_iter()
    }
}

impl Element for Node<'_> {
    type Impl = Types;

    fn opaque(&self) -> OpaqueElement {
        OpaqueElement::new(&self.page.parents()[self.node as usize])
    }
    fn parent_element(&self) -> Option<Self> {
        let node = self.page.parents()[self.node as usize];
        let parent = Node { node, ..*self };
        (node != u32::MAX && parent.is_element()).then_some(parent)
    }
    fn parent_node_is_shadow_root(&self) -> bool {
        false
    }
    fn containing_shadow_host(&self) -> Option<Self> {
        None
    }
    fn is_pseudo_element(&self) -> bool {
        false
    }
    fn prev_sibling_element(&self) -> Option<Self> {
        self.siblings().rfind(|it| it.node < self.node)
    }
    fn next_sibling_element(&self) -> Option<Self> {
        self.siblings().find(|it| it.node > self.node)
    }
    fn first_element_child(&self) -> Option<Self> {
        let end = self.node + self.page.sizes()[self.node as usize];
        let mut below = (self.node + 1..end).map(|node| Node { node, ..*self });
        below.find(|it| it.is_element() && self.page.parents()[it.node as usize] == self.node)
    }
    fn is_html_element_in_html_document(&self) -> bool {
        self.page.html && self.page.tag_namespace(self.tag()) == Namespace::Html
    }
    fn has_local_name(&self, name: &str) -> bool {
        self.page.tag_name(self.tag()) == name
    }
    fn has_namespace(&self, namespace: &str) -> bool {
        crate::select::html_namespace(namespace) == Some(self.page.tag_namespace(self.tag()))
    }
    fn is_same_type(&self, other: &Self) -> bool {
        self.tag() == other.tag()
    }
    fn attr_matches(
        &self,
        _: &NamespaceConstraint<&Name>,
        name: &Name,
        operation: &AttrSelectorOperation<&Name>,
    ) -> bool {
        let mut attributes = self.attributes().iter();
        attributes
            .any(|(found, value)| found.eq_ignore_ascii_case(&name.0) && operation.eval_str(value))
    }
    fn match_non_ts_pseudo_class(&self, _: &State, _: &mut MatchingContext<'_, Types>) -> bool {
        false
    }
    fn match_pseudo_element(
        &self,
        it: &NoPseudoElement,
        _: &mut MatchingContext<'_, Types>,
    ) -> bool {
        match *it {}
    }
    fn apply_selector_flags(&self, _: ElementSelectorFlags) {}
    fn is_link(&self) -> bool {
        false
    }
    fn is_html_slot_element(&self) -> bool {
        false
    }
    fn has_id(&self, id: &Name, case: CaseSensitivity) -> bool {
        self.attributes()
            .iter()
            .any(|(name, value)| &**name == "id" && case.eq(value.as_bytes(), id.0.as_bytes()))
    }
    fn has_class(&self, class: &Name, case: CaseSensitivity) -> bool {
        let mut classes = self
            .attributes()
            .iter()
            .filter(|(name, _)| &**name == "class");
        let same = |it: &str| case.eq(it.as_bytes(), class.0.as_bytes());
        classes.any(|(_, value)| value.split_ascii_whitespace().any(same))
    }
    fn has_custom_state(&self, _: &Name) -> bool {
        false
    }
    fn imported_part(&self, _: &Name) -> Option<Name> {
        None
    }
    fn is_part(&self, _: &Name) -> bool {
        false
    }
    fn is_empty(&self) -> bool {
        let end = self.node + self.page.sizes()[self.node as usize];
        (self.node + 1..end)
            .all(|node| self.page.tag_class(self.page.tags()[node as usize]) == Class::Comment)
    }
    fn is_root(&self) -> bool {
        self.node == 1
    }
    fn add_element_unique_hashes(&self, _: &mut BloomFilter) -> bool {
        false
    }
}
