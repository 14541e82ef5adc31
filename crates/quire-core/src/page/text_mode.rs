//! Text modes: how raw bytes of a leaf turn into the text a reader sees.

/// How raw bytes of a leaf turn into the text a reader sees.
///
/// The mode belongs to the content entry, so the same bytes in two modes are two entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Mode {
    /// Only the character set is decoded.
    Plain = 0,
    /// HTML text: character references, CR and CRLF to LF, NUL dropped.
    Data = 1,
    /// HTML text in `title` and `textarea`: as `Data`, NUL becomes U+FFFD.
    Rcdata = 2,
    /// HTML text in `script`, `style` and similar: line ends, NUL becomes U+FFFD.
    RawText = 3,
    /// Text in SVG or MathML: as `Rcdata`, and `<![CDATA[...]]>` is text too.
    Foreign = 4,
    /// An HTML comment, including bogus ones (`<?x>`, `<!x>`, `</ x>`).
    Comment = 5,
    /// An HTML doctype.
    Doctype = 6,
    /// XML text: line ends, character references, predefined and internal text entities.
    XmlText = 7,
    /// XML comment, CDATA, processing instruction, doctype: without delimiters, line ends.
    XmlMarkup = 8,
    /// A JSON string with its quotes.
    JsonString = 9,
    /// HTML text right after `<pre>`, `<listing>`: as `Data`, one leading line end is dropped.
    DataAfterPre = 10,
    /// HTML text right after `<textarea>`: as `Rcdata`, one leading line end is dropped.
    RcdataAfterTextarea = 11,
}

impl Mode {
    /// Return the mode with this number, if there is one.
    pub fn from_u8(value: u8) -> Option<Self> {
        use Mode::{
            Comment, Data, DataAfterPre, Doctype, Foreign, JsonString, Plain, RawText, Rcdata,
            RcdataAfterTextarea, XmlMarkup, XmlText,
        };
        [
            Plain,
            Data,
            Rcdata,
            RawText,
            Foreign,
            Comment,
            Doctype,
            XmlText,
            XmlMarkup,
            JsonString,
            DataAfterPre,
            RcdataAfterTextarea,
        ]
        .get(value as usize)
        .copied()
    }
}
