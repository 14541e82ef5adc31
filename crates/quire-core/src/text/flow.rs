//! Text that flows into lines: breaks are remembered, and written when words follow.

/// The text so far, and the breaks to write before the next word.
#[derive(Default)]
pub struct Flow {
    out: String,
    newlines: usize,
    tabs: usize,
    space: bool,
    /// Whether nothing was written since the row started.
    row_begins: bool,
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0c')
}

impl Flow {
    /// Return the number of bytes written so far.
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Add text and collapse its white space.
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

    /// Add text and keep its white space.
    pub fn keep(&mut self, text: &str) {
        if !text.is_empty() {
            self.gap();
            self.out.push_str(text);
        }
    }

    /// Start a new line, unless one has just started. At the edge of a cell the tab is enough.
    pub fn block(&mut self) {
        if self.tabs == 0 {
            self.newlines = self.newlines.max(1);
        }
        self.space = false;
    }

    /// Add a line end.
    pub fn hard_break(&mut self) {
        self.newlines += 1;
        self.space = false;
    }

    /// Start a row.
    pub fn row(&mut self) {
        self.row_end();
        self.row_begins = true;
    }

    /// End a row; empty cells at its end leave no tabs.
    pub fn row_end(&mut self) {
        self.tabs = 0;
        self.block();
    }

    /// End a cell.
    pub fn cell(&mut self) {
        // Drop breaks at the end of the cell, but not the one that the row started with.
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
        // A text that keeps its white space may already have ended its line.
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

    /// Return the text without trailing white space.
    pub fn finish(mut self) -> String {
        let kept = self.out.trim_end_matches(is_space).len();
        self.out.truncate(kept);
        self.out
    }
}
