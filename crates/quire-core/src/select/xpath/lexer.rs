//! Splits an `XPath` expression into tokens.
//!
//! The rules of `XPath` 1.0 section 3.7, by which `*`, `and`, `or`, `div` and `mod` are operators
//! or names depending on the token before them, are applied here, so that the parser sees no
//! ambiguity.

use crate::base::error::Error;
use crate::select::fault;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name, with its prefix if it has one (`svg:path`); also `svg:*`.
    Name(String),
    /// A quoted string.
    Text(String),
    /// A number.
    Number(f64),
    /// `$name`.
    Variable(String),
    /// Any operator, bracket or mark: `::`, `//`, `!=`, `and`, ...
    Mark(&'static str),
    /// `*` as a name test.
    Star,
}

/// Two characters before one, so that `//` is not read as two `/`.
const MARKS: [&str; 23] = [
    "::", "//", "..", "!=", "<=", ">=", "(", ")", "[", "]", ".", "@", ",", "/", "|", "+", "-", "=",
    "<", ">", ":", "!", "*",
];

const OPERATOR_NAMES: [&str; 4] = ["and", "or", "div", "mod"];

/// Return the tokens with their byte offsets.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, usize)>, Error> {
    let mut found: Vec<(Token, usize)> = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let start = at;
        if matches!(first, ' ' | '\t' | '\n' | '\r') {
            at += 1;
            continue;
        }
        let operand_before = found.last().is_some_and(|(token, _)| ends_operand(token));
        let token = if first == '"' || first == '\'' {
            let length = rest[1..].find(first);
            let length =
                length.ok_or_else(|| fault(text, start, "the string has no closing quote"))?;
            at += length + 2;
            Token::Text(rest[1..=length].to_owned())
        } else if first.is_ascii_digit()
            || (first == '.' && rest[1..].starts_with(|next: char| next.is_ascii_digit()))
        {
            let whole = rest
                .find(|it: char| !it.is_ascii_digit())
                .unwrap_or(rest.len());
            let length = match rest[whole..].strip_prefix('.') {
                Some(after) => {
                    whole
                        + 1
                        + after
                            .find(|it: char| !it.is_ascii_digit())
                            .unwrap_or(after.len())
                }
                None => whole,
            };
            at += length;
            Token::Number(rest[..length].parse().unwrap_or(f64::NAN))
        } else if first == '$' {
            let length = name_length(&rest[1..]);
            at += 1 + length;
            Token::Variable(rest[1..=length].to_owned())
        } else if name_length(rest) > 0 {
            let name = qualified_name(rest);
            at += name.len();
            match OPERATOR_NAMES
                .iter()
                .find(|&&operator| operand_before && operator == name)
            {
                Some(operator) => Token::Mark(operator),
                None => Token::Name(name.to_owned()),
            }
        } else if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            at += mark.len();
            if *mark == "*" && !operand_before {
                Token::Star
            } else {
                Token::Mark(mark)
            }
        } else {
            return Err(fault(
                text,
                start,
                format!("unexpected character {first:?}"),
            ));
        };
        found.push((token, start));
    }
    Ok(found)
}

/// Whether an operator follows this token, not an operand.
fn ends_operand(token: &Token) -> bool {
    match token {
        Token::Mark(mark) => matches!(*mark, ")" | "]" | "." | ".."),
        _ => true,
    }
}

/// Return the `name`, `prefix:name` or `prefix:*` at the start; does not include the `::` of an
/// axis.
fn qualified_name(text: &str) -> &str {
    let prefix = name_length(text);
    let Some(after) = text[prefix..].strip_prefix(':') else {
        return &text[..prefix];
    };
    let local = if after.starts_with('*') {
        1
    } else {
        name_length(after)
    };
    if local == 0 {
        &text[..prefix]
    } else {
        &text[..=prefix + local]
    }
}

/// Return the length in bytes of the name without colon at the start of `text`.
pub(in crate::select) fn name_length(text: &str) -> usize {
    let starts = |it: char| it.is_ascii_alphabetic() || it == '_' || !it.is_ascii();
    if !text.starts_with(starts) {
        return 0;
    }
    let part = |it: char| starts(it) || it.is_ascii_digit() || it == '-' || it == '.';
    text.find(|it: char| !part(it)).unwrap_or(text.len())
}
