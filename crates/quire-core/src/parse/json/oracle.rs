//! Obvious implementations for tests: a recursive serializer, an emitter that looks everything up,
//! random values.

use serde_json::{Value, json};

use super::{Arrays, Indent, Layout, Newline, Predictor, all_scalars, closing, write_token};
use crate::page::vocabulary::{ARRAY, Class, FALSE, NULL, NUMBER, OBJECT, STRING, TRUE};
use crate::parse::draft::{Draft, IMPLIED, ODD};

/// xorshift: the same inputs on every run.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }
}

/// Write a value in a given layout, by recursion.
pub fn dump(value: &Value, layout: Layout, depth: usize, out: &mut String) {
    let unit = match layout.indent {
        Indent::None => None,
        Indent::Spaces(width) => Some(" ".repeat(width.into())),
        Indent::Tabs(width) => Some("\t".repeat(width.into())),
    };
    let newline = if layout.newline == Newline::CrLf {
        "\r\n"
    } else {
        "\n"
    };
    let (brackets, items): (_, Vec<(Option<&String>, &Value)>) = match value {
        Value::Array(items) => ("[]", items.iter().map(|item| (None, item)).collect()),
        Value::Object(items) => (
            "{}",
            items.iter().map(|(key, item)| (Some(key), item)).collect(),
        ),
        scalar => return out.push_str(&scalar.to_string()),
    };
    let inline = brackets == "[]"
        && match layout.arrays {
            Arrays::Lines => false,
            Arrays::ScalarsInline => items
                .iter()
                .all(|(_, item)| !item.is_array() && !item.is_object()),
            Arrays::Inline => true,
        };
    let broken = unit.is_some() && !inline && !items.is_empty();
    let inner = depth + usize::from(broken);
    let pad = " ".repeat(layout.pad.into());
    let line = |depth| format!("{newline}{}", unit.as_deref().unwrap_or("").repeat(depth));
    out.push_str(&brackets[..1]);
    for (at, (key, item)) in items.iter().enumerate() {
        out.push_str(if at > 0 { "," } else { "" });
        if broken {
            out.push_str(&line(inner));
        } else {
            out.push_str(if at == 0 {
                &pad
            } else {
                &" "[..layout.item_gap.into()]
            });
        }
        if let Some(key) = key {
            let (lead, gap) = (layout.key_lead.into(), layout.key_gap.into());
            for part in ["\"", key, "\"", &" "[..lead], ":", &" "[..gap]] {
                out.push_str(part);
            }
        }
        dump(item, layout, inner, out);
    }
    out.push_str(&if broken { line(depth) } else { pad });
    out.push_str(&brackets[1..]);
}

/// Do the same as the emitter: write every prediction, and odd tokens from where they are stored.
pub fn emit(source: &[u8], draft: &Draft, layout: Layout) -> Vec<u8> {
    let mut predictor = Predictor::new(layout);
    let (mut out, mut open, mut ends) = (Vec::new(), vec![0u32], draft.ends.iter().peekable());
    let stray = |from: usize, until: u32, out: &mut Vec<u8>| {
        out.extend_from_slice(&source[from..until as usize]);
    };
    for at in 1..=draft.nodes.len() {
        let parent = draft.nodes.get(at).map_or(u32::MAX, |node| node.parent);
        while let Some(&top) = open.last().filter(|&&top| top != parent) {
            open.pop();
            let class = draft.names.class(draft.node(top as usize).tag);
            let gap = predictor.close();
            if let Some(end) = ends.next_if(|end| end.node == top) {
                stray(out.len(), end.start, &mut out);
                if end.odd {
                    stray(out.len(), end.end, &mut out);
                } else {
                    gap.write(&mut out);
                    out.extend_from_slice(closing(class));
                }
            }
        }
        if at == draft.nodes.len() {
            break;
        }
        let node = draft.node(at);
        let class = draft.names.class(node.tag);
        let count = (draft.iter().skip(at + 1))
            .filter(|child| child.parent == at as u32)
            .count();
        let following = (draft.iter().skip(at + 1)).map(|next| draft.names.class(next.tag));
        let gap = predictor.open(class, all_scalars(following, count));
        stray(out.len(), node.start, &mut out);
        if node.flags & ODD != 0 {
            stray(out.len(), node.end, &mut out);
        } else {
            gap.write(&mut out);
            let content = &source[node.run as usize..node.end as usize];
            let bytes = if class == Class::Scalar {
                content
            } else {
                draft.names.name(node.tag)
            };
            write_token(class, bytes, &mut out);
        }
        if !class.is_leaf() {
            open.push(at as u32);
        }
    }
    stray(out.len(), source.len() as u32, &mut out);
    out
}

/// Return every layout that the detector distinguishes.
pub fn every_layout() -> Vec<Layout> {
    let mut layouts = Vec::new();
    let indents = [
        Indent::None,
        Indent::Spaces(0),
        Indent::Spaces(1),
        Indent::Spaces(2),
        Indent::Spaces(4),
        Indent::Tabs(1),
        Indent::Tabs(2),
    ];
    for indent in indents {
        for newline in [Newline::Lf, Newline::CrLf] {
            for bits in 0..16u8 {
                for arrays in [Arrays::Lines, Arrays::ScalarsInline, Arrays::Inline] {
                    let bit = |at: u8| bits >> at & 1;
                    layouts.push(Layout {
                        indent,
                        newline,
                        item_gap: bit(0),
                        key_lead: bit(1),
                        key_gap: bit(2),
                        arrays,
                        pad: bit(3),
                    });
                }
            }
        }
    }
    layouts
}

/// Check that all spans are in range, in order and disjoint, and that members have exactly one
/// value.
pub fn check_spans(source: &[u8], draft: &Draft) {
    assert_eq!(draft.node(0).flags, IMPLIED);
    let mut owned: Vec<(u32, u32)> = Vec::new();
    for (at, node) in draft.iter().enumerate().skip(1) {
        assert!(node.start <= node.run && node.run < node.end && (node.parent as usize) < at);
        owned.push((node.start, node.end));
        if draft.names.class(node.tag) == Class::Member {
            let values = draft
                .nodes
                .iter()
                .skip(at + 1)
                .take_while(|next| next.parent >= at as u32);
            assert_eq!(values.filter(|next| next.parent == at as u32).count(), 1);
        }
    }
    assert!(owned.is_sorted());
    owned.extend(draft.ends.iter().map(|end| (end.start, end.end)));
    assert!(draft.ends.is_sorted_by_key(|end| end.start));
    owned.sort_unstable();
    assert!(owned.windows(2).all(|pair| pair[0].1 <= pair[1].0));
    assert!(
        owned
            .last()
            .is_none_or(|last| last.1 as usize <= source.len())
    );
    let odd =
        draft.iter().any(|node| node.flags & ODD != 0) || draft.ends.iter().any(|end| end.odd);
    assert_eq!(draft.any_odd, odd);
}

/// Return all spans of nodes and end tags, in source order.
pub fn spans(draft: &Draft) -> Vec<(u32, u32)> {
    let mut spans: Vec<_> = (draft.iter())
        .skip(1)
        .map(|node| (node.start, node.end))
        .collect();
    spans.extend(draft.ends.iter().map(|end| (end.start, end.end)));
    spans.sort_unstable();
    spans
}

/// Make a random JSON value of any kind.
pub fn random_value(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 5 } else { 8 }) {
        0 => Value::Null,
        1 => json!(random.below(2) == 0),
        2 => json!(f64::from(random.below(1000) as u32) / 8.0 - 50.0),
        3 => json!(["", "a", "é\n\"", "x\\y", "long enough to be a sentence"][random.below(5)]),
        4 => json!(random.below(100_000)),
        5 | 6 => (0..random.below(4))
            .map(|_| random_value(random, depth - 1))
            .collect(),
        _ => {
            let keys = ["a", "b", "name", "ключ"];
            let items = (0..random.below(4))
                .map(|at| (keys[at].to_owned(), random_value(random, depth - 1)));
            Value::Object(items.collect())
        }
    }
}

/// Rebuild the values of a draft with the oracle.
pub fn rebuilt(source: &[u8], draft: &Draft, node: usize) -> Value {
    let children =
        (node + 1..draft.nodes.len()).filter(|&at| draft.node(at).parent as usize == node);
    let this = &draft.node(node);
    match this.tag {
        OBJECT => children
            .map(|at| {
                let name =
                    String::from_utf8(draft.names.name(draft.node(at).tag).to_vec()).unwrap();
                (name, rebuilt(source, draft, at + 1))
            })
            .collect(),
        ARRAY => children.map(|at| rebuilt(source, draft, at)).collect(),
        STRING | NUMBER | TRUE | FALSE | NULL => {
            serde_json::from_slice(&source[this.run as usize..this.end as usize]).unwrap()
        }
        other => panic!("tag {other}"),
    }
}
