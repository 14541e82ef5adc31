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

use encoding_rs::Encoding;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128, xxh3_128_with_seed};

use crate::cook::{self, Syntax};
use crate::draft::Mode;
use crate::intern::Interner;

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

/// Hash the attributes of a run: a sum over its attributes, so that order does not count.
///
/// The first of several attributes with one name wins; names are compared by hash.
pub fn hash_run(
    run: &[u8],
    syntax: Syntax,
    encoding: &'static Encoding,
    seen: &mut Seen,
) -> RunHashes {
    let mut hashes = RunHashes::default();
    seen.clear();
    for (name, value) in cook::attribute_spans(run) {
        let raw_name = &run[name];
        let html = matches!(syntax, Syntax::Html(_));
        let mut lower = [0u8; 32];
        let name_hash = if html && raw_name.len() <= 32 {
            let lower = &mut lower[..raw_name.len()];
            lower.copy_from_slice(raw_name);
            lower.make_ascii_lowercase();
            xxh3_64(lower)
        } else if html {
            xxh3_64(&raw_name.to_ascii_lowercase())
        } else {
            xxh3_64(raw_name)
        };
        if !seen.insert(name_hash) {
            continue;
        }
        let value = value.map_or(&[][..], |v| &run[v]);
        let value_hash = if cook::is_plain(value, Mode::Data, encoding) {
            xxh3_64(value)
        } else {
            xxh3_64(cook::attribute_value(value, syntax, encoding).as_bytes())
        };
        let pair = mix(name_hash.wrapping_add(value_hash.rotate_left(23)));
        hashes.all = hashes.all.wrapping_add(pair);
        if raw_name.len() <= 10 {
            let lower = if html {
                &lower[..raw_name.len()]
            } else {
                raw_name
            };
            match lower {
                b"href" | b"action" | b"xlink:href" => hashes.link = hashes.link.wrapping_add(pair),
                b"src" => hashes.source = pair,
                b"srcset" | b"poster" => hashes.image = hashes.image.wrapping_add(pair),
                _ => {}
            }
        }
    }
    hashes
}

/// Names already met in a run: a short list, and a set once it is long.
#[derive(Default)]
pub struct Seen {
    few: Vec<u64>,
    many: std::collections::HashSet<u64>,
}

impl Seen {
    fn clear(&mut self) {
        self.few.clear();
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
pub fn hash_contents(contents: &Interner, encoding: &'static Encoding) -> Vec<u64> {
    (0..contents.len())
        .map(|id| {
            let raw = contents.get(id);
            let mode = Mode::from_u8(contents.keys[id]).unwrap_or(Mode::Plain);
            if cook::is_plain(raw, mode, encoding) {
                contents.hashes[id]
            } else {
                xxh3_64(cook::text(raw, mode, encoding).as_bytes())
            }
        })
        .collect()
}

/// Fold a column that is stored in its narrowest width.
pub fn of_column(width: u8, bytes: &[u8]) -> u128 {
    xxh3_128_with_seed(bytes, u64::from(width))
}

/// Fold one hash per node.
pub fn of_hashes(hashes: &[u64]) -> u128 {
    let mut bytes = Vec::with_capacity(hashes.len() * 8);
    for hash in hashes {
        bytes.extend_from_slice(&hash.to_le_bytes());
    }
    xxh3_128(&bytes)
}
