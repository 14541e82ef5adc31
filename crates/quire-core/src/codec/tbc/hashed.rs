//! Tables whose keys are already hashes.
//!
//! Keys are hashed once, with a random seed for each process: no page can be crafted so that its
//! tokens or windows all fall into one slot of a table. Nothing derived from it is stored or
//! determines an order, so deltas do not depend on it.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::sync::OnceLock;

use crate::base::hash::hash64_seeded;

/// A table with hashes as keys.
pub type Known = HashMap<u64, u32, BuildHasherDefault<AsIs>>;

/// Hash bytes; the result differs between processes.
#[inline]
pub fn hash(bytes: &[u8]) -> u64 {
    static KEY: OnceLock<u64> = OnceLock::new();
    hash64_seeded(
        bytes,
        *KEY.get_or_init(|| RandomState::new().hash_one(0x7bc_u64)),
    )
}

/// A hasher that returns a number unchanged.
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
