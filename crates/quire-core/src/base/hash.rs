//! XXH3, the hash function of digests: checksums and signatures. Short strings have their own hash
//! ([`crate::base::short_bytes`]), from which signatures are computed.
//!
//! XXH3 has a fixed specification, so hashes may be stored. `twox-hash` selects wide instructions
//! at run time if the processor has them, which halves the time for long inputs in builds for plain
//! x86-64.

use twox_hash::{XxHash3_64, XxHash3_128};

/// Hash bytes to 64 bits.
#[inline]
pub fn hash64(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

/// Hash bytes to 64 bits; each seed gives a different function.
#[inline]
pub fn hash64_seeded(bytes: &[u8], seed: u64) -> u64 {
    XxHash3_64::oneshot_with_seed(seed, bytes)
}

/// Hash bytes to 128 bits.
#[inline]
pub fn hash128(bytes: &[u8]) -> u128 {
    XxHash3_128::oneshot(bytes)
}

/// Hash bytes to 128 bits; each seed gives a different function.
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
