//! Exact decomposition of the fullest node's excess.
//!
//! For a node with p = its slots / all compared slots, share f, and W the load of all nodes (a heavy unit is at least
//! 5% of the smallest fair share):
//! ```text
//! load - f W = (p - f) W                                slots: it owns more than its part
//!            + (1 - p) w for each heavy unit on it      one line each, or one for all
//!            - p sum(w of heavy units elsewhere)        one line together
//!            + the rest                                 light units: chance, or collisions
//! ```
//! In fair shares (divided by f W), the lines sum to M - 1.

use slotscope_base::name::Name;

use crate::summary::independent_units;
use crate::summary::perfect_hash::chance::RandomUnits;
use crate::summary::perfect_hash::even_split::p99_of_shares;
use slotscope_model::balance::tidy;
use slotscope_model::cause::{Cause, CauseKind};
use slotscope_model::compared::Compared;
use slotscope_model::independent_units::{Unit, UnitsBy};
use slotscope_model::limit;
use slotscope_model::measure::Measure;
use slotscope_model::nodes::NodeLoad;
use slotscope_topology::ranges;

/// The fullest node's excess in fair shares, decomposed.
pub struct Split<'a> {
    compared: &'a Compared<'a>,
    /// Index of the fullest node among the compared ones.
    pub at: usize,
    /// The fullest node.
    pub fullest: &'a NodeLoad,
    /// Its fraction of the slots.
    pub p: f64,
    /// M.
    pub max_over_mean: f64,
    /// The excess due to its slot count.
    pub by_slots: f64,
    /// Heavy units of all nodes, heaviest first.
    pub heavy: Vec<&'a Unit>,
    /// Named units that are not heavy.
    listed: Vec<&'a Unit>,
    /// The units that are not heavy; `None` if tags were not counted.
    pub(crate) light: Option<RandomUnits>,
    /// f W.
    fair: f64,
    units: &'a UnitsBy,
}

/// Slots named by a collision cause, and tags named per slot.
const NAMED_SLOTS: usize = 3;
const NAMED_UNITS: usize = 20;
/// A listed unit fills its slot if it holds this fraction of it.
const MOST: f64 = 0.5;

impl<'a> Split<'a> {
    /// Decomposes the excess of the fullest node; `None` without load.
    pub fn of(compared: &'a Compared<'a>, units: &'a UnitsBy, measure: Measure) -> Option<Self> {
        let at = compared.fullest()?;
        let (p, fair, total) = (compared.slots[at], compared.fair(at), compared.total);
        let least = limit::HEAVY * compared.least_fair();
        let surely = |unit: &Unit| {
            if measure.is_counted() {
                unit.load - 3.0 * unit.load.sqrt()
            } else {
                unit.load
            }
        };
        let is_heavy =
            |unit: &Unit| unit.kind.can_be_heavy(measure.metric()) && surely(unit) >= least;
        let on_nodes = units.named.iter().filter(|unit| unit.node.is_some());
        let (heavy, listed): (Vec<&Unit>, Vec<&Unit>) = on_nodes.partition(|unit| is_heavy(unit));
        let light = listed.iter().map(|unit| unit.load);
        Some(Split {
            compared,
            at,
            fullest: compared.nodes[at],
            p,
            max_over_mean: compared.ratio(at),
            by_slots: (p - compared.shares[at]) / compared.shares[at],
            light: independent_units::light(units, total, &heavy, light),
            heavy,
            listed,
            fair,
            units,
        })
    }

    /// The number of compared nodes.
    pub(crate) fn nodes(&self) -> usize {
        self.compared.nodes.len()
    }

    /// W.
    pub(crate) fn total(&self) -> f64 {
        self.compared.total
    }

    /// E, the 99% quantile of the fullest node if a perfect hash placed the light units on an even split and the heavy
    /// ones were even; `None` if tags were not counted.
    pub(crate) fn by_chance(&self) -> Option<f64> {
        self.by_chance_on(&self.compared.shares)
    }

    /// E for nodes with these shares.
    pub fn by_chance_on(&self, shares: &[f64]) -> Option<f64> {
        let light = self.light.as_ref().filter(|light| light.total() > 0.0)?;
        let part = (light.total() / self.total()).min(1.0);
        Some(1.0 + part * (p99_of_shares(light, shares) - 1.0))
    }

    /// The excess due to light units: M - 1 minus everything else.
    pub(crate) fn by_rest(&self) -> f64 {
        let on = self.heavy_on(self.fullest) * (1.0 - self.p);
        let elsewhere = (self.heavy_total() - self.heavy_on(self.fullest)) * self.p;
        self.max_over_mean - 1.0 - self.by_slots - (on - elsewhere) / self.fair
    }

    /// Whether a perfect hash plausibly gives the light units this excess.
    pub(crate) fn is_rest_by_chance(&self) -> bool {
        let Some(light) = &self.light else {
            return false;
        };
        let rest = self.compared.loads[self.at] - self.heavy_on(self.fullest);
        // A rest due to rounding is not a finding.
        self.by_rest() < 1e-9
            || light.tail(self.p, rest * (1.0 - 1e-12)) * self.nodes() as f64 >= limit::CHANCE
    }

    /// The parts, largest first.
    pub(crate) fn causes(&self, loads_of_slots: &[u64]) -> Vec<Cause> {
        let mut causes = vec![self.slots()];
        if self.is_coarse() {
            causes.push(self.coarse());
        } else {
            causes.extend(self.here().map(|unit| self.unit(unit)));
            causes.extend(self.elsewhere());
        }
        causes.push(self.rest(loads_of_slots));
        causes.sort_by(|a, b| b.excess.total_cmp(&a.excess));
        causes
    }

    fn cause(&self, kind: CauseKind, excess: f64) -> Cause {
        Cause::new(kind, &self.fullest.id, tidy(excess))
    }

    fn slots(&self) -> Cause {
        Cause {
            share: Some(tidy(self.p)),
            ..self.cause(CauseKind::Slots, self.by_slots)
        }
    }

    fn unit(&self, unit: &Unit) -> Cause {
        Cause {
            name: Some(unit.name.clone()),
            fair_shares: Some(tidy(unit.load / self.fair)),
            max_over_mean_without: Some(tidy(self.max_without(unit))),
            share: Some(tidy(unit.load / self.compared.total)),
            key: unit.main_key.clone(),
            slots: vec![unit.slot],
            ..self.cause(unit.kind.as_cause(), (1.0 - self.p) * unit.load / self.fair)
        }
    }

    fn elsewhere(&self) -> Option<Cause> {
        let load = self.heavy_total() - self.heavy_on(self.fullest);
        let units = self.heavy.len() - self.here().count();
        (units > 0).then(|| Cause {
            units: Some(units as u64),
            ..self.cause(CauseKind::Elsewhere, -self.p * load / self.fair)
        })
    }

    fn coarse(&self) -> Cause {
        let excess = self.heavy_on(self.fullest) - self.p * self.heavy_total();
        Cause {
            units: Some(self.heavy.len() as u64),
            share: Some(tidy(self.heavy_total() / self.compared.total)),
            ..self.cause(CauseKind::CoarseUnits, excess / self.fair)
        }
    }

    fn rest(&self, loads_of_slots: &[u64]) -> Cause {
        let Some(light) = &self.light else {
            return self.unknown(loads_of_slots);
        };
        let by_chance = light.upper_quantile(self.p, limit::CHANCE / self.nodes() as f64)
            - self.p * light.total();
        let (kind, slots, names) = if self.is_rest_by_chance() {
            (CauseKind::Chance, Vec::new(), Vec::new())
        } else {
            let slots = self.crowded_slots(loads_of_slots, light);
            (CauseKind::Collisions, slots, self.filling(loads_of_slots))
        };
        Cause {
            // People count tags and keys, not the model's equal units.
            units: Some(self.units.others(self.heavy.len())),
            by_chance: Some(tidy(by_chance / self.fair)),
            slots,
            names,
            ..self.cause(kind, self.by_rest())
        }
    }

    /// The listed units that dominate their slots on the fullest node, if they add most of the rest.
    fn filling(&self, loads_of_slots: &[u64]) -> Vec<Name> {
        let fills = |unit: &&&Unit| {
            let slot = loads_of_slots
                .get(usize::from(unit.slot))
                .copied()
                .unwrap_or(0) as f64;
            unit.node.as_ref() == Some(&self.fullest.id) && unit.load >= MOST * slot
        };
        let filling: Vec<&&Unit> = self.listed.iter().filter(fills).take(NAMED_UNITS).collect();
        let added: f64 = filling.iter().map(|unit| (1.0 - self.p) * unit.load).sum();
        if added >= MOST * self.by_rest() * self.fair {
            filling.iter().map(|unit| unit.name.clone()).collect()
        } else {
            Vec::new()
        }
    }

    /// The cause if only slots are known: those as heavy as a heavy unit.
    fn unknown(&self, loads_of_slots: &[u64]) -> Cause {
        let load = |slot: u16| self.light_in(slot, loads_of_slots);
        let mut slots = self.fullest_slots(loads_of_slots);
        slots.retain(|slot| load(*slot) >= limit::HEAVY * self.fair);
        let held: f64 = slots.iter().map(|slot| load(*slot)).sum();
        let share = tidy(held / self.compared.total);
        Cause {
            share: Some(share).filter(|_| !slots.is_empty()),
            slots,
            ..self.cause(CauseKind::Unknown, self.by_rest())
        }
    }

    /// Whether there are many heavy units with most of the load and no dominant one.
    fn is_coarse(&self) -> bool {
        let (total, together) = (self.compared.total, self.heavy_total());
        self.heavy.len() > limit::SEVERAL
            && together > limit::COARSE * total
            && self.heavy[0].load <= limit::DOMINANT * together
    }

    /// max/mean if the unit's load were spread over all slots.
    fn max_without(&self, unit: &Unit) -> f64 {
        let load = |at: usize| {
            let here = f64::from(u8::from(
                unit.node.as_ref() == Some(&self.compared.nodes[at].id),
            ));
            let moved = unit.load * (self.compared.slots[at] - here);
            (self.compared.loads[at] + moved) / self.compared.fair(at)
        };
        (0..self.nodes()).map(load).fold(0.0, f64::max)
    }

    /// Whether the fullest node has a heavy unit.
    pub(crate) fn has_heavy_here(&self) -> bool {
        self.here().next().is_some()
    }

    fn here(&self) -> impl Iterator<Item = &'a Unit> + '_ {
        let is_here = |unit: &&&Unit| unit.node.as_ref() == Some(&self.fullest.id);
        self.heavy.iter().filter(is_here).copied()
    }

    fn heavy_on(&self, node: &NodeLoad) -> f64 {
        let on = |unit: &&&Unit| unit.node.as_ref() == Some(&node.id);
        self.heavy.iter().filter(on).map(|unit| unit.load).sum()
    }

    fn heavy_total(&self) -> f64 {
        self.heavy.iter().map(|unit| unit.load).sum()
    }

    /// The fullest slots, if they add a substantial part of the rest; otherwise it is spread over many.
    fn crowded_slots(&self, loads: &[u64], light: &RandomUnits) -> Vec<u16> {
        let slots = self.fullest_slots(loads);
        let owned = self.compared.nodes.iter().map(|node| f64::from(node.slots));
        let usual = light.total() / owned.sum::<f64>().max(1.0);
        let added = slots.iter().map(|slot| self.light_in(*slot, loads) - usual);
        if added.sum::<f64>() >= limit::NAMED_PART * self.by_rest() * self.fair {
            slots
        } else {
            Vec::new()
        }
    }

    /// The load of a slot without heavy units.
    fn light_in(&self, slot: u16, loads: &[u64]) -> f64 {
        let in_slot = self.heavy.iter().filter(|unit| unit.slot == slot);
        let heavy: f64 = in_slot.map(|unit| unit.load).sum();
        loads.get(usize::from(slot)).copied().unwrap_or(0) as f64 - heavy
    }

    fn fullest_slots(&self, loads: &[u64]) -> Vec<u16> {
        let mut slots: Vec<(f64, u16)> = ranges::slots(&self.fullest.ranges)
            .map(|slot| (self.light_in(slot, loads), slot))
            .collect();
        slots.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        slots.truncate(NAMED_SLOTS);
        let least = slots.first().map_or(0.0, |fullest| fullest.0 / 2.0);
        slots.retain(|(load, _)| *load >= least);
        slots.into_iter().map(|(_, slot)| slot).collect()
    }
}
