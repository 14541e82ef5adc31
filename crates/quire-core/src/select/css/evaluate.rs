//! The set of nodes that match a selector, built up from the sets of its parts.
//!
//! A complex selector is computed from left to right: all nodes that match the first compound,
//! moved along the combinator, narrowed by the next compound, and so on. `:has()` is
//! the same from right to left. Recursion follows the parentheses of the selector only.

use selectors::attr::{
    AttrSelectorOperation, AttrSelectorOperator, CaseSensitivity, NamespaceConstraint,
    ParsedAttrSelectorOperation, ParsedCaseSensitivity,
};
use selectors::parser::{Component, NthSelectorData, Selector};

use super::names::{Name, Types};
use super::sets::{Domain, Set, is_through};
use super::states;
use crate::error::Error;
use crate::select::{Page, Steps, html_namespace, is_element, local_part};
use crate::vocabulary::{Class, Namespace};

type Attribute = (Box<str>, Box<str>);

/// One selector on one page.
pub(super) struct Evaluation<'a> {
    domain: Domain<'a>,
    page: &'a dyn Page,
    /// What `:scope` is.
    scope: u32,
    /// What `:root` is; 0 when there is none.
    root: u32,
    case: CaseSensitivity,
}

impl<'a> Evaluation<'a> {
    /// `top`: the subtree the answer depends on, besides its ancestors; all without it.
    pub fn new(
        page: &'a dyn Page,
        steps: &'a Steps<'a>,
        scope: u32,
        top: Option<u32>,
    ) -> Result<Self, Error> {
        let domain = Domain::new(page, steps, top)?;
        let (tags, sizes) = (page.tags(), page.sizes());
        let mut root = 1;
        while root < page.n() && page.tag_class(tags[root as usize]) != Class::Element {
            root += sizes[root as usize];
        }
        let root = if root < page.n() { root } else { 0 };
        let case = if page.is_quirks() {
            CaseSensitivity::AsciiCaseInsensitive
        } else {
            CaseSensitivity::CaseSensitive
        };
        Ok(Self {
            domain,
            page,
            scope: if scope == 0 { root } else { scope },
            root,
            case,
        })
    }

    /// The nodes that match any of the selectors.
    pub fn list(&self, selectors: &[Selector<Types>]) -> Result<Set, Error> {
        let Some((first, rest)) = selectors.split_first() else {
            return Ok(self.domain.none());
        };
        let mut any = self.complex(first)?;
        for selector in rest {
            self.domain.add(&mut any, &self.complex(selector)?)?;
        }
        Ok(any)
    }

    fn complex(&self, selector: &Selector<Types>) -> Result<Set, Error> {
        let components = selector.iter_raw_match_order().as_slice();
        // From right to left: the compounds, each with the combinator on its left.
        let mut compounds = components.rsplit(|it| it.is_combinator());
        let combinators = components.iter().rev().filter_map(Component::as_combinator);
        let all = self.domain.elements.clone();
        let mut set = self.compound(compounds.next().unwrap_or_default(), all)?;
        for (combinator, compound) in combinators.zip(compounds) {
            let mut reached = self.domain.forward(combinator, &set)?;
            self.domain.keep(&mut reached, &self.domain.elements)?;
            set = self.compound(compound, reached)?;
        }
        Ok(set)
    }

    /// Anchors from which the relative selector of a `:has()` leads somewhere.
    fn relative(&self, selector: &Selector<Types>) -> Result<Set, Error> {
        let components = selector.iter_raw_match_order().as_slice();
        let mut set = self.domain.elements.clone();
        for part in components.split_inclusive(|it| it.is_combinator()) {
            let (compound, combinator) = match part.split_last() {
                Some((Component::Combinator(combinator), compound)) => (compound, *combinator),
                // What is left of the first combinator is the anchor itself.
                _ => break,
            };
            set = self.compound(compound, set)?;
            set = self.domain.backward(combinator, &set)?;
        }
        self.domain.keep(&mut set, &self.domain.elements)?;
        Ok(set)
    }

    /// Narrow `set` to the nodes that match all of a compound, cheap tests first.
    fn compound(&self, components: &[Component<Types>], mut set: Set) -> Result<Set, Error> {
        let cheap = |it: &&Component<Types>| !is_nested(it);
        for component in components
            .iter()
            .filter(cheap)
            .chain(components.iter().filter(|it| is_nested(it)))
        {
            self.simple(component, &mut set)?;
        }
        Ok(set)
    }

    fn simple(&self, component: &Component<Types>, set: &mut Set) -> Result<(), Error> {
        match component {
            Component::ExplicitUniversalType | Component::ExplicitAnyNamespace => Ok(()),
            Component::LocalName(name) => self.by_tag(set, |tag| {
                self.is_named(tag, &name.name.0, &name.lower_name.0)
            }),
            Component::Namespace(prefix, _) => {
                self.by_tag(set, |tag| self.has_prefix(tag, &prefix.0))
            }
            Component::DefaultNamespace(_) | Component::ExplicitNoNamespace => {
                self.by_tag(set, |tag| self.has_prefix(tag, ""))
            }
            Component::ID(id) => self.by_attributes(set, |attributes, _| {
                value_of(attributes, "id")
                    .is_some_and(|it| self.case.eq(it.as_bytes(), id.0.as_bytes()))
            }),
            Component::Class(class) => self.by_attributes(set, |attributes, _| {
                let mut classes = value_of(attributes, "class")
                    .unwrap_or("")
                    .split_ascii_whitespace();
                classes.any(|it| self.case.eq(it.as_bytes(), class.0.as_bytes()))
            }),
            Component::AttributeInNoNamespaceExists { local_name, .. } => {
                self.by_attributes(set, |attributes, _| {
                    self.attribute(attributes, None, local_name, &AttrSelectorOperation::Exists)
                })
            }
            Component::AttributeInNoNamespace {
                local_name,
                operator,
                value,
                case_sensitivity,
            } => self.with_value(set, None, local_name, (*operator, *case_sensitivity, value)),
            Component::AttributeOther(other) => {
                let namespace = other.namespace.as_ref();
                match &other.operation {
                    ParsedAttrSelectorOperation::Exists => {
                        self.by_attributes(set, |attributes, _| {
                            let exists = AttrSelectorOperation::Exists;
                            self.attribute(attributes, namespace, &other.local_name, &exists)
                        })
                    }
                    ParsedAttrSelectorOperation::WithValue {
                        operator,
                        case_sensitivity,
                        value,
                    } => self.with_value(
                        set,
                        namespace,
                        &other.local_name,
                        (*operator, *case_sensitivity, value),
                    ),
                }
            }
            Component::Root => self.only(set, self.root),
            Component::Scope | Component::ImplicitScope => self.only(set, self.scope),
            Component::Empty => self.empty(set),
            Component::NonTSPseudoClass(state) => states::keep(&self.domain, *state, set),
            Component::Nth(data) => self.nth(data, None, set),
            Component::NthOf(data) => {
                let counted = self.list(data.selectors())?;
                self.nth(data.nth_data(), Some(&counted), set)
            }
            Component::Is(list) | Component::Where(list) => {
                let any = self.list(list.slice())?;
                self.domain.keep(set, &any)
            }
            Component::Negation(list) => {
                let any = self.list(list.slice())?;
                self.domain.pass()?;
                self.domain
                    .nodes()
                    .for_each(|node| set[node as usize] &= !any[node as usize]);
                Ok(())
            }
            Component::Has(list) => {
                let mut any = self.domain.none();
                for it in list {
                    self.domain.add(&mut any, &self.relative(&it.selector)?)?;
                }
                self.domain.keep(set, &any)
            }
            // The anchor ends a relative selector before it gets here; the parser refuses the rest.
            Component::RelativeSelectorAnchor
            | Component::Combinator(_)
            | Component::ParentSelector
            | Component::Slotted(_)
            | Component::Part(_)
            | Component::Host(_)
            | Component::Invalid(_)
            | Component::PseudoElement(_) => {
                set.fill(false);
                Ok(())
            }
        }
    }

    /// Keep the nodes whose tag passes; asked once per tag.
    fn by_tag(&self, set: &mut Set, passes: impl Fn(u32) -> bool) -> Result<(), Error> {
        self.domain.pass()?;
        let passes: Vec<bool> = (0..self.page.tag_count()).map(passes).collect();
        let tags = self.page.tags();
        for node in self.domain.nodes() {
            set[node as usize] &= passes[tags[node as usize] as usize];
        }
        Ok(())
    }

    /// Keep the nodes whose attributes pass; asked once per run and kind of element (HTML or not).
    fn by_attributes(
        &self,
        set: &mut Set,
        passes: impl Fn(&[Attribute], bool) -> bool,
    ) -> Result<(), Error> {
        self.domain.pass()?;
        let (page, ids) = (self.page, self.page.attr_ids());
        let mut known: Vec<Option<bool>> = Vec::new();
        for node in self.domain.nodes() {
            if !set[node as usize] {
                continue;
            }
            let id = ids[node as usize];
            if id < 0 {
                set[node as usize] = false;
                continue;
            }
            let tag = page.tags()[node as usize];
            let html = page.is_html() && page.tag_namespace(tag) == Namespace::Html;
            let slot = id as usize * 2 + usize::from(html);
            if slot >= known.len() {
                known.resize((slot + 1).next_power_of_two(), None);
            }
            let answer = if let Some(answer) = known[slot] {
                answer
            } else {
                let attributes = page.attributes(id);
                self.domain.take(
                    attributes
                        .iter()
                        .map(|(_, value)| 1 + value.len() / 16)
                        .sum(),
                )?;
                *known[slot].insert(passes(attributes, html))
            };
            set[node as usize] = answer;
        }
        Ok(())
    }

    fn only(&self, set: &mut Set, node: u32) -> Result<(), Error> {
        self.domain.pass()?;
        let kept = node != 0 && set[node as usize];
        self.domain.nodes().for_each(|it| set[it as usize] = false);
        set[node as usize] = kept;
        Ok(())
    }

    /// No element and no text inside. Each child is seen by its parent only, so this is one pass.
    fn empty(&self, set: &mut Set) -> Result<(), Error> {
        let (page, sizes, tags) = (self.page, self.page.sizes(), self.page.tags());
        self.domain.pass()?;
        for node in self.domain.nodes() {
            if !set[node as usize] {
                continue;
            }
            let end = node + sizes[node as usize];
            let mut child = node + 1;
            while child < end {
                let class = page.tag_class(tags[child as usize]);
                let filled = class.is_text() && !page.text_of_leaf(child).is_empty();
                if is_element(class) || filled {
                    set[node as usize] = false;
                    break;
                }
                child += if is_through(class) {
                    1
                } else {
                    sizes[child as usize]
                };
            }
        }
        Ok(())
    }

    /// `:nth-child()` and its kin: children are counted per parent, by type where asked, and only
    /// those in `counted`.
    fn nth(
        &self,
        data: &NthSelectorData,
        counted: Option<&Set>,
        set: &mut Set,
    ) -> Result<(), Error> {
        let counted = counted.unwrap_or(&self.domain.elements);
        let (sizes, tags) = (self.page.sizes(), self.page.tags());
        let (from_end, only) = (data.ty.is_from_end(), data.ty.is_only());
        let kind = |node: u32| {
            if data.ty.is_of_type() {
                tags[node as usize] as usize
            } else {
                0
            }
        };
        // One counter per tag; each parent leaves them at zero.
        let mut counts = vec![0_i32; self.page.tag_count() as usize + 1];
        let mut children = Vec::new();
        self.domain.pass()?;
        self.domain.pass()?;
        let through: Vec<bool> = (0..self.page.tag_count())
            .map(|tag| is_through(self.page.tag_class(tag)))
            .collect();
        let through = |node: u32| through[tags[node as usize] as usize];
        for parent in self.domain.window().filter(|&node| !through(node)) {
            let end = parent + sizes[parent as usize];
            let mut child = parent + 1;
            children.clear();
            while child < end {
                if counted[child as usize] {
                    children.push(child);
                    counts[kind(child)] += 1;
                }
                child += if through(child) {
                    1
                } else {
                    sizes[child as usize]
                };
            }
            // Backwards, the counter is the index from the start; forwards, from the end.
            let mut place = |child: u32| {
                let left = &mut counts[kind(child)];
                let index = *left;
                *left -= 1;
                let passes = data.an_plus_b.matches_index(index);
                set[child as usize] &= passes;
            };
            if only {
                let single = |&child: &u32| counts[kind(child)] == 1;
                children
                    .iter()
                    .for_each(|child| set[*child as usize] &= single(child));
                children.iter().for_each(|&child| counts[kind(child)] = 0);
            } else if from_end {
                children.iter().for_each(|&child| place(child));
            } else {
                children.iter().rev().for_each(|&child| place(child));
            }
        }
        // Nodes that are not counted have no index.
        self.domain.keep(set, counted)
    }

    fn is_named(&self, tag: u32, name: &str, lower: &str) -> bool {
        let found = self.page.tag_name(tag);
        match self.page.tag_namespace(tag) {
            Namespace::Html if self.page.is_html() => found == lower,
            Namespace::Xml => found == name || local_part(found) == name,
            _ => found == name,
        }
    }

    fn has_prefix(&self, tag: u32, prefix: &str) -> bool {
        let namespace = self.page.tag_namespace(tag);
        match namespace {
            Namespace::Html | Namespace::Svg | Namespace::MathMl if self.page.is_html() => {
                html_namespace(prefix) == Some(namespace)
            }
            _ => {
                let found = self.page.tag_name(tag);
                found.rsplit_once(':').map_or("", |(found, _)| found) == prefix
            }
        }
    }

    fn with_value(
        &self,
        set: &mut Set,
        namespace: Option<&NamespaceConstraint<(Name, Name)>>,
        name: &Name,
        (operator, case, value): (AttrSelectorOperator, ParsedCaseSensitivity, &Name),
    ) -> Result<(), Error> {
        self.by_attributes(set, |attributes, html| {
            let ignore = match case {
                ParsedCaseSensitivity::CaseSensitive
                | ParsedCaseSensitivity::ExplicitCaseSensitive => false,
                ParsedCaseSensitivity::AsciiCaseInsensitive => true,
                ParsedCaseSensitivity::AsciiCaseInsensitiveIfInHtmlElementInHtmlDocument => html,
            };
            let case_sensitivity = if ignore {
                CaseSensitivity::AsciiCaseInsensitive
            } else {
                CaseSensitivity::CaseSensitive
            };
            let operation = AttrSelectorOperation::WithValue {
                operator,
                case_sensitivity,
                value,
            };
            self.attribute(attributes, namespace, name, &operation)
        })
    }

    /// In HTML the case of attribute names never matters, not even in SVG: pages are written by hand.
    fn attribute(
        &self,
        attributes: &[Attribute],
        namespace: Option<&NamespaceConstraint<(Name, Name)>>,
        name: &Name,
        operation: &AttrSelectorOperation<&Name>,
    ) -> bool {
        let same = |found: &str| {
            found == &*name.0 || (self.page.is_html() && found.eq_ignore_ascii_case(&name.0))
        };
        attributes.iter().any(|(found, value)| {
            let named = match namespace {
                None => same(found),
                Some(NamespaceConstraint::Any) => same(found) || same(local_part(found)),
                Some(NamespaceConstraint::Specific((prefix, _))) => found
                    .rsplit_once(':')
                    .is_some_and(|(before, local)| before == &*prefix.0 && same(local)),
            };
            named && operation.eval_str(value)
        })
    }
}

/// Tests that cost more than a look at one column.
fn is_nested(component: &Component<Types>) -> bool {
    matches!(
        component,
        Component::Is(_)
            | Component::Where(_)
            | Component::Negation(_)
            | Component::Has(_)
            | Component::Nth(_)
            | Component::NthOf(_)
    )
}

fn value_of<'v>(attributes: &'v [Attribute], name: &str) -> Option<&'v str> {
    attributes
        .iter()
        .find(|(found, _)| &**found == name)
        .map(|(_, value)| &**value)
}
