//! XXH3, the hash of digests: checksums and signatures. Short strings have one of their own
//! ([`crate::base::short_bytes`]), of which signatures are folded.
//!
//! A fixed specification, so that hashes may be stored. `twox-hash` chooses wide
//! instructions at run time where the processor has them, which halves the time
//! for long inputs in builds for plain x86-64.

use twox_hash::{XxHash3_64, XxHash3_128};

/// 64 bits.
#[inline]
pub fn hash64(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

/// 64 bits, of a family of functions.
#[inline]
pub fn hash64_seeded(bytes: &[u8], seed: u64) -> u64 {
    XxHash3_64::oneshot_with_seed(seed, bytes)
}

/// 128 bits.
#[inline]
pub fn hash128(bytes: &[u8]) -> u128 {
    XxHash3_128::oneshot(bytes)
}

/// 128 bits, of a family of functions.
#[inline]
pub fn hash128_seeded(bytes: &[u8], seed: u64) -> u128 {
    XxHash3_128::oneshot_with_seed(seed, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_specification() {
        assert_eq!(hash64(b""), 0x2d06_8005_38d3_94c2);
        assert_eq!(hash128(b""), 0x99aa_06d3_0147_98d8_6001_c324_468d_497f);
    }
}
