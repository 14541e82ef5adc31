//! Source and length of a copy: the decisions of a step that copies.

use super::coder::Bits;
use super::literal::last_bytes;
use super::places::Candidates;
use super::side::{Kind, hash};
use super::stream::Model;

/// Stands for the source of a stored run.
pub const STORED: usize = usize::MAX;
/// Maximum distance from the last source at which an explicit source counts as near.
const NEAR: usize = 1 << 13;

impl Model {
    /// Code where a match comes from.
    pub fn whence<B: Bits>(
        &mut self,
        bits: &mut B,
        candidates: &Candidates,
        from: usize,
    ) -> Option<(usize, u32)> {
        let literals = self.history.literals as u32;
        let left = candidates.count as u32;
        for (number, candidate) in candidates.iter().enumerate() {
            let name = u32::from(candidate.from);
            let agreed = u32::from(candidate.agreed);
            let contexts = [
                name | left << 4 | (number as u32) << 8,
                hash(name | agreed << 8, literals.min(3)),
                hash(name | literals.min(15) << 8, left),
                hash(name, last_bytes(&self.history.bytes) as u32),
                0,
                0,
            ];
            let this = candidate.at as usize == from;
            if self
                .side
                .decide(bits, Kind::Which, name as usize, &contexts, this)
            {
                return Some((candidate.at as usize, name));
            }
        }
        let at = self.history.bytes.len();
        let along = self.history.source + self.history.literals;
        let far = from.abs_diff(along) > NEAR;
        let contexts = [literals.min(3), left, 0, 0, 0, 0];
        if !self.side.decide(bits, Kind::Form, 0, &contexts, far) {
            let below = self
                .side
                .decide(bits, Kind::Form, 1, &contexts, from < along);
            let distance = self
                .side
                .number(bits, 1, u32::from(below), from.abs_diff(along) as u32)
                as usize;
            let from = if below {
                along.checked_sub(distance)
            } else {
                along.checked_add(distance)
            };
            return Some((from?, 4));
        }
        if self
            .side
            .decide(bits, Kind::Form, 2, &contexts, from == STORED)
        {
            return Some((STORED, 6));
        }
        let distance = self.side.number(bits, 2, 0, at.saturating_sub(from) as u32) as usize;
        Some((at.checked_sub(distance)?, 5))
    }

    /// Code the length of a match: whether it passes one mark after another, and where it ends
    /// between two.
    pub fn length<B: Bits>(
        &mut self,
        bits: &mut B,
        from: usize,
        form: u32,
        left: usize,
        length: usize,
    ) -> usize {
        let at = self.history.bytes.len();
        let mut passed = 0;
        loop {
            let end = at.min(from.saturating_add(left).saturating_add(1));
            let Some(mark) = self.history.next_end(from + passed + 1, end) else {
                let rest = length.wrapping_sub(passed + 1) as u32;
                let rest = self.side.number(bits, 3, form, rest) as usize;
                return rest.saturating_add(passed + 1);
            };
            let here = mark - from;
            let before = last_bytes(&self.history.bytes[..mark]);
            let gap = 32 - (here as u32 - passed as u32).leading_zeros();
            let next = u32::from(self.history.bytes[mark]);
            let contexts = [
                hash(before as u32, (before >> 32) as u32),
                hash(mark as u32, 1 << 31),
                gap | form << 8 | (32 - (passed as u32).leading_zeros()) << 16,
                hash(before as u32, next),
                self.passed & 0xf | form << 8,
                hash(next | self.passed << 8 & 0x300, before as u32 & 0xff),
            ];
            let set = form as usize;
            let beyond = self
                .side
                .decide(bits, Kind::Passes, set, &contexts, length > here);
            self.passed = self.passed << 1 | u32::from(beyond);
            if beyond {
                passed = here;
                continue;
            }
            if self
                .side
                .decide(bits, Kind::Exact, set, &contexts, length == here)
            {
                return here;
            }
            let short = here.wrapping_sub(length + 1) as u32;
            let short = self.side.number(bits, 4, gap, short) as usize;
            return here.saturating_sub(short.saturating_add(1));
        }
    }
}
