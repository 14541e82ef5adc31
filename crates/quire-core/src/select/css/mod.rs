//! CSS selectors, level 4: parsed by the `selectors` crate, evaluated by linear passes over
//! columns.
//!
//! The crate only parses; its matcher is not used, because it recurses into the page for `:has()`
//! and walks ancestors for every node. Here `evaluate` computes, for each compound, the set of all
//! nodes that match it, and moves whole sets along combinators: `nodes × parts of the selector`, no
//! backtracking, no caches to keep warm. The crate's matcher is the oracle in the tests.
//!
//! Supported: type, universal, id, class, attributes with every operator and the `i`/`s` flags, all
//! combinators, `:is :where :not :has`, `:nth-*()` with `of`, `:first-* :last-* :only-*`, `:empty
//! :root :scope`, namespaces, and the states in `names::State` (links and form controls). As in
//! browsers, `:has()` cannot be nested. Unlike in browsers, a mistake inside `:is()` is an error,
//! not a silent miss.
//!
//! * Prefixes in HTML: `html`, `svg`, `math`. In XML a prefix is the one written in the
//!   page (`dc|title`), and a bare name matches the local name under any prefix.
//! * JSON: members are the elements. The parent of a member is the nearest member around it;
//!   objects and arrays are skipped, so members of the objects of one array are siblings.

use std::cell::RefCell;

use cssparser::{
    BasicParseErrorKind, Delimiter, ParseError, ParseErrorKind, Parser as Input, Token,
};
use selectors::parser::{Parser, Selector, SelectorList, SelectorParseErrorKind as Kind};

use super::{Limits, Page, Steps, check_length, fault, html_namespace};
use crate::base::error::{Error, shortened};
use names::{Name, State, Types};

mod columns;
mod evaluate;
mod few;
mod names;
mod needs;
mod nth;
mod sets;
mod states;

// 32: far more than any selector in use; both the crate's parser and the evaluation recurse once
// per parenthesis.
const MAX_NESTING: u8 = 32;

/// A parsed selector, for use on any number of pages.
#[derive(Clone, Debug)]
pub struct CssSelector {
    text: String,
    list: SelectorList<Types>,
    /// A prefix that HTML does not have, and its offset.
    prefix: Option<(String, usize)>,
}

impl CssSelector {
    /// Parse a selector, or a comma-separated list of selectors.
    ///
    /// ```
    /// use quire_core::select::CssSelector;
    ///
    /// assert!(CssSelector::parse("table.prices > tbody tr:nth-child(2n+1) a[href^='/']").is_ok());
    /// let error = CssSelector::parse("p, a:hover").unwrap_err().to_string();
    /// assert!(error.contains(":hover is not supported"), "{error}");
    /// assert!(error.contains("at character 4"), "{error}");
    /// ```
    pub fn parse(text: &str) -> Result<Self, Error> {
        check_length(text)?;
        let reader = Reader::default();
        let mut input = Input::new(text);
        input.set_nested_block_limit(MAX_NESTING);
        let mut selectors = Vec::new();
        loop {
            let mut end = 0;
            let parsed = input.parse_until_before(Delimiter::Comma, |input| {
                let selector = Selector::parse(&reader, input);
                let selector = selector.and_then(|it| Ok(input.expect_exhausted().map(|()| it)?));
                end = input.position().byte_index();
                selector
            });
            selectors.push(parsed.map_err(|error| reader.explain(text, end, &error.kind))?);
            match input.next() {
                Ok(&Token::Comma) => {}
                _ => break,
            }
        }
        let prefix = reader
            .prefixes
            .into_inner()
            .into_iter()
            .find(|prefix| html_namespace(prefix).is_none());
        let prefix = prefix.map(|prefix| {
            let at = find_ignoring_case(text, &format!("{prefix}|")).unwrap_or(0);
            (prefix, at)
        });
        Ok(Self {
            text: text.to_owned(),
            list: SelectorList::from_iter(selectors.into_iter()),
            prefix,
        })
    }

    /// Return the selector as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Return the elements below `scope` that match, in document order; 0 searches the whole page.
    ///
    /// Works like `querySelectorAll`: the selector is matched against the whole page, so parts left
    /// of the last combinator may match outside `scope`; `scope` itself is never in the result, and
    /// is the node for `:scope`.
    pub fn select(&self, page: &dyn Page, scope: u32, limits: Limits) -> Result<Vec<u32>, Error> {
        self.check(page, scope)?;
        let steps = Steps::new(&self.text, limits);
        let window = if needs::whole_page(&self.list) {
            None
        } else {
            Some(scope)
        };
        let found =
            evaluate::Evaluation::new(page, &steps, scope, window)?.list(self.list.slice())?;
        let end = scope + page.sizes()[scope as usize];
        steps.take((end - scope) as usize)?;
        Ok((scope + 1..end)
            .filter(|&node| found[node as usize])
            .collect())
    }

    /// Whether one node matches; `:scope` is the node itself. Always false for nodes that are not
    /// elements.
    pub fn matches(&self, page: &dyn Page, node: u32, limits: Limits) -> Result<bool, Error> {
        self.check(page, node)?;
        if node == 0 {
            return Ok(false);
        }
        let steps = Steps::new(&self.text, limits);
        let window = match needs::around(&self.list) {
            needs::Around::Page => None,
            needs::Around::Siblings => Some(page.parents()[node as usize]),
            needs::Around::Subtree => Some(node),
        };
        let found =
            evaluate::Evaluation::new(page, &steps, node, window)?.list(self.list.slice())?;
        Ok(found[node as usize])
    }

    fn check(&self, page: &dyn Page, node: u32) -> Result<(), Error> {
        if node >= page.n() {
            let message = format!(
                "node {node} does not exist; the page has {} nodes",
                page.n()
            );
            return Err(Error::Tree { message });
        }
        match &self.prefix {
            Some((prefix, at)) if page.is_html() => {
                let known = "expected html, svg or math";
                let prefix = shortened(prefix);
                Err(fault(
                    &self.text,
                    *at,
                    format!("unknown namespace prefix {prefix:?}; {known}"),
                ))
            }
            _ => Ok(()),
        }
    }
}

/// Return the elements below `scope` (0: of the whole page) that match, in document order.
///
/// Parses the selector each time; keep a [`CssSelector`] to use it again.
pub fn css(page: &dyn Page, selector: &str, scope: u32, limits: Limits) -> Result<Vec<u32>, Error> {
    CssSelector::parse(selector)?.select(page, scope, limits)
}

/// Tells the parser of the crate which names are supported, and remembers the first that is not.
#[derive(Default)]
struct Reader {
    prefixes: RefCell<Vec<String>>,
    unknown: RefCell<Option<String>>,
}

impl Reader {
    fn refuse<T>(&self, name: String) -> Result<T, ParseError<Kind>> {
        *self.unknown.borrow_mut() = Some(name);
        Err(ParseError::custom(Kind::UnsupportedPseudoClassOrElement))
    }

    fn explain(&self, text: &str, end: usize, kind: &ParseErrorKind<Kind>) -> Error {
        if let (ParseErrorKind::Custom(Kind::UnsupportedPseudoClassOrElement), Some(name)) =
            (kind, &*self.unknown.borrow())
        {
            let at = find_ignoring_case(text, name.trim_end_matches("()")).unwrap_or(end);
            let name = shortened(name);
            return fault(text, at, format!("{name} is not supported"));
        }
        let message = match kind {
            ParseErrorKind::Basic(BasicParseErrorKind::EndOfInput) => {
                "unexpected end of the selector"
            }
            ParseErrorKind::Basic(BasicParseErrorKind::TooManyNestedBlocks) => {
                "parentheses are nested more than 32 deep"
            }
            ParseErrorKind::Basic(_) => "unexpected token",
            ParseErrorKind::Custom(kind) => words(kind),
        };
        fault(text, end, message)
    }
}

fn words(kind: &Kind) -> &'static str {
    match kind {
        Kind::EmptySelector => "expected a selector, found nothing",
        Kind::DanglingCombinator => "expected a selector after the combinator",
        Kind::NoQualifiedNameInAttributeSelector | Kind::InvalidQualNameInAttr => {
            "expected an attribute name after '['"
        }
        Kind::UnexpectedTokenInAttributeSelector => "expected ']' or one of = ~= |= ^= $= *=",
        Kind::BadValueInAttr => "expected a name or a quoted string as attribute value",
        Kind::ExpectedBarInAttr => "expected '|' after the namespace of an attribute",
        Kind::ClassNeedsIdent => "expected a class name after '.'",
        Kind::NoIdentForPseudo
        | Kind::PseudoElementExpectedColon
        | Kind::PseudoElementExpectedIdent => "expected a name after ':'",
        Kind::ExplicitNamespaceUnexpectedToken => "expected a name or '*' after '|'",
        Kind::InvalidState => "not allowed here (:has() inside :has(), or a combinator)",
        _ => "not a valid selector",
    }
}

fn find_ignoring_case(text: &str, part: &str) -> Option<usize> {
    text.to_ascii_lowercase().find(&part.to_ascii_lowercase())
}

impl<'i> Parser<'i> for Reader {
    type Impl = Types;
    type Error = Kind;

    fn parse_nth_child_of(&self) -> bool {
        true
    }

    fn parse_is_and_where(&self) -> bool {
        true
    }

    fn parse_has(&self) -> bool {
        true
    }

    // A typo must not look like "nothing found".
    fn allow_forgiving_selectors(&self) -> bool {
        false
    }

    fn parse_non_ts_pseudo_class(&self, name: &str) -> Result<State, ParseError<Kind>> {
        State::from_name(name).map_or_else(|| self.refuse(format!(":{name}")), Ok)
    }

    fn parse_non_ts_functional_pseudo_class(
        &self,
        name: &str,
        _: &mut Input<'i>,
        _: bool,
    ) -> Result<State, ParseError<Kind>> {
        self.refuse(format!(":{name}()"))
    }

    fn parse_pseudo_element(&self, name: &str) -> Result<names::NoPseudoElement, ParseError<Kind>> {
        self.refuse(format!("::{name}"))
    }

    fn parse_functional_pseudo_element(
        &self,
        name: &str,
        _: &mut Input<'i>,
    ) -> Result<names::NoPseudoElement, ParseError<Kind>> {
        self.refuse(format!("::{name}()"))
    }

    fn namespace_for_prefix(&self, prefix: &Name) -> Option<Name> {
        self.prefixes.borrow_mut().push(prefix.0.to_string());
        Some(prefix.clone())
    }
}

#[cfg(test)]
mod tests;
