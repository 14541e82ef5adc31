//! One edit is one action: random documents, random edits.
//!
//! Documents of three shapes, made from few words so that there are many equal subtrees, on which
//! pairings go wrong. `SDIFF_EDITS` sets the number of seeds for each kind of edit, shape and size.

use quire_core::sdiff::script::{Wanted, between};
use quire_core::{Digest, Options, decode, encode};

/// A random generator, the same on every machine.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }
}

#[derive(Clone)]
struct Node {
    tag: String,
    attribute: Option<String>,
    text: Option<String>,
    children: Vec<usize>,
    parent: usize,
}

#[derive(Clone)]
struct Document {
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
enum Shape {
    Bushy,
    Mixed,
    Deep,
}

#[derive(Clone, Copy, Debug)]
enum Edit {
    Text,
    Attribute,
    Insert,
    Delete,
    Rename,
    Move,
}

const WORDS: [&str; 8] = [
    "open", "closed", "river", "stone", "paper", "quire", "folio", "nine",
];

impl Document {
    /// Make a document with about `size` elements; texts are made of the first `words` words.
    fn draw(shape: Shape, size: usize, words: usize, draw: &mut Draw) -> Self {
        let (down, stay, deepest) = match shape {
            Shape::Bushy => (30, 90, 5),
            Shape::Mixed => (45, 80, 30),
            Shape::Deep => (98, 99, 2_000),
        };
        let mut nodes = vec![Node::new("root", 0)];
        let mut path = vec![0];
        while nodes.len() < size {
            let chance = draw.below(100);
            if path.len() > 1 && (chance >= down || path.len() > deepest) {
                let up = if chance < stay {
                    1
                } else {
                    1 + draw.below(path.len() - 1)
                };
                path.truncate(path.len() - up);
            }
            let parent = path[path.len() - 1];
            let mut node = Node::new(&format!("t{}", draw.below(6)), parent);
            if draw.below(3) == 0 {
                node.attribute = Some(WORDS[draw.below(words)].to_owned());
            }
            nodes.push(node);
            let index = nodes.len() - 1;
            nodes[parent].children.push(index);
            path.push(index);
        }
        for node in nodes.iter_mut().filter(|node| node.children.is_empty()) {
            let text = (0..=draw.below(3)).map(|_| WORDS[draw.below(words)]);
            node.text = Some(text.collect::<Vec<_>>().join(" "));
        }
        Self { nodes }
    }

    fn write(&self) -> String {
        let mut out = String::from("<?xml version='1.0'?>");
        let mut stack = vec![(0, false)];
        while let Some((index, leave)) = stack.pop() {
            let node = &self.nodes[index];
            if leave {
                out.extend(["</", &node.tag, ">"]);
                continue;
            }
            out.extend(["<", &node.tag]);
            if let Some(value) = &node.attribute {
                out.extend([" a=\"", value, "\""]);
            }
            out.push('>');
            out.push_str(node.text.as_deref().unwrap_or(""));
            stack.push((index, true));
            stack.extend(node.children.iter().rev().map(|&child| (child, false)));
        }
        out
    }

    fn detach(&mut self, index: usize) {
        let parent = self.nodes[index].parent;
        self.nodes[parent].children.retain(|&child| child != index);
    }

    fn attach(&mut self, index: usize, parent: usize, place: usize) {
        self.nodes[parent].children.insert(place, index);
        self.nodes[index].parent = parent;
    }

    /// Return an element that may have another child: it contains no text.
    fn open_parent(&self, draw: &mut Draw) -> usize {
        loop {
            let parent = draw.below(self.nodes.len());
            if self.nodes[parent].text.is_none() {
                return parent;
            }
        }
    }

    fn is_below(&self, mut index: usize, above: usize) -> bool {
        while index != 0 {
            if index == above {
                return true;
            }
            index = self.nodes[index].parent;
        }
        above == 0
    }

    /// Make one edit, if the draw allows it.
    fn edit(&mut self, edit: Edit, draw: &mut Draw) -> Option<()> {
        let index = 1 + draw.below(self.nodes.len() - 1);
        match edit {
            Edit::Text => {
                let text = self.nodes[index].text.as_mut()?;
                *text = format!("{text} more");
            }
            Edit::Attribute => {
                self.nodes[index].attribute = Some("another".to_owned());
            }
            Edit::Rename => "renamed".clone_into(&mut self.nodes[index].tag),
            Edit::Delete => {
                let parent = self.nodes[index].parent;
                if self.nodes[parent].children.len() < 2 {
                    return None;
                }
                self.detach(index);
            }
            Edit::Insert => {
                let parent = self.open_parent(draw);
                let mut copy = Node::new("t1", parent);
                copy.text = Some(WORDS[draw.below(8)].to_owned());
                self.nodes.push(copy);
                let place = draw.below(self.nodes[parent].children.len() + 1);
                self.attach(self.nodes.len() - 1, parent, place);
            }
            Edit::Move => {
                let parent = self.open_parent(draw);
                let from = self.nodes[index].parent;
                if self.is_below(parent, index) || self.nodes[from].children.len() < 2 {
                    return None;
                }
                self.detach(index);
                let place = draw.below(self.nodes[parent].children.len() + 1);
                self.attach(index, parent, place);
            }
        }
        Some(())
    }
}

impl Node {
    fn new(tag: &str, parent: usize) -> Self {
        Self {
            tag: tag.to_owned(),
            attribute: None,
            text: None,
            children: Vec::new(),
            parent,
        }
    }
}

fn page(source: &str) -> Digest {
    encode(source.as_bytes(), &Options::default()).unwrap()
}

fn check(size: usize, words: usize, seeds: u64) {
    let mut wrong = Vec::new();
    for shape in [Shape::Bushy, Shape::Mixed, Shape::Deep] {
        for seed in 0..seeds {
            let mut draw = Draw(0x9e37_79b9 ^ (seed << 20) ^ size as u64);
            let document = Document::draw(shape, size, words, &mut draw);
            let source = document.write();
            let old = page(&source);
            for edit in [
                Edit::Text,
                Edit::Attribute,
                Edit::Insert,
                Edit::Delete,
                Edit::Rename,
                Edit::Move,
            ] {
                // A chain has nothing to delete or to move.
                let mut tries = (0..20).filter_map(|_| {
                    let mut edited = document.clone();
                    edited.edit(edit, &mut draw)?;
                    Some(edited.write()).filter(|written| *written != source)
                });
                let Some(new_source) = tries.next() else {
                    continue;
                };
                let new = page(&new_source);
                let script = between(&old, &new, Wanted::default()).unwrap();
                let made = script.apply(&old).unwrap();
                assert_eq!(decode(&made).unwrap(), new_source.as_bytes());
                let count = script.actions.len();
                if count != 1 {
                    wrong.push(format!("{shape:?} {edit:?} seed {seed}: {count} actions"));
                    if size < 30 {
                        wrong.push(format!("{source}\n{new_source}"));
                    }
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn seeds(default: u64) -> u64 {
    std::env::var("SDIFF_EDITS").map_or(default, |seeds| seeds.parse().unwrap())
}

#[test]
fn one_edit_is_one_action_in_small_documents() {
    check(20, 3, seeds(60));
    check(100, 8, seeds(20));
}

#[test]
fn one_edit_is_one_action_in_documents_of_a_thousand_nodes() {
    check(1_000, 2, seeds(4));
    check(1_000, 8, seeds(4));
}

#[test]
fn one_edit_is_one_action_in_large_documents() {
    check(20_000, 3, seeds(1));
}
