//! Chooses the load of each role: the best measure that every compared node has.

use slotscope_base::metric::Metric;

use crate::summary::processes;
use crate::summary::verdict_inputs::VerdictInputs;
use slotscope_model::balance::sum;
use slotscope_model::limit;
use slotscope_model::measure::Measure;
use slotscope_model::nodes::{NodeLoad, Nodes};
use slotscope_model::reason::Reason;
use slotscope_model::role_load::RoleLoad;
use slotscope_model::state::Role;
use slotscope_topology::ranges;

impl VerdictInputs<'_> {
    /// The roles to judge, memory first, or those the user asked for; second, the roles the user did not ask for.
    pub(crate) fn role_loads(&self) -> (Vec<RoleLoad>, Vec<RoleLoad>) {
        let mut roles = Vec::new();
        roles.extend(self.memory());
        roles.extend(self.load());
        if roles.is_empty() {
            roles.extend(self.of(Measure::Keys));
        }
        if self.summary.asked.by.is_empty() {
            return (roles, Vec::new());
        }
        let metrics = self.summary.asked.by.iter();
        let asked: Vec<RoleLoad> = metrics
            .filter_map(|metric| self.asked_for(*metric))
            .collect();
        roles.retain(|role| asked.iter().all(|asked| asked.measure != role.measure));
        (asked, roles)
    }

    fn total(&self, metric: Metric) -> u128 {
        self.summary
            .slots
            .loads
            .get(metric)
            .map_or(0, |loads| sum(loads))
    }

    fn asked_for(&self, metric: Metric) -> Option<RoleLoad> {
        self.summary.slots.loads.get(metric)?;
        let load = match Measure::from(metric).role() {
            Role::Load => self.captured(metric.into()),
            Role::Memory => self.of(metric.into()),
        };
        // Key counts do not stand for memory or load, unless memory is otherwise unknown.
        load.map(|load| RoleLoad {
            role: load.role.filter(|_| metric != Metric::Keys),
            ..load
        })
    }

    fn memory(&self) -> Option<RoleLoad> {
        let keys = self.total(Metric::Keys);
        if keys == 0 && self.total(Metric::Bytes) == 0 {
            return None;
        }
        let sized = self.summary.input.weights.get(Metric::Bytes).copied();
        let known = sized.map_or(1.0, |sized| sized as f64 / keys.max(1) as f64);
        let [all, half] = limit::SIZES;
        if self.total(Metric::Bytes) > 0 && known >= half {
            let load = self.of(Measure::Bytes)?;
            return Some(RoleLoad {
                is_estimated: known < all,
                ..load
            });
        }
        self.used_memory().or_else(|| self.of(Measure::Keys))
    }

    /// Each node's dataset memory, distributed over its slots by their keys.
    fn used_memory(&self) -> Option<RoleLoad> {
        let load = self.of(Measure::UsedMemory)?;
        let dataset = |at: usize| self.observed.server(at)?.dataset;
        let sizes: Option<Vec<u64>> = load.compared.iter().map(|at| dataset(*at)).collect();
        let known = sizes.filter(|sizes| sizes.iter().any(|size| *size > 0))?;
        let mut scale = vec![1.0; self.summary.nodes.list.len()];
        for (at, size) in load.compared.iter().zip(known) {
            let keys = self.summary.nodes.list[*at].load.keys;
            // Memory without keys cannot be assigned to slots.
            scale[*at] = size as f64 / keys.max(1) as f64;
        }
        Some(scaled(load, &self.summary.nodes, scale))
    }

    fn load(&self) -> Option<RoleLoad> {
        let measures = [Measure::Cpu, Measure::Ops, Measure::Accesses];
        let measured = measures.into_iter().filter(|measure| {
            self.summary.slots.loads.get(measure.metric()).is_some()
                && self.total(measure.metric()) > 0
        });
        let loads: Vec<RoleLoad> = measured.filter_map(|kind| self.captured(kind)).collect();
        // Operations on keys do not show what processes do besides.
        let is_best = |load: &RoleLoad| matches!(load.reason, None | Some(Reason::OutsideSlots));
        let best = loads.iter().position(is_best);
        loads.into_iter().nth(best.unwrap_or(0))
    }

    /// An observed load: a rate, for captured nodes.
    fn captured(&self, measure: Measure) -> Option<RoleLoad> {
        let mut load = self.of(measure)?;
        if measure == Measure::Accesses {
            load.reason = Some(Reason::Counters).filter(|_| self.observed.accesses_from_replicas);
            return Some(load);
        }
        let Some(captures) = self.observed.of_load(measure.metric()) else {
            return Some(load);
        };
        load.is_estimated = measure == Measure::Cpu && !captures.are_counters;
        let owning = load.compared.clone();
        let span = |at: usize| captures.spans.get(at).copied().flatten();
        self.see(&mut load, |at| {
            self.of_captures(captures, &owning, at, measure)
        });
        let spans: Option<Vec<f64>> = load.compared.iter().map(|at| span(*at)).collect();
        if captures.is_one_reading || captures.are_apart {
            load.reason = Some(Reason::Counters);
        } else if load.reason.is_some() {
            // Nodes were not seen.
        } else if captures.are_counters && measure == Measure::Cpu {
            let is_outside =
                processes::are_hidden_by_slots(&self.summary.nodes, self.observed, &load.compared);
            load.reason = is_outside.then_some(Reason::OutsideSlots);
        }
        let Some(spans) = spans.filter(|spans| spans.iter().all(|span| *span > 0.0)) else {
            return Some(load);
        };
        let longest = spans.iter().copied().fold(0.0, f64::max);
        load.span_secs = Some(longest).filter(|span| *span > 0.0);
        let is_same = spans.iter().all(|span| *span > 0.99 * longest);
        if is_same || spans.is_empty() {
            return Some(load);
        }
        let mut scale = vec![1.0; self.summary.nodes.list.len()];
        for (at, span) in load.compared.iter().zip(&spans) {
            scale[*at] = longest / span;
        }
        Some(scaled(load, &self.summary.nodes, scale))
    }

    /// The load of all nodes with slots, except lost nodes from which nothing was read.
    fn of(&self, measure: Measure) -> Option<RoleLoad> {
        let is_read = |node: &NodeLoad| Metric::ALL.iter().any(|metric| node.load_by(*metric) > 0);
        let is_known = |node: &NodeLoad| !node.is_lost() || is_read(node);
        let owning = |(_, node): &(usize, &NodeLoad)| node.slots > 0 && is_known(node);
        let nodes = self.summary.nodes.list.iter().enumerate().filter(owning);
        let mut load = RoleLoad {
            role: Some(measure.role()),
            measure,
            slots: self.summary.slots.loads.get(measure.metric())?.clone(),
            scale: Vec::new(),
            seen: Vec::new(),
            compared: nodes.map(|(at, _)| at).collect(),
            weights: self.weights(measure.role()),
            reason: None,
            span_secs: None,
            is_estimated: false,
        };
        if measure.role() == Role::Memory {
            self.see(&mut load, |at| self.of_counts(at));
            if self.summary.input.sample_percent.is_some() {
                load.reason = Some(Reason::NotSeen);
            }
        }
        Some(load)
    }

    /// Relative capacities: the user's, else for memory the limits if they differ.
    fn weights(&self, role: Role) -> Vec<f64> {
        let count = self.summary.nodes.list.len();
        if !self.summary.asked.weights.is_empty() {
            let weights = self.summary.asked.weights.iter().copied();
            return weights.chain(std::iter::repeat(1.0)).take(count).collect();
        }
        let alike = vec![1.0; count];
        if role == Role::Load {
            return alike;
        }
        let limit = |at: usize| self.observed.server(at)?.maxmemory;
        let is_empty = |at: usize| self.summary.nodes.list[at].slots == 0;
        let known = |at: usize| limit(at).or(is_empty(at).then_some(0));
        let limits: Option<Vec<u64>> = (0..count).map(known).collect();
        let Some(limits) = limits else { return alike };
        let limits: Vec<f64> = limits.into_iter().map(|limit| limit as f64).collect();
        let owning = (0..count).filter(|at| !is_empty(*at));
        let owning = owning.map(|at| limits[at]);
        let least = owning.clone().fold(f64::INFINITY, f64::min);
        let most = owning.fold(0.0, f64::max);
        if least > 0.0 && most >= 1.05 * least {
            limits
        } else {
            alike
        }
    }
}

/// Scales the slots of each node.
fn scaled(mut role: RoleLoad, nodes: &Nodes, scale: Vec<f64>) -> RoleLoad {
    for (node, factor) in nodes.list.iter().zip(&scale) {
        for slot in ranges::slots(&node.ranges) {
            if let Some(load) = role.slots.get_mut(usize::from(slot)) {
                *load = (*load as f64 * factor).round() as u64;
            }
        }
    }
    RoleLoad { scale, ..role }
}
