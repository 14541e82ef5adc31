//! A quick measurement of sdiff: adjacent versions in a folder, number of actions, time.
//!
//! `cargo run --release -p quire-core --example sdiff -- FOLDER [LIMIT]`. Versions of a page are
//! the files of one folder, in the order of their names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use quire_core::sdiff::script::{Wanted, between};
use quire_core::sdiff::{Compared, Granularity, Rules, Scope, annotate};
use quire_core::{Digest, Options, encode};

const NONE: u32 = u32::MAX;

fn files(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<PathBuf>>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.entry(folder.to_owned()).or_default().push(path);
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("a folder of versions");
    let limit: usize = arguments.next().map_or(usize::MAX, |n| n.parse().unwrap());
    let granularity = match std::env::var("GRANULARITY").as_deref() {
        Ok("brief") => Granularity::Brief,
        Ok("fine") => Granularity::Fine,
        _ => Granularity::Normal,
    };
    let verbose = std::env::var("VERBOSE").is_ok();
    let mut folders = BTreeMap::new();
    files(Path::new(&folder), &mut folders);
    let mut totals = [0; 4];
    let (mut unmatched, mut coarse, mut pairs) = (0, 0, 0);
    let mut counts = Vec::new();
    let mut times: Vec<Duration> = Vec::new();
    for files in folders.values_mut() {
        files.sort();
        let page =
            |path: &PathBuf| encode(&std::fs::read(path).unwrap(), &Options::default()).unwrap();
        let mut last: Option<Digest> = None;
        for path in files.iter().take(limit) {
            let new = page(path);
            if let Some(old) = &last {
                new.wide();
                let start = Instant::now();
                let compared = |page| Compared {
                    page,
                    scope: Scope::default(),
                };
                let found = annotate(
                    &compared(old),
                    &compared(&new),
                    &Rules::default(),
                    granularity,
                )
                .unwrap();
                let time = start.elapsed();
                let wanted = Wanted {
                    granularity,
                    ..Wanted::default()
                };
                let kinds = between(old, &new, wanted).unwrap().counts();
                let changes = kinds.updates + kinds.renames;
                let kinds = [kinds.inserts, kinds.deletes, kinds.moves, changes];
                let sum: usize = kinds.iter().sum();
                if verbose {
                    println!(
                        "{sum:6} {kinds:?} {:.1} ms {}",
                        time.as_secs_f64() * 1e3,
                        path.display()
                    );
                }
                for (total, count) in totals.iter_mut().zip(kinds) {
                    *total += count;
                }
                counts.push(sum);
                times.push(time);
                unmatched += found.pairs.to_new.iter().filter(|&&y| y == NONE).count();
                coarse += usize::from(!found.coarse.is_empty());
                pairs += 1;
            }
            last = Some(new);
        }
    }
    counts.sort_unstable();
    times.sort_unstable();
    let ms = |at: usize| times[at].as_secs_f64() * 1e3;
    println!(
        "{pairs} pairs: {} actions (insert, delete, move, change {totals:?}), median {}, p90 {}; {unmatched} old nodes alone; {coarse} coarse; median {:.2} ms, p99 {:.2} ms, max {:.1} ms",
        totals.iter().sum::<usize>(),
        counts[pairs / 2],
        counts[pairs * 9 / 10],
        ms(pairs / 2),
        ms(pairs * 99 / 100),
        ms(pairs - 1),
    );
}
