//! Tables whose keys are hashes already.
//!
//! Keys are hashed once, with a number drawn in each process: no page can be written so that its tokens or windows all fall
//! into one place of a table. Nothing is stored of it or ordered by it, so deltas do not depend on it.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::sync::OnceLock;

use crate::base::hash::hash64_seeded;

/// A table by hashes.
pub type Known = HashMap<u64, u32, BuildHasherDefault<AsIs>>;

/// The hash of some bytes in this process.
#[inline]
pub fn hash(bytes: &[u8]) -> u64 {
    static KEY: OnceLock<u64> = OnceLock::new();
    hash64_seeded(
        bytes,
        *KEY.get_or_init(|| RandomState::new().hash_one(0x7bc_u64)),
    )
}

/// Takes a number for its own hash.
#[derive(Default)]
pub struct AsIs(u64);

impl Hasher for AsIs {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
