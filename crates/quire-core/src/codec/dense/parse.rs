//! The writer's search for matches. Readers do not need it.
//!
//! Positions of the base are chained by the hash of the 12 bytes that follow them, once for all
//! pages; positions of the page have tables of their own. A match that a candidate foretells is
//! cheap and used from a few bytes on; a match whose source must be written out has to be longer.

use super::places::Candidates;
use super::stream::Step;

/// Number of bytes that are hashed.
const KEY: usize = 12;
/// Maximum number of positions of a chain to check.
const DEPTH: usize = 48;

/// Positions of a text by the bytes that follow them.
pub struct Chains {
    heads: Vec<u32>,
    /// By position: the previous position in its chain, plus one.
    before: Vec<u32>,
    log: u32,
}

impl Chains {
    pub fn new(length: usize) -> Chains {
        let log = (length.max(256).ilog2() + 1).clamp(8, 18);
        Chains {
            heads: vec![0; 1 << log],
            before: Vec::with_capacity(length),
            log,
        }
    }

    /// Chain every position of a text.
    pub fn of(text: &[u8]) -> Chains {
        let mut chains = Chains::new(text.len());
        chains.extend(text, text.len());
        chains
    }

    /// Chain positions up to `end`.
    pub fn extend(&mut self, text: &[u8], end: usize) {
        for at in self.before.len()..end {
            let mut before = 0;
            if let Some(slot) = self.slot(text, at) {
                before = self.heads[slot];
                self.heads[slot] = at as u32 + 1;
            }
            self.before.push(before);
        }
    }

    fn slot(&self, text: &[u8], at: usize) -> Option<usize> {
        let key = text.get(at..at + KEY)?;
        let high = u64::from_le_bytes(key[..8].try_into().ok()?);
        let low = u32::from_le_bytes(key[8..].try_into().ok()?);
        let spread = (high.wrapping_mul(0xd6e8_feb8_6659_fd93) ^ u64::from(low))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Some((spread >> (64 - self.log)) as usize)
    }

    /// Return positions where the bytes at `at` of `text` may be found, the latest first.
    fn places(&self, text: &[u8], at: usize) -> impl Iterator<Item = usize> {
        let mut next = self.slot(text, at).map_or(0, |slot| self.heads[slot]);
        std::iter::from_fn(move || {
            let place = (next as usize).checked_sub(1)?;
            next = self.before[place];
            Some(place)
        })
        .take(DEPTH)
    }
}

/// Return how many bytes from two positions on are equal, up to `most`.
fn common(text: &[u8], one: usize, two: usize, most: usize) -> usize {
    let (a, b) = (&text[one..], &text[two..]);
    let most = most.min(b.len()).min(a.len());
    let mut same = 0;
    for (x, y) in a[..most].chunks_exact(8).zip(b[..most].chunks_exact(8)) {
        let x = u64::from_le_bytes(x.try_into().unwrap_or_default());
        let y = u64::from_le_bytes(y.try_into().unwrap_or_default());
        if x != y {
            return same + ((x ^ y).trailing_zeros() / 8) as usize;
        }
        same += 8;
    }
    same + a[same..most]
        .iter()
        .zip(&b[same..most])
        .take_while(|(x, y)| x == y)
        .count()
}

/// Minimum length of a match: from a candidate, near the last source, from anywhere.
const FORETOLD: usize = 20;
const NEARBY: usize = 32;
const ANYWHERE: usize = 48;

/// Number of bytes examined to detect noise.
const WINDOW: usize = 512;

/// Whether bytes are distributed as evenly as random ones. The sum of the squared counts is then
/// 1,536 for 512 bytes; for letters and digits, as in base64, it is 4,600.
fn is_noise(window: &[u8]) -> bool {
    let mut counts = [0u32; 256];
    for &byte in window {
        counts[usize::from(byte)] += 1;
    }
    counts.iter().map(|count| count * count).sum::<u32>() < 2000
}

/// Chooses the steps for a page that follows its base in `text`.
pub struct Parser<'a> {
    pub text: &'a [u8],
    pub base: &'a Chains,
    pub base_len: usize,
    pub own: Chains,
    /// No written-out match starts before this position, because a foretold match begins there.
    skip_until: usize,
    /// No noise starts before this position.
    quiet_until: usize,
}

impl<'a> Parser<'a> {
    pub fn new(text: &'a [u8], base: &'a Chains, base_len: usize) -> Parser<'a> {
        Parser {
            text,
            base,
            base_len,
            own: Chains::new(text.len() - base_len),
            skip_until: 0,
            quiet_until: 0,
        }
    }

    /// Return the step at `at`.
    pub fn step(
        &mut self,
        at: usize,
        candidates: &Candidates,
        along: usize,
        peek: &dyn Fn(usize) -> Candidates,
    ) -> Step<'a> {
        let foretold = self.best(at, candidates);
        if let Some((from, length)) = foretold
            && length >= 32
        {
            return Step::Copy { from, length };
        }
        let known = foretold.map_or(0, |(_, length)| length);
        if at >= self.skip_until
            && let Some((from, length)) = self.search(at, along)
            && length >= known + 12
        {
            // A match that begins a little later and need not be written out is cheaper.
            for later in 1..=8 {
                let soon = peek(at + later);
                if let Some((_, other)) = self.best(at + later, &soon)
                    && other + later + 4 >= length
                {
                    self.skip_until = at + later;
                    break;
                }
            }
            if at >= self.skip_until {
                return Step::Copy { from, length };
            }
        }
        match foretold {
            Some((from, length)) if length >= FORETOLD => Step::Copy { from, length },
            _ => match self.noise(at) {
                0 => Step::Literal(self.text[at]),
                length => Step::Stored(&self.text[at..at + length]),
            },
        }
    }

    /// Return how many bytes from here on are noise, which no model can compress.
    fn noise(&mut self, at: usize) -> usize {
        if at < self.quiet_until {
            return 0;
        }
        let windows = self.text[at..].chunks_exact(WINDOW);
        let length = windows.take_while(|window| is_noise(window)).count() * WINDOW;
        if length == 0 {
            self.quiet_until = at + WINDOW / 2;
        }
        length
    }

    fn best(&self, at: usize, candidates: &Candidates) -> Option<(usize, usize)> {
        let lengths = candidates.iter().map(|candidate| {
            let from = candidate.at as usize;
            (from, common(self.text, from, at, usize::MAX))
        });
        lengths.reduce(|best, next| if next.1 > best.1 { next } else { best })
    }

    fn search(&mut self, at: usize, along: usize) -> Option<(usize, usize)> {
        let own_at = at - self.base_len;
        let page = &self.text[self.base_len..];
        self.own.extend(page, own_at);
        let mut best: Option<(usize, usize, usize)> = None;
        let own = self
            .own
            .places(page, own_at)
            .map(|place| place + self.base_len);
        for from in own.chain(self.base.places(self.text, at)) {
            let length = common(self.text, from, at, usize::MAX);
            let near = from.abs_diff(along) <= 1 << 13;
            if length < if near { NEARBY } else { ANYWHERE } {
                continue;
            }
            let worth = length + if near { 16 } else { 0 };
            if best.is_none_or(|(most, ..)| worth > most) {
                best = Some((worth, from, length));
            }
        }
        best.map(|(_, from, length)| (from, length))
    }
}
