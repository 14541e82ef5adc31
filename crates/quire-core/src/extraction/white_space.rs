//! White space as Python's `str.split` and `str.strip` see it.
//!
//! Tables hold what `" ".join(text.split())` gives; Python also counts the four separators
//! U+001C to U+001F, which Unicode does not.

fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// The words of a text.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// A text with one space between words and none around them.
pub(super) fn joined(text: &str) -> String {
    let mut found = String::with_capacity(text.len());
    for word in words(text) {
        if !found.is_empty() {
            found.push(' ');
        }
        found.push_str(word);
    }
    found
}

/// A text without white space around it.
pub(super) fn stripped(text: &str) -> &str {
    text.trim_matches(is_space)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_end_where_python_ends_them() {
        let text = "\u{1c} a\u{a0}b \u{1f}c\u{200b}d ";
        assert_eq!(joined(text), "a b c\u{200b}d");
        assert_eq!(stripped(text), "a\u{a0}b \u{1f}c\u{200b}d");
        assert_eq!(joined(" \n"), "");
    }
}
