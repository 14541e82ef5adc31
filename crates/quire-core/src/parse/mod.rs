//! Parsers: from the bytes of a page to a [`draft`].
//!
//! [`sniff`] detects the kind of a source, [`encoding`] its character set. One parser for each kind
//! ([`html`], [`xml`], [`json`], [`plain_text`]) then writes the draft: nodes, end tags and their
//! positions in the source. [`trail`] is the state of the walk that `encode` makes over a draft; a
//! parser that can do the first part of that walk while parsing hands it over.

pub mod draft;
pub mod encoding;
pub mod html;
pub mod json;
pub mod plain_text;
pub mod sniff;
pub mod trail;
pub mod xml;
