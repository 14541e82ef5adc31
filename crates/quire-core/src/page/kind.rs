//! The kind of a page: which parser reads it.

/// The kind of a source: which parser reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// HTML, as browsers read it.
    Html = 0,
    /// XML.
    Xml = 1,
    /// JSON, or lines of JSON.
    Json = 2,
    /// Plain text.
    Text = 3,
    /// Bytes without structure.
    Bytes = 4,
    /// A tree that was not parsed by quire.
    Tree = 5,
}

impl Kind {
    /// Every kind, in the order of their numbers.
    pub const ALL: [Kind; 6] = [
        Kind::Html,
        Kind::Xml,
        Kind::Json,
        Kind::Text,
        Kind::Bytes,
        Kind::Tree,
    ];

    /// Return its name in Python and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Html => "html",
            Kind::Xml => "xml",
            Kind::Json => "json",
            Kind::Text => "text",
            Kind::Bytes => "bytes",
            Kind::Tree => "tree",
        }
    }

    /// Return the kind with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Return the kind with this number, if there is one.
    pub fn from_u8(value: u8) -> Option<Self> {
        Self::ALL.get(usize::from(value)).copied()
    }
}
