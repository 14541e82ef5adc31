//! Computes the set of nodes that match a selector from the sets of its parts.
//!
//! A complex selector is computed from left to right: all nodes that match the first compound,
//! moved along the combinator, narrowed by the next compound, and so on. `:has()` works the same
//! way from right to left. Recursion follows only the parentheses of the selector.

use selectors::attr::CaseSensitivity;
use selectors::parser::{Component, Selector};

use super::names::Types;
use super::sets::{Domain, Set, is_through};
use super::states;
use crate::base::error::Error;
use crate::page::vocabulary::Class;
use crate::select::{Page, Steps, is_element};

/// One selector on one page.
pub(super) struct Evaluation<'a> {
    pub domain: Domain<'a>,
    pub page: &'a dyn Page,
    /// The node for `:scope`.
    scope: u32,
    /// The node for `:root`; 0 if there is none.
    root: u32,
    pub case: CaseSensitivity,
}

impl<'a> Evaluation<'a> {
    /// `top`: the subtree that the result depends on, besides its ancestors; `None` for the whole
    /// page.
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

    /// Return the nodes that match any of the selectors.
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
        let mut compounds = components.rsplit(Component::is_combinator);
        let combinators = components.iter().rev().filter_map(Component::as_combinator);
        let all = self.domain.elements.clone();
        let mut set = self.compound(compounds.next().unwrap_or_default(), all)?;
        let mut few = None;
        for (combinator, compound) in combinators.zip(compounds) {
            if few.is_none() {
                few = self.few(&set)?;
            }
            if let Some(nodes) = few.take() {
                few = self.step_from(&nodes, combinator, compound)?;
                if few.is_some() {
                    continue;
                }
                set = self.set_of(&nodes);
            }
            let mut reached = self.domain.forward(combinator, &set)?;
            self.domain.keep(&mut reached, &self.domain.elements)?;
            set = self.compound(compound, reached)?;
        }
        Ok(few.map_or(set, |nodes| self.set_of(&nodes)))
    }

    /// Return the anchors for which the relative selector of a `:has()` matches something.
    fn relative(&self, selector: &Selector<Types>) -> Result<Set, Error> {
        let components = selector.iter_raw_match_order().as_slice();
        let mut set = self.domain.elements.clone();
        for part in components.split_inclusive(Component::is_combinator) {
            let (compound, combinator) = match part.split_last() {
                Some((Component::Combinator(combinator), compound)) => (compound, *combinator),
                // The part left of the first combinator is the anchor itself.
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
        if let Some(test) = self.column_test(component) {
            return self.keep_passing(set, &test);
        }
        match component {
            Component::ExplicitUniversalType | Component::ExplicitAnyNamespace => Ok(()),
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
            // The anchor ends a relative selector before this point; the parser refuses the rest.
            _ => {
                set.fill(false);
                Ok(())
            }
        }
    }

    fn only(&self, set: &mut Set, node: u32) -> Result<(), Error> {
        self.domain.pass()?;
        let kept = node != 0 && set[node as usize];
        self.domain.nodes().for_each(|it| set[it as usize] = false);
        set[node as usize] = kept;
        Ok(())
    }

    /// Keep nodes without elements and text inside. Each child is visited only for its parent, so
    /// this is one pass.
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
}

/// Whether a test costs more than looking at one column.
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
