//! Values of `XPath` and their conversions (`XPath` 1.0, sections 3.4 and 4).

use std::borrow::Cow;
use std::collections::HashSet;

use super::expr::Op;
use super::tree::{Item, Tree};
use crate::base::error::Error;

#[derive(Clone, Debug)]
pub(super) enum Value {
    /// In document order, without duplicates.
    Nodes(Vec<Item>),
    Number(f64),
    Text(String),
    Bool(bool),
}

impl Value {
    pub fn bool(&self) -> bool {
        match self {
            Value::Nodes(nodes) => !nodes.is_empty(),
            Value::Number(number) => *number != 0.0 && !number.is_nan(),
            Value::Text(text) => !text.is_empty(),
            Value::Bool(value) => *value,
        }
    }

    pub fn number(&self, tree: &Tree<'_>) -> Result<f64, Error> {
        Ok(match self {
            Value::Number(number) => *number,
            Value::Bool(value) => f64::from(u8::from(*value)),
            Value::Nodes(_) | Value::Text(_) => number(&self.text(tree)?),
        })
    }

    pub fn text<'v>(&'v self, tree: &Tree<'v>) -> Result<Cow<'v, str>, Error> {
        Ok(match self {
            Value::Nodes(nodes) => match nodes.first() {
                Some(&first) => tree.text(first)?,
                None => Cow::Borrowed(""),
            },
            Value::Number(number) => Cow::Owned(number_text(*number)),
            Value::Text(text) => Cow::Borrowed(text),
            Value::Bool(value) => Cow::Borrowed(if *value { "true" } else { "false" }),
        })
    }
}

/// Convert a count or position; nodes and characters of a page fit into `u32`.
pub(super) fn count(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Convert a string to a number, `NaN` if it is not one.
pub(super) fn number(text: &str) -> f64 {
    let text = text.trim_matches([' ', '\t', '\n', '\r']);
    let digits = text.strip_prefix('-').unwrap_or(text);
    // Rust accepts more than XPath: exponents, infinity, a plus sign.
    let plain = digits.bytes().all(|it| it.is_ascii_digit() || it == b'.');
    if plain {
        text.parse().unwrap_or(f64::NAN)
    } else {
        f64::NAN
    }
}

/// Convert a number to a string: no exponent, no trailing `.0`, no negative zero.
pub(super) fn number_text(number: f64) -> String {
    if number == 0.0 {
        "0".to_owned()
    } else if number.is_infinite() {
        if number > 0.0 {
            "Infinity".to_owned()
        } else {
            "-Infinity".to_owned()
        }
    } else {
        number.to_string()
    }
}

/// Evaluate `left op right` for a comparison operator.
///
/// A set of nodes compares true if *some* node of it does. Two sets are compared in linear time:
/// with a table of strings for `=`, by extremes for the order.
pub(super) fn compare(tree: &Tree<'_>, op: Op, left: &Value, right: &Value) -> Result<bool, Error> {
    let equality = matches!(op, Op::Equal | Op::NotEqual);
    match (left, right) {
        (Value::Nodes(left), Value::Nodes(right)) if equality => {
            compare_sets(tree, op, left, right)
        }
        (Value::Nodes(nodes), Value::Bool(_)) | (Value::Bool(_), Value::Nodes(nodes))
            if equality =>
        {
            let other = if matches!(left, Value::Nodes(_)) {
                right
            } else {
                left
            };
            Ok((nodes.is_empty() != other.bool()) == (op == Op::Equal))
        }
        (Value::Nodes(nodes), Value::Text(text)) | (Value::Text(text), Value::Nodes(nodes))
            if equality =>
        {
            for &node in nodes {
                if (tree.text(node)? == text.as_str()) == (op == Op::Equal) {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        _ if equality => {
            let equal = if matches!(left, Value::Bool(_)) || matches!(right, Value::Bool(_)) {
                left.bool() == right.bool()
            } else if let (Value::Text(left), Value::Text(right)) = (left, right) {
                left == right
            } else {
                return compare_numbers(tree, op, left, right);
            };
            Ok(equal == (op == Op::Equal))
        }
        _ => compare_numbers(tree, op, left, right),
    }
}

fn compare_sets(tree: &Tree<'_>, op: Op, left: &[Item], right: &[Item]) -> Result<bool, Error> {
    // 128-bit hashes represent the texts, which together may be far larger than the page.
    let hash =
        |node: Item| Ok::<u128, Error>(crate::base::hash::hash128(tree.text(node)?.as_bytes()));
    let mut texts = HashSet::new();
    for &node in left {
        texts.insert(hash(node)?);
    }
    for &node in right {
        let text = hash(node)?;
        let found = match op {
            Op::Equal => texts.contains(&text),
            // Some text differs from this one, unless it is the only one.
            _ => texts.len() > 1 || (texts.len() == 1 && !texts.contains(&text)),
        };
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

// Equality of numbers is exact in XPath.
#[allow(clippy::float_cmp)]
fn compare_numbers(tree: &Tree<'_>, op: Op, left: &Value, right: &Value) -> Result<bool, Error> {
    let (left, right) = (Extremes::of(tree, left)?, Extremes::of(tree, right)?);
    Ok(match op {
        Op::Less => left.least < right.most,
        Op::LessOrEqual => left.least <= right.most,
        Op::Greater => left.most > right.least,
        Op::GreaterOrEqual => left.most >= right.least,
        // Two sets are compared as strings; here one side is a single number.
        _ => {
            let mut pairs = left
                .numbers
                .iter()
                .flat_map(|one| right.numbers.iter().map(move |other| (one, other)));
            pairs.any(|(one, other)| (one == other) == (op == Op::Equal))
        }
    })
}

/// The extremes of the numbers of a value; `NaN`, which compares false, if there are none.
struct Extremes {
    numbers: Vec<f64>,
    least: f64,
    most: f64,
}

impl Extremes {
    fn of(tree: &Tree<'_>, value: &Value) -> Result<Self, Error> {
        let mut numbers = Vec::new();
        match value {
            Value::Nodes(nodes) => {
                for &node in nodes {
                    numbers.push(number(&tree.text(node)?));
                }
            }
            _ => numbers.push(value.number(tree)?),
        }
        // `f64::min` ignores NaN.
        let least = numbers.iter().copied().fold(f64::NAN, f64::min);
        let most = numbers.iter().copied().fold(f64::NAN, f64::max);
        Ok(Self {
            numbers,
            least,
            most,
        })
    }
}
