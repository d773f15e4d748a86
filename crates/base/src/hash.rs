//! A 64-bit hash of names. It must never change: tallies of different versions on different machines are merged.
//!
//! Folds sixteen bytes at a time, multiplying the halves to 128 bits, in the manner of wyhash. Hostile names may
//! collide; every table using it does bounded work per key regardless of hashes.

use hashslot::Padded;

/// Odd constants with as many ones as zeros: fractional digits of pi.
const PI: [u64; 4] = [
    0x243F_6A88_85A3_08D3,
    0x1319_8A2E_0370_7344,
    0xA409_3822_299F_31D0,
    0x082E_FA98_EC4E_6C89,
];

/// The XORs keep a zero factor from collapsing all inputs; the rotation makes fold(a, b) != fold(b, a).
#[inline(always)]
pub fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (a ^ product as u64) ^ (b.rotate_left(32) ^ (product >> 64) as u64)
}

/// The keys of the hash: with random ones, collisions cannot be constructed.
pub struct Keys(pub [u64; 4]);

impl Keys {
    /// The keys of the stable hash.
    pub const FIXED: Keys = Keys(PI);

    /// Absorbs sixteen bytes.
    #[inline(always)]
    fn absorb(&self, state: u64, bytes: u128) -> u64 {
        let Keys([_, low, high, _]) = self;
        fold(bytes as u64 ^ low ^ state, (bytes >> 64) as u64 ^ high)
    }

    #[inline(always)]
    fn finish(&self, len: usize, state: u64) -> u64 {
        fold(state, self.0[0] ^ self.0[3] ^ len as u64)
    }

    /// The hash of `name`: sixteen bytes at a time, zero-padded, then the length.
    pub fn hash(&self, name: &[u8]) -> u64 {
        let mut state = self.0[0];
        let (whole, rest) = name.as_chunks::<16>();
        let (whole, last) = match (whole.split_last(), rest) {
            // A length that is a multiple of sixteen ends with a full block.
            (Some((last, before)), []) => (before, u128::from_le_bytes(*last)),
            _ => {
                let mut padded = [0; 16];
                padded[..rest.len()].copy_from_slice(rest);
                (whole, u128::from_le_bytes(padded))
            }
        };
        for chunk in whole {
            state = self.absorb(state, u128::from_le_bytes(*chunk));
        }
        self.finish(name.len(), self.absorb(state, last))
    }

    /// The hash of `base[start..end]`: same result, without a branch on the length of short names.
    #[inline(always)]
    pub fn hash_span(&self, base: Padded<'_>, start: u32, end: u32) -> u64 {
        let len = end - start;
        let (mut at, mut state) = (start, self.0[0]);
        while end - at > 16 {
            state = self.absorb(state, base.sixteen_at(at));
            at += 16;
        }
        let mask = u128::MAX.checked_shr(128 - 8 * (end - at)).unwrap_or(0);
        self.finish(len as usize, self.absorb(state, base.sixteen_at(at) & mask))
    }
}

/// Mixes `base[start..end]` and a number into `state`: a fast step for cache lookups, not the hash of a name.
#[inline(always)]
pub fn mix_span(mut state: u64, base: Padded<'_>, start: u32, end: u32, and: u64) -> u64 {
    let mut at = start;
    while end - at > 16 {
        state = Keys::FIXED.absorb(state, base.sixteen_at(at));
        at += 16;
    }
    let mask = u128::MAX.checked_shr(128 - 8 * (end - at)).unwrap_or(0);
    let bytes = base.sixteen_at(at) & mask;
    let rest = (u64::from(end - start) << 8 | and).wrapping_mul(PI[3] | 1);
    fold(
        bytes as u64 ^ PI[1] ^ state,
        (bytes >> 64) as u64 ^ PI[2] ^ rest,
    )
}

/// The stable hash of `name`.
pub fn hash(name: &[u8]) -> u64 {
    Keys::FIXED.hash(name)
}

/// The stable hash of `base[start..end]`.
#[inline(always)]
pub fn hash_span(base: Padded<'_>, start: u32, end: u32) -> u64 {
    Keys::FIXED.hash_span(base, start, end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Block;

    #[test]
    fn it_is_fixed_for_good() {
        assert_eq!(hash(b""), 0x41E5_DC0F_126F_9CFE);
        assert_eq!(hash(b"common"), 0x58B5_B450_E2DA_5A58);
        assert_eq!(
            hash(b"a name that is longer than sixteen bytes"),
            0x5A90_F8AD_C993_1558
        );
    }

    #[test]
    fn a_span_has_the_hash_of_its_bytes() {
        let content: Vec<u8> = (0..=255).cycle().take(600).collect();
        let block = Block::from_bytes(&content);
        for len in 0..200 {
            for start in [0, 1, 77, 600 - len] {
                let name = &content[start as usize..(start + len) as usize];
                assert_eq!(
                    hash_span(block.padded(), start, start + len),
                    hash(name),
                    "{len} bytes at {start}"
                );
            }
        }
    }

    #[test]
    fn a_factor_of_zero_loses_nothing() {
        let mut hashes: Vec<u64> = Vec::new();
        for i in 0..1000u64 {
            // Names that zero one factor of the first product, whatever the other is.
            hashes.push(hash(
                &[(PI[0] ^ PI[1]).to_le_bytes(), i.to_le_bytes()].concat(),
            ));
            hashes.push(hash(&[i.to_le_bytes(), PI[2].to_le_bytes()].concat()));
        }
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 2000);
    }

    #[test]
    fn every_byte_of_every_length_counts() {
        for len in 1..80 {
            let name = vec![b'a'; len];
            for at in 0..len {
                let mut other = name.clone();
                other[at] = b'b';
                assert_ne!(hash(&name), hash(&other), "byte {at} of {len}");
            }
        }
    }
}
