//! Links and images of a page: the same nodes as in its `links` and `images` signatures.

use crate::digest::Digest;
use crate::page::kind::Kind;
use crate::page::vocabulary::{Class, Namespace};

/// Maximum length of a link text, in characters. Enough to recognise a link, and a bound: nested
/// links would each repeat all the text inside them.
pub const MAX_LINK_TEXT: usize = 1_000;

/// One address on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The element.
    pub node: u32,
    /// The address as written, with character references decoded.
    pub address: String,
}

/// Return which attributes of an element are links, and which are images.
fn roles(name: &str) -> (&'static [&'static str], &'static [&'static str]) {
    match name {
        "a" | "area" | "link" => (&["href", "xlink:href"], &[]),
        "form" => (&["action"], &[]),
        "iframe" | "frame" | "embed" | "script" => (&["src"], &[]),
        "img" | "source" => (&[], &["src", "srcset"]),
        "video" => (&[], &["src", "poster"]),
        "input" => (&[], &["src"]),
        "image" => (&[], &["href", "xlink:href"]),
        _ => (&[], &[]),
    }
}

/// Return which attributes of an element with this name are links, and which are images.
pub(crate) fn referring(tag: &str) -> (&'static [&'static str], &'static [&'static str]) {
    roles(local(tag))
}

fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// Visit the elements whose tag has such attributes.
fn collect(
    digest: &Digest,
    wanted: impl Fn(&str) -> &'static [&'static str],
    mut found: impl FnMut(u32, &'static str, &str),
) {
    if !matches!(digest.kind(), Kind::Html | Kind::Xml) {
        return;
    }
    let by_tag: Vec<_> = (0..digest.tag_count())
        .map(|tag| match digest.tag_info(tag).class {
            Class::Element => wanted(local(digest.tag_name(tag))),
            _ => &[],
        })
        .collect();
    let (tags, attr) = (digest.tag(), digest.attr());
    for node in 0..digest.n() {
        let names = by_tag[tags.get(node) as usize];
        if names.is_empty() || attr.get(node) < 0 {
            continue;
        }
        let attributes = digest.attributes(node);
        for &name in names {
            if let Some((_, value)) = attributes.iter().find(|(key, _)| &**key == name) {
                found(node as u32, name, value);
            }
        }
    }
}

/// Return every link in document order: `href` of `a`, `area`, `link`; `action` of `form`; `src` of
/// `iframe`, `frame`, `embed`, `script`.
#[must_use]
pub fn links(digest: &Digest) -> Vec<Reference> {
    let mut out = Vec::new();
    collect(
        digest,
        |name| roles(name).0,
        |node, _, value| {
            out.push(Reference {
                node,
                address: value.to_owned(),
            });
        },
    );
    out
}

/// Return every image in document order: `src` and each candidate of `srcset` of `img` and
/// `source`, `poster` and `src` of `video`, `src` of `input`, `href` of SVG's `image`.
#[must_use]
pub fn images(digest: &Digest) -> Vec<Reference> {
    let mut out = Vec::new();
    collect(
        digest,
        |name| roles(name).1,
        |node, attribute, value| {
            let mut push = |address: &str| {
                out.push(Reference {
                    node,
                    address: address.to_owned(),
                });
            };
            if attribute == "srcset" {
                candidates(value).for_each(push);
            } else {
                push(value);
            }
        },
    );
    out
}

/// Return the `href` of the first `base` that has one: an HTML element (in XHTML one with the
/// prefix of the root), outside of template content.
#[must_use]
pub fn base(digest: &Digest) -> Option<String> {
    let wanted = match digest.kind() {
        Kind::Html => (Namespace::Html, "base".to_owned()),
        Kind::Xml => (Namespace::Xml, xhtml_base(digest)?),
        _ => return None,
    };
    let sizes = &digest.derived().size;
    let tags = digest.tag();
    let mut node = 0;
    while node < digest.n() {
        let tag = tags.get(node) as usize;
        let info = digest.tag_info(tag);
        if info.class == Class::Fragment {
            node += sizes[node] as usize;
            continue;
        }
        if info.class == Class::Element
            && info.namespace == wanted.0
            && digest.tag_name(tag) == wanted.1
        {
            let mut attributes = digest.attributes(node).iter();
            if let Some((_, value)) = attributes.find(|(key, _)| &**key == "href") {
                return Some(value.to_string());
            }
        }
        node += 1;
    }
    None
}

/// Return the name of `base` elements in an XHTML page; `None` in any other XML.
fn xhtml_base(digest: &Digest) -> Option<String> {
    let root = (1..digest.n()).find(|&node| digest.class(node) == Class::Element)?;
    let prefix = digest.tag_name(digest.tag().get(root) as usize);
    let prefix = prefix.strip_suffix("html")?;
    (prefix.is_empty() || prefix.ends_with(':')).then(|| format!("{prefix}base"))
}

/// Return the addresses of a `srcset`, parsed as in the HTML standard: an address goes up to white
/// space (and loses trailing commas), its descriptor up to a comma outside parentheses.
fn candidates(srcset: &str) -> impl Iterator<Item = &str> {
    let mut rest = srcset;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        if rest.is_empty() {
            return None;
        }
        let end = rest
            .find(|c: char| c.is_ascii_whitespace())
            .unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let address = word.trim_end_matches(',');
        if address.len() == word.len() {
            let mut depth = 0usize;
            let end = after.bytes().position(|byte| {
                match byte {
                    b'(' => depth += 1,
                    b')' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                byte == b',' && depth == 0
            });
            rest = end.map_or("", |end| &after[end + 1..]);
        } else {
            rest = after;
        }
        Some(address)
    })
}

#[cfg(test)]
mod tests {
    use super::candidates;

    #[test]
    fn a_srcset_is_split_at_commas_that_end_a_candidate() {
        for (srcset, expected) in [
            ("a.jpg", vec!["a.jpg"]),
            (" a.jpg 1x, b.jpg 2x ,", vec!["a.jpg", "b.jpg"]),
            ("a,b.jpg 100w,c.jpg", vec!["a,b.jpg", "c.jpg"]),
            ("a.jpg, b.jpg", vec!["a.jpg", "b.jpg"]),
            (
                "data:image/png;base64,AA== 1x",
                vec!["data:image/png;base64,AA=="],
            ),
            ("a.jpg x(1, 2), b.jpg", vec!["a.jpg", "b.jpg"]),
            (" , ", vec![]),
        ] {
            assert_eq!(
                candidates(srcset).collect::<Vec<_>>(),
                expected,
                "{srcset:?}"
            );
        }
    }
}
