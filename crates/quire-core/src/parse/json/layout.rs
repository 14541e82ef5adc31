//! The spacing of a JSON source: a few settings, and the gap they predict at every position.
//!
//! A gap is a value, not bytes: its length is known without writing it. This matters for hostile
//! input: a million nested brackets with an indent of two would otherwise cost a terabyte of spaces
//! only to find out that they are not there.

use crate::page::vocabulary::Class;

/// Widest indent of one level that counts as a layout.
const MAX_INDENT: u8 = 16;

/// The white space before an item on a line of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Indent {
    /// Items do not have lines of their own.
    #[default]
    None,
    /// This many spaces for each level; may be 0.
    Spaces(u8),
    /// This many tabs for each level.
    Tabs(u8),
}

/// How lines end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Newline {
    /// `\n`.
    #[default]
    Lf,
    /// `\r\n`.
    CrLf,
}

impl Newline {
    /// Return its bytes.
    pub fn bytes(self) -> &'static [u8] {
        match self {
            Newline::Lf => b"\n",
            Newline::CrLf => b"\r\n",
        }
    }
}

/// Which arrays are written on one line although objects are indented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrays {
    /// None: items are on lines of their own, as in Python and JavaScript.
    #[default]
    Lines,
    /// Those that hold only scalars.
    ScalarsInline,
    /// All of them, and they do not count as a level, as in Jackson for Java.
    Inline,
}

/// The spacing of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The indent of one level.
    pub indent: Indent,
    /// How lines end, including those between top-level values.
    pub newline: Newline,
    /// Spaces after a comma that does not end a line: 0 or 1.
    pub item_gap: u8,
    /// Spaces before a colon: 0 or 1.
    pub key_lead: u8,
    /// Spaces after a colon: 0 or 1.
    pub key_gap: u8,
    /// Which arrays are written on one line.
    pub arrays: Arrays,
    /// Spaces inside brackets that are on one line, also empty ones: 0 or 1.
    pub pad: u8,
}

impl Layout {
    /// Return the layout as stored in a digest.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 8] {
        let (kind, width) = match self.indent {
            Indent::None => (0, 0),
            Indent::Spaces(width) => (1, width),
            Indent::Tabs(width) => (2, width),
        };
        let newline = u8::from(self.newline == Newline::CrLf);
        let arrays = match self.arrays {
            Arrays::Lines => 0,
            Arrays::ScalarsInline => 1,
            Arrays::Inline => 2,
        };
        [
            kind,
            width,
            newline,
            self.item_gap,
            self.key_lead,
            self.key_gap,
            arrays,
            self.pad,
        ]
    }

    /// Read a layout stored by [`to_bytes`](Self::to_bytes); `None` if the bytes are not valid.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let &[
            kind,
            width,
            newline,
            item_gap,
            key_lead,
            key_gap,
            arrays,
            pad,
        ] = bytes
        else {
            return None;
        };
        let indent = match (kind, width) {
            (0, 0) => Indent::None,
            (1, 0..=MAX_INDENT) => Indent::Spaces(width),
            (2, 0..=MAX_INDENT) => Indent::Tabs(width),
            _ => return None,
        };
        let newline = *[Newline::Lf, Newline::CrLf].get(usize::from(newline))?;
        let arrays =
            *[Arrays::Lines, Arrays::ScalarsInline, Arrays::Inline].get(usize::from(arrays))?;
        if [item_gap, key_lead, key_gap, pad]
            .iter()
            .any(|&gap| gap > 1)
        {
            return None;
        }
        Some(Self {
            indent,
            newline,
            item_gap,
            key_lead,
            key_gap,
            arrays,
            pad,
        })
    }

    /// Whether the node's items are on its own line; `all_scalars` tells whether all of them are
    /// scalars.
    ///
    /// Has no effect if the layout does not indent.
    #[must_use]
    pub fn is_inline(self, class: Class, all_scalars: bool) -> bool {
        class == Class::Array
            && match self.arrays {
                Arrays::Lines => false,
                Arrays::ScalarsInline => all_scalars,
                Arrays::Inline => true,
            }
    }

    /// Return the layout with this indent; `None` if it is too wide.
    pub(super) fn indented(self, fill: u8, width: usize, arrays: Arrays) -> Option<Self> {
        let width = u8::try_from(width)
            .ok()
            .filter(|&width| width <= MAX_INDENT)?;
        let indent = if fill == b'\t' {
            Indent::Tabs(width)
        } else {
            Indent::Spaces(width)
        };
        Some(Self {
            indent,
            arrays,
            ..self
        })
    }

    /// Return the line end and the indent of `depth` levels; `None` if items share a line.
    fn line(self, depth: u32) -> Option<Gap> {
        let (fill, width) = match self.indent {
            Indent::None => return None,
            Indent::Spaces(width) => (b' ', width),
            Indent::Tabs(width) => (b'\t', width),
        };
        let count = u32::from(width).saturating_mul(depth);
        Some(Gap {
            newline: Some(self.newline),
            fill,
            count,
            ..Gap::default()
        })
    }
}

/// The predicted bytes between two tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// Spaces before the sign.
    lead: u8,
    /// The comma or colon.
    sign: Option<u8>,
    newline: Option<Newline>,
    /// The byte that fills the rest.
    fill: u8,
    /// How often it is repeated.
    count: u32,
}

impl Gap {
    fn spaces(count: u8) -> Self {
        Self {
            fill: b' ',
            count: u32::from(count),
            ..Self::default()
        }
    }

    /// Return the number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        let newline = self.newline.map_or(0, |newline| newline.bytes().len());
        usize::from(self.lead) + usize::from(self.sign.is_some()) + newline + self.count as usize
    }

    /// Whether the gap has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether `bytes` end with this gap. Never reads more than `bytes`.
    #[must_use]
    pub fn ends(&self, bytes: &[u8]) -> bool {
        let Some(before) = bytes.len().checked_sub(self.len()) else {
            return false;
        };
        let (head, fill) = bytes[before..].split_at(self.len() - self.count as usize);
        let (lead, rest) = head.split_at(usize::from(self.lead));
        let (sign, newline) = rest.split_at(usize::from(self.sign.is_some()));
        lead.iter().all(|&byte| byte == b' ')
            && sign.first().copied() == self.sign
            // Never compare with an empty slice here: its address is not mapped, which slows down
            // the vector loads of `memcmp` (the whole parse took 2.4 times as long).
            && self.newline.is_none_or(|expected| newline == expected.bytes())
            && fill.iter().all(|&byte| byte == self.fill)
    }

    /// Append the bytes of the gap.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.resize(out.len() + usize::from(self.lead), b' ');
        out.extend(self.sign);
        out.extend_from_slice(self.newline.map_or(&b""[..], Newline::bytes));
        out.resize(out.len() + self.count as usize, self.fill);
    }
}

/// Predict the gap before a node.
///
/// `parent_inline` is [`Layout::is_inline`] of the parent; `first` tells whether the node is its
/// first child; `depth` counts the brackets around the node that are not inline (members do not
/// count as a level).
#[must_use]
pub fn gap_before(
    layout: Layout,
    parent: Class,
    parent_inline: bool,
    first: bool,
    depth: u32,
) -> Gap {
    match parent {
        Class::Document if !first => Gap {
            newline: Some(layout.newline),
            ..Gap::default()
        },
        Class::Member => Gap {
            lead: layout.key_lead,
            sign: Some(b':'),
            ..Gap::spaces(layout.key_gap)
        },
        Class::Object | Class::Array => {
            let sign = (!first).then_some(b',');
            let shared = Gap::spaces(if first { layout.pad } else { layout.item_gap });
            let line = if parent_inline {
                None
            } else {
                layout.line(depth)
            };
            Gap {
                sign,
                ..line.unwrap_or(shared)
            }
        }
        _ => Gap::default(),
    }
}

/// Predict the gap before the closing bracket of an object or array; empty for any other class.
///
/// `inline` is [`Layout::is_inline`] of the node; `depth` counts the brackets
/// around it that are not inline.
#[must_use]
pub fn gap_close(layout: Layout, class: Class, inline: bool, empty: bool, depth: u32) -> Gap {
    if !matches!(class, Class::Object | Class::Array) {
        return Gap::default();
    }
    let line = if inline || empty {
        None
    } else {
        layout.line(depth)
    };
    line.unwrap_or(Gap::spaces(layout.pad))
}
