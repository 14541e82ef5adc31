//! Templates, content after the body, and framesets.

use super::stack::NOWHERE;
use super::{Builder, InsertionMode, M, Next};
use crate::page::html_names;
use crate::page::html_names::{
    BASE, BASEFONT, BGSOUND, CAPTION, COL, COLGROUP, FRAME, FRAMESET, HTML, LINK, META, NOFRAMES,
    SCRIPT, STYLE, TBODY, TD, TEMPLATE, TFOOT, TH, THEAD, TITLE, TR,
};
use crate::page::text_mode::Mode;
use crate::parse::html::tokenizer::TagToken;
use crate::values::scan;

impl Builder<'_> {
    pub(super) fn template_start(&mut self, tag: &TagToken) -> Next {
        let mode = match tag.name {
            BASE | BASEFONT | BGSOUND | LINK | META | NOFRAMES | SCRIPT | STYLE | TEMPLATE
            | TITLE => {
                self.head_start(tag);
                return Next::Done;
            }
            CAPTION | COLGROUP | TBODY | TFOOT | THEAD => M::InTable,
            COL => M::InColumnGroup,
            TR => M::InTableBody,
            TD | TH => M::InRow,
            _ => M::InBody,
        };
        self.template_modes.pop();
        self.template_modes.push(mode);
        self.mode = mode;
        Next::Again
    }

    pub(super) fn template_end(&mut self, tag: &TagToken) -> Next {
        if tag.name == TEMPLATE {
            self.close_template(tag);
        }
        Next::Done
    }

    pub(super) fn after_body_text(&mut self, start: usize, end: usize) {
        let space = self.leading_space(start, end);
        if space > 0 {
            self.body_text(start, start + space, Mode::Data);
        }
        if start + space < end {
            self.mode = M::InBody;
            self.text(start + space, end, false);
        }
    }

    pub(super) fn after_body_start(&mut self, tag: &TagToken) -> Next {
        if tag.name == HTML {
            return self.body_start(tag);
        }
        self.mode = M::InBody;
        Next::Again
    }

    pub(super) fn after_body_end(&mut self, tag: &TagToken) -> Next {
        if tag.name == HTML && self.mode == M::AfterBody {
            if self.context.is_none() {
                self.record_end_of(self.html, html_names::html(HTML), tag);
                self.mode = M::AfterAfterBody;
            }
            return Next::Done;
        }
        self.mode = M::InBody;
        Next::Again
    }

    /// Insert the white space of a text; a frameset has no other text.
    pub(super) fn frameset_text(&mut self, start: usize, end: usize) {
        let mut at = start;
        while at < end {
            let space = scan::skip_class(&self.source[..end], at, scan::SPACE);
            if space > at {
                if self.mode == M::AfterAfterFrameset {
                    self.reconstruct_formatting();
                }
                self.insert_text(at, space, Mode::Data);
            }
            at = scan::find_class(&self.source[..end], space, scan::SPACE);
        }
    }

    pub(super) fn frameset_start(&mut self, mode: InsertionMode, tag: &TagToken) -> Next {
        match tag.name {
            HTML => return self.body_start(tag),
            NOFRAMES => {
                self.head_start(tag);
            }
            FRAMESET if mode == M::InFrameset => {
                self.insert(tag);
            }
            FRAME if mode == M::InFrameset => self.insert_void(tag),
            _ => {}
        }
        Next::Done
    }

    pub(super) fn frameset_end(&mut self, mode: InsertionMode, tag: &TagToken) -> Next {
        match (mode, tag.name) {
            (M::InFrameset, FRAMESET)
                if self.stack.len() > 1 && self.stack.last_html(FRAMESET) != NOWHERE =>
            {
                self.record_end(tag);
                self.stack.pop();
                if self.context.is_none() && !self.current_is(FRAMESET) {
                    self.mode = M::AfterFrameset;
                }
            }
            (M::AfterFrameset, HTML) => {
                self.record_end_of(self.html, html_names::html(HTML), tag);
                self.mode = M::AfterAfterFrameset;
            }
            _ => {}
        }
        Next::Done
    }
}
