//! From the first byte to the start of the body: the modes "initial" to "after head".

use super::arena::Spot;
use super::{Builder, M, Next};
use crate::page::html_names;
use crate::page::html_names::{
    BASE, BASEFONT, BGSOUND, BODY, BR, FRAMESET, HEAD, HTML, LINK, META, NOFRAMES, NOSCRIPT,
    SCRIPT, STYLE, TEMPLATE, TITLE,
};
use crate::page::text_mode::Mode;
use crate::page::tree::NONE;
use crate::page::vocabulary::Namespace;
use crate::parse::draft::JOINED;
use crate::parse::html::tokenizer::TagToken;

impl Builder<'_> {
    pub(super) fn early_text(&mut self, start: usize, end: usize) {
        let mut start = start;
        loop {
            let space = self.leading_space(start, end);
            match self.mode {
                M::Initial | M::BeforeHtml | M::BeforeHead => start += space,
                M::InHead | M::InHeadNoscript | M::AfterHead | M::InColumnGroup => {
                    if space > 0 {
                        self.insert_text(start, start + space, Mode::Data);
                        start += space;
                    }
                }
                _ => {
                    if start < end {
                        self.text(start, end, false);
                    }
                    return;
                }
            }
            if start == end {
                return;
            }
            if self.mode == M::InColumnGroup {
                if !self.current_is(html_names::COLGROUP) {
                    return;
                }
                self.stack.pop();
                self.mode = M::InTable;
            } else {
                self.leave_early_mode();
            }
        }
    }

    /// Handle "anything else": insert the element that the mode expects and go to the next mode.
    fn leave_early_mode(&mut self) {
        match self.mode {
            M::Initial => {
                if self.context.is_none() {
                    self.set_quirks();
                }
                self.mode = M::BeforeHtml;
            }
            M::BeforeHtml => {
                self.html = self
                    .arena
                    .add_implied(Spot::last_of(0), html_names::html(HTML));
                self.stack.push(
                    self.html,
                    self.html,
                    html_names::html(HTML),
                    Namespace::Html,
                    0,
                );
                self.mode = M::BeforeHead;
            }
            M::BeforeHead => {
                self.head = self.insert_implied(HEAD);
                self.mode = M::InHead;
            }
            M::InHead => {
                self.stack.pop();
                self.mode = M::AfterHead;
            }
            M::InHeadNoscript => {
                self.stack.pop();
                self.mode = M::InHead;
            }
            _ => {
                self.insert_implied(BODY);
                self.mode = M::InBody;
            }
        }
    }

    pub(super) fn early_eof(&mut self) {
        while self.mode.is_early() {
            self.leave_early_mode();
        }
    }

    pub(super) fn early_start(&mut self, mode: super::InsertionMode, tag: &TagToken) -> Next {
        match (mode, tag.name) {
            (M::BeforeHtml, HTML) => {
                self.html = self.add_element(Spot::last_of(0), html_names::html(HTML), tag);
                self.stack.push(
                    self.html,
                    self.html,
                    html_names::html(HTML),
                    Namespace::Html,
                    0,
                );
                self.mode = M::BeforeHead;
                Next::Done
            }
            (M::BeforeHead | M::InHead | M::InHeadNoscript | M::AfterHead, HTML) => {
                self.body_start(tag)
            }
            (M::BeforeHead, HEAD) => {
                self.head = self.insert(tag);
                self.mode = M::InHead;
                Next::Done
            }
            (M::InHead | M::InHeadNoscript | M::AfterHead, HEAD)
            | (M::InHeadNoscript, NOSCRIPT) => Next::Done,
            (M::InHead, _) if self.head_start(tag) => Next::Done,
            (M::InHeadNoscript, BASEFONT | BGSOUND | LINK | META | NOFRAMES | STYLE) => {
                self.head_start(tag);
                Next::Done
            }
            (M::AfterHead, BODY) => {
                self.insert(tag);
                self.frameset_ok = false;
                self.mode = M::InBody;
                Next::Done
            }
            (M::AfterHead, FRAMESET) => {
                self.insert(tag);
                self.mode = M::InFrameset;
                Next::Done
            }
            (
                M::AfterHead,
                BASE | BASEFONT | BGSOUND | LINK | META | NOFRAMES | SCRIPT | STYLE | TEMPLATE
                | TITLE,
            ) => {
                // Back into the head, which is already closed.
                let head = self.head;
                self.stack
                    .push(head, head, html_names::html(HEAD), Namespace::Html, 0);
                self.head_start(tag);
                let position = self.stack.position_of(head);
                if position != super::NOWHERE {
                    self.stack.remove(position);
                }
                Next::Done
            }
            _ => {
                self.leave_early_mode();
                Next::Again
            }
        }
    }

    /// Handle the start tags of "in head" that other modes share. Returns `false` for any other
    /// tag.
    pub(super) fn head_start(&mut self, tag: &TagToken) -> bool {
        match tag.name {
            BASE | BASEFONT | BGSOUND | LINK | META => self.insert_void(tag),
            TITLE => self.insert_raw(tag, Mode::Rcdata),
            NOFRAMES | STYLE | SCRIPT => self.insert_raw(tag, Mode::RawText),
            NOSCRIPT if self.options.scripting => self.insert_raw(tag, Mode::RawText),
            NOSCRIPT => {
                self.insert(tag);
                self.mode = M::InHeadNoscript;
            }
            TEMPLATE => {
                self.insert_template(tag);
                self.formatting.push_marker();
                self.frameset_ok = false;
                self.mode = M::InTemplate;
                self.template_modes.push(M::InTemplate);
            }
            _ => return false,
        }
        true
    }

    pub(super) fn early_end(&mut self, mode: super::InsertionMode, tag: &TagToken) -> Next {
        match (mode, tag.name) {
            (M::InHead, HEAD) | (M::InHeadNoscript, NOSCRIPT) => {
                self.record_end(tag);
                self.leave_early_mode();
                Next::Done
            }
            (M::InHead | M::AfterHead, TEMPLATE) => {
                self.close_template(tag);
                Next::Done
            }
            (M::InHeadNoscript, BR) | (M::Initial, _) => {
                self.leave_early_mode();
                Next::Again
            }
            (M::InHeadNoscript, _) => Next::Done,
            (_, HEAD) if matches!(mode, M::BeforeHtml | M::BeforeHead) => {
                self.leave_early_mode();
                Next::Again
            }
            (_, BODY | HTML | BR) => {
                self.leave_early_mode();
                Next::Again
            }
            _ => Next::Done,
        }
    }

    /// Handle the end tag of a template.
    pub(super) fn close_template(&mut self, tag: &TagToken) {
        let position = self.stack.last_html(TEMPLATE);
        if position == super::NOWHERE {
            return;
        }
        self.generate_all_implied_ends();
        self.close(position, tag);
        self.formatting.clear_to_marker();
        self.template_modes.pop();
        self.reset_insertion_mode();
    }

    /// Add the attributes of a second `<html>` or `<body>` to the first.
    ///
    /// The first of two attributes with one name wins, so both runs one after the other mean
    /// exactly that. A bare `>` between them keeps `a=` and `b` apart, see
    /// [`crate::values::attribute_spans`].
    pub(super) fn join_attributes(&mut self, node: u32, tag: &TagToken) {
        if node == NONE || node == 0 || tag.end <= tag.name_end + 1 {
            return;
        }
        let entry = self.arena.draft.node(node as usize);
        let run = &self.source[tag.name_end..tag.end - 1];
        let runs = &mut self.arena.draft.joined_runs;
        match runs.binary_search_by_key(&node, |(node, _)| *node) {
            Ok(at) => {
                runs[at].1.push(b'>');
                runs[at].1.extend_from_slice(run);
            }
            Err(at) => {
                let mut joined = Vec::new();
                if entry.end > entry.run {
                    joined.extend_from_slice(
                        &self.source[entry.run as usize..entry.end as usize - 1],
                    );
                    joined.push(b'>');
                }
                joined.extend_from_slice(run);
                runs.insert(at, (node, joined));
            }
        }
        self.arena.draft.nodes[node as usize].set(JOINED);
        self.arena.lose_trail();
    }
}
