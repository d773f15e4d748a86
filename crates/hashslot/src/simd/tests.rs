//! Every instruction set against a loop over the bytes.

use crate::arch;
use crate::simd::*;
use proptest::prelude::*;

fn assert_equal<B: Bytes64>(name: &str, bytes: &[u8; LANES], wanted: u8) {
    let expected = (0..LANES).fold(0, |mask, i| mask | u64::from(bytes[i] == wanted) << i);
    // SAFETY: 64 bytes, and the caller checked the CPU.
    let found = unsafe { B::load(bytes.as_ptr()) }.equal(wanted);
    assert_eq!(found, expected, "{name}: {wanted} in {bytes:?}");
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

/// The bits and the hash of `bytes` where `mask` has ones, and the hash of the same bytes at the low end.
#[cfg(target_arch = "x86_64")]
fn assert_selects<C: Compress>(name: &str, bytes: &[u8; LANES], from: u64, mask: u64) {
    let kept: std::vec::Vec<usize> = (0..LANES).filter(|i| mask >> i & 1 == 1).collect();
    let mut moved = [0x5A; LANES];
    let (mut extracted, mut deposited) = (0, 0);
    for (to, at) in kept.iter().enumerate() {
        moved[to] = bytes[*at];
        extracted |= (from >> at & 1) << to;
        deposited |= (from >> to & 1) << at;
    }
    let low = u64::MAX.checked_shr(64 - kept.len() as u32).unwrap_or(0);
    // SAFETY: 64 bytes each, and the caller checked the CPU.
    let (there, moved) = unsafe { (C::load(bytes.as_ptr()), C::load(moved.as_ptr())) };
    assert_eq!(there.extract(from, mask), extracted, "{name}: {mask:#x}");
    assert_eq!(there.deposit(from, mask), deposited, "{name}: {mask:#x}");
    let hash = there.hash_masked(mask);
    assert_eq!(hash, moved.hash_masked(low), "{name}: {mask:#x}");
    if let Some(at) = kept.get(from as usize % kept.len().max(1)) {
        let mut other = *bytes;
        other[*at] ^= 1 << (from >> 8 & 7);
        // SAFETY: as above.
        let other = unsafe { C::load(other.as_ptr()) };
        assert_ne!(hash, other.hash_masked(mask), "{name}: {mask:#x}");
    }
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
        // Neighbours and bytes that differ in one bit are where carries would show.
        let near = [wanted, wanted ^ 0x80, wanted ^ 1, wanted.wrapping_add(1), wanted.wrapping_sub(1), other, 0, 0xFF];
        let bytes = std::array::from_fn(|i| match kinds >> i & 1 {
            0 => near[usize::from(noise[i / 2] >> (4 * (i % 2)) & 7)],
            _ => wanted,
        });
        each!(assert_equal(&bytes, wanted));
        let (low, high) = (wanted.min(other), wanted.max(other));
        each!(assert_within(&bytes, low, high));
    }

    #[test]
    fn the_positions_are_those_of_the_bits(a: u64, b: u64, base in 0u32..1 << 31) {
        for mask in [a, a & b, a & b & b.rotate_left(7) & a.rotate_left(13), a | b, 0, u64::MAX, 1, 1 << 63] {
            each!(assert_positions(mask, base));
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn bits_are_selected_and_the_hash_is_that_of_the_selected_bytes(
        bytes in prop::collection::vec(any::<u8>(), LANES), from: u64, a: u64, b: u64,
    ) {
        let bytes: &[u8; LANES] = bytes.as_slice().try_into().unwrap();
        for mask in [a, a & b, a | b, 0, u64::MAX, 1, 1 << 63, u64::MAX >> 1, a >> 31, a << 33] {
            if (arch::x86_64::avx2::KERNEL.supported)() {
                assert_selects::<arch::x86_64::avx2::Avx2>("avx2", bytes, from, mask);
            }
            if (arch::x86_64::avx512::KERNEL.supported)() {
                assert_selects::<arch::x86_64::avx512::Avx512>("avx512", bytes, from, mask);
            }
        }
    }
}
