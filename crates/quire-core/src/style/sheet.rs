//! Rules and at-rules of a style sheet.

use cssparser::{
    AtRuleParser, CowRcStr, ParseError, Parser, ParserState, QualifiedRuleParser, StyleSheetParser,
    Token,
};

use super::properties::{Declaration, declarations};
use super::selectors::{Selector, selectors};
use super::tokens::Written;

/// Behind a selector: all but elements that are marked or have marks in them.
const SPARED: &str = ":where(:not(.quire-holds))";

type Result<T> = std::result::Result<T, ParseError<()>>;

/// Write the rules of a sheet, or of a block with rules in it.
pub(super) fn write_rules(input: &mut Parser<'_>, is_bare: bool, out: &mut String) {
    let mut rules = Rules { is_bare, out };
    // A rule that cannot be read is dropped, as in browsers; the next one starts after it.
    StyleSheetParser::new(input, &mut rules).for_each(drop);
}

struct Rules<'o> {
    is_bare: bool,
    out: &'o mut String,
}

impl<'i> QualifiedRuleParser<'i> for Rules<'_> {
    type Prelude = Vec<Selector>;
    type QualifiedRule = ();
    type Error = ();

    fn parse_prelude(&mut self, input: &mut Parser<'i>) -> Result<Vec<Selector>> {
        let found = selectors(input);
        if found.is_empty() {
            return Err(ParseError::unexpected_token());
        }
        Ok(found)
    }

    fn parse_block(
        &mut self,
        prelude: Vec<Selector>,
        _start: &ParserState,
        input: &mut Parser<'i>,
    ) -> Result<()> {
        let mut found = declarations(input);
        found.retain(|declaration| !(self.is_bare && declaration.takes_out));
        let elements: Vec<&Selector> = prelude.iter().filter(|each| !each.is_pseudo).collect();
        let pseudo: Vec<&Selector> = prelude.iter().filter(|each| each.is_pseudo).collect();
        self.write(&elements, "", &found, |declaration| !declaration.can_hide);
        self.write(&elements, SPARED, &found, |declaration| {
            declaration.can_hide
        });
        // A pseudo-element has no marks in it, and marks are painted above it.
        self.write(&pseudo, "", &found, |_| true);
        Ok(())
    }
}

impl Rules<'_> {
    fn write(
        &mut self,
        selectors: &[&Selector],
        behind: &str,
        declarations: &[Declaration],
        is_wanted: impl Fn(&Declaration) -> bool,
    ) {
        let wanted = || declarations.iter().filter(|each| is_wanted(each));
        if selectors.is_empty() || wanted().next().is_none() {
            return;
        }
        for (place, selector) in selectors.iter().enumerate() {
            if place > 0 {
                self.out.push(',');
            }
            self.out.push_str(&selector.text);
            self.out.push_str(behind);
        }
        self.out.push('{');
        for (place, declaration) in wanted().enumerate() {
            if place > 0 {
                self.out.push(';');
            }
            self.out.push_str(&declaration.text);
        }
        self.out.push_str("}\n");
    }
}

impl<'i> AtRuleParser<'i> for Rules<'_> {
    type Prelude = String;
    type AtRule = ();
    type Error = ();

    fn parse_prelude(&mut self, name: CowRcStr<'i>, input: &mut Parser<'i>) -> Result<String> {
        let name = name.to_ascii_lowercase();
        if !matches!(name.as_str(), "media" | "supports" | "layer" | "container") {
            return Err(ParseError::unexpected_token());
        }
        let mut out = Written::new();
        write_condition(input, &mut out)?;
        out.trim();
        let condition = out.text;
        Ok(if condition.is_empty() {
            format!("@{name}")
        } else {
            format!("@{name} {condition}")
        })
    }

    fn rule_without_block(
        &mut self,
        prelude: String,
        _start: &ParserState,
    ) -> std::result::Result<(), ()> {
        if !prelude.starts_with("@layer ") {
            return Err(());
        }
        self.out.push_str(&prelude);
        self.out.push_str(";\n");
        Ok(())
    }

    fn parse_block(
        &mut self,
        prelude: String,
        _start: &ParserState,
        input: &mut Parser<'i>,
    ) -> Result<()> {
        let start = self.out.len();
        self.out.push_str(&prelude);
        self.out.push('{');
        let inside = self.out.len();
        write_rules(input, self.is_bare, self.out);
        if self.out.len() == inside {
            self.out.truncate(start);
        } else {
            self.out.push_str("}\n");
        }
        Ok(())
    }
}

/// Write the condition of an at-rule: names, numbers and parentheses, and nothing else.
fn write_condition(input: &mut Parser<'_>, out: &mut Written) -> Result<()> {
    while let Ok(token) = input.next_including_whitespace() {
        let token = token.clone();
        match &token {
            Token::Ident(_)
            | Token::Number { .. }
            | Token::Percentage { .. }
            | Token::Dimension { .. }
            | Token::WhiteSpace(_)
            | Token::Colon
            | Token::Comma
            | Token::Delim('.' | '/' | '>' | '=') => out.push(&token),
            Token::ParenthesisBlock => {
                out.push(&token);
                input.parse_nested_block(|inside| write_condition(inside, out))?;
                out.close(')');
            }
            _ => return Err(ParseError::unexpected_token()),
        }
    }
    Ok(())
}
