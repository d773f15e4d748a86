//! A 64-bit hash of a name, fixed for good: tallies made by different versions on different machines must add up.
//!
//! Two 64-bit words at a time are multiplied to 128 bits and folded, in the manner of wyhash. Hostile names may
//! collide; every table that uses it does bounded work a key whatever the hashes are.

/// Odd constants with as many ones as zeros: the fractional digits of pi.
const PI: [u64; 4] = [0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7344, 0xA409_3822_299F_31D0, 0x082E_FA98_EC4E_6C89];

fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

/// The first eight bytes and the last eight, of eight to sixteen; fewer are spread so that none is lost.
fn ends(bytes: &[u8]) -> (u64, u64) {
    let len = bytes.len();
    match len {
        8.. => (word(&bytes[..8]), word(&bytes[len - 8..])),
        4..=7 => {
            let half = |at: usize| u64::from(u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")));
            (half(0), half(len - 4))
        }
        1..=3 => (u64::from(bytes[0]) << 16 | u64::from(bytes[len / 2]) << 8 | u64::from(bytes[len - 1]), 0),
        0 => (0, 0),
    }
}

/// The hash of `name`.
#[inline]
pub fn hash(name: &[u8]) -> u64 {
    let mut state = PI[0] ^ name.len() as u64;
    let mut rest = name;
    while rest.len() > 16 {
        state = fold(word(&rest[..8]) ^ PI[1] ^ state, word(&rest[8..16]) ^ PI[2]);
        rest = &rest[16..];
    }
    let (first, last) = ends(rest);
    fold(fold(first ^ PI[1] ^ state, last ^ PI[2]), state ^ PI[3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_fixed_for_good() {
        assert_eq!(hash(b""), 0x8DD5_4D0F_3A06_35F9);
        assert_eq!(hash(b"common"), 0x6762_EB63_1E2B_EDE1);
        assert_eq!(hash(b"a name that is longer than sixteen bytes"), 0xDD6C_DDD9_2AD4_7D92);
    }

    #[test]
    fn names_that_differ_little_spread_over_all_low_and_high_bits() {
        let mut low = vec![0u32; 1 << 12];
        let mut high = vec![0u32; 1 << 12];
        for i in 0..1 << 18 {
            let hash = hash(format!("cart:{i}").as_bytes());
            low[hash as usize % (1 << 12)] += 1;
            high[(hash >> 52) as usize] += 1;
        }
        for counts in [low, high] {
            let dispersion: f64 = counts.iter().map(|n| (f64::from(*n) - 64.0).powi(2) / 64.0).sum::<f64>() / 4095.0;
            assert!((0.85..1.15).contains(&dispersion), "{dispersion}");
        }
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
