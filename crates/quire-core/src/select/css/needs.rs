//! Finds the part of a page that a selector can depend on, so that searching a small part is cheap.
//!
//! A result below `scope` depends on its subtree, its siblings, its ancestors, and on anything that
//! the parts of the selector left of a `>` or a space test about those ancestors. Most test only
//! names and attributes; then the ancestors of `scope` and its subtree are enough. Sibling
//! combinators, `:nth-*` and `:has()` on an ancestor need the whole page.

use selectors::parser::{Combinator, Component, Selector, SelectorList};

use super::names::Types;

/// How much of the page around a node the result for that node depends on, besides its ancestors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Around {
    /// Its own subtree.
    Subtree,
    /// The subtrees of its siblings.
    Siblings,
    /// Anything on the page.
    Page,
}

/// Whether results below some scope need more than that scope and its ancestors.
pub(super) fn whole_page(list: &SelectorList<Types>) -> bool {
    around(list) == Around::Page
}

/// Return what the whole list needs.
pub(super) fn around(list: &SelectorList<Types>) -> Around {
    widest(list.slice(), false)
}

fn widest(selectors: &[Selector<Types>], above: bool) -> Around {
    let needs = selectors.iter().map(|selector| complex(selector, above));
    needs.max().unwrap_or(Around::Subtree)
}

/// Return what one selector needs. `above`: the subject may be an ancestor of the searched part.
fn complex(selector: &Selector<Types>, mut above: bool) -> Around {
    let mut need = Around::Subtree;
    for component in selector.iter_raw_match_order() {
        let here = match component {
            Component::Combinator(Combinator::NextSibling | Combinator::LaterSibling)
            | Component::Nth(_) => Around::Siblings,
            Component::Combinator(_) => {
                above = true;
                Around::Subtree
            }
            Component::NthOf(data) => widest(data.selectors(), above).max(Around::Siblings),
            Component::Is(list) | Component::Where(list) | Component::Negation(list) => {
                widest(list.slice(), above)
            }
            // Its `+` and `~` reach following siblings. Everything inside is below or next to the
            // subject, but the parts of an `:is(a b)` in there may again be ancestors.
            Component::Has(list) => {
                let inner = list.iter().map(|it| relative(&it.selector));
                let inner = inner.max().unwrap_or(Around::Subtree);
                if above { Around::Page } else { inner }
            }
            _ => Around::Subtree,
        };
        need = need.max(if above && here == Around::Siblings {
            Around::Page
        } else {
            here
        });
    }
    need
}

/// Return what a selector inside `:has()` needs: a `>` or a space leads to nodes that are still
/// below the anchor.
fn relative(selector: &Selector<Types>) -> Around {
    let mut need = Around::Subtree;
    for component in selector.iter_raw_match_order() {
        need = need.max(match component {
            Component::Combinator(Combinator::NextSibling | Combinator::LaterSibling) => {
                Around::Siblings
            }
            // Siblings of a node below the anchor are below it too, but `+` may have led next to
            // the anchor first.
            Component::Nth(_) => Around::Siblings,
            Component::NthOf(data) => widest(data.selectors(), false).max(Around::Siblings),
            Component::Is(list) | Component::Where(list) | Component::Negation(list) => {
                widest(list.slice(), false)
            }
            _ => Around::Subtree,
        });
    }
    need
}
