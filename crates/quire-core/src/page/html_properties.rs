//! Properties of elements in the HTML rules, as bits.

use super::html_names::{
    A, ADDRESS, APPLET, AREA, ARTICLE, ASIDE, B, BASE, BASEFONT, BGSOUND, BIG, BLOCKQUOTE, BODY,
    BR, BUTTON, CAPTION, CENTER, CODE, COL, COLGROUP, COUNT, DD, DETAILS, DIALOG, DIR, DIV, DL, DT,
    EM, EMBED, FIELDSET, FIGCAPTION, FIGURE, FONT, FOOTER, FORM, FRAME, FRAMESET, H1, H2, H3, H4,
    H5, H6, HEAD, HEADER, HGROUP, HR, HTML, I, IFRAME, IMG, INPUT, KEYGEN, LI, LINK, LISTING, MAIN,
    MARQUEE, MENU, META, NAV, NOBR, NOEMBED, NOFRAMES, NOSCRIPT, Name, OBJECT, OL, OPTGROUP,
    OPTION, P, PARAM, PLAINTEXT, PRE, RB, RP, RT, RTC, RUBY, S, SCRIPT, SEARCH, SECTION, SELECT,
    SMALL, SOURCE, SPAN, STRIKE, STRONG, STYLE, SUB, SUMMARY, SUP, TABLE, TBODY, TD, TEMPLATE,
    TEXTAREA, TFOOT, TH, THEAD, TITLE, TR, TRACK, TT, U, UL, VAR, WBR, XMP,
};

/// "Special" in the sense of the tree construction rules.
pub const IS_SPECIAL: u16 = 1;
/// Ends every scope.
pub const IS_SCOPE: u16 = 2;
/// Has no content and no end tag.
pub const IS_VOID: u16 = 4;
/// A formatting element.
pub const IS_FORMATTING: u16 = 8;
/// Its end tag may be implied ("generate implied end tags").
pub const IS_IMPLIED_END: u16 = 16;
/// As above, for "generate all implied end tags thoroughly".
pub const IS_THOROUGHLY_IMPLIED_END: u16 = 32;
/// `h1` to `h6`.
pub const IS_HEADING: u16 = 64;
/// A start tag that closes a `p` and opens an ordinary block.
pub const IS_BLOCK: u16 = 128;
/// `table`, `tbody`, `tfoot`, `thead`, `tr`: foster parenting applies inside these.
pub const IS_TABLE_PART: u16 = 256;
/// A start tag that leaves SVG and MathML.
pub const BREAKS_OUT: u16 = 512;

const fn set(mut table: [u16; COUNT], names: &[Name], bit: u16) -> [u16; COUNT] {
    let mut i = 0;
    while i < names.len() {
        table[names[i] as usize] |= bit;
        i += 1;
    }
    table
}

/// Properties of the HTML element of each name.
pub const PROPERTIES: [u16; COUNT] = {
    let t = [0; COUNT];
    let t = set(
        t,
        &[
            ADDRESS, APPLET, AREA, ARTICLE, ASIDE, BASE, BASEFONT, BGSOUND, BLOCKQUOTE, BODY, BR,
            BUTTON, CAPTION, CENTER, COL, COLGROUP, DD, DETAILS, DIR, DIV, DL, DT, EMBED, FIELDSET,
            FIGCAPTION, FIGURE, FOOTER, FORM, FRAME, FRAMESET, H1, H2, H3, H4, H5, H6, HEAD,
            HEADER, HGROUP, HR, HTML, IFRAME, IMG, INPUT, KEYGEN, LI, LINK, LISTING, MAIN, MARQUEE,
            MENU, META, NAV, NOEMBED, NOFRAMES, NOSCRIPT, OBJECT, OL, P, PARAM, PLAINTEXT, PRE,
            SCRIPT, SEARCH, SECTION, SELECT, SOURCE, STYLE, SUMMARY, TABLE, TBODY, TD, TEMPLATE,
            TEXTAREA, TFOOT, TH, THEAD, TITLE, TR, TRACK, UL, WBR, XMP,
        ],
        IS_SPECIAL,
    );
    let t = set(
        t,
        &[
            APPLET, CAPTION, HTML, TABLE, TD, TH, MARQUEE, OBJECT, TEMPLATE, SELECT,
        ],
        IS_SCOPE,
    );
    let t = set(
        t,
        &[
            AREA, BASE, BASEFONT, BGSOUND, BR, COL, EMBED, FRAME, HR, IMG, INPUT, KEYGEN, LINK,
            META, PARAM, SOURCE, TRACK, WBR,
        ],
        IS_VOID,
    );
    let t = set(
        t,
        &[
            A, B, BIG, CODE, EM, FONT, I, NOBR, S, SMALL, STRIKE, STRONG, TT, U,
        ],
        IS_FORMATTING,
    );
    let t = set(
        t,
        &[DD, DT, LI, OPTGROUP, OPTION, P, RB, RP, RT, RTC],
        IS_IMPLIED_END | IS_THOROUGHLY_IMPLIED_END,
    );
    let t = set(
        t,
        &[CAPTION, COLGROUP, TBODY, TD, TFOOT, TH, THEAD, TR],
        IS_THOROUGHLY_IMPLIED_END,
    );
    let t = set(t, &[H1, H2, H3, H4, H5, H6], IS_HEADING);
    let t = set(
        t,
        &[
            ADDRESS, ARTICLE, ASIDE, BLOCKQUOTE, CENTER, DETAILS, DIALOG, DIR, DIV, DL, FIELDSET,
            FIGCAPTION, FIGURE, FOOTER, HEADER, HGROUP, MAIN, MENU, NAV, OL, P, SEARCH, SECTION,
            SUMMARY, UL,
        ],
        IS_BLOCK,
    );
    let t = set(t, &[TABLE, TBODY, TFOOT, THEAD, TR], IS_TABLE_PART);
    set(
        t,
        &[
            B, BIG, BLOCKQUOTE, BODY, BR, CENTER, CODE, DD, DIV, DL, DT, EM, EMBED, H1, H2, H3, H4,
            H5, H6, HEAD, HR, I, IMG, LI, LISTING, MENU, META, NOBR, OL, P, PRE, RUBY, S, SMALL,
            SPAN, STRONG, STRIKE, SUB, SUP, TABLE, TT, U, UL, VAR,
        ],
        BREAKS_OUT,
    )
};
