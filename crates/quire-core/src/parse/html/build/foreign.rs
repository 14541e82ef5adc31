//! SVG and MathML: "in foreign content".

use super::stack::{HTML_INTEGRATION, NOWHERE, TEXT_INTEGRATION};
use super::{Builder, Next};
use crate::page::html_names;
use crate::page::html_names::{ANNOTATION_XML, BR, FONT, P, SCRIPT};
use crate::page::text_mode::Mode;
use crate::page::vocabulary::Namespace;
use crate::parse::html::tokenizer::TagToken;
use crate::values::scan;

impl Builder<'_> {
    pub(super) fn foreign_text(&mut self, start: usize, end: usize) {
        self.insert_text(start, end, Mode::Foreign);
        if self.frameset_ok
            && !self.source[start..end]
                .iter()
                .all(|&b| scan::is_space(b) || b == 0)
        {
            self.frameset_ok = false;
        }
    }

    /// Handle a start tag in foreign content. `Next::Again`: the tag leaves foreign content and is
    /// an HTML tag.
    pub(super) fn foreign_start(&mut self, tag: &TagToken) -> Next {
        let known = (tag.name as usize) < html_names::COUNT;
        let breaks_out = known
            && (html_names::PROPERTIES[tag.name as usize] & html_names::BREAKS_OUT != 0
                || (tag.name == FONT
                    && ["color", "face", "size"]
                        .iter()
                        .any(|a| self.attribute(tag, a).is_some())));
        if breaks_out {
            self.leave_foreign();
            return Next::Again;
        }
        let namespace = self
            .adjusted_current()
            .map_or(Namespace::Html, |open| open.namespace);
        let raw = &self.source[tag.name_start..tag.name_end];
        let element = self.tag_in(namespace, known.then_some(tag.name), raw);
        let mut extra = 0;
        if namespace == Namespace::MathMl && tag.name == ANNOTATION_XML {
            let html = self.attribute(tag, "encoding").is_some_and(|e| {
                e.eq_ignore_ascii_case("text/html")
                    || e.eq_ignore_ascii_case("application/xhtml+xml")
            });
            extra = if html { HTML_INTEGRATION } else { 0 };
        }
        if tag.self_closing {
            let spot = self.spot();
            self.add_element(spot, element, tag);
        } else {
            self.push_element(element, namespace, tag, extra);
        }
        Next::Done
    }

    /// Pop until the current node is HTML or an integration point.
    fn leave_foreign(&mut self) {
        while let Some(open) = self.stack.top() {
            if open.namespace == Namespace::Html
                || open.properties & (HTML_INTEGRATION | TEXT_INTEGRATION) != 0
                || self.stack.len() == 1
            {
                return;
            }
            self.stack.pop();
        }
    }

    /// Handle an end tag in foreign content. `Next::Again`: the tag closes something in HTML.
    pub(super) fn foreign_end(&mut self, tag: &TagToken) -> Next {
        if matches!(tag.name, BR | P) {
            self.leave_foreign();
            return Next::Again;
        }
        let Some(&open) = self.stack.top() else {
            return Next::Again;
        };
        if tag.name == SCRIPT && open.namespace == Namespace::Svg && open.name == SCRIPT {
            self.close(self.stack.len() as u32, tag);
            return Next::Done;
        }
        // The topmost open element of that name in either foreign namespace, unless an HTML
        // element is above it.
        let raw = &self.source[tag.name_start..tag.name_end];
        let known = ((tag.name as usize) < html_names::COUNT).then_some(tag.name);
        let mut position = NOWHERE;
        for namespace in [Namespace::Svg, Namespace::MathMl] {
            let element = self.find_tag(namespace, known, raw);
            position = position.max(element.map_or(NOWHERE, |tag| self.stack.last(tag)));
        }
        if position > self.foreign_base() {
            self.close(position, tag);
            return Next::Done;
        }
        if self.foreign_base() == NOWHERE {
            return Next::Done;
        }
        Next::Again
    }

    /// Return the position of the topmost HTML element.
    fn foreign_base(&self) -> u32 {
        self.stack.last_html_element()
    }
}
