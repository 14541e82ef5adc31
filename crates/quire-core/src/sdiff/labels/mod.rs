//! Labels: what counts of each node, as hashes.
//!
//! Three hashes a node, of what a reader sees rather than of how it is spelled:
//! tag (with class and namespace), attributes (as a set), content. Strings are
//! interned in a digest, so each is decoded and hashed once, however many nodes
//! share it. Linear in nodes and in the bytes of distinct strings.
//!
//! The hashes are keyed with a number drawn once in each process: a page cannot be
//! written so that its nodes collide with those of another. They are never stored and
//! nothing is ordered by them, so answers do not depend on the key.

mod common_strings;

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

use self::common_strings::{common_contents, common_runs};
use super::rules::Rules;
use crate::base::common_ends::CommonEnds;
use crate::base::hash::hash64_seeded;
use crate::digest::Digest;
use crate::digest::format::Section;
use crate::page::kind::Kind;
use crate::page::vocabulary::{Class, Namespace};
use crate::values;
use crate::values::{Syntax, attribute_syntax};

/// Hash of what a node does not have.
pub const NOTHING: u64 = 0;
/// Stands for a hash that was not computed.
const UNKNOWN: u64 = u64::MAX;

/// What counts of each node of a page.
pub struct Labels {
    /// Class, namespace and name.
    pub tag: Vec<u64>,
    /// The set of attributes; [`NOTHING`] without any.
    pub attributes: Vec<u64>,
    /// The decoded content; [`NOTHING`] without one.
    pub content: Vec<u64>,
    /// White space that only lays the source out.
    pub blank: Vec<bool>,
}

/// The key of this process.
pub fn key() -> u64 {
    static KEY: OnceLock<u64> = OnceLock::new();
    *KEY.get_or_init(|| RandomState::new().hash_one(0x5d1ff_u64))
}

/// Spread the bits of a hash, so that sums and products of hashes do not cancel.
#[inline]
pub fn mix(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash ^ (hash >> 32)
}

/// The hashes of the distinct strings of a page.
pub struct StringHashes {
    /// Attribute runs; [`UNKNOWN`] for those that no node needed.
    runs: Vec<u64>,
    contents: Vec<u64>,
    /// Whether each content is white space only.
    blank: Vec<bool>,
}

impl Labels {
    /// Label every node of a page.
    pub fn new(page: &Digest, rules: &Rules) -> Self {
        Self::beside(page, rules, None).0
    }

    /// Label every node of a page. Strings that another page has too, at the start or the end of
    /// its lists, are not hashed again: two versions of a page differ in few of them.
    pub fn beside(
        page: &Digest,
        rules: &Rules,
        other: Option<(&Digest, &StringHashes)>,
    ) -> (Self, StringHashes) {
        let key = key();
        let wide = page.wide();
        let tags: Vec<u64> = (0..page.tag_count())
            .map(|tag| hash_tag(page, tag, key))
            .collect();
        let mut strings = StringHashes {
            runs: vec![UNKNOWN; page.attr_count()],
            contents: vec![UNKNOWN; page.content_count()],
            blank: vec![false; page.content_count()],
        };
        let mut common = CommonEnds::default();
        if let Some((other, known)) = other {
            common = common_contents(other, page);
            common.copy(&known.contents, &mut strings.contents);
            common.copy(&known.blank, &mut strings.blank);
            common_runs(other, page).copy(&known.runs, &mut strings.runs);
        }
        for id in common.start..page.content_count() - common.end {
            (strings.contents[id], strings.blank[id]) = hash_content(page, id, rules, key);
        }
        let content = |id: i32| usize::try_from(id).map_or(NOTHING, |id| strings.contents[id]);
        let labels = Self {
            tag: wide.tag.iter().map(|&tag| tags[tag as usize]).collect(),
            attributes: hash_attributes(page, rules, key, &mut strings.runs),
            content: wide.content.iter().map(|&id| content(id)).collect(),
            blank: blanks(page, &strings.blank),
        };
        (labels, strings)
    }

    /// Whether there is any white space that only lays the source out.
    pub fn has_blanks(&self) -> bool {
        self.blank.contains(&true)
    }

    /// One hash for all three.
    #[inline]
    pub fn whole(&self, node: usize) -> u64 {
        mix(self.tag[node]
            .wrapping_add(self.attributes[node].rotate_left(21))
            .wrapping_add(self.content[node].rotate_left(42)))
    }
}

fn hash_tag(page: &Digest, tag: usize, key: u64) -> u64 {
    let info = page.tag_info(tag);
    let seed = key ^ (info.class as u64) << 8 ^ info.namespace as u64;
    hash64_seeded(page.tag_name(tag).as_bytes(), seed)
}

/// The hash of a content, and whether it is white space only.
fn hash_content(page: &Digest, id: usize, rules: &Rules, key: u64) -> (u64, bool) {
    let raw = page.content_raw(id);
    let mode = page.content_mode(id);
    if !rules.rewrites_text() && values::is_plain(raw, mode, page.encoding()) {
        return (hash64_seeded(raw, key).max(1), raw.trim_ascii().is_empty());
    }
    let text = page.content_text(id);
    let blank = text.trim_ascii().is_empty();
    let hash = if rules.rewrites_text() {
        hash64_seeded(rules.rewrite(&text).as_bytes(), key)
    } else {
        hash64_seeded(text.as_bytes(), key)
    };
    (hash.max(1), blank)
}

/// Hash the attributes of every node. How a run is read depends on the namespace of its tag, so
/// a run is hashed once for each namespace it occurs in.
fn hash_attributes(page: &Digest, rules: &Rules, key: u64, known: &mut [u64]) -> Vec<u64> {
    let wide = page.wide();
    if !matches!(page.kind(), Kind::Html | Kind::Xml | Kind::Tree) {
        return vec![NOTHING; page.n()];
    }
    let hash = |namespace: Namespace, id: usize| {
        let syntax = attribute_syntax(page.kind(), namespace);
        hash_run(page, page.attr_run(id), syntax, rules, key)
    };
    (wide.tag.iter().zip(&wide.attr))
        .map(|(&tag, &id)| {
            let Ok(id) = usize::try_from(id) else {
                return NOTHING;
            };
            let namespace = page.tag_info(tag as usize).namespace;
            // Few elements are SVG or MathML; those pay each time.
            if matches!(namespace, Namespace::Svg | Namespace::MathMl) {
                return hash(namespace, id);
            }
            if known[id] == UNKNOWN {
                known[id] = hash(namespace, id);
            }
            known[id]
        })
        .collect()
}

/// One attribute as a summand.
#[inline]
fn pair(name: u64, value: u64) -> u64 {
    mix(name.wrapping_add(value.rotate_left(23))) | 1
}

/// Names up to this many are looked through one by one; runs with more take the slow way.
const FEW: usize = 16;

/// A sum over the attributes, so that their order does not count; of a repeated name the first does.
fn hash_run(page: &Digest, run: &[u8], syntax: Syntax, rules: &Rules, key: u64) -> u64 {
    let encoding = page.encoding();
    let html = match syntax {
        Syntax::Html(Namespace::Html) => true,
        Syntax::Html(_) => return hash_cooked(page, run, syntax, rules, key),
        Syntax::Xml => false,
    };
    let plain = run.is_ascii() && memchr::memchr2(b'\r', 0, run).is_none();
    if !plain || !rules.ignore_attributes.is_empty() || rules.ignore_case {
        return hash_cooked(page, run, syntax, rules, key);
    }
    let mut sum = NOTHING;
    let mut names = [0; FEW];
    let mut lower = [0; 64];
    for (count, (name, value)) in values::attribute_spans(run).enumerate() {
        if count == FEW || name.len() > lower.len() {
            return hash_cooked(page, run, syntax, rules, key);
        }
        let lower = &mut lower[..name.len()];
        lower.copy_from_slice(&run[name]);
        if html {
            lower.make_ascii_lowercase();
        }
        let name = hash64_seeded(lower, key);
        names[count] = name;
        if names[..count].contains(&name) {
            continue;
        }
        let raw = value.map_or(&[][..], |value| &run[value]);
        let value = values::attribute_value(raw, syntax, encoding);
        sum = sum.wrapping_add(pair(name, hash64_seeded(value.as_bytes(), key)));
    }
    sum
}

/// The same for runs that need more care.
fn hash_cooked(page: &Digest, run: &[u8], syntax: Syntax, rules: &Rules, key: u64) -> u64 {
    values::attributes(run, syntax, page.encoding())
        .iter()
        .filter(|(name, _)| rules.compares(name))
        .map(|(name, value)| {
            let name = hash64_seeded(name.as_bytes(), key);
            if rules.ignore_case {
                pair(name, hash64_seeded(value.to_lowercase().as_bytes(), key))
            } else {
                pair(name, hash64_seeded(value.as_bytes(), key))
            }
        })
        .fold(NOTHING, u64::wrapping_add)
}

/// Elements in which white space is content.
const PRESERVING: [&str; 4] = ["pre", "textarea", "script", "style"];

/// Which nodes are white space that only lays the source out.
fn blanks(page: &Digest, contents: &[bool]) -> Vec<bool> {
    if !contents.contains(&true) {
        return vec![false; page.n()];
    }
    let wide = page.wide();
    let sizes = &page.derived().size;
    let infos: Vec<_> = (0..page.tag_count())
        .map(|tag| page.tag_info(tag))
        .collect();
    let preserving: Vec<bool> = (0..page.tag_count())
        .map(|tag| PRESERVING.contains(&page.tag_name(tag)) && infos[tag].class == Class::Element)
        .collect();
    let xml = page.kind() == Kind::Xml;
    // Nearly no document has this attribute, so one search comes before those in single runs.
    let may_preserve =
        xml && memchr::memmem::find(page.section(Section::AttrHeap), b"xml:space").is_some();
    let mut kept_until = 0;
    (0..page.n())
        .map(|node| {
            let tag = wide.tag[node] as usize;
            if node >= kept_until
                && (if xml {
                    may_preserve && preserves(page, node)
                } else {
                    preserving[tag]
                })
            {
                kept_until = node + sizes[node] as usize;
            }
            node >= kept_until
                && matches!(infos[tag].class, Class::Text | Class::Line)
                && usize::try_from(wide.content[node]).is_ok_and(|id| contents[id])
        })
        .collect()
}

/// Whether an XML element asks for its white space to be kept.
fn preserves(page: &Digest, node: usize) -> bool {
    let Ok(id) = usize::try_from(page.wide().attr[node]) else {
        return false;
    };
    // The search comes first: parsing the attributes of every node would cost more than all else.
    memchr::memmem::find(page.attr_run(id), b"xml:space").is_some()
        && (page.attributes(node).iter())
            .any(|(name, value)| &**name == "xml:space" && &**value == "preserve")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Options, encode};

    fn labels(source: &str) -> Labels {
        let page = encode(source.as_bytes(), &Options::default()).unwrap();
        Labels::new(&page, &Rules::default())
    }

    #[test]
    fn spelling_does_not_count() {
        let usual = labels("<p class=\"a\" id=\"b\">x &amp; y</p>");
        for source in [
            "<P ID=b CLASS='a' >x &#38; y</P>",
            "<p class=\"a\" id=\"b\" class=c>x & y",
        ] {
            let other = labels(source);
            assert_eq!(other.tag, usual.tag, "{source}");
            assert_eq!(other.attributes, usual.attributes, "{source}");
            assert_eq!(other.content, usual.content, "{source}");
        }
        assert_ne!(
            labels("<p class=b id=b>x &amp; y</p>").attributes,
            usual.attributes
        );
    }

    #[test]
    fn long_runs_and_short_ones_hash_alike() {
        let few = "a=1 b=2 c=3 d=4 e=5 f=6 g=7 h=8 i=9 ".to_owned();
        let many = few.repeat(2);
        assert_eq!(
            labels(&format!("<p {many}>")).attributes,
            labels(&format!("<p {few}>")).attributes
        );
    }

    #[test]
    fn white_space_is_layout_where_it_is_not_content() {
        let blank = |source: &str| labels(source).blank.iter().filter(|&&blank| blank).count();
        assert_eq!(blank("<div> <p>a</p> <p>b</p>\n</div>"), 3);
        assert_eq!(blank("<pre> <b>a</b> </pre>"), 0);
        assert_eq!(
            blank("<?xml version='1.0'?><a xml:space='preserve'> <b/> </a>"),
            0
        );
        assert_eq!(blank("<?xml version='1.0'?><a> <b/> </a>"), 2);
    }
}
