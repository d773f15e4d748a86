//! The hash slots of each name's keys: a short list, or a bitmap if there are many.
//!
//! Memory is bounded: with too many names, or too many of them in many slots, all sets are dropped. This depends only
//! on the names and slots, not on their order or on threads.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use slotscope_base::slot::SLOTS;
use slotscope_base::slot::set::SlotSet;

use crate::tally::table::MAX_NAMES;

/// Maximum slots in a list; beyond this, a bitmap.
const FEW: usize = 32;
/// Maximum number of bitmaps, of 2 KiB each.
const MAX_MANY: usize = 1024;

/// Sets of slots, by the hash of a name.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(into = "SerializedSlotSets", try_from = "SerializedSlotSets")]
pub(crate) struct SlotSets {
    places: HashMap<u64, u32>,
    sets: Vec<Slots>,
    many: usize,
    given_up: bool,
}

/// The serialized form; none if dropped. A set is its slots, or if it has many, a bitmap.
type SerializedSlotSets = Option<BTreeMap<u64, Vec<u64>>>;

/// The slots of a name.
#[derive(Debug, Clone)]
enum Slots {
    Few(Vec<u16>),
    Many(SlotSet),
}

impl SlotSets {
    /// The index of a name's set, for `add`.
    pub(crate) fn place(&mut self, name_hash: u64) -> u32 {
        if self.given_up {
            return 0;
        }
        let place = *self
            .places
            .entry(name_hash)
            .or_insert(self.sets.len() as u32);
        if place as usize == self.sets.len() {
            self.sets.push(Slots::Few(Vec::new()));
            if self.sets.len() > MAX_NAMES {
                self.give_up();
            }
        }
        place
    }

    /// Adds a slot to the set at an index.
    #[inline(always)]
    pub(crate) fn add(&mut self, place: u32, slot: u16) {
        match self.sets.get_mut(place as usize) {
            Some(Slots::Many(slots)) => slots.insert(slot),
            Some(Slots::Few(_)) => self.add_to_few(place, slot),
            None => {}
        }
    }

    /// Whether the set at an index has all slots.
    pub(crate) fn has_all(&self, place: u32) -> bool {
        match self.sets.get(place as usize) {
            Some(Slots::Many(slots)) => slots.is_full(),
            Some(Slots::Few(_)) | None => false,
        }
    }

    #[cold]
    fn add_to_few(&mut self, place: u32, slot: u16) {
        let set = &mut self.sets[place as usize];
        let Slots::Few(slots) = set else { return };
        if slots.contains(&slot) {
            return;
        }
        slots.push(slot);
        if slots.len() > FEW {
            *set = Slots::Many(slots.iter().copied().collect());
            self.many += 1;
            if self.many > MAX_MANY {
                self.give_up();
            }
        }
    }

    fn give_up(&mut self) {
        *self = SlotSets {
            given_up: true,
            ..SlotSets::default()
        };
    }

    /// Merges other sets.
    pub(crate) fn merge(&mut self, other: Self) {
        if other.given_up {
            self.give_up();
        }
        for (hash, place) in &other.places {
            let mine = self.place(*hash);
            other.sets[*place as usize]
                .iter()
                .for_each(|slot| self.add(mine, slot));
        }
    }

    /// The distinct slots of a name; `None` if sets were dropped or the name never occurred.
    pub(crate) fn of(&self, name_hash: u64) -> Option<impl Iterator<Item = u16>> {
        self.places
            .get(&name_hash)
            .map(|place| self.sets[*place as usize].iter())
    }
}

impl Slots {
    /// The set from listed slots or a bitmap.
    fn listed(listed: Vec<u64>) -> Option<Slots> {
        if listed.len() > FEW {
            return SlotSet::from_words(listed).map(Slots::Many);
        }
        let slot = |slot: u64| {
            u16::try_from(slot)
                .ok()
                .filter(|slot| usize::from(*slot) < SLOTS)
        };
        let slots: Option<Vec<u16>> = listed.into_iter().map(slot).collect();
        slots.map(Slots::Few)
    }

    fn iter(&self) -> impl Iterator<Item = u16> {
        let (few, many): (&[u16], _) = match self {
            Slots::Few(slots) => (slots, None),
            Slots::Many(slots) => (&[], Some(slots.iter())),
        };
        few.iter().copied().chain(many.into_iter().flatten())
    }
}

impl From<SlotSets> for SerializedSlotSets {
    fn from(sets: SlotSets) -> Self {
        let slots = |place: &u32| match &sets.sets[*place as usize] {
            Slots::Many(slots) => slots.words().to_vec(),
            Slots::Few(slots) => {
                let mut slots: Vec<u64> = slots.iter().map(|slot| u64::from(*slot)).collect();
                slots.sort_unstable();
                slots
            }
        };
        (!sets.given_up).then(|| {
            sets.places
                .iter()
                .map(|(hash, place)| (*hash, slots(place)))
                .collect()
        })
    }
}

impl TryFrom<SerializedSlotSets> for SlotSets {
    type Error = &'static str;

    fn try_from(listed: SerializedSlotSets) -> Result<Self, &'static str> {
        let mut sets = SlotSets {
            given_up: listed.is_none(),
            ..SlotSets::default()
        };
        for (hash, slots) in listed.into_iter().flatten() {
            let set = Slots::listed(slots).ok_or("an invalid set of slots")?;
            let place = sets.place(hash);
            set.iter().for_each(|slot| sets.add(place, slot));
        }
        Ok(sets)
    }
}

impl PartialEq for SlotSets {
    fn eq(&self, other: &Self) -> bool {
        SerializedSlotSets::from(self.clone()) == SerializedSlotSets::from(other.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn too_many_sets_are_given_up_and_stay_so() {
        let mut sets = SlotSets::default();
        for name in 0..=MAX_MANY as u64 {
            assert!(name == 0 || sets.of(0).is_some());
            let place = sets.place(name);
            (0..=FEW as u16).for_each(|slot| sets.add(place, slot));
        }
        assert!(sets.of(0).is_none());
        let place = sets.place(7);
        sets.add(place, 7);
        assert!(sets.of(7).is_none());
        let mut fresh = SlotSets::default();
        fresh.place(7);
        fresh.merge(sets);
        assert!(fresh.of(7).is_none());
        let mut sets = SlotSets::default();
        (0..=MAX_NAMES as u64).for_each(|name| _ = sets.place(name));
        assert!(sets.of(0).is_none());
    }

    proptest! {
        #[test]
        fn parts_make_the_sets_of_the_whole(added in prop::collection::vec((0u64..3, 0u16..16384), 0..300), cut in 0usize..300) {
            let count = |part: &[(u64, u16)]| {
                let mut sets = SlotSets::default();
                for (name, slot) in part {
                    let place = sets.place(*name);
                    sets.add(place, *slot);
                }
                sets
            };
            let (left, right) = added.split_at(cut.min(added.len()));
            let mut merged = count(left);
            merged.merge(count(right));
            let whole = count(&added);
            prop_assert_eq!(&merged, &whole);
            prop_assert_eq!(&SlotSets::try_from(SerializedSlotSets::from(whole.clone())).unwrap(), &whole);
            for name in 0..3 {
                let mut truth: Vec<u16> = added.iter().filter(|(of, _)| *of == name).map(|(_, slot)| *slot).collect();
                truth.sort_unstable();
                truth.dedup();
                let mut found: Vec<u16> = whole.of(name).into_iter().flatten().collect();
                found.sort_unstable();
                prop_assert_eq!(found, truth);
            }
        }
    }
}
