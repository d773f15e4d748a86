//! What a plan is to be like, and the plan of a cluster that is so.

use crate::error::{Error, Result};
use crate::metric::Metric;
use crate::name::Name;
use crate::plan::load;
use crate::plan::outcome::{PlanInputs, PlanOutcome, PlannedNode};
use crate::plan::problem::{MoveLimits, Problem};
use crate::plan::solve::plan;
use crate::slot::SLOTS;
use crate::summary::Summary;
use crate::summary::cause::Verdict;
use crate::topology::{Topology, find, ranges};

/// What a plan is to be like.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanRequest {
    /// What load is: metrics and their weights, each metric measured by its own total.
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
    /// How far above its fair share a node may stay, or above the lower bound where that is higher; 0.01 for 1 %.
    pub tolerance: f64,
}

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
            return Err(Error::bad(format!("--add {}", self.add), what));
        }
        let today = topology.nodes.iter().map(|of| PlannedNode {
            id: of.id.clone(),
            address: of.address.clone(),
            hostname: of.hostname.clone(),
            capacity: 1.0,
        });
        let new = (1..=self.add).map(|i| PlannedNode {
            id: format!("new-{i}"),
            address: None,
            hostname: None,
            capacity: 1.0,
        });
        let mut nodes: Vec<PlannedNode> = today.chain(new).collect();
        let find = |nodes: &[PlannedNode], name: &str, place: String| {
            find::find(nodes.iter().map(PlannedNode::called), name)
                .map_err(|what| Error::bad(place, what))
        };
        for (name, weight) in &self.weights {
            let place = format!("--weight {}={weight}", Name::from(name.as_str()));
            let at = find(&nodes, name, place)?;
            nodes[at].capacity = *weight;
        }
        for name in &self.remove {
            let place = format!("--remove {}", Name::from(name.as_str()));
            let at = find(&nodes, name, place.clone())?;
            if at >= topology.nodes.len() {
                return Err(Error::bad(place, "is to be added; leave out one of both"));
            }
            nodes[at].capacity = 0.0;
        }
        match nodes.iter().any(|node| node.capacity > 0.0) {
            true => Ok(nodes),
            false => Err(Error::bad(
                "--remove",
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
            let owner = topology.owner(*slot as u16);
            fixed[*slot] && owner.is_some_and(|node| nodes[node].capacity <= 0.0)
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
        let PlanRequest {
            by,
            limits,
            tolerance,
            ..
        } = &self.request;
        let (topology, loads) = (self.topology, &summary.slots.loads);
        for (metric, _) in by {
            loads.required(*metric, &format!("--by {}", metric.name()))?;
        }
        if limits.bytes.is_some() {
            loads.required(Metric::Bytes, "--max-bytes")?;
        }
        let is_owned = |slot| topology.owner(slot as u16).is_some();
        let blended = load::blend(loads, by, is_owned).ok_or_else(|| {
            let what = "no slot of these nodes holds any; redis-cli --cluster rebalance evens out slot counts";
            Error::bad("no load", what)
        })?;
        let problem = Problem {
            loads: &blended,
            bytes: loads.bytes().map(Vec::as_slice),
            owner: (0..loads.keys.len())
                .map(|slot| topology.owner(slot as u16))
                .collect(),
            capacity: self.nodes.iter().map(|node| node.capacity).collect(),
            fixed: self.fixed.clone(),
            limits: *limits,
            tolerance: *tolerance,
        };
        let inputs = PlanInputs {
            nodes: &self.nodes,
            loads,
            by,
            units: &summary.units,
        };
        let mut outcome = PlanOutcome::of(&problem, &plan(&problem), &inputs);
        outcome.warnings = warnings(summary);
        Ok(outcome)
    }
}

/// What a reader of the plan is warned of.
fn warnings(summary: &Summary) -> Vec<String> {
    let input = &summary.input;
    let mut warnings = Vec::new();
    if summary.skew.verdict == Verdict::Suspicious {
        warnings.push(summary.skew.sentence.to_string());
    }
    let stops = input.incomplete.iter();
    warnings
        .extend(stops.map(|stop| format!("{}: byte {}: {}", stop.file, stop.byte, stop.reason)));
    warnings.extend(input.warnings.iter().map(ToString::to_string));
    let unowned = &summary.nodes.unowned;
    if unowned.slots > 0 {
        let what = "slots that no node owns stay so; redis-cli --cluster fix gives them to one";
        warnings.push(format!("{} {what}", unowned.slots));
    }
    if let [first, ..] = summary.nodes.in_flight.as_slice() {
        let count = summary.nodes.in_flight.len();
        warnings.push(format!(
            "slots on their way to another node stay out of the plan: {count}, slot {} first",
            first.slot
        ));
    }
    warnings
}
