//! Finds the nodes that a reader can see.

use super::{Reader, Role};

/// HTML elements whose content is not part of the text of a page; `noscript` only if scripting is
/// on.
///
/// These are the elements that [`super::text`] leaves out, and those in a `head` that never have
/// text.
pub const HIDDEN_ELEMENTS: [&str; 11] = [
    "base", "datalist", "iframe", "link", "meta", "noembed", "noframes", "noscript", "script",
    "style", "template",
];

/// Whether an HTML element of this name is hidden.
pub(super) fn is_hidden(name: &str, scripting: bool) -> bool {
    HIDDEN_ELEMENTS.contains(&name) && (scripting || name != "noscript")
}

impl Reader<'_> {
    /// Return for each node whether it is part of the text of the page.
    ///
    /// Not visible are hidden elements and everything in them, comments, doctypes, processing
    /// instructions and bytes without structure. One pass over the nodes.
    #[must_use]
    pub fn visible(&self) -> Vec<bool> {
        let digest = self.digest;
        let sizes = &digest.derived().size;
        let tags = digest.tag();
        let mut visible = vec![false; digest.n()];
        let mut at = 0;
        while at < visible.len() {
            let tag = tags.get(at) as usize;
            if self.roles().get(tag) == Some(&Role::Hidden) {
                at += sizes[at] as usize;
                continue;
            }
            let class = digest.tag_info(tag).class;
            visible[at] = class.is_text() || !class.is_leaf();
            at += 1;
        }
        visible
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;
    use crate::encode::{Options, encode};
    use crate::text::text;

    fn page(source: &str, scripting: bool) -> Digest {
        let options = Options {
            scripting,
            ..Options::default()
        };
        encode(source.as_bytes(), &options).unwrap()
    }

    #[test]
    fn visible_texts_are_the_text_of_the_page() {
        let sources = [
            "<title>a</title><meta content=x><script>b</script><p>c<!-- d --><b>e</b>",
            "<template><p>a</template><svg><title>b</title><style>c</style></svg><iframe>d</iframe>e",
            "<noscript><p>a</noscript><datalist><option>b</datalist><textarea>c</textarea>",
            "<?xml version='1.0'?><a><!-- b --><c>d<![CDATA[e]]></c><style>f</style></a>",
            "<html xmlns='http://www.w3.org/1999/xhtml'><style>f</style><p>g</p></html>",
            "{\"a\": [1, \"b\"]}",
            "one\n\ntwo\n",
            "\0\u{1}",
        ];
        for scripting in [true, false] {
            for source in sources {
                let page = page(source, scripting);
                let visible = Reader::new(&page).visible();
                let shown = (0..page.n())
                    .filter(|&node| visible[node] && page.class(node).is_text())
                    .map(|node| text(&page, node));
                let words = |text: &str| text.split_whitespace().collect::<String>();
                let expected = words(&text(&page, 0).replace("a:", ""));
                assert_eq!(words(&shown.collect::<String>()), expected, "{source}");
            }
        }
    }
}
