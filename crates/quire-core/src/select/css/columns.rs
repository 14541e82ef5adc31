//! Tests on one column: names and namespaces by tag, attributes by run.
//!
//! Each distinct tag and each distinct attribute run is tested once; the nodes look up the result.

use selectors::attr::{
    AttrSelectorOperation, AttrSelectorOperator, CaseSensitivity, NamespaceConstraint,
    ParsedAttrSelectorOperation, ParsedCaseSensitivity,
};
use selectors::parser::Component;

use super::evaluate::Evaluation;
use super::names::{Name, Types};
use super::sets::Set;
use crate::base::error::Error;
use crate::page::vocabulary::Namespace;
use crate::select::{html_namespace, local_part};

type Attribute = (Box<str>, Box<str>);
type AttributeTest<'t> = dyn Fn(&[Attribute], bool) -> bool + 't;
type Constraint = NamespaceConstraint<(Name, Name)>;

/// Decides whether a node passes, by its tag, or by its attributes and whether it is an HTML
/// element.
pub(super) enum ColumnTest<'t> {
    Tag(Box<dyn Fn(u32) -> bool + 't>),
    Attributes(Box<AttributeTest<'t>>),
}

impl Evaluation<'_> {
    /// Return the test for a part of a selector about a name, a namespace or an attribute.
    pub(super) fn column_test<'t>(&'t self, part: &'t Component<Types>) -> Option<ColumnTest<'t>> {
        Some(match part {
            Component::LocalName(name) => ColumnTest::Tag(Box::new(|tag| {
                self.is_named(tag, &name.name.0, &name.lower_name.0)
            })),
            Component::Namespace(prefix, _) => {
                ColumnTest::Tag(Box::new(|tag| self.has_prefix(tag, &prefix.0)))
            }
            Component::DefaultNamespace(_) | Component::ExplicitNoNamespace => {
                ColumnTest::Tag(Box::new(|tag| self.has_prefix(tag, "")))
            }
            Component::ID(id) => ColumnTest::Attributes(Box::new(|attributes, _| {
                let found = value_of(attributes, "id");
                found.is_some_and(|it| self.case.eq(it.as_bytes(), id.0.as_bytes()))
            })),
            Component::Class(class) => ColumnTest::Attributes(Box::new(|attributes, _| {
                let found = value_of(attributes, "class").unwrap_or("");
                let same = |it: &str| self.case.eq(it.as_bytes(), class.0.as_bytes());
                found.split_ascii_whitespace().any(same)
            })),
            Component::AttributeInNoNamespaceExists { local_name, .. } => {
                self.exists(None, local_name)
            }
            Component::AttributeInNoNamespace {
                local_name,
                operator,
                value,
                case_sensitivity,
            } => self.with_value(None, local_name, (*operator, *case_sensitivity, value)),
            Component::AttributeOther(other) => {
                let (namespace, name) = (other.namespace.as_ref(), &other.local_name);
                match &other.operation {
                    ParsedAttrSelectorOperation::Exists => self.exists(namespace, name),
                    ParsedAttrSelectorOperation::WithValue {
                        operator,
                        case_sensitivity,
                        value,
                    } => self.with_value(namespace, name, (*operator, *case_sensitivity, value)),
                }
            }
            _ => return None,
        })
    }

    /// Keep the nodes that pass.
    pub(super) fn keep_passing(&self, set: &mut Set, test: &ColumnTest<'_>) -> Result<(), Error> {
        match test {
            ColumnTest::Tag(passes) => self.by_tag(set, passes),
            ColumnTest::Attributes(passes) => self.by_attributes(set, passes),
        }
    }

    /// Whether one node passes.
    pub(super) fn passes(&self, test: &ColumnTest<'_>, node: u32) -> Result<bool, Error> {
        let tag = self.page.tags()[node as usize];
        match test {
            ColumnTest::Tag(passes) => Ok(passes(tag)),
            ColumnTest::Attributes(passes) => {
                let id = self.page.attr_ids()[node as usize];
                if id < 0 {
                    return Ok(false);
                }
                let attributes = self.page.attributes(id);
                self.domain.take(weight(attributes))?;
                Ok(passes(attributes, self.is_html(tag)))
            }
        }
    }

    /// Keep the nodes that pass; tests once per tag.
    fn by_tag(&self, set: &mut Set, passes: impl Fn(u32) -> bool) -> Result<(), Error> {
        self.domain.pass()?;
        self.domain.take(self.page.tag_count() as usize)?;
        let passes: Vec<bool> = (0..self.page.tag_count()).map(passes).collect();
        let tags = self.page.tags();
        for node in self.domain.nodes() {
            set[node as usize] &= passes[tags[node as usize] as usize];
        }
        Ok(())
    }

    /// Keep the nodes that pass; tests once per attribute run and kind of element (HTML or not).
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
            let html = self.is_html(page.tags()[node as usize]);
            let slot = id as usize * 2 + usize::from(html);
            if slot >= known.len() {
                known.resize((slot + 1).next_power_of_two(), None);
            }
            let answer = if let Some(answer) = known[slot] {
                answer
            } else {
                let attributes = page.attributes(id);
                self.domain.take(weight(attributes))?;
                *known[slot].insert(passes(attributes, html))
            };
            set[node as usize] = answer;
        }
        Ok(())
    }

    fn is_html(&self, tag: u32) -> bool {
        self.page.is_html() && self.page.tag_namespace(tag) == Namespace::Html
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

    fn exists<'t>(&'t self, namespace: Option<&'t Constraint>, name: &'t Name) -> ColumnTest<'t> {
        ColumnTest::Attributes(Box::new(move |attributes, _| {
            self.attribute(attributes, namespace, name, &AttrSelectorOperation::Exists)
        }))
    }

    fn with_value<'t>(
        &'t self,
        namespace: Option<&'t Constraint>,
        name: &'t Name,
        (operator, case, value): (AttrSelectorOperator, ParsedCaseSensitivity, &'t Name),
    ) -> ColumnTest<'t> {
        ColumnTest::Attributes(Box::new(move |attributes, html| {
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
        }))
    }

    /// Test an attribute. In HTML the case of attribute names never matters, not even in SVG: pages
    /// are written by hand.
    fn attribute(
        &self,
        attributes: &[Attribute],
        namespace: Option<&Constraint>,
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

fn value_of<'v>(attributes: &'v [Attribute], name: &str) -> Option<&'v str> {
    attributes
        .iter()
        .find(|(found, _)| &**found == name)
        .map(|(_, value)| &**value)
}

/// Return the number of steps for looking at some attributes.
fn weight(attributes: &[Attribute]) -> usize {
    attributes
        .iter()
        .map(|(_, value)| 1 + value.len() / 16)
        .sum()
}
