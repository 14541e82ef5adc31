//! Tokens: tags as written, and the strings between them.
//!
//! Every byte is in exactly one token, so the tokens joined are the page. A tag begins with `<`
//! before a letter, `/`, `!` or `?` and ends with the next `>`; a comment ends with `-->`. A tag or
//! comment without an end goes to the end of the page. One pass.

use memchr::{memchr, memmem};

use super::hashed::{Known, hash};

/// A page as tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// A number for each token; equal tokens have equal numbers.
    pub ids: Vec<u32>,
    /// Where each token ends in the page.
    pub ends: Vec<usize>,
}

impl Tokens {
    /// Return the start of a token in the page.
    pub fn start(&self, token: usize) -> usize {
        if token == 0 { 0 } else { self.ends[token - 1] }
    }
}

/// The number of a token that the reference does not have. Two of these are never considered equal.
pub const NEW: u32 = u32::MAX;

/// A tokenized reference, with its tokens by hash.
#[derive(Debug)]
pub struct Cut {
    /// Its tokens.
    pub tokens: Tokens,
    known: Known,
    /// For each number, one token that has it.
    example: Vec<u32>,
}

impl Cut {
    /// Tokenize a reference.
    pub fn new(reference: &[u8]) -> Self {
        let mut cut = Self {
            tokens: Tokens::default(),
            known: Known::default(),
            example: Vec::new(),
        };
        let mut start = 0;
        for end in ends(reference) {
            let token = &reference[start..end];
            let place = cut.tokens.ids.len() as u32;
            let next = cut.example.len() as u32;
            let mut number = *cut.known.entry(hash(token)).or_insert(next);
            // Another token with the same hash occupies the slot: this one will not be found again.
            if number != next && cut.token(reference, number) != token {
                number = next;
            }
            if number == next {
                cut.example.push(place);
            }
            cut.tokens.ids.push(number);
            cut.tokens.ends.push(end);
            start = end;
        }
        cut
    }

    /// Tokenize a page; its tokens get the numbers of the reference.
    pub fn cut(&self, reference: &[u8], page: &[u8]) -> Tokens {
        let mut tokens = Tokens::default();
        let mut start = 0;
        for end in ends(page) {
            let token = &page[start..end];
            let number = (self.known.get(&hash(token)).copied())
                .filter(|&number| self.token(reference, number) == token);
            tokens.ids.push(number.unwrap_or(NEW));
            tokens.ends.push(end);
            start = end;
        }
        tokens
    }

    /// Return the token with this number.
    fn token<'a>(&self, reference: &'a [u8], number: u32) -> &'a [u8] {
        let place = self.example[number as usize] as usize;
        &reference[self.tokens.start(place)..self.tokens.ends[place]]
    }
}

/// Return the end of each token of a page.
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

    #[test]
    fn tokens_of_a_page_have_the_numbers_of_its_reference() {
        let reference = b"<p>Cod</p>";
        let cut = Cut::new(reference);
        assert_eq!(cut.tokens.ids, [0, 1, 2]);
        assert_eq!(cut.cut(reference, b"<p>Ham</p>").ids, [0, NEW, 2]);
    }
}
