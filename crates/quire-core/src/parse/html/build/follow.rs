//! Follows the source while the tree is built.
//!
//! As long as every node goes to the end of the tree, the walk of [`crate::encode::leftovers`]
//! would take the same steps as the tree builder, in the same order. So they are taken here, at the
//! cost of one comparison per token, and only the rest of the page is left for the walk. The rest
//! starts at the first step that depends on later input: `</body>`, which need not be the end of
//! the body.
//!
//! If the two differ (an odd spelling, a node that moves, content after the end tag of its element,
//! attributes added later), following stops for good, and the walk starts from the beginning.

use crate::base::vec_pool::Reused;
use crate::parse::draft::{DraftNode, IMPLIED, ODD};
use crate::parse::trail::{ENDED, SILENT, Trail};

/// The state of the walk.
pub struct Follow {
    trail: Trail,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Following step by step.
    Following,
    /// The walk continues from here.
    Halted,
    /// The walk has to start from the beginning.
    Lost,
}

impl Follow {
    /// Start at the document.
    pub fn new(nodes: usize) -> Self {
        let mut marks = Reused::with_capacity(nodes);
        marks.push(SILENT);
        Self {
            trail: Trail {
                marks,
                ..Trail::default()
            },
            state: State::Following,
        }
    }

    /// Leave the rest of the page to the walk.
    pub fn halt(&mut self) {
        if self.state == State::Following {
            self.state = State::Halted;
        }
    }

    /// Leave all of the page to the walk.
    pub fn lose(&mut self) {
        if self.state != State::Lost {
            self.state = State::Lost;
            self.trail = Trail::default();
        }
    }

    /// Note that a node is about to go elsewhere than to the end of the tree. The steps up to
    /// `</body>` remain valid if all nodes are in order in the end.
    pub fn out_of_order(&mut self) {
        if self.state == State::Following {
            self.lose();
        }
    }

    /// Note that a node was appended to the tree.
    #[inline(always)]
    #[allow(clippy::inline_always)] // a call would pass the node through memory
    pub fn node(&mut self, node: &DraftNode, depth: u32) {
        if self.state != State::Following {
            return;
        }
        let trail = &mut self.trail;
        let behind_end = depth > trail.level + 1;
        let early = node.start < trail.done;
        if node.flags & IMPLIED != 0 && !behind_end {
            trail.marks.push(SILENT);
            return;
        }
        if behind_end || early || node.flags & ODD != 0 {
            self.lose();
            return;
        }
        trail.flush(node.start);
        trail.at = trail.marks.len() as u32;
        trail.marks.push(0);
        trail.level = depth;
        trail.offset = if node.run == node.start {
            node.end - node.run
        } else {
            0
        };
        trail.done = node.end;
    }

    /// Note that the text `node` continues with `start..end`, as a new piece or by extending the
    /// last one.
    #[inline]
    pub fn text(&mut self, node: u32, depth: u32, start: u32, end: u32, new_piece: bool) {
        if self.state != State::Following {
            return;
        }
        let trail = &mut self.trail;
        if trail.at != node || trail.level != depth || start < trail.done {
            self.lose();
            return;
        }
        trail.flush(start);
        trail.offset += end - start;
        trail.done = end;
        trail.pieces += usize::from(new_piece);
    }

    /// Note an end tag of `node`, which is open.
    #[inline]
    pub fn end(&mut self, node: u32, depth: u32, start: u32, end: u32, odd: bool) {
        if self.state != State::Following {
            return;
        }
        let trail = &mut self.trail;
        if odd || start < trail.done || depth == 0 {
            self.lose();
            return;
        }
        trail.ends += 1;
        if depth > trail.level || node > trail.at {
            return;
        }
        trail.flush(start);
        trail.at = trail.marks.len() as u32 - 1;
        trail.level = depth - 1;
        trail.offset = 0;
        trail.done = end;
        trail.marks[node as usize] |= ENDED;
    }

    /// Return the state from which the walk continues.
    pub fn finish(self) -> Option<Trail> {
        (self.state != State::Lost).then_some(self.trail)
    }
}

#[cfg(test)]
mod tests {
    use crate::encode::leftovers::reconcile;
    use crate::encode::preorder::Order;
    use crate::encode::tag_spelling::Spellings;
    use crate::parse::draft::Draft;
    use crate::parse::html::{Options, parse};

    /// Everything that can stop the following, mixed with things that cannot.
    const PARTS: [&str; 32] = [
        "<p>",
        "</p>",
        "<b>",
        "</b>",
        "<div class=a>",
        "</div>",
        "<a href='#'>",
        "</a>",
        "<br>",
        "text",
        " ",
        "\n",
        "a < b",
        "<!-- c -->",
        "<table>",
        "<tr>",
        "<td>",
        "</table>",
        "<ul>",
        "<li>",
        "</ul>",
        "</nope>",
        "<script>x</script>",
        "<svg><path/></svg>",
        "<DIV>",
        "</DIV >",
        "<body id=b>",
        "</body>",
        "</html>",
        "<template>",
        "</template>",
        "<select><option>",
    ];

    fn page(seed: u64) -> String {
        let mut state = seed;
        let mut page =
            String::from(["", "<!doctype html><html><head></head><body>"][seed as usize % 2]);
        for _ in 0..seed % 24 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            page += PARTS[(state >> 59) as usize];
        }
        page
    }

    #[test]
    fn the_walk_from_the_trail_is_the_walk_from_the_beginning() {
        let options = Options {
            scripting: true,
            context: None,
            encoding: encoding_rs::UTF_8,
            skip: 0,
        };
        let mut followed = 0;
        for seed in 0..20_000 {
            let page = page(seed);
            let mut draft: Draft = parse(page.as_bytes(), &options);
            let trail = draft.trail.take();
            followed += usize::from(trail.is_some());
            let order = Order::new(&mut draft);
            let spellings = Spellings::choose(&draft, page.as_bytes());
            let walk = |trail| {
                let walked = reconcile(&draft, &order, &spellings, page.as_bytes(), trail);
                walked.map(|e| (e.marks.to_vec(), e.strays))
            };
            assert_eq!(walk(trail), walk(None), "{page}");
        }
        assert!(followed > 3_000, "{followed}");
    }
}
