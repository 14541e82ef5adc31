//! Explains a similarity: the features that differ, as readable text, with their counts on each
//! page.
//!
//! Hashes cannot be read back, so each keeps a witness, the position where it first occurred, and
//! only the features that are reported are looked up there again. Linear except for sorting the
//! features; meant for people, not for collections.

use std::borrow::Cow;
use std::collections::HashMap;

use super::bag::Overlap;
use super::features::{
    self, STEPS, TAGS, TOKENS, Token, WORDS, class_value, each_token, is_element,
};
use super::scope::Scope;
use super::{Measure, words};
use crate::base::error::Error;
use crate::digest::Digest;
use crate::page::tree::NONE;
use crate::text::Reader;
use crate::values::attribute_syntax;

/// A feature with different counts on the two pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The feature as readable text.
    pub text: String,
    /// Its count on the first page; at most 1 if counts do not matter.
    pub one: u32,
    /// Its count on the second page.
    pub other: u32,
}

/// The overlap of two pages, and the features that differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Features that they share, and that either has.
    pub overlap: Overlap,
    /// Features that differ, largest difference first, up to the requested number.
    pub parts: Vec<Part>,
    /// Total number of features that differ.
    pub differing: usize,
}

/// Maximum number of characters of a text or word to show.
const SHOWN: usize = 60;
/// Maximum number of steps of a path to show, from its end.
const SHOWN_STEPS: usize = 16;

#[derive(Clone, Copy, Default)]
struct Count {
    one: u32,
    other: u32,
    /// Where it first occurred, on the page given by `on_other`.
    witness: u32,
    on_other: bool,
    /// The order in which features were found.
    met: u32,
}

/// Find the features of two pages that differ, and return at most `most` of them.
pub fn explain(
    one: &Digest,
    other: &Digest,
    measure: Measure,
    nodes: Option<&str>,
    most: usize,
) -> Result<Explanation, Error> {
    let scopes = [Scope::new(one, nodes)?, Scope::new(other, nodes)?];
    let mut counts: HashMap<u64, Count> = HashMap::new();
    features::each(one, measure, &scopes[0], |hash, witness| {
        let met = counts.len() as u32;
        let count = counts.entry(hash).or_insert(Count {
            witness,
            met,
            ..Count::default()
        });
        count.one += 1;
    })?;
    features::each(other, measure, &scopes[1], |hash, witness| {
        let met = counts.len() as u32;
        let count = counts.entry(hash).or_insert(Count {
            witness,
            on_other: true,
            met,
            ..Count::default()
        });
        count.other += 1;
    })?;
    if !measure.counts() {
        for count in counts.values_mut() {
            (count.one, count.other) = (count.one.min(1), count.other.min(1));
        }
    }
    let mut overlap = Overlap::default();
    for count in counts.values() {
        overlap.shared += u64::from(count.one.min(count.other));
        overlap.all += u64::from(count.one.max(count.other));
    }
    let mut differing: Vec<Count> = (counts.into_values())
        .filter(|count| count.one != count.other)
        .collect();
    differing.sort_unstable_by_key(|count| {
        (
            std::cmp::Reverse(count.one.abs_diff(count.other)),
            count.met,
        )
    });
    let found = differing.len();
    differing.truncate(most);
    let tell = [
        Describer::new(one, measure, &scopes[0]),
        Describer::new(other, measure, &scopes[1]),
    ];
    let parts = differing
        .iter()
        .map(|count| Part {
            text: tell[usize::from(count.on_other)].tell(count.witness),
            one: count.one,
            other: count.other,
        })
        .collect();
    Ok(Explanation {
        overlap,
        parts,
        differing: found,
    })
}

/// An item of a sequence.
enum Item {
    Tag(usize),
    Token(Token),
    /// A range of the texts of all parts.
    Word(std::ops::Range<usize>),
}

/// Describes a feature from its witness.
struct Describer<'a> {
    page: &'a Digest,
    measure: Measure,
    items: Vec<Item>,
    /// The end of the items of each part.
    ends: Vec<usize>,
    /// All words, one after another.
    words: String,
    /// The roots of the parts, for paths.
    roots: Vec<usize>,
}

impl<'a> Describer<'a> {
    fn new(page: &'a Digest, measure: Measure, scope: &Scope) -> Self {
        let mut teller = Self {
            page,
            measure,
            items: Vec::new(),
            ends: Vec::new(),
            words: String::new(),
            roots: scope.parts().map(|part| part.start).collect(),
        };
        let tag = &page.wide().tag;
        for part in scope.parts() {
            match measure {
                Measure::Structure => teller.items.extend(
                    part.filter(|&node| is_element(page.tag_info(tag[node] as usize).class))
                        .map(Item::Tag),
                ),
                Measure::Content => words::each(&Reader::new(page).text(part.start), |word| {
                    let start = teller.words.len();
                    teller.words.push_str(word);
                    teller.items.push(Item::Word(start..teller.words.len()));
                }),
                Measure::Tokens => each_token(page, part, |token| match token {
                    Token::Text(node) if text(page, node).trim_ascii().is_empty() => (),
                    token => teller.items.push(Item::Token(token)),
                }),
                _ => (),
            }
            teller.ends.push(teller.items.len());
        }
        teller
    }

    fn tell(&self, witness: u32) -> String {
        let at = witness as usize;
        match self.measure {
            Measure::Structure => self.sequence(at, TAGS),
            Measure::Content => self.sequence(at, WORDS),
            Measure::Tokens => self.sequence(at, TOKENS),
            Measure::StructureClass => self.path(at, STEPS, true),
            Measure::Paths | Measure::PathsCounts => self.path(at, usize::MAX, false),
        }
    }

    fn sequence(&self, at: usize, width: usize) -> String {
        let part = self.ends.partition_point(|&end| end <= at);
        let end = self.ends.get(part).map_or(at, |&end| end.min(at + width));
        let told: Vec<String> = self.items[at..end]
            .iter()
            .map(|item| match item {
                Item::Tag(node) | Item::Token(Token::Start(node)) if width == TAGS => {
                    self.name(*node).to_owned()
                }
                Item::Tag(node) | Item::Token(Token::Start(node)) => {
                    format!("<{}>", self.name(*node))
                }
                Item::Token(Token::End(node)) => format!("</{}>", self.name(*node)),
                Item::Token(Token::Text(node)) => {
                    shortened(text(self.page, *node).trim_ascii()).into_owned()
                }
                Item::Word(place) => shortened(&self.words[place.clone()]).into_owned(),
            })
            .collect();
        told.join(" ")
    }

    fn name(&self, node: usize) -> &str {
        self.page.tag_name(self.page.wide().tag[node] as usize)
    }

    /// Return the steps from the root of the part to a node, the last `most` of them.
    fn path(&self, node: usize, most: usize, classes: bool) -> String {
        let page = self.page;
        let parents = &page.derived().parent;
        let root = self.roots[self.roots.partition_point(|&root| root <= node) - 1];
        let mut steps = Vec::new();
        let mut at = node;
        let more = loop {
            if is_element(page.class(at)) {
                if steps.len() == most {
                    break false;
                }
                if steps.len() == SHOWN_STEPS {
                    break true;
                }
                steps.push(self.step(at, classes));
            }
            if at == root || parents[at] == NONE {
                break false;
            }
            at = parents[at] as usize;
        };
        if more {
            steps.push("…".to_owned());
        }
        steps.reverse();
        steps.join(" > ")
    }

    fn step(&self, node: usize, classes: bool) -> String {
        let mut step = self.name(node).to_owned();
        let wide = self.page.wide();
        if let (true, Ok(run)) = (classes, usize::try_from(wide.attr[node])) {
            let info = self.page.tag_info(wide.tag[node] as usize);
            let syntax = attribute_syntax(self.page.kind(), info.namespace);
            let value = class_value(self.page, self.page.attr_run(run), syntax);
            let mut names: Vec<&str> = value.split_ascii_whitespace().collect();
            names.sort_unstable();
            names.dedup();
            for name in names {
                step.push('.');
                step.push_str(name);
                if step.len() > 4 * SHOWN {
                    break;
                }
            }
        }
        match shortened(&step) {
            Cow::Borrowed(_) => step,
            Cow::Owned(short) => short,
        }
    }
}

fn text(page: &Digest, node: usize) -> Cow<'_, str> {
    usize::try_from(page.wide().content[node]).map_or(Cow::Borrowed(""), |id| page.content_text(id))
}

fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Options, encode};
    use crate::similarity::similarity;

    fn page(source: &str) -> Digest {
        encode(source.as_bytes(), &Options::default()).unwrap()
    }

    fn told(one: &str, other: &str, measure: Measure) -> Vec<(String, u32, u32)> {
        let (one, other) = (page(one), page(other));
        let found = explain(&one, &other, measure, None, 3).unwrap();
        let alike = similarity(&one, &other, measure, None).unwrap();
        assert!((found.overlap.ratio() - alike).abs() < 1e-12);
        (found.parts.into_iter())
            .map(|part| (part.text, part.one, part.other))
            .collect()
    }

    #[test]
    fn features_are_told_in_words() {
        let part = |text: &str, one, other| (text.to_owned(), one, other);
        let (one, other) = ("<ul><li>a<li>b</ul>", "<ul><li>a<li>b<li>c</ul>");
        assert_eq!(
            told(one, other, Measure::Structure),
            [part("ul li li li", 0, 1)]
        );
        assert_eq!(
            told(one, other, Measure::PathsCounts),
            [part("html > body > ul > li", 2, 3)]
        );
        assert_eq!(
            told("<p class='b a'>x", "<p>x", Measure::StructureClass),
            [
                part("html > body > p.a.b", 1, 0),
                part("html > body > p", 0, 1)
            ]
        );
        assert_eq!(
            told("<p>Open 9 to 5", "<p>Open 9 to 6", Measure::Content),
            [part("open 9 to 5", 1, 0), part("open 9 to 6", 0, 1)]
        );
        assert_eq!(
            told("<p>a</p>", "<p>b</p>", Measure::Tokens)[0],
            part("<body> <p> a", 1, 0)
        );
    }

    #[test]
    fn sequences_do_not_run_on_into_the_next_part() {
        let found = explain(
            &page("<p>a b<p>c"),
            &page("<p>d"),
            Measure::Content,
            Some("p"),
            9,
        )
        .unwrap();
        let texts: Vec<&str> = found.parts.iter().map(|part| part.text.as_str()).collect();
        assert_eq!(texts, ["a b", "c", "d"]);
        assert_eq!(found.differing, 3);
    }
}
