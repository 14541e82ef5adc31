//! Tokens: tags as written and the strings between them.
//!
//! Every byte is in exactly one token, so tokens in a row are the page. A tag begins with `<` before a letter, `/`, `!` or `?`
//! and ends with the next `>`; a comment ends with `-->`. What never ends goes to the end of the page. One pass.

use std::collections::HashMap;

use memchr::{memchr, memmem};

/// A page as tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// A number for each token; equal tokens have equal numbers.
    pub ids: Vec<u32>,
    /// Where each token ends in the page.
    pub ends: Vec<usize>,
}

impl Tokens {
    /// Where a token begins.
    pub fn start(&self, token: usize) -> usize {
        if token == 0 { 0 } else { self.ends[token - 1] }
    }
}

/// Two pages with numbers in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The reference.
    pub one: Tokens,
    /// The page.
    pub other: Tokens,
}

impl Pair {
    /// Cut two pages.
    ///
    /// ```
    /// use quire_core::codec::tbc::tokens::Pair;
    ///
    /// let cut = Pair::new(b"<p>Cod</p>", b"<p>Ham</p>");
    /// assert_eq!((cut.one.ids, cut.other.ids), (vec![0, 1, 2], vec![0, 3, 2]));
    /// ```
    pub fn new(one: &[u8], other: &[u8]) -> Self {
        let mut numbers = HashMap::new();
        let mut cut = |page| -> Tokens {
            let mut tokens = Tokens::default();
            let mut start = 0;
            for end in ends(page) {
                let next = numbers.len() as u32;
                tokens
                    .ids
                    .push(*numbers.entry(&page[start..end]).or_insert(next));
                tokens.ends.push(end);
                start = end;
            }
            tokens
        };
        Self {
            one: cut(one),
            other: cut(other),
        }
    }
}

/// Where the tokens of a page end.
pub fn ends(page: &[u8]) -> impl Iterator<Item = usize> {
    let mut at = 0;
    std::iter::from_fn(move || {
        if at == page.len() {
            return None;
        }
        at += if begins_tag(&page[at..]) {
            tag_length(&page[at..])
        } else {
            string_length(&page[at..])
        };
        Some(at)
    })
}

fn begins_tag(rest: &[u8]) -> bool {
    rest.len() > 1
        && rest[0] == b'<'
        && (rest[1].is_ascii_alphabetic() || matches!(rest[1], b'/' | b'!' | b'?'))
}

fn tag_length(rest: &[u8]) -> usize {
    let end = if rest.starts_with(b"<!--") {
        memmem::find(&rest[4..], b"-->").map(|at| at + 7)
    } else {
        memchr(b'>', rest).map(|at| at + 1)
    };
    end.unwrap_or(rest.len())
}

fn string_length(rest: &[u8]) -> usize {
    let mut at = 1;
    while let Some(found) = memchr(b'<', &rest[at..]) {
        if begins_tag(&rest[at + found..]) {
            return at + found;
        }
        at += found + 1;
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(page: &str) -> Vec<&str> {
        let mut start = 0;
        ends(page.as_bytes())
            .map(|end| {
                let token = &page[start..end];
                start = end;
                token
            })
            .collect()
    }

    #[test]
    fn tags_and_strings_are_tokens_and_no_byte_is_lost() {
        assert_eq!(cut("a<b c>d</b>"), ["a", "<b c>", "d", "</b>"]);
        assert_eq!(cut("1 < 2 <3<br>"), ["1 < 2 <3", "<br>"]);
        assert_eq!(
            cut("<!-- <p> -- > --><?x?>"),
            ["<!-- <p> -- > -->", "<?x?>"]
        );
        assert_eq!(cut("<!DOCTYPE html><p"), ["<!DOCTYPE html>", "<p"]);
        assert_eq!(cut("<!-- ends never"), ["<!-- ends never"]);
        assert_eq!(cut("<"), ["<"]);
        assert_eq!(cut(""), [""; 0]);
    }
}
