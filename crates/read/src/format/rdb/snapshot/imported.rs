//! Slots that were being imported when an RDB file was written.

use std::ops::RangeInclusive;

use hashslot::SLOTS;

/// Slots being imported: their keys are in the source node's file too. Empty if there are none.
#[derive(Debug, Clone, Default)]
pub(super) struct Imported(Vec<bool>);

impl Imported {
    /// Adds a range of slots; slots out of range are ignored.
    pub(super) fn add(&mut self, range: RangeInclusive<u64>) {
        self.0.resize(SLOTS, false);
        let end = range.end().saturating_add(1).min(SLOTS as u64) as usize;
        let start = (*range.start()).min(end as u64) as usize;
        self.0[start..end].fill(true);
    }

    /// Whether a key is in one of them.
    #[inline]
    pub(super) fn has(&self, key: &[u8]) -> bool {
        !self.0.is_empty() && self.0[usize::from(hashslot::slot(key))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imported_slots_are_those_of_all_ranges_in_any_order() {
        let ranges = [
            (16_000, u64::MAX),
            (5, 3),
            (100, 200),
            (50, 150),
            (90, 300),
            (0, 0),
            (16_383, 16_383),
        ];
        let mut imported = Imported::default();
        assert!(!imported.has(b"k"));
        ranges
            .iter()
            .for_each(|(first, last)| imported.add(*first..=*last));
        for i in 0..100_000 {
            let key = format!("key:{i}");
            let slot = u64::from(hashslot::slot(key.as_bytes()));
            let is_in = ranges
                .iter()
                .any(|(first, last)| (*first..=*last).contains(&slot));
            assert_eq!(imported.has(key.as_bytes()), is_in, "slot {slot}");
        }
    }
}
