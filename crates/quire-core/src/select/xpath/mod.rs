//! Our subset of `XPath` 1.0: parsed once, evaluated on the columns with a budget.
//!
//! * Axes: child, descendant, descendant-or-self, self, parent, ancestor, ancestor-or-self,
//!   attribute, following-sibling, preceding-sibling; in full and abbreviated syntax.
//! * Node tests: `name`, `*`, `prefix:name`, `prefix:*`, `text()`, `comment()`,
//!   `processing-instruction()`, `node()`. In HTML a bare name matches in any namespace, case does
//!   not matter, and the prefixes are `html`, `svg` and `math`. In XML a bare name matches only
//!   names without a prefix, and a prefix is the one written in the page: `//title` does not match
//!   `media:title`, but `//*[local-name()='title']` matches both.
//! * Predicates, `|`, the operators and the core functions as in `XPath` 1.0.
//! * Not supported, with an error that names them: variables, the axes following, preceding and
//!   namespace, and all other functions (`id`, `lang`, `document`, ...).
//!
//! Content of a `template` and values in JSON objects and arrays are children of the element around
//! them.

use super::{Limits, Page, Steps};
use crate::base::error::Error;
use expr::Parsed;
use tree::Item;
use value::Value;

mod eval;
mod expr;
mod functions;
mod lexer;
mod parser;
mod tree;
mod value;

pub(in crate::select) use expr::Test;
pub(in crate::select) use lexer::name_length;
pub(in crate::select) use tree::tag_passes;

/// A parsed expression, for use on any number of pages.
#[derive(Clone, Debug)]
pub struct XPath {
    text: String,
    parsed: Parsed,
}

/// The result of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// Nodes in document order, each once.
    Nodes(Vec<u32>),
    /// Values of attributes in document order. If an expression gives attributes and other nodes,
    /// the text of those nodes is included in its place.
    Strings(Vec<String>),
    /// A number; may be `NaN`.
    Number(f64),
    /// A string.
    Text(String),
    /// True or false.
    Bool(bool),
}

impl XPath {
    /// Parse an expression.
    ///
    /// ```
    /// use quire_core::select::XPath;
    ///
    /// assert!(XPath::parse("//table[@class='prices']/tr[position() > 1]/td[1]").is_ok());
    /// let error = XPath::parse("document('x')/a").unwrap_err().to_string();
    /// assert!(error.contains("unsupported function document(); expected one of boolean, ceiling"));
    /// ```
    pub fn parse(text: &str) -> Result<Self, Error> {
        Ok(Self {
            text: text.to_owned(),
            parsed: parser::parse(text)?,
        })
    }

    /// Return the expression as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Evaluate the expression at the node `context`; 0 is the document.
    pub fn select(&self, page: &dyn Page, context: u32, limits: Limits) -> Result<Found, Error> {
        if context >= page.n() {
            let message = format!(
                "node {context} does not exist; the page has {} nodes",
                page.n()
            );
            return Err(Error::Tree { message });
        }
        let steps = Steps::new(&self.text, limits);
        let evaluation = eval::Evaluation::new(&self.text, &self.parsed, page, &steps);
        let at = eval::Context {
            item: Item::node(context),
            position: 1,
            size: 1,
        };
        Ok(match evaluation.value(&self.parsed.expr, at)? {
            Value::Number(number) => Found::Number(number),
            Value::Text(text) => Found::Text(text),
            Value::Bool(value) => Found::Bool(value),
            Value::Nodes(items) if items.iter().any(|item| item.is_attribute()) => {
                let text = |item| {
                    let text = evaluation.tree.text(item)?.into_owned();
                    // Counted in full: these stay in memory together.
                    steps.take(text.len())?;
                    Ok(text)
                };
                Found::Strings(items.into_iter().map(text).collect::<Result<_, Error>>()?)
            }
            Value::Nodes(items) => Found::Nodes(items.into_iter().map(|item| item.node).collect()),
        })
    }
}

#[cfg(test)]
mod tests;
