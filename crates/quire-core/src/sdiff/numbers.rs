//! Numbers in texts, and whether two texts differ in them only, and by little.
//!
//! What is a number:
//!
//! * digits `0` to `9`, not right behind a letter or `_`: `v2` and `h264` are words;
//! * a sign in front (`+`, `-`, U+2212), where no letter or digit is before it: `9-5` is two numbers;
//! * one decimal mark, `.` or `,`, with digits behind it;
//! * groups of three digits, separated by `.`, `,`, `'`, U+2019 or a space that does not break (U+00A0,
//!   U+2009, U+202F): the same one throughout, and not the decimal mark;
//! * an exponent behind a decimal mark or digits, as JSON has it: `1.5e3`.
//!
//! A single `.` or `,` with exactly three digits behind it could be either. It is read as the
//! separator of thousands (unless a lone `0` is before it): that makes differences larger, so that
//! doubtful changes are reported and not hidden.

use super::rules::Tolerance;

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part<'a> {
    /// What is no number.
    Words(&'a str),
    /// A number.
    Number(f64),
}

/// Whether two texts are equal but for numbers that are close enough. Linear.
pub fn are_close(old: &str, new: &str, tolerance: Tolerance) -> bool {
    let (mut old, mut new) = (parts(old), parts(new));
    loop {
        match (old.next(), new.next()) {
            (None, None) => return true,
            (Some(Part::Words(old)), Some(Part::Words(new))) if old == new => {}
            (Some(Part::Number(old)), Some(Part::Number(new))) if tolerance.allows(old, new) => {}
            _ => return false,
        }
    }
}

/// Take a text apart into numbers and what is between them.
pub fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = text;
    let mut before = None; // the character before `rest`
    let mut ready = None; // a number that follows words
    std::iter::from_fn(move || {
        if let Some(number) = ready.take() {
            return Some(Part::Number(number));
        }
        let start = rest;
        let mut at = 0;
        while at < start.len() {
            let word = before.is_some_and(|c: char| c.is_alphanumeric() || c == '_');
            if !word && let Some((number, length)) = number_at(&start[at..]) {
                rest = &start[at + length..];
                before = start[..at + length].chars().next_back();
                if at == 0 {
                    return Some(Part::Number(number));
                }
                ready = Some(number);
                return Some(Part::Words(&start[..at]));
            }
            before = start[at..].chars().next();
            at += before.map_or(1, char::len_utf8);
        }
        rest = "";
        (!start.is_empty()).then_some(Part::Words(start))
    })
}

/// The characters that may separate groups of three digits.
const SEPARATORS: [char; 7] = ['.', ',', '\'', '\u{2019}', '\u{a0}', '\u{2009}', '\u{202f}'];

/// More digits than this are a serial number, and every one counts.
const MAX_DIGITS: usize = 40;

/// The number at the beginning of a text, and its length in bytes.
fn number_at(text: &str) -> Option<(f64, usize)> {
    let sign = text.chars().next()?;
    let signed = matches!(sign, '+' | '-' | '\u{2212}');
    if !signed && !sign.is_ascii_digit() {
        return None;
    }
    let mut at = if signed { sign.len_utf8() } else { 0 };
    // Runs of digits, and the separators between them.
    let mut groups: Vec<&str> = Vec::new();
    let mut marks: Vec<char> = Vec::new();
    let mut end = at;
    let mut digits = 0;
    loop {
        let run = &text[at..];
        let length = run.find(|c: char| !c.is_ascii_digit()).unwrap_or(run.len());
        if length == 0 {
            marks.pop();
            break;
        }
        groups.push(&run[..length]);
        digits += length;
        end = at + length;
        match text[end..].chars().next() {
            Some(mark) if SEPARATORS.contains(&mark) && digits <= MAX_DIGITS => {
                marks.push(mark);
                at = end + mark.len_utf8();
            }
            _ => break,
        }
    }
    if groups.first()?.len() > MAX_DIGITS {
        return None;
    }
    let used = used_groups(&groups, &marks);
    if used.groups < groups.len() {
        end = groups[used.groups - 1].as_ptr() as usize + groups[used.groups - 1].len()
            - text.as_ptr() as usize;
    }
    let mut plain = String::with_capacity(digits + 2);
    for (i, group) in groups[..used.groups].iter().enumerate() {
        if used.decimal && i + 1 == used.groups {
            plain.push('.');
        }
        plain.push_str(group);
    }
    if let Some(exponent) = exponent_at(&text[end..]) {
        plain.push_str(&text[end..end + exponent]);
        end += exponent;
    }
    let value: f64 = plain.parse().ok()?;
    Some((if signed && sign != '+' { -value } else { value }, end))
}

/// How many of the groups belong to the number, and whether the last is behind a decimal mark.
struct Used {
    groups: usize,
    decimal: bool,
}

fn used_groups(groups: &[&str], marks: &[char]) -> Used {
    let one = Used {
        groups: 1,
        decimal: false,
    };
    let Some(&first) = marks.first() else {
        return one;
    };
    let can_group = (1..=3).contains(&groups[0].len()) && groups[0] != "0";
    // Groups of three behind the same mark.
    let grouped = if can_group {
        (marks.iter().zip(&groups[1..]))
            .take_while(|&(&mark, group)| mark == first && group.len() == 3)
            .count()
    } else {
        0
    };
    let is_decimal = |mark: char| mark == '.' || mark == ',';
    if grouped == 0 {
        return if is_decimal(first) {
            Used {
                groups: 2,
                decimal: true,
            }
        } else {
            one
        };
    }
    match marks.get(grouped) {
        Some(&mark) if is_decimal(mark) && mark != first => Used {
            groups: grouped + 2,
            decimal: true,
        },
        _ => Used {
            groups: grouped + 1,
            decimal: false,
        },
    }
}

/// The length of an exponent at the beginning of a text.
fn exponent_at(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    if !matches!(bytes.first()?, b'e' | b'E') {
        return None;
    }
    let sign = usize::from(matches!(bytes.get(1), Some(b'+' | b'-')));
    let digits = (bytes[1 + sign..].iter())
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let end = 1 + sign + digits;
    let word = (text[end..].chars().next()).is_some_and(|c| c.is_alphanumeric() || c == '_');
    ((1..=3).contains(&digits) && !word).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> Vec<f64> {
        parts(text)
            .filter_map(|part| match part {
                Part::Number(number) => Some(number),
                Part::Words(_) => None,
            })
            .collect()
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, expected) in [
            ("12.3 %", vec![12.3]),
            ("12,3 %", vec![12.3]),
            ("1,234,567.89", vec![1_234_567.89]),
            ("1.234.567,89", vec![1_234_567.89]),
            ("1'234", vec![1234.0]),
            ("1\u{a0}234,5", vec![1234.5]),
            ("1,234", vec![1234.0]),
            ("1.234", vec![1234.0]),
            ("0.125", vec![0.125]),
            ("1234.567", vec![1234.567]),
            ("12.50", vec![12.5]),
            ("-5, +6, \u{2212}7", vec![-5.0, 6.0, -7.0]),
            ("9-5", vec![9.0, 5.0]),
            ("1.5e3", vec![1500.0]),
            ("5e", vec![5.0]),
            ("v2 h264 a_1", vec![]),
            ("10km", vec![10.0]),
            ("2024-01-31", vec![2024.0, 1.0, 31.0]),
            ("1.2.3", vec![1.2, 3.0]),
            ("end 5.", vec![5.0]),
            ("", vec![]),
        ] {
            assert_eq!(numbers(text), expected, "{text}");
        }
    }

    #[test]
    fn parts_are_the_text() {
        let found: Vec<_> = parts("From 5 to -7.5 kg").collect();
        let expected = [
            Part::Words("From "),
            Part::Number(5.0),
            Part::Words(" to "),
            Part::Number(-7.5),
            Part::Words(" kg"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn very_long_runs_of_digits_are_words() {
        let serial = "1".repeat(100_000);
        assert_eq!(parts(&serial).count(), 1);
        let many = "1,".repeat(100_000);
        assert!(!numbers(&many).is_empty());
    }

    #[test]
    fn numbers_within_the_tolerance_are_close() {
        let tolerance = Tolerance {
            absolute: 0.5,
            relative: 0.0,
        };
        assert!(are_close(
            "EUR 1.299,50 today",
            "EUR 1.299,95 today",
            tolerance
        ));
        assert!(!are_close("1,234", "1,235", tolerance)); // thousands
        assert!(!are_close("5 apples", "5 pears", tolerance));
    }
}
