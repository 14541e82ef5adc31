//! The digest: one page as flat columns over one buffer.
//!
//! A [`Digest`] owns a buffer in the format of [`crate::digest::format`] (made by
//! [`crate::encode::assemble`], or mapped from a file) and reads its columns in place. Everything
//! that can be derived in a linear pass (navigation, string offsets, parsed attributes) is derived
//! once, on first use.
//!
//! `check` has the checks made when opening, `facets` the signatures, `lazy_heaps` the texts that stay in a file or
//! compressed until they are read, `open_file` decides how much of a file is read and when,
//! [`decode`] restores the source.

mod check;
pub mod decode;
pub(crate) mod facets;
pub mod format;
mod lazy_heaps;
mod meta;
mod open_file;

use std::borrow::Cow;
use std::sync::OnceLock;

use encoding_rs::{Encoding, UTF_8};

use self::facets::LateHeader;
use self::lazy_heaps::LateHeaps;
pub use self::lazy_heaps::Rest;
pub use self::meta::Meta;
pub use self::open_file::{Map, open_file};
use crate::base::error::Error;
use crate::base::int_column::{Ids, Ints};
use crate::digest::format::{Header, SECTIONS, Section};
use crate::page::flags::Flags;
use crate::page::kind::Kind;
use crate::page::text_mode::Mode;
use crate::page::tree;
use crate::page::tree::Derived;
use crate::page::vocabulary::{Class, Namespace};
use crate::values;
use crate::values::attribute_syntax;

/// How much of a stored digest is checked when it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verify {
    /// Every byte.
    All,
    /// Columns and lists now; heaps when they are first used.
    Columns,
}

/// Anything that can hold a digest: a vector, a mapped file.
pub type Buffer = Box<dyn AsRef<[u8]> + Send + Sync>;

/// Properties of a tag of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagInfo {
    /// The class of its nodes.
    pub class: Class,
    /// Its namespace.
    pub namespace: Namespace,
    /// Whether its nodes usually have an end tag in the source.
    pub ends: bool,
}

/// One attribute: name and value.
pub type Attribute = (Box<str>, Box<str>);

/// A page as columns.
pub struct Digest {
    buffer: Buffer,
    /// The heaps, if `buffer` ends before them.
    late: Option<LateHeaps>,
    /// The signatures that `header` does not have, if it lacks some.
    late_header: Option<LateHeader>,
    header: Header,
    meta: Meta,
    tag_info: Vec<TagInfo>,
    tag_offsets: Vec<u32>,
    derived: OnceLock<Derived>,
    attr_offsets: OnceLock<Vec<u32>>,
    content_offsets: OnceLock<Vec<u32>>,
    attributes: OnceLock<Vec<OnceLock<Vec<Attribute>>>>,
    wide: OnceLock<Wide>,
    encoding: OnceLock<&'static Encoding>,
    heaps_checked: OnceLock<Result<(), Error>>,
}

/// Columns as 32-bit values, for kernels that access them out of order.
pub struct Wide {
    /// Tag of each node.
    pub tag: Vec<u32>,
    /// Attribute run of each node, or -1.
    pub attr: Vec<i32>,
    /// Content of each node, or -1.
    pub content: Vec<i32>,
}

fn bad(message: impl Into<String>) -> Error {
    Error::Format {
        message: message.into(),
    }
}

impl Digest {
    /// Open a digest, compressed or not.
    ///
    /// The heaps of a compressed digest are decompressed on first use, unless every checksum is to
    /// be verified.
    ///
    /// Linear in the columns: every count is checked before it is used, so that no later access can
    /// leave its section, whatever the file contains.
    pub fn open(buffer: Buffer, verify: Verify) -> Result<Self, Error> {
        let bytes: &[u8] = (*buffer).as_ref();
        let mut header = Header::read(bytes)?;
        let mut digest = if !header.compressed {
            Self::bare(header, buffer, None)?
        } else if verify == Verify::All {
            let unpacked = header.unpack_all(bytes)?;
            Self::bare(header, Box::new(unpacked), None)?
        } else {
            let (columns, frame) = header.unpack_columns(bytes)?;
            let late = LateHeaps::packed(buffer, frame);
            Self::bare(header, Box::new(columns), Some(late))?
        };
        digest.check_sections(false)?;
        if verify == Verify::All {
            digest.check_sections(true)?;
            digest.check_padding()?;
        }
        digest.check()?;
        if verify == Verify::All {
            let texts = digest.check_texts();
            let _ = digest.heaps_checked.set(texts.clone());
            texts?;
        }
        Ok(digest)
    }

    /// Open an uncompressed digest in two parts: `columns` start with `header` and end where its
    /// heaps begin. Checks the same as [`Verify::Columns`], without reading the heaps.
    pub fn open_columns(
        header: Header,
        columns: Buffer,
        heaps: Box<dyn Rest>,
    ) -> Result<Self, Error> {
        if heaps.length() != header.heaps_length() {
            return Err(bad(format!(
                "digest has {} bytes, but its header says {}",
                header.heap_start() + heaps.length(),
                header.length as u64 + header.body_length
            )));
        }
        let mut digest = Self::bare(header, columns, Some(LateHeaps::stored(heaps)))?;
        digest.check_sections(false)?;
        digest.check()?;
        Ok(digest)
    }

    /// Open a digest that was assembled in this process: its columns need no checks.
    /// What its header lacks is added on demand.
    pub(crate) fn trusted(buffer: Vec<u8>) -> Result<Self, Error> {
        let mut digest = Self::bare(Header::read(&buffer)?, Box::new(buffer), None)?;
        digest.late_header = Some(LateHeader::default());
        let _ = digest.heaps_checked.set(Ok(()));
        digest.read_meta()?;
        digest.read_tags()?;
        Ok(digest)
    }

    /// Create a digest whose bytes start with `header`; only their number is checked.
    fn bare(header: Header, buffer: Buffer, late: Option<LateHeaps>) -> Result<Self, Error> {
        let bytes: &[u8] = (*buffer).as_ref();
        let expected = match late {
            Some(_) => header.heap_start(),
            None => header.length as u64 + header.body_length,
        };
        if bytes.len() as u64 != expected {
            return Err(bad(format!(
                "digest has {} bytes, but its header says {expected}",
                bytes.len()
            )));
        }
        Ok(Self {
            buffer,
            late,
            late_header: None,
            header,
            meta: Meta::default(),
            tag_info: Vec::new(),
            tag_offsets: Vec::new(),
            derived: OnceLock::new(),
            attr_offsets: OnceLock::new(),
            content_offsets: OnceLock::new(),
            attributes: OnceLock::new(),
            wide: OnceLock::new(),
            encoding: OnceLock::new(),
            heaps_checked: OnceLock::new(),
        })
    }

    /// Verify the checksums of all heaps, or of all other sections.
    fn check_sections(&self, heaps: bool) -> Result<(), Error> {
        (1..SECTIONS)
            .filter(|&id| Section::is_heap(id) == heaps)
            .try_for_each(|id| self.check_section(id))
    }

    fn check_section(&self, id: usize) -> Result<(), Error> {
        let place = self.header.places[id];
        if place.width != 0 && crate::base::hash::hash64(self.raw(id)) != place.checksum {
            return Err(bad(format!(
                "section {id} of the digest is damaged: its checksum does not match"
            )));
        }
        Ok(())
    }

    /// Verify the checksums of the heaps and the lengths of all texts, once. Call this before reading strings of a digest opened
    /// with [`Verify::Columns`].
    pub fn check_heaps(&self) -> Result<(), Error> {
        self.heaps_checked
            .get_or_init(|| {
                if let Some(late) = &self.late {
                    late.heaps(&self.header);
                    late.failure.get().map_or(Ok(()), |e| Err(e.clone()))?;
                }
                self.check_sections(true)?;
                self.check_texts()
            })
            .clone()
    }

    fn raw(&self, id: usize) -> &[u8] {
        let place = self.header.places[id];
        let (bytes, from): (&[u8], u64) = match &self.late {
            Some(late) if Section::is_heap(id) => {
                (late.heaps(&self.header), self.header.heap_start())
            }
            _ => ((*self.buffer).as_ref(), 0),
        };
        let start = (place.offset - from) as usize;
        (bytes.get(start..start + place.length as usize)).unwrap_or_default()
    }

    /// Return the bytes of a section; empty if it is absent.
    pub fn section(&self, id: Section) -> &[u8] {
        if self.header.places[id as usize].width == 0 {
            &[]
        } else {
            self.raw(id as usize)
        }
    }

    /// Return a section as a column of integers.
    ///
    /// # Panics
    ///
    /// Never: widths and lengths are checked with the header.
    pub fn ints(&self, id: Section) -> Ints<'_> {
        let width = self.header.places[id as usize].width.max(1);
        Ints::new(self.section(id), width).expect("widths and lengths were checked with the header")
    }

    fn ids(&self, id: Section) -> Ids<'_> {
        let width = self.header.places[id as usize].width.max(1);
        Ids::new(self.section(id), width).expect("widths and lengths were checked with the header")
    }

    // ------------------------------------------------------------ facts

    /// Return the digest as it is in memory: whole, or up to its heaps if it was opened without
    /// them. The header of a page just encoded lacks some signatures and all checksums; that of
    /// [`Self::whole`] is complete.
    pub fn memory(&self) -> &[u8] {
        (*self.buffer).as_ref()
    }

    /// Return the header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Return the number of nodes (the paper's N).
    pub fn n(&self) -> usize {
        self.header.nodes as usize
    }

    /// Estimate from above the memory of a kernel that uses this many bytes for each node, and a few
    /// for each byte of the texts.
    pub fn memory_for(&self, bytes_per_node: u64) -> u64 {
        bytes_per_node * u64::from(self.header.nodes) + 8 * self.header.source_length
    }

    /// Return the kind of the page.
    pub fn kind(&self) -> Kind {
        self.header.kind
    }

    /// Return the flags of the page.
    pub fn flags(&self) -> Flags {
        self.header.flags
    }

    /// Return the character set and other metadata.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Return the character set of the raw strings: UTF-8 if the page was transcoded.
    pub fn encoding(&self) -> &'static Encoding {
        // Needed for each string, and looking up a label takes longer than reading most strings.
        self.encoding.get_or_init(|| {
            if self.flags().has(Flags::TRANSCODED) {
                return UTF_8;
            }
            Encoding::for_label(self.meta.encoding.as_bytes()).unwrap_or(UTF_8)
        })
    }

    // ------------------------------------------------------------ columns

    /// Return the child counts (the paper's ST).
    pub fn children(&self) -> Ints<'_> {
        self.ints(Section::Children)
    }

    /// Return the tag of each node (the paper's TM).
    pub fn tag(&self) -> Ints<'_> {
        self.ints(Section::Tag)
    }

    /// Return the attribute run of each node (the paper's AM).
    pub fn attr(&self) -> Ids<'_> {
        self.ids(Section::Attr)
    }

    /// Return the content of each node (the paper's CM).
    pub fn content(&self) -> Ids<'_> {
        self.ids(Section::Content)
    }

    /// Return parent, depth and subtree size of every node.
    pub fn derived(&self) -> &Derived {
        self.derived.get_or_init(|| {
            // Child counts were checked when the digest was opened, or written by the encoder.
            tree::derive(&self.children().to_vec()).unwrap_or_default()
        })
    }

    /// Return tag, attr and content as 32-bit values.
    pub fn wide(&self) -> &Wide {
        self.wide.get_or_init(|| Wide {
            tag: self.tag().to_vec(),
            attr: self.attr().to_vec(),
            content: self.content().to_vec(),
        })
    }

    // ------------------------------------------------------------ lists

    /// Return the number of distinct tags.
    pub fn tag_count(&self) -> usize {
        self.tag_info.len()
    }

    /// Return the properties of a tag.
    pub fn tag_info(&self, tag: usize) -> TagInfo {
        self.tag_info[tag]
    }

    fn tag_string(&self, index: usize) -> &[u8] {
        let heap = self.section(Section::TagHeap);
        &heap[self.tag_offsets[index] as usize..self.tag_offsets[index + 1] as usize]
    }

    /// Return the name of a tag, as it is in the tree.
    pub fn tag_name(&self, tag: usize) -> &str {
        std::str::from_utf8(self.tag_string(3 * tag)).unwrap_or_default()
    }

    /// Return the label of a tag: its name with the namespace. All labels of a page are different.
    ///
    /// SVG and MathML elements have the prefix `svg:` or `math:` (`svg:title`). Ambiguous names are
    /// marked: an HTML name that starts with `svg:`, `math:` or `html:` gets the prefix `html:`,
    /// and a JSON key that starts with `#` has it doubled.
    ///
    /// ```
    /// use quire_core::{Options, encode};
    ///
    /// let page = encode(b"<title>a</title><svg><title>b", &Options::default()).unwrap();
    /// let labels: Vec<_> = (0..page.tag_count()).map(|tag| page.tag_label(tag)).collect();
    /// assert!(labels.contains(&"title".into()) && labels.contains(&"svg:title".into()));
    /// ```
    pub fn tag_label(&self, tag: usize) -> Cow<'_, str> {
        let name = self.tag_name(tag);
        let TagInfo {
            class, namespace, ..
        } = self.tag_info(tag);
        let has_prefix = || {
            ["svg:", "math:", "html:"]
                .iter()
                .any(|prefix| name.starts_with(prefix))
        };
        let mark = match (class, namespace) {
            (Class::Element, Namespace::Svg) => "svg:",
            (Class::Element, Namespace::MathMl) => "math:",
            (Class::Element, Namespace::Html) if has_prefix() => "html:",
            (Class::Member, _) if name.starts_with('#') => "#",
            _ => return Cow::Borrowed(name),
        };
        Cow::Owned(format!("{mark}{name}"))
    }

    /// Return the spelling of a tag's start tags, if it differs from its name.
    pub fn start_spelling(&self, tag: usize) -> Option<&[u8]> {
        Some(self.tag_string(3 * tag + 1)).filter(|s| !s.is_empty())
    }

    /// Return the bytes of a tag's end tags, if they differ from `</name>`.
    pub fn end_spelling(&self, tag: usize) -> Option<&[u8]> {
        Some(self.tag_string(3 * tag + 2)).filter(|s| !s.is_empty())
    }

    /// Return the number of distinct attribute runs.
    pub fn attr_count(&self) -> usize {
        self.ints(Section::AttrLengths).len()
    }

    /// Return the number of distinct contents.
    pub fn content_count(&self) -> usize {
        self.ints(Section::ContentLengths).len()
    }

    /// Return the start of each attribute run in its heap.
    pub fn attr_offsets(&self) -> &[u32] {
        self.attr_offsets
            .get_or_init(|| self.ints(Section::AttrLengths).offsets())
    }

    /// Return the start of each content in its heap.
    pub fn content_offsets(&self) -> &[u32] {
        self.content_offsets
            .get_or_init(|| self.ints(Section::ContentLengths).offsets())
    }

    /// Return an attribute run as written.
    pub fn attr_run(&self, id: usize) -> &[u8] {
        let offsets = self.attr_offsets();
        (self.section(Section::AttrHeap))
            .get(offsets[id] as usize..offsets[id + 1] as usize)
            .unwrap_or_default()
    }

    /// Return a content as written.
    pub fn content_raw(&self, id: usize) -> &[u8] {
        let offsets = self.content_offsets();
        (self.section(Section::ContentHeap))
            .get(offsets[id] as usize..offsets[id + 1] as usize)
            .unwrap_or_default()
    }

    /// Return the text mode of a content.
    pub fn content_mode(&self, id: usize) -> Mode {
        Mode::from_u8(self.section(Section::ContentModes)[id]).unwrap_or(Mode::Plain)
    }

    /// Return a content as a reader sees it.
    pub fn content_text(&self, id: usize) -> Cow<'_, str> {
        values::text(self.content_raw(id), self.content_mode(id), self.encoding())
    }

    /// Return the class of a node.
    pub fn class(&self, node: usize) -> Class {
        self.tag_info[self.tag().get(node) as usize].class
    }

    /// Return the attributes of a node; a run is parsed once. The tag decides how names are
    /// adjusted (SVG, MathML).
    pub fn attributes(&self, node: usize) -> &[Attribute] {
        let id = self.attr().get(node);
        if id < 0 || !matches!(self.kind(), Kind::Html | Kind::Xml | Kind::Tree) {
            return &[];
        }
        let cache = self
            .attributes
            .get_or_init(|| (0..self.attr_count()).map(|_| OnceLock::new()).collect());
        cache[id as usize].get_or_init(|| {
            let namespace = self.tag_info[self.tag().get(node) as usize].namespace;
            let syntax = attribute_syntax(self.kind(), namespace);
            (values::attributes(self.attr_run(id as usize), syntax, self.encoding()).into_iter())
                .map(|(name, value)| (name.into(), value.into()))
                .collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::decode::decode;
    use crate::digest::format;
    use crate::encode::{Options, encode};

    const PAGE: &[u8] = b"<title>Fish</title><p class=a>and <b>chips</b> &amp; peas</p>";

    fn packed() -> Vec<u8> {
        let page = encode(PAGE, &Options::default()).unwrap();
        format::compress(&page.whole().unwrap(), 3).unwrap()
    }

    #[test]
    fn columns_of_a_compressed_digest_are_there_before_its_texts() {
        let plain = encode(PAGE, &Options::default()).unwrap();
        let late = Digest::open(Box::new(packed()), Verify::Columns).unwrap();

        assert!(late.memory().len() < plain.memory().len());
        assert_eq!(late.tag().to_vec(), plain.tag().to_vec());
        assert_eq!(decode(&late).unwrap(), PAGE);
        assert_eq!(late.whole().unwrap(), plain.whole().unwrap());
    }

    struct Unreadable(u64);

    impl Rest for Unreadable {
        fn length(&self) -> u64 {
            self.0
        }
        fn bytes(&self) -> Result<&[u8], Error> {
            Err(bad("the disk is gone"))
        }
    }

    #[test]
    fn texts_that_cannot_be_fetched_are_an_error_when_they_are_read() {
        let page = encode(PAGE, &Options::default()).unwrap();
        let bytes = page.whole().unwrap();
        let open = |length: u64| {
            let header = Header::read(&bytes).unwrap();
            let columns = bytes[..header.heap_start() as usize].to_vec();
            Digest::open_columns(header, Box::new(columns), Box::new(Unreadable(length)))
        };
        let length = page.header().heaps_length();
        let late = open(length).unwrap();

        assert_eq!(late.derived(), page.derived());
        assert!(late.check_heaps().is_err() && decode(&late).is_err() && late.whole().is_err());
        assert!((0..late.content_count()).all(|id| late.content_raw(id).is_empty()));
        assert!(open(length - 1).is_err() && open(length + 1).is_err());
    }

    #[test]
    fn a_damaged_frame_of_texts_is_an_error_when_texts_are_read() {
        let mut packed = packed();
        let end = packed.len();
        packed.truncate(end - 3);
        let late = Digest::open(Box::new(packed), Verify::Columns).unwrap();

        assert_eq!(late.n(), encode(PAGE, &Options::default()).unwrap().n());
        assert!(late.check_heaps().is_err() && decode(&late).is_err() && late.whole().is_err());
        assert!((0..late.content_count()).all(|id| late.content_raw(id).is_empty()));
    }

    #[test]
    fn a_damaged_compressed_digest_is_an_error_or_still_the_page() {
        let packed = packed();
        let read = |bytes: Vec<u8>| {
            let late = Digest::open(Box::new(bytes), Verify::Columns)?;
            let _ = (late.derived(), late.attributes(late.n() - 1));
            decode(&late)
        };
        for length in 0..packed.len() {
            assert!(read(packed[..length].to_vec()).is_err(), "{length} bytes");
        }
        for at in 0..packed.len() {
            let mut flipped = packed.clone();
            flipped[at] ^= 0x10;
            // zstd does not use this bit; a change of any other bit is detected.
            assert!(read(flipped).map_or(true, |page| page == PAGE), "byte {at}");
        }
    }
}
