//! Which declarations are kept, and which of them can hide something.

use cssparser::{
    AtRuleParser, CowRcStr, DeclarationParser, ParseError, Parser, ParserState,
    QualifiedRuleParser, RuleBodyItemParser, RuleBodyParser, Token,
};

use super::tokens::Written;

/// A declaration that is kept.
pub(super) struct Declaration {
    pub(super) text: String,
    /// Whether it could make an element, or what is in it, invisible or unreachable.
    pub(super) can_hide: bool,
    /// Whether it gives the element a size or a place that depends on other styles.
    pub(super) makes_boxes: bool,
    /// Whether it takes the element out of its place in the flow, or fixes its height.
    pub(super) takes_out: bool,
}

/// How a property is treated.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Class {
    /// Colours, fonts, borders: marks set these themselves.
    Look,
    /// Places and sizes in the flow; only unusual values can hide.
    Flow,
    /// Can hide with any value.
    Hiding,
}

/// Numbers above this, in any unit, put things out of sight.
const FAR: f32 = 3000.0;
/// Elements of the page stay below the marks.
const MAX_Z_INDEX: f32 = 10_000.0;

/// Whole groups of properties, by their first word.
const LOOKS: &[&str] = &[
    "background",
    "border",
    "font",
    "grid",
    "list",
    "outline",
    "quotes",
    "text",
    "flex",
    "align",
    "justify",
    "place",
];
const LOOK: &[&str] = &[
    "accent-color",
    "appearance",
    "aspect-ratio",
    "border",
    "box-shadow",
    "box-sizing",
    "caption-side",
    "clear",
    "color",
    "column-gap",
    "column-rule",
    "content",
    "counter-increment",
    "counter-reset",
    "counter-set",
    "cursor",
    "empty-cells",
    "float",
    "gap",
    "hyphens",
    "letter-spacing",
    "line-height",
    "object-fit",
    "object-position",
    "order",
    "overflow-wrap",
    "row-gap",
    "tab-size",
    "table-layout",
    "vertical-align",
    "white-space",
    "word-break",
    "word-spacing",
    "word-wrap",
];
const FLOW: &[&str] = &[
    "block-size",
    "display",
    "height",
    "inline-size",
    "margin",
    "max-block-size",
    "max-height",
    "max-inline-size",
    "max-width",
    "min-block-size",
    "min-height",
    "min-inline-size",
    "min-width",
    "padding",
    "width",
];
const HIDING: &[&str] = &[
    "backdrop-filter",
    "columns",
    "writing-mode",
    "bottom",
    "clip",
    "clip-path",
    "direction",
    "filter",
    "inset",
    "isolation",
    "left",
    "mix-blend-mode",
    "opacity",
    "overflow",
    "overflow-x",
    "overflow-y",
    "position",
    "right",
    "rotate",
    "scale",
    "top",
    "transform",
    "translate",
    "visibility",
    "z-index",
];
/// Of these, the ones that take an element out of its place.
const PLACED: &[&str] = &[
    "bottom",
    "inset",
    "left",
    "position",
    "right",
    "rotate",
    "scale",
    "top",
    "transform",
    "translate",
];
/// Of the groups above: these change more than the look.
const NEVER: &[&str] = &[
    "font-size-adjust",
    "font-palette",
    "text-size-adjust",
    "border-image",
    "border-image-source",
    "text-orientation",
];

/// Alignments that can be made safe.
const ALIGNED: &[&str] = &[
    "center",
    "end",
    "flex-end",
    "flex-start",
    "right",
    "self-end",
    "start",
];

/// Functions that are kept in values. None of them loads anything.
const FUNCTIONS: &[&str] = &[
    "var",
    "env",
    "calc",
    "min",
    "max",
    "clamp",
    "rgb",
    "rgba",
    "hsl",
    "hsla",
    "hwb",
    "lab",
    "lch",
    "oklab",
    "oklch",
    "color",
    "color-mix",
    "light-dark",
    "linear-gradient",
    "radial-gradient",
    "conic-gradient",
    "repeating-linear-gradient",
    "repeating-radial-gradient",
    "repeating-conic-gradient",
    "-webkit-linear-gradient",
    "-webkit-radial-gradient",
    "-moz-linear-gradient",
    "-moz-radial-gradient",
    "-o-linear-gradient",
    "repeat",
    "minmax",
    "fit-content",
    "translate",
    "translatex",
    "translatey",
    "translatez",
    "translate3d",
    "scale",
    "scalex",
    "scaley",
    "scale3d",
    "rotate",
    "rotatex",
    "rotatey",
    "rotatez",
    "skew",
    "skewx",
    "skewy",
    "matrix",
    "perspective",
    "blur",
    "brightness",
    "contrast",
    "drop-shadow",
    "grayscale",
    "hue-rotate",
    "invert",
    "opacity",
    "saturate",
    "sepia",
];
/// Of these, the ones that are lengths that cannot be told before they are computed.
const COMPUTED: &[&str] = &["var", "env", "calc", "min", "max", "clamp"];

type Result<T> = std::result::Result<T, ParseError<()>>;

/// Read a list of declarations and keep what may be kept.
pub(super) fn declarations(input: &mut Parser<'_>) -> Vec<Declaration> {
    let mut reader = Reader;
    RuleBodyParser::new(input, &mut reader)
        .filter_map(std::result::Result::ok)
        .flatten()
        .collect()
}

struct Reader;

impl<'i> DeclarationParser<'i> for Reader {
    type Declaration = Option<Declaration>;
    type Error = ();

    fn parse_value(
        &mut self,
        name: CowRcStr<'i>,
        input: &mut Parser<'i>,
        _start: &ParserState,
    ) -> Result<Option<Declaration>> {
        let is_variable = name.starts_with("--");
        let lower = name.to_ascii_lowercase();
        // Names of variables are the only ones in which case counts.
        let mut written = Written::new();
        if is_variable {
            written.push(&Token::Ident(name.clone()));
        } else {
            written.text.push_str(&lower);
        }
        let Some(class) = (if is_variable {
            Some(Class::Look)
        } else {
            class(&lower)
        }) else {
            return Err(ParseError::unexpected_token());
        };
        let mut value = Value {
            out: Written::new(),
            facts: Facts::default(),
            is_margin: lower.starts_with("margin"),
        };
        value.read(input, true)?;
        value.out.trim();
        let facts = value.facts;
        // Margins below zero and far ones move what comes after, so nobody has them.
        let is_pulling = value.is_margin && (facts.is_far || facts.is_negative);
        if value.out.text.is_empty() || (is_variable && facts.is_far) || is_pulling {
            return Err(ParseError::unexpected_token());
        }
        written.text.push(':');
        if is_aligning(&lower) && ALIGNED.contains(&value.out.text.as_str()) {
            written.text.push_str("safe "); // or what does not fit ends up left of the page
        }
        written.text.push_str(&value.out.text);
        // There is no scrolling for these, so that they would stay where they are for ever.
        if lower == "position" && facts.is_pinned {
            return Err(ParseError::unexpected_token());
        }
        if lower == "z-index" && facts.largest > MAX_Z_INDEX {
            return Err(ParseError::unexpected_token());
        }
        let can_hide = match class {
            Class::Look => {
                facts.is_far || facts.is_reverse || (lower == "text-indent" && facts.is_unsure())
            }
            Class::Flow => {
                facts.is_far
                    || (facts.is_unsure() && !value.is_margin)
                    || facts.is_none
                    || squeezes(&lower)
                    || (facts.is_narrow
                        && (lower.ends_with("width") || lower.ends_with("inline-size")))
            }
            Class::Hiding => true,
        };
        let makes_boxes = class == Class::Hiding || (class == Class::Flow && sizes(&lower));
        let takes_out = PLACED.contains(&lower.as_str()) || lower.contains("height");
        Ok(Some(Declaration {
            text: written.text,
            can_hide,
            makes_boxes,
            takes_out: takes_out && lower != "line-height",
        }))
    }
}

impl AtRuleParser<'_> for Reader {
    type Prelude = ();
    type AtRule = Option<Declaration>;
    type Error = ();
}

impl QualifiedRuleParser<'_> for Reader {
    type Prelude = ();
    type QualifiedRule = Option<Declaration>;
    type Error = ();
}

impl RuleBodyItemParser<'_, Option<Declaration>, ()> for Reader {
    fn parse_declarations(&self) -> bool {
        true
    }

    fn parse_qualified(&self) -> bool {
        true
    }
}

/// The class of a property; `None` for those that are dropped.
fn class(name: &str) -> Option<Class> {
    if NEVER.contains(&name) {
        return None;
    }
    if HIDING.contains(&name) || name.starts_with("inset-") || name.starts_with("column-c") {
        return Some(Class::Hiding);
    }
    if FLOW.contains(&name) || name.starts_with("margin-") || name.starts_with("padding-") {
        return Some(Class::Flow);
    }
    let first = name.split('-').next().unwrap_or(name);
    (LOOK.contains(&name) || LOOKS.contains(&first)).then_some(Class::Look)
}

/// Whether a property of the flow sets a height, or the space that stands for one.
fn sizes(name: &str) -> bool {
    name.contains("height")
        || name.contains("block-size")
        || matches!(
            name,
            "padding" | "padding-top" | "padding-bottom" | "min-width" | "width"
        )
}

/// Whether a property places boxes that may not fit.
fn is_aligning(name: &str) -> bool {
    ["justify-", "align-", "place-"]
        .iter()
        .any(|start| name.starts_with(start))
}

/// Whether a property of the flow makes a box smaller or wider than what is in it. What does not
/// fit can end up left of the page or above it, where nobody can scroll.
fn squeezes(name: &str) -> bool {
    matches!(
        name,
        "height" | "max-height" | "block-size" | "max-block-size" | "min-width" | "min-inline-size"
    )
}

/// What is known about a value.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // independent findings
struct Facts {
    is_negative: bool,
    is_computed: bool,
    is_far: bool,
    is_none: bool,
    is_pinned: bool,
    is_reverse: bool,
    is_narrow: bool,
    largest: f32,
}

impl Facts {
    fn is_unsure(&self) -> bool {
        self.is_negative || self.is_computed
    }

    /// Note a number, and whether it is less than some letters wide.
    fn number(&mut self, value: f32, narrow: f32) {
        self.is_narrow |= value < narrow;
        self.is_negative |= value < 0.0;
        self.is_far |= !value.is_finite() || value.abs() > FAR;
        self.largest = self.largest.max(value.abs());
    }
}

/// `0px`
fn zero() -> Token<'static> {
    Token::Dimension {
        has_sign: false,
        value: 0.0,
        int_value: Some(0),
        unit: "px".into(),
    }
}

struct Value {
    out: Written,
    facts: Facts,
    /// Lengths that are computed by the browser must not be below zero.
    is_margin: bool,
}

impl Value {
    /// Read a value up to its end, without `!important`.
    fn read(&mut self, input: &mut Parser<'_>, is_top: bool) -> Result<()> {
        while let Ok(token) = input.next_including_whitespace() {
            let token = token.clone();
            match &token {
                Token::Ident(name) => {
                    let name = name.to_ascii_lowercase();
                    self.facts.is_none |= matches!(name.as_str(), "none" | "contents");
                    self.facts.is_pinned |= matches!(name.as_str(), "fixed" | "sticky");
                    self.facts.is_reverse |= name.ends_with("-reverse");
                    self.out.push(&token);
                }
                Token::Number { value, .. } => {
                    self.facts.number(*value, f32::EPSILON);
                    self.out.push(&token);
                }
                Token::Dimension { value, unit, .. } => {
                    let is_pixels = unit.eq_ignore_ascii_case("px");
                    self.facts
                        .number(*value, if is_pixels { 60.0 } else { 4.0 });
                    self.out.push(&token);
                }
                Token::Percentage { unit_value, .. } => {
                    self.facts.number(unit_value * 100.0, 5.0);
                    self.out.push(&token);
                }
                Token::Hash(_)
                | Token::IDHash(_)
                | Token::QuotedString(_)
                | Token::WhiteSpace(_)
                | Token::Comma
                | Token::Delim('/' | '+' | '-' | '*') => self.out.push(&token),
                Token::Delim('!') if is_top => {
                    input.expect_ident_matching("important")?;
                    input.expect_exhausted()?;
                }
                Token::Function(name) => {
                    let name = name.to_ascii_lowercase();
                    if !FUNCTIONS.contains(&name.as_str()) {
                        return Err(ParseError::unexpected_token());
                    }
                    let is_computed = COMPUTED.contains(&name.as_str());
                    self.facts.is_computed |= is_computed;
                    let is_held = is_computed && is_top && self.is_margin;
                    if is_held {
                        self.out.push(&Token::Function("max".into()));
                        self.out.push(&zero());
                        self.out.push(&Token::Comma);
                    }
                    self.out.push(&token);
                    let was_negative = self.facts.is_negative;
                    input.parse_nested_block(|inside| self.read(inside, false))?;
                    self.out.close(')');
                    if is_held {
                        self.facts.is_negative = was_negative;
                        self.out.close(')');
                    }
                }
                Token::ParenthesisBlock | Token::SquareBracketBlock => {
                    let end = if token == Token::ParenthesisBlock {
                        ')'
                    } else {
                        ']'
                    };
                    self.out.push(&token);
                    input.parse_nested_block(|inside| self.read(inside, false))?;
                    self.out.close(end);
                }
                _ => return Err(ParseError::unexpected_token()),
            }
        }
        Ok(())
    }
}
