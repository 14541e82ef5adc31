//! Probabilities: counters, mixing of their predictions, and refinement of the result.
//!
//! All numbers are integers. A probability is in 1/65536; `stretch` gives ln(p / (1 - p)) in 1/256,
//! from -2047 to 2047, and `squash` is its inverse, by a table of 65 values with linear
//! interpolation. A counter has 16 bits: 13 for the probability and 3 for how often it was updated;
//! each update moves it by a fraction of the distance that gets smaller with the number of updates.

/// 65536 / (1 + e^-x) for x from -8 to 8 in steps of 1/4.
const KNOTS: [u16; 65] = [
    22, 28, 36, 47, 60, 77, 98, 126, 162, 208, 267, 342, 439, 562, 720, 922, 1179, 1506, 1921,
    2446, 3108, 3938, 4971, 6249, 7812, 9702, 11955, 14595, 17625, 21025, 24743, 28693, 32768,
    36843, 40793, 44511, 47911, 50941, 53581, 55834, 57724, 59287, 60565, 61598, 62428, 63090,
    63615, 64030, 64357, 64614, 64816, 64974, 65097, 65194, 65269, 65328, 65374, 65410, 65438,
    65459, 65476, 65489, 65500, 65508, 65513,
];

static SQUASH: [u16; 4096] = {
    let mut table = [0; 4096];
    let mut at = 0;
    while at < 4096 {
        let (low, high) = (KNOTS[at >> 6] as u32, KNOTS[(at >> 6) + 1] as u32);
        table[at] = (low + ((high - low) * (at as u32 & 63) + 32) / 64) as u16;
        at += 1;
    }
    table
};

/// `stretch` for probabilities in 1/4096.
static STRETCH: [i16; 4096] = {
    let mut table = [0; 4096];
    let (mut p, mut at) = (0, 0);
    while p < 4096 {
        while at < 4095 && (SQUASH[at] as usize) < p * 16 + 8 {
            at += 1;
        }
        table[p] = at as i16 - 2048;
        if table[p] < -2047 {
            table[p] = -2047;
        }
        p += 1;
    }
    table
};

/// Return the probability of a stretched value.
#[inline]
pub fn squash(x: i32) -> u32 {
    u32::from(SQUASH[(x.clamp(-2047, 2047) + 2048) as usize & 4095])
}

/// The initial value of a counter.
pub const UNSEEN: u16 = 1 << 15;

/// How far a counter moves, in 1/65536 of the distance, by the number of updates.
const PACE: [i32; 8] = [48_000, 30_000, 20_000, 15_000, 12_000, 9_500, 7_500, 4_200];
/// How much the prediction of a counter counts, in 1/256, by the number of updates.
const TRUST: [i32; 8] = [0, 340, 310, 290, 270, 256, 250, 240];

/// Update a counter with the actual bit.
#[inline]
pub fn seen(counter: &mut u16, bit: bool) {
    let count = (*counter & 7) as usize;
    let p = i32::from(*counter >> 3);
    let target = if bit { 8191 } else { 0 };
    let moved = p + (((target - p) * PACE[count]) >> 16);
    *counter = (moved as u16) << 3 | (count + 1).min(7) as u16;
}

/// Return the prediction of a counter as a stretched value; 0 if it was never updated.
#[inline]
pub fn word_of(counter: u16) -> i16 {
    let said = i32::from(STRETCH[(counter >> 4) as usize & 4095]);
    ((said * TRUST[(counter & 7) as usize]) >> 8) as i16
}

/// Mixes `N` predictions; one set of weights for each kind of position.
///
/// Weights are stored in 1/65536 and used in 1/4096, so that predictions and weights have 16 bits:
/// processors multiply eight such pairs at once.
#[derive(Clone)]
pub struct Mixer<const N: usize> {
    weights: Vec<[i32; N]>,
    chosen: usize,
    said: u32,
}

/// Learning rate of the weights, as a power of two.
const WEIGHT_PACE: u32 = 14;

impl<const N: usize> Mixer<N> {
    pub fn new(sets: usize, first: i32) -> Mixer<N> {
        Mixer {
            weights: vec![[first; N]; sets],
            chosen: 0,
            said: 0,
        }
    }

    pub fn copy_from(&mut self, other: &Mixer<N>) {
        self.weights.copy_from_slice(&other.weights);
    }

    /// Return the weighted sum of the predictions, as a stretched value.
    #[inline]
    pub fn mix(&mut self, words: &[i16; N], set: usize) -> i32 {
        self.chosen = set;
        let mut sum = 0i32;
        for (&word, &weight) in words.iter().zip(&self.weights[set]) {
            let weight = (weight >> 4).clamp(-32768, 32767) as i16;
            sum = sum.wrapping_add(i32::from(word) * i32::from(weight));
        }
        let mixed = (sum >> 12).clamp(-2047, 2047);
        self.said = squash(mixed);
        mixed
    }

    /// Increase the weights of predictions that were right.
    #[inline]
    pub fn learn(&mut self, words: &[i16; N], bit: bool) {
        let missed = (((i32::from(bit) << 16) - self.said as i32) >> 1) as i16;
        for (&word, weight) in words.iter().zip(&mut self.weights[self.chosen]) {
            let step =
                (i32::from(word) * i32::from(missed) + (1 << (WEIGHT_PACE - 1))) >> WEIGHT_PACE;
            *weight = weight.wrapping_add(step);
        }
    }
}

/// Refines a probability by the outcomes of similar probabilities in the same context.
#[derive(Clone)]
pub struct Refiner {
    cells: Vec<u16>,
    at: usize,
}

impl Refiner {
    pub fn new(contexts: usize) -> Refiner {
        let line = (0..33).map(|at| squash((at - 16) * 128) as u16);
        let cells = std::iter::repeat_n(line, contexts).flatten().collect();
        Refiner { cells, at: 0 }
    }

    pub fn copy_from(&mut self, other: &Refiner) {
        self.cells.copy_from_slice(&other.cells);
    }

    #[inline]
    pub fn refine(&mut self, x: i32, context: usize) -> u32 {
        let place = (x.clamp(-2047, 2047) + 2048) as usize;
        let (low, part) = (context * 33 + (place >> 7), (place & 127) as u32);
        self.at = low + usize::from(part >= 64);
        let (a, b) = (u32::from(self.cells[low]), u32::from(self.cells[low + 1]));
        (a * (128 - part) + b * part) >> 7
    }

    #[inline]
    pub fn learn(&mut self, bit: bool) {
        let cell = &mut self.cells[self.at];
        if bit {
            *cell += (65535 - *cell) >> 6;
        } else {
            *cell -= *cell >> 6;
        }
    }
}
