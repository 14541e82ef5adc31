//! Selectors, written again from tokens.

use cssparser::{ParseError, Parser, Token};

use super::tokens::Written;

/// The start of all names that are ours.
const OURS: &[u8] = b"quire-";

/// Functional pseudo-classes that are kept.
const FUNCTIONS: [&str; 11] = [
    "not",
    "is",
    "where",
    "has",
    "matches",
    "lang",
    "dir",
    "nth-child",
    "nth-last-child",
    "nth-of-type",
    "nth-last-of-type",
];
/// Pseudo-elements that are kept. Others style the text itself, and so the text of marks.
const ELEMENTS: [&str; 4] = ["before", "after", "marker", "placeholder"];

type Result<T> = std::result::Result<T, ParseError<()>>;

/// A selector without commas.
pub(super) struct Selector {
    pub(super) text: String,
    /// Whether it selects a pseudo-element.
    pub(super) is_pseudo: bool,
}

/// Read a list of selectors; those that cannot be kept are left out.
pub(super) fn selectors(input: &mut Parser<'_>) -> Vec<Selector> {
    input.parse_comma_separated_ignoring_errors(|input| {
        let mut out = Written::new();
        let is_pseudo = write(input, &mut out, true)?;
        out.trim();
        if out.text.is_empty() {
            return Err(ParseError::<()>::unexpected_token());
        }
        Ok(Selector {
            text: out.text,
            is_pseudo,
        })
    })
}

/// Write a selector, or the argument of a functional pseudo-class. Tells whether it ends with a
/// pseudo-element.
fn write(input: &mut Parser<'_>, out: &mut Written, is_top: bool) -> Result<bool> {
    let mut is_pseudo = false;
    // Whether a name that comes now is the name of an element.
    let mut is_type = true;
    while let Ok(token) = input.next_including_whitespace() {
        let token = token.clone();
        if is_pseudo && !matches!(token, Token::WhiteSpace(_)) {
            return Err(ParseError::unexpected_token());
        }
        let mut next_is_type = true;
        match &token {
            Token::Ident(name) => {
                ours(name)?;
                match (is_type, name.to_ascii_lowercase().as_str()) {
                    (true, "html") => out.push(&Token::Ident("quire-html".into())),
                    (true, "body") => out.push(&Token::Ident("quire-body".into())),
                    _ => out.push(&token),
                }
            }
            Token::IDHash(name) | Token::Hash(name) => {
                ours(name)?;
                out.push(&token);
            }
            Token::Delim('.') => {
                out.push(&token);
                next_is_type = false;
            }
            Token::Delim('>' | '+' | '~' | '*' | '-') | Token::WhiteSpace(_) => out.push(&token),
            // Only in arguments: lists, and `2n+1`.
            Token::Comma | Token::Number { .. } | Token::Dimension { .. } if !is_top => {
                out.push(&token);
            }
            Token::SquareBracketBlock => {
                out.push(&token);
                input.parse_nested_block(|inside| write_attribute(inside, out))?;
                out.close(']');
            }
            Token::Colon => is_pseudo = write_pseudo(input, out, is_top)?,
            _ => return Err(ParseError::unexpected_token()),
        }
        is_type = next_is_type;
    }
    Ok(is_pseudo)
}

/// Write what follows a colon. Tells whether it is a pseudo-element.
fn write_pseudo(input: &mut Parser<'_>, out: &mut Written, is_top: bool) -> Result<bool> {
    let mut token = input.next_including_whitespace()?.clone();
    let is_double = matches!(token, Token::Colon);
    if is_double {
        token = input.next_including_whitespace()?.clone();
    }
    match &token {
        Token::Ident(name) => {
            let name = name.to_ascii_lowercase();
            let is_element = ELEMENTS.contains(&name.as_str()) && (is_double || name != "marker");
            if is_element && is_top {
                out.push(&Token::Colon);
                out.push(&Token::Colon);
                out.push(&token);
                return Ok(true);
            }
            if is_double || is_element || name.starts_with('-') || name.starts_with("first-l") {
                return Err(ParseError::unexpected_token());
            }
            match name.as_str() {
                "host" | "scope" | "fullscreen" | "modal" => {
                    return Err(ParseError::unexpected_token());
                }
                "root" => {
                    out.push(&Token::Delim('.'));
                    out.push(&Token::Ident("quire-root".into()));
                }
                _ => {
                    out.push(&Token::Colon);
                    out.push(&token);
                }
            }
            Ok(false)
        }
        Token::Function(name) if !is_double => {
            if !FUNCTIONS.contains(&name.to_ascii_lowercase().as_str()) {
                return Err(ParseError::unexpected_token());
            }
            out.push(&Token::Colon);
            out.push(&token);
            input.parse_nested_block(|inside| write(inside, out, false))?;
            out.close(')');
            Ok(false)
        }
        _ => Err(ParseError::unexpected_token()),
    }
}

fn write_attribute(input: &mut Parser<'_>, out: &mut Written) -> Result<()> {
    while let Ok(token) = input.next_including_whitespace() {
        let token = token.clone();
        match &token {
            Token::Ident(name) | Token::QuotedString(name) => ours(name)?,
            Token::WhiteSpace(_)
            | Token::Delim('=')
            | Token::IncludeMatch
            | Token::DashMatch
            | Token::PrefixMatch
            | Token::SuffixMatch
            | Token::SubstringMatch => {}
            _ => return Err(ParseError::unexpected_token()),
        }
        out.push(&token);
    }
    Ok(())
}

/// Refuse names of ours.
fn ours(name: &str) -> Result<()> {
    let bytes = name.trim_start().as_bytes();
    if bytes.len() >= OURS.len() && bytes[..OURS.len()].eq_ignore_ascii_case(OURS) {
        return Err(ParseError::unexpected_token());
    }
    Ok(())
}
