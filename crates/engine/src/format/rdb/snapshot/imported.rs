//! Slots that were being imported when an RDB file was written.

use std::ops::RangeInclusive;

use hashslot::SLOTS;

/// Slots being imported: their keys are in the source node's file too.
///
/// Union-find: each slot points at or after itself, towards the next slot that is not imported; such a slot points to
/// itself. Each slot is thus added once, however many ranges contain it.
#[derive(Debug, Clone, Default)]
pub(super) struct Imported(Vec<u16>);

impl Imported {
    /// Adds a range of slots; slots out of range are ignored.
    pub(super) fn add(&mut self, range: RangeInclusive<u64>) {
        if self.0.is_empty() {
            self.0 = (0..=SLOTS as u16).collect();
        }
        let end = (*range.end()).saturating_add(1).min(SLOTS as u64) as u16;
        let mut slot = self.next_other((*range.start()).min(SLOTS as u64) as u16);
        while slot < end {
            self.0[usize::from(slot)] = slot + 1;
            slot = self.next_other(slot + 1);
        }
    }

    /// The first slot from `slot` on that is not imported, with path halving.
    fn next_other(&mut self, mut slot: u16) -> u16 {
        let next = &mut self.0;
        while next[usize::from(slot)] != slot {
            let behind = next[usize::from(slot)];
            next[usize::from(slot)] = next[usize::from(behind)];
            slot = behind;
        }
        slot
    }

    /// Whether a key is in one of them.
    #[inline]
    pub(super) fn has(&self, key: &[u8]) -> bool {
        let is_in = |slot: u16| self.0[usize::from(slot)] != slot;
        !self.0.is_empty() && is_in(hashslot::slot(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::growth::cpu_time_of;
    use std::time::Duration;

    #[test]
    fn a_range_that_adds_nothing_takes_no_longer_the_wider_it_is() {
        let ranges = |last: u64| {
            cpu_time_of(|| {
                let mut imported = Imported::default();
                (0..1_000_000).for_each(|_| imported.add(0..=last));
                assert!(imported.has(b"{06S}"), "slot 0");
            })
        };
        let (narrow, wide) = (ranges(0), ranges(u64::MAX));
        assert!(
            wide < 4 * narrow + Duration::from_millis(20),
            "{narrow:?}, {wide:?}"
        );
    }

    #[test]
    fn imported_slots_are_those_of_all_ranges_in_any_order() {
        let ranges = [
            (16_000, 20_000),
            (5, 3),
            (100, 200),
            (50, 150),
            (90, 300),
            (0, 0),
            (16_383, 16_383),
        ];
        let mut imported = Imported::default();
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

    #[test]
    fn imported_slots_are_ranges() {
        let mut imported = Imported::default();
        assert!(!imported.has(b"k"));
        imported.add(7600..=u64::MAX);
        assert!(imported.has(b"k") && imported.has(b"{foo}1"));
        assert!(!imported.has(b"{name}") && hashslot::slot(b"{name}") < 7600);
    }
}
