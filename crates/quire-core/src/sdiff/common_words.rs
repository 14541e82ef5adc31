//! Common words: whether two texts read mostly the same.
//!
//! The judgement for texts that stand somewhere else now, where only their words speak for
//! them: at least half of the words of the longer text must be in the other one, too, each as
//! often. Their order does not count.

use crate::base::hash::hash64_seeded;

use super::labels::key;

/// The words of a text: runs of letters and digits. A text without any is one word, and so that
/// texts in scripts without spaces share words too, other letters stand alone.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    let mut any = false;
    std::iter::from_fn(move || {
        let start = rest.find(char::is_alphanumeric).unwrap_or(rest.len());
        let found = &rest[start..];
        let Some(first) = found.chars().next() else {
            let whole = std::mem::take(&mut rest);
            let lone = !any && !whole.is_empty();
            any = true;
            return lone.then_some(whole);
        };
        any = true;
        let end = if is_ideograph(first) {
            first.len_utf8()
        } else {
            found
                .find(|char: char| !char.is_alphanumeric() || is_ideograph(char))
                .unwrap_or(found.len())
        };
        rest = &found[end..];
        Some(&found[..end])
    })
}

/// Letters of scripts that write no spaces between words, near enough.
fn is_ideograph(char: char) -> bool {
    matches!(u32::from(char), 0x0e00..=0x0fff | 0x1000..=0x109f | 0x3040..=0x30ff | 0x3400..=0x9fff | 0xf900..=0xfaff | 0x2_0000..=0x3_ffff)
}

/// The hashes of the words of a text, in order.
pub fn word_hashes(text: &str) -> impl Iterator<Item = u64> {
    let key = key();
    words(text).map(move |word| hash64_seeded(word.as_bytes(), key))
}

/// Whether at least half of the longer list is in the other one, too. O(k log k).
pub fn mostly_same(one: &[u64], other: &[u64]) -> bool {
    let longer = one.len().max(other.len());
    if one.len().min(other.len()) * 2 < longer {
        return false;
    }
    let sorted = |list: &[u64]| {
        let mut list = list.to_vec();
        list.sort_unstable();
        list
    };
    let (one, other) = (sorted(one), sorted(other));
    let (mut i, mut j, mut common) = (0, 0, 0);
    while i < one.len() && j < other.len() {
        match one[i].cmp(&other[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                common += 1;
                i += 1;
                j += 1;
            }
        }
    }
    common * 2 >= longer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_every_script() {
        let found = |text| words(text).collect::<Vec<_>>();
        assert_eq!(found("Fish & chips, 3.50"), ["Fish", "chips", "3", "50"]);
        assert_eq!(found("営業中 open"), ["営", "業", "中", "open"]);
        assert_eq!(found(" -- "), [" -- "]);
        assert!(found("").is_empty());
    }

    #[test]
    fn half_of_the_longer_text_must_be_in_the_other() {
        let same = |one: &str, other: &str| {
            let hashes = |text: &str| word_hashes(text).collect::<Vec<_>>();
            mostly_same(&hashes(one), &hashes(other))
        };
        assert!(same(
            "fish and chips, salt",
            "salt, chips and fish and chips"
        ));
        assert!(same("a b c d", "d x a"));
        assert!(!same("a b c d e", "e x a"));
        assert!(!same("a b c", "a"));
        // One occurrence of a word is not evidence for three.
        assert!(!same("a a a", "a b c"));
        assert!(same("", ""));
    }
}
