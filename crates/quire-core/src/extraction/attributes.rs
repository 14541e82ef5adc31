//! Single attributes of a node, without decoding the others.

use std::borrow::Cow;

use crate::digest::Digest;
use crate::page::kind::Kind;
use crate::values::{self, Syntax, attribute_spans, attribute_syntax};

/// The value of an attribute; empty if it has none, `None` if the node does not have it. Of a
/// repeated name the first one counts. `name` is in lower case.
pub(super) fn attribute<'a>(digest: &'a Digest, node: usize, name: &str) -> Option<Cow<'a, str>> {
    let id = digest.attr().get(node);
    if id < 0 || !matches!(digest.kind(), Kind::Html | Kind::Xml | Kind::Tree) {
        return None;
    }
    let run = digest.attr_run(id as usize);
    let namespace = digest.tag_info(digest.tag().get(node) as usize).namespace;
    let syntax = attribute_syntax(digest.kind(), namespace);
    let is_same = |found: &[u8]| match syntax {
        Syntax::Html(_) => found.eq_ignore_ascii_case(name.as_bytes()),
        Syntax::Xml => found == name.as_bytes(),
    };
    let (_, value) = attribute_spans(run).find(|(found, _)| is_same(&run[found.clone()]))?;
    Some(value.map_or(Cow::Borrowed(""), |value| {
        values::attribute_value(&run[value], syntax, digest.encoding())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Options, encode};

    #[test]
    fn one_attribute_equals_the_one_among_all() {
        for source in [
            "<p CLASS='a &amp; b' id=x class=c Title>",
            "<svg viewbox=1 class><a href=x xlink:href=y>",
            "<?xml version='1.0'?><p Class='x' class='y &lt; z'/>",
        ] {
            let page = encode(source.as_bytes(), &Options::default()).unwrap();
            for node in 0..page.n() {
                for name in ["class", "id", "title", "href", "src"] {
                    let all = page.attributes(node);
                    let expected = all.iter().find(|(found, _)| **found == *name);
                    let found = attribute(&page, node, name);
                    assert_eq!(found.as_deref(), expected.map(|(_, value)| &**value));
                }
            }
        }
    }
}
