//! The excess of the fullest node, split exactly.
//!
//! For a node with p = its slots / all owned slots and the load W of all n nodes (heavy units: at least 5 % of W / n):
//! ```text
//! load - W/n = (p - 1/n) W                              slots: it owns more than its number
//!            + (1 - p) w for each heavy unit on it      one line each, or one for all
//!            - p sum(w of heavy units elsewhere)        one line together
//!            + the rest                                 light units: chance, or collisions
//! ```
//! In fair shares (divided by W/n) the lines add up to M - 1.

use crate::metric::Metric;
use crate::summary::balance::tidy;
use crate::summary::cause::{Cause, CauseKind, limit};
use crate::summary::independent_units::{Unit, UnitsBy};
use crate::summary::model::chance::RandomUnits;
use crate::summary::nodes::{NodeLoad, Nodes};

/// The fullest node's excess in fair shares, split.
pub struct Split<'a> {
    /// The fullest node.
    pub fullest: &'a NodeLoad,
    /// n.
    pub nodes: usize,
    /// Its share of the owned slots.
    pub p: f64,
    /// M.
    pub max_over_mean: f64,
    /// What its slots add.
    pub by_slots: f64,
    /// Heavy units of all nodes, heaviest first.
    pub heavy: Vec<&'a Unit>,
    /// The units that are not heavy; `None` where tags were not counted.
    light: Option<RandomUnits>,
    /// W / n.
    fair: f64,
    /// All nodes that own slots.
    owning: Vec<&'a NodeLoad>,
    metric: Metric,
}

/// Slots that a cause of collisions names.
const NAMED_SLOTS: usize = 3;

impl<'a> Split<'a> {
    /// Splits the excess in `metric`; `None` where no node holds anything.
    pub fn of(nodes: &'a Nodes, units: &'a UnitsBy, metric: Metric) -> Option<Self> {
        let total = nodes.total(metric) as f64;
        let owning: Vec<_> = nodes.owning().collect();
        // The first of equals, so that the name in the report does not depend on anything else.
        let fullest = owning
            .iter()
            .copied()
            .rev()
            .max_by_key(|node| node.load_by(metric))
            .filter(|node| node.load_by(metric) > 0)?;
        let n = owning.len() as f64;
        let owned_slots: u32 = owning.iter().map(|node| node.slots).sum();
        let p = f64::from(fullest.slots) / f64::from(owned_slots);
        let fair = total / n;
        let least = units.least_heavy(fair);
        let on_nodes = || units.named.iter().filter(|unit| unit.node.is_some());
        let is_heavy = |unit: &Unit| unit.kind.can_be_heavy(metric) && unit.load >= least;
        let heavy: Vec<&Unit> = on_nodes().filter(|unit| is_heavy(unit)).collect();
        let light = on_nodes().filter(|unit| !is_heavy(unit));
        Some(Split {
            fullest,
            nodes: owning.len(),
            p,
            max_over_mean: fullest.load_by(metric) as f64 / fair,
            by_slots: (p - 1.0 / n) * n,
            light: units.light(total, &heavy, light.map(|unit| unit.load)),
            heavy,
            fair,
            owning,
            metric,
        })
    }

    /// What the light units add: M - 1 less everything else.
    pub fn by_rest(&self) -> f64 {
        let on = self.heavy_on(self.fullest) * (1.0 - self.p);
        let elsewhere = (self.heavy_total() - self.heavy_on(self.fullest)) * self.p;
        self.max_over_mean - 1.0 - self.by_slots - (on - elsewhere) / self.fair
    }

    /// Whether a perfect hash may well give the light units this excess.
    pub fn is_rest_by_chance(&self) -> bool {
        let Some(light) = &self.light else {
            return false;
        };
        let rest = self.fullest.load_by(self.metric) as f64 - self.heavy_on(self.fullest);
        // What rounding leaves is no finding.
        self.by_rest() < 1e-9
            || light.tail(self.p, rest * (1.0 - 1e-12)) * self.nodes as f64 >= limit::CHANCE
    }

    /// The parts, largest first.
    pub fn causes(&self, loads_of_slots: &[u64]) -> Vec<Cause> {
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
            max_over_mean_without: Some(tidy(self.max_without(unit))),
            share: Some(tidy(unit.load / (self.fair * self.nodes as f64))),
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
            share: Some(tidy(self.heavy_total() / (self.fair * self.nodes as f64))),
            ..self.cause(CauseKind::CoarseTags, excess / self.fair)
        }
    }

    fn rest(&self, loads_of_slots: &[u64]) -> Cause {
        let Some(light) = &self.light else {
            return self.unknown(loads_of_slots);
        };
        let by_chance = light.upper_quantile(self.p, limit::CHANCE / self.nodes as f64)
            - self.p * light.total();
        let (kind, slots) = match self.is_rest_by_chance() {
            true => (CauseKind::Chance, Vec::new()),
            false => (
                CauseKind::Collisions,
                self.crowded_slots(loads_of_slots, light),
            ),
        };
        Cause {
            units: Some(light.count().round() as u64),
            by_chance: Some(tidy(by_chance / self.fair)),
            slots,
            ..self.cause(kind, self.by_rest())
        }
    }

    /// What can be said by slots alone: which of them are as heavy as a heavy unit.
    fn unknown(&self, loads_of_slots: &[u64]) -> Cause {
        let load = |slot: u16| loads_of_slots.get(usize::from(slot)).copied().unwrap_or(0) as f64;
        let mut slots = self.fullest_slots(loads_of_slots);
        slots.retain(|slot| load(*slot) >= limit::HEAVY * self.fair);
        let held: f64 = slots.iter().map(|slot| load(*slot)).sum();
        let share = tidy(held / (self.fair * self.nodes as f64));
        Cause {
            share: Some(share).filter(|_| !slots.is_empty()),
            slots,
            ..self.cause(CauseKind::Unknown, self.by_rest())
        }
    }

    /// Whether the heavy units are many and hold most of the load, none of them most of that.
    fn is_coarse(&self) -> bool {
        let (all, together) = (self.fair * self.nodes as f64, self.heavy_total());
        self.heavy.len() > limit::SEVERAL
            && together > limit::COARSE * all
            && self.heavy[0].load <= limit::DOMINANT * together
    }

    /// What max/mean would be if the unit's load were spread over all slots.
    fn max_without(&self, unit: &Unit) -> f64 {
        let owned: f64 = self.owning.iter().map(|node| f64::from(node.slots)).sum();
        let load = |node: &&NodeLoad| {
            let here = f64::from(u8::from(unit.node.as_ref() == Some(&node.id)));
            node.load_by(self.metric) as f64 + unit.load * (f64::from(node.slots) / owned - here)
        };
        self.owning.iter().map(load).fold(0.0, f64::max) / self.fair
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

    /// The slots of the fullest node that hold most without heavy units.
    /// The fullest slots, where they add a real part of the rest; else it is spread over many.
    fn crowded_slots(&self, loads: &[u64], light: &RandomUnits) -> Vec<u16> {
        let slots = self.fullest_slots(loads);
        let owned: f64 = self.owning.iter().map(|node| f64::from(node.slots)).sum();
        let usual = light.total() / owned;
        let added = slots.iter().map(|slot| self.light_in(*slot, loads) - usual);
        match added.sum::<f64>() >= limit::NAMED_PART * self.by_rest() * self.fair {
            true => slots,
            false => Vec::new(),
        }
    }

    /// What a slot holds besides heavy units.
    fn light_in(&self, slot: u16, loads: &[u64]) -> f64 {
        let heavy = self.heavy.iter().filter(|unit| unit.slot == slot);
        let heavy: f64 = heavy.map(|unit| unit.load).sum();
        loads.get(usize::from(slot)).copied().unwrap_or(0) as f64 - heavy
    }

    fn fullest_slots(&self, loads: &[u64]) -> Vec<u16> {
        let mut slots: Vec<(f64, u16)> = self
            .fullest
            .ranges
            .iter()
            .flat_map(|(first, last)| *first..=*last)
            .map(|slot| (self.light_in(slot, loads), slot))
            .collect();
        slots.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        slots.truncate(NAMED_SLOTS);
        let least = slots.first().map_or(0.0, |fullest| fullest.0 / 2.0);
        slots.retain(|(load, _)| *load >= least);
        slots.into_iter().map(|(_, slot)| slot).collect()
    }
}
