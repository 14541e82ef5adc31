//! Parses tokens into an expression: recursive descent, as deep as the parentheses and brackets.
//!
//! Operators of one precedence form one flat [`Expr::Chain`], and steps one flat path, so `1+1+1+…`
//! is a long expression, not a deep one. Only nesting is deep, and that is limited.

use std::collections::HashMap;

use super::expr::{Axis, Expr, FUNCTIONS, Op, Parsed, Path, Start, Step, Test, may_count};
use super::lexer::{Token, tokens};
use crate::base::error::{Error, shortened};
use crate::select::{check_length, fault};

// 64: generous for people; the parser and the evaluation use a few stack frames per level.
const MAX_NESTING: usize = 64;

/// The operators from weak to strong; unary minus is between the last two levels.
const LEVELS: [&[(&str, Op)]; 7] = [
    &[("or", Op::Or)],
    &[("and", Op::And)],
    &[("=", Op::Equal), ("!=", Op::NotEqual)],
    &[
        ("<", Op::Less),
        ("<=", Op::LessOrEqual),
        (">", Op::Greater),
        (">=", Op::GreaterOrEqual),
    ],
    &[("+", Op::Add), ("-", Op::Subtract)],
    &[
        ("*", Op::Multiply),
        ("div", Op::Divide),
        ("mod", Op::Modulo),
    ],
    &[("|", Op::Union)],
];
const UNION_LEVEL: usize = 6;

const AXES: [(&str, Axis); 10] = [
    ("child", Axis::Child),
    ("descendant", Axis::Descendant),
    ("descendant-or-self", Axis::DescendantOrSelf),
    ("self", Axis::Itself),
    ("parent", Axis::Parent),
    ("ancestor", Axis::Ancestor),
    ("ancestor-or-self", Axis::AncestorOrSelf),
    ("attribute", Axis::Attribute),
    ("following-sibling", Axis::FollowingSibling),
    ("preceding-sibling", Axis::PrecedingSibling),
];

/// Parse a whole expression.
pub(super) fn parse(text: &str) -> Result<Parsed, Error> {
    check_length(text)?;
    let mut parser = Parser {
        text,
        tokens: tokens(text)?,
        at: 0,
        depth: 0,
        tests: HashMap::new(),
    };
    let expr = parser.level(0)?;
    match parser.peek() {
        None => Ok(Parsed {
            expr,
            tests: parser.tests.len(),
        }),
        Some(_) => Err(parser.unexpected("the end")),
    }
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<(Token, usize)>,
    at: usize,
    depth: usize,
    tests: HashMap<Test, usize>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn mark_after(&self, ahead: usize) -> &'static str {
        match self.tokens.get(self.at + ahead) {
            Some((Token::Mark(mark), _)) => mark,
            _ => "",
        }
    }

    fn mark(&self) -> &'static str {
        self.mark_after(0)
    }

    fn eat(&mut self, mark: &str) -> bool {
        let found = self.mark() == mark;
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, mark: &str) -> Result<(), Error> {
        if self.eat(mark) {
            Ok(())
        } else {
            Err(self.unexpected(&format!("{mark:?}")))
        }
    }

    fn offset(&self) -> usize {
        self.tokens
            .get(self.at)
            .map_or(self.text.len(), |&(_, offset)| offset)
    }

    fn fault(&self, message: impl Into<String>) -> Error {
        fault(self.text, self.offset(), message)
    }

    fn unexpected(&self, expected: &str) -> Error {
        let found = match self.peek() {
            None => "the end".to_owned(),
            Some(Token::Star) => "\"*\"".to_owned(),
            Some(Token::Mark(mark)) => format!("{mark:?}"),
            Some(Token::Name(name)) => format!("{:?}", shortened(name)),
            Some(Token::Text(_)) => "a string".to_owned(),
            Some(Token::Number(number)) => format!("{number}"),
            Some(Token::Variable(name)) => {
                let name = shortened(name);
                return self.fault(format!("variables are not supported, found ${name}"));
            }
        };
        self.fault(format!("expected {expected}, found {found}"))
    }

    /// Run `inner` one level deeper, unless that is too deep.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if self.depth == MAX_NESTING {
            return Err(self.fault(format!("nested more than {MAX_NESTING} deep")));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Parse operators of this precedence and stronger ones.
    fn level(&mut self, level: usize) -> Result<Expr, Error> {
        if level == UNION_LEVEL && self.mark() == "-" {
            let start = self.at;
            while self.eat("-") {}
            let odd = (self.at - start) % 2 == 1;
            let inner = self.level(level)?;
            // Even with an even number of signs, the operand becomes a number.
            let once = Expr::Negative(Box::new(inner));
            return Ok(if odd {
                once
            } else {
                Expr::Negative(Box::new(once))
            });
        }
        let first = self.operand(level)?;
        let mut rest = Vec::new();
        while let Some(&(_, op)) = LEVELS[level].iter().find(|(mark, _)| *mark == self.mark()) {
            self.at += 1;
            let operand = if level == UNION_LEVEL {
                self.operand(level)?
            } else {
                self.level(level + 1)?
            };
            rest.push((op, operand));
        }
        Ok(if rest.is_empty() {
            first
        } else {
            Expr::Chain(Box::new(first), rest)
        })
    }

    fn operand(&mut self, level: usize) -> Result<Expr, Error> {
        if level == UNION_LEVEL {
            self.path()
        } else {
            self.level(level + 1)
        }
    }

    fn path(&mut self) -> Result<Expr, Error> {
        let mut path = Path {
            start: Start::Context,
            predicates: Vec::new(),
            steps: Vec::new(),
        };
        let starts_expr = match self.peek() {
            Some(Token::Number(_) | Token::Text(_)) => true,
            Some(Token::Variable(_)) => return Err(self.unexpected("an expression")),
            Some(Token::Name(name)) => self.mark_after(1) == "(" && node_type(name).is_none(),
            _ => self.mark() == "(",
        };
        if starts_expr {
            let primary = self.primary()?;
            let predicates = self.predicates()?;
            if predicates.is_empty() && !self.mark().starts_with('/') {
                return Ok(primary);
            }
            path.predicates = predicates;
            path.start = Start::Expr(primary);
        } else if self.mark().starts_with('/') {
            path.start = Start::Document;
            if self.mark() == "/" {
                self.at += 1;
                if !self.starts_step() {
                    return Ok(Expr::Path(Box::new(path)));
                }
                let step = self.step()?;
                path.steps.push(step);
            }
        } else {
            let step = self.step()?;
            path.steps.push(step);
        }
        loop {
            if self.eat("//") {
                let all = self.plain_step(Axis::DescendantOrSelf);
                path.steps.push(all);
            } else if !self.eat("/") {
                break;
            }
            let step = self.step()?;
            path.steps.push(step);
        }
        path.steps = shorten(path.steps);
        Ok(Expr::Path(Box::new(path)))
    }

    fn primary(&mut self) -> Result<Expr, Error> {
        let token = self.peek().cloned();
        match token {
            Some(Token::Number(number)) => {
                self.at += 1;
                Ok(Expr::Number(number))
            }
            Some(Token::Text(text)) => {
                self.at += 1;
                Ok(Expr::Text(text))
            }
            Some(Token::Name(name)) => self.call(&name),
            _ => {
                self.expect("(")?;
                let inner = self.nested(|parser| parser.level(0))?;
                self.expect(")")?;
                Ok(inner)
            }
        }
    }

    fn call(&mut self, name: &str) -> Result<Expr, Error> {
        let Some(&(_, function, least, most)) = FUNCTIONS.iter().find(|(known, ..)| *known == name)
        else {
            let known: Vec<&str> = FUNCTIONS.iter().map(|(name, ..)| *name).collect();
            let (known, name) = (known.join(", "), shortened(name));
            return Err(self.fault(format!(
                "unsupported function {name}(); expected one of {known}"
            )));
        };
        let start = self.at;
        self.at += 1;
        self.expect("(")?;
        let mut arguments = Vec::new();
        if !self.eat(")") {
            loop {
                arguments.push(self.nested(|parser| parser.level(0))?);
                if !self.eat(",") {
                    break;
                }
            }
            self.expect(")")?;
        }
        if (least..=most).contains(&arguments.len()) {
            return Ok(Expr::Call(function, arguments));
        }
        self.at = start;
        let takes = match (least, most) {
            (2, usize::MAX) => "2 or more".to_owned(),
            (least, most) if least == most => least.to_string(),
            (least, most) => format!("{least} to {most}"),
        };
        Err(self.fault(format!(
            "{name}() takes {takes} arguments, found {}",
            arguments.len()
        )))
    }

    fn predicates(&mut self) -> Result<Vec<Expr>, Error> {
        let mut found = Vec::new();
        while self.eat("[") {
            found.push(self.nested(|parser| parser.level(0))?);
            self.expect("]")?;
        }
        Ok(found)
    }

    fn starts_step(&self) -> bool {
        matches!(self.peek(), Some(Token::Name(_) | Token::Star))
            || matches!(self.mark(), "." | ".." | "@")
    }

    fn step(&mut self) -> Result<Step, Error> {
        for (mark, axis) in [(".", Axis::Itself), ("..", Axis::Parent)] {
            if self.eat(mark) {
                return Ok(self.plain_step(axis));
            }
        }
        let mut axis = Axis::Child;
        if self.eat("@") {
            axis = Axis::Attribute;
        } else if let (Some(Token::Name(name)), "::") = (self.peek(), self.mark_after(1)) {
            let Some(&(_, known)) = AXES.iter().find(|(known, _)| known == name) else {
                let known: Vec<&str> = AXES.iter().map(|(name, _)| *name).collect();
                let (known, name) = (known.join(", "), shortened(name));
                return Err(self.fault(format!(
                    "unsupported axis {name}::; expected one of {known}"
                )));
            };
            axis = known;
            self.at += 2;
        }
        let test = self.test()?;
        let predicates = self.predicates()?;
        Ok(self.new_step(axis, test, predicates))
    }

    /// Make the step `axis::node()`.
    fn plain_step(&mut self, axis: Axis) -> Step {
        self.new_step(axis, Test::Node, Vec::new())
    }

    fn new_step(&mut self, axis: Axis, test: Test, predicates: Vec<Expr>) -> Step {
        let next = self.tests.len();
        let test_id = *self.tests.entry(test.clone()).or_insert(next);
        Step {
            axis,
            test,
            test_id,
            counts: predicates.iter().any(may_count),
            predicates,
        }
    }

    fn test(&mut self) -> Result<Test, Error> {
        let token = self.peek().cloned();
        let test = match token {
            Some(Token::Star) => Test::Any,
            Some(Token::Name(name)) if self.mark_after(1) == "(" => {
                let Some(test) = node_type(&name) else {
                    let name = shortened(&name);
                    return Err(self.fault(format!("function {name}() cannot be a step")));
                };
                self.at += 2;
                if self.mark() != ")" {
                    return Err(self.fault(format!("{name}() takes no arguments")));
                }
                test
            }
            Some(Token::Name(name)) => match name.split_once(':') {
                Some((prefix, "*")) => Test::Prefix(prefix.to_owned()),
                Some((prefix, local)) => Test::Qualified(prefix.to_owned(), local.to_owned()),
                None => Test::Name(name),
            },
            _ => return Err(self.unexpected("a step")),
        };
        self.at += 1;
        Ok(test)
    }
}

fn node_type(name: &str) -> Option<Test> {
    match name {
        "text" => Some(Test::Text),
        "comment" => Some(Test::Comment),
        "processing-instruction" => Some(Test::Instruction),
        "node" => Some(Test::Node),
        _ => None,
    }
}

/// Shorten `//name`, which is `/descendant-or-self::node()/child::name`, to `/descendant::name` if
/// no predicate depends on positions; this avoids a list of all nodes.
fn shorten(steps: Vec<Step>) -> Vec<Step> {
    let mut short: Vec<Step> = Vec::with_capacity(steps.len());
    for mut step in steps {
        let after_all = short.last().is_some_and(|last| {
            last.axis == Axis::DescendantOrSelf
                && last.test == Test::Node
                && last.predicates.is_empty()
        });
        if after_all && step.axis == Axis::Child && !step.counts {
            short.pop();
            step.axis = Axis::Descendant;
        }
        short.push(step);
    }
    short
}
