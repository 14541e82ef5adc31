//! The mode "in body", which handles most of a page.

use super::stack::NOWHERE;
use super::{Builder, M, Next};
use crate::page::html_names;
use crate::page::html_names::{
    A, APPLET, AREA, BASE, BASEFONT, BGSOUND, BODY, BR, BUTTON, CAPTION, COL, COLGROUP, DD, DT,
    EMBED, FORM, FRAME, FRAMESET, H1, H2, H3, H4, H5, H6, HEAD, HR, HTML, IFRAME, IMAGE, IMG,
    INPUT, IS_BLOCK, IS_FORMATTING, IS_HEADING, KEYGEN, LI, LINK, LISTING, MARQUEE, MATH, META,
    NOBR, NOEMBED, NOFRAMES, NOSCRIPT, Name, OBJECT, OPTGROUP, OPTION, P, PARAM, PLAINTEXT, PRE,
    PROPERTIES, RB, RP, RT, RTC, RUBY, SCRIPT, SELECT, SOURCE, STYLE, SVG, TABLE, TBODY, TD,
    TEMPLATE, TEXTAREA, TFOOT, TH, THEAD, TITLE, TR, TRACK, WBR, XMP,
};
use crate::page::text_mode::Mode;
use crate::page::vocabulary::{Namespace, Tag};
use crate::parse::html::tokenizer::TagToken;
use crate::values::scan;

impl Builder<'_> {
    #[inline]
    pub(super) fn body_text(&mut self, start: usize, end: usize, mode: Mode) {
        let text = &self.source[start..end];
        if text[0] == 0 && text.iter().all(|&b| b == 0) {
            return;
        }
        self.reconstruct_formatting();
        self.insert_text(start, end, mode);
        if self.frameset_ok && !text.iter().all(|&b| scan::is_space(b) || b == 0) {
            self.frameset_ok = self.leading_space(start, end) == end - start;
        }
    }

    /// Close a `p` in button scope.
    #[inline]
    fn close_p(&mut self) {
        if self.stack.has_in_button_scope(P) {
            self.generate_implied_ends(P);
            self.pop_until(P);
        }
    }

    #[allow(clippy::too_many_lines)] // one arm for each rule of the mode, as in the standard
    pub(super) fn body_start(&mut self, tag: &TagToken) -> Next {
        let known = tag.name;
        if (known as usize) < html_names::COUNT {
            let properties = PROPERTIES[known as usize];
            if properties & IS_BLOCK != 0 {
                self.close_p();
                self.insert(tag);
                return Next::Done;
            }
            if properties & IS_FORMATTING != 0 {
                self.formatting_start(tag);
                return Next::Done;
            }
        }
        match known {
            H1 | H2 | H3 | H4 | H5 | H6 => {
                self.close_p();
                if self
                    .stack
                    .top()
                    .is_some_and(|o| o.properties & IS_HEADING != 0)
                {
                    self.stack.pop();
                }
                self.insert(tag);
            }
            LI => {
                self.frameset_ok = false;
                self.close_item(LI, self.stack.last_html(LI));
                self.close_p();
                self.insert(tag);
            }
            DD | DT => {
                self.frameset_ok = false;
                let (dd, dt) = (self.stack.last_html(DD), self.stack.last_html(DT));
                self.close_item(if dd > dt { DD } else { DT }, dd.max(dt));
                self.close_p();
                self.insert(tag);
            }
            SCRIPT | STYLE | LINK | META | TITLE | BASE | BASEFONT | BGSOUND | NOFRAMES
            | TEMPLATE => {
                self.head_start(tag);
            }
            IMG | BR | AREA | EMBED | WBR | KEYGEN => {
                self.reconstruct_formatting();
                self.insert_void(tag);
                self.frameset_ok = false;
            }
            INPUT => self.input_start(tag),
            PARAM | SOURCE | TRACK => self.insert_void(tag),
            HR => {
                self.close_p();
                if self.stack.has_in_scope(SELECT) {
                    self.generate_implied_ends(html_names::COUNT as Name);
                }
                self.insert_void(tag);
                self.frameset_ok = false;
            }
            IMAGE => {
                // "image" is treated as "img"; the source keeps its spelling.
                self.reconstruct_formatting();
                let spot = self.spot();
                let odd = TagToken {
                    capitals: true,
                    ..*tag
                };
                self.add_element(spot, html_names::html(IMG), &odd);
                self.frameset_ok = false;
            }
            BUTTON => {
                if self.stack.has_in_scope(BUTTON) {
                    self.generate_implied_ends(html_names::COUNT as Name);
                    self.pop_until(BUTTON);
                }
                self.reconstruct_formatting();
                self.insert(tag);
                self.frameset_ok = false;
            }
            FORM => self.form_start(tag),
            TABLE => {
                if !self.quirks {
                    self.close_p();
                }
                self.insert(tag);
                self.frameset_ok = false;
                self.mode = M::InTable;
            }
            PRE | LISTING => {
                self.close_p();
                self.insert(tag);
                self.skip_line_end = true;
                self.frameset_ok = false;
            }
            TEXTAREA => {
                self.insert_raw(tag, Mode::Rcdata);
                self.frameset_ok = false;
            }
            XMP => {
                self.close_p();
                self.reconstruct_formatting();
                self.frameset_ok = false;
                self.insert_raw(tag, Mode::RawText);
            }
            IFRAME => {
                self.frameset_ok = false;
                self.insert_raw(tag, Mode::RawText);
            }
            NOEMBED => self.insert_raw(tag, Mode::RawText),
            NOSCRIPT if self.options.scripting => self.insert_raw(tag, Mode::RawText),
            PLAINTEXT => {
                self.close_p();
                self.insert(tag);
                let (start, end) = self.tokenizer.rest();
                if start < end {
                    self.body_text(start, end, Mode::RawText);
                }
            }
            APPLET | MARQUEE | OBJECT => {
                self.reconstruct_formatting();
                self.insert(tag);
                self.formatting.push_marker();
                self.frameset_ok = false;
            }
            SELECT | OPTION | OPTGROUP => self.select_start(tag),
            RB | RTC => {
                if self.stack.has_in_scope(RUBY) {
                    self.generate_implied_ends(html_names::COUNT as Name);
                }
                self.insert(tag);
            }
            RP | RT => {
                if self.stack.has_in_scope(RUBY) {
                    self.generate_implied_ends(RTC);
                }
                self.insert(tag);
            }
            MATH => self.foreign_root(Namespace::MathMl, tag),
            SVG => self.foreign_root(Namespace::Svg, tag),
            HTML => {
                if self.stack.last_html(TEMPLATE) == NOWHERE {
                    self.join_attributes(self.html, tag);
                }
            }
            BODY => self.second_body(tag),
            FRAMESET => self.late_frameset(tag),
            CAPTION | COL | COLGROUP | FRAME | HEAD | TBODY | TD | TFOOT | TH | THEAD | TR => {}
            _ => {
                self.reconstruct_formatting();
                self.insert(tag);
            }
        }
        Next::Done
    }

    fn formatting_start(&mut self, tag: &TagToken) {
        if tag.name == A {
            self.close_open_formatting(A);
        }
        self.reconstruct_formatting();
        if tag.name == NOBR && self.stack.has_in_scope(NOBR) {
            self.adoption_agency(html_names::html(NOBR), None);
            self.reconstruct_formatting();
        }
        let node = self.insert(tag);
        self.push_formatting(node);
    }

    /// Close an open `li`, `dd` or `dt` of the same list, unless a special element is in between.
    fn close_item(&mut self, name: Name, position: u32) {
        if position != NOWHERE && position >= self.stack.last_barrier() {
            self.generate_implied_ends(name);
            self.stack.truncate(position as usize - 1);
        }
    }

    fn input_start(&mut self, tag: &TagToken) {
        if self
            .context
            .is_some_and(|c| c.name == SELECT && c.namespace == Namespace::Html)
        {
            return;
        }
        if self.stack.has_in_scope(SELECT) {
            self.pop_until(SELECT);
        }
        self.reconstruct_formatting();
        self.insert_void(tag);
        let hidden = self
            .attribute(tag, "type")
            .is_some_and(|t| t.eq_ignore_ascii_case("hidden"));
        if !hidden {
            self.frameset_ok = false;
        }
    }

    fn select_start(&mut self, tag: &TagToken) {
        let in_select = self.stack.has_in_scope(SELECT);
        match tag.name {
            SELECT => {
                if self
                    .context
                    .is_some_and(|c| c.name == SELECT && c.namespace == Namespace::Html)
                {
                    return;
                }
                if in_select {
                    self.pop_until(SELECT);
                    return;
                }
                self.reconstruct_formatting();
                self.insert(tag);
                self.frameset_ok = false;
                return;
            }
            OPTION if in_select => self.generate_implied_ends(OPTGROUP),
            OPTGROUP if in_select => self.generate_implied_ends(html_names::COUNT as Name),
            _ if self.current_is(OPTION) => {
                self.stack.pop();
            }
            _ => {}
        }
        self.reconstruct_formatting();
        self.insert(tag);
    }

    fn form_start(&mut self, tag: &TagToken) {
        let in_template = self.stack.last_html(TEMPLATE) != NOWHERE;
        if self.form != crate::page::tree::NONE && !in_template {
            return;
        }
        self.close_p();
        let node = self.insert(tag);
        if !in_template {
            self.form = node;
        }
    }

    fn second_body(&mut self, tag: &TagToken) {
        if self.stack.len() < 2 || self.stack.at(2).tag != html_names::html(BODY) {
            return;
        }
        if self.stack.last_html(TEMPLATE) != NOWHERE {
            return;
        }
        self.frameset_ok = false;
        self.join_attributes(self.stack.at(2).node, tag);
    }

    fn late_frameset(&mut self, tag: &TagToken) {
        if self.stack.len() < 2
            || self.stack.at(2).tag != html_names::html(BODY)
            || !self.frameset_ok
        {
            return;
        }
        let body = self.stack.at(2).node;
        self.arena.detach(body);
        self.stack.truncate(1);
        self.insert(tag);
        self.mode = M::InFrameset;
    }

    pub(super) fn body_end(&mut self, tag: &TagToken) -> Next {
        let known = tag.name;
        if (known as usize) < html_names::COUNT {
            let properties = PROPERTIES[known as usize];
            if properties & IS_FORMATTING != 0 {
                self.adoption_agency(html_names::html(known), Some(tag));
                return Next::Done;
            }
            if (properties & IS_BLOCK != 0 && known != P)
                || matches!(known, BUTTON | LISTING | PRE | SELECT)
            {
                let position = self.stack.last_html(known);
                if self.stack.in_scope(position) {
                    self.generate_implied_ends(html_names::COUNT as Name);
                    self.close(position, tag);
                }
                return Next::Done;
            }
        }
        match known {
            P => {
                if self.stack.has_in_button_scope(P) {
                    self.generate_implied_ends(P);
                    self.close(self.stack.last_html(P), tag);
                } else {
                    // `</p>` without a start tag makes an empty paragraph.
                    self.insert_implied(P);
                    self.stack.pop();
                }
            }
            LI => {
                if self.stack.has_in_list_scope(LI) {
                    self.generate_implied_ends(LI);
                    self.close(self.stack.last_html(LI), tag);
                }
            }
            DD | DT => {
                if self.stack.has_in_scope(known) {
                    self.generate_implied_ends(known);
                    self.close(self.stack.last_html(known), tag);
                }
            }
            H1 | H2 | H3 | H4 | H5 | H6 => {
                let position = self.stack.last_of(&[H1, H2, H3, H4, H5, H6]);
                if self.stack.in_scope(position) {
                    self.generate_implied_ends(html_names::COUNT as Name);
                    let own = self.stack.at(position).name == known;
                    self.close_at(position, own.then_some(tag));
                }
            }
            APPLET | MARQUEE | OBJECT => {
                let position = self.stack.last_html(known);
                if self.stack.in_scope(position) {
                    self.generate_implied_ends(html_names::COUNT as Name);
                    self.close(position, tag);
                    self.formatting.clear_to_marker();
                }
            }
            FORM => self.form_end(tag),
            BODY | HTML => {
                if !self.stack.has_in_scope(BODY) {
                    return Next::Done;
                }
                self.mode = M::AfterBody;
                if known == HTML {
                    return Next::Again;
                }
                let body = self.stack.at(self.stack.last_html(BODY)).node;
                self.record_end_of(body, html_names::html(BODY), tag);
            }
            BR => {
                // `</br>` is treated as `<br>`.
                self.reconstruct_formatting();
                let spot = self.spot();
                self.arena.add_implied(spot, html_names::html(BR));
                self.frameset_ok = false;
            }
            TEMPLATE => self.close_template(tag),
            _ => {
                let element = self.html_tag(tag);
                self.any_other_end(element, Some(tag));
            }
        }
        Next::Done
    }

    /// Handle "any other end tag" of "in body": close the element unless a special one is in
    /// between.
    pub(super) fn any_other_end(&mut self, element: Tag, tag: Option<&TagToken>) {
        let position = self.stack.last(element);
        if position == NOWHERE || position < self.stack.last_special() {
            return;
        }
        self.generate_implied_ends_until(position);
        self.close_at(position, tag);
    }

    fn generate_implied_ends_until(&mut self, position: u32) {
        while self.stack.len() as u32 > position
            && self
                .stack
                .top()
                .is_some_and(|o| o.properties & html_names::IS_IMPLIED_END != 0)
        {
            self.stack.pop();
        }
    }

    fn form_end(&mut self, tag: &TagToken) {
        if self.stack.last_html(TEMPLATE) != NOWHERE {
            let position = self.stack.last_html(FORM);
            if self.stack.in_scope(position) {
                self.generate_implied_ends(html_names::COUNT as Name);
                self.close(position, tag);
            }
            return;
        }
        let form = std::mem::replace(&mut self.form, crate::page::tree::NONE);
        let position = self.stack.position_of(form);
        if !self.stack.in_scope(position) {
            return;
        }
        self.generate_implied_ends(html_names::COUNT as Name);
        self.record_end_of(form, html_names::html(FORM), tag);
        let position = self.stack.position_of(form);
        if position != NOWHERE {
            self.stack.remove(position);
        }
    }

    /// Insert an `<svg>` or `<math>` inside HTML.
    fn foreign_root(&mut self, namespace: Namespace, tag: &TagToken) {
        self.reconstruct_formatting();
        let element = self.tag_in(namespace, Some(tag.name), &[]);
        if tag.self_closing {
            let spot = self.spot();
            self.add_element(spot, element, tag);
        } else {
            self.push_element(element, namespace, tag, 0);
        }
    }

    /// Insert text from a table or frameset by the rules of the body.
    pub(super) fn fostered_text(&mut self, start: usize, end: usize) {
        self.foster = true;
        self.body_text(start, end, Mode::Data);
        self.foster = false;
    }
}
