//! Totals of the table once all keys are counted, and the tags to list by name.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;

use slotscope_base::LISTED;
use slotscope_base::metric::{Load, Metric, PerMetric, PerWeight};
use slotscope_base::name::Name;
use slotscope_base::slot::SLOTS;

use super::heaviest::Heaviest;
use super::partition::Partition;
use super::word::Word;
use super::{FindNames, PARTITIONS, TagTable};
use crate::tally::recount::hottest;
use crate::tally::sketch::histogram::{COARSE, Histogram};

/// Tags listed per hottest slot, and the extra allowance for ties.
const OF_A_SLOT: usize = 5;
const OF_A_SLOT_AT_MOST: usize = 300;

/// Complete tag counts: totals, and the heaviest by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CountedTags {
    /// The number of tags.
    pub distinct: u64,
    /// The sum of the squared loads.
    pub squares: PerMetric<u128>,
    /// Key counts of tags.
    pub sizes: Histogram,
    /// Their other loads, without zeros.
    pub weights: PerWeight<Histogram<COARSE>>,
    /// The heaviest by each metric and those of the hottest slots, by name.
    pub named: Vec<(Name, Load)>,
    /// An upper bound on any other tag.
    pub bound: Load,
}

/// The result of a sweep, with the tags whose names are still needed.
pub struct Swept {
    sums: Sums,
    loads: HashMap<usize, Load>,
}

/// Partial sums over lines.
struct Sums {
    distinct: u64,
    squares: PerMetric<u128>,
    sizes: Histogram,
    weights: PerWeight<Histogram<COARSE>>,
    heaviest: Vec<(Metric, Heaviest)>,
    of_slots: Vec<(Metric, u16, Heaviest)>,
}

impl TagTable {
    /// Totals over all tags, given the loads of slots; runs on the threads of a pool.
    pub fn sweep(self: &Arc<Self>, loads: &PerMetric<Vec<u64>>) -> (Swept, FindNames) {
        let (hot, columns) = (HotSlots::of(loads), self.columns());
        let cells = self.lines.cells();
        let parts = (0..PARTITIONS).into_par_iter().fold(
            || hot.nothing(),
            |mut sums, number| {
                let partition = self.lock(number);
                for (cell, word) in partition.tags() {
                    let load = load_of(&partition, (cell, word), &columns);
                    sums.add(&hot, (number * cells + cell, word.slot()), load);
                }
                sums
            },
        );
        let sums = parts.reduce(|| hot.nothing(), Sums::merge);
        let (mut loads, mut words) = (HashMap::new(), HashMap::new());
        let of_slots = sums.of_slots.iter().map(|(.., top)| top);
        for top in sums.heaviest.iter().map(|(_, top)| top).chain(of_slots) {
            for cell in top.cells() {
                words.entry(cell).or_insert_with(|| {
                    let (partition, at) = (self.lock(cell / cells), cell % cells);
                    let word = partition.word(at);
                    loads.insert(cell, load_of(&partition, (at, word), &columns));
                    word
                });
            }
        }
        let names = FindNames::of(self.clone(), words.into_iter());
        (Swept { sums, loads }, names)
    }

    /// The weights present, each with its column.
    fn columns(&self) -> Vec<(Metric, usize)> {
        let weights = Metric::WEIGHTS.into_iter().zip(&self.columns);
        let columns = weights.filter_map(|(metric, column)| Some((metric, *column.get()?)));
        columns.collect()
    }
}

#[inline]
fn load_of(
    partition: &Partition<'_>,
    (cell, word): (usize, Word),
    columns: &[(Metric, usize)],
) -> Load {
    let mut load = Load::of(Metric::Keys, partition.keys(cell, word));
    for (metric, column) in columns {
        load[*metric] = partition.weight(cell, *column);
    }
    load
}

/// The hottest slots of each metric.
struct HotSlots {
    metrics: Vec<Metric>,
    slots: Vec<(Metric, u16)>,
    is_hot: Vec<bool>,
}

impl HotSlots {
    fn of(loads: &PerMetric<Vec<u64>>) -> Self {
        let of_metric = |(metric, loads): (Metric, &Vec<u64>)| {
            let hottest: Vec<_> = hottest(loads).map(|slot| (metric, slot as u16)).collect();
            hottest
        };
        let slots: Vec<_> = loads.iter().flat_map(of_metric).collect();
        let mut is_hot = vec![false; SLOTS];
        slots
            .iter()
            .for_each(|(_, slot)| is_hot[usize::from(*slot)] = true);
        HotSlots {
            metrics: loads.iter().map(|(metric, _)| metric).collect(),
            slots,
            is_hot,
        }
    }

    fn nothing(&self) -> Sums {
        let of_metric = |metric: &Metric| (*metric, Heaviest::of(LISTED, 2 * LISTED));
        let of_slot = |(metric, slot): &(Metric, u16)| {
            (*metric, *slot, Heaviest::of(OF_A_SLOT, OF_A_SLOT_AT_MOST))
        };
        Sums {
            distinct: 0,
            squares: PerMetric::default(),
            sizes: Histogram::default(),
            weights: PerWeight::default(),
            heaviest: self.metrics.iter().map(of_metric).collect(),
            of_slots: self.slots.iter().map(of_slot).collect(),
        }
    }
}

impl Sums {
    #[inline]
    fn add(&mut self, hot: &HotSlots, (cell, slot): (usize, u16), load: Load) {
        self.distinct += 1;
        // A tag with operations only has no keys.
        let keys = Some(load[Metric::Keys]).filter(|keys| *keys > 0);
        self.sizes.add(keys.into_iter());
        for (metric, heaviest) in &mut self.heaviest {
            let load = load[*metric];
            let squares = self.squares.get_or_insert_with(*metric, u128::default);
            *squares = squares.saturating_add(u128::from(load) * u128::from(load));
            heaviest.offer(load, slot, cell);
            if let (1.., Some(weight)) = (load, metric.weight()) {
                let loads = self.weights.0[weight].get_or_insert_default();
                loads.add(std::iter::once(load));
            }
        }
        if hot.is_hot[usize::from(slot)] {
            let of_slot = self.of_slots.iter_mut().filter(|(_, own, _)| *own == slot);
            of_slot.for_each(|(metric, _, top)| top.offer(load[*metric], slot, cell));
        }
    }

    fn merge(mut self, other: Sums) -> Sums {
        self.distinct += other.distinct;
        for (metric, squares) in other.squares.iter() {
            let mine = self.squares.get_or_insert_with(metric, u128::default);
            *mine = mine.saturating_add(*squares);
        }
        self.sizes.merge(&other.sizes);
        for (mine, theirs) in self.weights.0.iter_mut().zip(&other.weights.0) {
            if let Some(theirs) = theirs {
                mine.get_or_insert_default().merge(theirs);
            }
        }
        for ((_, mine), (_, theirs)) in self.heaviest.iter_mut().zip(other.heaviest) {
            mine.merge(theirs);
        }
        for ((.., mine), (.., theirs)) in self.of_slots.iter_mut().zip(other.of_slots) {
            mine.merge(theirs);
        }
        self
    }
}

impl Swept {
    /// Combines the counts with the names found; `None` if a name is missing.
    pub fn named(self, names: FindNames) -> Option<CountedTags> {
        let mut names = names.into_names();
        let mut bound = Load::default();
        for (metric, heaviest) in &self.sums.heaviest {
            bound[*metric] = heaviest.left_out();
        }
        let mut named = Vec::with_capacity(names.len());
        for (cell, load) in self.loads {
            match names.remove(&cell)? {
                Some(name) => named.push((name, load)),
                None => bound = bound.max(load),
            }
        }
        named.sort_unstable();
        Some(CountedTags {
            distinct: self.sums.distinct,
            squares: self.sums.squares,
            sizes: self.sums.sizes,
            weights: self.sums.weights,
            named,
            bound,
        })
    }
}
