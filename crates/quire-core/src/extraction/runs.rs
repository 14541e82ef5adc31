//! Runs: the children of a node divided into records.
//!
//! Mostly a record is one child. Sometimes it is a run of siblings: a `dt` and its `dd`, a row with
//! a title and a row with details, a heading and its paragraphs. Children that belong to no record
//! (advertisements, headings of groups, rules) are left out.

use std::collections::HashSet;

/// A list has at least so many records.
pub(super) const LEAST_RECORDS: usize = 3;
/// A kind is part of every record if it is about as frequent as the most important kind...
const COMPANION: f64 = 0.6;
/// ...and most records have it exactly where the others have it.
const REGULAR: f64 = 0.7;

/// A child of a node.
#[derive(Clone, Copy)]
pub(super) struct Child {
    /// The node.
    pub(super) node: u32,
    /// Its kind, if it has one.
    pub(super) kind: Option<u8>,
    /// Its tag.
    pub(super) tag: u32,
    /// The leaves in it.
    pub(super) leaves: u32,
    /// Its part in a text.
    pub(super) role: Role,
}

/// The part of a child in a text: a heading begins what follows it.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Role {
    Heading,
    Paragraph,
    Other,
}

impl Role {
    /// The role of an element, by its name.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "dt" => Self::Heading,
            "p" => Self::Paragraph,
            _ => Self::Other,
        }
    }
}

/// Divide children into records; empty if they do not repeat.
pub(super) fn runs(children: &[Child]) -> Vec<Vec<u32>> {
    let mut counts: Vec<(usize, u64)> = Vec::new();
    for child in children {
        if let Some(kind) = child.kind.map(usize::from) {
            if counts.len() <= kind {
                counts.resize(kind + 1, (0, 0));
            }
            counts[kind].0 += 1;
            counts[kind].1 += u64::from(child.leaves);
        }
    }
    let frequent: Vec<usize> = (0..counts.len())
        .filter(|&kind| counts[kind].0 >= LEAST_RECORDS)
        .collect();
    let Some(&first) = frequent.first() else {
        return Vec::new();
    };
    let main = (frequent.iter()).fold(first, |best, &kind| {
        if counts[kind].1 > counts[best].1 {
            kind
        } else {
            best
        }
    });
    let among: Vec<u8> = (frequent.into_iter())
        .filter(|&kind| {
            let share = counts[kind].0 as f64 / counts[main].0 as f64;
            (COMPANION..=1.0 / COMPANION).contains(&share)
        })
        .map(|kind| kind as u8)
        .collect();
    let mut best = (0.0, Vec::new());
    if among.len() > 1 {
        // The first child of all begins the first record, even if some records lack a companion:
        // each of the rarer ones has the other kind after it, but that belongs to the next record.
        // A paragraph in front of the first heading is an introduction.
        let is_among = |child: &&Child| child.kind.is_some_and(|kind| among.contains(&kind));
        let heading = (children.iter().filter(is_among)).find(|one| one.role == Role::Heading);
        let first = (children.iter().find(is_among))
            .map(|one| {
                heading
                    .filter(|_| one.role == Role::Paragraph)
                    .unwrap_or(one)
            })
            .and_then(|one| one.kind);
        let others = among.iter().copied().filter(|&kind| Some(kind) != first);
        for start in first.into_iter().chain(others) {
            let (found, regular) = divided(children, start, &among);
            if found.len() < LEAST_RECORDS {
                continue;
            }
            if Some(start) == first && regular >= COMPANION {
                return found;
            }
            if regular > best.0 {
                best = (regular, found);
            }
        }
    }
    if best.0 >= REGULAR {
        return best.1;
    }
    (children.iter())
        .filter(|child| child.kind.map(usize::from) == Some(main))
        .map(|child| vec![child.node])
        .collect()
}

/// Begin a record at each child of one kind; also tell which share of records is regular.
fn divided(children: &[Child], start: u8, among: &[u8]) -> (Vec<Vec<u32>>, f64) {
    let is_among = |child: &Child| child.kind.is_some_and(|kind| among.contains(&kind));
    let is_start = |child: &Child| child.kind == Some(start);
    // A kind that is rarer, but has the name of a companion, is one too: a second `dd`.
    let names: HashSet<u32> = (children.iter())
        .filter(|child| is_among(child) && !is_start(child))
        .map(|child| child.tag)
        .collect();
    let all = among.iter().fold(0u32, |kinds, &kind| kinds | 1 << kind);
    let mut found: Vec<Vec<u32>> = Vec::new();
    let mut whole = 0.0;
    let mut seen = 0u32;
    for child in children {
        if is_start(child) {
            whole += f64::from(u8::from(!found.is_empty() && seen & all == all));
            found.push(Vec::new());
            seen = 0;
        }
        if let Some(record) = found.last_mut()
            && (is_among(child) || (names.contains(&child.tag) && !is_start(child)))
        {
            record.push(child.node);
            seen |= child.kind.map_or(0, |kind| 1 << kind);
        }
    }
    if found.is_empty() {
        return (found, 0.0);
    }
    whole += f64::from(u8::from(seen & all == all));
    let is_outside = (children.iter())
        .find(|child| is_among(child))
        .is_some_and(|child| !is_start(child));
    let outside = f64::from(u8::from(is_outside));
    let regular = (whole - outside) / found.len() as f64;
    (found, regular)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn children(kinds: &str) -> Vec<Child> {
        (kinds.bytes().enumerate())
            .map(|(at, letter)| Child {
                node: at as u32,
                kind: letter.is_ascii_lowercase().then(|| letter - b'a'),
                tag: u32::from(letter),
                leaves: 1,
                role: Role::Other,
            })
            .collect()
    }

    #[test]
    fn a_record_is_one_child_or_a_regular_run() {
        assert_eq!(runs(&children("aXaa")), [vec![0], vec![2], vec![3]]);
        assert_eq!(
            runs(&children("ababab")),
            [vec![0, 1], vec![2, 3], vec![4, 5]]
        );
        assert_eq!(
            runs(&children("bababa")),
            [vec![0, 1], vec![2, 3], vec![4, 5]]
        );
        assert!(runs(&children("aabbcXYZ")).is_empty());
    }

    #[test]
    fn a_record_that_lacks_a_part_does_not_shift_the_others() {
        let expected = [vec![0, 1], vec![2], vec![3, 4], vec![5, 6]];

        assert_eq!(runs(&children("abaabab")), expected);
    }
}
