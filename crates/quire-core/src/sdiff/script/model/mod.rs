//! The script itself: plain data, which is also its JSON form (`docs/edit-script.md`).
//!
//! Everything is said twice, for the old page and for the new one, so the way back is the same
//! script with the two exchanged. A place is a parent and a sibling before, never a number among
//! siblings, so nothing depends on an order of execution.

mod head;
mod names;
mod raw;

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

pub use self::head::{Head, Mark, Version};

pub use self::raw::{Raw, from_base64, to_base64};
use crate::page::text_mode::Mode;
use crate::page::vocabulary::{Class, Namespace};

/// A node by its number: of both pages when it has a partner, else of the page it is on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeRef {
    /// On the old page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<u32>,
    /// On the new page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<u32>,
}

/// A place among the children of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// The parent.
    pub parent: NodeRef,
    /// The sibling before; none for the first child.
    pub previous: Option<NodeRef>,
}

/// What a value was and what it is. Absent values are none, or were left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change<T> {
    /// Before.
    pub old: Option<T>,
    /// After.
    pub new: Option<T>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde hands references
fn is_element(class: &Class) -> bool {
    *class == Class::Element
}

fn element() -> Class {
    Class::Element
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde hands references
fn is_html(namespace: &Namespace) -> bool {
    *namespace == Namespace::Html
}

fn html() -> Namespace {
    Namespace::Html
}

/// What a node is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tag {
    /// Its class.
    #[serde(
        with = "names::class",
        default = "element",
        skip_serializing_if = "is_element"
    )]
    pub class: Class,
    /// Its namespace.
    #[serde(
        with = "names::namespace",
        default = "html",
        skip_serializing_if = "is_html"
    )]
    pub namespace: Namespace,
    /// Its name.
    pub name: String,
}

impl Tag {
    fn key(&self) -> (u8, u8, &str) {
        (self.class as u8, self.namespace as u8, &self.name)
    }
}

impl Ord for Tag {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Tag {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The own content of a leaf.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Content {
    /// As written.
    pub raw: Raw,
    /// How it is read.
    #[serde(with = "names::mode")]
    pub mode: Mode,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde hands references
fn is_false(value: &bool) -> bool {
    !value
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde hands references
fn is_zero(value: &u32) -> bool {
    *value == 0
}

/// A node of a piece that comes or goes, or, without a tag but with both numbers, a hole in it in
/// which a node stays that is on both pages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// On the old page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<u32>,
    /// On the new page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<u32>,
    /// How many of the rows that follow are its children; nodes that moved here are not among them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub children: u32,
    /// What it is; none for holes, and in deleted pieces of scripts that have no way back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<Tag>,
    /// Its attributes as written: what stands between the name and the `>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Raw>,
    /// Its own content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
    /// Whether it has no bytes of its own.
    #[serde(default, skip_serializing_if = "is_false")]
    pub implied: bool,
    /// Whether its end tag is in the source.
    #[serde(default, skip_serializing_if = "is_false")]
    pub end: bool,
}

impl Row {
    /// Whether a node of both pages stays here.
    pub fn is_hole(&self) -> bool {
        self.old.is_some() && self.new.is_some()
    }

    /// Its numbers.
    pub fn node(&self) -> NodeRef {
        NodeRef {
            old: self.old,
            new: self.new,
        }
    }
}

/// Adjacent siblings with all below them, in pre-order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Piece {
    /// Where the first of them stands.
    pub at: Position,
    /// The nodes.
    pub nodes: Vec<Row>,
}

/// A node that goes elsewhere, with all below it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moved {
    /// The node.
    pub node: NodeRef,
    /// Its name.
    pub name: String,
    /// Where it was.
    pub from: Position,
    /// Where it is.
    pub to: Position,
}

/// Siblings that go elsewhere together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Move {
    /// The siblings, in order.
    pub nodes: Vec<Moved>,
}

/// What changed on a node that is on both pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeEdit {
    /// The node.
    pub node: NodeRef,
    /// Its name, where that is the same on both pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<Change<Tag>>,
    /// Its attributes as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Change<Raw>>,
    /// Its own content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Change<Content>>,
    /// Whether it has no bytes of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub implied: Option<Change<bool>>,
    /// Whether its end tag is in the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Change<bool>>,
}

impl NodeEdit {
    /// Nothing changed on a node, yet.
    pub fn of(node: NodeRef) -> Self {
        Self {
            node,
            name: None,
            tag: None,
            attributes: None,
            content: None,
            implied: None,
            end: None,
        }
    }
}

/// One action. The length of a script is the number of these.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "lowercase")]
pub enum Action {
    /// Siblings that are new.
    Insert(Piece),
    /// Siblings that are gone.
    Delete(Piece),
    /// Siblings that are elsewhere.
    Move(Move),
    /// A node whose attributes or content changed.
    Update(NodeEdit),
    /// A node whose tag changed, with all else that changed on it.
    Rename(NodeEdit),
}

/// A difference that a reader of the page does not see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "layout", rename_all = "lowercase")]
pub enum Layout {
    /// White space that is new.
    Insert(Piece),
    /// White space that is gone.
    Delete(Piece),
    /// White space that changed.
    Blank(NodeEdit),
    /// The same in other bytes: references, quotes, tags that may be left out.
    Spelling(NodeEdit),
    /// How all tags of a name are written, where it is not the name.
    Tag(TagSpelling),
}

/// How the tags of a name are written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TagSpelling {
    /// The name.
    pub tag: Tag,
    /// The name in start tags.
    pub start: Change<Raw>,
    /// The whole end tag.
    pub end: Change<Raw>,
}

/// Bytes that no node accounts for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StrayBytes {
    /// After so many bytes of the node's own content.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub offset: u32,
    /// The bytes.
    pub raw: Raw,
}

/// Where bytes stand that no node accounts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// In or right behind what the node itself writes, before its children.
    Open,
    /// Behind the node and all below it.
    Close,
}

/// Bytes at a node that no node accounts for, and that differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StrayEdit {
    /// The node; these bytes go where it goes.
    pub node: NodeRef,
    /// Before or behind what is below it.
    pub at: Side,
    /// Before.
    pub old: Vec<StrayBytes>,
    /// After.
    pub new: Vec<StrayBytes>,
}

/// Facts about the whole page that differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageEdit {
    /// Character set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Change<String>>,
    /// How the character set was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding_reason: Option<Change<String>>,
    /// The element a fragment was parsed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Change<String>>,
    /// Spacing of a JSON page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spacing: Option<Change<Raw>>,
    /// Flags, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flags: Option<Change<Vec<String>>>,
}

/// What a patch is made against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Base {
    /// The source of the page the script is applied to.
    Source,
    /// What the other layers make of that page.
    Predicted,
}

/// The bytes of a page that the other layers do not give exactly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patch {
    /// What it is made against.
    pub base: Base,
    /// A zstd frame that has the base as its prefix.
    pub zstd: Raw,
}

/// What is left.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Residual {
    /// Bytes that no node accounts for.
    pub strays: Vec<StrayEdit>,
    /// Facts about the whole page.
    pub page: PageEdit,
    /// The old source, when the way back needs it.
    pub old_patch: Option<Patch>,
    /// The new source, when the way there needs it.
    pub new_patch: Option<Patch>,
}

/// What turns one page into another, and back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// What this is.
    pub format: Mark,
    /// Version of the form.
    pub version: Version,
    /// The page it is made for.
    pub old: Head,
    /// The page it makes.
    pub new: Head,
    /// Whether it has the way back.
    pub invertible: bool,
    /// What changed.
    pub actions: Vec<Action>,
    /// What changed and is not seen.
    pub layout: Vec<Layout>,
    /// What is left.
    pub residual: Residual,
    /// Nodes inserted, deleted and relabelled, when they were counted.
    pub node_edits: Option<u64>,
    /// Whether `node_edits` is proven to be the smallest number.
    pub proven_minimal: bool,
    /// Where the pairing met a limit.
    pub coarse: Vec<NodeRef>,
}

/// How many actions a script has of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// [`Action::Insert`].
    pub inserts: usize,
    /// [`Action::Delete`].
    pub deletes: usize,
    /// [`Action::Move`].
    pub moves: usize,
    /// [`Action::Update`].
    pub updates: usize,
    /// [`Action::Rename`].
    pub renames: usize,
}

impl Script {
    /// Count the actions by kind.
    ///
    /// ```
    /// use quire_core::{Options, encode};
    /// use quire_core::sdiff::script::{Counts, Wanted, between};
    ///
    /// let page = |source: &[u8]| encode(source, &Options::default()).unwrap();
    /// let script = between(&page(b"<p>a"), &page(b"<p>b<p>c"), Wanted::default()).unwrap();
    /// let expected = Counts { inserts: 1, updates: 1, ..Counts::default() };
    /// assert_eq!(script.counts(), expected);
    /// ```
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for action in &self.actions {
            *match action {
                Action::Insert(_) => &mut counts.inserts,
                Action::Delete(_) => &mut counts.deletes,
                Action::Move(_) => &mut counts.moves,
                Action::Update(_) => &mut counts.updates,
                Action::Rename(_) => &mut counts.renames,
            } += 1;
        }
        counts
    }
}
