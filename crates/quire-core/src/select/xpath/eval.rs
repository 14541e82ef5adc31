//! Evaluates an expression on a page.
//!
//! A step is taken for a whole set of context nodes at once (ranges of descendants are joined; a
//! walk to ancestors or siblings stops where another one has been), unless one of its predicates
//! depends on positions; then it is taken node by node, as `XPath` defines it. Recursion follows
//! only the nesting of the expression.

use std::cell::OnceCell;
use std::collections::HashSet;

use super::expr::{Axis, Expr, Op, Parsed, Path, Start, Step};
use super::tree::{Item, Tree};
use super::value::{Value, compare, count};
use crate::base::error::Error;
use crate::select::{Page, Steps, fault};

/// Where an expression is evaluated.
#[derive(Clone, Copy)]
pub(super) struct Context {
    pub item: Item,
    pub position: usize,
    pub size: usize,
}

pub(super) struct Evaluation<'a> {
    pub tree: Tree<'a>,
    text: &'a str,
    /// For each test, which tags pass it; computed on first use.
    passes: Vec<OnceCell<Vec<bool>>>,
}

impl<'a> Evaluation<'a> {
    pub fn new(text: &'a str, parsed: &Parsed, page: &'a dyn Page, steps: &'a Steps<'a>) -> Self {
        Self {
            tree: Tree::new(page, steps),
            text,
            passes: vec![OnceCell::new(); parsed.tests],
        }
    }

    pub fn value(&self, expr: &Expr, at: Context) -> Result<Value, Error> {
        self.tree.steps.take(1)?;
        match expr {
            Expr::Number(number) => Ok(Value::Number(*number)),
            Expr::Text(text) => {
                self.tree.steps.take(text.len() / 16)?;
                Ok(Value::Text(text.clone()))
            }
            Expr::Negative(inner) => Ok(Value::Number(-self.value(inner, at)?.number(&self.tree)?)),
            Expr::Call(function, arguments) => self.call(*function, arguments, at),
            Expr::Path(path) => self.path(path, at).map(Value::Nodes),
            Expr::Chain(first, rest) => {
                let mut value = self.value(first, at)?;
                for (op, operand) in rest {
                    value = self.operate(*op, value, operand, at)?;
                }
                Ok(value)
            }
        }
    }

    /// Evaluate an expression that must give nodes.
    pub fn nodes(&self, expr: &Expr, at: Context) -> Result<Vec<Item>, Error> {
        match self.value(expr, at)? {
            Value::Nodes(nodes) => Ok(nodes),
            other => {
                let found = match other {
                    Value::Number(_) => "a number",
                    Value::Text(_) => "a string",
                    _ => "true or false",
                };
                Err(fault(
                    self.text,
                    0,
                    format!("expected nodes, found {found}"),
                ))
            }
        }
    }

    fn operate(&self, op: Op, left: Value, right: &Expr, at: Context) -> Result<Value, Error> {
        let arithmetic = |apply: fn(f64, f64) -> f64| -> Result<Value, Error> {
            let right = self.value(right, at)?.number(&self.tree)?;
            Ok(Value::Number(apply(left.number(&self.tree)?, right)))
        };
        match op {
            Op::Or => Ok(Value::Bool(left.bool() || self.value(right, at)?.bool())),
            Op::And => Ok(Value::Bool(left.bool() && self.value(right, at)?.bool())),
            Op::Add => arithmetic(|left, right| left + right),
            Op::Subtract => arithmetic(|left, right| left - right),
            Op::Multiply => arithmetic(|left, right| left * right),
            Op::Divide => arithmetic(|left, right| left / right),
            // Rust's remainder has the sign of the dividend, as in XPath.
            Op::Modulo => arithmetic(|left, right| left % right),
            Op::Union => {
                let Value::Nodes(mut nodes) = left else {
                    return Err(fault(self.text, 0, "expected nodes on both sides of '|'"));
                };
                nodes.extend(self.nodes(right, at)?);
                self.tree.steps.take(nodes.len())?;
                Ok(Value::Nodes(tidy(nodes)))
            }
            _ => compare(&self.tree, op, &left, &self.value(right, at)?).map(Value::Bool),
        }
    }

    fn path(&self, path: &Path, at: Context) -> Result<Vec<Item>, Error> {
        let mut nodes = match &path.start {
            Start::Document => vec![Item::node(0)],
            Start::Context => vec![at.item],
            Start::Expr(expr) => self.nodes(expr, at)?,
        };
        nodes = self.filter(nodes, &path.predicates)?;
        for step in &path.steps {
            if nodes.is_empty() {
                break;
            }
            nodes = self.step(step, &nodes)?;
        }
        Ok(nodes)
    }

    /// Keep the candidates for which all predicates hold; they are in the order in which positions
    /// count.
    fn filter(&self, mut candidates: Vec<Item>, predicates: &[Expr]) -> Result<Vec<Item>, Error> {
        for predicate in predicates {
            // Without candidates there is nothing to do, however many predicates there are.
            if candidates.is_empty() {
                break;
            }
            let size = candidates.len();
            let mut kept = Vec::new();
            for (index, item) in candidates.into_iter().enumerate() {
                let position = index + 1;
                let at = Context {
                    item,
                    position,
                    size,
                };
                let holds = match self.value(predicate, at)? {
                    // A position is an integer, so this is exact.
                    #[allow(clippy::float_cmp)]
                    Value::Number(number) => number == count(position),
                    value => value.bool(),
                };
                if holds {
                    kept.push(item);
                }
            }
            candidates = kept;
        }
        Ok(candidates)
    }

    fn step(&self, step: &Step, from: &[Item]) -> Result<Vec<Item>, Error> {
        // Even if an axis leads nowhere, the step has visited all nodes it came from.
        self.tree.steps.take(from.len())?;
        if self.passes[step.test_id].get().is_none() {
            self.tree.steps.take(self.tree.page.tag_count() as usize)?;
        }
        if !step.counts {
            let nodes = self.step_together(step, from)?;
            return self.filter(nodes, &step.predicates);
        }
        // `[3]` needs at most three candidates.
        let enough = match step.predicates.first() {
            Some(Expr::Number(number)) if *number >= 1.0 => *number as usize,
            _ => usize::MAX,
        };
        let mut nodes = Vec::new();
        for &item in from {
            let mut candidates = Vec::new();
            self.tree.walk(step.axis, item, &mut |found| {
                if self.passes(step, found) {
                    candidates.push(found);
                }
                Ok(candidates.len() < enough)
            })?;
            nodes.append(&mut self.filter(candidates, &step.predicates)?);
        }
        Ok(tidy(nodes))
    }

    /// Return the nodes that a step reaches from any of the given nodes.
    fn step_together(&self, step: &Step, from: &[Item]) -> Result<Vec<Item>, Error> {
        let mut nodes = Vec::new();
        let mut add = |item: Item| {
            if self.passes(step, item) {
                nodes.push(item);
            }
            Ok(true)
        };
        match step.axis {
            Axis::Descendant | Axis::DescendantOrSelf => {
                // Sorted by their starts, ranges that nest or meet are read once.
                let mut done = 0;
                for &item in from {
                    if item.is_attribute() {
                        self.tree.walk(step.axis, item, &mut add)?;
                        continue;
                    }
                    let start = item.node + u32::from(step.axis == Axis::Descendant);
                    let end = self.tree.end(item.node);
                    self.tree.range(start.max(done), end, &mut add)?;
                    done = done.max(end);
                }
            }
            Axis::Ancestor
            | Axis::AncestorOrSelf
            | Axis::FollowingSibling
            | Axis::PrecedingSibling
                if from.len() > 1 =>
            {
                // A walk that reaches a visited node has nothing new to visit after it.
                let mut seen = HashSet::new();
                let mut walk = |&item: &Item| {
                    let mut first = step.axis == Axis::AncestorOrSelf;
                    self.tree.walk(step.axis, item, &mut |found| {
                        let been = !seen.insert(found) && !first;
                        first = false;
                        if been { Ok(false) } else { add(found) }
                    })
                };
                // The last of several siblings walks over all before it, the first over all after
                // it.
                if step.axis == Axis::PrecedingSibling {
                    from.iter().rev().try_for_each(&mut walk)?;
                } else {
                    from.iter().try_for_each(&mut walk)?;
                }
            }
            _ => {
                for &item in from {
                    self.tree.walk(step.axis, item, &mut add)?;
                }
            }
        }
        Ok(tidy(nodes))
    }

    fn passes(&self, step: &Step, item: Item) -> bool {
        if item.is_attribute() {
            // Except on the attribute axis, names are names of elements.
            return match step.axis {
                Axis::Attribute => self.tree.attribute_passes(item, &step.test),
                _ => step.test == super::expr::Test::Node,
            };
        }
        let page = self.tree.page;
        let table = self.passes[step.test_id].get_or_init(|| {
            let passes = |tag| self.tree.tag_passes(tag, &step.test);
            (0..page.tag_count()).map(passes).collect()
        });
        table[page.tags()[item.node as usize] as usize]
    }
}

/// Sort into document order without duplicates; free if it already is.
fn tidy(mut nodes: Vec<Item>) -> Vec<Item> {
    if !nodes.is_sorted_by(|one, next| one < next) {
        nodes.sort_unstable();
        nodes.dedup();
    }
    nodes
}
