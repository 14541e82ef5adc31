//! Style sheets of untrusted pages: what of them may stand in one of our documents.
//!
//! CSS goes in, CSS comes out that loads nothing and cannot hide marks. Everything is parsed with
//! `cssparser` and written again from tokens; nothing is copied. Only the properties, functions,
//! pseudo-classes and at-rules listed here are kept.
//!
//! Two choices worth knowing before changing these files:
//!
//! * `!important` is always dropped. The document puts the result into a cascade layer and its own
//!   rules outside of layers with `!important`, so its own rules win whatever the selectors say.
//! * A declaration that could hide something (`display: none`, `position`, `opacity`, …) is written
//!   with `:where(:not(.quire-holds))` behind the selector: it works everywhere but on elements that
//!   are marked or have marks in them. `:where` has no specificity, so the page's cascade stays.
//!
//! `html` and `body` are written as `quire-html` and `quire-body`, the elements that stand for them.
//! Every function is linear in its input; blocks nested deeper than [`MAX_DEPTH`] are dropped.
//!
//! | file | job |
//! | --- | --- |
//! | `sheet` | rules and at-rules |
//! | `selectors` | selectors, and which part of them names a pseudo-element |
//! | `properties` | which properties are kept, and which of them can hide |
//! | `tokens` | writes tokens so that they read the same again |

mod properties;
mod selectors;
mod sheet;
mod tokens;

use cssparser::Parser;

/// Blocks and functions nested deeper than this are dropped.
const MAX_DEPTH: u8 = 24;

/// What an element may do with its `style` attribute.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Limits {
    /// The element is marked or has marks in it: nothing that could hide them.
    pub holds_marks: bool,
    /// The style sheets of the page are missing: no sizes and positions that only made sense
    /// together with them and would now leave blank boxes.
    pub is_bare: bool,
}

/// Sanitise a style sheet. If other sheets of the page are missing (`is_bare`), nothing is taken out
/// of its place: it would lie above something else.
///
/// ```
/// use quire_core::style::sanitize_sheet;
///
/// let css = "p { color: red !important; background: url(//a.example); position: absolute }";
/// assert_eq!(sanitize_sheet(css, true), "p{color:red}\n");
/// let css = "@import 'x'; body { display: none }";
/// assert_eq!(sanitize_sheet(css, false), "quire-body:where(:not(.quire-holds)){display:none}\n");
/// ```
#[must_use]
pub fn sanitize_sheet(css: &str, is_bare: bool) -> String {
    let mut input = parser(css);
    let mut out = String::new();
    sheet::write_rules(&mut input, is_bare, &mut out);
    without_tags(out)
}

/// Sanitise the declarations of a `style` attribute.
///
/// ```
/// use quire_core::style::{Limits, sanitize_declarations};
///
/// let css = "color: red; opacity: 0; height: 900px; behavior: url(x)";
/// let plain = Limits::default();
/// assert_eq!(sanitize_declarations(css, plain), "color:red;opacity:0;height:900px");
/// let strict = Limits { holds_marks: true, is_bare: true };
/// assert_eq!(sanitize_declarations(css, strict), "color:red");
/// ```
#[must_use]
pub fn sanitize_declarations(css: &str, limits: Limits) -> String {
    let mut input = parser(css);
    let found = properties::declarations(&mut input);
    let mut out = String::new();
    for declaration in found {
        let hides = declaration.can_hide && limits.holds_marks;
        if hides || (declaration.makes_boxes && limits.is_bare) {
            continue;
        }
        if !out.is_empty() {
            out.push(';');
        }
        out.push_str(&declaration.text);
    }
    without_tags(out)
}

fn parser(css: &str) -> Parser<'_> {
    let mut input = Parser::new(css);
    input.set_nested_block_limit(MAX_DEPTH);
    input
}

/// Escape every `<`, which is only left in strings and names, so that nothing ends the style sheet.
fn without_tags(css: String) -> String {
    if css.contains('<') {
        css.replace('<', "\\3c ")
    } else {
        css
    }
}

#[cfg(test)]
mod tests {
    use super::{Limits, sanitize_declarations};

    fn sanitize_sheet(css: &str) -> String {
        super::sanitize_sheet(css, false)
    }

    fn holder(css: &str) -> String {
        let limits = Limits {
            holds_marks: true,
            is_bare: false,
        };
        sanitize_declarations(css, limits)
    }

    #[test]
    fn nothing_that_loads_is_kept_however_it_is_spelled() {
        for css in [
            "background:url(//a.example)",
            "background:URL('//a.example')",
            r"background:\75 rl(//a.example)",
            r"\62 ackground:ur\6c(//a.example)",
            r"\element(1);background:\75 rl(//a.example)",
            "background:u/**/rl(//a.example)",
            "background:image-set('//a.example' 1x)",
            "background:-webkit-image-set(url(//a.example) 1x)",
            "background:cross-fade('//a.example', red)",
            "background:src('//a.example')",
            "--x:url(//a.example)",
            "cursor:url(//a.example),auto",
            "content:url(//a.example)",
            "width:calc(1px + url(//a.example))",
            "width:expression(alert(1))",
            "behavior:url(x)",
            "-moz-binding:url(x)",
            "list-style:url(//a.example)",
            "background:url(//a.example",
            "background:\"//a.example\nx",
        ] {
            let found = sanitize_declarations(css, Limits::default());
            assert!(!found.contains("a.example"), "{css}: {found}");
            assert!(!found.contains("url"), "{css}: {found}");
            let sheet = sanitize_sheet(&format!("p{{{css}}}"));
            assert!(!sheet.contains("a.example"), "{css}: {sheet}");
        }
        for css in [
            "@import '//a.example';",
            "@import url(//a.example);",
            r"@\69mport '//a.example';",
            "@font-face{font-family:x;src:url(//a.example)}",
            "@namespace url(//a.example);",
            "@media print{@import '//a.example';}",
            "@document url(//a.example){p{color:red}}",
            "@supports (background:url(//a.example)){p{color:red}}",
            "a[href='//a.example'] p{background:url(x)}",
        ] {
            assert_eq!(sanitize_sheet(css), "", "{css}");
        }
    }

    #[test]
    fn a_token_reads_the_same_again() {
        let twice = |css: &str| {
            let once = sanitize_sheet(css);
            assert_eq!(sanitize_sheet(&once), once, "{css}");
            once
        };
        assert_eq!(twice("p{color:a/**/b}"), "p{color:a/**/b}\n");
        assert_eq!(twice("a/**/.b>c , d{color:red}"), "a.b>c,d{color:red}\n");
        assert_eq!(
            twice(r#"p::before{content:"</style><b>\"\a"}"#),
            "p::before{content:\"\\3c /style>\\3c b>\\\"\\a \"}\n"
        );
        assert_eq!(
            twice("@media (min-width:4em) and (x:1){p{color:red}}"),
            "@media (min-width:4em) and (x:1){p{color:red}\n}\n"
        );
    }

    #[test]
    fn what_hides_spares_elements_with_marks() {
        assert_eq!(
            sanitize_sheet("a, b::after { display: none; color: red }"),
            "a{color:red}\na:where(:not(.quire-holds)){display:none}\nb::after{display:none;color:red}\n"
        );
        for css in [
            "display:none",
            "display:var(--x)",
            "opacity:0",
            "visibility:hidden",
            "margin-left:-99px",
            "margin:calc(0px - 9999px)",
            "width:3px",
            "flex-direction:row-reverse",
            "columns:1px",
            "text-indent:-9999px",
            "position:absolute",
            "transform:scale(0)",
            "clip-path:none",
            "overflow:hidden",
            "z-index:3",
            "width:90000px",
            "filter:opacity(0)",
        ] {
            assert_eq!(holder(css), "", "{css}");
        }
        for css in ["display:flex;margin:0 auto", "width:300px", "margin:0 3px"] {
            assert_eq!(holder(css), css);
        }
        assert_eq!(
            holder("justify-content:flex-end;margin:calc(-1*var(--x)) 2px"),
            "justify-content:safe flex-end;margin:max(0px,calc(-1*var(--x))) 2px"
        );
    }

    #[test]
    fn names_of_ours_select_nothing() {
        for css in [
            ".quire-ins{color:red}",
            r".\71 uire-ins{color:red}",
            ".QUIRE-INS{color:red}",
            "[class=quire-del]{color:red}",
            "p:not(.quire-holds){color:red}",
            "quire-body{color:red}",
            "#quire-bar{color:red}",
            "p::first-line{color:red}",
            "p::selection{color:red}",
            ":host{color:red}",
        ] {
            assert_eq!(sanitize_sheet(css), "", "{css}");
        }
        assert_eq!(
            sanitize_sheet("body.x, :root, .body, html>p {color:red}"),
            "quire-body.x,.quire-root,.body,quire-html>p{color:red}\n"
        );
    }

    #[test]
    fn deep_and_long_sheets_are_dropped_or_kept_in_linear_time() {
        for open in ["@media print{", "p{", "(", "p{color:rgb(", "[", ":not("] {
            let _ = sanitize_sheet(&open.repeat(100_000));
            let _ = sanitize_declarations(&open.repeat(100_000), Limits::default());
        }
        assert_eq!(sanitize_sheet(&"p{color:red}".repeat(9)).lines().count(), 9);
    }
}
