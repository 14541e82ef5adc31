//! Tables: "in table", "in table body", "in row", "in cell", "in caption", "in column group".

use super::stack::NOWHERE;
use super::{Builder, M, Next};
use crate::page::html_names;
use crate::page::html_names::{
    BODY, CAPTION, COL, COLGROUP, FORM, HTML, INPUT, SCRIPT, STYLE, TABLE, TBODY, TD, TEMPLATE,
    TFOOT, TH, THEAD, TR,
};
use crate::page::text_mode::Mode;
use crate::page::vocabulary::Namespace;
use crate::parse::html::tokenizer::TagToken;
use crate::values::scan;

impl Builder<'_> {
    pub(super) fn table_text(&mut self, start: usize, end: usize) {
        let in_table = self.stack.top().is_some_and(|o| {
            o.namespace == Namespace::Html
                && (o.properties & html_names::IS_TABLE_PART != 0 || o.name == TEMPLATE)
        });
        if !in_table {
            self.fostered_text(start, end);
            return;
        }
        let text = &self.source[start..end];
        if text.iter().all(|&b| b == 0) {
            return;
        }
        if text.iter().all(|&b| scan::is_space(b) || b == 0) {
            self.insert_text(start, end, Mode::Data);
        } else {
            self.fostered_text(start, end);
        }
    }

    /// Handle "anything else" of "in table": by the rules of the body, with foster parenting.
    fn fostered_start(&mut self, tag: &TagToken) -> Next {
        self.foster = true;
        let next = self.body_start(tag);
        self.foster = false;
        next
    }

    fn fostered_end(&mut self, tag: &TagToken) -> Next {
        self.foster = true;
        let next = self.body_end(tag);
        self.foster = false;
        next
    }

    fn clear_to(&mut self, context: &[html_names::Name]) {
        let position = self
            .stack
            .last_of(context)
            .max(self.stack.last_of(&[TEMPLATE, HTML]));
        self.stack.truncate(position as usize);
    }

    fn clear_to_table(&mut self) {
        self.clear_to(&[TABLE]);
    }

    fn clear_to_table_body(&mut self) {
        self.clear_to(&[TBODY, TFOOT, THEAD]);
    }

    fn clear_to_row(&mut self) {
        self.clear_to(&[TR]);
    }

    pub(super) fn table_start(&mut self, tag: &TagToken) -> Next {
        match tag.name {
            CAPTION => {
                self.clear_to_table();
                self.formatting.push_marker();
                self.insert(tag);
                self.mode = M::InCaption;
            }
            COLGROUP => {
                self.clear_to_table();
                self.insert(tag);
                self.mode = M::InColumnGroup;
            }
            COL => {
                self.clear_to_table();
                self.insert_implied(COLGROUP);
                self.mode = M::InColumnGroup;
                return Next::Again;
            }
            TBODY | TFOOT | THEAD => {
                self.clear_to_table();
                self.insert(tag);
                self.mode = M::InTableBody;
            }
            TD | TH | TR => {
                self.clear_to_table();
                self.insert_implied(TBODY);
                self.mode = M::InTableBody;
                return Next::Again;
            }
            TABLE => {
                if !self.stack.has_in_table_scope(TABLE) {
                    return Next::Done;
                }
                self.pop_until(TABLE);
                self.reset_insertion_mode();
                return Next::Again;
            }
            STYLE | SCRIPT | TEMPLATE => {
                self.head_start(tag);
            }
            INPUT => {
                let hidden = self
                    .attribute(tag, "type")
                    .is_some_and(|t| t.eq_ignore_ascii_case("hidden"));
                if !hidden {
                    return self.fostered_start(tag);
                }
                self.insert_void(tag);
            }
            FORM => {
                if self.stack.last_html(TEMPLATE) == NOWHERE && self.form == crate::page::tree::NONE
                {
                    self.form = self.insert(tag);
                    self.stack.pop();
                }
            }
            _ => return self.fostered_start(tag),
        }
        Next::Done
    }

    pub(super) fn table_end(&mut self, tag: &TagToken) -> Next {
        match tag.name {
            TABLE => {
                if self.stack.has_in_table_scope(TABLE) {
                    self.close(self.stack.last_html(TABLE), tag);
                    self.reset_insertion_mode();
                }
            }
            BODY | CAPTION | COL | COLGROUP | HTML | TBODY | TD | TFOOT | TH | THEAD | TR => {}
            TEMPLATE => self.close_template(tag),
            _ => return self.fostered_end(tag),
        }
        Next::Done
    }

    pub(super) fn table_body_start(&mut self, tag: &TagToken) -> Next {
        match tag.name {
            TR => {
                self.clear_to_table_body();
                self.insert(tag);
                self.mode = M::InRow;
                Next::Done
            }
            TH | TD => {
                self.clear_to_table_body();
                self.insert_implied(TR);
                self.mode = M::InRow;
                Next::Again
            }
            CAPTION | COL | COLGROUP | TBODY | TFOOT | THEAD => self.leave_table_body(),
            _ => self.table_start(tag),
        }
    }

    /// Close the table body, if there is one, and process the token again.
    fn leave_table_body(&mut self) -> Next {
        let open = [TBODY, THEAD, TFOOT]
            .iter()
            .any(|&name| self.stack.has_in_table_scope(name));
        if !open {
            return Next::Done;
        }
        self.clear_to_table_body();
        self.stack.pop();
        self.mode = M::InTable;
        Next::Again
    }

    pub(super) fn table_body_end(&mut self, tag: &TagToken) -> Next {
        match tag.name {
            TBODY | TFOOT | THEAD => {
                if self.stack.has_in_table_scope(tag.name) {
                    self.clear_to_table_body();
                    self.record_end(tag);
                    self.stack.pop();
                    self.mode = M::InTable;
                }
                Next::Done
            }
            TABLE => self.leave_table_body(),
            BODY | CAPTION | COL | COLGROUP | HTML | TD | TH | TR => Next::Done,
            _ => self.table_end(tag),
        }
    }

    pub(super) fn row_start(&mut self, tag: &TagToken) -> Next {
        match tag.name {
            TH | TD => {
                self.clear_to_row();
                self.insert(tag);
                self.mode = M::InCell;
                self.formatting.push_marker();
                Next::Done
            }
            CAPTION | COL | COLGROUP | TBODY | TFOOT | THEAD | TR => self.leave_row(),
            _ => self.table_start(tag),
        }
    }

    fn leave_row(&mut self) -> Next {
        if !self.stack.has_in_table_scope(TR) {
            return Next::Done;
        }
        self.clear_to_row();
        self.stack.pop();
        self.mode = M::InTableBody;
        Next::Again
    }

    pub(super) fn row_end(&mut self, tag: &TagToken) -> Next {
        match tag.name {
            TR => {
                if self.stack.has_in_table_scope(TR) {
                    self.clear_to_row();
                    self.record_end(tag);
                    self.stack.pop();
                    self.mode = M::InTableBody;
                }
                Next::Done
            }
            TABLE => self.leave_row(),
            TBODY | TFOOT | THEAD => {
                if self.stack.has_in_table_scope(tag.name) {
                    self.leave_row()
                } else {
                    Next::Done
                }
            }
            BODY | CAPTION | COL | COLGROUP | HTML | TD | TH => Next::Done,
            _ => self.table_end(tag),
        }
    }

    pub(super) fn cell_start(&mut self, tag: &TagToken) -> Next {
        match tag.name {
            CAPTION | COL | COLGROUP | TBODY | TD | TFOOT | TH | THEAD | TR => {
                if self.stack.has_in_table_scope(TD) || self.stack.has_in_table_scope(TH) {
                    self.close_cell();
                    Next::Again
                } else {
                    Next::Done
                }
            }
            _ => self.body_start(tag),
        }
    }

    fn close_cell(&mut self) {
        self.generate_implied_ends(html_names::COUNT as html_names::Name);
        let position = self.stack.last_of(&[TD, TH]);
        self.stack.truncate(position as usize - 1);
        self.formatting.clear_to_marker();
        self.mode = M::InRow;
    }

    pub(super) fn cell_end(&mut self, tag: &TagToken) -> Next {
        match tag.name {
            TD | TH => {
                if self.stack.has_in_table_scope(tag.name) {
                    self.generate_implied_ends(html_names::COUNT as html_names::Name);
                    self.close(self.stack.last_html(tag.name), tag);
                    self.formatting.clear_to_marker();
                    self.mode = M::InRow;
                }
                Next::Done
            }
            BODY | CAPTION | COL | COLGROUP | HTML => Next::Done,
            TABLE | TBODY | TFOOT | THEAD | TR => {
                if self.stack.has_in_table_scope(tag.name) {
                    self.close_cell();
                    Next::Again
                } else {
                    Next::Done
                }
            }
            _ => self.body_end(tag),
        }
    }

    pub(super) fn caption_start(&mut self, tag: &TagToken) -> Next {
        match tag.name {
            CAPTION | COL | COLGROUP | TBODY | TD | TFOOT | TH | THEAD | TR => self.leave_caption(),
            _ => self.body_start(tag),
        }
    }

    fn leave_caption(&mut self) -> Next {
        if !self.stack.has_in_table_scope(CAPTION) {
            return Next::Done;
        }
        self.generate_implied_ends(html_names::COUNT as html_names::Name);
        self.pop_until(CAPTION);
        self.formatting.clear_to_marker();
        self.mode = M::InTable;
        Next::Again
    }

    pub(super) fn caption_end(&mut self, tag: &TagToken) -> Next {
        match tag.name {
            CAPTION => {
                if self.stack.has_in_table_scope(CAPTION) {
                    self.generate_implied_ends(html_names::COUNT as html_names::Name);
                    self.close(self.stack.last_html(CAPTION), tag);
                    self.formatting.clear_to_marker();
                    self.mode = M::InTable;
                }
                Next::Done
            }
            TABLE => self.leave_caption(),
            BODY | COL | COLGROUP | HTML | TBODY | TD | TFOOT | TH | THEAD | TR => Next::Done,
            _ => self.body_end(tag),
        }
    }

    pub(super) fn column_group_start(&mut self, tag: &TagToken) -> Next {
        match tag.name {
            HTML => self.body_start(tag),
            COL => {
                self.insert_void(tag);
                Next::Done
            }
            TEMPLATE => {
                self.head_start(tag);
                Next::Done
            }
            _ => self.leave_column_group(),
        }
    }

    fn leave_column_group(&mut self) -> Next {
        if !self.current_is(COLGROUP) {
            return Next::Done;
        }
        self.stack.pop();
        self.mode = M::InTable;
        Next::Again
    }

    pub(super) fn column_group_end(&mut self, tag: &TagToken) -> Next {
        match tag.name {
            COLGROUP => {
                if self.current_is(COLGROUP) {
                    self.record_end(tag);
                    self.stack.pop();
                    self.mode = M::InTable;
                }
                Next::Done
            }
            COL => Next::Done,
            TEMPLATE => {
                self.close_template(tag);
                Next::Done
            }
            _ => self.leave_column_group(),
        }
    }
}
