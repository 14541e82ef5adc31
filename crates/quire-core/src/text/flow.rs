//! Text as it flows into lines: breaks are remembered, and written when words follow.

/// The text so far, and what must come before the next word.
#[derive(Default)]
pub struct Flow {
    out: String,
    newlines: usize,
    tabs: usize,
    space: bool,
    /// Nothing was written since the row began.
    row_begins: bool,
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0c')
}

impl Flow {
    /// Bytes written so far.
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Text whose white space collapses.
    pub fn words(&mut self, text: &str) {
        let mut rest = text;
        loop {
            let trimmed = rest.trim_start_matches(is_space);
            self.space |= trimmed.len() < rest.len();
            if trimmed.is_empty() {
                return;
            }
            let end = trimmed.find(is_space).unwrap_or(trimmed.len());
            self.gap();
            self.out.push_str(&trimmed[..end]);
            rest = &trimmed[end..];
        }
    }

    /// Text whose white space stays.
    pub fn keep(&mut self, text: &str) {
        if !text.is_empty() {
            self.gap();
            self.out.push_str(text);
        }
    }

    /// A new line, unless one has just begun. At the edge of a cell the tab is break enough.
    pub fn block(&mut self) {
        if self.tabs == 0 {
            self.newlines = self.newlines.max(1);
        }
        self.space = false;
    }

    /// A line end of its own.
    pub fn hard_break(&mut self) {
        self.newlines += 1;
        self.space = false;
    }

    /// A row begins.
    pub fn row(&mut self) {
        self.row_end();
        self.row_begins = true;
    }

    /// A row ends; empty cells at its end leave no tabs.
    pub fn row_end(&mut self) {
        self.tabs = 0;
        self.block();
    }

    /// A cell ends.
    pub fn cell(&mut self) {
        // Breaks at the end of the cell; not the one that the row began with.
        if !self.row_begins {
            self.newlines = 0;
        }
        self.tabs += 1;
        self.space = false;
    }

    fn gap(&mut self) {
        if self.out.is_empty() {
            self.space = false;
            self.newlines = 0;
        }
        // A text that keeps its white space may have ended its line already.
        let written = usize::from(self.out.ends_with('\n'));
        for _ in written..self.newlines {
            self.out.push('\n');
        }
        for _ in 0..self.tabs {
            self.out.push('\t');
        }
        if self.space && self.newlines == 0 && self.tabs == 0 {
            self.out.push(' ');
        }
        (self.newlines, self.tabs, self.space) = (0, 0, false);
        self.row_begins = false;
    }

    /// The text, without white space at its end.
    pub fn finish(mut self) -> String {
        let kept = self.out.trim_end_matches(is_space).len();
        self.out.truncate(kept);
        self.out
    }
}
