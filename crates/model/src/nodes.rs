//! The load of every primary: slot loads summed by owner.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use slotscope_base::metric::{Metric, PerMetric};
use slotscope_base::name::Name;
use slotscope_base::slot::SLOTS;
use slotscope_base::text;
use slotscope_topology::Topology;

use crate::balance::Balance;
use crate::node_labels::SharedParts;
use crate::state::Role;

/// The primaries and their loads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Nodes {
    /// "assumed even 3", "even 6", "one node a file", or the file that the topology was read from.
    pub source: Name,
    /// The primaries in the order of their first slot.
    pub list: Vec<NodeLoad>,
    /// Balance of the primaries that own slots, by metric.
    #[serde(flatten)]
    pub balance: PerMetric<Balance>,
    /// Slots on their way to another node.
    #[serde(default)]
    pub in_flight: Vec<Move>,
    /// Slots that a collection found open: their keys are not in it.
    #[serde(skip)]
    pub open: Vec<u16>,
    /// Slots and loads that belong to no node.
    #[serde(default)]
    pub unowned: Unowned,
}

/// One primary.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct NodeLoad {
    /// Its id.
    pub id: Name,
    /// Where it listens, if that is known.
    pub address: Option<Name>,
    /// The hostname that it announces, without a port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hostname: Option<Name>,
    /// Whether the topology has it as failed: `fail`. A suspicion, `fail?`, is in the flags alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// Its flags in the topology, and how it answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<NodeFlag>,
    /// How many replicas it has that have not failed; absent where the topology does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<u32>,
    /// Its load in fair shares, by role.
    #[serde(default, skip_serializing_if = "OverShare::is_empty")]
    pub over_share: OverShare,
    /// The part of its memory limit that it uses, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_use: Option<f64>,
    /// Its behaviour when memory is full: `maxmemory-policy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// Whether its operations were captured, where captures are among the inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured: Option<bool>,
    /// The commands that it ran, also those that are in no slot, where a tenth of all are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commands: Option<u64>,
    /// How many slots it owns.
    pub slots: u32,
    /// The ranges, first and last slot included.
    #[serde(default)]
    pub ranges: Vec<(u16, u16)>,
    /// Its load.
    #[serde(flatten)]
    pub load: PerMetric<u64>,
    /// The parts that its name shares with those of all others.
    #[serde(skip)]
    pub shared: SharedParts,
}

/// The load of a node in fair shares, by role.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct OverShare {
    /// Of memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<f64>,
    /// The load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
}

impl OverShare {
    fn is_empty(&self) -> bool {
        *self == OverShare::default()
    }

    /// The value of a role.
    pub fn of(&self, role: Role) -> Option<f64> {
        match role {
            Role::Memory => self.memory,
            Role::Load => self.load,
        }
    }
}

/// The flags of a primary in a listing, and those that its answers add.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub enum NodeFlag {
    /// The cluster agrees that it has failed.
    #[serde(rename = "fail")]
    Fail,
    /// The node that was asked suspects that it has failed.
    #[serde(rename = "fail?")]
    Suspected,
    /// It could not be reached when it was asked last.
    #[serde(rename = "no answer")]
    Silent,
    /// It says `cluster_state:fail` and refuses keys.
    #[serde(rename = "cluster_state:fail")]
    Refusing,
}

impl NodeLoad {
    /// Its display name: its hostname with the port, else its address, else its short id.
    pub fn name(&self) -> Name {
        text::node_name(&self.id, self.address.as_ref(), self.hostname.as_ref())
    }

    /// Its name in columns and charts: without the parts shared by all node names.
    pub fn label(&self) -> Name {
        self.shared.label(&self.name())
    }

    /// Whether it has failed or is unreachable: its slots return with it, or with a replica.
    pub fn is_lost(&self) -> bool {
        self.failed || self.flags.contains(&NodeFlag::Silent)
    }

    /// Whether the queried node suspects that it has failed: `fail?`.
    pub fn is_suspected(&self) -> bool {
        self.flags.contains(&NodeFlag::Suspected)
    }

    /// Its load in a metric; 0 if the input lacks the metric.
    pub fn load_by(&self, metric: Metric) -> u64 {
        self.load.get(metric).copied().unwrap_or(0)
    }
}

/// A slot that is being moved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Move {
    /// The slot.
    pub slot: u16,
    /// The node that owns it.
    pub from: Name,
    /// The node that it goes to.
    pub to: Name,
}

/// Slots of no node and their load.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Unowned {
    /// How many slots.
    pub slots: u32,
    /// Their load.
    #[serde(flatten)]
    pub load: PerMetric<u64>,
}

impl Nodes {
    /// Whether they are an even split, requested or assumed, not taken from a listing.
    pub fn is_even(&self) -> bool {
        let is_first = |node: &NodeLoad| node.id.0 == b"even-1";
        !self.are_files() && self.list.first().is_some_and(is_first)
    }

    /// Whether they are assumed because nothing names the nodes.
    pub fn are_assumed(&self) -> bool {
        self.is_even() && self.source.0.starts_with(b"assumed even ")
    }

    /// Whether each input file is one node.
    pub fn are_files(&self) -> bool {
        self.source.0 == Topology::ONE_A_FILE.as_bytes()
    }

    /// The owner of each slot, as an index into the list.
    pub fn owners(&self) -> Vec<Option<usize>> {
        let mut owners = vec![None; SLOTS];
        for (at, node) in self.list.iter().enumerate() {
            for (first, last) in &node.ranges {
                let slots = usize::from(*first)..=usize::from(*last);
                // A report is read from a file and may contain anything.
                owners
                    .get_mut(slots)
                    .into_iter()
                    .for_each(|slots| slots.fill(Some(at)));
            }
        }
        owners
    }

    /// The slots that are open, by the listing or by a collection, in order.
    pub fn open_slots(&self) -> Vec<u16> {
        let listed = self.in_flight.iter().map(|moving| moving.slot);
        let open: BTreeSet<u16> = listed.chain(self.open.iter().copied()).collect();
        open.into_iter().collect()
    }

    /// The place of a node in the list.
    pub fn place(&self, id: &Name) -> Option<usize> {
        self.list.iter().position(|node| node.id == *id)
    }

    /// The node with this id.
    pub fn get(&self, id: &Name) -> Option<&NodeLoad> {
        self.list.iter().find(|node| node.id == *id)
    }

    /// The name of that node in columns and charts; without such a node, the id.
    pub fn label(&self, id: &Name) -> Name {
        self.get(id).map_or_else(|| id.clone(), NodeLoad::label)
    }

    /// The primaries that own slots.
    pub fn owning(&self) -> impl Iterator<Item = &NodeLoad> {
        self.list.iter().filter(|node| node.slots > 0)
    }

    /// The load of all nodes together.
    pub fn total(&self, metric: Metric) -> u128 {
        self.list
            .iter()
            .filter_map(|node| node.load.get(metric))
            .map(|load| u128::from(*load))
            .sum()
    }
}
