//! Writes tokens one after another so that they read the same again.

use std::fmt::Write as _;

use cssparser::{ToCss, Token, TokenSerializationType};

/// CSS written from tokens.
pub(super) struct Written {
    pub(super) text: String,
    previous: TokenSerializationType,
}

impl Written {
    pub(super) fn new() -> Self {
        Self {
            text: String::new(),
            previous: TokenSerializationType::default(),
        }
    }

    /// Write a token; a comment goes before it where it would join the one before.
    pub(super) fn push(&mut self, token: &Token<'_>) {
        let this = token.serialization_type();
        if matches!(token, Token::WhiteSpace(_)) {
            if !self.text.is_empty() && !self.text.ends_with([' ', '(', ',']) {
                self.text.push(' ');
            }
            self.previous = this;
            return;
        }
        if self.previous.needs_separator_when_before(this) {
            self.text.push_str("/**/");
        }
        if matches!(token, Token::Comma) {
            self.trim();
        }
        // Writing to a string does not fail.
        let _ = token.to_css(&mut self.text);
        self.previous = this;
    }

    /// Write an end of a block or function.
    pub(super) fn close(&mut self, end: char) {
        self.trim();
        let _ = self.text.write_char(end);
        self.previous = Token::CloseParenthesis.serialization_type();
    }

    /// Take white space off the end.
    pub(super) fn trim(&mut self) {
        // An escape such as `\a ` ends with a space of its own, but only inside a string or name
        // that goes on: a name that ends with one is followed by a space that counts as its own.
        if self.text.ends_with(' ') && !ends_with_escape(&self.text) {
            self.text.pop();
        }
    }
}

/// Whether a text ends with an escape and the space that ends it, as in `\31 `.
fn ends_with_escape(text: &str) -> bool {
    let digits = text
        .trim_end_matches(' ')
        .trim_end_matches(|c: char| c.is_ascii_hexdigit());
    digits.ends_with('\\')
}
