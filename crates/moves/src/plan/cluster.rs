//! A cluster as the planner sees it: current and future nodes, pinned slots, and the flags of `slotscope plan`.

use std::time::Duration;

use slotscope_base::error::{Error, Result};
use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_base::slot::SLOTS;
use slotscope_base::text;
use slotscope_base::text::counted;
use slotscope_planner::move_request::{MoveLimits, Role};

use crate::plan::block_time::{BlockingKey, MAX_BLOCK, blocking_keys};
use crate::plan::inputs::PlannedNode;
use slotscope_model::Summary;
use slotscope_model::limit;
use slotscope_topology::{Topology, find, ranges};

/// The flags that change the request for moves; all other flags say how input is read and judged.
#[derive(Debug, Clone, PartialEq)]
pub struct MoveFlags {
    /// Relative capacities of nodes by name; 1 if not listed.
    pub weights: Vec<(String, f64)>,
    /// Empty primaries that will be added: `new-1`, `new-2` and so on.
    pub add: usize,
    /// Names of primaries to be emptied.
    pub remove: Vec<String>,
    /// Pinned slots.
    pub exclude: Vec<(u16, u16)>,
    /// Limits on what moves.
    pub limits: MoveLimits,
    /// How far above its fair share of the first role a node may stay: 0.03 for 3%; `None`: the default.
    pub tolerance: Option<f64>,
    /// A slot stays if migrating one of its keys blocks a node for longer than this; `None`: such slots move.
    pub max_block: Option<Duration>,
    /// Whether a plan is made even for an incomplete dump.
    pub force: bool,
    /// Upper size in bytes of a job (a set of slots migrated as one unit; a single slot may exceed it); `None`: no
    /// limit.
    pub job_bytes: Option<u64>,
}

impl Default for MoveFlags {
    /// The defaults of `slotscope plan`.
    fn default() -> Self {
        MoveFlags {
            weights: Vec::new(),
            add: 0,
            remove: Vec::new(),
            exclude: Vec::new(),
            limits: MoveLimits::default(),
            tolerance: None,
            max_block: Some(MAX_BLOCK),
            force: false,
            job_bytes: None,
        }
    }
}

/// Why a failed primary cannot be planned for, with a suggested fix.
const IS_FAILED: &str = "the topology has it as failed, so no slot can leave it or go to it; fail over to a replica \
    of it and take the topology again";

/// The message if every remaining primary has failed.
const ALL_FAILED: &str = "the topology has all that would be left as failed; repair the cluster, take the topology \
    again, or bring new ones with --add N";

/// A topology with the flags applied.
pub struct Cluster<'a> {
    /// The applied flags.
    pub flags: MoveFlags,
    topology: &'a Topology,
    /// Pinned slots.
    pub fixed: Vec<bool>,
    /// All nodes: those of the topology in order, then added ones.
    pub nodes: Vec<PlannedNode>,
    /// Keys whose migration would block a node for too long, the longest first.
    pub pinned: Vec<BlockingKey>,
}

impl MoveFlags {
    /// Finds the nodes and slots that the flags name.
    ///
    /// # Errors
    /// An unknown node, no node left to hold slots, or a slot that must move but cannot.
    pub fn on(self, topology: &Topology) -> Result<Cluster<'_>> {
        let nodes = self.nodes(topology)?;
        let fixed = self.fixed(topology, &nodes)?;
        Ok(Cluster {
            flags: self,
            topology,
            fixed,
            nodes,
            pinned: Vec::new(),
        })
    }

    /// Whether the user requests moves even if no load is judged.
    pub(super) fn ask_for_moves(&self) -> bool {
        self.add > 0 || !self.remove.is_empty() || self.tolerance.is_some()
    }

    fn nodes(&self, topology: &Topology) -> Result<Vec<PlannedNode>> {
        if self.add + topology.nodes.len() > SLOTS {
            let reason = "there cannot be more nodes than slots, 16384";
            return Err(Error::option("add", self.add.to_string(), reason));
        }
        let today = topology.nodes.iter().map(|node| PlannedNode {
            id: node.id.clone(),
            address: node.address.clone(),
            hostname: node.hostname.clone(),
            capacity: if node.is_up() { 1.0 } else { 0.0 },
            failed: !node.is_up(),
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
                .map_err(|reason| Error::bad(place, reason))
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

    /// Pinned slots: excluded ones, and those already being migrated.
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

impl<'a> Cluster<'a> {
    /// Also pins slots whose keys would block a node for too long.
    ///
    /// # Errors
    /// A pinned slot is on a node to be emptied.
    pub(crate) fn pinning(mut self, summary: &Summary) -> Result<Self> {
        let Some(most) = self.flags.max_block else {
            return Ok(self);
        };
        let mut keys = blocking_keys(summary);
        keys.retain(|key| key.block_time() > most);
        let must_leave = |key: &&BlockingKey| {
            let owner = self.topology.owner(key.slot).map(|node| &self.nodes[node]);
            owner.is_some_and(|node| node.capacity <= 0.0 && !node.failed)
        };
        if let Some(key) = keys.iter().find(must_leave) {
            return Err(Error::bad(
                format!("slot {}", key.slot),
                format!(
                    "is on a node to be emptied, and moving its key {} blocks the node for about {} ms, longer than \
                    --max-block {} ms; --move-big moves it",
                    text::short(&key.key),
                    key.block_ms,
                    most.as_millis()
                ),
            ));
        }
        for key in &keys {
            self.fixed[usize::from(key.slot)] = true;
        }
        self.pinned = keys;
        Ok(self)
    }

    /// Today's owner of each slot, failed nodes included.
    pub(crate) fn owners(&self) -> Vec<Option<usize>> {
        (0..SLOTS)
            .map(|slot| self.topology.owner(slot as u16))
            .collect()
    }

    /// A warning for each node that has failed, or is suspected to have.
    pub(super) fn failed_nodes(&self) -> impl Iterator<Item = String> + '_ {
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

impl Cluster<'_> {
    /// The capacity of each node in a role, on one scale: the weights that the user gave, 1 for all other nodes; else
    /// those of the verdict, and the least of them for a node that it does not weigh.
    pub(crate) fn capacity(&self, weights: &[f64]) -> Vec<f64> {
        if !self.flags.weights.is_empty() {
            return self.nodes.iter().map(|node| node.capacity).collect();
        }
        let positive = weights.iter().copied().filter(|weight| *weight > 0.0);
        let least = positive.fold(f64::INFINITY, f64::min);
        let usual = if least.is_finite() { least } else { 1.0 };
        let nodes = self.nodes.iter().enumerate();
        let capacity = nodes.map(|(at, node)| match weights.get(at) {
            _ if node.capacity <= 0.0 => 0.0,
            Some(weight) if *weight > 0.0 => *weight,
            _ => usual,
        });
        capacity.collect()
    }

    /// The memory that keys of each node may take where it is filled, and the most that those of any node may; `None` where
    /// no node has a limit.
    pub(super) fn caps(
        &self,
        summary: &Summary,
        taken: &[u64],
        owner: &[Option<usize>],
    ) -> Option<[Vec<Option<f64>>; 2]> {
        let mut held = vec![0.0; self.nodes.len()];
        for (owner, taken) in owner.iter().zip(taken) {
            if let Some(node) = owner {
                held[*node] += *taken as f64;
            }
        }
        let cap = |level: f64| {
            let cap_of = |(at, held): (usize, &f64)| {
                let room = summary.headroom.limit_of(at)?;
                let cap = room.taken_at(level);
                // A node that is full without its keys is not cured by moves.
                let is_cured = room.part(*held) >= limit::FULL && cap > 0.0;
                Some(if is_cured { cap } else { cap.max(*held) })
            };
            held.iter().enumerate().map(cap_of).collect::<Vec<_>>()
        };
        let caps = [limit::FILLED, limit::BELOW_FULL].map(cap);
        caps[0].iter().any(Option::is_some).then_some(caps)
    }

    /// The memory that keys take as a load that only has limits.
    pub(super) fn limited_role(&self, taken: Vec<u64>) -> Role<'static> {
        Role {
            metric: Metric::Bytes,
            loads: taken.into(),
            capacity: self.capacity(&[]),
            tolerance: 0.0,
            band: f64::INFINITY,
            is_goal: false,
        }
    }
}
