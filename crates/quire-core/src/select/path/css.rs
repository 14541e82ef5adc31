//! CSS paths: names with `:nth-of-type(n)` from the nearest id down.

use std::collections::HashMap;
use std::fmt::Write;

use super::siblings::{NOT_COUNTED, positions};
use crate::page::vocabulary::{Class, Namespace};
use crate::select::{MAX_SELECTOR_BYTES, Page, html_namespace, is_element, local_part};

// An id or name longer than this in a selector is passed over: positions are shorter, and a
// long id would be repeated by the path of everything below it.
const MAX_NAME_BYTES: usize = 256;

// Longer paths are written as short as they can be. The deepest node browsers allow has 512 levels.
const MAX_USUAL_BYTES: usize = 8 << 10;

// All paths of a page together: what ordinary pages take several times over (their paths have
// some 200 bytes), and linear in the page whatever it looks like.
const FREE_BYTES: usize = 1 << 20;
const BYTES_PER_NODE: usize = 1 << 10;
// What a step costs that is not shared with the path before it.
const BYTES_FOR_A_STEP: usize = 16;

/// No element: the document is none.
const NONE: u32 = 0;

/// What the CSS paths of a page are made of, found in a few passes over it.
pub(super) struct CssParts {
    /// By tag: a type selector that matches this tag and no other, where there is one.
    names: Vec<Option<Box<str>>>,
    /// By tag: whether exactly one element outside of templates has it.
    is_only: Vec<bool>,
    /// The selectors of elements whose id no other element has.
    ids: HashMap<u32, Box<str>>,
    /// Position among the siblings with the same tag, 0 for the only one.
    of_type: Vec<u32>,
    /// Position among all sibling elements, 0 for the only one.
    of_all: Vec<u32>,
    /// The nearest element that CSS reaches, from the node itself outwards, or [`NONE`].
    reach: Vec<u32>,
    /// The element that `:root` is, or [`NONE`].
    root: u32,
    /// By style: the length of the path of each element.
    bytes: [Vec<u32>; 2],
}

/// How paths are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// Names, with positions where needed, from an id or the top down.
    Usual,
    /// Whatever is shorter, from the nearest element that is found by itself.
    Short,
}

impl Style {
    fn combinator(self) -> &'static str {
        match self {
            Style::Usual => " > ",
            Style::Short => ">",
        }
    }
}

/// A path, and where the step of each of its elements ends.
#[derive(Default)]
struct Writing {
    path: String,
    ends: Vec<(u32, usize)>,
}

impl CssParts {
    pub(super) fn new(page: &dyn Page) -> Self {
        let names = type_selectors(page);
        let count = page.tag_count();
        let elements: Vec<bool> = (0..count)
            .map(|tag| is_element(page.tag_class(tag)))
            .collect();
        let keys = |key: &dyn Fn(u32) -> u32| -> Vec<u32> {
            let key_of = |tag: u32| {
                if elements[tag as usize] {
                    key(tag)
                } else {
                    NOT_COUNTED
                }
            };
            (0..count).map(key_of).collect()
        };
        let through = |class| matches!(class, Class::Object | Class::Array);
        let of_type = positions(page, through, &keys(&|tag| tag), count as usize);
        let of_all = positions(page, through, &keys(&|_| 0), 1);
        let mut root = 1;
        while root < page.n() && class(page, root) != Class::Element {
            root += page.sizes()[root as usize];
        }
        let (ids, is_only) = unique(page);
        let mut parts = Self {
            names,
            is_only,
            ids,
            of_type,
            of_all,
            reach: reached(page),
            root: if root < page.n() { root } else { NONE },
            bytes: [Vec::new(), Vec::new()],
        };
        parts.bytes = [Style::Usual, Style::Short].map(|style| parts.lengths(page, style));
        parts
    }

    /// The path of a node, or that of the nearest element around it that has one.
    pub(super) fn path(&self, page: &dyn Page, node: u32) -> String {
        let mut element = self.reach[node as usize];
        loop {
            if element == NONE {
                return ":root".to_owned();
            }
            if let Some(style) = self.style(element) {
                let mut writing = Writing::default();
                self.write(page, element, style, &mut writing);
                return writing.path;
            }
            element = self.above(page, element);
        }
    }

    /// The paths of many nodes, `None` for an element that is too deep or for which the bytes
    /// that all paths of a page may have together do not suffice.
    pub(super) fn paths(&self, page: &dyn Page, nodes: &[u32]) -> Vec<Option<String>> {
        let mut left = FREE_BYTES + BYTES_PER_NODE * page.n() as usize;
        // The last path of each style: the next one has its beginning, if it is nearby.
        let mut last = [Writing::default(), Writing::default()];
        let mut path = |node: u32| {
            let element = self.reach[node as usize];
            if element == NONE {
                return Some(":root".to_owned());
            }
            let style = self.style(element)?;
            if self.bytes[style as usize][element as usize] as usize > left {
                return None;
            }
            let writing = &mut last[style as usize];
            let steps = self.write(page, element, style, writing);
            left = left.saturating_sub(writing.path.len() + BYTES_FOR_A_STEP * steps);
            Some(writing.path.clone())
        };
        nodes.iter().map(|&node| path(node)).collect()
    }

    /// How the path of an element is written, if it can be.
    fn style(&self, element: u32) -> Option<Style> {
        let bytes = |style: Style| self.bytes[style as usize][element as usize] as usize;
        if bytes(Style::Usual) <= MAX_USUAL_BYTES {
            return Some(Style::Usual);
        }
        (bytes(Style::Short) <= MAX_SELECTOR_BYTES).then_some(Style::Short)
    }

    /// Turn the last path into that of another element; how many steps that took.
    fn write(&self, page: &dyn Page, element: u32, style: Style, writing: &mut Writing) -> usize {
        let mut steps = Vec::new();
        let mut at = element;
        loop {
            let known = writing.ends.binary_search_by_key(&at, |it| it.0);
            if let Ok(place) = known {
                writing.ends.truncate(place + 1);
                writing.path.truncate(writing.ends[place].1);
                break;
            }
            steps.push(at);
            if self.is_first(page, at, style) {
                writing.ends.clear();
                writing.path.clear();
                break;
            }
            at = self.above(page, at);
        }
        for &step in steps.iter().rev() {
            if !writing.path.is_empty() {
                writing.path.push_str(style.combinator());
            }
            self.push_step(page, step, style, &mut writing.path);
            writing.ends.push((step, writing.path.len()));
        }
        steps.len()
    }

    /// The length of each element's path in a style.
    fn lengths(&self, page: &dyn Page, style: Style) -> Vec<u32> {
        let mut bytes = vec![0_u32; page.n() as usize];
        let mut step = String::new();
        for node in 1..page.n() {
            if self.reach[node as usize] != node {
                continue;
            }
            step.clear();
            self.push_step(page, node, style, &mut step);
            let before = if self.is_first(page, node, style) {
                0
            } else {
                let above = self.above(page, node);
                bytes[above as usize].saturating_add(style.combinator().len() as u32)
            };
            bytes[node as usize] = before.saturating_add(step.len() as u32);
        }
        bytes
    }

    /// Whether a path that leads through this element begins with it.
    fn is_first(&self, page: &dyn Page, element: u32, style: Style) -> bool {
        self.above(page, element) == NONE || self.anchor(page, element, style).is_some()
    }

    fn push_step(&self, page: &dyn Page, element: u32, style: Style, path: &mut String) {
        if let Some(anchor) = self.anchor(page, element, style) {
            path.push_str(anchor);
        } else if self.above(page, element) == NONE {
            self.push_top(page, element, path);
        } else {
            self.push_inner(page, element, style, path);
        }
    }

    /// The element around an element, or [`NONE`].
    fn above(&self, page: &dyn Page, element: u32) -> u32 {
        self.reach[page.parents()[element as usize] as usize]
    }

    /// A selector that finds this element wherever it is: by its id or, in short paths, by a name
    /// that only it has.
    fn anchor(&self, page: &dyn Page, element: u32, style: Style) -> Option<&str> {
        let tag = page.tags()[element as usize] as usize;
        let name = || {
            self.names[tag]
                .as_ref()
                .filter(|_| style == Style::Short && self.is_only[tag])
        };
        self.ids.get(&element).or_else(name).map(|it| &**it)
    }

    /// The step of an element that has no element around it.
    fn push_top(&self, page: &dyn Page, element: u32, path: &mut String) {
        if element == self.root {
            let tag = page.tags()[element as usize] as usize;
            let name = self.names[tag].as_ref().filter(|_| self.is_only[tag]);
            path.push_str(name.map_or(":root", |it| &**it));
        } else {
            self.push_inner(page, element, Style::Usual, path);
            // Without a parent to start from, say that there is none.
            path.push_str(":not(* > *)");
        }
    }

    fn push_inner(&self, page: &dyn Page, element: u32, style: Style, path: &mut String) {
        let start = path.len();
        let name = &self.names[page.tags()[element as usize] as usize];
        if let Some(name) = name {
            path.push_str(name);
            match self.of_type[element as usize] {
                0 => {}
                place => push_place(path, ":nth-of-type(", place),
            }
        }
        let by_name = path.len() - start;
        // The shortest position there is has 13 bytes.
        if name.is_none() || (style == Style::Short && by_name > 13) {
            let end = path.len();
            push_place(path, ":nth-child(", self.of_all[element as usize].max(1));
            if name.is_none() || path.len() - end < by_name {
                path.replace_range(start..end, "");
            } else {
                path.truncate(end);
            }
        }
    }
}

fn push_place(path: &mut String, pseudo: &str, place: u32) {
    // Writing to a string cannot fail.
    let _ = write!(path, "{pseudo}{place})");
}

/// For each node the nearest element that CSS reaches, from the node itself outwards, or [`NONE`].
fn reached(page: &dyn Page) -> Vec<u32> {
    let mut reach = vec![NONE; page.n() as usize];
    // The end of the outermost template's content.
    let mut hidden = 0;
    for node in 1..page.n() {
        let class = class(page, node);
        if class == Class::Fragment && node >= hidden {
            hidden = node + page.sizes()[node as usize];
        }
        reach[node as usize] = if node >= hidden && is_element(class) {
            node
        } else {
            reach[page.parents()[node as usize] as usize]
        };
    }
    reach
}

fn class(page: &dyn Page, node: u32) -> Class {
    page.tag_class(page.tags()[node as usize])
}

/// Of the elements outside of templates: the selectors of ids that are unique, and which tags are.
fn unique(page: &dyn Page) -> (HashMap<u32, Box<str>>, Vec<bool>) {
    let mut bearers: HashMap<String, Option<u32>> = HashMap::new();
    let mut counts = vec![0_u32; page.tag_count() as usize];
    let mut node = 1;
    while node < page.n() {
        let class = class(page, node);
        if class == Class::Fragment {
            node += page.sizes()[node as usize];
            continue;
        }
        if is_element(class) {
            counts[page.tags()[node as usize] as usize] += 1;
            if let Some(id) = id_of(page, node).filter(|it| it.len() <= MAX_NAME_BYTES) {
                // In quirks mode `#A` matches `a`.
                let folded = if page.is_quirks() {
                    id.to_ascii_lowercase()
                } else {
                    id.to_owned()
                };
                (bearers.entry(folded))
                    .and_modify(|bearer| *bearer = None)
                    .or_insert(Some(node));
            }
        }
        node += 1;
    }
    let mut ids = HashMap::new();
    for node in bearers.into_values().flatten() {
        let id = id_of(page, node).unwrap_or_default();
        if !id.is_empty() && !id.contains('\0') {
            ids.insert(node, format!("#{}", escaped(id)).into());
        }
    }
    (ids, counts.into_iter().map(|count| count == 1).collect())
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

fn escaped(name: &str) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = cssparser::serialize_identifier(name, &mut text);
    text
}

/// For each tag of an element a type selector that matches it and no other, where CSS can write one.
fn type_selectors(page: &dyn Page) -> Vec<Option<Box<str>>> {
    // How many tags a bare name matches: in HTML in any case, in XML by what follows a prefix.
    let mut any_case: HashMap<String, u32> = HashMap::new();
    let mut local: HashMap<&str, u32> = HashMap::new();
    let count = page.tag_count();
    for tag in (0..count).filter(|&tag| is_element(page.tag_class(tag))) {
        let name = page.tag_name(tag);
        if page.is_html() {
            *any_case.entry(name.to_ascii_lowercase()).or_default() += 1;
        }
        *local.entry(local_part(name)).or_default() += 1;
    }
    let selector = |tag: u32| -> Option<Box<str>> {
        let (name, namespace) = (page.tag_name(tag), page.tag_namespace(tag));
        let writable = !name.is_empty() && !name.contains('\0') && name.len() <= MAX_NAME_BYTES;
        if !writable || !is_element(page.tag_class(tag)) {
            return None;
        }
        let mut text = String::new();
        match namespace {
            Namespace::Html | Namespace::Svg | Namespace::MathMl if page.is_html() => {
                if namespace == Namespace::Html && name.bytes().any(|it| it.is_ascii_uppercase()) {
                    return None;
                }
                let same = any_case[&name.to_ascii_lowercase()] > 1;
                let mut known = ["html", "svg", "math"].into_iter();
                if let Some(prefix) = known.find(|it| same && html_namespace(it) == Some(namespace))
                {
                    let _ = write!(text, "{prefix}|");
                }
                text += &escaped(name);
            }
            Namespace::Xml => match name.rsplit_once(':') {
                Some(("", _) | (_, "")) => return None,
                Some((prefix, local)) => {
                    let _ = write!(text, "{}|{}", escaped(prefix), escaped(local));
                }
                None => {
                    if local[name] > 1 {
                        text.push('|');
                    }
                    text += &escaped(name);
                }
            },
            _ => text = escaped(name),
        }
        Some(text.into())
    };
    (0..count).map(selector).collect()
}
