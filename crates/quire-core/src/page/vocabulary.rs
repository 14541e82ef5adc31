//! The names shared by all pages: node classes, namespaces and the known HTML tags.
//!
//! A tag is a small integer, so the tree builder compares numbers. There are three ranges, in this
//! order:
//!
//! * `0 .. SPECIAL` the names that start with `#` (`#document`, `#text`, ...);
//! * `SPECIAL .. KNOWN_END` known markup names, once for each of the three
//!   namespaces HTML has (a tag is a name *and* a namespace);
//! * from `KNOWN_END` on, names that occur only on this page (see [`crate::parse::draft::Names`]).

/// The class of a node. It decides how the node is written in the source and which of its columns
/// are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Class {
    /// The root of every digest; has no bytes of its own.
    Document = 0,
    /// `<name run>` ... `</name>`.
    Element = 1,
    /// Text as written.
    Text = 2,
    /// A comment with its delimiters.
    Comment = 3,
    /// A doctype with its delimiters; in XML with the internal subset.
    Doctype = 4,
    /// An XML CDATA section with its delimiters.
    Cdata = 5,
    /// An XML processing instruction or declaration with its delimiters.
    Instruction = 6,
    /// The content of a `template`; has no bytes of its own.
    Fragment = 7,
    /// A JSON object: `{` ... `}`.
    Object = 8,
    /// A JSON array: `[` ... `]`.
    Array = 9,
    /// A JSON member: its key; the value is the only child.
    Member = 10,
    /// A JSON string, number, `true`, `false` or `null`, as written.
    Scalar = 11,
    /// A paragraph of a plain text; has no bytes of its own.
    Paragraph = 12,
    /// A line of a plain text with its line end, or a run of blank lines.
    Line = 13,
    /// Bytes without a known structure.
    Bytes = 14,
}

impl Class {
    /// Return the class with this number, if there is one.
    pub fn from_u8(value: u8) -> Option<Self> {
        use Class::{
            Array, Bytes, Cdata, Comment, Doctype, Document, Element, Fragment, Instruction, Line,
            Member, Object, Paragraph, Scalar, Text,
        };
        [
            Document,
            Element,
            Text,
            Comment,
            Doctype,
            Cdata,
            Instruction,
            Fragment,
            Object,
            Array,
            Member,
            Scalar,
            Paragraph,
            Line,
            Bytes,
        ]
        .get(value as usize)
        .copied()
    }

    /// Whether nodes of this class are leaves: they keep their bytes in the content column and have
    /// no children.
    pub fn is_leaf(self) -> bool {
        !matches!(
            self,
            Class::Document
                | Class::Element
                | Class::Fragment
                | Class::Object
                | Class::Array
                | Class::Member
                | Class::Paragraph
        )
    }

    /// Whether nodes of this class can have an end tag or closing bracket in the source.
    pub fn can_end(self) -> bool {
        matches!(self, Class::Element | Class::Object | Class::Array)
    }

    /// Whether a reader sees this as text of the page (not comments and the like).
    pub fn is_text(self) -> bool {
        matches!(
            self,
            Class::Text | Class::Cdata | Class::Scalar | Class::Line
        )
    }
}

/// The namespace of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Namespace {
    /// HTML, and names from kinds without namespaces.
    Html = 0,
    /// SVG inside HTML.
    Svg = 1,
    /// MathML inside HTML.
    MathMl = 2,
    /// XML: the prefix is part of the name, its declaration an ordinary attribute.
    Xml = 3,
    /// A JSON key.
    Json = 4,
    /// A tree that was not parsed by quire.
    Tree = 5,
}

impl Namespace {
    /// Return the namespace with this number, if there is one.
    pub fn from_u8(value: u8) -> Option<Self> {
        use Namespace::{Html, Json, MathMl, Svg, Tree, Xml};
        [Html, Svg, MathMl, Xml, Json, Tree]
            .get(value as usize)
            .copied()
    }
}

/// A tag: an index into the vocabulary of a page.
pub type Tag = u32;

/// `#document`.
pub const DOCUMENT: Tag = 0;
/// `#text`.
pub const TEXT: Tag = 1;
/// `#comment`.
pub const COMMENT: Tag = 2;
/// `#doctype`.
pub const DOCTYPE: Tag = 3;
/// `#cdata`.
pub const CDATA: Tag = 4;
/// `#instruction`.
pub const INSTRUCTION: Tag = 5;
/// `#fragment`.
pub const FRAGMENT: Tag = 6;
/// `#object`.
pub const OBJECT: Tag = 7;
/// `#array`.
pub const ARRAY: Tag = 8;
/// `#string`.
pub const STRING: Tag = 9;
/// `#number`.
pub const NUMBER: Tag = 10;
/// `#true`.
pub const TRUE: Tag = 11;
/// `#false`.
pub const FALSE: Tag = 12;
/// `#null`.
pub const NULL: Tag = 13;
/// `#paragraph`.
pub const PARAGRAPH: Tag = 14;
/// `#line`.
pub const LINE: Tag = 15;
/// `#blank`.
pub const BLANK: Tag = 16;
/// `#bytes`.
pub const BYTES: Tag = 17;
/// The number of names that start with `#`.
pub const SPECIAL: Tag = 18;

/// Names and classes of the tags below [`SPECIAL`].
pub const SPECIAL_NAMES: [(&str, Class); SPECIAL as usize] = [
    ("#document", Class::Document),
    ("#text", Class::Text),
    ("#comment", Class::Comment),
    ("#doctype", Class::Doctype),
    ("#cdata", Class::Cdata),
    ("#instruction", Class::Instruction),
    ("#fragment", Class::Fragment),
    ("#object", Class::Object),
    ("#array", Class::Array),
    ("#string", Class::Scalar),
    ("#number", Class::Scalar),
    ("#true", Class::Scalar),
    ("#false", Class::Scalar),
    ("#null", Class::Scalar),
    ("#paragraph", Class::Paragraph),
    ("#line", Class::Line),
    ("#blank", Class::Line),
    ("#bytes", Class::Bytes),
];
