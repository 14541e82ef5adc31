//! The range coder: one binary decision after another, each with a probability.
//!
//! `low` and `range` as in LZMA, with 16-bit probabilities: the range has 32 bits and is extended
//! by a byte whenever it falls below 2^24; a carry propagates into bytes already written. The frame
//! is the shortest byte string that, followed by zeros, lies in the last range: a decoder reads
//! zeros past its end. If it reads more than [`SLACK`] of them, the frame was cut off.

/// Below this, the range is extended by a byte.
const LEAST: u32 = 1 << 24;
/// The decoder reads this many bytes ahead of its decisions.
const SLACK: usize = 4;

/// Writes decisions or reads them; the models do not know which.
pub trait Bits {
    /// Code one decision. `p` is the probability of `true` in 1/65536, from 1 to 65535. A writer
    /// writes `bit` and returns it; a reader ignores `bit` and returns the decision it read.
    fn code(&mut self, bit: bool, p: u32) -> bool;

    /// Whether more was read than the frame can contain.
    fn ran_dry(&self) -> bool {
        false
    }

    /// Code the low `count` bits of a number, all with probability one half.
    fn flat(&mut self, value: u32, count: u32) -> u32 {
        let bits = (0..count).rev();
        bits.fold(0, |read, at| {
            read << 1 | u32::from(self.code(value >> at & 1 == 1, 1 << 15))
        })
    }
}

/// Writes decisions.
pub struct Writer {
    low: u64,
    range: u32,
    out: Vec<u8>,
}

impl Writer {
    pub fn new() -> Writer {
        Writer {
            low: 0,
            range: u32::MAX,
            out: Vec::new(),
        }
    }

    /// Add the carry to the bytes already written.
    fn carry(&mut self) {
        if self.low >> 32 != 0 {
            self.low &= 0xffff_ffff;
            for byte in self.out.iter_mut().rev() {
                *byte = byte.wrapping_add(1);
                if *byte != 0 {
                    break;
                }
            }
        }
    }

    /// Return the frame.
    pub fn finish(mut self) -> Vec<u8> {
        // The number in the range with the most trailing zeros.
        let end = self.low + u64::from(self.range) - 1;
        let mut kept = self.low;
        for zeros in (0..=32).rev() {
            let rounded = (self.low + (1 << zeros) - 1) >> zeros << zeros;
            if rounded <= end {
                kept = rounded;
                break;
            }
        }
        self.low = kept;
        self.carry();
        // Only the zeros of the last number: a reader needs no more than these past the end.
        let last = self.low as u32;
        let count = SLACK - (last.trailing_zeros() as usize / 8).min(SLACK);
        self.out.extend_from_slice(&last.to_be_bytes()[..count]);
        self.out
    }
}

impl Bits for Writer {
    #[inline]
    fn code(&mut self, bit: bool, p: u32) -> bool {
        let bound = (self.range >> 16) * p;
        if bit {
            self.range = bound;
        } else {
            self.low += u64::from(bound);
            self.range -= bound;
            self.carry();
        }
        while self.range < LEAST {
            self.out.push((self.low >> 24) as u8);
            self.low = self.low << 8 & 0xffff_ffff;
            self.range <<= 8;
        }
        bit
    }
}

/// Reads decisions.
pub struct Reader<'a> {
    code: u32,
    range: u32,
    frame: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub fn new(frame: &'a [u8]) -> Reader<'a> {
        let mut reader = Reader {
            code: 0,
            range: u32::MAX,
            frame,
            at: 0,
        };
        for _ in 0..SLACK {
            reader.shift();
        }
        reader
    }

    #[inline]
    fn shift(&mut self) {
        let byte = self.frame.get(self.at).copied().unwrap_or(0);
        self.code = self.code << 8 | u32::from(byte);
        self.at += 1;
    }

    /// Whether the whole frame has been read.
    pub fn is_done(&self) -> bool {
        !self.ran_dry() && self.at >= self.frame.len()
    }
}

impl Bits for Reader<'_> {
    fn ran_dry(&self) -> bool {
        self.at > self.frame.len() + SLACK
    }

    #[inline]
    fn code(&mut self, _: bool, p: u32) -> bool {
        let bound = (self.range >> 16) * p;
        let bit = self.code < bound;
        if bit {
            self.range = bound;
        } else {
            self.code = self.code.wrapping_sub(bound);
            self.range -= bound;
        }
        while self.range < LEAST {
            self.shift();
            self.range <<= 8;
        }
        bit
    }
}
