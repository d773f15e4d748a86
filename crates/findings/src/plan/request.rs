//! A request for a plan, and the plan of a cluster that meets it.

use std::time::Duration;

use slotscope_engine::error::{Error, Result};
use slotscope_engine::metric::Metric;
use slotscope_engine::name::Name;
use slotscope_engine::slot::SLOTS;
use slotscope_engine::text;
use slotscope_engine::text::counted;

use crate::plan::block_time::{BlockingKey, MAX_BLOCK, blocking_keys};
use crate::plan::cluster::PlanCluster;
use crate::plan::doubts;
use crate::plan::goals::{Carried, Goals};
use crate::plan::inputs::{PlanInputs, PlannedNode};
use crate::plan::outcome::PlanOutcome;
use crate::plan::problem::{MoveLimits, Problem};
use crate::plan::solve::plan;
use crate::summary::Summary;
use crate::topology::{Topology, find, ranges};

/// A request for a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanRequest {
    /// The metrics that are evened out, with weights that order them; none: memory and load, as far as the input has them.
    pub by: Vec<(Metric, f64)>,
    /// Relative capacities of nodes by name; 1 for all others.
    pub weights: Vec<(String, f64)>,
    /// Empty primaries that will be added: `new-1`, `new-2` and so on.
    pub add: usize,
    /// Names of primaries to be emptied.
    pub remove: Vec<String>,
    /// Slots that stay where they are.
    pub exclude: Vec<(u16, u16)>,
    /// How much may move.
    pub limits: MoveLimits,
    /// How far above its fair share of the first goal a node may stay: 0.03 for 3%; `None`: the default.
    pub tolerance: Option<f64>,
    /// Bytes that a node may use: no node is brought above nine tenths of it.
    pub maxmemory: Option<u64>,
    /// Slots with a key whose move blocks a node for longer stay; `None`: they move.
    pub max_block: Option<Duration>,
    /// A job, a set of slots that moves in one piece, holds at most this many bytes, or is one slot; `None`: there is no limit.
    pub job_bytes: Option<u64>,
}

impl PlanRequest {
    /// The request of `slotscope plan` without flags, for these metrics.
    pub fn new(by: Vec<(Metric, f64)>) -> Self {
        PlanRequest {
            by,
            weights: Vec::new(),
            add: 0,
            remove: Vec::new(),
            exclude: Vec::new(),
            limits: MoveLimits::default(),
            tolerance: None,
            maxmemory: None,
            max_block: Some(MAX_BLOCK),
            job_bytes: None,
        }
    }
}

/// Why a failed primary cannot be planned for, and a suggested fix.
const IS_FAILED: &str = "the topology has it as failed, so no slot can leave it or go to it; fail over to a replica \
    of it and take the topology again";

/// The same of all that are left.
const ALL_FAILED: &str = "the topology has all that would be left as failed; repair the cluster, take the topology \
    again, or bring new ones with --add N";

/// A request whose nodes and slots have been found in a cluster.
pub struct Planner<'a> {
    request: PlanRequest,
    topology: &'a Topology,
    fixed: Vec<bool>,
    /// All nodes: those of the cluster in its order, then those to be added.
    pub nodes: Vec<PlannedNode>,
}

impl PlanRequest {
    /// Finds the nodes and slots of the request.
    ///
    /// # Errors
    /// A node that is not there, no node to hold slots, or a slot that would have to move and cannot.
    pub fn on(self, topology: &Topology) -> Result<Planner<'_>> {
        let nodes = self.nodes(topology)?;
        let fixed = self.fixed(topology, &nodes)?;
        Ok(Planner {
            request: self,
            topology,
            fixed,
            nodes,
        })
    }

    fn nodes(&self, topology: &Topology) -> Result<Vec<PlannedNode>> {
        if self.add + topology.nodes.len() > SLOTS {
            let what = "there cannot be more nodes than slots, 16384";
            return Err(Error::option("add", self.add.to_string(), what));
        }
        let today = topology.nodes.iter().map(|of| PlannedNode {
            id: of.id.clone(),
            address: of.address.clone(),
            hostname: of.hostname.clone(),
            capacity: if of.is_up() { 1.0 } else { 0.0 },
            failed: !of.is_up(),
        });
        let new = (1..=self.add).map(|i| PlannedNode {
            id: format!("new-{i}"),
            address: None,
            hostname: None,
            capacity: 1.0,
            failed: false,
        });
        let mut nodes: Vec<PlannedNode> = today.chain(new).collect();
        let find = |nodes: &[PlannedNode], name: &str, place: String| {
            find::find(nodes.iter().map(PlannedNode::called), name)
                .map_err(|what| Error::bad(place, what))
        };
        for (name, weight) in &self.weights {
            let place = format!("--weight {}={weight}", Name::from(name.as_str()));
            let at = find(&nodes, name, place.clone())?;
            if nodes[at].failed {
                return Err(Error::bad(place, IS_FAILED));
            }
            nodes[at].capacity = *weight;
        }
        for name in &self.remove {
            let place = format!("--remove {}", Name::from(name.as_str()));
            let at = find(&nodes, name, place.clone())?;
            if at >= topology.nodes.len() {
                return Err(Error::bad(place, "is to be added; leave out one of both"));
            }
            if nodes[at].failed {
                return Err(Error::bad(place, IS_FAILED));
            }
            nodes[at].capacity = 0.0;
        }
        match nodes.iter().any(|node| node.capacity > 0.0) {
            true => Ok(nodes),
            false if nodes.iter().any(|node| node.failed) => {
                Err(Error::bad("no primary that could take slots", ALL_FAILED))
            }
            false => Err(Error::option(
                "remove",
                "",
                "no node would be left to hold the slots; --add N brings new ones",
            )),
        }
    }

    /// Slots that stay: the excluded ones, and those that are being moved already.
    fn fixed(&self, topology: &Topology, nodes: &[PlannedNode]) -> Result<Vec<bool>> {
        let mut fixed = vec![false; SLOTS];
        let in_flight = topology.in_flight.iter().map(|moving| moving.slot);
        ranges::slots(&self.exclude)
            .chain(in_flight)
            .for_each(|slot| fixed[usize::from(slot)] = true);
        let is_stuck = |slot: &usize| {
            let owner = topology.owner(*slot as u16).map(|node| &nodes[node]);
            fixed[*slot] && owner.is_some_and(|node| node.capacity <= 0.0 && !node.failed)
        };
        match (0..SLOTS).find(is_stuck) {
            None => Ok(fixed),
            Some(slot) => Err(Error::bad(
                format!("slot {slot}"),
                "is on a node to be emptied and cannot move: it is in --exclude, or on its way already (redis-cli --cluster fix ends that)",
            )),
        }
    }
}

impl Planner<'_> {
    /// The plan for the keys of a summary.
    ///
    /// # Errors
    /// The input does not carry a metric of the request, or the slots hold nothing.
    pub fn plan(&self, summary: &Summary) -> Result<PlanOutcome> {
        let PlanRequest { by, limits, .. } = &self.request;
        let loads = &summary.slots.loads;
        for (metric, _) in by {
            loads.required(*metric, &format!("--by {}", metric.name()))?;
        }
        if limits.bytes.is_some() {
            loads.required(Metric::Bytes, "--max-bytes")?;
        }
        let mut cluster = self.cluster();
        let pinned = self.pinned(summary, &cluster)?;
        for key in &pinned {
            cluster.fixed[usize::from(key.slot)] = true;
        }
        let goals = self.goals(summary);
        let problem = Problem::of(&cluster, loads, &goals).ok_or_else(|| {
            let what = "no slot of these nodes holds any; redis-cli --cluster rebalance evens out slot counts";
            Error::bad("no load", what)
        })?;
        let owner: Vec<_> = (0..SLOTS)
            .map(|slot| self.topology.owner(slot as u16))
            .collect();
        let inputs = PlanInputs {
            nodes: &self.nodes,
            owner: &owner,
            loads,
            units: &summary.units,
            job_bytes: self.request.job_bytes,
        };
        let mut outcome = PlanOutcome::new(&problem, &plan(&problem), &inputs);
        outcome.set_keys(pinned, &blocking_keys(summary), self.request.max_block);
        outcome.warnings = self
            .failed_nodes()
            .chain(doubts::warnings(summary))
            .collect();
        Ok(outcome)
    }

    fn cluster(&self) -> PlanCluster {
        PlanCluster {
            capacity: self.nodes.iter().map(|node| node.capacity).collect(),
            leaves: self.nodes.iter().map(|node| node.capacity <= 0.0).collect(),
            fixed: self.fixed.clone(),
            maxmemory: vec![self.request.maxmemory; self.nodes.len()],
            limits: self.request.limits,
            ..PlanCluster::new(self.topology, self.request.add)
        }
    }

    fn goals(&self, summary: &Summary) -> Goals {
        let carried = Carried {
            nodes: self.nodes.iter().filter(|node| node.capacity > 0.0).count(),
            ..Carried::of(summary)
        };
        let PlanRequest {
            by,
            tolerance,
            add,
            remove,
            ..
        } = &self.request;
        let is_as_reported = by.is_empty() && *add == 0 && remove.is_empty();
        let asked = Goals::of_verdict(summary, *tolerance).filter(|_| is_as_reported);
        asked.unwrap_or_else(|| Goals::of(&carried, by, *tolerance))
    }

    /// The keys whose move would block a node for too long, the longest first.
    fn pinned(&self, summary: &Summary, cluster: &PlanCluster) -> Result<Vec<BlockingKey>> {
        let Some(most) = self.request.max_block else {
            return Ok(Vec::new());
        };
        let mut keys = blocking_keys(summary);
        keys.retain(|key| key.block_time() > most);
        let must_leave = |key: &&BlockingKey| {
            let owner = cluster.owner[usize::from(key.slot)];
            owner.is_some_and(|node| cluster.leaves[node])
        };
        match keys.iter().find(must_leave) {
            None => Ok(keys),
            Some(key) => Err(Error::bad(
                format!("slot {}", key.slot),
                format!(
                    "is on a node to be emptied, and moving its key {} blocks the node for about {} ms, longer than \
                    --max-block {} ms; --move-big moves it",
                    text::short(&key.key),
                    key.block_ms,
                    most.as_millis()
                ),
            )),
        }
    }

    /// A warning for each node that has failed, or is suspected to have.
    fn failed_nodes(&self) -> impl Iterator<Item = String> + '_ {
        let failed = self.topology.nodes.iter().filter(|node| !node.is_up());
        failed.map(|node| {
            let how = if node.failed {
                "failed"
            } else {
                "suspected to have failed (fail?)"
            };
            format!(
                "the topology has {} as {how}: it takes no slots, and its {} stay where they are",
                node.name(),
                counted(node.slots.into(), "slot")
            )
        })
    }
}
