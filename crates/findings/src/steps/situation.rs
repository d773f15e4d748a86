//! Owners and loads as they are after some steps, and what every role is then.

use slotscope_engine::metric::Metric;

use crate::summary::Summary;
use crate::summary::balance::tidy;
use crate::summary::compared::{parts, ratio, rest};
use crate::summary::limit;
use crate::summary::role_load::RoleLoad;
use crate::summary::role_verdict::RoleVerdict;
use crate::summary::state::{Role, State};
use crate::summary::step::{After, RoleAfter};

/// Owners and loads after some steps.
#[derive(Clone)]
pub(super) struct Situation<'a> {
    summary: &'a Summary,
    /// The node that owns each slot, by its place in the topology.
    pub owner: Vec<Option<usize>>,
    /// The roles that are judged, in their order.
    pub roles: Vec<RoleNow<'a>>,
}

/// A role after some steps.
#[derive(Clone)]
pub(super) struct RoleNow<'a> {
    /// Its verdict today.
    pub verdict: &'a RoleVerdict,
    /// Its load today.
    pub load: &'a RoleLoad,
    /// The load of each slot now.
    pub slots: Vec<u64>,
    /// How well that is known.
    pub known: Known,
}

/// How well the load of a role is known after some steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Known {
    /// Well enough for the figures that a step promises.
    Well,
    /// Well enough for the plan after a step: a tag is in parts whose loads are taken for equal.
    About,
    /// A step may have changed it in a way that cannot be told.
    No,
}

/// The nodes of a role: what each holds, its heaviest slot, its weight and its place.
struct NodesNow {
    places: Vec<usize>,
    loads: Vec<f64>,
    heaviest: Vec<f64>,
    shares: Vec<f64>,
}

impl<'a> Situation<'a> {
    /// The roles of today in which all nodes are compared.
    pub(super) fn today(summary: &'a Summary, owner: Vec<Option<usize>>) -> Self {
        let owning = summary.nodes.owning().count();
        let roles = summary.verdict.roles.iter().zip(&summary.role_loads);
        let judged = roles.filter(|(verdict, load)| {
            verdict.judged && verdict.compared == owning && load.slots.len() == owner.len()
        });
        let role = |(verdict, load): (&'a RoleVerdict, &'a RoleLoad)| RoleNow {
            verdict,
            load,
            slots: load.slots.clone(),
            known: Known::Well,
        };
        Situation {
            summary,
            roles: judged.map(role).collect(),
            owner,
        }
    }

    /// The loads of a metric: of a role as they are now, else as they were counted.
    pub(super) fn loads_of(&self, metric: Metric) -> Option<&[u64]> {
        let counted = self.summary.slots.loads.get(metric)?;
        let mut roles = self.roles.iter();
        let role = roles.find(|role| role.verdict.metric == metric.into());
        Some(role.map_or(counted, |role| &role.slots))
    }

    /// Whether the input has the keys themselves.
    pub(super) fn are_keys_known(&self) -> bool {
        self.summary.verdict.keys_known
    }

    /// The same with other owners.
    pub(super) fn with_owner(&self, owner: Vec<Option<usize>>) -> Self {
        Situation {
            owner,
            ..self.clone()
        }
    }

    fn nodes(&self, role: &RoleNow<'_>) -> NodesNow {
        let count = self.summary.nodes.list.len();
        let (mut loads, mut heaviest) = (vec![0.0; count], vec![0.0; count]);
        let mut owns = vec![false; count];
        for (owner, load) in self.owner.iter().zip(&role.slots) {
            if let Some(node) = owner {
                owns[*node] = true;
                loads[*node] += *load as f64;
                heaviest[*node] = f64::max(heaviest[*node], *load as f64);
            }
        }
        let places: Vec<usize> = (0..count).filter(|node| owns[*node]).collect();
        let pick = |of: &[f64]| places.iter().map(|at| of[*at]).collect::<Vec<f64>>();
        NodesNow {
            shares: parts(&pick(&role.load.weights)),
            loads: pick(&loads),
            heaviest: pick(&heaviest),
            places,
        }
    }

    /// M of a role.
    pub(super) fn max_over_mean(&self, role: &RoleNow<'_>) -> f64 {
        let nodes = self.nodes(role);
        ratio(&nodes.loads, &nodes.shares)
    }

    /// The present state of a role.
    pub(super) fn role_after(&self, role: &RoleNow<'_>) -> RoleAfter {
        let nodes = self.nodes(role);
        let max_over_mean = ratio(&nodes.loads, &nodes.shares);
        let state = if self.is_near_limit(role, &nodes) {
            State::Limit
        } else {
            role.verdict.bands.state(max_over_mean)
        };
        RoleAfter {
            max_over_mean: tidy(max_over_mean),
            rest: tidy(rest(&nodes.loads, &nodes.heaviest, &nodes.shares)),
            state,
        }
    }

    /// The present state of every known role.
    pub(super) fn after(&self) -> After {
        self.after_of(|_| true)
    }

    /// The same of some roles, by their places.
    pub(super) fn after_of(&self, is_shown: impl Fn(usize) -> bool) -> After {
        let mut after = After::default();
        let roles = self.roles.iter().enumerate();
        let shown = roles.filter(|(at, role)| role.known == Known::Well && is_shown(*at));
        for (_, role) in shown {
            let now = Some(self.role_after(role));
            match role.verdict.role {
                Some(Role::Memory) => after.memory = now,
                Some(Role::Load) => after.load = now,
                None => after.keys = now,
            }
        }
        after
    }

    /// Whether a role asks for moves: it is near its limit, or above its lower band for more than slots that fill a node.
    pub(super) fn is_needing(&self, role: &RoleNow<'_>) -> bool {
        let RoleAfter { rest, state, .. } = self.role_after(role);
        let is_movable = state == State::Limit || role.verdict.bands.state(rest) > State::Balanced;
        role.known < Known::No && state > State::Balanced && is_movable
    }

    /// Whether a role is above its lower band and higher than in `before`.
    pub(super) fn is_worse_than(&self, before: &Situation<'_>, role: usize) -> bool {
        let (now, then) = (&self.roles[role], &before.roles[role]);
        self.role_after(now).state > State::Balanced
            && self.max_over_mean(now) >= before.max_over_mean(then) + limit::WORTH
    }

    /// Whether a role asks for a change of the application: it is above its upper band, or near its limit.
    pub(super) fn is_pressing(&self, role: &RoleNow<'_>) -> bool {
        role.known < Known::No && self.role_after(role).state >= State::Skewed
    }

    /// How much each role is lower than in `before`, at most.
    pub(super) fn gain_over(&self, before: &Situation<'_>) -> f64 {
        let gains = self.roles.iter().zip(&before.roles).map(|(now, then)| {
            let (now, then) = (self.role_after(now), before.role_after(then));
            let is_above = |ratio: f64, gain: f64| {
                if ratio > 1.0 { gain } else { 0.0 }
            };
            let by_ratio = is_above(then.max_over_mean, then.max_over_mean - now.max_over_mean);
            by_ratio.max(is_above(then.rest, then.rest - now.rest))
        });
        gains.fold(0.0, f64::max)
    }

    /// The most that a node may hold in a role before it is at its limit of memory, by the place of the node.
    pub(super) fn hard_limits(&self, role: &RoleNow<'_>) -> Vec<Option<u64>> {
        let parts = self.summary.headroom.of(role.verdict.role);
        let is_memory = role.verdict.role == Some(Role::Memory);
        let held = |at: usize| self.held_today(role, at);
        let limit = |(at, part): (usize, &Option<f64>)| {
            let part = part.filter(|part| *part > 0.0 && is_memory)?;
            Some((held(at) * limit::FULL / part) as u64).filter(|limit| *limit > 0)
        };
        parts.iter().enumerate().map(limit).collect()
    }

    /// The load of a node in a role today.
    fn held_today(&self, role: &RoleNow<'_>, at: usize) -> f64 {
        let ranges = &self.summary.nodes.list[at].ranges;
        let slots = ranges.iter().flat_map(|(first, last)| *first..=*last);
        let loads = slots.filter_map(|slot| role.load.slots.get(usize::from(slot)));
        loads.map(|load| *load as f64).sum()
    }

    fn is_near_limit(&self, role: &RoleNow<'_>, nodes: &NodesNow) -> bool {
        let parts = self.summary.headroom.of(role.verdict.role);
        let least = match role.verdict.role {
            Some(Role::Load) => limit::BUSY,
            _ => limit::FULL,
        };
        let use_now = |(at, load): (&usize, &f64)| {
            let part = parts.get(*at).copied().flatten()?;
            let held = self.held_today(role, *at);
            (held > 0.0).then(|| part * load / held)
        };
        let mut now = nodes.places.iter().zip(&nodes.loads).filter_map(use_now);
        now.any(|part| part >= least)
    }
}
