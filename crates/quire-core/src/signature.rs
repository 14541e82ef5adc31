//! Signatures: 128 bits that stand for a whole facet of a page.
//!
//! Facets compare what a reader would compare, not how it is spelled: character
//! references are decoded, attribute names lower-cased, quoting and the order of
//! attributes ignored. So `<p class=a>` and `<P class='a' >` have the same
//! signatures in every facet and differ in the source signature only.
//!
//! | facet | what goes in, per node in pre-order |
//! | --- | --- |
//! | `structure` | child count |
//! | `tags` | tag, through the list of names in order of first use |
//! | `attributes` | the set of (name, value) |
//! | `content` | decoded content |
//! | `links` | `href` of `a`, `area`, `link`; `action` of `form`; `src` of `iframe`, `frame`, `embed`, `script` |
//! | `images` | `src`, `srcset` of `img`, `source`; `poster` of `video`; `src` of image `input`; `href` of SVG `image` |

use crate::hash::{hash64, hash128, hash128_seeded};
use encoding_rs::Encoding;

use crate::cook::{self, Syntax};
use crate::draft::Mode;
use crate::intern::Interner;
use crate::reuse::Reused;

/// Spreads one hash before hashes are added, so that sums do not cancel.
fn mix(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ (hash >> 29)
}

/// Which reference attributes a run has, as hashes; 0 when absent.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunHashes {
    /// All attributes, without order.
    pub all: u64,
    /// `href`, `action` and their like.
    pub link: u64,
    /// `src`.
    pub source: u64,
    /// `srcset`, `poster`.
    pub image: u64,
}

/// What is known about the bytes of a page before they are hashed.
#[derive(Clone, Copy)]
pub struct Charset {
    /// The character set.
    pub encoding: &'static Encoding,
    /// Whether all of the page is valid UTF-8, so that no part needs to be looked at again.
    pub valid_utf8: bool,
}

impl Charset {
    /// Whether a string reads as it is written. May say no where the answer is yes.
    #[inline]
    fn is_plain(self, raw: &[u8], mode: Mode) -> bool {
        match mode {
            Mode::Data | Mode::Rcdata if self.valid_utf8 => {
                memchr::memchr3(b'&', b'\r', 0, raw).is_none()
            }
            Mode::RawText if self.valid_utf8 => memchr::memchr2(b'\r', 0, raw).is_none(),
            _ => cook::is_plain(raw, mode, self.encoding),
        }
    }
}

/// Hash the attributes of a run: a sum over its attributes, so that order does not count.
///
/// The first of several attributes with one name wins; names are compared by hash.
pub fn hash_run(run: &[u8], syntax: Syntax, charset: Charset, seen: &mut Seen) -> RunHashes {
    let mut hashes = RunHashes::default();
    seen.clear();
    let html = matches!(syntax, Syntax::Html(_));
    // In XML, line ends in values become spaces; in HTML, CR becomes LF.
    let plain =
        charset.is_plain(run, Mode::Data) && (html || memchr::memchr2(b'\n', b'\t', run).is_none());
    for (name, value) in cook::attribute_spans(run) {
        let name = &run[name];
        let name_hash = hash_name(name, html);
        if !seen.insert(name_hash) {
            continue;
        }
        let value = value.map_or(&[][..], |v| &run[v]);
        let value_hash = if plain {
            hash64(value)
        } else {
            hash64(cook::attribute_value(value, syntax, charset.encoding).as_bytes())
        };
        let pair = mix(name_hash.wrapping_add(value_hash.rotate_left(23)));
        hashes.all = hashes.all.wrapping_add(pair);
        if name_hash == NAME_HASHES[0] || name_hash == NAME_HASHES[1] || name_hash == NAME_HASHES[2]
        {
            hashes.link = hashes.link.wrapping_add(pair);
        } else if name_hash == NAME_HASHES[3] {
            hashes.source = pair;
        } else if name_hash == NAME_HASHES[4] || name_hash == NAME_HASHES[5] {
            hashes.image = hashes.image.wrapping_add(pair);
        }
    }
    hashes
}

/// The names that refer to something else.
const NAME_HASHES: [u64; 6] = [
    hash_name(b"href", true),
    hash_name(b"action", true),
    hash_name(b"xlink:href", true),
    hash_name(b"src", true),
    hash_name(b"srcset", true),
    hash_name(b"poster", true),
];

/// Hash an attribute name, in HTML without regard to ASCII case.
///
/// Names are short, so eight bytes are folded at a time, in place.
const fn hash_name(name: &[u8], fold: bool) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = (name.len() as u64).wrapping_mul(FACTOR);
    let mut i = 0;
    while i < name.len() {
        let mut word = 0;
        let mut shift = 0;
        while shift < 64 && i < name.len() {
            let byte = if fold {
                name[i].to_ascii_lowercase()
            } else {
                name[i]
            };
            word |= (byte as u64) << shift;
            shift += 8;
            i += 1;
        }
        hash = (hash ^ word).wrapping_mul(FACTOR);
        hash ^= hash >> 32;
    }
    hash
}

/// Larger sets of names are not kept for the next run.
const MAX_KEPT_NAMES: usize = 256;

/// Names already met in a run: a short list, and a set once it is long.
#[derive(Default)]
pub struct Seen {
    few: Vec<u64>,
    many: std::collections::HashSet<u64>,
}

impl Seen {
    fn clear(&mut self) {
        self.few.clear();
        // Emptying a set costs as much as it once held: after one run of a million attributes,
        // every small run would pay for it.
        if self.many.capacity() > MAX_KEPT_NAMES {
            self.many = std::collections::HashSet::new();
        }
        self.many.clear();
    }

    /// Add a name; `false` when it was there.
    fn insert(&mut self, name: u64) -> bool {
        if self.many.is_empty() {
            if self.few.contains(&name) {
                return false;
            }
            self.few.push(name);
            if self.few.len() > 16 {
                self.many.extend(self.few.drain(..));
            }
            true
        } else {
            self.many.insert(name)
        }
    }
}

/// Hash every content as a reader sees it.
pub fn hash_contents(contents: &Interner, charset: Charset) -> Vec<u64> {
    (0..contents.len())
        .map(|id| {
            let raw = contents.get(id);
            let mode = Mode::from_u8(contents.entries[id].key).unwrap_or(Mode::Plain);
            if charset.is_plain(raw, mode) {
                contents.entries[id].hash
            } else {
                hash64(cook::text(raw, mode, charset.encoding).as_bytes())
            }
        })
        .collect()
}

/// Fold a column that is stored in its narrowest width.
pub fn of_column(width: u8, bytes: &[u8]) -> u128 {
    hash128_seeded(bytes, u64::from(width))
}

/// Fold one hash per node.
pub fn of_hashes(hashes: &[u64]) -> u128 {
    let mut bytes = Reused::with_capacity(hashes.len() * 8);
    for hash in hashes {
        bytes.extend_from_slice(&hash.to_le_bytes());
    }
    hash128(&bytes)
}
