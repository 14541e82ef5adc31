//! Words as features: what two texts have in common, whatever is between the words.
//!
//! A word is a run of letters and digits with their combining marks, in lower case. A letter of a
//! script without spaces between words is a word by itself. Everything else separates words. One
//! pass.

use crate::base::word_chars::{is_mark, is_unspaced};

/// Call `word` with each word of a text, in order.
pub fn each(text: &str, mut word: impl FnMut(&str)) {
    let mut lower = String::new();
    let mut give = |found: &str| {
        if found.is_empty() {
            return;
        }
        if found.is_ascii() {
            lower.clear();
            lower.push_str(found);
            lower.make_ascii_lowercase();
            word(&lower);
        } else {
            word(&found.to_lowercase());
        }
    };
    let mut start = 0; // start of the open word, if any
    let mut open = false;
    let mut alone = false; // the open word accepts only marks
    for (at, c) in text.char_indices() {
        if open && !c.is_ascii() && is_mark(c) {
            continue;
        }
        let letter = if c.is_ascii() {
            c.is_ascii_alphanumeric()
        } else {
            c.is_alphanumeric() && !is_mark(c)
        };
        let single = letter && is_unspaced(c);
        if open && (!letter || single || alone) {
            give(&text[start..at]);
            open = false;
        }
        if letter && !open {
            (start, open, alone) = (at, true, single);
        }
    }
    if open {
        give(&text[start..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each(text, |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn words_are_found_in_every_script() {
        assert_eq!(words("a.b, C"), ["a", "b", "c"]);
        assert_eq!(words("Ünïcode e\u{301}té"), ["ünïcode", "e\u{301}té"]);
        assert_eq!(words("東京2026年open"), ["東", "京", "2026", "年", "open"]);
        assert_eq!(words("กี่ข"), ["กี่", "ข"]);
        assert_eq!(words("\u{301}a -- \u{200d}"), ["a"]);
        assert!(words("").is_empty());
    }

    #[test]
    fn words_are_lower_case_without_punctuation() {
        let mut words = Vec::new();
        each("Fish & CHIPS, 東京 3.50", |word| {
            words.push(word.to_owned());
        });
        assert_eq!(words, ["fish", "chips", "東", "京", "3", "50"]);
    }
}
