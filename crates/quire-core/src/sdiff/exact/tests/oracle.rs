//! Tree edit distance by its definition: peel the last root off one forest or both.

use super::Owned;
use std::collections::HashMap;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node(u32, Vec<Node>);

type Memo = HashMap<(Vec<Node>, Vec<Node>), u32>;

fn size(forest: &[Node]) -> u32 {
    forest.iter().map(|node| 1 + size(&node.1)).sum()
}

fn between(old: &[Node], new: &[Node], memo: &mut Memo) -> u32 {
    let (Some((x, olds)), Some((y, news))) = (old.split_last(), new.split_last()) else {
        return size(old) + size(new);
    };
    let key = (old.to_vec(), new.to_vec());
    if let Some(&known) = memo.get(&key) {
        return known;
    }
    let delete = 1 + between(&[olds, &x.1].concat(), new, memo);
    let insert = 1 + between(old, &[news, &y.1].concat(), memo);
    let below = between(&x.1, &y.1, memo);
    let matched = u32::from(x.0 != y.0) + below + between(olds, news, memo);
    let least = delete.min(insert).min(matched);
    memo.insert(key, least);
    least
}

fn nested(tree: &Owned) -> Node {
    fn take(tree: &Owned, at: &mut usize) -> Node {
        let node = *at;
        *at += 1;
        let children = (0..tree.children[node]).map(|_| take(tree, at)).collect();
        Node(tree.labels[node], children)
    }
    take(tree, &mut 0)
}

pub fn distance(old: &Owned, new: &Owned) -> u32 {
    between(&[nested(old)], &[nested(new)], &mut Memo::new())
}

/// The same for larger trees: Zhang and Shasha's program as it is written in
/// textbooks, for every pair of nodes instead of every pair of key roots.
pub fn textbook(old: &Owned, new: &Owned) -> u32 {
    let side = |tree: &Owned| {
        let forest = tree.forest();
        let mut nodes: Vec<usize> = (0..forest.len()).collect();
        nodes.sort_unstable_by_key(|&x| forest.post(x));
        let node =
            |(place, &x): (usize, &usize)| (place + 1 - forest.size[x] as usize, forest.label[x]);
        nodes.iter().enumerate().map(node).collect::<Vec<_>>()
    };
    let (a, b) = (side(old), side(new));
    let mut trees = vec![vec![0; b.len()]; a.len()];
    for i in 0..a.len() {
        for j in 0..b.len() {
            let (from, to) = (a[i].0, b[j].0);
            let (rows, columns) = (i + 1 - from, j + 1 - to);
            let mut cost = vec![vec![0; columns + 1]; rows + 1];
            for r in 0..=rows {
                for c in 0..=columns {
                    if r == 0 || c == 0 {
                        cost[r][c] = (r + c) as u32;
                        continue;
                    }
                    let ((x, x_label), (y, y_label)) = (a[from + r - 1], b[to + c - 1]);
                    let matched = if x == from && y == to {
                        cost[r - 1][c - 1] + u32::from(x_label != y_label)
                    } else {
                        cost[x - from][y - to] + trees[from + r - 1][to + c - 1]
                    };
                    cost[r][c] = matched.min(cost[r - 1][c] + 1).min(cost[r][c - 1] + 1);
                }
            }
            trees[i][j] = cost[rows][columns];
        }
    }
    trees[a.len() - 1][b.len() - 1]
}
