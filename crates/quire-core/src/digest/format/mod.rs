//! The bytes of a digest: header, section table, sections. The file format is also the memory
//! layout.
//!
//! `docs/format.md` specifies this byte by byte. A digest is one buffer, made by [`Writer`] and
//! read in place by [`Header::read`], whether it was just encoded or mapped from a file. All
//! integers are little-endian. Files are hostile input: every length, offset and count is checked
//! before it is used.
//!
//! ```text
//!   0  magic            8 bytes   89 71 75 69 72 65 0d 0a   ("\x89quire\r\n")
//!   8  format version   u16
//!  10  kind             u8
//!  11  compression      u8        0 none, 1 zstd: a frame up to the heaps, a frame of the heaps
//!  12  flags            u32
//!  16  nodes            u32
//!  20  sections         u32
//!  24  source length    u64
//!  32  body length      u64       of the sections, uncompressed
//!  40  signatures       7 x 16 bytes: source, structure, tags, attributes, content, links, images
//! 152  section table    sections x 32 bytes: id u16, width u8, zero u8, zero u32, offset u64, length u64, checksum u64
//!   …  header checksum  u64       XXH3-64 of all bytes before it
//! ```

mod packing;

pub(crate) use self::packing::unpack;
pub use self::packing::{compress, decompress};
use crate::base::error::Error;
use crate::base::hash::hash64;
use crate::page::flags::Flags;
use crate::page::kind::Kind;
use crate::page::limits::{MAX_SOURCE, max_body_bytes, max_nodes};

/// The first bytes of every digest: not text, and damaged by newline conversion.
pub const MAGIC: [u8; 8] = *b"\x89quire\r\n";
/// The format this version writes, and the newest it reads.
pub const VERSION: u16 = 1;
/// Length of the fixed part of the header.
const FIXED: usize = 152;
/// Bytes of one row of the section table.
const ROW: usize = 32;
/// Sections start at multiples of this, so that mapped columns are aligned.
const ALIGN: usize = 8;
/// Maximum body size of a compressed file. A cap, because 1 kB of zstd can claim any size.
pub const MAX_BODY: u64 = 4 << 30;

/// The sections of a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
#[allow(missing_docs)] // the names are those of docs/format.md, which explains each
pub enum Section {
    Children = 1,
    Tag = 2,
    Attr = 3,
    Content = 4,
    TagInfo = 5,
    TagLengths = 6,
    TagHeap = 7,
    AttrLengths = 8,
    ContentLengths = 9,
    ContentModes = 10,
    Implied = 11,
    EndFlipped = 12,
    StrayNode = 13,
    StrayDepth = 14,
    StrayOffset = 15,
    StrayLength = 16,
    Meta = 17,
    AttrHeap = 18,
    ContentHeap = 19,
    StrayHeap = 20,
    Source = 21,
}

/// One more than the largest section id.
pub const SECTIONS: usize = 22;

impl Section {
    /// Whether a section is a heap of strings. Everything needed for a verdict comes before the
    /// heaps.
    pub fn is_heap(id: usize) -> bool {
        id >= Section::AttrHeap as usize
    }
}

/// The 128-bit signatures of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signatures(pub [u128; 7]);

impl Signatures {
    /// The facets in the order they are stored.
    pub const NAMES: [&'static str; 7] = [
        "source",
        "structure",
        "tags",
        "attributes",
        "content",
        "links",
        "images",
    ];
}

/// The position of a section.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    /// Bytes per value; 0 if the section is absent.
    pub width: u8,
    /// Start in the uncompressed digest, from its first byte.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
    /// XXH3-64 of the section.
    pub checksum: u64,
}

/// Everything before the sections.
#[derive(Clone, Debug)]
pub struct Header {
    /// Kind of the page.
    pub kind: Kind,
    /// Whether the body is compressed.
    pub compressed: bool,
    /// Flags of the page.
    pub flags: Flags,
    /// Number of nodes.
    pub nodes: u32,
    /// Length of the source.
    pub source_length: u64,
    /// Length of the uncompressed body.
    pub body_length: u64,
    /// Signatures.
    pub signatures: Signatures,
    /// Positions of the sections, by id.
    pub places: [Place; SECTIONS],
    /// Length of the header itself.
    pub length: usize,
}

fn bad(message: impl Into<String>) -> Error {
    Error::Format {
        message: message.into(),
    }
}

fn u16_at(b: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([b[at], b[at + 1]])
}
fn u32_at(b: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| b[at + i]))
}
fn u64_at(b: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| b[at + i]))
}

impl Header {
    /// Read and check the header of a digest; the sections are not checked.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() < MAGIC.len() || bytes[..MAGIC.len()] != MAGIC {
            return Err(bad(
                "not a digest: the magic bytes at the start are missing",
            ));
        }
        if bytes.len() < FIXED {
            return Err(bad(format!(
                "digest is cut off: {} bytes, but the header alone takes at least {FIXED}",
                bytes.len()
            )));
        }
        let version = u16_at(bytes, 8);
        if version == 0 || version > VERSION {
            return Err(Error::Version {
                found: version,
                newest: VERSION,
            });
        }
        let sections = u32_at(bytes, 20) as usize;
        if sections >= SECTIONS {
            return Err(bad(format!(
                "digest lists {sections} sections; expected at most {}",
                SECTIONS - 1
            )));
        }
        let length = FIXED + sections * ROW + 8;
        if bytes.len() < length {
            return Err(bad(format!(
                "digest is cut off: {} bytes, but its header takes {length}",
                bytes.len()
            )));
        }
        if hash64(&bytes[..length - 8]) != u64_at(bytes, length - 8) {
            return Err(bad("digest header is damaged: its checksum does not match"));
        }
        let kind = Kind::from_u8(bytes[10])
            .ok_or_else(|| bad(format!("digest has the unknown page kind {}", bytes[10])))?;
        let mut header = Self {
            kind,
            compressed: match bytes[11] {
                0 => false,
                1 => true,
                other => {
                    return Err(bad(format!("digest has the unknown compression {other}")));
                }
            },
            flags: Flags(u32_at(bytes, 12)),
            nodes: u32_at(bytes, 16),
            source_length: u64_at(bytes, 24),
            body_length: u64_at(bytes, 32),
            signatures: Signatures(std::array::from_fn(|i| {
                u128::from(u64_at(bytes, 40 + 16 * i))
                    | u128::from(u64_at(bytes, 48 + 16 * i)) << 64
            })),
            places: [Place::default(); SECTIONS],
            length,
        };
        if header.body_length > MAX_BODY {
            return Err(bad(format!(
                "digest claims a body of {} bytes, more than the limit of {MAX_BODY}",
                header.body_length
            )));
        }
        if header.source_length > MAX_SOURCE as u64 {
            return Err(bad(format!(
                "digest claims a source of {} bytes, more than the limit of {MAX_SOURCE}",
                header.source_length
            )));
        }
        header.check_claims()?;
        header.read_table(bytes, sections)?;
        Ok(header)
    }

    /// Check that the page is not larger than one of this source can be.
    fn check_claims(&self) -> Result<(), Error> {
        let (source, nodes) = (self.source_length, u64::from(self.nodes));
        for (what, found, most) in [
            ("nodes", nodes, max_nodes(source)),
            ("bytes", self.body_length, max_body_bytes(source, nodes)),
        ] {
            if found > most {
                return Err(bad(format!(
                    "digest claims {found} {what}, but a source of {source} bytes has at most \
                     {most}"
                )));
            }
        }
        Ok(())
    }

    fn read_table(&mut self, bytes: &[u8], sections: usize) -> Result<(), Error> {
        let mut next = self.length as u64;
        let end = next + self.body_length;
        let mut last = 0;
        for row in 0..sections {
            let at = FIXED + row * ROW;
            let id = u16_at(bytes, at) as usize;
            let place = Place {
                width: bytes[at + 2],
                offset: u64_at(bytes, at + 8),
                length: u64_at(bytes, at + 16),
                checksum: u64_at(bytes, at + 24),
            };
            if id <= last || id >= SECTIONS {
                return Err(bad(format!(
                    "digest lists section {id} after section {last}; expected ascending ids up \
                     to {}",
                    SECTIONS - 1
                )));
            }
            last = id;
            if bytes[at + 3..at + 8] != [0; 5] {
                return Err(bad(format!(
                    "section {id} has reserved bytes that are not zero"
                )));
            }
            if !matches!(place.width, 1 | 2 | 4) {
                return Err(bad(format!(
                    "section {id} has values of {} bytes; expected 1, 2 or 4",
                    place.width
                )));
            }
            let fits = place.offset >= next
                && place.offset.is_multiple_of(ALIGN as u64)
                && place.length <= end
                && place.offset <= end - place.length
                && place.length.is_multiple_of(u64::from(place.width));
            if !fits {
                return Err(bad(format!(
                    "section {id} is misplaced or lies outside the digest"
                )));
            }
            next = place.offset + place.length;
            self.places[id] = place;
        }
        Ok(())
    }

    /// Return the offset of the first heap; everything before it is columns and lists.
    pub fn heap_start(&self) -> u64 {
        let heaps = &self.places[Section::AttrHeap as usize..];
        (heaps.iter().find(|place| place.width != 0))
            .map_or(self.length as u64 + self.body_length, |place| place.offset)
    }

    /// Return the length of everything from the first heap on.
    pub fn heaps_length(&self) -> u64 {
        self.length as u64 + self.body_length - self.heap_start()
    }

    /// Return the bytes of the header with these signatures, and with the checksums of the
    /// sections of `digest`, which is in memory as a whole.
    pub(crate) fn sealed(&self, signatures: Signatures, digest: &[u8]) -> Vec<u8> {
        let mut header = Self {
            signatures,
            ..self.clone()
        };
        for place in header.places.iter_mut().filter(|place| place.width != 0) {
            let start = place.offset as usize;
            place.checksum = hash64(&digest[start..start + place.length as usize]);
        }
        header.write()
    }

    /// Return the bytes of the header, including its checksum.
    fn write(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.length);
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.push(self.kind as u8);
        out.push(u8::from(self.compressed));
        out.extend_from_slice(&self.flags.0.to_le_bytes());
        out.extend_from_slice(&self.nodes.to_le_bytes());
        let rows = self.places.iter().filter(|p| p.width != 0).count() as u32;
        out.extend_from_slice(&rows.to_le_bytes());
        out.extend_from_slice(&self.source_length.to_le_bytes());
        out.extend_from_slice(&self.body_length.to_le_bytes());
        for signature in self.signatures.0 {
            out.extend_from_slice(&signature.to_le_bytes());
        }
        for (id, place) in self.places.iter().enumerate().filter(|(_, p)| p.width != 0) {
            out.extend_from_slice(&(id as u16).to_le_bytes());
            out.extend_from_slice(&[place.width, 0, 0, 0, 0, 0]);
            out.extend_from_slice(&place.offset.to_le_bytes());
            out.extend_from_slice(&place.length.to_le_bytes());
            out.extend_from_slice(&place.checksum.to_le_bytes());
        }
        let checksum = hash64(&out);
        out.extend_from_slice(&checksum.to_le_bytes());
        out
    }
}

/// Writes the sections of a digest in the order of their ids.
pub struct Writer {
    out: Vec<u8>,
    places: [Place; SECTIONS],
    last: usize,
    checksums: bool,
}

impl Writer {
    /// Start a digest of about `bytes` bytes.
    pub fn new(bytes: usize) -> Self {
        // Space for the largest header; the real one is moved up to the sections at the end.
        let mut out = Vec::with_capacity(bytes + 2048);
        out.resize(FIXED + (SECTIONS - 1) * ROW + 8, 0);
        Self {
            out,
            places: [Place::default(); SECTIONS],
            last: 0,
            checksums: true,
        }
    }

    /// Start a digest without checksums, which stays in memory until [`Header::sealed`] adds them.
    pub(crate) fn unsealed(bytes: usize) -> Self {
        Self {
            checksums: false,
            ..Self::new(bytes)
        }
    }

    /// Write a section with `fill`, which returns the width of a value. Empty sections are omitted.
    pub fn section(&mut self, id: Section, fill: impl FnOnce(&mut Vec<u8>) -> u8) {
        debug_assert!(
            id as usize > self.last,
            "sections are written in the order of their ids"
        );
        self.last = id as usize;
        let end = self.out.len();
        self.out.resize(end.next_multiple_of(ALIGN), 0);
        let start = self.out.len();
        let width = fill(&mut self.out);
        if self.out.len() == start {
            self.out.truncate(end);
            return;
        }
        self.places[id as usize] = Place {
            width,
            offset: start as u64,
            length: (self.out.len() - start) as u64,
            checksum: if self.checksums {
                hash64(&self.out[start..])
            } else {
                0
            },
        };
    }

    /// Write a section of bytes.
    pub fn bytes(&mut self, id: Section, bytes: &[u8]) {
        self.section(id, |out| {
            out.extend_from_slice(bytes);
            1
        });
    }

    /// Put the header in front and return the digest.
    pub fn finish(
        mut self,
        kind: Kind,
        flags: Flags,
        nodes: u32,
        source: u64,
        signatures: Signatures,
    ) -> Vec<u8> {
        let reserved = FIXED + (SECTIONS - 1) * ROW + 8;
        let sections = self.places.iter().filter(|p| p.width != 0).count();
        let length = FIXED + sections * ROW + 8;
        // There may be unused space after the header; keeping it is cheaper than moving the body.
        let header = Header {
            kind,
            compressed: false,
            flags,
            nodes,
            source_length: source,
            body_length: (self.out.len() - length) as u64,
            signatures,
            places: self.places,
            length,
        };
        let bytes = header.write();
        debug_assert!(bytes.len() == length && length <= reserved);
        self.out[..length].copy_from_slice(&bytes);
        // A digest is kept, so unused capacity is freed; but moving it to free only a little is not
        // worth it.
        if self.out.capacity() - self.out.len() > self.out.len() / 16 {
            self.out.shrink_to_fit();
        }
        self.out
    }
}
