//! Sketches: what a changed subtree is made of, in sixteen numbers.
//!
//! Only novel subtrees are sketched; all others have a twin. The tokens of a novel subtree are the words of its
//! novel texts, the tokens of its attributes, and its *units*: the largest subtrees below that do
//! occur on the other side (unless they occur too often to mean anything). A sketch
//! keeps the sixteen smallest token hashes, so the sketch of a parent is made from those
//! of its children, and two sketches estimate how alike two sets are.
//!
//! Cost: sixteen steps a novel node, once, and only for pages that need it.

use super::tree::Tree;
use crate::base::hash::hash64_seeded;
use crate::sdiff::common_words::words;
use crate::sdiff::labels::mix;

// What is smallest must not change from one process to the next, so these hashes have no key.
// Crafted tokens can make two subtrees look alike, which costs length and nothing else.
const UNIT: u64 = 1 << 40;
const WORD: u64 = 1;
const NAME: u64 = 2;

/// Tokens kept.
pub const WIDTH: usize = 16;
/// Units that occur more often than this on a page say nothing.
const MAX_COPIES: u32 = 8;
/// Bytes of one text that are cut into words.
const MAX_TEXT_BYTES: usize = 4096;
/// Tokens of one attribute run.
const MAX_ATTRIBUTE_TOKENS: usize = 64;

/// The smallest tokens of a set, in order.
#[derive(Clone, Debug, Default)]
pub struct Sketch {
    tokens: [u64; WIDTH],
    len: u8,
    /// Units below.
    pub units: u32,
    /// Novel nodes in the subtree.
    pub novel: u32,
}

impl Sketch {
    /// The tokens.
    pub fn tokens(&self) -> &[u64] {
        &self.tokens[..self.len as usize]
    }

    fn add(&mut self, token: u64) {
        let len = self.len as usize;
        let at = self.tokens[..len].partition_point(|&kept| kept < token);
        if at == WIDTH || at < len && self.tokens[at] == token {
            return;
        }
        let end = (len + 1).min(WIDTH);
        self.tokens.copy_within(at..end - 1, at + 1);
        self.tokens[at] = token;
        self.len = end as u8;
    }

    fn merge(&mut self, other: &Sketch) {
        for &token in other.tokens() {
            if self.len as usize == WIDTH && token > self.tokens[WIDTH - 1] {
                break;
            }
            self.add(token);
        }
        self.units += other.units;
        self.novel += other.novel;
    }

    /// How alike two sets are: the share of common tokens among the smallest of their union.
    pub fn likeness(&self, other: &Sketch) -> f64 {
        let (mut mine, mut others) = (self.tokens(), other.tokens());
        let (mut taken, mut common) = (0u8, 0u8);
        while taken < WIDTH as u8 {
            taken += 1;
            match (mine, others) {
                ([], []) => {
                    taken -= 1;
                    break;
                }
                ([a, after @ ..], [b, after_other @ ..]) if a == b => {
                    common += 1;
                    (mine, others) = (after, after_other);
                }
                ([a, after @ ..], [b, ..]) if a < b => mine = after,
                ([_, after @ ..], []) => mine = after,
                (_, [_, after @ ..]) => others = after,
            }
        }
        if taken == 0 {
            return 0.0;
        }
        f64::from(common) / f64::from(taken)
    }
}

/// Sketches of the novel nodes of a side.
pub struct Sketches {
    /// Where each node's sketch is, for novel nodes.
    place: Vec<u32>,
    of: Vec<Sketch>,
    nothing: Sketch,
}

impl Sketches {
    /// Sketch a side. `twin` is the number of each subtree, `copies` says how often a subtree occurs on it, `novel` whether it does
    /// not occur on the other.
    pub fn new(
        tree: Tree,
        twin: &[u32],
        novel: impl Fn(u32) -> bool,
        copies: impl Fn(u32) -> u32,
    ) -> Self {
        const NOWHERE: u32 = u32::MAX;
        let n = tree.n();
        let mut place = vec![NOWHERE; n];
        let mut count = 0;
        for node in 0..n as u32 {
            if novel(node) {
                place[node as usize] = count;
                count += 1;
            }
        }
        let mut sketches = vec![Sketch::default(); count as usize];
        for node in (0..n as u32).rev() {
            let above = tree.above(node).map(|parent| place[parent as usize]);
            let at = place[node as usize];
            if at == NOWHERE {
                // Below a novel node: a unit. Elsewhere it is part of a larger twin.
                if let Some(parent) = above.filter(|&parent| parent != NOWHERE)
                    && copies(node) <= MAX_COPIES
                {
                    let parent = &mut sketches[parent as usize];
                    parent.add(mix(UNIT.wrapping_add(u64::from(twin[node as usize]))));
                    parent.units += 1;
                }
                continue;
            }
            let mut sketch = std::mem::take(&mut sketches[at as usize]);
            sketch.novel += 1;
            own_tokens(tree, node, &mut sketch);
            if let Some(parent) = above {
                sketches[parent as usize].merge(&sketch);
            }
            sketches[at as usize] = sketch;
        }
        Self {
            place,
            of: sketches,
            nothing: Sketch::default(),
        }
    }

    /// The sketch of a node; an empty one when it has a twin.
    #[inline]
    pub fn get(&self, node: u32) -> &Sketch {
        self.of
            .get(self.place[node as usize] as usize)
            .unwrap_or(&self.nothing)
    }
}

/// The words and attribute tokens of a node itself.
fn own_tokens(tree: Tree, node: u32, sketch: &mut Sketch) {
    let at = tree.at(node);
    let wide = tree.page.wide();
    if let Ok(id) = usize::try_from(wide.content[at]) {
        let text = tree.page.content_text(id);
        let mut looked_at = 0;
        for word in words(&text) {
            sketch.add(hash64_seeded(word.as_bytes(), WORD));
            looked_at += word.len();
            if looked_at > MAX_TEXT_BYTES {
                break;
            }
        }
    }
    if wide.attr[at] >= 0 {
        let attributes = tree.page.attributes(at);
        let tokens = attributes.iter().flat_map(|(name, value)| {
            let seed = hash64_seeded(name.as_bytes(), NAME);
            value
                .split_ascii_whitespace()
                .map(move |token| hash64_seeded(token.as_bytes(), seed))
        });
        for token in tokens.take(MAX_ATTRIBUTE_TOKENS) {
            sketch.add(token);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likeness_is_that_of_the_sets_when_they_are_small() {
        let sketch = |tokens: &[u64]| {
            let mut sketch = Sketch::default();
            for &token in tokens {
                sketch.add(token);
            }
            sketch
        };
        assert!((sketch(&[3, 1, 2, 3]).likeness(&sketch(&[2, 4, 3])) - 0.5).abs() < 1e-6);
        assert!((sketch(&[]).likeness(&sketch(&[1]))).abs() < 1e-6);
    }

    #[test]
    fn the_smallest_tokens_are_kept() {
        let mut sketch = Sketch::default();
        for token in (0..100).rev() {
            sketch.add(token);
        }
        assert_eq!(sketch.tokens(), (0..16).collect::<Vec<u64>>());
    }
}
