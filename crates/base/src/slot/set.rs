//! A set of slots.

use crate::slot::SLOTS;

const WORDS: usize = SLOTS / 64;

/// A set of slots, one bit each: a cluster of thousands of nodes needs several sets per node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotSet(Box<[u64; WORDS]>);

impl Default for SlotSet {
    fn default() -> Self {
        SlotSet::none()
    }
}

impl FromIterator<u16> for SlotSet {
    fn from_iter<I: IntoIterator<Item = u16>>(slots: I) -> Self {
        let mut set = SlotSet::none();
        slots.into_iter().for_each(|slot| set.insert(slot));
        set
    }
}

impl SlotSet {
    /// No slot.
    pub fn none() -> Self {
        SlotSet(Box::new([0; WORDS]))
    }

    /// Every slot.
    pub fn all() -> Self {
        SlotSet(Box::new([u64::MAX; WORDS]))
    }

    /// The slots for which `is_in` holds.
    pub fn of(is_in: impl Fn(u16) -> bool) -> Self {
        (0..SLOTS as u16).filter(|slot| is_in(*slot)).collect()
    }

    /// This percentage of all slots: evenly spread, deterministic, and a superset of every smaller sample.
    pub fn sample(percent: f64) -> Self {
        // An odd factor gives each slot a distinct rank.
        const FACTOR: usize = 10_125; // about the golden section of all slots
        let wanted = (percent.clamp(0.0, 100.0) / 100.0 * SLOTS as f64).ceil() as usize;
        SlotSet::of(|slot| usize::from(slot) * FACTOR % SLOTS < wanted)
    }

    /// The set whose slots are the bits of these words, lowest first; `None` if the number of words is wrong.
    pub fn from_words(words: Vec<u64>) -> Option<Self> {
        let words: [u64; WORDS] = words.try_into().ok()?;
        Some(SlotSet(Box::new(words)))
    }

    /// Its slots as bits, the lowest first.
    pub fn words(&self) -> &[u64] {
        &*self.0
    }

    /// Adds a slot.
    #[inline]
    pub fn insert(&mut self, slot: u16) {
        self.0[usize::from(slot / 64)] |= 1 << (slot % 64);
    }

    /// Takes a slot out.
    pub fn remove(&mut self, slot: u16) {
        self.0[usize::from(slot / 64)] &= !(1 << (slot % 64));
    }

    /// Adds the slots of another set.
    pub fn add(&mut self, other: &SlotSet) {
        let words = self.0.iter_mut().zip(&*other.0);
        words.for_each(|(word, other)| *word |= other);
    }

    /// The slots that are in both.
    pub fn and(&self, other: &SlotSet) -> SlotSet {
        SlotSet(Box::new(std::array::from_fn(|at| self.0[at] & other.0[at])))
    }

    /// Whether a slot is in it.
    pub fn contains(&self, slot: u16) -> bool {
        self.0[usize::from(slot / 64)] >> (slot % 64) & 1 == 1
    }

    /// Whether every slot is in it.
    pub fn is_full(&self) -> bool {
        self.0.iter().all(|word| *word == u64::MAX)
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Its slots, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u16> + use<'_> {
        let words = self.0.iter().enumerate().filter(|(_, word)| **word != 0);
        words.flat_map(|(at, word)| {
            let bits = (0..64).filter(move |bit| word >> bit & 1 == 1);
            bits.map(move |bit| (64 * at + bit) as u16)
        })
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

    #[test]
    fn sets_are_joined_and_cut_slot_by_slot() {
        let (mut twos, threes) = (
            SlotSet::of(|slot| slot % 2 == 0),
            SlotSet::of(|slot| slot % 3 == 0),
        );
        let both = twos.and(&threes);
        assert_eq!(both, SlotSet::of(|slot| slot % 6 == 0));
        assert_eq!(both.iter().take(3).collect::<Vec<_>>(), [0, 6, 12]);
        assert!(both.iter().all(|slot| both.contains(slot)));
        assert_eq!(both.iter().count(), both.len());
        twos.add(&threes);
        assert_eq!(twos, SlotSet::of(|slot| slot % 2 == 0 || slot % 3 == 0));
    }
}
