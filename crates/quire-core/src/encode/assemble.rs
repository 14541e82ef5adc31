//! Assembling: turns a draft into a verified digest.
//!
//! Passes, each linear:
//!
//! 1. order: child counts in pre-order ([`crate::encode::preorder`]);
//! 2. reconcile: find the bytes that the tree does not predict ([`crate::encode::leftovers`]);
//! 3. intern attribute runs and contents in pre-order;
//! 4. write the columns in their narrowest width, and sign those that come as they are: facets
//!    that need decoding are signed on demand ([`crate::digest`]);
//! 5. emit the digest and compare it with the source. A page that is not reproduced, or with more
//!    than one part in [`MAX_STRAY_SHARE`] of strays, keeps its source next to the same columns
//!    (flag `verbatim`).

use std::collections::HashMap;
use std::ops::Range;

use crate::base::error::Error;
use crate::base::growing_column::{GrowingIds, GrowingInts};
use crate::base::hash::hash128;
use crate::base::int_column::{width_of, write_ints};
use crate::base::interner::Interner;
use crate::base::vec_pool::Reused;
use crate::digest::decode::{Comparison, emit, self_closed};
use crate::digest::facets;
use crate::digest::format::{Section, Signatures, Writer};
use crate::digest::{Digest, Meta};
use crate::encode::leftovers::{Exceptions, reconcile};
use crate::encode::preorder::{ChildCounts, Order};
use crate::encode::tag_spelling::Spellings;
use crate::page::flags::Flags;
use crate::page::kind::Kind;
use crate::page::vocabulary::{Class, Namespace};
use crate::parse::draft::{Draft, IMPLIED, IN_PIECES, JOINED, Names, Piece};
use crate::parse::trail::{ENDED, SILENT, Stray};

/// Up to one part in this many of the source may be strays; beyond it the source is stored whole.
/// Strays repeat bytes that are also in the columns; beyond this share, the compressed source is
/// smaller.
pub const MAX_STRAY_SHARE: usize = 4;
/// This many stray bytes are always accepted: tiny pages consist mostly of implied tags.
const FREE_STRAY_BYTES: usize = 512;
/// Longer runs of copied elements are looked up by position, shorter ones by their bytes.
const LONG_RUN: usize = 64;
/// Room for this many distinct strings is made in advance; pages with more of them are rare.
const MAX_EXPECTED: usize = 1 << 15;
/// Compression level for the source of verbatim pages: the fast default.
const SOURCE_LEVEL: i32 = 3;

/// Everything the assembler needs besides the draft.
pub struct Job<'a> {
    /// Kind of the page.
    pub kind: Kind,
    /// Character set and other metadata.
    pub meta: Meta,
    /// The bytes that the draft refers to.
    pub text: &'a [u8],
    /// The original bytes of the page, if `text` is a UTF-8 copy.
    pub original: Option<&'a [u8]>,
    /// Whether `original` can be restored from `text`.
    pub invertible: bool,
}

/// Make the digest of a page.
pub fn assemble(mut draft: Draft, job: &Job) -> Result<Digest, Error> {
    let mut order = Order::new(&mut draft);
    let trail = draft.trail.take();
    let spellings = Spellings::choose(&draft, job.text);
    let exceptions = if job.invertible {
        reconcile(&draft, &order, &spellings, job.text, trail)
    } else {
        None
    };
    let mut flags = draft.flags;
    if order.is_reordered() {
        flags.set(Flags::REORDERED);
    }
    if job.original.is_some() {
        flags.set(Flags::TRANSCODED);
    }
    let stray_bytes: usize = exceptions
        .iter()
        .flat_map(|e| &e.strays)
        .map(|s| (s.end - s.start) as usize + 8)
        .sum();
    let room = (job.text.len() / MAX_STRAY_SHARE).max(FREE_STRAY_BYTES);
    // Everything is let go as soon as it has been used: a page can have a node for each byte.
    draft.ends = Reused::default();
    let children = order.children(&draft);
    order.forget_places();
    let names = std::mem::take(&mut draft.names);
    let columns = Columns::new(draft, &names, order, children, &spellings, job);
    if let Some(exceptions) = exceptions.filter(|_| stray_bytes <= room) {
        let written = columns.write(job, flags, Some(&exceptions))?;
        let digest = Digest::trusted(written)?;
        let mut comparison = Comparison::new(job.text);
        if emit(&digest, &mut comparison) && comparison.is_complete() {
            return Ok(digest);
        }
    }
    flags.set(Flags::VERBATIM);
    Digest::trusted(columns.write(job, flags, None)?)
}

/// A tag of the page during assembly.
struct TagEntry {
    tag: u32,
    class: Class,
    namespace: Namespace,
}

/// Nodes that are added to the columns at once: the width of a column is then asked for once, not
/// for each value.
const BLOCK: usize = 256;

/// A part of the columns that is not narrowed yet.
struct Block {
    tag: [u32; BLOCK],
    attr: [i32; BLOCK],
    content: [i32; BLOCK],
}

impl Default for Block {
    fn default() -> Self {
        Self {
            tag: [0; BLOCK],
            attr: [0; BLOCK],
            content: [0; BLOCK],
        }
    }
}

/// Columns and lists, before they are written.
struct Columns<'a> {
    names: &'a Names,
    spellings: &'a Spellings,
    /// Number of nodes.
    n: usize,
    children: ChildCounts,
    tags: Vec<TagEntry>,
    tag: GrowingInts,
    attr: GrowingIds,
    content: GrowingIds,
    runs: Interner<'a>,
    contents: Interner<'a>,
}

impl<'a> Columns<'a> {
    /// Fill the columns from a draft, which is then let go.
    #[allow(clippy::needless_pass_by_value)] // so that its memory is free for what follows
    fn new(
        mut draft: Draft,
        names: &'a Names,
        order: Order,
        children: ChildCounts,
        spellings: &'a Spellings,
        job: &Job<'a>,
    ) -> Self {
        let n = order.len();
        let mut columns = Self {
            names,
            spellings,
            n,
            children,
            tags: Vec::with_capacity(64),
            tag: GrowingInts::with_capacity(n),
            attr: GrowingIds::with_capacity(n),
            content: GrowingIds::with_capacity(n),
            runs: Interner::new((n / 3).min(MAX_EXPECTED), job.text),
            contents: Interner::new((n / 4).min(MAX_EXPECTED), job.text),
        };
        let mut entry_of = Reused::filled(names.len(), u32::MAX);
        let mut pieces = Pieces::new(std::mem::take(&mut draft.pieces), job.text);
        // Runs of copied formatting elements, by position in the source: hashing one long run again
        // for every copy would be quadratic.
        let mut copies = HashMap::new();
        let attributes = matches!(job.kind, Kind::Html | Kind::Xml | Kind::Tree);
        let mut block = Block::default();
        for place in 0..n {
            let id = order.node(place);
            let node = &draft.nodes[id];
            let tag = draft.tag(id);
            let mut entry = entry_of[tag as usize];
            if entry == u32::MAX {
                entry = columns.tags.len() as u32;
                entry_of[tag as usize] = entry;
                columns.tags.push(TagEntry {
                    tag,
                    class: names.class(tag),
                    namespace: names.namespace(tag),
                });
            }
            let TagEntry {
                class, namespace, ..
            } = columns.tags[entry as usize];
            let (mut attr, mut content) = (-1, -1);
            if class.is_leaf() {
                let mode = node.mode_number();
                let part = draft.run(id) as usize..node.end as usize;
                let id = if node.has(IN_PIECES) {
                    columns.contents.intern(pieces.content(id, part), mode)
                } else {
                    columns.contents.intern_part(part, mode)
                };
                content = id as i32;
            } else if class == Class::Element && attributes {
                let key = namespace as u8;
                let part = draft.run(id) as usize..(node.end as usize).saturating_sub(1);
                if node.has(JOINED) {
                    let run = joined_run(&draft, id);
                    if !run.is_empty() {
                        attr = columns.runs.intern(run, key) as i32;
                    }
                } else if node.has(IMPLIED) && part.len() > LONG_RUN {
                    attr = *(copies.entry(part.start))
                        .or_insert_with(|| columns.runs.intern_rare_part(part, key) as i32);
                } else if !part.is_empty() {
                    attr = columns.runs.intern_part(part, key) as i32;
                }
            }
            let at = place % BLOCK;
            block.tag[at] = entry;
            block.attr[at] = attr;
            block.content[at] = content;
            if at + 1 == BLOCK || place + 1 == n {
                columns.tag.extend(&block.tag[..=at]);
                columns.attr.extend(&block.attr[..=at]);
                columns.content.extend(&block.content[..=at]);
            }
        }
        columns.runs.finish();
        columns.contents.finish();
        columns
    }

    fn write(
        &self,
        job: &Job,
        flags: Flags,
        exceptions: Option<&Exceptions>,
    ) -> Result<Vec<u8>, Error> {
        let source = job.original.unwrap_or(job.text);
        let (implied, flipped, ends) = self.exceptions(exceptions);
        let strays = exceptions.map_or(&[][..], |e| &e.strays);
        let mut out = Writer::unsealed(self.bound(implied.len() + flipped.len(), strays));
        let mut signatures = Signatures::default();
        signatures.0[0] = hash128(source);
        out.section(Section::Children, |o| {
            let start = o.len();
            let width = self.children.write(o);
            signatures.0[1] = facets::of_column(width, &o[start..]);
            width
        });
        let (tags, width) = self.tag.stored();
        signatures.0[2] = self.sign_tags(width, tags);
        for (section, (bytes, width)) in [
            (Section::Tag, self.tag.stored()),
            (Section::Attr, self.attr.stored()),
            (Section::Content, self.content.stored()),
        ] {
            out.section(section, |o| {
                o.extend_from_slice(bytes);
                width
            });
        }
        self.write_tags(&mut out, &ends);
        let lengths = |lengths: &[u32], o: &mut Vec<u8>| write_ints(lengths.iter().copied(), o);
        out.section(Section::AttrLengths, |o| entry_lengths(&self.runs, o));
        out.section(Section::ContentLengths, |o| {
            entry_lengths(&self.contents, o)
        });
        out.section(Section::ContentModes, |o| {
            o.extend(self.contents.entries.iter().map(|e| e.key));
            1
        });
        out.section(Section::Implied, |o| lengths(&implied, o));
        out.section(Section::EndFlipped, |o| lengths(&flipped, o));
        out.section(Section::StrayNode, |o| {
            write_ints(strays.iter().map(|s| s.node), o)
        });
        out.section(Section::StrayDepth, |o| {
            write_ints(strays.iter().map(|s| s.depth), o)
        });
        out.section(Section::StrayOffset, |o| {
            write_ints(strays.iter().map(|s| s.offset), o)
        });
        out.section(Section::StrayLength, |o| {
            write_ints(strays.iter().map(|s| s.end - s.start), o)
        });
        out.section(Section::Meta, |o| {
            job.meta.write(o);
            1
        });
        for (heap, strings) in [
            (Section::AttrHeap, &self.runs),
            (Section::ContentHeap, &self.contents),
        ] {
            out.section(heap, |o| {
                strings.write(o);
                1
            });
        }
        out.section(Section::StrayHeap, |o| {
            for stray in strays {
                o.extend_from_slice(&job.text[stray.start as usize..stray.end as usize]);
            }
            1
        });
        if exceptions.is_none() {
            let packed = zstd::bulk::compress(source, SOURCE_LEVEL).map_err(|e| Error::Format {
                message: format!("source could not be compressed: {e}"),
            })?;
            out.bytes(Section::Source, &packed);
        }
        Ok(out.finish(
            job.kind,
            flags,
            self.n as u32,
            source.len() as u64,
            signatures,
        ))
    }

    /// Return an upper bound for the bytes of the sections, so that memory is allocated once and
    /// little is left over.
    fn bound(&self, listed: usize, strays: &[Stray]) -> usize {
        let columns = width_of(self.children.max())
            + width_of(self.tags.len() as u32)
            + width_of(2 * self.runs.len() as u32)
            + width_of(2 * self.contents.len() as u32);
        let stray_bytes: usize = strays.iter().map(|s| (s.end - s.start) as usize + 16).sum();
        self.n * columns
            + self.tags.len() * 64
            + (self.runs.len() + listed) * 4
            + self.contents.len() * 5
            + self.runs.bytes()
            + self.contents.bytes()
            + stray_bytes
    }

    /// Sign the tags facet: names in order of first use, and the column.
    fn sign_tags(&self, width: u8, column: &[u8]) -> u128 {
        let mut names = Vec::with_capacity(self.tags.len() * 8);
        for entry in &self.tags {
            names.push(entry.namespace as u8);
            names.extend_from_slice(self.names.name(entry.tag));
            names.push(0);
        }
        let column = facets::of_column(width, column);
        names.extend_from_slice(&column.to_le_bytes());
        hash128(&names)
    }

    /// Return implied nodes, nodes whose end tag is not as predicted, and the prediction for each
    /// tag.
    fn exceptions(&self, exceptions: Option<&Exceptions>) -> (Vec<u32>, Vec<u32>, Vec<bool>) {
        let Some(exceptions) = exceptions else {
            return (Vec::new(), Vec::new(), vec![false; self.tags.len()]);
        };
        let marks = &exceptions.marks;
        // Nodes with an end tag, less those without: one number to update for each node.
        let vote = |place: usize| 2 * i32::from(marks[place] & ENDED != 0) - 1;
        let mut votes = vec![0i32; self.tags.len()];
        self.tag
            .ints()
            .for_each(|place, tag| votes[tag as usize] += vote(place));
        // Only elements of namespaces with `<a/>` can have such runs.
        let is_html: Vec<bool> = (self.tags.iter())
            .map(|t| t.namespace == Namespace::Html)
            .collect();
        let mut closed = Vec::new();
        if is_html.contains(&false) {
            self.tag.ints().for_each(|place, tag| {
                if !is_html[tag as usize] && self.self_closed(place) {
                    closed.push(place as u32);
                }
            });
        }
        for &place in &closed {
            let place = place as usize;
            votes[self.tag.ints().get(place) as usize] -= vote(place);
        }
        let ends: Vec<bool> = votes.iter().map(|&votes| votes > 0).collect();
        // The usual marks of nodes of each tag, and which marks count.
        let usual: Vec<(u8, u8)> = (self.tags.iter().zip(&ends))
            .map(|(t, &ends)| {
                let silent = matches!(
                    t.class,
                    Class::Document | Class::Fragment | Class::Paragraph
                );
                let end = if ends { ENDED } else { 0 };
                (end, if silent { ENDED } else { ENDED | SILENT })
            })
            .collect();
        let mut implied = Vec::new();
        let mut flipped = Vec::new();
        let mut closed = closed.into_iter().peekable();
        self.tag.ints().for_each(|place, tag| {
            let (mut expected, counts) = usual[tag as usize];
            let (mark, place) = (marks[place], place as u32);
            if closed.next_if_eq(&place).is_some() {
                expected = 0;
            }
            let differs = (mark ^ expected) & counts;
            if differs == 0 {
                return;
            }
            if differs & SILENT != 0 {
                implied.push(place);
            }
            if differs & ENDED != 0 {
                flipped.push(place);
            }
        });
        (implied, flipped, ends)
    }

    fn self_closed(&self, place: usize) -> bool {
        let id = self.attr.ids().get(place);
        let run = || self.runs.get(id as usize);
        let tag = self.tag.ints().get(place) as usize;
        id >= 0 && self_closed(self.tags[tag].namespace, run)
    }

    fn write_tags(&self, out: &mut Writer, ends: &[bool]) {
        out.section(Section::TagInfo, |o| {
            for (entry, &end) in self.tags.iter().zip(ends) {
                o.extend_from_slice(&[entry.class as u8, entry.namespace as u8, u8::from(end)]);
            }
            1
        });
        let strings: Vec<[&[u8]; 3]> = (self.tags.iter())
            .map(|e| {
                [
                    self.names.name(e.tag),
                    self.spellings.start(e.tag).unwrap_or_default(),
                    self.spellings.end(e.tag).unwrap_or_default(),
                ]
            })
            .collect();
        let lengths: Vec<u32> = strings.iter().flatten().map(|s| s.len() as u32).collect();
        out.section(Section::TagLengths, |o| {
            write_ints(lengths.iter().copied(), o)
        });
        out.section(Section::TagHeap, |o| {
            strings
                .iter()
                .flatten()
                .for_each(|s| o.extend_from_slice(s));
            1
        });
    }
}

fn entry_lengths(strings: &Interner, out: &mut Vec<u8>) -> u8 {
    write_ints(strings.entries.iter().map(|e| e.length), out)
}

/// Return the attributes that several tags gave an element, as one run.
fn joined_run(draft: &Draft, id: usize) -> &[u8] {
    let at = draft
        .joined_runs
        .binary_search_by_key(&(id as u32), |(node, _)| *node);
    at.map_or(&[][..], |at| &draft.joined_runs[at].1)
}

/// Contents of texts, joined if they are interrupted in the source.
struct Pieces<'a> {
    text: &'a [u8],
    /// Later pieces, sorted by node, then by position.
    later: Vec<Piece>,
    joined: Vec<u8>,
}

impl<'a> Pieces<'a> {
    fn new(mut later: Vec<Piece>, text: &'a [u8]) -> Self {
        later.sort_unstable_by_key(|p| (p.node, p.start));
        Self {
            text,
            later,
            joined: Vec::new(),
        }
    }

    /// Return the content of a text in pieces, which begins with `first`.
    fn content<'b>(&'b mut self, id: usize, first: Range<usize>) -> &'b [u8]
    where
        'a: 'b,
    {
        self.joined.clear();
        self.joined.extend_from_slice(&self.text[first]);
        let from = self.later.partition_point(|p| (p.node as usize) < id);
        for piece in self.later[from..]
            .iter()
            .take_while(|p| p.node as usize == id)
        {
            self.joined
                .extend_from_slice(&self.text[piece.start as usize..piece.end as usize]);
        }
        &self.joined
    }
}
