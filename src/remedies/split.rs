//! Splits of heavy tags or keys: the parts get tags with a number behind them, and the slots are planned anew.

use std::sync::Arc;

use crate::metric::{Metric, PerMetric};
use crate::name::Name;
use crate::remedies::{Cluster, Commands, CountParts};
use crate::slot::{SLOTS, SlotBatch, slot_of_part};
use crate::summary::Summary;
use crate::summary::balance::tidy;
use crate::summary::cause::limit;
use crate::summary::independent_units::{Unit, UnitKind};
use crate::summary::remedy::{Remedy, RemedyKind};
use crate::tally::Tally;
use crate::tally::slots::SlotCounts;

/// Tags or keys that one remedy splits at most.
const MOST: usize = 64;
/// The longest name that a command has.
const TYPED: usize = 200;
/// There are not more slots.
const MOST_PARTS: u32 = SLOTS as u32;

/// Tags and the number of parts that each is split into.
#[derive(Debug, Clone, PartialEq)]
pub struct TagParts {
    tags: Vec<SplitTag>,
    parts: u32,
}

#[derive(Debug, Clone, PartialEq)]
struct SplitTag {
    name: Name,
    slot: u16,
    /// The slot of each part.
    slots: Vec<u16>,
}

impl TagParts {
    fn new(units: &[&Unit], parts: u32) -> Self {
        let part = |unit: &Unit, part: u32| {
            let name = [unit.name.0.as_slice(), format!(":{part}").as_bytes()].concat();
            slot_of_part(&name)
        };
        let tags = units.iter().map(|unit| SplitTag {
            name: unit.name.clone(),
            slot: unit.slot,
            slots: (0..parts).map(|number| part(unit, number)).collect(),
        });
        TagParts {
            tags: tags.collect(),
            parts,
        }
    }
}

/// The smallest number of parts of which none is heavy: of a unit of `load` on `nodes` nodes that hold `total`.
pub fn parts_needed(load: f64, nodes: usize, total: f64) -> u32 {
    let parts = (load * nodes as f64 / (limit::HEAVY * total)).ceil();
    (parts as u32).clamp(2, MOST_PARTS)
}

/// Splits the heaviest tags or keys, as many as it takes. With `is_needed` its result is counted in the keys.
pub fn remedy(
    summary: &Summary,
    cluster: &Cluster<'_>,
    commands: &Commands,
    is_needed: bool,
    count_parts: &mut CountParts<'_>,
) -> Option<Remedy> {
    let units = summary.units.per.get(cluster.metric)?;
    let total = cluster.total();
    let least = units.least_heavy(total / cluster.owning as f64);
    let is_heavy = |unit: &&Unit| unit.node.is_some() && unit.load >= least;
    let kind = units.named.iter().find(is_heavy)?.kind;
    let heavy = units
        .named
        .iter()
        .filter(is_heavy)
        .filter(|unit| unit.kind == kind);
    let heavy: Vec<&Unit> = heavy
        .filter(|unit| unit.kind.can_be_heavy(cluster.metric))
        .take(MOST)
        .collect();
    let parts = parts_needed(heavy.first()?.load, cluster.owning, total);
    let (chosen, outcome) = (0..).map(|power| 1usize << power).find_map(|count| {
        let chosen = &heavy[..count.min(heavy.len())];
        let loads = estimated(summary, cluster, chosen, &TagParts::new(chosen, parts));
        let outcome = cluster.with(&loads)?.planned(0);
        let is_enough = outcome.max_over_mean <= limit::BALANCED || count >= heavy.len();
        is_enough.then_some((chosen, outcome))
    })?;
    let counted = (is_needed && kind == UnitKind::Tag)
        .then(|| count_parts(&TagParts::new(chosen, parts)))
        .flatten();
    let exact = counted
        .as_ref()
        .and_then(|loads| Some(cluster.with(loads)?.planned(0)));
    if exact.unwrap_or(outcome).max_over_mean >= cluster.today.max_over_mean - 0.005 {
        return None;
    }
    let names: Vec<Name> = chosen.iter().map(|unit| unit.name.clone()).collect();
    let texts: Option<Vec<String>> = names.iter().map(typed).collect();
    let command = texts
        .filter(|_| kind == UnitKind::Tag)
        .map(|tags| commands.split(&tags, parts));
    Some(Remedy {
        unit: Some(kind.as_cause()),
        name: names.first().cloned(),
        names,
        parts: Some(parts),
        estimated: exact.is_none(),
        max_over_mean_after: tidy(exact.unwrap_or(outcome).max_over_mean),
        ..exact.unwrap_or(outcome).remedy(RemedyKind::Split, command)
    })
}

/// A name as one types it; `None` where it is long or has bytes that cannot be typed.
fn typed(name: &Name) -> Option<String> {
    let text = std::str::from_utf8(&name.0).ok()?;
    (text.len() <= TYPED && text == name.to_string()).then(|| text.to_owned())
}

/// The loads if the parts are equal.
fn estimated(
    summary: &Summary,
    cluster: &Cluster<'_>,
    units: &[&Unit],
    parts: &TagParts,
) -> PerMetric<Vec<u64>> {
    let load_by = |metric: Metric, name: &Name| {
        let units = summary.units.per.get(metric)?;
        units
            .named
            .iter()
            .find(|unit| unit.name == *name)
            .map(|unit| unit.load as u64)
    };
    cluster.loads.map(|metric, loads| {
        let mut loads = loads.clone();
        for (unit, split) in units.iter().zip(&parts.tags) {
            let from = &mut loads[usize::from(unit.slot)];
            let load = load_by(metric, &unit.name).unwrap_or(0).min(*from);
            *from -= load;
            let (each, over) = (load / u64::from(parts.parts), load % u64::from(parts.parts));
            for (number, slot) in split.slots.iter().enumerate() {
                let load = each + u64::from((number as u64) < over);
                loads[usize::from(*slot)] += load;
            }
        }
        loads
    })
}

/// The loads of all slots with these tags split by the CRC16 of their keys.
#[derive(Clone)]
pub struct SplitLoads {
    parts: Arc<TagParts>,
    /// Slots that hold such a tag.
    is_split: Arc<[bool]>,
    slots: Vec<u16>,
    /// The loads.
    pub loads: SlotCounts,
}

impl SplitLoads {
    /// Nothing counted yet.
    pub fn new(parts: &TagParts) -> Self {
        let mut is_split = vec![false; SLOTS];
        parts
            .tags
            .iter()
            .for_each(|tag| is_split[usize::from(tag.slot)] = true);
        SplitLoads {
            parts: Arc::new(parts.clone()),
            is_split: is_split.into(),
            slots: Vec::new(),
            loads: SlotCounts::default(),
        }
    }

    /// The slot of a key with this tag in place of `slot`.
    fn slot_of(&self, key: &[u8], tag: &[u8], slot: u16) -> u16 {
        let split = self
            .parts
            .tags
            .iter()
            .find(|of| of.slot == slot && of.name.0 == tag);
        split.map_or(slot, |of| {
            let part = u32::from(hashslot::crc16(key)) % self.parts.parts;
            of.slots[part as usize]
        })
    }
}

impl Tally for SplitLoads {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let mut slots = std::mem::take(&mut self.slots);
        slots.clear();
        slots.extend_from_slice(keys.slots);
        for (i, slot) in slots.iter_mut().enumerate() {
            let is_tagged = keys.hashed.start[i] != keys.untagged[i];
            if is_tagged && self.is_split[usize::from(*slot)] {
                let base = keys.batch.base;
                let (key, tag) = (keys.batch.keys.get(base, i), keys.hashed.get(base, i));
                *slot = self.slot_of(key, tag, *slot);
            }
        }
        self.loads.add(&SlotBatch {
            slots: &slots,
            ..*keys
        });
        self.slots = slots;
    }

    fn merge(&mut self, other: Self) {
        self.loads.merge(other.loads);
    }
}
