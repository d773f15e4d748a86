//! Workloads whose right hash tags are known.

pub mod ids;
pub mod kinds;
mod more_kinds;
pub mod other_kinds;
pub mod workload;

use crate::rng::Rng;
use kinds::Kind;
use workload::Workload;

/// Fractions of noise in batches, cycled through by seed.
const NOISE: [f64; 4] = [0.0, 0.02, 0.05, 0.1];

/// A workload of a kind, and its noise.
pub fn workload(kind: &Kind, seed: u64) -> (Workload, f64) {
    let noise = NOISE[seed as usize % NOISE.len()];
    let add = |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte));
    let of_kind = kind.0.bytes().fold(0, add);
    let rng = &mut Rng::new(of_kind.wrapping_add(seed));
    (kind.1(rng, noise), noise)
}
