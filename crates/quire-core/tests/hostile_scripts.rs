//! Scripts that no kernel made: refused, never trusted, never a crash.

#[path = "common/pages.rs"]
mod pages;
#[path = "common/scripts.rs"]
mod scripts;

use pages::Random;
use quire_core::Error;
use quire_core::sdiff::script::Script;
use scripts::{SAMPLES, sample, try_everything};

/// Change a few numbers and words of a script.
fn forge(random: &mut Random, text: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    let kind = |c: char| (c.is_ascii_digit(), c.is_alphanumeric());
    for c in text.chars() {
        match parts.last_mut() {
            Some(part) if part.chars().last().map(kind) == Some(kind(c)) && c.is_alphanumeric() => {
                part.push(c);
            }
            _ => parts.push(c.to_string()),
        }
    }
    for _ in 0..=random.below(3) {
        let at = random.below(parts.len());
        let from = random.below(parts.len());
        let number = parts[at].parse::<u64>();
        parts[at] = match number {
            Ok(number) => match random.below(5) {
                0 => (number + 1).to_string(),
                1 => number.saturating_sub(1).to_string(),
                2 => random.below(40).to_string(),
                3 => u64::MAX.to_string(),
                _ => "4294967295".to_owned(),
            },
            Err(_) if random.below(3) == 0 => parts[from].clone(),
            Err(_) => continue,
        };
    }
    parts.concat()
}

#[test]
fn forged_scripts_are_refused_or_make_what_they_say() {
    for number in 0..SAMPLES.len() {
        let (old, text) = sample(number);
        try_everything(&old, &text);
        for seed in 1..2000_u64 {
            let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            try_everything(&old, &forge(&mut random, &text));
        }
    }
}

#[test]
fn a_script_that_is_cut_off_is_refused() {
    let (_, text) = sample(0);
    for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
        assert!(matches!(
            Script::from_json(&text[..end]),
            Err(Error::Script { .. })
        ));
    }
}

#[test]
fn refusals_name_what_was_found_and_what_was_expected() {
    let (old, text) = sample(0);
    let told = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} in {text}");
        let forged = text.replacen(from, to, 1);
        match Script::from_json(&forged).and_then(|script| script.apply(&old).map(|_| ())) {
            Err(error) => error.to_string(),
            Ok(()) => panic!("{to} was believed"),
        }
    };
    for (from, to, message) in [
        (
            "quire-edit-script",
            "other",
            "format is \"other\", but expected",
        ),
        (
            "\"version\":1",
            "\"version\":2",
            "version is 2, but this version reads 1",
        ),
        (
            "\"mode\":\"data\"",
            "\"mode\":\"x\"",
            "unknown mode \"x\"; expected one of plain, data",
        ),
        ("\"kind\":\"html\"", "\"kind\":\"xml\"", "read as xml"),
        ("\"invertible\"", "\"invertable\"", "unknown field"),
        ("\" a=2\"", "\" a=3\"", "damaged"),
    ] {
        let told = told(from, to);
        assert!(told.contains(message), "{told}");
    }
}

#[test]
fn a_patch_gives_no_more_than_the_page_has() {
    let (old, text) = sample(4);
    let script = Script::from_json(&text).unwrap();
    assert!(!script.is_exact_tree());
    let mut short = script.clone();
    short.new.bytes = 3;
    let told = short.apply(&old).err().unwrap().to_string();
    assert!(told.contains("patch holds 4 bytes or more"), "{told}");
}
