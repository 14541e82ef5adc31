//! The markup names that have fixed numbers. Their properties are in `html_properties`.
//!
//! Names are looked up by their lower-case bytes; a tag is `name + namespace`, see
//! [`crate::page::vocabulary`]. SVG names with inner capitals (`clipPath`) are separate names: the
//! tokenizer reads `clippath`, the tree gets `clipPath`.

pub use super::html_properties::*;
use crate::page::vocabulary::{Namespace, SPECIAL, Tag};

/// A markup name without its namespace: an index into [`NAMES`].
pub type Name = u16;

macro_rules! names {
    ($($constant:ident $text:literal)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, dead_code)]
        #[repr(u16)]
        enum Order { $($constant,)* COUNT }
        $(#[doc = $text] #[allow(dead_code)] pub const $constant: Name = Order::$constant as Name;)*
        /// Number of names.
        pub const COUNT: usize = Order::COUNT as usize;
        /// The names, as the tree has them.
        pub const NAMES: [&str; COUNT] = [$($text,)*];
    };
}

names! {
    A "a"
    ABBR "abbr"
    ACRONYM "acronym"
    ADDRESS "address"
    APPLET "applet"
    AREA "area"
    ARTICLE "article"
    ASIDE "aside"
    AUDIO "audio"
    B "b"
    BASE "base"
    BASEFONT "basefont"
    BDI "bdi"
    BDO "bdo"
    BGSOUND "bgsound"
    BIG "big"
    BLINK "blink"
    BLOCKQUOTE "blockquote"
    BODY "body"
    BR "br"
    BUTTON "button"
    CANVAS "canvas"
    CAPTION "caption"
    CENTER "center"
    CITE "cite"
    CODE "code"
    COL "col"
    COLGROUP "colgroup"
    DATA "data"
    DATALIST "datalist"
    DD "dd"
    DEL "del"
    DETAILS "details"
    DFN "dfn"
    DIALOG "dialog"
    DIR "dir"
    DIV "div"
    DL "dl"
    DT "dt"
    EM "em"
    EMBED "embed"
    FIELDSET "fieldset"
    FIGCAPTION "figcaption"
    FIGURE "figure"
    FONT "font"
    FOOTER "footer"
    FORM "form"
    FRAME "frame"
    FRAMESET "frameset"
    H1 "h1"
    H2 "h2"
    H3 "h3"
    H4 "h4"
    H5 "h5"
    H6 "h6"
    HEAD "head"
    HEADER "header"
    HGROUP "hgroup"
    HR "hr"
    HTML "html"
    I "i"
    IFRAME "iframe"
    IMAGE "image"
    IMG "img"
    INPUT "input"
    INS "ins"
    ISINDEX "isindex"
    KBD "kbd"
    KEYGEN "keygen"
    LABEL "label"
    LEGEND "legend"
    LI "li"
    LINK "link"
    LISTING "listing"
    MAIN "main"
    MAP "map"
    MARK "mark"
    MARQUEE "marquee"
    MENU "menu"
    MENUITEM "menuitem"
    META "meta"
    METER "meter"
    NAV "nav"
    NOBR "nobr"
    NOEMBED "noembed"
    NOFRAMES "noframes"
    NOSCRIPT "noscript"
    OBJECT "object"
    OL "ol"
    OPTGROUP "optgroup"
    OPTION "option"
    OUTPUT "output"
    P "p"
    PARAM "param"
    PICTURE "picture"
    PLAINTEXT "plaintext"
    PRE "pre"
    PROGRESS "progress"
    Q "q"
    RB "rb"
    RBC "rbc"
    RP "rp"
    RT "rt"
    RTC "rtc"
    RUBY "ruby"
    S "s"
    SAMP "samp"
    SCRIPT "script"
    SEARCH "search"
    SECTION "section"
    SELECT "select"
    SLOT "slot"
    SMALL "small"
    SOURCE "source"
    SPACER "spacer"
    SPAN "span"
    STRIKE "strike"
    STRONG "strong"
    STYLE "style"
    SUB "sub"
    SUMMARY "summary"
    SUP "sup"
    SVG "svg"
    MATH "math"
    TABLE "table"
    TBODY "tbody"
    TD "td"
    TEMPLATE "template"
    TEXTAREA "textarea"
    TFOOT "tfoot"
    TH "th"
    THEAD "thead"
    TIME "time"
    TITLE "title"
    TR "tr"
    TRACK "track"
    TT "tt"
    U "u"
    UL "ul"
    VAR "var"
    VIDEO "video"
    WBR "wbr"
    XMP "xmp"
    CIRCLE "circle"
    CLIPPATH "clippath"
    DEFS "defs"
    DESC "desc"
    ELLIPSE "ellipse"
    G "g"
    LINE "line"
    LINEARGRADIENT "lineargradient"
    MASK "mask"
    PATH "path"
    PATTERN "pattern"
    POLYGON "polygon"
    POLYLINE "polyline"
    RADIALGRADIENT "radialgradient"
    RECT "rect"
    STOP "stop"
    SYMBOL "symbol"
    TEXT "text"
    TSPAN "tspan"
    USE "use"
    VIEW "view"
    ANIMATE "animate"
    FILTER "filter"
    METADATA "metadata"
    MI "mi"
    MO "mo"
    MN "mn"
    MS "ms"
    MTEXT "mtext"
    MROW "mrow"
    MFRAC "mfrac"
    MSUP "msup"
    MSUB "msub"
    MALIGNMARK "malignmark"
    MGLYPH "mglyph"
    ANNOTATION_XML "annotation-xml"
    ANNOTATION "annotation"
    SEMANTICS "semantics"
    FOREIGNOBJECT "foreignobject"
    ALTGLYPH "altglyph"
    ALTGLYPHDEF "altglyphdef"
    ALTGLYPHITEM "altglyphitem"
    ANIMATECOLOR "animatecolor"
    ANIMATEMOTION "animatemotion"
    ANIMATETRANSFORM "animatetransform"
    FEBLEND "feblend"
    FECOLORMATRIX "fecolormatrix"
    FECOMPONENTTRANSFER "fecomponenttransfer"
    FECOMPOSITE "fecomposite"
    FECONVOLVEMATRIX "feconvolvematrix"
    FEDIFFUSELIGHTING "fediffuselighting"
    FEDISPLACEMENTMAP "fedisplacementmap"
    FEDISTANTLIGHT "fedistantlight"
    FEDROPSHADOW "fedropshadow"
    FEFLOOD "feflood"
    FEFUNCA "fefunca"
    FEFUNCB "fefuncb"
    FEFUNCG "fefuncg"
    FEFUNCR "fefuncr"
    FEGAUSSIANBLUR "fegaussianblur"
    FEIMAGE "feimage"
    FEMERGE "femerge"
    FEMERGENODE "femergenode"
    FEMORPHOLOGY "femorphology"
    FEOFFSET "feoffset"
    FEPOINTLIGHT "fepointlight"
    FESPECULARLIGHTING "fespecularlighting"
    FESPOTLIGHT "fespotlight"
    FETILE "fetile"
    FETURBULENCE "feturbulence"
    GLYPHREF "glyphref"
    TEXTPATH "textpath"
    SVG_ALTGLYPH "altGlyph"
    SVG_ALTGLYPHDEF "altGlyphDef"
    SVG_ALTGLYPHITEM "altGlyphItem"
    SVG_ANIMATECOLOR "animateColor"
    SVG_ANIMATEMOTION "animateMotion"
    SVG_ANIMATETRANSFORM "animateTransform"
    SVG_CLIPPATH "clipPath"
    SVG_FEBLEND "feBlend"
    SVG_FECOLORMATRIX "feColorMatrix"
    SVG_FECOMPONENTTRANSFER "feComponentTransfer"
    SVG_FECOMPOSITE "feComposite"
    SVG_FECONVOLVEMATRIX "feConvolveMatrix"
    SVG_FEDIFFUSELIGHTING "feDiffuseLighting"
    SVG_FEDISPLACEMENTMAP "feDisplacementMap"
    SVG_FEDISTANTLIGHT "feDistantLight"
    SVG_FEDROPSHADOW "feDropShadow"
    SVG_FEFLOOD "feFlood"
    SVG_FEFUNCA "feFuncA"
    SVG_FEFUNCB "feFuncB"
    SVG_FEFUNCG "feFuncG"
    SVG_FEFUNCR "feFuncR"
    SVG_FEGAUSSIANBLUR "feGaussianBlur"
    SVG_FEIMAGE "feImage"
    SVG_FEMERGE "feMerge"
    SVG_FEMERGENODE "feMergeNode"
    SVG_FEMORPHOLOGY "feMorphology"
    SVG_FEOFFSET "feOffset"
    SVG_FEPOINTLIGHT "fePointLight"
    SVG_FESPECULARLIGHTING "feSpecularLighting"
    SVG_FESPOTLIGHT "feSpotLight"
    SVG_FETILE "feTile"
    SVG_FETURBULENCE "feTurbulence"
    SVG_FOREIGNOBJECT "foreignObject"
    SVG_GLYPHREF "glyphRef"
    SVG_LINEARGRADIENT "linearGradient"
    SVG_RADIALGRADIENT "radialGradient"
    SVG_TEXTPATH "textPath"
}

/// SVG names with capitals in the tree: (as tokenized, as in the tree).
const SVG_SPELLINGS: [(Name, Name); 37] = [
    (ALTGLYPH, SVG_ALTGLYPH),
    (ALTGLYPHDEF, SVG_ALTGLYPHDEF),
    (ALTGLYPHITEM, SVG_ALTGLYPHITEM),
    (ANIMATECOLOR, SVG_ANIMATECOLOR),
    (ANIMATEMOTION, SVG_ANIMATEMOTION),
    (ANIMATETRANSFORM, SVG_ANIMATETRANSFORM),
    (CLIPPATH, SVG_CLIPPATH),
    (FEBLEND, SVG_FEBLEND),
    (FECOLORMATRIX, SVG_FECOLORMATRIX),
    (FECOMPONENTTRANSFER, SVG_FECOMPONENTTRANSFER),
    (FECOMPOSITE, SVG_FECOMPOSITE),
    (FECONVOLVEMATRIX, SVG_FECONVOLVEMATRIX),
    (FEDIFFUSELIGHTING, SVG_FEDIFFUSELIGHTING),
    (FEDISPLACEMENTMAP, SVG_FEDISPLACEMENTMAP),
    (FEDISTANTLIGHT, SVG_FEDISTANTLIGHT),
    (FEDROPSHADOW, SVG_FEDROPSHADOW),
    (FEFLOOD, SVG_FEFLOOD),
    (FEFUNCA, SVG_FEFUNCA),
    (FEFUNCB, SVG_FEFUNCB),
    (FEFUNCG, SVG_FEFUNCG),
    (FEFUNCR, SVG_FEFUNCR),
    (FEGAUSSIANBLUR, SVG_FEGAUSSIANBLUR),
    (FEIMAGE, SVG_FEIMAGE),
    (FEMERGE, SVG_FEMERGE),
    (FEMERGENODE, SVG_FEMERGENODE),
    (FEMORPHOLOGY, SVG_FEMORPHOLOGY),
    (FEOFFSET, SVG_FEOFFSET),
    (FEPOINTLIGHT, SVG_FEPOINTLIGHT),
    (FESPECULARLIGHTING, SVG_FESPECULARLIGHTING),
    (FESPOTLIGHT, SVG_FESPOTLIGHT),
    (FETILE, SVG_FETILE),
    (FETURBULENCE, SVG_FETURBULENCE),
    (FOREIGNOBJECT, SVG_FOREIGNOBJECT),
    (GLYPHREF, SVG_GLYPHREF),
    (LINEARGRADIENT, SVG_LINEARGRADIENT),
    (RADIALGRADIENT, SVG_RADIALGRADIENT),
    (TEXTPATH, SVG_TEXTPATH),
];

/// The first tag that is not in the vocabulary shared by all pages.
pub const KNOWN_END: Tag = SPECIAL + 3 * COUNT as Tag;

/// Return the tag of a known name in a namespace.
pub const fn tag(namespace: Namespace, name: Name) -> Tag {
    SPECIAL + namespace as Tag * COUNT as Tag + name as Tag
}

/// Return the tag of an HTML element.
pub const fn html(name: Name) -> Tag {
    tag(Namespace::Html, name)
}

/// Return the known name of a tag; `COUNT` for names that occur only on one page and for `#...`.
pub fn name_of(tag: Tag) -> Name {
    if (SPECIAL..KNOWN_END).contains(&tag) {
        ((tag - SPECIAL) % COUNT as Tag) as Name
    } else {
        COUNT as Name
    }
}

/// Return the text of a known tag.
pub fn name(tag: Tag) -> &'static str {
    NAMES[name_of(tag) as usize]
}

/// Return the namespace of a known tag.
pub fn namespace(tag: Tag) -> Namespace {
    match (tag - SPECIAL) / COUNT as Tag {
        0 => Namespace::Html,
        1 => Namespace::Svg,
        _ => Namespace::MathMl,
    }
}

/// The name an SVG element has in the tree.
pub const SVG_NAME: [Name; COUNT] = {
    let mut table = [0; COUNT];
    let mut i = 0;
    while i < COUNT {
        table[i] = i as Name;
        i += 1;
    }
    let mut i = 0;
    while i < SVG_SPELLINGS.len() {
        table[SVG_SPELLINGS[i].0 as usize] = SVG_SPELLINGS[i].1;
        i += 1;
    }
    table
};

// ---------------------------------------------------------------- lookup

/// Slots of the lookup table: a power of two, less than a third full.
const SLOTS: usize = 1024;

const fn slot_of(name: &[u8]) -> usize {
    let mut hash = 0x811c_9dc5_u32;
    let mut i = 0;
    while i < name.len() {
        hash = (hash ^ name[i] as u32).wrapping_mul(0x0100_0193);
        i += 1;
    }
    ((hash ^ (hash >> 15)) as usize) & (SLOTS - 1)
}

/// Open addressing, filled at compile time; `COUNT` marks an empty slot.
const LOOKUP: [Name; SLOTS] = {
    let mut table = [COUNT as Name; SLOTS];
    let mut i = 0;
    while i < COUNT {
        let bytes = NAMES[i].as_bytes();
        let mut slot = slot_of(bytes);
        while table[slot] != COUNT as Name {
            slot = (slot + 1) & (SLOTS - 1);
        }
        table[slot] = i as Name;
        i += 1;
    }
    table
};

/// Slots of the table of short names: a power of two, a quarter full.
const SHORT_SLOTS: usize = 1024;

const fn short_slot(word: u64) -> usize {
    (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize
}

/// Names of at most eight bytes, keyed by these bytes as a number. Open addressing; 0 marks a free
/// slot.
static SHORT: [(u64, Name); SHORT_SLOTS] = {
    let mut table = [(0, COUNT as Name); SHORT_SLOTS];
    let mut i = 0;
    while i < COUNT {
        let bytes = NAMES[i].as_bytes();
        if bytes.len() <= 8 && !HAS_CAPITALS[i] {
            let mut word = 0;
            let mut at = 0;
            while at < bytes.len() {
                word |= (bytes[at] as u64) << (8 * at);
                at += 1;
            }
            let mut slot = short_slot(word);
            while table[slot].0 != 0 {
                slot = (slot + 1) & (SHORT_SLOTS - 1);
            }
            table[slot] = (word, i as Name);
        }
        i += 1;
    }
    table
};

/// Return the known name whose lower-case bytes are `word` (see `values::scan::short_name`), or
/// `COUNT`.
#[inline]
pub fn find_short(word: u64) -> Name {
    let mut slot = short_slot(word);
    loop {
        let (found, name) = SHORT[slot];
        if found == word || found == 0 {
            return name;
        }
        slot = (slot + 1) & (SHORT_SLOTS - 1);
    }
}

/// Return the known name with these lower-case bytes.
pub fn lookup(lower: &[u8]) -> Option<Name> {
    let mut slot = slot_of(lower);
    loop {
        let found = LOOKUP[slot];
        if found == COUNT as Name {
            return None;
        }
        if NAMES[found as usize].as_bytes() == lower && !HAS_CAPITALS[found as usize] {
            return Some(found);
        }
        slot = (slot + 1) & (SLOTS - 1);
    }
}

/// Names that occur only in the tree, never in the tokenizer: SVG names with inner capitals.
const HAS_CAPITALS: [bool; COUNT] = {
    let mut table = [false; COUNT];
    let mut i = 0;
    while i < SVG_SPELLINGS.len() {
        table[SVG_SPELLINGS[i].1 as usize] = true;
        i += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_itself() {
        for (i, name) in NAMES.iter().enumerate() {
            let expected = (!HAS_CAPITALS[i]).then_some(i as Name);
            assert_eq!(lookup(name.as_bytes()), expected, "{name}");
            let padded = format!("{name}>               ");
            if let Some((length, word, capitals)) =
                crate::values::scan::short_name(padded.as_bytes(), 0)
                && !capitals
            {
                assert_eq!(length, name.len());
                assert_eq!(find_short(word), i as Name, "{name}");
            }
        }
    }

    #[test]
    fn a_name_of_the_page_alone_is_not_known() {
        assert_eq!(lookup(b"div"), Some(DIV));
        assert_eq!(lookup(b"my-element"), None);
    }
}
