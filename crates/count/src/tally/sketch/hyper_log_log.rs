//! The number of distinct names, estimated from 2^14 registers that merge by maximum (HyperLogLog).
//!
//! Source: Flajolet, Fusy, Gandouet, Meunier, "HyperLogLog", AofA 2007; the estimate from the register histogram
//! is Ertl's, arXiv 1702.01284, section 4 ("improved raw estimator"), which needs no bias table.

use serde::{Deserialize, Serialize};

/// Bits of the hash that choose a register.
const INDEX_BITS: u32 = 14;
const REGISTERS: usize = 1 << INDEX_BITS;
/// The maximum rank from the remaining bits.
const MAX_RANK: usize = (u64::BITS - INDEX_BITS) as usize + 1;

/// The relative standard error of `HyperLogLog::estimate`.
pub const RELATIVE_ERROR: f64 = 1.04 / 128.0; // 1.04 / sqrt(REGISTERS)

/// The registers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HyperLogLog {
    registers: Vec<u8>,
}

impl Default for HyperLogLog {
    fn default() -> Self {
        HyperLogLog {
            registers: vec![0; REGISTERS],
        }
    }
}

impl HyperLogLog {
    /// Whether a scan can have written these registers.
    pub(super) fn is_sound(&self) -> bool {
        let is_rank = |rank: &u8| usize::from(*rank) <= MAX_RANK;
        self.registers.len() == REGISTERS && self.registers.iter().all(is_rank)
    }

    /// Adds a name by its hash.
    #[inline]
    pub(crate) fn add(&mut self, hash: u64) {
        let index = (hash >> (u64::BITS - INDEX_BITS)) as usize;
        let rank = ((hash << INDEX_BITS) | 1 << (INDEX_BITS - 1)).leading_zeros() as u8 + 1;
        let register = &mut self.registers[index];
        *register = (*register).max(rank);
    }

    /// Merges the names of another sketch.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.registers
            .iter_mut()
            .zip(&other.registers)
            .for_each(|(a, b)| *a = (*a).max(*b));
    }

    /// The number of distinct names, within `RELATIVE_ERROR`.
    pub fn estimate(&self) -> f64 {
        let mut histogram = [0.0; MAX_RANK + 1];
        self.registers
            .iter()
            .for_each(|rank| histogram[usize::from(*rank)] += 1.0);
        let m = REGISTERS as f64;
        let mut z = m * tau(1.0 - histogram[MAX_RANK] / m);
        for count in histogram[1..MAX_RANK].iter().rev() {
            z = 0.5 * (z + count);
        }
        z += m * sigma(histogram[0] / m);
        m * m / (2.0 * std::f64::consts::LN_2 * z)
    }
}

/// Ertl's correction for untouched registers: x + sum of x^(2^k) * 2^(k-1).
fn sigma(mut x: f64) -> f64 {
    if x >= 1.0 {
        return f64::INFINITY;
    }
    let (mut y, mut z) = (1.0, x);
    loop {
        x *= x;
        let before = z;
        z += x * y;
        y += y;
        if z == before {
            return z;
        }
    }
}

/// Ertl's correction for saturated registers.
fn tau(mut x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return 0.0;
    }
    let (mut y, mut z) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = z;
        y *= 0.5;
        z -= (1.0 - x).powi(2) * y;
        if z == before {
            return z / 3.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_base::hash::hash;

    fn count(names: std::ops::Range<u64>) -> HyperLogLog {
        let mut distinct = HyperLogLog::default();
        names.for_each(|i| distinct.add(hash(format!("tag:{i}").as_bytes())));
        distinct
    }

    #[test]
    fn the_estimate_is_within_four_standard_errors_at_every_size() {
        assert_eq!(HyperLogLog::default().estimate(), 0.0);
        for n in [1, 10, 1000, 20_000, 100_000, 1_000_000] {
            let error = count(0..n).estimate() / n as f64 - 1.0;
            assert!(error.abs() < 4.0 * RELATIVE_ERROR, "{n}: {error}");
        }
    }

    #[test]
    fn a_name_counts_once_wherever_it_was_seen() {
        let mut parts = count(0..60_000);
        parts.merge(&count(30_000..100_000));
        assert_eq!(parts, count(0..100_000));
    }
}
