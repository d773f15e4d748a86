//! Every instruction set against a loop over bytes.

use crate::arch;
use crate::simd::*;
use proptest::prelude::*;

fn assert_equal<B: Bytes64>(name: &str, bytes: &[u8; LANES], wanted: u8) {
    let expected = (0..LANES).fold(0, |mask, i| mask | u64::from(bytes[i] == wanted) << i);
    // SAFETY: 64 bytes, and the caller checked the CPU.
    let found = unsafe { B::load(bytes.as_ptr()) }.equal(wanted);
    assert_eq!(found, expected, "{name}: {wanted} in {bytes:?}");
}

fn assert_same<B: Bytes64>(name: &str, bytes: &[u8; LANES], other: &[u8; LANES]) {
    let expected = (0..LANES).fold(0, |mask, i| mask | u64::from(bytes[i] == other[i]) << i);
    // SAFETY: 64 bytes, and the caller checked the CPU.
    let found = unsafe { B::load(bytes.as_ptr()).same_as(B::load(other.as_ptr())) };
    assert_eq!(found, expected, "{name}: {bytes:?} and {other:?}");
}

fn assert_within<B: Bytes64>(name: &str, bytes: &[u8; LANES], low: u8, high: u8) {
    let expected = (0..LANES).fold(0, |mask, i| {
        mask | u64::from((low..=high).contains(&bytes[i])) << i
    });
    // SAFETY: 64 bytes, and the caller checked the CPU.
    let found = unsafe { B::load(bytes.as_ptr()) }.within(low, high);
    assert_eq!(found, expected, "{name}: {low}..={high} in {bytes:?}");
}

fn assert_positions<B: Bytes64>(name: &str, mask: u64, base: u32) {
    let expected: std::vec::Vec<u32> = (0..64)
        .filter(|i| mask >> i & 1 == 1)
        .map(|i| base + i)
        .collect();
    let mut found = [0; 64];
    // SAFETY: there is room for 64, and the caller checked the CPU.
    let count = unsafe { B::load([0; LANES].as_ptr()).positions(mask, base, found.as_mut_ptr()) };
    assert_eq!(&found[..count], expected, "{name}: {mask:#x}");
}

/// Calls `$check` for every instruction set of this CPU.
macro_rules! each {
    ($check:ident($($arg:expr),*)) => {
        $check::<Portable>("portable", $($arg),*);
        #[cfg(target_arch = "aarch64")]
        $check::<arch::aarch64::neon::Neon>("neon", $($arg),*);
        #[cfg(target_arch = "x86_64")]
        {
            $check::<arch::x86_64::sse::Sse>("sse", $($arg),*);
            if std::arch::is_x86_feature_detected!("avx2") {
                $check::<arch::x86_64::avx2::Avx2>("avx2", $($arg),*);
            }
            if std::arch::is_x86_feature_detected!("avx512bw") && std::arch::is_x86_feature_detected!("avx512vbmi2") {
                $check::<arch::x86_64::avx512::Avx512>("avx512", $($arg),*);
            }
        }
    };
}

proptest! {
    #[test]
    fn a_bit_is_set_where_the_byte_is_equal(noise in any::<[u8; 32]>(), wanted: u8, other: u8, kinds: u64) {
        // Carries would show in neighbours and in bytes that differ in one bit.
        let near = [wanted, wanted ^ 0x80, wanted ^ 1, wanted.wrapping_add(1), wanted.wrapping_sub(1), other, 0, 0xFF];
        let bytes = std::array::from_fn(|i| match kinds >> i & 1 {
            0 => near[usize::from(noise[i / 2] >> (4 * (i % 2)) & 7)],
            _ => wanted,
        });
        each!(assert_equal(&bytes, wanted));
        let others = std::array::from_fn(|i| near[usize::from(noise[(i + 7) % 32] & 7)]);
        each!(assert_same(&bytes, &others));
        each!(assert_same(&bytes, &bytes));
        let (low, high) = (wanted.min(other), wanted.max(other));
        each!(assert_within(&bytes, low, high));
    }

    #[test]
    fn the_positions_are_those_of_the_bits(a: u64, b: u64, base in 0u32..1 << 31) {
        for mask in [a, a & b, a & b & b.rotate_left(7) & a.rotate_left(13), a | b, 0, u64::MAX, 1, 1 << 63] {
            each!(assert_positions(mask, base));
        }
    }
}
