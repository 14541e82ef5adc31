//! Detects the character set of a page, and converts pages whose markup is not written in ASCII.
//!
//! [`sniff_html`] checks the same sources as a browser, in the same order: byte order mark, the
//! label from the transport, the declaration in the page. If a browser would guess from the locale,
//! the bytes decide: UTF-8 if they are valid UTF-8, else windows-1252. [`sniff_xml`] follows
//! appendix F of XML 1.0.
//!
//! Nearly all character sets write markup like ASCII, so the parser reads the page as it is and
//! each text is decoded separately. The three others (UTF-16 in both byte orders, ISO-2022-JP) are
//! converted to UTF-8 first, by [`transcode`], which also reports whether [`transcode_back`]
//! restores the source.

mod prescan;
#[cfg(test)]
mod tests;

use encoding_rs::{EncoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Browsers search this many bytes for a declaration before they start to parse.
pub const PRESCAN_BYTES: usize = 1024;

/// How far to search for a late declaration in a page that is not UTF-8.
///
/// A browser finds these while it builds the tree, and starts over. Real pages with long scripts or
/// comments before their `meta` stay well within this limit.
pub const LATE_PRESCAN_BYTES: usize = 64 * 1024;

/// How the character set was determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Reason {
    /// A byte order mark.
    Bom = 0,
    /// The label that came with the page, as in `Content-Type`.
    Transport = 1,
    /// A `meta` element among the first [`PRESCAN_BYTES`].
    Meta = 2,
    /// A `meta` element after them.
    LateMeta = 3,
    /// `encoding=` in an XML declaration, or the encoding of the declaration itself.
    XmlDeclaration = 4,
    /// No declaration, and the bytes are valid UTF-8.
    Utf8Valid = 5,
    /// No declaration: windows-1252 for HTML, UTF-8 for XML.
    Default = 6,
    /// The caller passed it.
    Given = 7,
}

impl Reason {
    /// Return the reason with this number, if there is one.
    pub fn from_u8(value: u8) -> Option<Self> {
        use Reason::{Bom, Default, Given, LateMeta, Meta, Transport, Utf8Valid, XmlDeclaration};
        [
            Bom,
            Transport,
            Meta,
            LateMeta,
            XmlDeclaration,
            Utf8Valid,
            Default,
            Given,
        ]
        .get(value as usize)
        .copied()
    }

    /// Return the name shown to people.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Bom => "bom",
            Reason::Transport => "transport",
            Reason::Meta => "meta",
            Reason::LateMeta => "late-meta",
            Reason::XmlDeclaration => "xml-declaration",
            Reason::Utf8Valid => "utf8-valid",
            Reason::Default => "default",
            Reason::Given => "given",
        }
    }
}

/// A character set and how it was determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sniffed {
    /// The character set.
    pub encoding: &'static Encoding,
    /// How it was determined.
    pub reason: Reason,
    /// The length of the byte order mark.
    pub bom: usize,
}

impl Sniffed {
    fn new(encoding: &'static Encoding, reason: Reason) -> Self {
        Self {
            encoding,
            reason,
            bom: 0,
        }
    }
}

/// Detect the character set of an HTML page; `transport` is the label that came with it, if any.
///
/// ```
/// use quire_core::encoding::{Reason, sniff_html};
///
/// let sniffed = sniff_html(b"<!doctype html><meta charset=latin1>", None);
/// assert_eq!((sniffed.encoding.name(), sniffed.reason), ("windows-1252", Reason::Meta));
/// assert_eq!(sniff_html("na\u{ef}ve".as_bytes(), None).reason, Reason::Utf8Valid);
/// ```
#[must_use]
pub fn sniff_html(source: &[u8], transport: Option<&str>) -> Sniffed {
    if let Some(sniffed) = by_bom(source) {
        return sniffed;
    }
    if let Some(encoding) = by_label(transport) {
        return Sniffed::new(encoding, Reason::Transport);
    }
    let start = &source[..source.len().min(PRESCAN_BYTES)];
    if let Some(encoding) = utf16_declaration(source, b"<?x") {
        return Sniffed::new(encoding, Reason::XmlDeclaration);
    }
    if let Some(encoding) = prescan::meta(start) {
        return Sniffed::new(encoding, Reason::Meta);
    }
    if let Some(encoding) = prescan::xml_declaration(start) {
        return Sniffed::new(encoding, Reason::XmlDeclaration);
    }
    if Encoding::utf8_valid_up_to(source) == source.len() {
        return Sniffed::new(UTF_8, Reason::Utf8Valid);
    }
    match prescan::meta(&source[..source.len().min(LATE_PRESCAN_BYTES)]) {
        Some(encoding) => Sniffed::new(encoding, Reason::LateMeta),
        None => Sniffed::new(WINDOWS_1252, Reason::Default),
    }
}

/// Detect the character set of an XML document; `transport` is the label that came with it, if any.
///
/// The declaration in the document comes first: it is still there after the document was saved,
/// while the label was often added by a server that never looked at it.
#[must_use]
pub fn sniff_xml(source: &[u8], transport: Option<&str>) -> Sniffed {
    let declared = || utf16_declaration(source, b"<?").or_else(|| prescan::xml_declaration(source));
    if let Some(sniffed) = by_bom(source) {
        sniffed
    } else if let Some(encoding) = declared() {
        Sniffed::new(encoding, Reason::XmlDeclaration)
    } else if let Some(encoding) = by_label(transport) {
        Sniffed::new(encoding, Reason::Transport)
    } else {
        Sniffed::new(UTF_8, Reason::Default)
    }
}

fn by_bom(source: &[u8]) -> Option<Sniffed> {
    let (encoding, bom) = Encoding::for_bom(source)?;
    Some(Sniffed {
        encoding,
        reason: Reason::Bom,
        bom,
    })
}

fn by_label(label: Option<&str>) -> Option<&'static Encoding> {
    Encoding::for_label(label?.as_bytes())
}

/// Return the UTF-16 variant if the source, without a byte order mark, starts with `start` in
/// UTF-16.
fn utf16_declaration(source: &[u8], start: &[u8]) -> Option<&'static Encoding> {
    let head = source.get(..2 * start.len())?;
    let is = |order: fn(u8) -> [u8; 2]| {
        head.chunks_exact(2)
            .zip(start)
            .all(|(pair, &byte)| pair == order(byte))
    };
    if is(|byte| [byte, 0]) {
        Some(UTF_16LE)
    } else if is(|byte| [0, byte]) {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// Whether markup in this character set is written in ASCII bytes, so that it can be parsed without
/// conversion.
#[must_use]
pub fn is_ascii_compatible(encoding: &'static Encoding) -> bool {
    encoding.is_ascii_compatible()
}

/// Convert the source to UTF-8; also return whether [`transcode_back`] gives the same bytes again.
///
/// A byte order mark is kept as U+FEFF, so it is restored as well.
///
/// ```
/// use encoding_rs::UTF_16LE;
/// use quire_core::encoding::{transcode, transcode_back};
///
/// let (utf8, exact) = transcode(b"\xff\xfe<\0p\0>\0", UTF_16LE);
/// assert_eq!((utf8.as_slice(), exact), ("\u{feff}<p>".as_bytes(), true));
/// assert_eq!(transcode_back(&utf8, UTF_16LE).unwrap(), b"\xff\xfe<\0p\0>\0");
/// ```
#[must_use]
pub fn transcode(source: &[u8], encoding: &'static Encoding) -> (Vec<u8>, bool) {
    let (decoded, had_errors) = encoding.decode_without_bom_handling(source);
    let utf8 = decoded.into_owned().into_bytes();
    let exact = !had_errors && transcode_back(&utf8, encoding).as_deref() == Some(source);
    (utf8, exact)
}

/// Convert UTF-8 to another character set; `None` if it is not UTF-8 or has characters missing in
/// that set.
#[must_use]
pub fn transcode_back(utf8: &[u8], encoding: &'static Encoding) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(utf8).ok()?;
    if encoding == UTF_16LE {
        return Some(text.encode_utf16().flat_map(u16::to_le_bytes).collect());
    }
    if encoding == UTF_16BE {
        return Some(text.encode_utf16().flat_map(u16::to_be_bytes).collect());
    }
    // Other encodings without an encoder of their own would silently become UTF-8.
    if encoding.output_encoding() != encoding {
        return None;
    }
    let (bytes, _, unmappable) = encoding.encode(text);
    (!unmappable).then(|| bytes.into_owned())
}

/// Map positions (`cuts`) in a UTF-8 copy to positions in the source that [`transcode_back`] gives.
/// Cuts must ascend and lie between characters; `None` if they do not, or if the copy has
/// characters missing in that set.
pub fn places_back(utf8: &[u8], encoding: &'static Encoding, cuts: &[u32]) -> Option<Vec<u32>> {
    let text = std::str::from_utf8(utf8).ok()?;
    let mut encoder = encoding.new_encoder();
    let is_wide = encoding == UTF_16LE || encoding == UTF_16BE;
    let mut piece_bytes = |piece: &str| {
        if is_wide {
            return Some(2 * piece.encode_utf16().count());
        }
        // One encoder for all pieces: in ISO-2022-JP, bytes depend on the ones before.
        let most = encoder.max_buffer_length_from_utf8_without_replacement(piece.len())?;
        let mut bytes = vec![0; most];
        let (result, _, written) =
            encoder.encode_from_utf8_without_replacement(piece, &mut bytes, false);
        (result == EncoderResult::InputEmpty).then_some(written)
    };
    let (mut at, mut place) = (0, 0);
    let mut places = Vec::with_capacity(cuts.len());
    for &cut in cuts {
        let cut = cut as usize;
        if cut > at {
            place += piece_bytes(text.get(at..cut)?)?;
            at = cut;
        }
        places.push(place as u32);
    }
    Some(places)
}
