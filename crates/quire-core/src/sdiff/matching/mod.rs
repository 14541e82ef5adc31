//! Matching: which node of the old page is which node of the new one.
use super::side::Side;
use crate::draft::NONE;

/// Partners, both ways; [`NONE`] for nodes without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pairs {
    /// The partner of each node of the old page.
    pub to_new: Vec<u32>,
    /// The partner of each node of the new page.
    pub to_old: Vec<u32>,
}

/// What the matching prefers where it has to choose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Granularity {
    /// Short scripts: parts that changed a lot are replaced.
    Brief,
    /// The middle.
    #[default]
    Normal,
    /// Nodes keep their identity as long as anything speaks for it.
    Fine,
}

/// Where a limit was met and the pairing is coarser than it could be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coarse {
    /// The node of the old page whose children were paired by a shorter way.
    pub old: u32,
    /// Its partner.
    pub new: u32,
}

impl Pairs {
    /// No partners yet.
    pub fn new(old: usize, new: usize) -> Self {
        Self {
            to_new: vec![NONE; old],
            to_old: vec![NONE; new],
        }
    }

    /// Make two nodes partners. Both must be free.
    #[inline]
    pub fn join(&mut self, old: u32, new: u32) {
        debug_assert_eq!(self.to_new[old as usize], NONE);
        debug_assert_eq!(self.to_old[new as usize], NONE);
        self.to_new[old as usize] = new;
        self.to_old[new as usize] = old;
    }
}

/// Pair the nodes of two sides. The roots are partners.
pub fn pair(old: &Side, new: &Side, _granularity: Granularity) -> (Pairs, Vec<Coarse>) {
    let mut pairs = Pairs::new(old.n(), new.n());
    let mut work = vec![(0u32, 0u32)];
    while let Some((x, y)) = work.pop() {
        pairs.join(x, y);
        let xs: Vec<u32> = old.children(x).collect();
        let ys: Vec<u32> = new.children(y).collect();
        let same = |x: u32, y: u32| old.hash[x as usize] == new.hash[y as usize];
        let head = xs
            .iter()
            .zip(&ys)
            .take_while(|&(&x, &y)| same(x, y))
            .count();
        let rest = xs.len().min(ys.len()) - head;
        let tail = (xs.iter().rev().zip(ys.iter().rev()))
            .take(rest)
            .take_while(|&(&x, &y)| same(x, y))
            .count();
        for i in 0..head {
            work.push((xs[i], ys[i]));
        }
        for i in 0..tail {
            work.push((xs[xs.len() - 1 - i], ys[ys.len() - 1 - i]));
        }
        for (&x, &y) in xs[head..xs.len() - tail]
            .iter()
            .zip(&ys[head..ys.len() - tail])
        {
            if (old.size[x as usize] == 1) == (new.size[y as usize] == 1) {
                work.push((x, y));
            }
        }
    }
    (pairs, Vec::new())
}
