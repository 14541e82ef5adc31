//! Our strings and pseudo-classes, as the `selectors` crate needs them.

use std::borrow::Borrow;
use std::fmt;

use cssparser::ToCss;
use precomputed_hash::PrecomputedHash;
use selectors::parser::{NonTSPseudoClass, PseudoElement, SelectorImpl};

/// A name or value in a selector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name(pub Box<str>);

impl From<&str> for Name {
    fn from(name: &str) -> Self {
        Self(name.into())
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl ToCss for Name {
    fn to_css<W: fmt::Write>(&self, out: &mut W) -> fmt::Result {
        cssparser::serialize_identifier(&self.0, out)
    }
}

impl PrecomputedHash for Name {
    // Only used by the crate's ancestor filters, which columns make unnecessary.
    fn precomputed_hash(&self) -> u32 {
        self.0.bytes().fold(0x811c_9dc5, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        })
    }
}

/// The pseudo-classes that have a meaning on a page without interaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// `:link`, `:any-link`: `a` and `area` with `href`.
    Link,
    /// `:checked`: as written (`checked`, `selected`).
    Checked,
    /// `:disabled`, by its own attribute or by its `fieldset` or `optgroup`.
    Disabled,
    /// `:enabled`: could be disabled but is not.
    Enabled,
    /// `:required`.
    Required,
    /// `:optional`: could be required but is not.
    Optional,
}

impl State {
    /// Every state with its name.
    pub const NAMES: [(&'static str, State); 7] = [
        ("link", State::Link),
        ("any-link", State::Link),
        ("checked", State::Checked),
        ("disabled", State::Disabled),
        ("enabled", State::Enabled),
        ("required", State::Required),
        ("optional", State::Optional),
    ];

    /// Return the state with this name, ignoring case.
    pub fn from_name(name: &str) -> Option<Self> {
        let known = Self::NAMES
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        known.map(|&(_, state)| state)
    }
}

impl ToCss for State {
    fn to_css<W: fmt::Write>(&self, out: &mut W) -> fmt::Result {
        let known = Self::NAMES.iter().find(|(_, state)| state == self);
        write!(out, ":{}", known.map_or("", |&(name, _)| name))
    }
}

impl NonTSPseudoClass for State {
    fn is_active_or_hover(&self) -> bool {
        false
    }

    fn is_user_action_state(&self) -> bool {
        false
    }
}

/// Pseudo-elements are not nodes of a page, so none are supported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPseudoElement {}

impl ToCss for NoPseudoElement {
    fn to_css<W: fmt::Write>(&self, _: &mut W) -> fmt::Result {
        match *self {}
    }
}

impl PseudoElement for NoPseudoElement {}

/// The types of a parsed selector.
#[derive(Clone, Debug)]
pub struct Types;

impl SelectorImpl for Types {
    type ExtraMatchingData<'a> = ();
    type AttrValue = Name;
    type Identifier = Name;
    type LocalName = Name;
    type NamespaceUrl = Name;
    type NamespacePrefix = Name;
    type BorrowedNamespaceUrl = str;
    type BorrowedLocalName = str;
    type NonTSPseudoClass = State;
    type PseudoElement = NoPseudoElement;
}
