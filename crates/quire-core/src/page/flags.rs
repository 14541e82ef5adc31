//! Flags: facts about a page as a whole, one bit each.

/// A set of flags; each constant describes one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u32);

impl Flags {
    /// Parsed with scripting on, as browsers do: `noscript` holds text.
    pub const SCRIPTING: Flags = Flags(1);
    /// Quirks mode (no doctype, or one that asks for it).
    pub const QUIRKS: Flags = Flags(1 << 1);
    /// Limited-quirks mode.
    pub const LIMITED_QUIRKS: Flags = Flags(1 << 2);
    /// Elements were nested deeper than the cap; deeper ones became siblings.
    pub const DEPTH_CAPPED: Flags = Flags(1 << 3);
    /// Formatting elements were dropped because the page asked for too many copies.
    pub const FORMATTING_CAPPED: Flags = Flags(1 << 4);
    /// The exact source is stored next to the columns.
    pub const VERBATIM: Flags = Flags(1 << 5);
    /// Not well-formed, but parsed anyway.
    pub const RECOVERED: Flags = Flags(1 << 6);
    /// A fragment, parsed inside the element named in the digest.
    pub const FRAGMENT: Flags = Flags(1 << 7);
    /// The columns were made from a UTF-8 copy of the page (UTF-16, ISO-2022-JP).
    pub const TRANSCODED: Flags = Flags(1 << 8);
    /// Nodes are in a different order than in the source (foster parenting, mis-nesting).
    pub const REORDERED: Flags = Flags(1 << 9);

    /// Every flag with its name, in the order of the bits.
    pub const NAMES: [(Flags, &'static str); 10] = [
        (Self::SCRIPTING, "scripting"),
        (Self::QUIRKS, "quirks"),
        (Self::LIMITED_QUIRKS, "limited-quirks"),
        (Self::DEPTH_CAPPED, "depth-capped"),
        (Self::FORMATTING_CAPPED, "formatting-capped"),
        (Self::VERBATIM, "verbatim"),
        (Self::RECOVERED, "recovered"),
        (Self::FRAGMENT, "fragment"),
        (Self::TRANSCODED, "transcoded"),
        (Self::REORDERED, "reordered"),
    ];

    /// Whether all flags of `other` are set.
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Set all flags of `other`.
    pub fn set(&mut self, other: Flags) {
        self.0 |= other.0;
    }

    /// Return the names of the flags that are set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES
            .into_iter()
            .filter(move |&(flag, _)| self.has(flag))
            .map(|(_, name)| name)
    }
}
