//! The functions of XPath 1.0 that are on the list in [`super::parser`].

use super::eval::{Context, Evaluation};
use super::parser::{Expr, Function};
use super::tree::{Item, Kind};
use super::value::{Value, number};
use crate::error::Error;
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
        let text = |index: usize| -> Result<String, Error> {
            match arguments.get(index) {
                Some(argument) => Ok(self.value(argument, at)?.text(tree)?.into_owned()),
                // Without an argument these functions speak of the context node.
                None => Ok(tree.text(at.item)?.into_owned()),
            }
        };
        let count_text = |text: String| -> Result<String, Error> {
            tree.steps.take(text.len() / 32)?;
            Ok(text)
        };
        Ok(match function {
            Function::True => Value::Bool(true),
            Function::False => Value::Bool(false),
            Function::Not => Value::Bool(!value(0)?.bool()),
            Function::Boolean => Value::Bool(value(0)?.bool()),
            Function::Position => Value::Number(at.position as f64),
            Function::Last => Value::Number(at.size as f64),
            Function::Count => Value::Number(self.nodes(&arguments[0], at)?.len() as f64),
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
            Function::String => Value::Text(text(0)?),
            Function::StringLength => Value::Number(count_text(text(0)?)?.chars().count() as f64),
            Function::NormalizeSpace => {
                let words = count_text(text(0)?)?;
                let words = words
                    .split([' ', '\t', '\n', '\r'])
                    .filter(|word| !word.is_empty());
                Value::Text(words.collect::<Vec<_>>().join(" "))
            }
            Function::Contains => Value::Bool(count_text(text(0)?)?.contains(&text(1)?)),
            Function::StartsWith => Value::Bool(text(0)?.starts_with(&text(1)?)),
            Function::SubstringBefore => {
                let (all, mark) = (count_text(text(0)?)?, text(1)?);
                Value::Text(
                    all.split_once(&mark)
                        .map_or(String::new(), |(before, _)| before.to_owned()),
                )
            }
            Function::SubstringAfter => {
                let (all, mark) = (count_text(text(0)?)?, text(1)?);
                Value::Text(
                    all.split_once(&mark)
                        .map_or(String::new(), |(_, after)| after.to_owned()),
                )
            }
            Function::Substring => {
                let start = round(value(1)?.number(tree)?);
                let end = match arguments.get(2) {
                    Some(length) => start + round(self.value(length, at)?.number(tree)?),
                    None => f64::INFINITY,
                };
                // Comparisons with NaN are false, as the recommendation wants it.
                let kept = |&(index, _): &(usize, char)| {
                    let position = index as f64 + 1.0;
                    position >= start && position < end
                };
                let all = count_text(text(0)?)?;
                Value::Text(
                    all.chars()
                        .enumerate()
                        .filter(kept)
                        .map(|(_, it)| it)
                        .collect(),
                )
            }
            Function::Translate => {
                let (all, from, to) = (text(0)?, text(1)?, text(2)?);
                tree.steps
                    .take(all.len().saturating_mul(from.len() + 1) / 32)?;
                let to: Vec<char> = to.chars().collect();
                let map = |it: char| match from.chars().position(|known| known == it) {
                    None => Some(it),
                    Some(index) => to.get(index).copied(),
                };
                Value::Text(all.chars().filter_map(map).collect())
            }
            Function::Concat => {
                let mut all = String::new();
                for index in 0..arguments.len() {
                    all.push_str(&text(index)?);
                }
                Value::Text(count_text(all)?)
            }
            Function::Name | Function::LocalName => {
                let item = match arguments.first() {
                    Some(argument) => self.nodes(argument, at)?.first().copied(),
                    None => Some(at.item),
                };
                let name = item.map_or("", |item| self.name(item));
                let local = function == Function::LocalName;
                Value::Text(if local { local_part(name) } else { name }.to_owned())
            }
        })
    }

    fn name(&self, item: Item) -> &str {
        if item.is_attribute() {
            return self.tree.attribute(item).0;
        }
        match self.tree.kind(item.node) {
            Kind::Element => self
                .tree
                .page
                .tag_name(self.tree.page.tags()[item.node as usize]),
            _ => "",
        }
    }
}

/// Halves go up, also below zero.
fn round(number: f64) -> f64 {
    (number + 0.5).floor()
}
