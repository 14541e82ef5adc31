//! Applying: the new page, byte for byte, or an error.
//!
//! The layers are only ever believed as far as the signature of what they make.

mod columns;
mod patch;
mod predict;
mod shape;

use encoding_rs::Encoding;

pub use self::patch::make_patch;
use self::patch::open_patch;
use self::predict::predict;
pub use self::predict::{Whole, source};
pub use self::shape::Shape;
use super::model::{Base, Head, Script};
use super::refuse;
use crate::base::error::Error;
use crate::base::hash::hash128;
use crate::digest::Digest;
use crate::digest::decode::decode;
use crate::encode::from_tree::{Columns, from_columns};
use crate::encode::{Options, encode};
use crate::page::flags::Flags;
use crate::page::kind::Kind;
use crate::page::limits::MAX_SOURCE;
use crate::page::vocabulary::Namespace;
use crate::parse::html::Context;
use crate::values;
use crate::values::attribute_syntax;

/// Check that a script is made for a page.
pub fn check(script: &Script, old: &Digest) -> Result<(), Error> {
    let (expected, found) = (&script.old, Head::of(old));
    if found.signature != expected.signature {
        return Err(refuse(format!(
            "script is for the page with source signature {:032x}, but this page has {:032x}",
            expected.signature, found.signature
        )));
    }
    if found != *expected {
        return Err(refuse(format!(
            "script is for this source read as {} with {} nodes and tree {:032x}, but it was read as {} with {} nodes and tree {:032x}",
            crate::base::error::shortened(&expected.kind),
            expected.n,
            expected.tree,
            found.kind,
            found.n,
            found.tree
        )));
    }
    if script.new.bytes > MAX_SOURCE as u64 {
        return Err(refuse(format!(
            "script is damaged: the new page would have {} bytes, but the limit is {MAX_SOURCE}",
            script.new.bytes
        )));
    }
    Ok(())
}

impl Script {
    /// Make the new page of the old one.
    pub fn apply(&self, old: &Digest) -> Result<Digest, Error> {
        check(self, old)?;
        let whole = Whole::new(self, old)?;
        if self.residual.new_patch.is_none() && whole.kind == Kind::Tree {
            return self.apply_to_tree(old, &whole);
        }
        let bytes = self.apply_bytes(old)?;
        encode_as(&bytes, &whole, &self.new)
    }

    /// Make the source of the new page.
    pub fn apply_bytes(&self, old: &Digest) -> Result<Vec<u8>, Error> {
        check(self, old)?;
        old.check_heaps()?;
        let whole = Whole::new(self, old)?;
        let bytes = match &self.residual.new_patch {
            None => source(self, old, &whole)?,
            Some(found) => {
                let prefix = match found.base {
                    Base::Source => decode(old)?,
                    Base::Predicted => source(self, old, &whole)?,
                };
                open_patch(found, &prefix, self.new.bytes)?
            }
        };
        let signature = hash128(&bytes);
        if signature == self.new.signature {
            return Ok(bytes);
        }
        Err(refuse(format!(
            "script is damaged: it gives a page with source signature {signature:032x}, but should give {:032x}",
            self.new.signature
        )))
    }

    /// A tree that was not parsed cannot be parsed again; its columns are taken as they are.
    fn apply_to_tree(&self, old: &Digest, whole: &Whole) -> Result<Digest, Error> {
        self.apply_bytes(old)?;
        let page = predict(self, old, whole)?;
        let wide = page.wide();
        let mut columns = Columns::default();
        for node in 1..page.n() {
            let tag = wide.tag[node] as usize;
            columns.children.push(page.children().get(node));
            columns.tags.push(page.tag_name(tag).to_owned());
            let run = usize::try_from(wide.attr[node]).map_or(&[][..], |id| page.attr_run(id));
            let syntax = attribute_syntax(whole.kind, page.tag_info(tag).namespace);
            let attributes = values::attributes(run, syntax, page.encoding());
            columns.attributes.push(
                (attributes.into_iter())
                    .map(|(name, value)| (name.to_string(), value.to_string()))
                    .collect(),
            );
            let content = usize::try_from(wide.content[node]).ok();
            let text = |id| page.content_text(id).as_bytes().to_vec();
            columns.contents.push(content.map(text));
        }
        let made = from_columns(&columns)?;
        if Head::of(&made) == self.new {
            return Ok(made);
        }
        Err(refuse(
            "script is damaged: it gives another tree than it names",
        ))
    }
}

/// Read a source as the page was read that it is the source of.
fn encode_as(bytes: &[u8], whole: &Whole, head: &Head) -> Result<Digest, Error> {
    let Whole { kind, flags, meta } = whole;
    let label = Encoding::for_label(meta.encoding.as_bytes());
    let mut options = Options {
        kind: Some(*kind),
        content_type: (meta.encoding_reason == "transport")
            .then(|| format!("text/html; charset={}", meta.encoding)),
        encoding: label.filter(|_| meta.encoding_reason == "given"),
        scripting: flags.has(Flags::SCRIPTING),
        context: None,
        recover: flags.has(Flags::RECOVERED),
    };
    if flags.has(Flags::FRAGMENT) {
        return encode_fragment(bytes, options, &meta.context, head);
    }
    let page = encode(bytes, &options)?;
    if page.meta().encoding == meta.encoding || label.is_none() {
        return Ok(page);
    }
    options.encoding = label;
    encode(bytes, &options)
}

/// A digest names the element of a fragment without its namespace; the one that gives the right tree
/// is taken.
fn encode_fragment(
    bytes: &[u8],
    mut options: Options,
    name: &str,
    head: &Head,
) -> Result<Digest, Error> {
    let mut first = None;
    for namespace in [Namespace::Html, Namespace::Svg, Namespace::MathMl] {
        options.context = Some(Context {
            namespace,
            name: name.to_owned(),
            html_integration: false,
        });
        let page = encode(bytes, &options)?;
        if Head::of(&page) == *head {
            return Ok(page);
        }
        first.get_or_insert(page);
    }
    first.ok_or_else(|| refuse("fragment cannot be read"))
}
