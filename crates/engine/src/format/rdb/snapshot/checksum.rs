//! The checksum at the end of an RDB file: CRC-64 with the Jones polynomial.

use crc_fast::{CrcAlgorithm, Digest};

use crate::source::forward::Checksum;

/// A running checksum.
pub(super) struct Crc64(Digest);

impl Crc64 {
    pub(super) fn new() -> Self {
        Crc64(Digest::new(CrcAlgorithm::Crc64Redis))
    }
}

impl Checksum for Crc64 {
    fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn value(&self) -> u64 {
        self.0.finalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_checksum_that_servers_write_however_it_is_cut() {
        let bytes: Vec<u8> = (0..100_000u32)
            .map(|i| (i.wrapping_mul(i) >> 3) as u8)
            .collect();
        // Bit by bit, following the definition.
        let defined = bytes.iter().fold(0u64, |crc, byte| {
            (0..8).fold(crc ^ u64::from(*byte), |crc, _| {
                (crc >> 1) ^ ((crc & 1) * 0xad93d23594c935a9u64.reverse_bits())
            })
        });
        let sum = |step: usize| {
            let mut sum = Crc64::new();
            bytes.chunks(step).for_each(|part| sum.add(part));
            sum.value()
        };
        for step in [1, 7, 4096, bytes.len()] {
            assert_eq!(sum(step), defined);
        }
        let mut known = Crc64::new();
        known.add(b"123456789");
        assert_eq!(known.value(), 0xe9c6d914c4b8d9ca);
    }
}
