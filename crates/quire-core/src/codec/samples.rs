//! Test data for the codecs, the same in every run.

/// Return a generator of pseudo-random numbers, the same in every run.
pub fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

/// Return bytes that cannot be compressed.
pub fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut next = random(seed);
    (0..length).map(|_| (next() >> 40) as u8).collect()
}

/// Return words and markup.
pub fn prose(seed: u64, length: usize) -> Vec<u8> {
    let mut next = random(seed);
    let words = [
        "<p>", "</p>\n", "price", " the ", "of ", "page", "=\"", "12", "<a href=", "é",
    ];
    let text = std::iter::repeat_with(|| words[(next() >> 33) as usize % words.len()]);
    text.flat_map(str::bytes).take(length).collect()
}
