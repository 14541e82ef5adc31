//! The layers of the crate: a folder of `src` uses only the folders below it.
//!
//! Code under `#[cfg(test)]` may use any layer: a test of a parser may encode a whole page.

use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

/// Each folder of `src`, with its layer. Folders on one layer do not use each other.
const FLOORS: [(&str, u8); 14] = [
    ("base", 0),
    ("codec", 1), // uses only `base`, see below
    ("page", 1),
    ("style", 1),
    ("values", 2),
    ("parse", 3),
    ("digest", 4),
    ("encode", 5),
    ("text", 6),
    ("select", 6),
    ("sdiff", 7),
    ("similarity", 7),
    ("fragments", 7),
    ("extraction", 7),
];
/// More files than this in one folder should be split into folders.
const MAX_FILES: usize = 14;

fn floor(folder: &str) -> u8 {
    let found = FLOORS.iter().find(|(name, _)| *name == folder);
    found.unwrap_or_else(|| panic!("{folder} has no floor")).1
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = read_dir(folder).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Return all files below a folder that are part of the library.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in entries(folder) {
        if path.is_dir() {
            found.extend(sources(&path));
        } else {
            found.push(path);
        }
    }
    let tests = only_for_tests(folder);
    found.retain(|path| !tests.iter().any(|test| path.starts_with(test)));
    found
}

/// Return the files and folders declared as `#[cfg(test)] mod name;` in a folder's `mod.rs`.
fn only_for_tests(folder: &Path) -> Vec<PathBuf> {
    let text = read_to_string(folder.join("mod.rs")).unwrap_or_default();
    let declared = text.split("#[cfg(test)]").skip(1);
    let name = |rest: &str| {
        let name = rest.trim_start().strip_prefix("mod ")?.split_once(';')?.0;
        (!name.contains('{')).then(|| name.to_owned())
    };
    let names = declared.filter_map(name);
    names
        .flat_map(|name| [folder.join(format!("{name}.rs")), folder.join(name)])
        .collect()
}

/// Return the folders that a file uses outside of comments and tests.
fn uses(text: &str) -> Vec<String> {
    let tests = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let lines = text[..tests].lines().map(str::trim_start);
    let code: Vec<_> = lines.filter(|line| !line.starts_with("//")).collect();
    let code = code.join("\n");
    assert!(
        !code.contains("super::super::"),
        "name the folder: `crate::...`"
    );
    let after = code.split("crate::").skip(1);
    let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
    after
        .map(|rest| rest.chars().take_while(|&c| is_name(c)).collect())
        .collect()
}

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

#[test]
fn a_folder_uses_only_the_folders_below_it() {
    for (folder, own) in FLOORS {
        for path in sources(&src().join(folder)) {
            for used in uses(&read_to_string(&path).unwrap()) {
                let below = floor(&used) < own && (folder != "codec" || used == "base");
                assert!(below || used == folder, "{} uses {used}", path.display());
            }
        }
    }
}

#[test]
fn every_file_is_in_a_folder_of_few_files() {
    let root = entries(&src());
    let loose: Vec<_> = root.iter().filter(|path| path.is_file()).collect();
    assert_eq!(loose, [&src().join("lib.rs")]);
    let mut folders: Vec<_> = root.into_iter().filter(|path| path.is_dir()).collect();
    assert_eq!(folders.len(), FLOORS.len());
    while let Some(folder) = folders.pop() {
        let (below, files): (Vec<_>, Vec<_>) =
            entries(&folder).into_iter().partition(|p| p.is_dir());
        assert!(
            files.len() <= MAX_FILES,
            "{} files in {}",
            files.len(),
            folder.display()
        );
        folders.extend(below);
    }
}
