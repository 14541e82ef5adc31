//! From a node back to a selector: a name for a place on a page.
//!
//! Both kinds of path are unique: selecting one on the same page gives exactly the node it was
//! made for, if the language reaches that node at all. A node that it does not reach gets the
//! path of the nearest node around it that it does reach, so the path of a node may be that of
//! another; which nodes these are is said at each function.
//!
//! A path longer than 64 KiB (some thousand levels, which HTML does not have, or a name or id
//! of that length) is given all the same, but is longer than selectors may be, and selecting it
//! is an error. Cost: one pass over the page where ids have to be counted, and the siblings of
//! each step.

use std::collections::HashMap;

use super::xpath::{Test, name_length, tag_passes};
use super::{Page, html_namespace, is_element};
use crate::page::vocabulary::{Class, Namespace};

/// A CSS selector that matches this element and nothing else on the page.
///
/// `#id` where no other element has that id, else names with `:nth-of-type(n)` where needed,
/// from the nearest element with such an id (or the root) down.
///
/// CSS reaches elements and members of JSON objects outside of templates. Any other node gets the
/// path of the nearest one around it: a text or comment that of its element, everything in a
/// template that of the outermost `template`. Where there is none around it (the document, a
/// doctype, what stands beside the root) the path is `:root`, which finds nothing on a page
/// without elements.
pub fn css_path(page: &dyn Page, node: u32) -> String {
    css_path_by(page, node, &mut None)
}

/// The same for many nodes; ids are counted once for all of them.
pub fn css_paths(page: &dyn Page, nodes: &[u32]) -> Vec<String> {
    let mut ids = None;
    (nodes.iter())
        .map(|&node| css_path_by(page, node, &mut ids))
        .collect()
}

type Ids = HashMap<String, usize>;

fn css_path_by(page: &dyn Page, node: u32, ids: &mut Option<Ids>) -> String {
    let mut chain = Vec::new();
    let mut at = node;
    while at < page.n() {
        match class(page, at) {
            Class::Fragment => chain.clear(),
            it if is_element(it) => chain.push(at),
            _ => {}
        }
        at = page.parents()[at as usize];
    }
    let mut steps = Vec::new();
    for (index, &element) in chain.iter().enumerate() {
        let id = id_of(page, element).filter(|id| !id.is_empty() && !id.contains('\0'));
        if let Some(id) = id {
            let ids = ids.get_or_insert_with(|| count_ids(page));
            if ids.get(&folded(page, id)) == Some(&1) {
                steps.push(format!("#{}", escaped(id)));
                break;
            }
        }
        let top = index + 1 == chain.len();
        steps.push(if top {
            css_top(page, element)
        } else {
            css_step(page, element)
        });
    }
    if steps.is_empty() {
        return ":root".to_owned();
    }
    steps.reverse();
    steps.join(" > ")
}

/// An `XPath` that gives exactly this node: `/html/body/div[2]/p`, `…/text()[1]`, `…/comment()`.
///
/// Nodes that `XPath` does not see get the path of the nearest node around them that it does
/// see: a doctype, the content of a page of bytes and a paragraph of plain text that of the
/// document, `/`; objects and arrays of JSON that of their member, or `/`; the content node of a
/// template that of the `template`. What is in these is seen and has a path of its own.
pub fn xpath(page: &dyn Page, node: u32) -> String {
    let mut steps = Vec::new();
    let mut at = node;
    while at != 0 && at < page.n() {
        if tag_passes(page, page.tags()[at as usize], &Test::Node) {
            steps.push(xpath_step(page, at));
        }
        at = page.parents()[at as usize];
    }
    if steps.is_empty() {
        return "/".to_owned();
    }
    steps.reverse();
    steps.concat()
}

fn class(page: &dyn Page, node: u32) -> Class {
    page.tag_class(page.tags()[node as usize])
}

fn id_of(page: &dyn Page, node: u32) -> Option<&str> {
    let run = page.attr_ids()[node as usize];
    if run < 0 {
        return None;
    }
    page.attributes(run)
        .iter()
        .find(|(name, _)| &**name == "id")
        .map(|(_, value)| &**value)
}

/// In quirks mode `#A` matches `a`.
fn folded(page: &dyn Page, id: &str) -> String {
    if page.is_quirks() {
        id.to_ascii_lowercase()
    } else {
        id.to_owned()
    }
}

/// How many elements outside of templates have each id.
fn count_ids(page: &dyn Page) -> Ids {
    let mut ids = Ids::new();
    let mut node = 1;
    while node < page.n() {
        let class = class(page, node);
        if class == Class::Fragment {
            node += page.sizes()[node as usize];
            continue;
        }
        if let Some(id) = id_of(page, node).filter(|_| is_element(class)) {
            *ids.entry(folded(page, id)).or_insert(0) += 1;
        }
        node += 1;
    }
    ids
}

fn escaped(name: &str) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = cssparser::serialize_identifier(name, &mut text);
    text
}

/// The place of `node` among the siblings that are `counted`, from 1, and how many there are.
/// `through`: classes whose children count as children of what they are in.
fn place(
    page: &dyn Page,
    node: u32,
    through: impl Fn(Class) -> bool,
    counted: impl Fn(u32) -> bool,
) -> (usize, usize) {
    let mut parent = page.parents()[node as usize];
    while parent != 0 && through(class(page, parent)) {
        parent = page.parents()[parent as usize];
    }
    let end = parent + page.sizes()[parent as usize];
    let (mut place, mut count) = (0, 0);
    let mut at = parent + 1;
    while at < end {
        if through(class(page, at)) {
            at += 1;
            continue;
        }
        if counted(page.tags()[at as usize]) {
            count += 1;
            place += usize::from(at <= node);
        }
        at += page.sizes()[at as usize];
    }
    (place, count)
}

/// Between an element of JSON and its parent.
fn css_through(class: Class) -> bool {
    matches!(class, Class::Object | Class::Array)
}

fn css_step(page: &dyn Page, element: u32) -> String {
    let tag = page.tags()[element as usize];
    let Some(name) = css_name(page, tag) else {
        let any = |tag| is_element(page.tag_class(tag));
        let (place, _) = place(page, element, css_through, any);
        return format!(":nth-child({place})");
    };
    match place(page, element, css_through, |other| other == tag) {
        (_, 1) => name,
        (place, _) => format!("{name}:nth-of-type({place})"),
    }
}

/// The step of an element that has no element around it.
fn css_top(page: &dyn Page, element: u32) -> String {
    let elements = |tag| page.tag_class(tag) == Class::Element;
    let first = class(page, element) == Class::Element
        && page.parents()[element as usize] == 0
        && place(page, element, css_through, elements).0 == 1;
    if !first {
        // Without a parent to start from, say that there is none.
        return format!("{}:not(* > *)", css_step(page, element));
    }
    let tag = page.tags()[element as usize];
    let name = css_name(page, tag);
    let same = page.tags().iter().filter(|&&other| other == tag).count();
    name.filter(|_| same == 1)
        .unwrap_or_else(|| ":root".to_owned())
}

/// A type selector that matches this tag and no other, where CSS can write one.
fn css_name(page: &dyn Page, tag: u32) -> Option<String> {
    let (name, namespace) = (page.tag_name(tag), page.tag_namespace(tag));
    if name.is_empty() || name.contains('\0') {
        return None;
    }
    let others = || (0..page.tag_count()).filter(|&it| it != tag && is_element(page.tag_class(it)));
    match namespace {
        Namespace::Html | Namespace::Svg | Namespace::MathMl if page.is_html() => {
            if namespace == Namespace::Html && name.bytes().any(|it| it.is_ascii_uppercase()) {
                return None;
            }
            let same = others().any(|it| page.tag_name(it).eq_ignore_ascii_case(name));
            let mut known = ["html", "svg", "math"].into_iter();
            let prefix = known.find(|it| same && html_namespace(it) == Some(namespace));
            Some(prefix.map_or_else(|| escaped(name), |it| format!("{it}|{}", escaped(name))))
        }
        Namespace::Xml => match name.rsplit_once(':') {
            Some(("", _) | (_, "")) => None,
            Some((prefix, local)) => Some(format!("{}|{}", escaped(prefix), escaped(local))),
            None => {
                let same = others().any(|it| super::local_part(page.tag_name(it)) == name);
                Some(if same {
                    format!("|{}", escaped(name))
                } else {
                    escaped(name)
                })
            }
        },
        _ => Some(escaped(name)),
    }
}

fn xpath_step(page: &dyn Page, node: u32) -> String {
    let tag = page.tags()[node as usize];
    let (test, written) = xpath_test(page, tag);
    let through = |class| {
        matches!(
            class,
            Class::Object | Class::Array | Class::Fragment | Class::Paragraph
        )
    };
    match place(page, node, through, |other| tag_passes(page, other, &test)) {
        (_, 1) => format!("/{written}"),
        (place, _) => format!("/{written}[{place}]"),
    }
}

/// The node test for a tag: its name where `XPath` can write it.
fn xpath_test(page: &dyn Page, tag: u32) -> (Test, String) {
    let name = page.tag_name(tag);
    match page.tag_class(tag) {
        it if it.is_text() => return (Test::Text, "text()".to_owned()),
        Class::Comment => return (Test::Comment, "comment()".to_owned()),
        Class::Instruction => {
            return (Test::Instruction, "processing-instruction()".to_owned());
        }
        _ => {}
    }
    let writable = |name: &str| !name.is_empty() && name_length(name) == name.len();
    let test = match name.split_once(':') {
        None if writable(name) => Some(Test::Name(name.to_owned())),
        Some((prefix, local)) if writable(prefix) && writable(local) => {
            Some(Test::Qualified(prefix.to_owned(), local.to_owned()))
        }
        _ => None,
    };
    match test.filter(|test| tag_passes(page, tag, test)) {
        Some(test) => (test, name.to_owned()),
        None => (Test::Any, "*".to_owned()),
    }
}

#[cfg(test)]
mod tests;
