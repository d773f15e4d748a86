//! Counts a batch by the index of each key's pattern, in columns: whatever changes with every key stays in the L1
//! cache.

use slotscope_base::batch::MISSING;
use slotscope_base::metric::{Load, Metric, WEIGHTS};
use slotscope_base::slot::SLOTS;

use crate::tally::slot_sets::SlotSets;

/// No set of slots is kept: the pattern already has all of them, or is not known yet.
const NO_SET: u32 = u32::MAX;
/// Counters per index, used in turn: a load would wait for a store to the same counter.
const TURNS: usize = 2;
/// Keys between two checks whether a set is full.
const LOOK_AGAIN: u64 = SLOTS as u64;

/// A pattern's set of slots, and the slot of its last key: a pattern may have a single tag, hence a single slot.
#[derive(Debug, Clone, Copy)]
struct Noted {
    set: u32,
    last: u16,
}

impl Noted {
    fn in_set(set: u32) -> Self {
        Noted {
            set,
            last: u16::MAX,
        }
    }

    #[inline(always)]
    fn note(&mut self, slot: u16, sets_of_slots: &mut SlotSets) {
        if self.set != NO_SET && self.last != slot {
            self.last = slot;
            sets_of_slots.add(self.set, slot);
        }
    }
}

/// Loads by index.
#[derive(Debug, Clone, Default)]
pub(super) struct ByPlace {
    /// Keys or operations.
    rows: Vec<[u32; TURNS]>,
    noted: Vec<Noted>,
    /// Empty for a metric without any value.
    weights: [Vec<u64>; WEIGHTS],
    /// Rows since the last check whether a set is full.
    unlooked: Vec<u64>,
    used: Vec<u32>,
    are_operations: bool,
}

impl ByPlace {
    /// Resizes to `places` empty entries, for counting keys or operations.
    pub(super) fn begin(&mut self, places: usize, are_operations: bool) {
        self.rows.resize(places, [0; TURNS]);
        self.noted.resize(places, Noted::in_set(NO_SET));
        self.unlooked.resize(places, 0);
        self.are_operations = are_operations;
    }

    /// Assigns an empty entry to another pattern.
    pub(super) fn replace(&mut self, place: usize, set: u32) {
        self.noted[place] = Noted::in_set(set);
        self.unlooked[place] = 0;
    }

    /// Counts rows, each by index and slot.
    pub(super) fn add(&mut self, places: &[u32], slots: &[u16], sets_of_slots: &mut SlotSets) {
        let ByPlace {
            rows, noted, used, ..
        } = self;
        for (i, (place, slot)) in places.iter().zip(slots).enumerate() {
            let count = &mut rows[*place as usize][i % TURNS];
            if *count == 0 {
                used.push(*place);
            }
            *count += 1;
            noted[*place as usize].note(*slot, sets_of_slots);
        }
    }

    /// Adds the weight of each row to its entry.
    pub(super) fn add_weights(&mut self, metric: usize, places: &[u32], weights: &[u64]) {
        let sums = &mut self.weights[metric];
        sums.resize(self.rows.len(), 0);
        for (place, weight) in places.iter().zip(weights) {
            let sum = &mut sums[*place as usize];
            *sum = sum.saturating_add(if *weight == MISSING { 0 } else { *weight });
        }
    }

    /// The entries used since the last call, possibly with repetitions.
    pub(super) fn take_used(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.used)
    }

    /// Takes the load of an entry.
    pub(super) fn take(&mut self, place: usize, slots: &SlotSets) -> Load {
        let counts = std::mem::take(&mut self.rows[place]);
        let rows = counts.iter().map(|count| u64::from(*count)).sum();
        let mut load = Load::default();
        if !self.are_operations {
            load[Metric::Keys] = rows;
        }
        for (metric, sums) in Metric::WEIGHTS.into_iter().zip(&mut self.weights) {
            load[metric] = sums.get_mut(place).map_or(0, std::mem::take);
        }
        let set = &mut self.noted[place].set;
        let unlooked = &mut self.unlooked[place];
        *unlooked = unlooked.saturating_add(rows);
        if *set != NO_SET && *unlooked >= LOOK_AGAIN {
            *unlooked = 0;
            if slots.has_all(*set) {
                *set = NO_SET;
            }
        }
        load
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn slots_are_noted_until_there_are_all_of_them() {
        let (mut counts, mut seen) = (ByPlace::default(), SlotSets::default());
        counts.begin(3, false);
        counts.replace(1, seen.place(5));
        let even: Vec<u16> = (0..SLOTS as u16).step_by(2).collect();
        let odd: Vec<u16> = even.iter().map(|slot| slot + 1).collect();
        let mut total = 0;
        for slots in [&even, &even, &even, &odd, &odd] {
            counts.add(&vec![1; slots.len()], slots, &mut seen);
            let mut used = counts.take_used();
            used.dedup();
            assert!(used.iter().all(|place| *place == 1) && !used.is_empty());
            total += counts.take(1, &seen)[Metric::Keys];
        }
        let noted = seen.of(5).map(Iterator::count);
        assert_eq!((noted, total), (Some(SLOTS), 5 * SLOTS as u64 / 2));
        // Enough keys to trigger another check, then one that need not be recorded.
        counts.add(&vec![1; SLOTS], &vec![0; SLOTS], &mut seen);
        counts.take(1, &seen);
        counts.add(&[1], &[0], &mut seen);
        assert_eq!(counts.take(1, &seen)[Metric::Keys], 1);
        assert_eq!(counts.noted[1].set, NO_SET);
        // A pattern that takes over the entry has slots of its own.
        counts.replace(1, seen.place(6));
        counts.add(&[1, 1], &[7, 7], &mut seen);
        assert_eq!(counts.take(1, &seen)[Metric::Keys], 2);
        assert_eq!(seen.of(6).map(Iterator::count), Some(1));
    }

    #[test]
    fn weights_are_added_to_keys_and_to_operations() {
        let (mut counts, mut seen) = (ByPlace::default(), SlotSets::default());
        let bytes = Metric::Bytes.weight().unwrap();
        for (are_operations, keys) in [(false, 3), (true, 0), (false, 3)] {
            counts.begin(2, are_operations);
            counts.add(&[1, 0, 1, 1], &[0; 4], &mut seen);
            counts.add_weights(bytes, &[1, 0, 1, 1], &[7, 9, MISSING, 5]);
            let load = counts.take(1, &seen);
            assert_eq!((load[Metric::Keys], load[Metric::Bytes]), (keys, 12));
            assert_eq!(counts.take(1, &seen), Load::default());
            assert_eq!(counts.take(0, &seen)[Metric::Bytes], 9);
        }
    }
}
