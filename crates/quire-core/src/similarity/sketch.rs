//! Sketches: a bag of any size in a few hundred bytes, enough to estimate similarity.
//!
//! A feature that occurs k times is k items: (feature, 0) to (feature, k - 1). So a bag is a set,
//! and the share of items that two sets have in common is that of the bags, counts included. Each
//! item gets a hash without a key.
//!
//! * A *min-wise* sketch distributes the items over m bins and keeps the smallest hash in each
//!   (one-permutation hashing, Li, Owen and Zhang 2012). It takes one step per item, whatever m is,
//!   while m hash functions would take m. Two sketches agree in a bin that either uses with a
//!   probability equal to the similarity. Bins stay empty if a page is small; bins that are empty
//!   in both are ignored.
//! * A *bottom-k* sketch keeps the m smallest hashes of all (paper 004, its S). It contains bags of
//!   at most m items completely.
//!
//! Both can be merged: the sketch of two bags together (the larger count of each feature) is made
//! from their sketches.
//!
//! Stored form: sixteen bytes, then values, all little-endian.
//!
//! | bytes | |
//! | --- | --- |
//! | 3 | `qsk` |
//! | 1 | version, 1 |
//! | 1 | number of the measure |
//! | 1 | 1 min-wise, 2 bottom-k |
//! | 2 | m, from 1 on |
//! | 8 | XXH3 of the selector that chose the nodes; 0 for the whole page |
//! | 4 m | min-wise: the bins; all ones for an empty one |
//! | 8 each | bottom-k: at most m hashes, ascending |

use super::features::{self, mix};
use super::scope::Scope;
use super::{Measure, bag, occurrences};
use crate::base::error::Error;
use crate::base::hash::hash64;
use crate::digest::Digest;

/// An empty bin.
pub const EMPTY: u32 = u32::MAX;
/// Bytes before the values.
pub const HEADER_BYTES: usize = 16;

const MAGIC: &[u8; 3] = b"qsk";
const VERSION: u8 = 1;

/// The properties of a sketch. Only sketches with equal properties can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The measure of the features.
    pub measure: Measure,
    /// Maximum number of values.
    pub m: u16,
    /// The nodes: hash of the selector, 0 for all.
    pub nodes: u64,
}

/// The values of a sketch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// The smallest hash in each of m bins.
    MinWise(Vec<u32>),
    /// The m smallest hashes.
    BottomK(Vec<u64>),
}

/// A sketch of a bag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sketch {
    /// Its properties.
    pub head: Head,
    /// The values.
    pub values: Values,
}

/// An estimated similarity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// From 0 to 1.
    pub value: f64,
    /// Its standard error; 0 if it is exact.
    pub error: f64,
}

fn bad(message: impl Into<String>) -> Error {
    Error::Sketch {
        message: message.into(),
    }
}

/// Return the hash of the k-th occurrence of a feature.
#[inline]
fn occurrence(feature: u64, k: u32) -> u64 {
    mix(feature.wrapping_add(u64::from(k).wrapping_mul(0x6a09_e667_f3bc_c909)))
}

/// Call back with the hash of every item of a page. Sets need no counting: repeats change nothing.
fn each_thing(
    page: &Digest,
    measure: Measure,
    scope: &Scope,
    mut thing: impl FnMut(u64),
) -> Result<(), Error> {
    if !measure.counts() {
        return features::each(page, measure, scope, |hash, _| thing(occurrence(hash, 0)));
    }
    occurrences::each(features::hashes(page, measure, scope)?, |hash, k| {
        thing(occurrence(hash, k));
    });
    Ok(())
}

/// Put an item into its bin.
#[inline]
fn put_in_bin(bins: &mut [u32], hash: u64) {
    let bin = ((hash >> 32) * bins.len() as u64) >> 32;
    let bin = &mut bins[bin as usize];
    *bin = (*bin).min((hash as u32).min(EMPTY - 1));
}

/// Return the bins of a min-wise sketch of [`Measure::Tokens`], with `w` consecutive tokens instead
/// of three.
pub fn token_bins(page: &Digest, m: u16, w: usize) -> Result<Vec<u32>, Error> {
    if m == 0 || w == 0 {
        return Err(bad(format!(
            "m is {m} and w is {w}; expected at least 1 for both"
        )));
    }
    let mut bins = vec![EMPTY; usize::from(m)];
    features::each_in_a_row(page, w, |hash| put_in_bin(&mut bins, occurrence(hash, 0)))?;
    Ok(bins)
}

fn head(measure: Measure, m: u16, nodes: Option<&str>) -> Result<Head, Error> {
    if m == 0 {
        return Err(bad("m is 0; expected 1 to 65,535"));
    }
    Ok(Head {
        measure,
        m,
        nodes: nodes.map_or(0, |selector| hash64(selector.as_bytes()).max(1)),
    })
}

impl Sketch {
    /// Make the min-wise sketch of a page, or of the parts that `nodes` chooses.
    ///
    /// ```
    /// use quire_core::{Options, encode};
    /// use quire_core::similarity::Measure;
    /// use quire_core::similarity::Sketch;
    ///
    /// let page = encode(b"<p>a<p>b", &Options::default()).unwrap();
    /// let sketch = Sketch::min_wise(&page, Measure::Structure, 100, None).unwrap();
    /// assert_eq!(sketch.to_bytes().len(), 16 + 4 * 100);
    /// ```
    pub fn min_wise(
        page: &Digest,
        measure: Measure,
        m: u16,
        nodes: Option<&str>,
    ) -> Result<Self, Error> {
        let head = head(measure, m, nodes)?;
        let mut bins = vec![EMPTY; usize::from(m)];
        each_thing(page, measure, &Scope::new(page, nodes)?, |hash| {
            put_in_bin(&mut bins, hash);
        })?;
        Ok(Self {
            head,
            values: Values::MinWise(bins),
        })
    }

    /// Make the bottom-k sketch of a page, or of the parts that `nodes` chooses.
    pub fn bottom_k(
        page: &Digest,
        measure: Measure,
        m: u16,
        nodes: Option<&str>,
    ) -> Result<Self, Error> {
        let head = head(measure, m, nodes)?;
        let mut kept = Vec::new();
        each_thing(page, measure, &Scope::new(page, nodes)?, |hash| {
            kept.push(hash);
        })?;
        Ok(Self {
            head,
            values: Values::BottomK(smallest(kept, usize::from(m))),
        })
    }

    /// Return the sketch of both bags together.
    pub fn merge(&self, other: &Self) -> Result<Self, Error> {
        self.check_same(other)?;
        let values = match (&self.values, &other.values) {
            (Values::MinWise(one), Values::MinWise(two)) => {
                Values::MinWise(one.iter().zip(two).map(|(&a, &b)| a.min(b)).collect())
            }
            (Values::BottomK(one), Values::BottomK(two)) => {
                Values::BottomK(smallest([&one[..], two].concat(), usize::from(self.head.m)))
            }
            _ => return Err(kinds_differ()),
        };
        Ok(Self {
            head: self.head,
            values,
        })
    }

    /// Estimate the similarity of the two bags.
    pub fn resemblance(&self, other: &Self) -> Result<Estimate, Error> {
        self.check_same(other)?;
        match (&self.values, &other.values) {
            (Values::MinWise(one), Values::MinWise(two)) => {
                let (equal, used) = agreement(one, two);
                Ok(estimate(equal, used))
            }
            (Values::BottomK(one), Values::BottomK(two)) => {
                let m = usize::from(self.head.m);
                let (common, taken) = common(one, two, m);
                let found = estimate(common, taken);
                // Two bags that fit into their sketches are known completely.
                let whole = one.len() < m && two.len() < m;
                Ok(Estimate {
                    error: if whole { 0.0 } else { found.error },
                    ..found
                })
            }
            _ => Err(kinds_differ()),
        }
    }

    /// Return the share of values that two bottom-k sketches have in common, of all their values:
    /// the estimate of paper 004, which is biased if bags are larger than their sketches.
    pub fn overlap(&self, other: &Self) -> Result<f64, Error> {
        self.check_same(other)?;
        match (&self.values, &other.values) {
            (Values::BottomK(one), Values::BottomK(two)) => {
                let (common, taken) = common(one, two, usize::MAX);
                Ok(estimate(common, taken).value)
            }
            _ => Err(bad(
                "overlap expects bottom-k sketches, found min-wise ones",
            )),
        }
    }

    fn check_same(&self, other: &Self) -> Result<(), Error> {
        let (one, two) = (self.head, other.head);
        if one.measure != two.measure {
            let (one, two) = (one.measure.name(), two.measure.name());
            return Err(bad(format!(
                "cannot compare a sketch of {one} with a sketch of {two}"
            )));
        }
        if one.m != two.m {
            let (one, two) = (one.m, two.m);
            return Err(bad(format!(
                "cannot compare a sketch of {one} values with one of {two} values"
            )));
        }
        if one.nodes != two.nodes {
            return Err(bad(
                "cannot compare sketches whose nodes were chosen by different selectors",
            ));
        }
        Ok(())
    }

    /// Return the stored form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (kind, length) = match &self.values {
            Values::MinWise(bins) => (1, 4 * bins.len()),
            Values::BottomK(kept) => (2, 8 * kept.len()),
        };
        let mut bytes = Vec::with_capacity(HEADER_BYTES + length);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&[VERSION, self.head.measure as u8, kind]);
        bytes.extend_from_slice(&self.head.m.to_le_bytes());
        bytes.extend_from_slice(&self.head.nodes.to_le_bytes());
        match &self.values {
            Values::MinWise(bins) => bytes.extend(bins.iter().flat_map(|bin| bin.to_le_bytes())),
            Values::BottomK(kept) => bytes.extend(kept.iter().flat_map(|hash| hash.to_le_bytes())),
        }
        bytes
    }

    /// Read the stored form. Nothing in it is trusted before it is checked.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let Some((header, body)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
            return Err(bad(format!(
                "not a sketch: expected a header of {HEADER_BYTES} bytes, found {} bytes",
                bytes.len()
            )));
        };
        let [b'q', b's', b'k', version, measure, kind, m0, m1, nodes @ ..] = *header else {
            return Err(bad("not a sketch: it does not start with qsk"));
        };
        if version != VERSION {
            return Err(bad(format!(
                "sketch format {version}, but this version reads {VERSION}"
            )));
        }
        let Some(measure) = Measure::from_u8(measure) else {
            return Err(bad(format!("sketch has the unknown measure {measure}")));
        };
        let m = u16::from_le_bytes([m0, m1]);
        let values = match kind {
            1 => read_bins(body, m)?,
            2 => read_hashes(body, m)?,
            _ => return Err(bad(format!("sketch has the unknown kind {kind}"))),
        };
        let nodes = u64::from_le_bytes(nodes);
        if m == 0 {
            return Err(bad("sketch has 0 values; expected 1 to 65,535"));
        }
        let head = Head { measure, m, nodes };
        Ok(Self { head, values })
    }
}

fn kinds_differ() -> Error {
    bad("cannot compare a min-wise sketch with a bottom-k sketch")
}

fn read_bins(body: &[u8], m: u16) -> Result<Values, Error> {
    let (bins, rest) = body.as_chunks();
    if !rest.is_empty() || bins.len() != usize::from(m) {
        return Err(bad(format!(
            "expected {} bytes of values in a min-wise sketch of {m}, found {}",
            4 * u32::from(m),
            body.len()
        )));
    }
    Ok(Values::MinWise(
        bins.iter().map(|&bin| u32::from_le_bytes(bin)).collect(),
    ))
}

fn read_hashes(body: &[u8], m: u16) -> Result<Values, Error> {
    let (hashes, rest) = body.as_chunks();
    if !rest.is_empty() || hashes.len() > usize::from(m) {
        return Err(bad(format!(
            "expected 8 bytes for each of at most {m} values in a bottom-k sketch, found {}",
            body.len()
        )));
    }
    let hashes: Vec<u64> = hashes
        .iter()
        .map(|&hash| u64::from_le_bytes(hash))
        .collect();
    if !hashes.is_sorted_by(|before, after| before < after) {
        return Err(bad(
            "the values of a bottom-k sketch are not in ascending order",
        ));
    }
    Ok(Values::BottomK(hashes))
}

/// Return the `most` smallest distinct hashes, in order.
fn smallest(hashes: Vec<u64>, most: usize) -> Vec<u64> {
    let mut hashes = bag::ordered(hashes);
    hashes.dedup();
    hashes.truncate(most);
    hashes
}

/// Count the bins in which two sketches agree, and the bins that either uses.
#[inline]
pub fn agreement(one: &[u32], other: &[u32]) -> (u32, u32) {
    let (mut equal, mut unused) = (0, 0);
    for (&a, &b) in one.iter().zip(other) {
        equal += u32::from(a == b);
        unused += u32::from(a & b == EMPTY);
    }
    (equal - unused, one.len().min(other.len()) as u32 - unused)
}

/// Among the `most` smallest of two ascending lists together, count those in both, and all of them.
fn common(mut one: &[u64], mut other: &[u64], most: usize) -> (u32, u32) {
    let (mut both, mut taken) = (0, 0);
    while (taken as usize) < most {
        match (one, other) {
            ([], []) => break,
            ([a, after @ ..], [b, after_other @ ..]) if a == b => {
                both += 1;
                (one, other) = (after, after_other);
            }
            ([a, after @ ..], [b, ..]) if a < b => one = after,
            ([_, after @ ..], []) => one = after,
            (_, [_, after @ ..]) => other = after,
        }
        taken += 1;
    }
    (both, taken)
}

/// Return the share of agreeing values, and its standard error: that of a share of `of` draws with
/// half a hit and half a miss added, so that a few equal values do not count as certainty.
fn estimate(hits: u32, of: u32) -> Estimate {
    if of == 0 {
        return Estimate {
            value: 1.0,
            error: 0.0,
        };
    }
    let (hits, of) = (f64::from(hits), f64::from(of));
    let share = (hits + 0.5) / (of + 1.0);
    Estimate {
        value: hits / of,
        error: (share * (1.0 - share) / of).sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Options, encode};

    fn page(source: &str) -> Digest {
        encode(source.as_bytes(), &Options::default()).unwrap()
    }

    fn both(source: &str, measure: Measure, m: u16) -> [Sketch; 2] {
        let page = page(source);
        [
            Sketch::min_wise(&page, measure, m, None).unwrap(),
            Sketch::bottom_k(&page, measure, m, None).unwrap(),
        ]
    }

    fn numbers(from: u32, to: u32) -> String {
        let words: Vec<String> = (from..to).map(|n| format!("w{n}")).collect();
        words.join(" ")
    }

    #[test]
    fn the_sketch_of_all_is_the_sketches_of_the_parts_merged() {
        // Windows across the border are in neither part, so the parts overlap by one less than a
        // window.
        let (first, second, all) = (numbers(0, 304), numbers(300, 600), numbers(0, 600));
        for m in [1, 7, 100, 1000] {
            let of = |text: &str| both(text, Measure::Content, m);
            let (first, second, all) = (of(&first), of(&second), of(&all));
            for kind in 0..2 {
                let merged = first[kind].merge(&second[kind]).unwrap();
                assert_eq!(merged, all[kind]);
                assert_eq!(second[kind].merge(&first[kind]).unwrap(), merged);
            }
        }
    }

    #[test]
    fn tokens_in_a_row_are_three_or_as_many_as_asked_for() {
        let source = "<p>one<b>two</b>".repeat(9) + &"<i>three</i>".repeat(9);
        for source in [&source, "<p>one", ""] {
            let page = page(source);
            let three = Sketch::min_wise(&page, Measure::Tokens, 64, None).unwrap();
            assert_eq!(
                Values::MinWise(token_bins(&page, 64, 3).unwrap()),
                three.values
            );
        }
        let page = page(&source);
        assert_ne!(token_bins(&page, 64, 2), token_bins(&page, 64, 3));
        assert!(token_bins(&page, 0, 3).is_err() && token_bins(&page, 3, 0).is_err());
    }

    #[test]
    fn estimates_are_near_what_is_known() {
        for (from, to, known) in [(0, 1000, 1.0), (500, 1500, 1.0 / 3.0), (1000, 2000, 0.0)] {
            let (one, two) = (numbers(0, 1004), numbers(from, to + 4));
            let one = both(&one, Measure::Content, 400);
            let two = both(&two, Measure::Content, 400);
            for kind in 0..2 {
                let found = one[kind].resemblance(&two[kind]).unwrap();
                assert!(
                    (found.value - known).abs() <= 3.0 * found.error,
                    "{found:?}"
                );
                assert!(found.error < 0.03);
            }
        }
    }

    #[test]
    fn small_bags_are_known_exactly() {
        let [_, one] = both(&numbers(0, 34), Measure::Content, 100);
        let [_, two] = both(&numbers(15, 49), Measure::Content, 100);
        let found = one.resemblance(&two).unwrap();
        assert!((found.value - 1.0 / 3.0).abs() < 1e-12 && found.error == 0.0);
        let [empty, none] = both("", Measure::Content, 100);
        assert_eq!(
            empty.resemblance(&empty).unwrap(),
            Estimate {
                value: 1.0,
                error: 0.0
            }
        );
        assert!(none.resemblance(&one).unwrap().value == 0.0);
    }

    #[test]
    fn stored_sketches_come_back_and_damaged_ones_are_refused() {
        for sketch in both("<p>a<p>b<ul><li>c<li>d</ul>", Measure::Structure, 5) {
            let bytes = sketch.to_bytes();
            assert_eq!(Sketch::from_bytes(&bytes).unwrap(), sketch);
            for length in 0..bytes.len() {
                let cut = Sketch::from_bytes(&bytes[..length]);
                let shorter = matches!(sketch.values, Values::BottomK(_)) && length >= 16;
                assert!(cut.is_err() || shorter && length % 8 == 0);
            }
            for at in 0..8 {
                let mut wrong = bytes.clone();
                wrong[at] ^= 0x40;
                let read = Sketch::from_bytes(&wrong);
                assert!(at >= 4 || read.is_err());
                assert_ne!(read.as_ref(), Ok(&sketch));
            }
        }
    }

    #[test]
    fn sketches_of_different_things_do_not_compare() {
        let [one, bottom] = both("<p>a", Measure::Structure, 8);
        let [paths, _] = both("<p>a", Measure::Paths, 8);
        let [longer, _] = both("<p>a", Measure::Structure, 9);
        let chosen = Sketch::min_wise(&page("<p>a"), Measure::Structure, 8, Some("p")).unwrap();
        for other in [&bottom, &paths, &longer, &chosen] {
            assert!(one.resemblance(other).is_err() && one.merge(other).is_err());
        }
        assert!(one.overlap(&one).is_err() && bottom.overlap(&bottom) == Ok(1.0));
        assert!(Sketch::min_wise(&page(""), Measure::Paths, 0, None).is_err());
    }
}
