//! Schemes carried out on all names of an input, of which the model saw a sample.
//!
//! Every name is counted as it is, once for all schemes; a scheme then moves the load of the names that it changes.

use slotscope_engine::hash::hash;
use slotscope_engine::metric::Metric;
use slotscope_engine::slot::{SLOTS, SlotBatch};
use slotscope_engine::tally::Tally;

use crate::advise::carried_out::{Scored, hashed};
use crate::advise::changing::Changing;
use crate::advise::model::Model;
use crate::advise::names::weights;
use crate::advise::seeded::SeededMap;
use crate::advise::spelling::Renaming;

/// The counts of all names, as schemes change them.
pub struct CarriedOut<'a> {
    changing: Changing<'a>,
    by: Metric,
    /// Load by slot, and of tags that are heavy in the sample.
    common: Vec<u64>,
    tags: SeededMap<u64, u64>,
    /// What each scheme adds to that.
    moved: Vec<Moved>,
    /// Names by family, of those that schemes change.
    of_family: Vec<u64>,
}

/// What a scheme changes.
#[derive(Default)]
struct Moved {
    slots: Vec<i64>,
    tags: SeededMap<u64, i64>,
    renamed: u64,
}

impl<'a> CarriedOut<'a> {
    /// Nothing counted yet.
    pub fn new(model: &'a Model<'_>, schemes: &[Scored], renamings: &'a [Renaming]) -> Self {
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
            by: model.names.metric(),
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

    fn add_name(&mut self, name: &[u8], load: u64, slot: u16, tag: u64) {
        self.common[usize::from(slot)] += load;
        if let Some(of_tag) = self.tags.get_mut(&tag) {
            *of_tag += load;
        }
        let load = load as i64;
        let all = &mut self.moved;
        let family = self.changing.each_new_name(name, |schemes, new| {
            let part = hashed(new);
            let (new_slot, new_tag) = (hashslot::slot_of_part(part), hash(part));
            let is_renamed = new != name;
            for at in schemes {
                let moved = &mut all[*at];
                moved.slots[usize::from(slot)] -= load;
                moved.slots[usize::from(new_slot)] += load;
                moved.renamed += u64::from(is_renamed);
                for (tag, load) in [(tag, -load), (new_tag, load)] {
                    if let Some(of_tag) = moved.tags.get_mut(&tag) {
                        *of_tag += load;
                    }
                }
            }
        });
        if let Some(family) = family {
            self.of_family[family] += 1;
        }
    }

    /// Puts what was counted in place of what the sample let expect. Returns the names of each family that schemes change.
    pub fn finish(self, schemes: &mut [Scored], nodes: usize) -> Vec<u64> {
        for (scored, moved) in schemes.iter_mut().zip(self.moved) {
            let slots = self.common.iter().zip(&moved.slots);
            scored.names.slots = slots
                .map(|(load, moved)| load.saturating_add_signed(*moved))
                .collect();
            scored.names.renamed = moved.renamed;
            for (tag, load) in &mut scored.names.heaviest {
                let common = self.tags.get(tag).copied().unwrap_or(0);
                *load = common.saturating_add_signed(moved.tags.get(tag).copied().unwrap_or(0));
            }
            scored.weigh(nodes);
        }
        self.of_family
    }
}

impl Tally for CarriedOut<'_> {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let weight = weights(keys, self.by);
        for i in 0..keys.len() {
            let name = keys.batch.keys.get(keys.batch.base, i);
            let tag = hash(keys.hashed.get(keys.batch.base, i));
            self.add_name(name, weight(i), keys.slots[i], tag);
        }
    }

    fn merge(&mut self, other: Self) {
        add(&mut self.common, &other.common);
        add(&mut self.of_family, &other.of_family);
        other
            .tags
            .iter()
            .for_each(|(tag, load)| *self.tags.entry(*tag).or_default() += load);
        for (moved, other) in self.moved.iter_mut().zip(&other.moved) {
            add(&mut moved.slots, &other.slots);
            other
                .tags
                .iter()
                .for_each(|(tag, load)| *moved.tags.entry(*tag).or_default() += load);
            moved.renamed += other.renamed;
        }
    }
}

fn add<T: Copy + std::ops::AddAssign>(to: &mut [T], from: &[T]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += *from);
}
