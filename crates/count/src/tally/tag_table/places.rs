//! Locations of keys: blocks of all inputs, numbered consecutively.

use slotscope_base::slot::SlotBatch;

/// Bits of a location.
pub(super) const PLACE_BITS: u32 = 18;
/// Block size as a power of two: at least a page, at most one read.
const LEAST_BITS: u32 = 12;
const MOST_BITS: u32 = 22;

/// The blocks, fewer than 2^18: those of a thousand tags are one in 250 of a large input.
pub(super) struct Places {
    /// Block size as a power of two.
    bits: u32,
    /// The first block of each input, and the end.
    first: Vec<u32>,
}

impl Places {
    /// The blocks of inputs of these sizes; an input of unknown size has only its start.
    pub(super) fn of(sizes: &[Option<u64>]) -> Self {
        let most = 1 << PLACE_BITS;
        let blocks = |bits: u32| {
            sizes
                .iter()
                .map(move |size| (size.unwrap_or(0) >> bits) + 1)
        };
        let fits = |bits: &u32| blocks(*bits).fold(0, u64::saturating_add) < most;
        // Keys beyond the last block share it; their names are found if all inputs are reread.
        let mut widths = LEAST_BITS..=MOST_BITS;
        let bits = widths.find(fits).unwrap_or(MOST_BITS);
        let mut first = vec![0];
        first.extend(blocks(bits).scan(0u64, |sum, blocks| {
            *sum = sum.saturating_add(blocks).min(most - 1);
            Some(*sum as u32)
        }));
        Places { bits, first }
    }

    /// Block size in bytes.
    pub(super) fn block_bytes(&self) -> usize {
        1 << self.bits
    }

    /// The location of each key in a batch, by its start.
    #[inline(always)]
    pub(super) fn of_batch(&self, keys: &SlotBatch<'_>) -> impl Fn(usize) -> u32 {
        let (first, last) = match self.first.get(keys.input as usize..) {
            Some([first, next, ..]) => (*first, (*next).saturating_sub(1).max(*first)),
            _ => (0, 0),
        };
        let (offset, bits) = (keys.offset, self.bits);
        let starts = &keys.batch.keys.start;
        move |key| {
            let block = (offset + u64::from(starts[key])) >> bits;
            (u64::from(first) + block).min(u64::from(last)) as u32
        }
    }

    /// The input of a location, and the block number in it.
    pub(super) fn block(&self, place: u32) -> (usize, u64) {
        // The last entry is the end of all inputs.
        let inputs = &self.first[..self.first.len() - 1];
        let after = inputs.partition_point(|first| *first <= place);
        let input = after.saturating_sub(1);
        (input, u64::from(place - self.first[input]))
    }
}
