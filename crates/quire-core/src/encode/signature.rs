//! Signatures: 128 bits that represent a whole facet of a page.
//!
//! Facets compare the meaning, not the spelling: character references are decoded, attribute names
//! are in lower case, quoting and the order of attributes are ignored. So `<p class=a>` and `<P
//! class='a' >` have the same signatures in every facet, and only their source signatures differ.
//!
//! | facet | what goes in, per node in pre-order |
//! | --- | --- |
//! | `structure` | child count |
//! | `tags` | tag, through the list of names in order of first use |
//! | `attributes` | the set of (name, value) |
//! | `content` | decoded content |
//! | `links` | `href` of `a`, `area`, `link`; `action` of `form`; `src` of `iframe`, `frame`, `embed`, `script` |
//! | `images` | `src`, `srcset` of `img`, `source`; `poster` of `video`; `src` of image `input`; `href` of SVG `image` |

use twox_hash::XxHash3_128;

use crate::base::hash::{hash128, hash128_seeded};
use crate::base::int_column::{Ids, Ints};
use crate::base::interner::Interner;
use crate::base::short_bytes;
use crate::base::vec_pool::Reused;
use crate::page::kind::Kind;
use crate::page::text_mode::Mode;
use crate::page::vocabulary::Namespace;
use crate::values;
use crate::values::attribute_syntax;
use crate::values::charset::Charset;
use crate::values::run_hash::{Reading, RunHashes, Seen, has_no_line_ends, hash_run};

/// Finds the strings of a heap that contain a byte which may need decoding: `&`, CR, NUL.
///
/// Strings are checked in the order of the heap, so one search goes through it once, however short
/// they are.
struct Specials<'a> {
    heap: &'a [u8],
    next: usize,
}

impl<'a> Specials<'a> {
    fn new(heap: &'a [u8]) -> Self {
        let mut specials = Self { heap, next: 0 };
        specials.find_from(0);
        specials
    }

    fn find_from(&mut self, from: usize) {
        let found = memchr::memchr3(b'&', b'\r', 0, &self.heap[from..]);
        self.next = found.map_or(usize::MAX, |found| from + found);
    }

    /// Whether the string at `start..end` contains such a byte.
    #[inline]
    fn any_in(&mut self, start: usize, end: usize) -> bool {
        if self.next < start {
            self.find_from(start);
        }
        self.next < end
    }
}

/// The columns from which facets are computed, and the strings they refer to.
pub struct Facets<'a> {
    /// Kind of the page.
    pub kind: Kind,
    /// Character set of the page.
    pub charset: Charset,
    /// Attribute runs.
    pub runs: &'a Interner,
    /// Contents.
    pub contents: &'a Interner,
    /// The role of each tag's attributes.
    pub roles: &'a [Role],
    /// Tag of each node.
    pub tag: Ints<'a>,
    /// Attribute run of each node, or -1.
    pub attr: Ids<'a>,
    /// Content of each node, or -1.
    pub content: Ids<'a>,
}

impl Facets<'_> {
    /// Compute the signatures of attributes, content, links and images.
    ///
    /// Each string is hashed once; for a node only lookups are left, without a branch that depends
    /// on the node. Only few nodes have links or images.
    pub fn sign(&self) -> [u128; 4] {
        let runs = self.hash_runs();
        let (mut links, mut images) = (Vec::new(), Vec::new());
        self.tag.for_each(|node, tag| {
            let role = self.roles[tag as usize];
            if role == Role::Other {
                return;
            }
            let run = runs[(self.attr.get(node) + 1) as usize];
            let (link, image) = match role {
                Role::Link => (run.link, 0),
                Role::Embedded => (run.source, 0),
                Role::Image => (0, run.source.wrapping_add(run.image)),
                Role::SvgImage => (0, run.link),
                Role::Other => (0, 0),
            };
            links.extend((link != 0).then_some(link));
            images.extend((image != 0).then_some(image));
        });
        let all: Vec<u64> = runs.iter().map(|run| run.all).collect();
        drop(runs);
        [
            of_ids(self.attr, &all),
            of_ids(self.content, &self.hash_contents()),
            of_hashes(links.iter().copied()),
            of_hashes(images.iter().copied()),
        ]
    }

    /// Hash every run, by id + 1; the hashes for "no run" are 0.
    fn hash_runs(&self) -> Vec<RunHashes> {
        let mut seen = Seen::default();
        let heap = &self.runs.heap;
        let mut specials = Specials::new(heap);
        let mut hashes = Vec::with_capacity(self.runs.len() + 1);
        hashes.push(RunHashes::default());
        for entry in &self.runs.entries {
            let namespace = Namespace::from_u8(entry.key).unwrap_or(Namespace::Html);
            let syntax = attribute_syntax(self.kind, namespace);
            let run = entry.range();
            let plain = if self.charset.valid_utf8 {
                !specials.any_in(run.start, run.end) && has_no_line_ends(&heap[run.clone()], syntax)
            } else {
                self.charset.reads_as_written(&heap[run.clone()], syntax)
            };
            let reading = Reading {
                syntax,
                charset: self.charset,
                plain,
            };
            hashes.push(hash_run(heap, run, reading, &mut seen));
        }
        hashes
    }

    /// Hash every content as a reader sees it, by id + 1; the hash for "no content" is 0.
    fn hash_contents(&self) -> Vec<u64> {
        let heap = &self.contents.heap;
        let mut specials = Specials::new(heap);
        let mut decoded = Vec::new();
        let mut hashes = Vec::with_capacity(self.contents.len() + 1);
        hashes.push(0);
        for entry in &self.contents.entries {
            let mode = Mode::from_u8(entry.key).unwrap_or(Mode::Plain);
            let range = entry.range();
            let text = matches!(mode, Mode::Data | Mode::Rcdata);
            let plain = if text && self.charset.valid_utf8 {
                !specials.any_in(range.start, range.end)
            } else {
                self.charset.is_plain(&heap[range.clone()], mode)
            };
            decoded.clear();
            hashes.push(if plain {
                entry.hash
            } else if self.charset.valid_utf8
                && values::append_html_text(&heap[range.clone()], mode, &mut decoded)
            {
                short_bytes::hash_of(&decoded)
            } else {
                short_bytes::hash_of(
                    values::text(&heap[range], mode, self.charset.encoding).as_bytes(),
                )
            });
        }
        hashes
    }
}

/// What the attributes of a tag refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `href` and similar attributes lead to another page.
    Link,
    /// `src` is an embedded page or script.
    Embedded,
    /// `src` and similar attributes are images.
    Image,
    /// `href` is an image.
    SvgImage,
    /// Nothing.
    Other,
}

impl Role {
    /// Return the role of a tag.
    pub fn of(name: &[u8]) -> Self {
        match name {
            b"a" | b"area" | b"link" | b"form" => Role::Link,
            b"iframe" | b"frame" | b"embed" | b"script" => Role::Embedded,
            b"img" | b"source" | b"video" | b"input" => Role::Image,
            b"image" => Role::SvgImage,
            _ => Role::Other,
        }
    }
}

/// Hash a column stored in its narrowest width.
pub fn of_column(width: u8, bytes: &[u8]) -> u128 {
    hash128_seeded(bytes, u64::from(width))
}

/// Hash one hash per node, that of its id + 1.
fn of_ids(ids: Ids, hashes: &[u64]) -> u128 {
    let hash = |id: i32| hashes[(id + 1) as usize];
    let (bytes, width) = ids.stored();
    match width {
        1 => of_hashes(bytes.iter().map(|&b| hash(b.cast_signed().into()))),
        2 => of_hashes((bytes.as_chunks().0.iter()).map(|&c| hash(i16::from_le_bytes(c).into()))),
        _ => of_hashes((bytes.as_chunks().0.iter()).map(|&c| hash(i32::from_le_bytes(c)))),
    }
}

/// Hash one hash per node.
fn of_hashes(hashes: impl ExactSizeIterator<Item = u64>) -> u128 {
    if hashes.len() > MAX_AT_ONCE {
        return of_many_hashes(hashes);
    }
    let mut bytes = Reused::filled(hashes.len() * 8, 0);
    let (places, _) = bytes.as_chunks_mut();
    for (place, hash) in places.iter_mut().zip(hashes) {
        *place = hash.to_le_bytes();
    }
    hash128(&bytes)
}

/// Nodes up to this number are hashed at once, which is faster; more of them piece by piece.
const MAX_AT_ONCE: usize = 1 << 16;

fn of_many_hashes(mut hashes: impl Iterator<Item = u64>) -> u128 {
    let mut state = XxHash3_128::new();
    let mut bytes = Vec::with_capacity(8 * MAX_AT_ONCE);
    loop {
        bytes.clear();
        bytes.extend(hashes.by_ref().take(MAX_AT_ONCE).flat_map(u64::to_le_bytes));
        if bytes.is_empty() {
            return state.finish_128();
        }
        state.write(&bytes);
    }
}
