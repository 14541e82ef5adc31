//! How large a page may be.

/// Longest source that is read: offsets are 32-bit and ids are signed.
pub const MAX_SOURCE: usize = (1 << 31) - (1 << 16);
