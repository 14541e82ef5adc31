//! Weights of one side that decide between candidates: how much a subtree says, and the words it has.
//!
//! *Information* is what makes a subtree worth recognising elsewhere: letters of
//! its texts and, for a quarter, bytes of its attributes, each divided by how often it
//! occurs on the page. `72` says nothing, `72 Kommentare` under each article
//! hardly more; a sentence says where it came from. Digits do not count.
//!
//! The *reading* of a subtree is a hash of the words of its texts in order, whatever elements stand
//! around them, so it survives a redesign. Both are prefix sums over
//! pre-order, so a subtree is one subtraction. One pass over nodes and distinct strings.

use super::tree::Tree;
use crate::base::hash::hash64_seeded;
use crate::sdiff::labels::{key, mix};

/// Units of information in a letter that occurs once.
pub const LETTER: u64 = 64;
/// Letters of one text that count.
const MAX_LETTERS: u64 = 64;
/// Characters of one text that are looked at.
const MAX_LOOKED_AT: usize = 256;
const BASE: u64 = 0x2545_f491_4f6c_dd1d;

/// Prefix sums over the nodes of a side.
pub struct Weights {
    info: Vec<u64>,
    letters: Vec<u64>,
    texts: Vec<u32>,
    reading: Vec<u64>,
    /// Powers of the base of the reading, by number of texts.
    powers: Vec<u64>,
}

impl Weights {
    /// Gather the weights of a side.
    pub fn new(tree: Tree) -> Self {
        let n = tree.n();
        let (letters_of, reads) = strings(tree);
        let (content_uses, attr_uses) = uses(tree);
        let wide = tree.page.wide();
        let offsets = tree.page.attr_offsets();
        let mut weights = Self {
            info: Vec::with_capacity(n + 1),
            letters: Vec::with_capacity(n + 1),
            texts: Vec::with_capacity(n + 1),
            reading: Vec::with_capacity(n + 1),
            powers: vec![1],
        };
        let (mut info, mut letters, mut texts, mut reading) = (0, 0, 0, 0u64);
        weights.push(info, letters, texts, reading);
        for node in 0..n as u32 {
            let at = tree.at(node);
            if let Ok(id) = usize::try_from(wide.content[at]) {
                info += LETTER * letters_of[id] / u64::from(content_uses[id]);
                letters += letters_of[id];
                if tree.class(node).is_text() {
                    texts += 1;
                    reading = (reading.wrapping_mul(BASE)).wrapping_add(reads[id]);
                    let last = weights.powers[texts as usize - 1];
                    weights.powers.push(last.wrapping_mul(BASE));
                }
            }
            if let Ok(id) = usize::try_from(wide.attr[at]) {
                let bytes = u64::from(offsets[id + 1] - offsets[id]).min(MAX_LETTERS);
                info += LETTER * bytes / 4 / u64::from(attr_uses[id]);
            }
            weights.push(info, letters, texts, reading);
        }
        weights
    }

    fn push(&mut self, info: u64, letters: u64, texts: u32, reading: u64) {
        self.info.push(info);
        self.letters.push(letters);
        self.texts.push(texts);
        self.reading.push(reading);
    }

    /// Information in a subtree, in 64ths of a letter.
    #[inline]
    pub fn info(&self, tree: Tree, node: u32) -> u64 {
        self.info[(node + tree.size(node)) as usize] - self.info[node as usize]
    }

    /// Letters in a subtree, each text cut at 64.
    #[inline]
    pub fn letters(&self, tree: Tree, node: u32) -> u64 {
        self.letters[(node + tree.size(node)) as usize] - self.letters[node as usize]
    }

    /// Number of texts in a subtree.
    #[inline]
    pub fn texts(&self, tree: Tree, node: u32) -> u32 {
        self.texts[(node + tree.size(node)) as usize] - self.texts[node as usize]
    }

    /// Hash of the texts in a subtree, in order. 0 when there is none.
    #[inline]
    pub fn reading(&self, tree: Tree, node: u32) -> u64 {
        let texts = self.texts(tree, node) as usize;
        if texts == 0 {
            return 0;
        }
        let (from, to) = (node as usize, (node + tree.size(node)) as usize);
        let before = self.reading[from].wrapping_mul(self.powers[texts]);
        mix(self.reading[to]
            .wrapping_sub(before)
            .wrapping_add(texts as u64))
            | 1
    }
}

/// Letters of every distinct content, and a hash of its words: white space does not count.
fn strings(tree: Tree) -> (Vec<u64>, Vec<u64>) {
    let page = tree.page;
    let key = key();
    let mut words = String::new();
    (0..page.content_count())
        .map(|id| {
            let text = page.content_text(id);
            let letters = (text.chars().take(MAX_LOOKED_AT))
                .filter(|char| char.is_alphabetic())
                .count();
            words.clear();
            for word in text.split_ascii_whitespace() {
                words.push_str(word);
                words.push(' ');
            }
            let reads = hash64_seeded(words.as_bytes(), key);
            ((letters as u64).min(MAX_LETTERS), reads)
        })
        .unzip()
}

/// How often each content and each attribute run occurs.
fn uses(tree: Tree) -> (Vec<u32>, Vec<u32>) {
    let page = tree.page;
    let wide = page.wide();
    let mut contents = vec![0; page.content_count()];
    let mut attrs = vec![0; page.attr_count()];
    for node in 0..tree.n() as u32 {
        let at = tree.at(node);
        if let Ok(id) = usize::try_from(wide.content[at]) {
            contents[id] += 1;
        }
        if let Ok(id) = usize::try_from(wide.attr[at]) {
            attrs[id] += 1;
        }
    }
    (contents, attrs)
}
