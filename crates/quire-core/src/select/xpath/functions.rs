//! The supported functions of `XPath` 1.0, listed in [`super::expr`].

use super::eval::{Context, Evaluation};
use super::expr::{Expr, Function};
use super::tree::{Item, Kind};
use super::value::{Value, count, number};
use crate::base::error::Error;
use crate::select::local_part;

impl Evaluation<'_> {
    /// Call a function; the parser has checked the number of arguments.
    pub(super) fn call(
        &self,
        function: Function,
        arguments: &[Expr],
        at: Context,
    ) -> Result<Value, Error> {
        let tree = &self.tree;
        let value = |index: usize| self.value(&arguments[index], at);
        let text = |index: usize| self.argument_text(arguments, index, at);
        Ok(match function {
            Function::True => Value::Bool(true),
            Function::False => Value::Bool(false),
            Function::Not => Value::Bool(!value(0)?.bool()),
            Function::Boolean => Value::Bool(value(0)?.bool()),
            Function::Contains => Value::Bool(text(0)?.contains(&text(1)?)),
            Function::StartsWith => Value::Bool(text(0)?.starts_with(&text(1)?)),
            Function::Position => Value::Number(count(at.position)),
            Function::Last => Value::Number(count(at.size)),
            Function::Count => Value::Number(count(self.nodes(&arguments[0], at)?.len())),
            Function::StringLength => Value::Number(count(text(0)?.chars().count())),
            Function::Sum => {
                let mut sum = 0.0;
                for item in self.nodes(&arguments[0], at)? {
                    sum += number(&tree.text(item)?);
                }
                Value::Number(sum)
            }
            Function::Number => Value::Number(match arguments.first() {
                Some(argument) => self.value(argument, at)?.number(tree)?,
                None => number(&tree.text(at.item)?),
            }),
            Function::Floor => Value::Number(value(0)?.number(tree)?.floor()),
            Function::Ceiling => Value::Number(value(0)?.number(tree)?.ceil()),
            Function::Round => Value::Number(round(value(0)?.number(tree)?)),
            _ => Value::Text(self.call_for_text(function, arguments, at)?),
        })
    }

    /// Call a function whose value is a string.
    fn call_for_text(
        &self,
        function: Function,
        arguments: &[Expr],
        at: Context,
    ) -> Result<String, Error> {
        let tree = &self.tree;
        let text = |index: usize| self.argument_text(arguments, index, at);
        Ok(match function {
            Function::NormalizeSpace => {
                let all = text(0)?;
                let words = all.split([' ', '\t', '\n', '\r']);
                let words = words.filter(|word| !word.is_empty());
                words.collect::<Vec<_>>().join(" ")
            }
            Function::SubstringBefore => {
                let (all, mark) = (text(0)?, text(1)?);
                all.split_once(&mark).map_or("", |it| it.0).to_owned()
            }
            Function::SubstringAfter => {
                let (all, mark) = (text(0)?, text(1)?);
                all.split_once(&mark).map_or("", |it| it.1).to_owned()
            }
            Function::Substring => {
                let bound = |index: usize| -> Result<f64, Error> {
                    Ok(round(self.value(&arguments[index], at)?.number(tree)?))
                };
                let start = bound(1)?;
                let end = if arguments.len() > 2 {
                    start + bound(2)?
                } else {
                    f64::INFINITY
                };
                // Comparisons with NaN are false, as the recommendation requires.
                let kept = |&(index, _): &(usize, char)| {
                    let position = count(index + 1);
                    position >= start && position < end
                };
                let all = text(0)?;
                all.chars()
                    .enumerate()
                    .filter(kept)
                    .map(|(_, it)| it)
                    .collect()
            }
            Function::Translate => {
                let (all, from, to) = (text(0)?, text(1)?, text(2)?);
                tree.steps
                    .take(all.len().saturating_mul(from.len() + 1) / 16)?;
                let to: Vec<char> = to.chars().collect();
                let map = |it: char| match from.chars().position(|known| known == it) {
                    None => Some(it),
                    Some(index) => to.get(index).copied(),
                };
                all.chars().filter_map(map).collect()
            }
            Function::Concat => {
                let mut all = String::new();
                for index in 0..arguments.len() {
                    let part = text(index)?;
                    // The only function whose result can be longer than its arguments.
                    tree.steps.take(part.len() / 4)?;
                    all.push_str(&part);
                }
                all
            }
            Function::Name | Function::LocalName => {
                let item = match arguments.first() {
                    Some(argument) => self.nodes(argument, at)?.first().copied(),
                    None => Some(at.item),
                };
                let name = item.map_or("", |item| self.name(item));
                tree.steps.take(name.len() / 16)?;
                let local = function == Function::LocalName;
                if local { local_part(name) } else { name }.to_owned()
            }
            // `string()`; the other functions do not return strings and never get here.
            _ => text(0)?,
        })
    }

    /// Return an argument as a string; without it these functions use the context node.
    fn argument_text(
        &self,
        arguments: &[Expr],
        index: usize,
        at: Context,
    ) -> Result<String, Error> {
        let text = match arguments.get(index) {
            Some(argument) => self.value(argument, at)?.text(&self.tree)?.into_owned(),
            None => self.tree.text(at.item)?.into_owned(),
        };
        self.tree.steps.take(text.len() / 16)?;
        Ok(text)
    }

    fn name(&self, item: Item) -> &str {
        if item.is_attribute() {
            return self.tree.attribute(item).0;
        }
        let page = self.tree.page;
        match self.tree.kind(item.node) {
            Kind::Element => page.tag_name(page.tags()[item.node as usize]),
            _ => "",
        }
    }
}

/// Round to the nearest integer; halves go up, also below zero.
fn round(number: f64) -> f64 {
    (number + 0.5).floor()
}
