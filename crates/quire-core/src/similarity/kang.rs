//! Kang's measure: compares the layers of two trees position by position.
//!
//! Implements exactly the program of the paper, with its names: `A(i, j)` is the j-th element of
//! layer i. If text and program disagree, or neither says:
//!
//! * the weight of a layer is the program's, (D - i + 1) / D; table 1 of the paper shows that it
//!   was used;
//! * layer 1 is the children of BODY, by the same table. Pages without a body (XML, frames) begin
//!   below their root element, other kinds below the document;
//! * if a layer is longer than that of the other page, a missing element differs from any other;
//! * all elements count, whatever their name; texts and comments do not, nor does the content of a
//!   `template`, which is elsewhere in a browser's tree. Names are compared without ASCII case and
//!   namespace, as in the paper's browser;
//! * empty layers are skipped, but still counted in 1 / D. So S is at least 0.4375 for D = 8, and
//!   small pages look similar. [`Kang::normalised`] divides by the weights of the layers that
//!   exist.
//!
//! One pass over each page; a layer that neither page has costs nothing, however large D is.

use super::features::is_element;
use crate::base::hash::hash64;
use crate::digest::Digest;
use crate::page::vocabulary::Class;

const SPECIAL: [&[u8]; 5] = [b"table", b"tr", b"td", b"div", b"span"];

/// A tag in a layer: the hash of its name, and whether it is one of the special tags.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Tag {
    name: u64,
    special: bool,
}

/// The counts of one layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer {
    /// Elements of one page.
    pub one: u32,
    /// Elements of the other page.
    pub other: u32,
    /// The paper's Ek: positions that differ; special tags count twice.
    pub changed: u64,
    /// The paper's Ej: all positions; special tags count twice.
    pub places: u64,
    /// The paper's W.
    pub weight: f64,
}

/// The result of the measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Kang {
    /// The paper's S.
    pub value: f64,
    /// 1 - P divided by the largest P these layers could have.
    pub normalised: f64,
    /// Layers from 1 on, as far as either page has them, at most D.
    pub layers: Vec<Layer>,
}

/// Compare two pages down to layer `depth`, at least 1.
///
/// ```
/// use quire_core::{Options, encode};
/// use quire_core::similarity::kang;
///
/// let page = |source: &str| encode(source.as_bytes(), &Options::default()).unwrap();
/// let found = kang(&page("<p>a<div>b</div>"), &page("<p>c<ul></ul>"), 1);
/// assert_eq!(found.value, 1.0 - 2.0 / 3.0); // p is alone in its place, div counts twice
/// ```
#[must_use]
#[allow(clippy::cast_precision_loss)] // a layer has fewer than 2^32 places
#[allow(clippy::many_single_char_names)] // the names of the paper
pub fn kang(one: &Digest, other: &Digest, depth: u32) -> Kang {
    let depth = depth.max(1);
    let (a, b) = (layers(one, depth), layers(other, depth));
    let d = f64::from(depth);
    let (mut p, mut most) = (0.0, 0.0);
    let mut found = Vec::new();
    for i in 0..a.len().max(b.len()) {
        let a = a.get(i).map_or(&[][..], Vec::as_slice);
        let b = b.get(i).map_or(&[][..], Vec::as_slice);
        let (ek, ej) = places(a, b);
        let w = f64::from(depth - i as u32) / d;
        p += ((ek as f64 / ej as f64) / d) * w;
        most += w / d;
        found.push(Layer {
            one: a.len() as u32,
            other: b.len() as u32,
            changed: ek,
            places: ej,
            weight: w,
        });
    }
    Kang {
        value: 1.0 - p,
        normalised: if most > 0.0 { 1.0 - p / most } else { 1.0 },
        layers: found,
    }
}

fn places(a: &[Tag], b: &[Tag]) -> (u64, u64) {
    let (mut ek, mut ej) = (0, 0);
    for j in 0..a.len().max(b.len()) {
        let (one, other) = (a.get(j), b.get(j));
        let special = |tag: Option<&Tag>| tag.is_some_and(|tag| tag.special);
        let worth = 1 + u64::from(special(one) || special(other));
        if one != other {
            ek += worth;
        }
        ej += worth;
    }
    (ek, ej)
}

/// Return the elements of each layer, in document order; no empty layers at the end.
fn layers(page: &Digest, depth: u32) -> Vec<Vec<Tag>> {
    let tags: Vec<Option<Tag>> = (0..page.tag_count())
        .map(|tag| {
            let name = page.tag_name(tag).to_ascii_lowercase();
            is_element(page.tag_info(tag).class).then(|| Tag {
                name: hash64(name.as_bytes()),
                special: SPECIAL.contains(&name.as_bytes()),
            })
        })
        .collect();
    let (tag, derived) = (&page.wide().tag, page.derived());
    let root = root(page);
    let end = root + derived.size[root] as usize;
    let top = derived.depth[root];
    let mut layers: Vec<Vec<Tag>> = Vec::new();
    let mut node = root + 1;
    while node < end {
        let layer = derived.depth[node] - top;
        let class = page.tag_info(tag[node] as usize).class;
        if layer > depth || class == Class::Fragment {
            node += derived.size[node] as usize;
            continue;
        }
        if let Some(found) = tags[tag[node] as usize] {
            // In pre-order a parent comes first, so at most one layer is new.
            if layers.len() < layer as usize {
                layers.push(Vec::new());
            }
            layers[layer as usize - 1].push(found);
        }
        node += 1;
    }
    layers
}

/// Return the body of a page, else its root element, else the document.
fn root(page: &Digest) -> usize {
    let (tag, sizes) = (&page.wide().tag, &page.derived().size);
    let children = |parent: usize| {
        let end = parent + sizes[parent] as usize;
        let mut at = parent + 1;
        std::iter::from_fn(move || {
            let child = at;
            (child < end).then(|| {
                at += sizes[child] as usize;
                child
            })
        })
    };
    let element = |&node: &usize| page.tag_info(tag[node] as usize).class == Class::Element;
    let Some(root) = children(0).find(element) else {
        return 0;
    };
    let is_body = |node: &usize| {
        page.tag_name(tag[*node] as usize)
            .eq_ignore_ascii_case("body")
    };
    (children(root).filter(element))
        .find(is_body)
        .unwrap_or(root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Options, encode};

    /// The paper's D.
    const DEPTH: u32 = 8;

    fn page(source: &str) -> Digest {
        encode(source.as_bytes(), &Options::default()).unwrap()
    }

    fn of(one: &str, other: &str, depth: u32) -> Kang {
        kang(&page(one), &page(other), depth)
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
    }

    #[test]
    fn the_least_value_is_what_the_weights_leave() {
        let deep = |tag: &str| format!("<{tag}>").repeat(9);
        let found = of(&deep("section"), &deep("article"), DEPTH);
        close(found.value, 0.4375);
        close(found.normalised, 0.0);
    }

    #[test]
    fn equal_pages_are_one_and_empty_ones_too() {
        for source in ["", "<p>a", "<frameset><frame>", "plain", "{\"a\": [1]}"] {
            let found = of(source, source, DEPTH);
            close(found.value, 1.0);
            close(found.normalised, 1.0);
        }
        close(of("", "<p>", DEPTH).normalised, 0.0);
    }

    #[test]
    fn special_tags_count_twice_and_missing_places_differ() {
        // p p compared with p div span: 0, 2 and 2 of 1, 2 and 2
        close(
            of("<p><p>", "<p></p><div></div><span>", 1).value,
            1.0 - 4.0 / 5.0,
        );
        close(of("<p>", "<p><i>", 2).value, 1.0 - 0.25);
    }

    #[test]
    fn a_template_hides_its_content_and_xml_begins_below_its_root() {
        close(
            of("<template><p></template>", "<template></template>", 8).value,
            1.0,
        );
        let found = of(
            "<?xml version='1.0'?><r><a/></r>",
            "<?xml version='1.0'?><s><a/></s>",
            8,
        );
        close(found.value, 1.0);
        assert_eq!(found.layers.len(), 1);
    }

    #[test]
    fn no_depth_is_too_large() {
        assert_eq!(of("<p>", "<i>", u32::MAX).layers.len(), 1);
        let deep = "<b>".repeat(100_000);
        close(of(&deep, &deep, u32::MAX).value, 1.0);
    }
}
