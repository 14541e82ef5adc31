//! The maximum size of a page, and of everything that is made from it.
//!
//! A digest says how long its source was. All other lengths in it follow from that one, so a file
//! of a few bytes cannot make a reader produce gigabytes: what is longer than a parser could have
//! made it is refused. `docs/format.md` has the same limits.

/// Maximum length of a source in bytes: offsets are 32-bit and ids are signed.
pub const MAX_SOURCE: usize = (1 << 31) - (1 << 16);
/// One byte of a source becomes at most this many bytes in UTF-8 (Thai in windows-874).
pub const MAX_GROWTH: usize = 3;
/// Bytes of attributes that copies of formatting elements may repeat, beyond the length of the
/// page. Seen: 2,000.
pub const FREE_COPIED_BYTES: usize = 64 << 10;
/// Names up to this length may be repeated by any number of nodes.
pub const FREE_NAME_BYTES: u64 = 64;

/// Return the maximum number of nodes of a page.
///
/// The densest pages have a node for each byte (`[[[` in JSON). Each of them can cause one copy of
/// a formatting element, and 1,024 copies are free.
pub fn max_nodes(source: u64) -> u64 {
    4 * source + 4096
}

/// Return the maximum number of bytes in the contents of all nodes: a byte is in one leaf.
pub fn max_content_bytes(source: u64) -> u64 {
    MAX_GROWTH as u64 * source
}

/// Return the maximum number of bytes in the attribute runs of all nodes: those of the source, and
/// those of copies. The limit for copies is checked once for up to four of them.
pub fn max_run_bytes(source: u64) -> u64 {
    6 * MAX_GROWTH as u64 * source + FREE_COPIED_BYTES as u64
}

/// Return the maximum number of bytes in the names of all nodes.
pub fn max_name_bytes(source: u64, nodes: u64) -> u64 {
    MAX_GROWTH as u64 * source + FREE_NAME_BYTES * nodes
}

/// Return the maximum length of the sections of a digest: for a node 16 bytes of columns, 8 of
/// exceptions and 24 of lists; for a byte of the source a stray of 16 bytes, and the strings.
pub fn max_body_bytes(source: u64, nodes: u64) -> u64 {
    48 * nodes + 64 * source + (1 << 20)
}
