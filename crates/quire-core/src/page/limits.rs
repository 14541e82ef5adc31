//! The maximum size of a page.

/// Maximum length of a source in bytes: offsets are 32-bit and ids are signed.
pub const MAX_SOURCE: usize = (1 << 31) - (1 << 16);
