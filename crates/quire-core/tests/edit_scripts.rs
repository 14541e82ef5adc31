//! Edit scripts are exact for any pairing: these tests draw partners at random.

#[path = "common/pages.rs"]
mod pages;

use pages::{Random, mutate, page};
use quire_core::sdiff::script::{Action, Making, Script, edit_script};
use quire_core::sdiff::{Labels, Pairs, Rules};
use quire_core::{Digest, Flags, Options, decode, encode};

/// Return the number of pairs of pages a test draws; more with `QUIRE_PAGES=1000000`.
fn seeds() -> u64 {
    std::env::var("QUIRE_PAGES").map_or(2000, |n| n.parse().expect("a number of pages"))
}

fn read(source: &[u8]) -> Digest {
    encode(source, &Options::default())
        .or_else(|_| {
            let recover = Options {
                recover: true,
                ..Options::default()
            };
            encode(source, &recover)
        })
        .expect("pages can be read")
}

/// Draw random partners: some in order, some not, of any class.
fn by_lot(random: &mut Random, old: &Digest, new: &Digest) -> Pairs {
    let mut pairs = Pairs::new(old.n(), new.n());
    pairs.join(0, 0);
    let in_order = random.below(3) > 0;
    let share = random.below(5);
    for x in 1..old.n() as u32 {
        if random.below(4) < share {
            let y = if in_order && random.below(8) > 0 {
                x as usize
            } else {
                1 + random.below(new.n())
            };
            if y < new.n() && pairs.to_old[y] == u32::MAX {
                pairs.join(x, y as u32);
            }
        }
    }
    pairs
}

fn script_of(old: &Digest, new: &Digest, pairs: &Pairs, making: Making) -> Script {
    let labels = [old, new].map(|page| Labels::new(page, &Rules::default()));
    edit_script(old, new, [&labels[0], &labels[1]], pairs, making).expect("scripts are made")
}

/// Make a page of any kind.
fn any_page(random: &mut Random) -> Vec<u8> {
    let some = |random: &mut Random| 1 + random.below(30);
    match random.below(8) {
        0 => b"{\"a\": [1, 2, {\"b\": null}],\n \"c\": \"d\"}\n".to_vec(),
        1 => b"<?xml version='1.0'?>\n<a b='1'><c/> <d>x &amp; y</d><!-- e --></a>".to_vec(),
        2 => b"one\ntwo\n\nthree\r\nfour".to_vec(),
        3 => b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec(),
        _ => {
            let pieces = some(random);
            let mut source = page(random, pieces);
            if random.below(3) == 0 {
                mutate(random, &mut source);
            }
            source
        }
    }
}

#[test]
fn any_partners_give_the_exact_page_and_the_way_back() {
    let (mut patched, mut verbatim) = (0, 0);
    for seed in 1..=seeds() {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let old_source = any_page(&mut random);
        let new_source = if random.below(2) == 0 {
            let mut source = old_source.clone();
            mutate(&mut random, &mut source);
            source
        } else {
            any_page(&mut random)
        };
        let (old, new) = (read(&old_source), read(&new_source));
        let pairs = by_lot(&mut random, &old, &new);
        let making = Making {
            nodewise: random.below(4) == 0,
            invertible: random.below(8) > 0,
        };
        let script = script_of(&old, &new, &pairs, making);
        let told = || {
            format!(
                "seed {seed}: {:?} to {:?}",
                String::from_utf8_lossy(&old_source),
                String::from_utf8_lossy(&new_source)
            )
        };
        let made = script
            .apply(&old)
            .unwrap_or_else(|e| panic!("{}: {e}", told()));
        assert_eq!(decode(&made).unwrap(), new_source, "{}", told());
        assert_eq!(
            Script::from_json(&script.to_json().unwrap()).unwrap(),
            script
        );
        if making.invertible {
            let back = script.invert().unwrap();
            let made = back
                .apply(&new)
                .unwrap_or_else(|e| panic!("{}: {e}", told()));
            assert_eq!(decode(&made).unwrap(), old_source, "{}", told());
            assert_eq!(back.invert().unwrap(), script);
        } else {
            assert!(script.invert().is_err());
        }
        let kept = [&old, &new]
            .iter()
            .any(|page| page.flags().has(Flags::VERBATIM));
        verbatim += u64::from(kept);
        let exact = script.is_exact_tree() && script.residual.old_patch.is_none();
        if !kept && !exact {
            patched += 1;
            println!("patched, {}", told());
        }
    }
    println!("{verbatim} pairs with a page kept verbatim, {patched} others with a patch");
    assert_eq!(
        patched, 0,
        "the layers give every page that keeps no source"
    );
}

#[test]
fn nodes_are_inserted_and_deleted_one_by_one_where_they_are_counted_so() {
    let (old, new) = (read(b"<ul><li>a<li>b</ul>"), read(b"<ul></ul><p>x"));
    // document, html, head, body, ul are partners.
    let mut pairs = Pairs::new(old.n(), new.n());
    (0..5).for_each(|node| pairs.join(node, node));
    let making = Making {
        nodewise: true,
        ..Making::default()
    };
    let script = script_of(&old, &new, &pairs, making);
    assert_eq!(script.actions.len(), 4 + 2);
    assert_eq!(script.node_edits, Some(6));
    let whole = script_of(&old, &new, &pairs, Making::default());
    assert_eq!(whole.actions.len(), 2);
    assert!(matches!(whole.actions[0], Action::Insert(_)));
}

/// Return the children of a node.
fn children(page: &Digest, node: u32) -> Vec<u32> {
    let sizes = &page.derived().size;
    let end = node + sizes[node as usize];
    let mut found = Vec::new();
    let mut child = node + 1;
    while child < end {
        found.push(child);
        child += sizes[child as usize];
    }
    found
}

/// Draw partners that keep order and ancestors, like those of the tree edit distance.
fn in_order(random: &mut Random, old: &Digest, new: &Digest) -> Pairs {
    let mut pairs = Pairs::new(old.n(), new.n());
    pairs.join(0, 0);
    // Two forests, first trees last, to be mapped to each other.
    let reversed = |page: &Digest, node| children(page, node).into_iter().rev().collect::<Vec<_>>();
    let mut work = vec![(reversed(old, 0), reversed(new, 0))];
    while let Some((mut xs, mut ys)) = work.pop() {
        while let (Some(&x), Some(&y)) = (xs.last(), ys.last()) {
            match random.below(4) {
                0 => {
                    xs.pop();
                    xs.extend(reversed(old, x));
                }
                1 => {
                    ys.pop();
                    ys.extend(reversed(new, y));
                }
                _ => {
                    xs.pop();
                    ys.pop();
                    pairs.join(x, y);
                    work.push((reversed(old, x), reversed(new, y)));
                }
            }
        }
    }
    pairs
}

#[test]
fn a_mapping_that_keeps_order_and_ancestors_costs_its_node_edits() {
    for seed in 1..=seeds() {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (old, new) = (read(&any_page(&mut random)), read(&any_page(&mut random)));
        let pairs = in_order(&mut random, &old, &new);
        let labels = [&old, &new].map(|page| Labels::new(page, &Rules::default()));
        // Blanks are not counted, so here a blank only has blank partners.
        if (pairs.to_new.iter().enumerate())
            .any(|(x, &y)| y != u32::MAX && labels[0].blank[x] != labels[1].blank[y as usize])
        {
            continue;
        }
        let alone = |partners: &[u32], blank: &[bool]| {
            let alone = partners.iter().zip(blank);
            alone
                .filter(|&(&to, &blank)| to == u32::MAX && !blank)
                .count()
        };
        let relabelled = (pairs.to_new.iter().enumerate())
            .filter(|&(x, &y)| {
                y != u32::MAX
                    && !labels[0].blank[x]
                    && labels[0].whole(x) != labels[1].whole(y as usize)
            })
            .count();
        let expected = alone(&pairs.to_new, &labels[0].blank)
            + alone(&pairs.to_old, &labels[1].blank)
            + relabelled;
        let making = Making {
            nodewise: true,
            ..Making::default()
        };
        let script = script_of(&old, &new, &pairs, making);
        assert_eq!(script.actions.len(), expected, "seed {seed}");
        let moves = |action: &Action| matches!(action, Action::Move(_));
        assert!(!script.actions.iter().any(moves), "seed {seed}");
    }
}
