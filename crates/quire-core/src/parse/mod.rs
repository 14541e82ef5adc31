//! Parsers: from the bytes of a page to a [`draft`].
//!
//! [`sniff`] guesses the kind of a source, [`encoding`] its character set. One parser for each kind
//! ([`html`], [`xml`], [`json`], [`plain_text`]) then writes the draft: nodes, end tags and their places
//! in the source. [`trail`] is the beginning of the walk that `encode` makes over a draft, for a parser
//! that can make it on the way.

pub mod draft;
pub mod encoding;
pub mod html;
pub mod json;
pub mod plain_text;
pub mod sniff;
pub mod trail;
pub mod xml;
