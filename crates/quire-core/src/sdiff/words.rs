//! Words: what changed inside a text.
//!
//! A text is cut into words, and the words are compared as a sequence. What is a word is
//! decided character by character, without dictionaries:
//!
//! * letters and digits in a row, with apostrophes and the points and commas of numbers inside (`don't`,
//!   `1,234.50`);
//! * white space in a row;
//! * a character of a script that does not put spaces between words (Chinese, Japanese, Thai, Khmer, ...);
//! * any other character.
//!
//! Combining marks stay with the letter before them, so no letter is torn apart.
//!
//! Linear in the texts, however they are made, so that all texts of a page together are linear
//! in the page. A comparison may cost [`CELLS`] cells of its table for each word, which is enough
//! for some hundred words on both sides. Longer texts are first cut at words that occur once on
//! both sides (patience), as often as that helps; a part that is still too long, and has no such
//! word, counts as one change. Parts that are short enough are compared by histogram diff.

use std::collections::HashMap;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, Token};

use super::placement::longest_increasing;
use crate::base::word_chars::{is_mark, is_unspaced};

/// Cells of the table of a comparison for each word of both texts; a cell takes about two
/// nanoseconds.
const CELLS: usize = 128;
/// How often parts are cut into smaller parts.
const MAX_CUTS: u32 = 8;

/// A part that changed, as ranges of characters; one of the two may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// What is gone.
    pub old: Range<u32>,
    /// What is there instead.
    pub new: Range<u32>,
}

/// Find the parts that changed.
///
/// ```
/// use quire_core::sdiff::word_changes;
///
/// let found = word_changes("Open 9 to 5", "Open 10 to 5");
/// assert_eq!((found[0].old.clone(), found[0].new.clone()), (5..6, 5..7));
/// ```
#[must_use]
pub fn word_changes(old: &str, new: &str) -> Vec<Hunk> {
    let (old_words, new_words) = (words(old), words(new));
    let hunks = differing(&old_words, &new_words);
    let old_places = places(&old_words);
    let new_places = places(&new_words);
    (join_over_spaces(hunks, &old_words).into_iter())
        .map(|(old, new)| Hunk {
            old: old_places[old.start]..old_places[old.end],
            new: new_places[new.start]..new_places[new.end],
        })
        .collect()
}

type Change = (Range<usize>, Range<usize>);

/// The parts that differ, in words.
fn differing(old: &[&str], new: &[&str]) -> Vec<Change> {
    let head = (old.iter().zip(new))
        .take_while(|(old, new)| old == new)
        .count();
    let tail = (old[head..].iter().rev().zip(new[head..].iter().rev()))
        .take_while(|(old, new)| old == new)
        .count();
    let (old, new) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    if old.is_empty() && new.is_empty() {
        return Vec::new();
    }
    if old.is_empty() || new.is_empty() {
        return vec![(head..head + old.len(), head..head + new.len())];
    }
    let mut known: HashMap<&str, Token> = HashMap::new();
    let old = tokens(old, &mut known);
    let new = tokens(new, &mut known);
    sequence_changes(&old, &new, known.len() as u32)
        .into_iter()
        .map(|(old, new)| {
            (
                old.start + head..old.end + head,
                new.start + head..new.end + head,
            )
        })
        .collect()
}

/// A number for each different string.
pub(super) fn tokens<'a>(strings: &[&'a str], known: &mut HashMap<&'a str, Token>) -> Vec<Token> {
    (strings.iter())
        .map(|&string| {
            let next = Token(known.len() as u32);
            *known.entry(string).or_insert(next)
        })
        .collect()
}

/// The parts in which two sequences of tokens below `distinct` differ.
pub(super) fn sequence_changes(old: &[Token], new: &[Token], distinct: u32) -> Vec<Change> {
    let mut counts = vec![Count::default(); distinct as usize];
    let mut found: Vec<Change> = Vec::new();
    // The last part is on top, so that changes come in order.
    let mut parts = vec![(0..old.len(), 0..new.len(), MAX_CUTS)];
    while let Some((from, to, cuts)) = parts.pop() {
        let (xs, ys) = (&old[from.clone()], &new[to.clone()]);
        let head = xs.iter().zip(ys).take_while(|(x, y)| x == y).count();
        let rest = xs[head..].iter().rev().zip(ys[head..].iter().rev());
        let tail = rest.take_while(|(x, y)| x == y).count();
        let (from, to) = (
            from.start + head..from.end - tail,
            to.start + head..to.end - tail,
        );
        let (xs, ys) = (&old[from.clone()], &new[to.clone()]);
        if xs.is_empty() && ys.is_empty() {
            continue;
        }
        if xs.is_empty() || ys.is_empty() {
            found.push((from, to));
        } else if xs.len().saturating_mul(ys.len()) <= CELLS * (xs.len() + ys.len()) {
            found.extend(
                table_changes(xs, ys, &mut counts)
                    .into_iter()
                    .map(|(x, y)| {
                        (
                            from.start + x.start..from.start + x.end,
                            to.start + y.start..to.start + y.end,
                        )
                    }),
            );
        } else {
            let anchors = match cuts {
                0 => Vec::new(),
                _ => unique_in_both(xs, ys, &mut counts),
            };
            if anchors.is_empty() {
                found.push((from, to));
                continue;
            }
            let (mut i, mut j) = (from.end, to.end);
            for &(x, y) in anchors.iter().rev() {
                parts.push((from.start + x + 1..i, to.start + y + 1..j, cuts - 1));
                (i, j) = (from.start + x, to.start + y);
            }
            parts.push((from.start..i, to.start..j, cuts - 1));
        }
    }
    found
}

/// Notes about a token while one part is looked at: how often it occurs on each side, and where
/// it was met last, or its number in a table.
#[derive(Clone, Copy, Default)]
struct Count {
    old: u32,
    new: u32,
    place: u32,
}

/// The places of the tokens that occur once on each side, as many as are in order on both.
fn unique_in_both(old: &[Token], new: &[Token], counts: &mut [Count]) -> Vec<(usize, usize)> {
    for token in old {
        counts[token.0 as usize].old += 1;
    }
    for (place, token) in new.iter().enumerate() {
        let count = &mut counts[token.0 as usize];
        count.new += 1;
        count.place = place as u32;
    }
    let found: Vec<(usize, u32)> = (old.iter().enumerate())
        .map(|(place, token)| (place, counts[token.0 as usize]))
        .filter(|(_, count)| count.old == 1 && count.new == 1)
        .map(|(place, count)| (place, count.place))
        .collect();
    for token in old.iter().chain(new) {
        counts[token.0 as usize] = Count::default();
    }
    let places: Vec<u32> = found.iter().map(|&(_, place)| place).collect();
    (longest_increasing(&places).into_iter())
        .map(|at| (found[at].0, found[at].1 as usize))
        .collect()
}

/// The parts that differ, from one table.
fn table_changes(old: &[Token], new: &[Token], counts: &mut [Count]) -> Vec<Change> {
    // Numbers of this part alone: the table is as large as the largest one.
    let mut distinct = 0;
    let mut numbered = |tokens: &[Token]| -> Vec<Token> {
        (tokens.iter())
            .map(|token| {
                let count = &mut counts[token.0 as usize];
                if count.place == 0 {
                    distinct += 1;
                    count.place = distinct;
                }
                Token(count.place - 1)
            })
            .collect()
    };
    let (xs, ys) = (numbered(old), numbered(new));
    let mut diff = Diff::default();
    diff.compute_with(Algorithm::Histogram, &xs, &ys, distinct);
    for token in old.iter().chain(new) {
        counts[token.0 as usize] = Count::default();
    }
    diff.hunks()
        .map(|hunk| {
            (
                hunk.before.start as usize..hunk.before.end as usize,
                hunk.after.start as usize..hunk.after.end as usize,
            )
        })
        .collect()
}

/// Make one change of two that replace words, where only a space is between them.
fn join_over_spaces(changes: Vec<Change>, old: &[&str]) -> Vec<Change> {
    let replaces = |change: &Change| !change.0.is_empty() && !change.1.is_empty();
    let mut joined: Vec<Change> = Vec::with_capacity(changes.len());
    for change in changes {
        if let Some(last) = joined.last_mut() {
            let between = &old[last.0.end..change.0.start];
            if replaces(last) && replaces(&change) && between.iter().all(|word| is_space(word)) {
                (last.0.end, last.1.end) = (change.0.end, change.1.end);
                continue;
            }
        }
        joined.push(change);
    }
    joined
}

fn is_space(word: &str) -> bool {
    word.chars().all(char::is_whitespace)
}

/// Where each word begins, in characters; and the end.
fn places(words: &[&str]) -> Vec<u32> {
    let mut places = Vec::with_capacity(words.len() + 1);
    let mut at = 0;
    places.push(0);
    for word in words {
        at += word.chars().count() as u32;
        places.push(at);
    }
    places
}

/// What a character does to the word before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Space,
    Letter,
    Digit,
    /// Stands alone.
    Single,
    /// Belongs to what is before it.
    Mark,
    /// Belongs to a word when letters are on both sides.
    Apostrophe,
    /// Belongs to a number when digits are on both sides.
    Point,
}

fn kind(c: char) -> Kind {
    match c {
        '\'' | '\u{2019}' => Kind::Apostrophe,
        '.' | ',' => Kind::Point,
        '0'..='9' => Kind::Digit,
        _ if c.is_ascii() => {
            if c.is_ascii_alphabetic() || c == '_' {
                Kind::Letter
            } else if c.is_whitespace() {
                Kind::Space
            } else {
                Kind::Single
            }
        }
        _ if c.is_whitespace() => Kind::Space,
        _ if is_mark(c) => Kind::Mark,
        _ if is_unspaced(c) => Kind::Single,
        _ if c.is_numeric() => Kind::Digit,
        _ if c.is_alphabetic() => Kind::Letter,
        _ => Kind::Single,
    }
}

/// Cut a text into words. They are the text again when put together.
#[must_use]
pub fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    let mut last: Option<Kind> = None; // the kind of the character before
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let mut this = kind(c);
        let next = chars.peek().map(|&(_, next)| kind(next));
        let joins = match (last, this) {
            (None, _)
            | (_, Kind::Mark)
            | (Some(Kind::Space), Kind::Space)
            | (Some(Kind::Letter | Kind::Digit), Kind::Letter | Kind::Digit) => true,
            (Some(Kind::Letter), Kind::Apostrophe) if next == Some(Kind::Letter) => {
                this = Kind::Letter;
                true
            }
            (Some(Kind::Digit), Kind::Point | Kind::Apostrophe) if next == Some(Kind::Digit) => {
                this = Kind::Digit;
                true
            }
            // A joiner puts two pictures together to one.
            (Some(Kind::Mark), Kind::Single) => text[..at].ends_with('\u{200d}'),
            _ => false,
        };
        if !joins {
            words.push(&text[start..at]);
            start = at;
        }
        last = match (this, last) {
            // A letter with a mark is still a letter.
            (Kind::Mark, Some(before @ (Kind::Letter | Kind::Digit))) => Some(before),
            _ => Some(this),
        };
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(old: &str, new: &str) -> Vec<(String, String)> {
        let cut = |text: &str, range: &Range<u32>| -> String {
            let (start, end) = (range.start as usize, range.end as usize);
            text.chars().skip(start).take(end - start).collect()
        };
        (word_changes(old, new).iter())
            .map(|hunk| (cut(old, &hunk.old), cut(new, &hunk.new)))
            .collect()
    }

    fn pair(old: &str, new: &str) -> (String, String) {
        (old.to_owned(), new.to_owned())
    }

    #[test]
    fn words_change_as_a_whole() {
        assert_eq!(
            changes("The river is open", "The river was closed"),
            [pair("is open", "was closed")]
        );
        assert_eq!(changes("12.3 %", "12.4 %"), [pair("12.3", "12.4")]);
        assert_eq!(changes("a b", "a b"), []);
        assert_eq!(changes("", "a"), [pair("", "a")]);
        assert_eq!(changes("a c", "a b c"), [pair("", "b ")]);
    }

    #[test]
    fn scripts_without_spaces_change_character_by_character() {
        assert_eq!(
            changes("私は東京に住んでいます", "私は京都に住んでいます"),
            [pair("東", ""), pair("", "都")]
        );
        assert_eq!(changes("今天天气很好", "今天天气不好"), [pair("很", "不")]);
    }

    #[test]
    fn nothing_that_belongs_together_is_torn_apart() {
        for whole in [
            "e\u{301}te\u{301}",
            "don't",
            "👩\u{200d}🚀",
            "👍🏽",
            "हिन्दी",
            "1'234,5",
            "กี่",
        ] {
            assert_eq!(words(whole), [whole]);
        }
        assert_eq!(words("a.b, c"), ["a", ".", "b", ",", " ", "c"]);
    }

    #[test]
    fn words_are_the_text() {
        let text = "É. 9,5'–x\u{200d}\u{301} 東a\r\n\t'q' ";
        assert_eq!(words(text).concat(), text);
    }

    #[test]
    fn hostile_texts_end_soon() {
        let digits = |modulus: usize| -> String {
            let digit = |i: usize| char::from(b'a' + (i * i % modulus) as u8);
            (0..30_000).flat_map(|i| [digit(i), ' ']).collect()
        };
        let (some, other) = (digits(7), digits(11));
        assert!(!word_changes(&some, &other).is_empty());
        let long = "a b ".repeat(1_000_000);
        assert_eq!(word_changes(&long, &long.replace('a', "c")).len(), 1);
    }

    #[test]
    fn words_keep_numbers_whole_and_cut_unspaced_scripts() {
        assert_eq!(words("It's 1,234.50!"), ["It's", " ", "1,234.50", "!"]);
        assert_eq!(words("东京 2026年"), ["东", "京", " ", "2026", "年"]);
    }
}
