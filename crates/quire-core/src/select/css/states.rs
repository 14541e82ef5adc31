//! The pseudo-classes of links and form controls, as written in the page.

use std::collections::HashMap;

use super::names::State;
use super::sets::{Domain, Set};
use crate::base::error::Error;
use crate::page::vocabulary::Namespace;
use crate::select::Page;

/// Keep the nodes that are in this state. Only HTML elements can be.
pub(super) fn keep(domain: &Domain<'_>, state: State, set: &mut Set) -> Result<(), Error> {
    domain.pass()?;
    let page = domain.page;
    let disabled = match state {
        State::Disabled | State::Enabled => Some(disabled(domain)?),
        _ => None,
    };
    for node in domain.nodes() {
        if !set[node as usize] {
            continue;
        }
        let name = name(page, node);
        set[node as usize] = match state {
            State::Link => is_link(page, node),
            State::Checked => match name {
                "input" => {
                    let kind = attribute(page, node, "type").unwrap_or("");
                    let ticks = ["checkbox", "radio"]
                        .iter()
                        .any(|it| it.eq_ignore_ascii_case(kind));
                    ticks && attribute(page, node, "checked").is_some()
                }
                "option" => attribute(page, node, "selected").is_some(),
                _ => false,
            },
            State::Required => can_require(name) && attribute(page, node, "required").is_some(),
            State::Optional => can_require(name) && attribute(page, node, "required").is_none(),
            State::Disabled | State::Enabled => {
                let off = disabled.as_ref().is_some_and(|set| set[node as usize]);
                can_disable(name) && off == (state == State::Disabled)
            }
        };
    }
    Ok(())
}

/// Return the controls that are disabled by themselves, by their `optgroup`, or by a `fieldset`
/// around them unless they are in its first `legend`. The flag is passed down from parent to child.
fn disabled(domain: &Domain<'_>) -> Result<Set, Error> {
    domain.pass()?;
    let page = domain.page;
    let mut within = domain.none();
    let mut off = domain.none();
    let mut legends = HashMap::new();
    for node in domain.nodes() {
        let parent = page.parents()[node as usize];
        let has = |node| attribute(page, node, "disabled").is_some();
        within[node as usize] = within[parent as usize]
            || (name(page, parent) == "fieldset"
                && has(parent)
                && *legends
                    .entry(parent)
                    .or_insert_with(|| first_legend(page, parent))
                    != Some(node));
        off[node as usize] = match name(page, node) {
            "option" => has(node) || (name(page, parent) == "optgroup" && has(parent)),
            "optgroup" => has(node),
            _ => has(node) || within[node as usize],
        };
    }
    Ok(off)
}

fn first_legend(page: &dyn Page, fieldset: u32) -> Option<u32> {
    let end = fieldset + page.sizes()[fieldset as usize];
    let mut child = fieldset + 1;
    while child < end {
        if name(page, child) == "legend" {
            return Some(child);
        }
        child += page.sizes()[child as usize];
    }
    None
}

fn is_link(page: &dyn Page, node: u32) -> bool {
    let tag = page.tags()[node as usize];
    let svg = page.is_html() && page.tag_namespace(tag) == Namespace::Svg;
    match name(page, node) {
        "a" | "area" => attribute(page, node, "href").is_some(),
        _ if svg && page.tag_name(tag) == "a" => ["href", "xlink:href"]
            .iter()
            .any(|name| attribute(page, node, name).is_some()),
        _ => false,
    }
}

fn can_disable(name: &str) -> bool {
    matches!(
        name,
        "button" | "input" | "select" | "textarea" | "optgroup" | "option" | "fieldset"
    )
}

fn can_require(name: &str) -> bool {
    matches!(name, "input" | "select" | "textarea")
}

/// Return the name of an HTML element, empty for anything else.
fn name(page: &dyn Page, node: u32) -> &str {
    let tag = page.tags()[node as usize];
    if page.is_html() && page.tag_namespace(tag) == Namespace::Html {
        page.tag_name(tag)
    } else {
        ""
    }
}

fn attribute<'p>(page: &'p dyn Page, node: u32, name: &str) -> Option<&'p str> {
    let id = page.attr_ids()[node as usize];
    if id < 0 {
        return None;
    }
    page.attributes(id)
        .iter()
        .find(|(found, _)| &**found == name)
        .map(|(_, value)| &**value)
}
