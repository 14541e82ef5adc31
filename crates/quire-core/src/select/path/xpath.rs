//! `XPath` paths: a step for each level, or the number of a node in document order.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::siblings::{NOT_COUNTED, positions};
use crate::page::vocabulary::Class;
use crate::select::xpath::{Test, name_length, tag_passes};
use crate::select::{Limits, MAX_SELECTOR_BYTES, Page};

/// What the `XPath` paths of a page are made of, found in a few passes over it.
pub(super) struct XPathParts {
    /// By tag: the node test, where it can be written.
    tests: Vec<Option<Box<str>>>,
    /// Position among the siblings that pass the same test, 0 for the only one.
    places: Vec<u32>,
    /// Position among all sibling elements, for elements whose name cannot be written.
    places_of_any: Vec<u32>,
    /// The nearest node that `XPath` sees, from the node itself outwards; 0, the document, if there is none.
    reach: Vec<u32>,
    /// How many nodes that are seen there are up to each node, without the document.
    numbers: OnceLock<Vec<u32>>,
}

impl XPathParts {
    pub(super) fn new(page: &dyn Page) -> Self {
        let count = page.tag_count();
        let tests: Vec<_> = (0..count).map(|tag| node_test(page, tag)).collect();
        let seen: Vec<bool> = (0..count)
            .map(|tag| tag_passes(page, tag, &Test::Node))
            .collect();
        let mut reach = vec![0; page.n() as usize];
        for node in 1..page.n() as usize {
            reach[node] = if seen[page.tags()[node] as usize] {
                node as u32
            } else {
                reach[page.parents()[node] as usize]
            };
        }
        // Tags that pass the same tests have the same key.
        let mut known: HashMap<String, u32> = HashMap::new();
        let keys: Vec<u32> = (tests.iter())
            .map(|test| match test {
                None => NOT_COUNTED,
                Some(test) => {
                    let next = known.len() as u32;
                    let test = if page.is_html() {
                        test.to_ascii_lowercase()
                    } else {
                        test.to_string()
                    };
                    *known.entry(test).or_insert(next)
                }
            })
            .collect();
        let through = |class| {
            matches!(
                class,
                Class::Object | Class::Array | Class::Fragment | Class::Paragraph
            )
        };
        let elements: Vec<u32> = (0..count)
            .map(|tag| {
                if tag_passes(page, tag, &Test::Any) {
                    0
                } else {
                    NOT_COUNTED
                }
            })
            .collect();
        let unnamed = (tests.iter().zip(&elements)).any(|it| it.0.is_none() && *it.1 == 0);
        Self {
            places: positions(page, through, &keys, known.len()),
            places_of_any: if unnamed {
                positions(page, through, &elements, 1)
            } else {
                Vec::new()
            },
            reach,
            tests,
            numbers: OnceLock::new(),
        }
    }

    pub(super) fn path(&self, page: &dyn Page, node: u32) -> String {
        // Each step that is read looks at all tags.
        let most_steps = Limits::default().steps / 2 / u64::from(page.tag_count().max(1));
        let mut steps = Vec::new();
        let mut bytes = 0;
        let mut at = self.reach[node as usize];
        while at != 0 {
            let step = self.step(page, at);
            bytes += step.len();
            steps.push(step);
            if bytes > MAX_SELECTOR_BYTES || steps.len() as u64 > most_steps {
                return self.by_number(self.reach[node as usize]);
            }
            at = self.reach[page.parents()[at as usize] as usize];
        }
        if steps.is_empty() {
            return "/".to_owned();
        }
        steps.reverse();
        steps.concat()
    }

    fn step(&self, page: &dyn Page, node: u32) -> String {
        let (test, places) = match &self.tests[page.tags()[node as usize] as usize] {
            Some(test) => (&**test, &self.places),
            None => ("*", &self.places_of_any),
        };
        match places[node as usize] {
            0 => format!("/{test}"),
            place => format!("/{test}[{place}]"),
        }
    }

    fn by_number(&self, node: u32) -> String {
        let numbers = self.numbers.get_or_init(|| {
            let mut number = 0;
            let seen = |(node, &reached): (usize, &u32)| {
                number += u32::from(node > 0 && reached == node as u32);
                number
            };
            self.reach.iter().enumerate().map(seen).collect()
        });
        format!("/descendant::node()[{}]", numbers[node as usize])
    }
}

/// The node test for a tag, which all tags with the same test in the same case pass; `None` for an
/// element whose name `XPath` cannot write, and for what it does not see.
fn node_test(page: &dyn Page, tag: u32) -> Option<Box<str>> {
    let name = page.tag_name(tag);
    match page.tag_class(tag) {
        it if it.is_text() => return Some("text()".into()),
        Class::Comment => return Some("comment()".into()),
        Class::Instruction => return Some("processing-instruction()".into()),
        _ => {}
    }
    let writable = |name: &str| !name.is_empty() && name_length(name) == name.len();
    let test = match name.split_once(':') {
        None if writable(name) => Test::Name(name.to_owned()),
        Some((prefix, local)) if writable(prefix) && writable(local) => {
            Test::Qualified(prefix.to_owned(), local.to_owned())
        }
        _ => return None,
    };
    tag_passes(page, tag, &test).then(|| name.into())
}
