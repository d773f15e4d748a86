//! Slot owners and loads, today or after some steps, and the resulting state of every role.

use slotscope_base::metric::Metric;

use crate::plan::cluster::Cluster;
use crate::plan::compared::{ratio, rest};
use slotscope_findings::summary::split::Split;
use slotscope_model::Summary;
use slotscope_model::balance::tidy;
use slotscope_model::bands::Bands;
use slotscope_model::compared::{Compared, parts};
use slotscope_model::limit;
use slotscope_model::measure::Measure;
use slotscope_model::role_load::RoleLoad;
use slotscope_model::role_verdict::RoleVerdict;
use slotscope_model::state::{Role, State};
use slotscope_model::step::{After, RoleAfter};
use slotscope_topology::ranges;

#[derive(Clone)]
pub(crate) struct Placement<'a> {
    summary: &'a Summary,
    /// The owner of each slot as an index into the topology, failed nodes included.
    pub owner: Vec<Option<usize>>,
    /// The same today.
    today: Vec<Option<usize>>,
    /// The roles in which all nodes are compared, in the order in which they are evened out.
    pub roles: Vec<PlacedRole<'a>>,
}

/// A role with its load per slot.
#[derive(Clone)]
pub(crate) struct PlacedRole<'a> {
    /// Its verdict; `None` for a load the user did not ask for.
    pub verdict: Option<&'a RoleVerdict>,
    /// Today's load.
    pub load: &'a RoleLoad,
    pub is_judged: bool,
    pub is_asked: bool,
    /// Its bands for the staying nodes.
    pub bands: Bands,
    pub slots: Vec<u64>,
    /// Whether the loads are not known well enough for figures, only to plan on: a tag was split, and its parts are
    /// assumed equal.
    pub is_approximate: bool,
}

impl<'a> Placement<'a> {
    /// Today's placement.
    pub(crate) fn today(summary: &'a Summary, cluster: &Cluster<'_>) -> Self {
        let owner = cluster.owners();
        let owning = summary.nodes.owning().count();
        let is_asked = !summary.asked.by.is_empty();
        let role = |(load, verdict): (&'a RoleLoad, Option<&'a RoleVerdict>)| {
            let is_judged = verdict.is_some_and(|verdict| verdict.judged);
            let is_whole =
                load.compared.len() == owning && load.reason.is_none() || cluster.flags.force;
            (is_whole && load.slots.len() == owner.len()).then(|| PlacedRole {
                verdict,
                load,
                is_judged,
                is_asked: is_asked && verdict.is_some(),
                bands: bands(summary, cluster, load, verdict),
                slots: load.slots.clone(),
                is_approximate: false,
            })
        };
        let verdicts = summary.verdict.roles.iter().map(Some);
        let judged = summary.role_loads.iter().zip(verdicts);
        let others = summary.guarded_loads.iter().map(|load| (load, None));
        let mut roles: Vec<_> = judged.chain(others).filter_map(role).collect();
        if roles.iter().any(|role| role.is_judged) {
            let is_in =
                |role: &PlacedRole<'_>| role.is_judged || role.is_asked || role.verdict.is_none();
            roles.retain(is_in);
        }
        if !is_asked {
            let has_bytes = roles.iter().any(|role| role.load.measure == Measure::Bytes);
            let first = match summary.headroom.first_role() {
                Role::Memory if has_bytes => Role::Memory,
                _ => Role::Load,
            };
            roles.sort_by_key(|role| (role.load.role != Some(first), role.load.role.is_none()));
        }
        Placement {
            summary,
            today: owner.clone(),
            owner,
            roles,
        }
    }

    /// The loads of a metric: a role's current loads, else the loads as counted.
    pub(crate) fn loads_of(&self, metric: Metric) -> Option<&[u64]> {
        let counted = self.summary.slots.loads.get(metric)?;
        let mut roles = self.roles.iter();
        let role = roles.find(|role| role.load.measure == metric.into());
        Some(role.map_or(counted, |role| &role.slots))
    }

    /// The bytes of each slot, if key sizes are known.
    pub(crate) fn bytes(&self) -> Option<&[u64]> {
        self.loads_of(Metric::Bytes)
            .filter(|bytes| bytes.iter().any(|bytes| *bytes > 0))
    }

    /// The memory that the keys of each slot take, where sizes and a limit of a node are known: of today's owner, which is
    /// where that was measured.
    pub(crate) fn taken(&self) -> Option<Vec<u64>> {
        let keys = &self.summary.slots.loads.keys;
        let headroom = &self.summary.headroom;
        headroom.taken(&self.today, self.bytes()?, keys)
    }

    /// The part of its limit of memory that each node uses, where it has one.
    pub(crate) fn parts_of_limit(&self) -> Vec<Option<f64>> {
        let Some(taken) = self.taken() else {
            return Vec::new();
        };
        let nodes = self.owner.iter().flatten().max().map_or(0, |last| last + 1);
        let mut held = vec![0.0; nodes.max(self.summary.nodes.list.len())];
        for (owner, taken) in self.owner.iter().zip(taken) {
            if let Some(node) = owner {
                held[*node] += taken as f64;
            }
        }
        let headroom = &self.summary.headroom;
        let nodes = held.iter().enumerate();
        nodes
            .map(|(at, held)| Some(headroom.limit_of(at)?.part(*held)))
            .collect()
    }

    /// The same with other owners; slots that these leave out stay where they are.
    pub(crate) fn with_owner(&self, owner: &[Option<usize>]) -> Self {
        let owners = owner.iter().zip(&self.owner);
        Placement {
            owner: owners.map(|(then, now)| then.or(*now)).collect(),
            ..self.clone()
        }
    }

    /// The state of a role over the staying nodes.
    pub(crate) fn role_after(&self, cluster: &Cluster<'_>, role: &PlacedRole<'_>) -> RoleAfter {
        let Nodes {
            loads,
            heaviest,
            shares,
            is_near_limit,
            is_idle,
        } = self.nodes(cluster, role);
        let max_over_mean = ratio(&loads, &shares);
        RoleAfter {
            max_over_mean: tidy(max_over_mean),
            rest: tidy(rest(&loads, &heaviest, &shares)),
            state: match () {
                () if is_near_limit => State::Limit,
                () if is_idle => State::Unjudged,
                () => role.bands.state(max_over_mean),
            },
        }
    }

    /// The state of every judged role whose loads are known.
    pub(crate) fn after(&self, cluster: &Cluster<'_>) -> After {
        let mut after = After::default();
        let known = self
            .roles
            .iter()
            .filter(|role| !role.is_approximate && role.verdict.is_some());
        for role in known.filter(|role| role.is_by_slot()) {
            after.set(role.load.role, Some(self.role_after(cluster, role)));
        }
        after
    }

    fn nodes(&self, cluster: &Cluster<'_>, role: &PlacedRole<'_>) -> Nodes {
        let count = cluster.nodes.len();
        let (mut loads, mut heaviest) = (vec![0.0; count], vec![0.0; count]);
        for (owner, load) in self.owner.iter().zip(&role.slots) {
            if let Some(node) = owner {
                loads[*node] += *load as f64;
                heaviest[*node] = f64::max(heaviest[*node], *load as f64);
            }
        }
        let is_near_limit = self.is_near_limit(role, &loads);
        let capacity = cluster.capacity(&role.load.weights);
        let places: Vec<usize> = (0..count).filter(|at| capacity[*at] > 0.0).collect();
        let pick = |values: &[f64]| places.iter().map(|at| values[*at]).collect::<Vec<f64>>();
        Nodes {
            shares: parts(&pick(&capacity)),
            heaviest: pick(&heaviest),
            is_idle: self.is_idle(role, &loads),
            loads: pick(&loads),
            is_near_limit,
        }
    }

    /// Whether a node is near its limit under these loads: for memory including its non-key overhead, for load by the
    /// CPU core it uses today.
    fn is_near_limit(&self, role: &PlacedRole<'_>, loads: &[f64]) -> bool {
        let headroom = &self.summary.headroom;
        match (role.load.role, role.load.measure) {
            (Some(Role::Memory), Measure::Bytes) => {
                let parts = self.parts_of_limit().into_iter().flatten();
                parts.fold(0.0, f64::max) >= limit::FULL
            }
            (Some(Role::Memory), _) => headroom
                .memory
                .iter()
                .flatten()
                .any(|part| *part >= limit::FULL),
            (Some(Role::Load), _) => {
                let mut nodes = headroom.load.iter().zip(loads).enumerate();
                nodes.any(|(at, (part, load))| {
                    let today = self.held_today(role.load, at);
                    let is_busy = |part: f64| part * load / today >= limit::BUSY;
                    today > 0.0 && part.is_some_and(is_busy)
                })
            }
            (None, _) => false,
        }
    }

    /// Whether these loads of nodes are so little CPU time that how uneven they are says nothing: of the processes, which falls
    /// with that of their commands, else of commands.
    fn is_idle(&self, role: &PlacedRole<'_>, loads: &[f64]) -> bool {
        let Some(span) = role
            .load
            .span_secs
            .filter(|_| role.load.measure == Measure::Cpu)
        else {
            return false;
        };
        let mut processes = self.summary.headroom.load.iter().flatten();
        if role.load.is_estimated && processes.all(|part| *part < limit::IDLE_CPU) {
            // The capture came after the readings of their clocks, and has another load.
            return false;
        }
        let mut nodes = loads.iter().enumerate();
        nodes.all(|(at, load)| {
            let process = self.summary.headroom.load.get(at).copied().flatten();
            let today = process.map(|_| self.held_today(role.load, at));
            let part = match (process, today) {
                (Some(part), Some(today)) if today > 0.0 => part * load / today,
                _ => load / span / 1e6,
            };
            part < limit::IDLE_CPU
        })
    }

    /// The load of a node in a role today.
    fn held_today(&self, load: &RoleLoad, at: usize) -> f64 {
        let slots = ranges::slots(&self.summary.nodes.list[at].ranges);
        let loads = slots.filter_map(|slot| load.slots.get(usize::from(slot)));
        loads.map(|load| *load as f64).sum()
    }
}

struct Nodes {
    loads: Vec<f64>,
    heaviest: Vec<f64>,
    shares: Vec<f64>,
    is_near_limit: bool,
    is_idle: bool,
}

impl PlacedRole<'_> {
    /// Whether its load is known slot by slot, and not only node by node.
    pub(crate) fn is_by_slot(&self) -> bool {
        self.load.measure != Measure::UsedMemory
    }
}

/// The bands of a role on the plan's nodes: random variation depends on the number of nodes.
fn bands(
    summary: &Summary,
    cluster: &Cluster<'_>,
    load: &RoleLoad,
    verdict: Option<&RoleVerdict>,
) -> Bands {
    let capacity = cluster.capacity(&load.weights);
    let staying: Vec<f64> = capacity.into_iter().filter(|share| *share > 0.0).collect();
    let verdict = verdict.filter(|verdict| verdict.fullest.is_some());
    if let Some(verdict) = verdict.filter(|_| staying.len() == load.compared.len()) {
        return verdict.bands;
    }
    let metric = load.measure.metric();
    let units = summary
        .units
        .per
        .get(metric)
        .map(|units| load.units(&summary.nodes, units));
    let compared = Compared::new(&summary.nodes, load);
    let chance = units.as_ref().and_then(|units| {
        let split = Split::of(&compared, units, load.measure)?;
        split.by_chance_on(&parts(&staying))
    });
    Bands::new(load.measure, chance, None)
}
