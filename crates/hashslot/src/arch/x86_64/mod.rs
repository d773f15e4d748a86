//! Kernels for 64-bit x86.

use core::arch::x86_64::{_pdep_u64, _pext_u64};

pub(crate) mod avx2;
pub(crate) mod avx512;
pub(crate) mod sse;

/// `Bytes64::runs_below` for CPUs that can extract bits: every run has a start and an end, in the same order.
///
/// Every CPU with VPCLMULQDQ has PEXT and PDEP in hardware; those that emulate them in microcode (Zen 2) use only SSE
/// here.
#[inline]
#[target_feature(enable = "bmi2")]
fn runs_below(runs: u64, ends: u64) -> u64 {
    let all_ends = runs << 1 & !runs;
    let ends = ends & all_ends;
    let starts = _pdep_u64(_pext_u64(ends, all_ends), runs & !(runs << 1));
    // A run that reaches the top has no end here and is not counted.
    ends.wrapping_sub(starts)
}
