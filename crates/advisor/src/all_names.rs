//! Applies schemes to all names of an input, of which the model saw a sample.
//!
//! Every name is counted once as it is, for all schemes; each scheme then moves the load of the names it changes. Of
//! very many names only a part is renamed and extrapolated: those whose hash ends in zeros, and all heavy ones
//! (sampling with probability proportional to size). This keeps a node's load within about 0.2%, independent of the
//! order of the names and of the threads.

use slotscope_engine::hash::hash;
use slotscope_engine::metric::Metric;
use slotscope_engine::slot::{SLOTS, SlotBatch};
use slotscope_engine::tally::Tally;

use crate::carried_out::{Scored, hashed};
use crate::changing::Changing;
use crate::model::Model;
use crate::names::weights;
use crate::owners::Owners;
use crate::seeded::SeededMap;
use crate::spelling::Renaming;

/// Up to this many names, all are renamed.
const ALL: u64 = 1 << 23;
/// Beyond that, at most this many names per node are renamed, plus the heavy ones.
const MOST_OF_NODE: u64 = 1 << 18;
/// Names heavier than this many times the mean load are always renamed; they are at most one name in this many.
const HEAVY: u64 = 16;

/// Counts of all names under each scheme.
pub struct CarriedOut<'a> {
    changing: Changing<'a>,
    metric: Metric,
    part: Part,
    /// Load of all names by slot, unchanged.
    unchanged: Vec<u64>,
    /// Load of the renamed names by slot, and by tag for tags that are heavy in the sample.
    common: Vec<u64>,
    tags: SeededMap<u64, u64>,
    /// The changes that each scheme makes to `common`.
    moved: Vec<Moved>,
    /// Number of changed names by family.
    of_family: Vec<u64>,
}

/// The changes of a scheme.
#[derive(Default)]
struct Moved {
    slots: Vec<i64>,
    tags: SeededMap<u64, i64>,
    renamed: u64,
}

/// The part of the names that is renamed.
#[derive(Debug, Clone, Copy)]
struct Part {
    /// A power of two: one name in this many.
    one_of: u64,
    /// Names at least this heavy are always renamed.
    heavy: u64,
}

impl Part {
    /// The part that renames about `most` names at most.
    fn of(keys: u64, load: u64, most: u64) -> Part {
        let mean = load / keys.max(1);
        Part {
            one_of: keys.div_ceil(most.max(1)).max(1).next_power_of_two(),
            heavy: mean.saturating_add(1).saturating_mul(HEAVY),
        }
    }

    /// How many names this one stands for; `None` if it is not renamed.
    fn times(self, hash: impl FnOnce() -> u64, load: u64) -> Option<u64> {
        if self.one_of == 1 || load >= self.heavy {
            return Some(1);
        }
        // The model's sample has the names with the smallest hashes: using other bits makes this sample independent of
        // it.
        (hash() & (self.one_of - 1) == 0).then_some(self.one_of)
    }
}

impl<'a> CarriedOut<'a> {
    /// Empty counts.
    pub fn new(model: &'a Model<'_>, schemes: &[Scored], renamings: &'a [Renaming]) -> Self {
        let most = if model.names.keys <= ALL {
            ALL
        } else {
            ALL.min(MOST_OF_NODE * model.owners.nodes as u64)
        };
        CarriedOut::of_at_most(most, model, schemes, renamings)
    }

    /// The same, renaming at most this many names.
    pub fn of_at_most(
        most: u64,
        model: &'a Model<'_>,
        schemes: &[Scored],
        renamings: &'a [Renaming],
    ) -> Self {
        let heavy = |scheme: &Scored| {
            scheme
                .names
                .heaviest
                .keys()
                .map(|tag| (*tag, 0))
                .collect::<Vec<_>>()
        };
        let moved = schemes.iter().map(|scheme| Moved {
            slots: vec![0; SLOTS],
            tags: heavy(scheme).into_iter().collect(),
            renamed: 0,
        });
        CarriedOut {
            changing: Changing::new(&model.families, renamings),
            metric: model.names.metric(),
            part: Part::of(model.names.keys, model.names.load, most),
            unchanged: vec![0; SLOTS],
            common: vec![0; SLOTS],
            tags: schemes
                .iter()
                .flat_map(heavy)
                .map(|(tag, _)| (tag, 0))
                .collect(),
            moved: moved.collect(),
            of_family: vec![0; model.families.list.len()],
        }
    }

    /// The sampling factor: each renamed name stands for this many. Heavy ones are all renamed.
    pub fn one_of(&self) -> u64 {
        self.part.one_of
    }

    /// Adds `times` names like this one.
    fn add_names(&mut self, times: u64, name: &[u8], load: u64, slot: u16, tag: u64) {
        let load = load.saturating_mul(times);
        self.common[usize::from(slot)] += load;
        if let Some(of_tag) = self.tags.get_mut(&tag) {
            *of_tag += load;
        }
        let load = load as i64;
        let of_schemes = &mut self.moved;
        let family = self.changing.each_new_name(name, |schemes, new| {
            let part = hashed(new);
            let (new_slot, new_tag) = (hashslot::slot_of_part(part), hash(part));
            let is_renamed = new != name;
            for at in schemes {
                let moved = &mut of_schemes[*at];
                moved.slots[usize::from(slot)] -= load;
                moved.slots[usize::from(new_slot)] += load;
                moved.renamed += times * u64::from(is_renamed);
                for (tag, load) in [(tag, -load), (new_tag, load)] {
                    if let Some(of_tag) = moved.tags.get_mut(&tag) {
                        *of_tag += load;
                    }
                }
            }
        });
        if let Some(family) = family {
            self.of_family[family] += times;
        }
    }

    /// Replaces the estimates from the sample by the counts. Returns the number of changed names by family.
    pub fn finish(self, schemes: &mut [Scored], owners: &Owners) -> Vec<u64> {
        for (scored, moved) in schemes.iter_mut().zip(self.moved) {
            let before = if moved.renamed == 0 {
                &self.unchanged
            } else {
                &self.common
            };
            let slots = before.iter().zip(&moved.slots);
            scored.names.slots = slots
                .map(|(load, moved)| load.saturating_add_signed(*moved))
                .collect();
            scored.names.renamed = moved.renamed;
            for (tag, load) in &mut scored.names.heaviest {
                let common = self.tags.get(tag).copied().unwrap_or(0);
                *load = common.saturating_add_signed(moved.tags.get(tag).copied().unwrap_or(0));
            }
            scored.weigh(owners);
        }
        self.of_family
    }
}

impl Tally for CarriedOut<'_> {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let weight = weights(keys, self.metric);
        let (names, base) = (keys.batch.keys, keys.batch.base);
        for i in 0..keys.len() {
            let (load, slot) = (weight(i), keys.slots[i]);
            self.unchanged[usize::from(slot)] += load;
            let hash = || names.hash(base, i);
            if let Some(times) = self.part.times(hash, load) {
                let tag = keys.hashed.hash(base, i);
                self.add_names(times, names.get(base, i), load, slot, tag);
            }
        }
    }

    fn merge(&mut self, other: Self) {
        add(&mut self.unchanged, &other.unchanged);
        add(&mut self.common, &other.common);
        add(&mut self.of_family, &other.of_family);
        other
            .tags
            .iter()
            .for_each(|(tag, load)| *self.tags.entry(*tag).or_default() += load);
        for (moved, theirs) in self.moved.iter_mut().zip(&other.moved) {
            add(&mut moved.slots, &theirs.slots);
            theirs
                .tags
                .iter()
                .for_each(|(tag, load)| *moved.tags.entry(*tag).or_default() += load);
            moved.renamed += theirs.renamed;
        }
    }

    fn reads_attributes(&self) -> bool {
        false
    }
}

fn add<T: Copy + std::ops::AddAssign>(to: &mut [T], from: &[T]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += *from);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_in_several_stands_for_the_others_and_heavy_ones_for_themselves() {
        let part = Part::of(100_000, 1_000_000, 30_000);
        assert_eq!((part.one_of, part.heavy), (4, 176));
        let times = |load: u64| {
            let of =
                (0..10_000).map(move |i| part.times(|| hash(format!("user:{i}").as_bytes()), load));
            of.flatten().sum::<u64>()
        };
        assert_eq!(times(176), 10_000);
        assert!((9_400..10_600).contains(&times(175)), "{}", times(175));
        let all = Part::of(30_000, 1, 30_000);
        assert_eq!(all.times(|| hash(b"user:1"), 0), Some(1));
    }
}
