//! 64 bytes in eight machine words, for CPUs without vectors.
//!
//! ```text
//! byte    xx          byte ^ wanted: 00 where equal
//! low     xx & 7F + 7F    top bit set unless the low seven bits are zero; never carries into the next byte
//! zero    !(low | xx | 7F) = 80 where equal, else 00
//! times   the eight 80s, shifted to 01s, are gathered to the top byte by one multiplication
//! ```

use crate::simd::Bytes64;

/// Eight words.
#[derive(Clone, Copy)]
pub struct Portable([u64; 8]);

const ONES: u64 = u64::MAX / 0xFF;
const LOW: u64 = 0x7F * ONES;
/// Moves the lowest bit of byte i to bit 56 + i.
const GATHER: u64 = {
    let (mut gather, mut i) = (0, 0);
    while i < 8 {
        gather |= 1 << (56 - 7 * i);
        i += 1;
    }
    gather
};

impl Bytes64 for Portable {
    // SAFETY: as the trait requires; any CPU will do.
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: as the trait demands.
        Portable(unsafe { from.cast::<[u64; 8]>().read_unaligned() }.map(u64::from_le))
    }

    #[inline(always)]
    fn equal(self, byte: u8) -> u64 {
        self.same_as(Portable([u64::from(byte) * ONES; 8]))
    }

    #[inline(always)]
    fn same_as(self, other: Self) -> u64 {
        let mut mask = 0;
        for (i, (word, wanted)) in self.0.into_iter().zip(other.0).enumerate() {
            let differs = word ^ wanted;
            let zero = !(((differs & LOW) + LOW) | differs | LOW);
            mask |= ((zero >> 7).wrapping_mul(GATHER) >> 56) << (8 * i);
        }
        mask
    }

    #[inline(always)]
    fn within(self, low: u8, high: u8) -> u64 {
        let bytes = self.0.iter().flat_map(|word| word.to_le_bytes());
        bytes.enumerate().fold(0, |mask, (i, byte)| {
            mask | u64::from((low..=high).contains(&byte)) << i
        })
    }
}
