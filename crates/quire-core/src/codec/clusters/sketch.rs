//! The sketch of a page: a sample of its 8-byte grams that is the same wherever a gram stands.
//!
//! A gram is sampled by its hash, one in 32, so that all pages sample the same ones. Of those, a
//! sketch has the 64 with the smallest second hash: a uniform sample of what the page contains,
//! whatever its length, without parsing.
//!
//! Cost: one multiplication per byte, and at worst (a page made so that every gram is smaller than
//! all before it) moving 64 numbers per byte.

/// Number of values in a sketch.
pub const SKETCH_VALUES: usize = 64;
/// Fills up the sketch of a page with fewer values; never a value itself.
pub const EMPTY: u32 = u32::MAX;

/// The values of a page in ascending order, then [`EMPTY`].
pub type Sketch = [u32; SKETCH_VALUES];

/// One gram in this many is sampled.
const SAMPLED: u64 = 32;
/// Spreads the bits of grams; the golden ratio in 64 bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
/// Mixes the bits of sampled grams.
const MIX: u64 = 0xbf58_476d_1ce4_e5b9;

/// Sketch a page.
///
/// ```
/// # use quire_core::codec::{EMPTY, page_sketch};
/// let page: String = (0..2000).map(|n| format!("<p>{n}</p>")).collect();
/// let other = format!("{page}<p>more</p>");
/// let (one, two) = (page_sketch(page.as_bytes()), page_sketch(other.as_bytes()));
/// assert!(one.iter().filter(|value| two.contains(value)).count() > 60);
/// assert_eq!(page_sketch(b"short"), [EMPTY; 64]);
/// ```
#[must_use]
pub fn page_sketch(page: &[u8]) -> Sketch {
    let mut kept = [u64::MAX; SKETCH_VALUES];
    for hash in hashes(page) {
        // An equal hash is not below the place it would have.
        if hash < kept[SKETCH_VALUES - 1]
            && let Err(at) = kept.binary_search(&hash)
        {
            kept.copy_within(at..SKETCH_VALUES - 1, at + 1);
            kept[at] = hash;
        }
    }
    let mut sketch = [EMPTY; SKETCH_VALUES];
    let used = kept.iter().take_while(|&&hash| hash != u64::MAX);
    for (slot, &hash) in sketch.iter_mut().zip(used) {
        *slot = value(hash);
    }
    sketch.sort_unstable();
    // Two hashes with one value are rare; the second is dropped.
    for at in 1..SKETCH_VALUES {
        if sketch[at] == sketch[at - 1] {
            sketch[at - 1] = EMPTY;
        }
    }
    sketch.sort_unstable();
    sketch
}

/// Return all values of a text, sorted and unique: those its sketch could have.
pub(super) fn all_values(text: &[u8]) -> Vec<u32> {
    // A text made so that all its grams are sampled must not take four times its length.
    let at_most = text.len() / 8 + SKETCH_VALUES;
    let mut found: Vec<u32> = hashes(text).take(at_most).map(value).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Return the hashes of the sampled grams.
fn hashes(page: &[u8]) -> impl Iterator<Item = u64> {
    page.windows(8).filter_map(|gram| {
        let bytes: [u8; 8] = gram.try_into().ok()?;
        let spread = u64::from_le_bytes(bytes).wrapping_mul(SPREAD);
        // The high bits depend on every byte of the gram, the low bits only on its first byte.
        (spread < u64::MAX / SAMPLED).then(|| {
            let mixed = (spread ^ (spread >> 31)).wrapping_mul(MIX);
            mixed ^ (mixed >> 29)
        })
    })
}

/// Return the part of a hash that is kept.
///
/// The smallest hashes of long pages have their high bits in common, so these would often be equal
/// by chance; the low bits are not.
fn value(hash: u64) -> u32 {
    (hash as u32).min(EMPTY - 1)
}
