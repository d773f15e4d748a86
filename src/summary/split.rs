//! The excess of the fullest node, split exactly.
//!
//! For a node with p = its slots / all owned slots and the load W of all n nodes (heavy units: at least 5 % of W / n and
//! three times the average unit):
//! ```text
//! load - W/n = (p - 1/n) W                                    placement: it owns more slots
//!            + sum(w, heavy on the node) - p sum(w, all heavy)  heavy units that landed here, one line each
//!            + the rest                                       chance
//! ```
//! In fair shares (divided by W/n) the fullest node X has M = load n / W, and M - 1 = pl + hv + rs.

use crate::metric::Metric;
use crate::name::Name;
use crate::summary::balance::tidy;
use crate::summary::cause::{Cause, CauseKind, limit};
use crate::summary::independent_units::{Unit, UnitsBy};
use crate::summary::model::expected::{effective_units, node_max_over_mean};
use crate::summary::nodes::{NodeLoad, Nodes};

/// The fullest node's excess in fair shares, split.
pub struct Split<'a> {
    /// X.
    pub fullest: &'a NodeLoad,
    /// n.
    pub nodes: usize,
    /// Slots that have an owner.
    pub owned_slots: u32,
    /// M.
    pub max_over_mean: f64,
    /// pl.
    pub placement: f64,
    /// Heavy units of all nodes and what each adds to the fullest: less than 0 where it is on another.
    pub heavy: Vec<(&'a Unit, f64)>,
    /// The units that are not heavy behave like this many.
    pub rest_units: f64,
}

impl<'a> Split<'a> {
    /// Splits the excess in `metric`; `None` where no node holds anything.
    pub fn of(nodes: &'a Nodes, units: &'a UnitsBy, metric: Metric) -> Option<Self> {
        let total = nodes.total(metric) as f64;
        let load = |node: &NodeLoad| node.load.get(metric).copied().unwrap_or(0);
        let owning: Vec<_> = nodes.owning().collect();
        // The first of equals, so that the name in the report does not depend on anything else.
        let fullest = owning
            .iter()
            .copied()
            .rev()
            .max_by_key(|node| load(node))
            .filter(|node| load(node) > 0)?;
        let n = owning.len() as f64;
        let owned_slots: u32 = owning.iter().map(|node| node.slots).sum();
        let p = f64::from(fullest.slots) / f64::from(owned_slots);
        let fair = total / n;
        let least = units.least_heavy(fair);
        let is_heavy = |unit: &&Unit| unit.node.is_some() && unit.load >= least;
        let part = |unit: &'a Unit| {
            let here = unit.node.as_ref() == Some(&fullest.id);
            (unit, (f64::from(u8::from(here)) - p) * unit.load / fair)
        };
        let heavy: Vec<_> = units.named.iter().filter(is_heavy).map(part).collect();
        // Unassigned slots do not count: their listed units by name, of the rest as much as their share of the load.
        let unowned = || {
            units
                .named
                .iter()
                .filter(|unit| unit.node.is_none())
                .map(|unit| unit.load)
        };
        let unlisted = (units.total - unowned().sum::<f64>()).max(total);
        let squares = units.squares.unwrap_or(units.key_squares);
        let squares = (squares - unowned().map(|load| load * load).sum::<f64>()) * total / unlisted;
        let heavy_total: f64 = heavy.iter().map(|(unit, _)| unit.load).sum();
        let heavy_squares: f64 = heavy.iter().map(|(unit, _)| unit.load.powi(2)).sum();
        let rest = (total - heavy_total).max(0.0);
        // The rest cannot be more even than all its keys alike.
        let evenest = if units.positive > 0.0 {
            rest * rest / units.positive
        } else {
            0.0
        };
        Some(Split {
            fullest,
            nodes: owning.len(),
            owned_slots,
            max_over_mean: load(fullest) as f64 / fair,
            placement: (p - 1.0 / n) * n,
            heavy,
            rest_units: effective_units(rest, (squares - heavy_squares).max(evenest))
                .unwrap_or(f64::INFINITY),
        })
    }

    /// hv.
    pub fn heavy_excess(&self) -> f64 {
        self.heavy.iter().map(|(_, excess)| excess).sum()
    }

    /// rs.
    pub fn rest(&self) -> f64 {
        self.max_over_mean - 1.0 - self.placement - self.heavy_excess()
    }

    /// Whether the excess is no more than what a perfect hash gives so few units.
    pub fn is_chance(&self) -> bool {
        self.heavy_excess() < limit::HEAVY_EXCESS
            && 1.0 + self.rest() <= node_max_over_mean(self.nodes, self.rest_units)
    }

    /// Whether the fullest node owns more slots than its part of them.
    pub fn owns_more_slots(&self) -> bool {
        self.fullest.slots as usize > (self.owned_slots as usize).div_ceil(self.nodes)
    }

    /// The parts, largest first. Each heavy unit says what the node would hold if the unit were spread evenly.
    pub fn causes(&self) -> Vec<Cause> {
        let cause = |kind, name: Option<&Name>, excess: f64| Cause {
            kind,
            name: name.cloned(),
            node: Some(self.fullest.id.clone()),
            excess: tidy(excess),
            max_over_mean_without: name.map(|_| tidy(self.max_over_mean - excess)),
        };
        let units = self
            .heavy
            .iter()
            .map(|(unit, excess)| cause(unit.kind, Some(&unit.name), *excess));
        let others = [
            (CauseKind::Placement, self.placement),
            (CauseKind::Noise, self.rest()),
        ];
        let mut causes: Vec<_> = others
            .map(|(kind, excess)| cause(kind, None, excess))
            .into_iter()
            .chain(units)
            .collect();
        causes.sort_by(|a, b| b.excess.total_cmp(&a.excess));
        causes
    }
}
