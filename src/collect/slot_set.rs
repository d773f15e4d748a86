//! A set of slots.

use crate::slot::SLOTS;

/// A set of slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotSet(Vec<bool>);

impl SlotSet {
    /// No slot.
    pub fn none() -> Self {
        SlotSet(vec![false; SLOTS])
    }

    /// Every slot.
    pub fn all() -> Self {
        SlotSet(vec![true; SLOTS])
    }

    /// The slots for which `is_in` holds.
    pub fn of(is_in: impl Fn(u16) -> bool) -> Self {
        SlotSet((0..SLOTS as u16).map(is_in).collect())
    }

    /// So many percent of all slots: spread evenly, the same ones each time, and those of a smaller share among them.
    pub fn sample(percent: f64) -> Self {
        // An odd factor gives each slot another rank.
        const FACTOR: usize = 10_125; // about the golden part of all slots
        let wanted = (percent.clamp(0.0, 100.0) / 100.0 * SLOTS as f64).ceil() as usize;
        SlotSet::of(|slot| usize::from(slot) * FACTOR % SLOTS < wanted)
    }

    /// Adds a slot.
    pub fn insert(&mut self, slot: u16) {
        self.0[usize::from(slot)] = true;
    }

    /// Takes a slot out.
    pub fn remove(&mut self, slot: u16) {
        self.0[usize::from(slot)] = false;
    }

    /// Adds the slots of another set.
    pub fn add(&mut self, other: &SlotSet) {
        other.iter().for_each(|slot| self.insert(slot));
    }

    /// Whether a slot is in it.
    pub fn contains(&self, slot: u16) -> bool {
        self.0[usize::from(slot)]
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        !self.0.contains(&true)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.iter().filter(|is_in| **is_in).count()
    }

    /// Its slots, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        (0..SLOTS as u16).filter(|slot| self.contains(*slot))
    }

    /// Its slots as first and last.
    pub fn ranges(&self) -> Vec<(u16, u16)> {
        let mut ranges: Vec<(u16, u16)> = Vec::new();
        for slot in self.iter() {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == slot => *last = slot,
                _ => ranges.push((slot, slot)),
            }
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_as_many_slots_as_wanted_and_holds_the_smaller_ones() {
        for (percent, slots) in [(0.0, 0), (1.0, 164), (50.0, 8192), (100.0, 16384)] {
            assert_eq!(SlotSet::sample(percent).len(), slots, "{percent}");
        }
        let (small, large) = (SlotSet::sample(1.0), SlotSet::sample(10.0));
        assert!(small.iter().all(|slot| large.contains(slot)));
        let lower = large.iter().filter(|slot| *slot < 8192).count();
        assert!(lower.abs_diff(large.len() / 2) <= 8, "{lower}");
    }

    #[test]
    fn neighbours_are_one_range() {
        let mut slots = SlotSet::of(|slot| slot < 3 || slot == 16383);
        slots.remove(1);
        assert_eq!(slots.ranges(), [(0, 0), (2, 2), (16383, 16383)]);
        assert_eq!(SlotSet::all().ranges(), [(0, 16383)]);
        assert!(SlotSet::none().is_empty() && !slots.is_empty());
    }
}
