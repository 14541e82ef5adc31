//! Long runs: words that two texts have in common, however much else was rewritten.
//!
//! [`super::words`] compares two texts that are mostly the same. Here both texts may be whole
//! sections that were rewritten, and only long runs of words count: a short phrase such as "in
//! accordance with the" is in many texts and does not tell where one comes from. A run has
//! [`LONG_RUN`] words or more, whatever the punctuation between them, or it is a line of
//! [`LONG_LINE`] words or more, or all words of both texts.
//!
//! Runs that occur once on each side are found first, and the heaviest that are in order on both
//! sides are kept. Between these, every run is kept as early as possible, so that none is left.
//! Linear in the texts, but for a sort of the runs.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

/// So many equal words in a row are the same text.
pub const LONG_RUN: usize = 8;
/// Shorter lines are labels, which are found all over a page.
pub const LONG_LINE: usize = 4;
/// How often the rest is searched again. Each round finds all runs; later ones find lines of which
/// a part was kept.
const ROUNDS: usize = 3;

/// Two equal parts of two texts, as the characters where they begin and their length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommonPart {
    /// Where it begins in the old text.
    pub old: u32,
    /// Where it begins in the new text.
    pub new: u32,
    /// Number of characters.
    pub length: u32,
}

/// Find the long runs of words that two texts have in common, in the order of both.
///
/// A line ends at a line break. The parts that are returned are equal character by character, so
/// a run with other white space or punctuation inside is several parts.
///
/// ```
/// use quire_core::sdiff::long_runs;
///
/// let old = "Ships berth at the north quay from nine until five. Bring a rope.";
/// let new = "No ropes! Ships berth at the north quay from nine until five.";
/// let found = long_runs(old, new);
/// assert_eq!((found[0].old, found[0].new, found[0].length), (0, 10, 51));
/// ```
#[must_use]
pub fn long_runs(old: &str, new: &str) -> Vec<CommonPart> {
    let mut known = HashMap::new();
    let (old, new) = (Words::of(old, &mut known), Words::of(new, &mut known));
    let mut found: Vec<(usize, usize)> = Vec::new();
    let mut parts = vec![(0..old.ids.len(), 0..new.ids.len())];
    for _ in 0..ROUNDS {
        let before = found.len();
        for (from, to) in parts {
            one_round(&old, &new, from, to, &mut found);
        }
        if found.len() == before {
            break;
        }
        found.sort_unstable();
        parts = gaps(&found, old.ids.len(), new.ids.len())
            .filter(|(from, to)| !from.is_empty() && !to.is_empty())
            .collect();
    }
    common_parts(&old, &new, &found)
}

/// The words of a text.
struct Words {
    chars: Vec<char>,
    /// A number for each different word.
    ids: Vec<u32>,
    /// Where each word begins and ends, in characters.
    places: Vec<Range<u32>>,
    /// The line of each word.
    lines: Vec<u32>,
}

impl Words {
    fn of<'a>(text: &'a str, known: &mut HashMap<&'a str, u32>) -> Words {
        let mut words = Words {
            chars: text.chars().collect(),
            ids: Vec::new(),
            places: Vec::new(),
            lines: Vec::new(),
        };
        let (mut line, mut begin) = (0, None);
        let ends = std::iter::once((text.len(), ' '));
        for (count, (at, char)) in text.char_indices().chain(ends).enumerate() {
            let count = count as u32;
            match begin {
                None if is_word(char) => begin = Some((at, count)),
                Some((start, first)) if !is_word(char) => {
                    let next = known.len() as u32;
                    words
                        .ids
                        .push(*known.entry(&text[start..at]).or_insert(next));
                    words.places.push(first..count);
                    words.lines.push(line);
                    begin = None;
                }
                _ => {}
            }
            line += u32::from(char == '\n');
        }
        words
    }
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// Common words in a row: where they begin in both lists, and how many.
#[derive(Clone, Copy)]
struct Run {
    old: usize,
    new: usize,
    length: usize,
}

/// The ranges between matched words.
fn gaps(
    found: &[(usize, usize)],
    olds: usize,
    news: usize,
) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    let ends = found.iter().copied().chain([(olds, news)]);
    ends.scan((0, 0), |(x, y), (next_x, next_y)| {
        let gap = (*x..next_x, *y..next_y);
        (*x, *y) = (next_x + 1, next_y + 1);
        Some(gap)
    })
}

/// Match words of two parts.
fn one_round(
    old: &Words,
    new: &Words,
    from: Range<usize>,
    to: Range<usize>,
    found: &mut Vec<(usize, usize)>,
) {
    let mut runs = Vec::new();
    if old.ids[from.clone()] == new.ids[to.clone()] {
        runs.push(Run {
            old: from.start,
            new: to.start,
            length: from.len(),
        });
    } else {
        common_runs(old, new, &from, &to, &mut runs);
        if runs.is_empty() {
            common_lines(old, new, &from, &to, &mut runs);
        }
    }
    for run in runs {
        found.extend((0..run.length).map(|step| (run.old + step, run.new + step)));
    }
}

/// Find common runs of [`LONG_RUN`] words or more.
fn common_runs(
    old: &Words,
    new: &Words,
    from: &Range<usize>,
    to: &Range<usize>,
    runs: &mut Vec<Run>,
) {
    if from.len().min(to.len()) < LONG_RUN {
        return;
    }
    let state = RandomState::new();
    let hash = |words: &[u32]| state.hash_one(words);
    let grams: Vec<u64> = old.ids[from.clone()].windows(LONG_RUN).map(hash).collect();
    let others: Vec<u64> = new.ids[to.clone()].windows(LONG_RUN).map(hash).collect();
    // How often on each side, and where.
    let mut known: HashMap<u64, (u32, u32, usize)> = HashMap::with_capacity(grams.len());
    for (place, &gram) in grams.iter().enumerate() {
        let entry = known.entry(gram).or_default();
        (entry.0, entry.2) = (entry.0 + 1, place);
    }
    let mut is_shared = false;
    for gram in &others {
        if let Some(entry) = known.get_mut(gram) {
            entry.1 += 1;
            is_shared = true;
        }
    }
    if !is_shared {
        return;
    }
    let mut unique: Vec<Run> = Vec::new();
    for (place, gram) in others.iter().enumerate() {
        let Some(&(1, 1, x)) = known.get(gram) else {
            continue;
        };
        let (x, y) = (from.start + x, to.start + place);
        if old.ids[x..x + LONG_RUN] != new.ids[y..y + LONG_RUN] {
            continue;
        }
        match unique.last_mut() {
            Some(run) if x > run.old && x - run.old == y - run.new && y - run.new <= run.length => {
                run.length = y - run.new + LONG_RUN;
            }
            _ => unique.push(Run {
                old: x,
                new: y,
                length: LONG_RUN,
            }),
        }
    }
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for (place, &gram) in grams.iter().enumerate().rev() {
        if known[&gram].1 > 0 {
            places.entry(gram).or_default().push(from.start + place);
        }
    }
    let mut search = Search {
        old: &old.ids,
        new: &new.ids,
        others: &others,
        start: to.start,
        places,
    };
    let (mut x, mut y) = (from.start, to.start);
    for run in heaviest_in_order(&unique) {
        search.first_runs(x..run.old.max(x), y..run.new.max(y), runs);
        // Runs can overlap on one side: the later one loses its beginning.
        let late = x.saturating_sub(run.old).max(y.saturating_sub(run.new));
        if late < run.length {
            runs.push(Run {
                old: run.old + late,
                new: run.new + late,
                length: run.length - late,
            });
            (x, y) = (run.old + run.length, run.new + run.length);
        }
    }
    search.first_runs(x..from.end, y..to.end, runs);
}

/// The places of all runs of [`LONG_RUN`] words.
struct Search<'a> {
    old: &'a [u32],
    new: &'a [u32],
    /// The runs of the new text by their hashes, and the word at which the first one begins.
    others: &'a [u64],
    start: usize,
    /// Where each run begins in the old text, the first one last.
    places: HashMap<u64, Vec<usize>>,
}

impl Search<'_> {
    /// Find the common runs of two parts, each as early as possible. Parts must come in order.
    fn first_runs(&mut self, from: Range<usize>, to: Range<usize>, runs: &mut Vec<Run>) {
        let (mut x, mut y) = (from.start, to.start);
        while y + LONG_RUN <= to.end && x + LONG_RUN <= from.end {
            let at = self.places.get_mut(&self.others[y - self.start]);
            let place = at.and_then(|at| {
                while at.last().is_some_and(|&place| place < x) {
                    at.pop();
                }
                at.last().copied()
            });
            let Some(place) = place.filter(|place| {
                place + LONG_RUN <= from.end
                    && self.old[*place..place + LONG_RUN] == self.new[y..y + LONG_RUN]
            }) else {
                y += 1;
                continue;
            };
            let (old, new) = (&self.old[place..from.end], &self.new[y..to.end]);
            let length = old.iter().zip(new).take_while(|(x, y)| x == y).count();
            runs.push(Run {
                old: place,
                new: y,
                length,
            });
            (x, y) = (place + length, y + length);
        }
    }
}

/// Choose runs in the order of both texts, with the largest number of words. They are in the order
/// of the new text.
fn heaviest_in_order(runs: &[Run]) -> Vec<Run> {
    let mut starts: Vec<usize> = runs.iter().map(|run| run.old).collect();
    starts.sort_unstable();
    // A Fenwick tree: the heaviest chain that ends at a start or before it.
    let mut best: Vec<(usize, usize)> = vec![(0, 0); runs.len() + 1];
    let mut before = Vec::with_capacity(runs.len());
    let mut top = (0, 0);
    for (place, run) in runs.iter().enumerate() {
        let rank = starts.partition_point(|&start| start < run.old);
        let (mut at, mut chain) = (rank, (0, 0));
        while at > 0 {
            chain = chain.max(best[at]);
            at &= at - 1;
        }
        before.push(chain.1);
        let mine = (chain.0 + run.length, place + 1);
        top = top.max(mine);
        at = rank + 1;
        while at < best.len() {
            best[at] = best[at].max(mine);
            at += at & at.wrapping_neg();
        }
    }
    let mut chosen = Vec::new();
    let mut place = top.1;
    while place > 0 {
        chosen.push(runs[place - 1]);
        place = before[place - 1];
    }
    chosen.reverse();
    chosen
}

/// Find equal lines of [`LONG_LINE`] words or more, each as early as possible.
fn common_lines(
    old: &Words,
    new: &Words,
    from: &Range<usize>,
    to: &Range<usize>,
    runs: &mut Vec<Run>,
) {
    let mut places: HashMap<&[u32], Vec<usize>> = HashMap::new();
    for line in lines(old, from).rev() {
        let start = line.start;
        places.entry(&old.ids[line]).or_default().push(start);
    }
    let mut x = from.start;
    for line in lines(new, to) {
        let Some(at) = places.get_mut(&new.ids[line.clone()]) else {
            continue;
        };
        while at.last().is_some_and(|&place| place < x) {
            at.pop();
        }
        if let Some(&place) = at.last() {
            runs.push(Run {
                old: place,
                new: line.start,
                length: line.len(),
            });
            x = place + line.len();
        }
    }
}

/// The lines of a part that have [`LONG_LINE`] words or more.
fn lines(words: &Words, part: &Range<usize>) -> impl DoubleEndedIterator<Item = Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for place in part.clone() {
        match found.last_mut() {
            Some(line) if words.lines[line.start] == words.lines[place] => line.end = place + 1,
            _ => found.push(place..place + 1),
        }
    }
    found.retain(|line| line.len() >= LONG_LINE);
    found.into_iter()
}

/// All but the white space around it, if two texts are equal otherwise.
fn same_signs(old: &[char], new: &[char]) -> Option<CommonPart> {
    let start = |text: &[char]| text.iter().position(|char| !char.is_whitespace());
    let end = |text: &[char]| text.iter().rposition(|char| !char.is_whitespace());
    let (x, y) = (start(old)?, start(new)?);
    let (left, right) = (&old[x..=end(old)?], &new[y..=end(new)?]);
    (left == right).then_some(CommonPart {
        old: x as u32,
        new: y as u32,
        length: left.len() as u32,
    })
}

/// Make parts of matched words, with the equal characters around and between them.
fn common_parts(old: &Words, new: &Words, found: &[(usize, usize)]) -> Vec<CommonPart> {
    let mut parts: Vec<CommonPart> = Vec::new();
    let mut add = |x: usize, y: usize, length: usize| match parts.last_mut() {
        Some(last)
            if (last.old + last.length) as usize == x && (last.new + last.length) as usize == y =>
        {
            last.length += length as u32;
        }
        _ if length > 0 => parts.push(CommonPart {
            old: x as u32,
            new: y as u32,
            length: length as u32,
        }),
        _ => {}
    };
    let (mut x, mut y) = (0, 0);
    let ends = found.iter().map(|&(x, y)| (&old.places[x], &new.places[y]));
    let (old_end, new_end) = (old.chars.len() as u32, new.chars.len() as u32);
    for (before, after) in ends.chain([(&(old_end..old_end), &(new_end..new_end))]) {
        let (left, right) = (
            &old.chars[x..before.start as usize],
            &new.chars[y..after.start as usize],
        );
        // Between the words: equal punctuation behind the last one, then before the next one.
        let is_plain = |pair: &(&char, &char)| pair.0 == pair.1 && !is_word(*pair.0);
        let (mut head, mut tail) = (0, 0);
        if x > 0 {
            head = left.iter().zip(right).take_while(is_plain).count();
        }
        if !before.is_empty() {
            let rest = left[head..].iter().rev().zip(right[head..].iter().rev());
            tail = rest.take_while(is_plain).count();
        }
        add(x, y, head);
        let (left, right) = (
            &left[head..left.len() - tail],
            &right[head..right.len() - tail],
        );
        if let Some(part) = same_signs(left, right) {
            add(
                x + head + part.old as usize,
                y + head + part.new as usize,
                part.length as usize,
            );
        }
        add(
            before.start as usize - tail,
            after.start as usize - tail,
            tail + before.len(),
        );
        (x, y) = (before.end as usize, after.end as usize);
    }
    parts.retain(|part| {
        let start = part.old as usize;
        !old.chars[start..start + part.length as usize]
            .iter()
            .all(|char| char.is_whitespace())
    });
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The common parts as texts.
    fn common(old: &str, new: &str) -> Vec<String> {
        let (olds, news): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
        let found = long_runs(old, new);
        let mut ends = (0, 0);
        for part in &found {
            assert!(part.old >= ends.0 && part.new >= ends.1);
            ends = (part.old + part.length, part.new + part.length);
        }
        (found.iter())
            .map(|part| {
                let (x, y, n) = (part.old as usize, part.new as usize, part.length as usize);
                assert_eq!(olds[x..x + n], news[y..y + n]);
                olds[x..x + n].iter().collect()
            })
            .collect()
    }

    const RUN: &str = "one two three four five six seven eight";

    #[test]
    fn runs_of_eight_words_are_found_and_shorter_ones_are_not() {
        assert_eq!(
            common(&format!("a {RUN} b"), &format!("c {RUN} d")),
            [format!(" {RUN} ")]
        );
        let short = &RUN[..RUN.len() - 6];
        assert!(common(&format!("a {short} b"), &format!("c {short} d")).is_empty());
    }

    #[test]
    fn other_punctuation_and_white_space_do_not_hide_a_run() {
        let other = RUN.replace("two three", "two,  three");
        assert_eq!(
            common(&format!("a {RUN}."), &format!("b {other}!")),
            [" one two", " three four five six seven eight"]
        );
    }

    #[test]
    fn a_line_of_four_words_is_found_as_a_whole_only() {
        let line = "a line of words";
        assert_eq!(
            common(&format!("x\n{line}\ny"), &format!("z z\n{line}\nu"))
                .concat()
                .trim(),
            line
        );
        assert!(common(&format!("x\n{line} too\ny"), &format!("z\n{line}\nu")).is_empty());
        assert!(common("x\na line of\ny", "z\na line of\nu").is_empty());
    }

    #[test]
    fn texts_of_the_same_words_are_the_same() {
        assert_eq!(common("5 .", "5."), ["5", "."]);
        assert_eq!(common(" – ", "–"), ["–"]);
    }

    #[test]
    fn the_heavier_of_two_runs_that_contradict_each_other_is_found() {
        let long = format!("{RUN} nine ten");
        let other = "red green blue black white brown pink grey";
        assert_eq!(
            common(&format!("{other} x {long}"), &format!("{long} y {other}")),
            [long]
        );
    }

    /// Whatever the texts, no run of eight words is left between two found ones.
    #[test]
    fn no_run_is_left() {
        let mut seed = 7u32;
        let mut draw = |most: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) % most
        };
        for most in [1, 2, 3, 5] {
            for _ in 0..50 {
                let mut text =
                    || -> Vec<String> { (0..60).map(|_| draw(most).to_string()).collect() };
                let (old, new) = (text(), text());
                let mut known = HashMap::new();
                let (left, right) = (old.join(" "), new.join(" "));
                let words = (Words::of(&left, &mut known), Words::of(&right, &mut known));
                let mut found = Vec::new();
                one_round(&words.0, &words.1, 0..60, 0..60, &mut found);
                found.sort_unstable();
                for (from, to) in gaps(&found, 60, 60) {
                    for run in old[from].windows(LONG_RUN) {
                        assert!(!new[to.clone()].windows(LONG_RUN).any(|other| other == run));
                    }
                }
            }
        }
    }
}
