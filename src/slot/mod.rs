//! Stage 3, SLOTS: a batch of keys comes in, the hash slot of each goes out, computed by one of the
//! kernels in `kernel/`. What part of a key is hashed is decided in `hashtag`.

pub mod hashtag;
pub mod ids;
pub mod kernel;
pub mod shapes;

use crate::format::batch::{KeyBatch, Spans};
use kernel::Kernel;

/// Hash slots of a cluster.
pub const SLOTS: usize = 16384;

/// The hash slot of one key, as CLUSTER KEYSLOT of a server gives it.
///
/// ```
/// assert_eq!(slotscope::slot::slot(b"user::10086"), 14982);
/// assert_eq!(slotscope::slot::slot(b"{user}::10086"), slotscope::slot::slot(b"user"));
/// ```
pub fn slot(key: &[u8]) -> u16 {
    kernel::table::crc16(&key[hashtag::hashed_part(key)]) & (SLOTS as u16 - 1)
}

/// A batch of keys with the hashed part and the slot of each.
#[derive(Clone, Copy)]
pub struct SlotBatch<'a> {
    /// The keys.
    pub batch: KeyBatch<'a>,
    /// The hashed part of each key: its hash tag, or all of it.
    pub hashed: &'a Spans,
    /// The slot of each key, below `SLOTS`.
    pub slots: &'a [u16],
    /// The input that they are from, counted from 0.
    pub input: u32,
    /// What computed them.
    pub kernel: &'static Kernel,
}

impl SlotBatch<'_> {
    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// True where there are none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether key `i` has a hash tag: then its hashed part starts behind a brace, never at the key's start.
    pub fn is_tagged(&self, i: usize) -> bool {
        self.hashed.start[i] != self.batch.keys.start[i]
    }
}

/// The columns a worker keeps for this stage, reused from batch to batch.
#[derive(Default)]
pub struct SlotColumns {
    hashed: Spans,
    slots: Vec<u16>,
}

impl SlotColumns {
    /// Computes the hashed parts and the slots of `batch`, which is from input `input`.
    pub fn compute<'a>(&'a mut self, kernel: &'static Kernel, batch: KeyBatch<'a>, input: u32) -> SlotBatch<'a> {
        kernel.narrow(batch.base, batch.keys, &mut self.hashed);
        kernel.slots(batch.base, &self.hashed, &mut self.slots);
        SlotBatch { batch, hashed: &self.hashed, slots: &self.slots, input, kernel }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slots that a real server gave.
    const SERVER: &[(&[u8], u16)] = &[
        (b"", 0),
        (b"123456789", 12739),
        (b"foo", 12182),
        (b"user::10086", 14982),
        (b"user::10087", 10919),
        (b"{user}::10086", 5474),
        (b"{user}::{10086}", 5474),
        (b"name", 5798),
        (b"{name}3", 5798),
        (b"{user1000}.following", 3443),
        (b"foo{bar}{zap}", 5061),
        (b"foo{{bar}}zap", 4015),
        (b"foo{}{bar}", 8363),
        (b"{}user::10086", 3788),
        (b"user{}::10086", 6488),
        (b"foo{bar", 15278),
        (b"A}B{C", 7939),
        (b"\x81{A\x81}", 16212),
    ];

    #[test]
    fn slots_are_those_of_a_real_server() {
        for (key, expected) in SERVER {
            assert_eq!(slot(key), *expected, "{:?}", String::from_utf8_lossy(key));
        }
    }
}
