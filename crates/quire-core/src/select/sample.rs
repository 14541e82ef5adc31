//! A small page for tests, written as a line of text.
//!
//! `div#main.a[href=x](p("text"), <!comment>, svg:path)`: a name with an optional `svg:` or
//! `math:`, then `#id`, `.class`, `[name=value]`, then children in parentheses.
//! `%fragment(...)`, `%object(...)`, `%array(...)`, `%member:key(...)`, `%cdata"..."` and
//! `%doctype` are the other classes.

use std::borrow::Cow;
use std::collections::HashMap;

use super::Page;
use crate::page::vocabulary::{Class, Namespace};

pub(crate) type Attributes = Vec<(Box<str>, Box<str>)>;

/// Columns that grow node by node.
#[derive(Default)]
pub(crate) struct Sample {
    parents: Vec<u32>,
    sizes: Vec<u32>,
    tags: Vec<u32>,
    attr_ids: Vec<i32>,
    names: Vec<(Namespace, Class, String)>,
    runs: Vec<Attributes>,
    texts: HashMap<u32, String>,
    open: Vec<u32>,
    pub html: bool,
    pub quirks: bool,
}

impl Sample {
    pub fn new() -> Self {
        let mut page = Self {
            html: true,
            ..Self::default()
        };
        page.open(Namespace::Html, Class::Document, "#document", Vec::new());
        page
    }

    /// Append a node as last child of the open one, and open it.
    pub fn open(
        &mut self,
        namespace: Namespace,
        class: Class,
        name: &str,
        attributes: Attributes,
    ) -> u32 {
        let node = self.tags.len() as u32;
        let key = (namespace, class, name.to_owned());
        let tag = self
            .names
            .iter()
            .position(|it| *it == key)
            .unwrap_or_else(|| {
                self.names.push(key);
                self.names.len() - 1
            });
        self.tags.push(tag as u32);
        self.parents
            .push(self.open.last().copied().unwrap_or(u32::MAX));
        self.sizes.push(1);
        let run = if attributes.is_empty() {
            -1
        } else {
            self.runs
                .iter()
                .position(|it| *it == attributes)
                .unwrap_or_else(|| {
                    self.runs.push(attributes);
                    self.runs.len() - 1
                }) as i32
        };
        self.attr_ids.push(run);
        self.open.push(node);
        node
    }

    pub fn close(&mut self) {
        let node = self.open.pop().expect("an open node") as usize;
        self.sizes[node] = self.tags.len() as u32 - node as u32;
    }

    /// Open an HTML element without attributes.
    pub fn element(&mut self, name: &str) -> u32 {
        self.open(Namespace::Html, Class::Element, name, Vec::new())
    }

    pub fn leaf(&mut self, class: Class, name: &str, text: &str) -> u32 {
        let node = self.open(Namespace::Html, class, name, Vec::new());
        self.texts.insert(node, text.to_owned());
        self.close();
        node
    }

    /// Close everything that is open.
    pub fn done(mut self) -> Self {
        while !self.open.is_empty() {
            self.close();
        }
        self
    }

    /// Parse a page in the notation of this module.
    pub fn read(text: &str) -> Self {
        let mut page = Self::new();
        let mut rest = text;
        loop {
            rest = rest.trim_start_matches([' ', '\n', ',']);
            let Some(first) = rest.chars().next() else {
                return page.done();
            };
            match first {
                ')' => {
                    page.close();
                    rest = &rest[1..];
                }
                '"' => {
                    let end = rest[1..].find('"').expect("closing quote") + 1;
                    page.leaf(Class::Text, "#text", &rest[1..end]);
                    rest = &rest[end + 1..];
                }
                '<' => {
                    let end = rest.find('>').expect("closing >");
                    page.leaf(Class::Comment, "#comment", &rest[2..end]);
                    rest = &rest[end + 1..];
                }
                _ => rest = page.read_element(rest),
            }
        }
    }

    fn read_element<'t>(&mut self, text: &'t str) -> &'t str {
        let end = text
            .find(['#', '.', '[', '(', ')', ',', ' ', '"', '\n'])
            .unwrap_or(text.len());
        let (name, mut rest) = text.split_at(end);
        let (namespace, class, name) = match name.split_once(':') {
            _ if name == "%fragment" => (Namespace::Html, Class::Fragment, "#fragment"),
            _ if name == "%object" => (Namespace::Html, Class::Object, "#object"),
            _ if name == "%array" => (Namespace::Html, Class::Array, "#array"),
            _ if name == "%doctype" => (Namespace::Html, Class::Doctype, "#doctype"),
            Some(("%member", key)) => (Namespace::Json, Class::Member, key),
            Some(("%xml", name)) => (Namespace::Xml, Class::Element, name),
            Some(("svg", name)) => (Namespace::Svg, Class::Element, name),
            Some(("math", name)) => (Namespace::MathMl, Class::Element, name),
            _ => (Namespace::Html, Class::Element, name),
        };
        let mut attributes: Attributes = Vec::new();
        let mut classes = Vec::new();
        loop {
            let mark = rest.chars().next();
            let stop = |text: &str| {
                text.find(['#', '.', '[', '(', ')', ',', ' ', '\n'])
                    .unwrap_or(text.len())
            };
            match mark {
                Some('#' | '.') => {
                    let end = stop(&rest[1..]) + 1;
                    if mark == Some('#') {
                        attributes.push(("id".into(), rest[1..end].into()));
                    } else {
                        classes.push(&rest[1..end]);
                    }
                    rest = &rest[end..];
                }
                Some('[') => {
                    let end = rest.find(']').expect("closing ]");
                    let (name, value) = rest[1..end].split_once('=').unwrap_or((&rest[1..end], ""));
                    attributes.push((name.into(), value.into()));
                    rest = &rest[end + 1..];
                }
                _ => break,
            }
        }
        if !classes.is_empty() {
            attributes.push(("class".into(), classes.join(" ").into()));
        }
        self.open(namespace, class, name, attributes);
        if let Some(inside) = rest.strip_prefix('(') {
            return inside;
        }
        self.close();
        rest
    }

    /// Return the names of some nodes, for readable expectations: `p`, or `p#id`.
    pub fn show(&self, nodes: &[u32]) -> String {
        let one = |&node: &u32| {
            let name = self.tag_name(self.tags[node as usize]);
            let run = self.attr_ids[node as usize];
            let id = self
                .runs
                .get(run as usize)
                .and_then(|run| run.iter().find(|(name, _)| &**name == "id"));
            id.map_or(name.to_owned(), |(_, id)| format!("{name}#{id}"))
        };
        nodes.iter().map(one).collect::<Vec<_>>().join(" ")
    }
}

impl Page for Sample {
    fn n(&self) -> u32 {
        self.tags.len() as u32
    }
    fn parents(&self) -> &[u32] {
        &self.parents
    }
    fn sizes(&self) -> &[u32] {
        &self.sizes
    }
    fn tags(&self) -> &[u32] {
        &self.tags
    }
    fn tag_count(&self) -> u32 {
        self.names.len() as u32
    }
    fn tag_name(&self, tag: u32) -> &str {
        &self.names[tag as usize].2
    }
    fn tag_class(&self, tag: u32) -> Class {
        self.names[tag as usize].1
    }
    fn tag_namespace(&self, tag: u32) -> Namespace {
        self.names[tag as usize].0
    }
    fn attr_ids(&self) -> &[i32] {
        &self.attr_ids
    }
    fn attributes(&self, attr_id: i32) -> &[(Box<str>, Box<str>)] {
        &self.runs[attr_id as usize]
    }
    fn text_of_leaf(&self, node: u32) -> Cow<'_, str> {
        self.texts
            .get(&node)
            .map_or("".into(), |text| text.as_str().into())
    }
    fn is_html(&self) -> bool {
        self.html
    }
    fn is_quirks(&self) -> bool {
        self.quirks
    }
}

/// A small random generator, the same on every machine.
pub(crate) struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % sides
    }

    pub fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.roll(from.len())]
    }
}

/// Make a random tree with few names, ids, classes and attributes, so that selectors match.
pub(crate) fn random_page(dice: &mut Dice, nodes: usize) -> Sample {
    let mut page = Sample::new();
    page.quirks = dice.roll(4) == 0;
    page.element("html");
    for _ in 0..nodes {
        while page.open.len() > 2 && dice.roll(3) == 0 {
            page.close();
        }
        match dice.roll(12) {
            0 => drop(page.leaf(
                Class::Text,
                "#text",
                dice.pick(&["one", "two", " ", "one two"]),
            )),
            1 => drop(page.leaf(Class::Comment, "#comment", "one")),
            _ => {
                let mut attributes: Attributes = Vec::new();
                let mut maybe = |name: &str, values: &[&str], one_in: usize| {
                    if dice.roll(one_in) == 0 {
                        attributes.push((name.into(), dice.pick(values).into()));
                    }
                };
                maybe("id", &["x", "y", "X"], 6);
                maybe("class", &["u", "v", "u v", "U", " v  w "], 3);
                maybe("title", &["ab", "a b", "a-b", "AB", ""], 4);
                maybe("type", &["Text", "text"], 6);
                let svg = dice.roll(8) == 0;
                let namespace = if svg { Namespace::Svg } else { Namespace::Html };
                page.open(
                    namespace,
                    Class::Element,
                    dice.pick(&["a", "b", "p"]),
                    attributes,
                );
            }
        }
    }
    page.done()
}
