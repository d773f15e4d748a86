//! How much room the nodes have: from the bytes of the dump, or the memory that servers really use, to the limit that
//! the user names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::Metric;
use crate::name::Name;
use crate::summary::balance::tidy;
use crate::summary::independent_units::UnitsBy;
use crate::summary::nodes::{NodeLoad, Nodes};
use crate::summary::scaling::most_nodes;
use crate::summary::worded::Worded;

/// What the user says of the nodes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Room {
    /// Bytes that a node may use.
    pub maxmemory: u64,
    /// Growth a month, 0.05 for 5 %.
    pub growth: Option<f64>,
    /// The memory that nodes really use, by the index of the node.
    pub used: Vec<(usize, u64)>,
}

/// The room there is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Capacity {
    /// Bytes that a node may use.
    pub maxmemory: u64,
    /// All nodes' limits, less what is out of reach because the fullest node is full first.
    pub usable_bytes: Option<f64>,
    /// With more nodes than this the heaviest tag or key is more than a node's fair share; absent where tags were not
    /// counted.
    pub max_nodes: Option<u64>,
    /// Whether `used` is what servers use, not the bytes of the dump alone.
    #[serde(default)]
    pub measured: bool,
    /// The nodes in the order of the report.
    #[serde(default)]
    pub nodes: Vec<NodeRoom>,
    /// The node that is full first.
    pub first: Option<FirstFull>,
    /// The room of the node that is full first, in a sentence.
    #[serde(default)]
    pub sentence: Worded<FullestRoom>,
}

/// The room of the node that is full first.
#[derive(Debug, Clone, PartialEq)]
pub struct FullestRoom {
    /// Its address, or its id where the address is not known.
    pub node: Name,
    /// Bytes that it uses.
    pub used: u64,
    /// Bytes that it may use.
    pub maxmemory: u64,
    /// When it is full, in months; 0 where it is, absent where it does not grow.
    pub months: Option<f64>,
    /// Whether `used` is from a server, not the bytes of the dump alone.
    pub measured: bool,
}

/// The room of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeRoom {
    /// The node.
    pub id: Name,
    /// Bytes that it uses.
    pub used: u64,
    /// Bytes that are left; less than 0 where it is over the limit.
    pub headroom: i128,
    /// Until it is full; 0 where it is, absent where it does not grow.
    pub months: Option<f64>,
}

/// The node that is full first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FirstFull {
    /// The node.
    pub id: Name,
    /// When, in months; absent without growth.
    pub months: Option<f64>,
}

impl Capacity {
    /// The room of `nodes`; `None` where neither the dump nor the user says what they use.
    pub fn of(nodes: &Nodes, units: Option<&UnitsBy>, room: &Room) -> Option<Self> {
        let owning: Vec<(usize, &NodeLoad)> = nodes
            .list
            .iter()
            .enumerate()
            .filter(|(_, node)| node.slots > 0)
            .collect();
        let told = |index: usize| {
            room.used
                .iter()
                .find(|(node, _)| *node == index)
                .map(|(_, used)| *used)
        };
        let dumped = |node: &NodeLoad| node.load.get(Metric::Bytes).copied();
        // What is known of some nodes scales the others: dict, buffers and fragmentation are much alike.
        let (mut real, mut modelled) = (0.0, 0.0);
        for (index, node) in &owning {
            if let (Some(used), Some(bytes)) = (told(*index), dumped(node)) {
                (real, modelled) = (real + used as f64, modelled + bytes as f64);
            }
        }
        let factor = if modelled > 0.0 { real / modelled } else { 1.0 };
        let used = |index: usize, node: &NodeLoad| {
            told(index).or_else(|| Some((dumped(node)? as f64 * factor) as u64))
        };
        let rows: Option<Vec<_>> = owning
            .iter()
            .map(|(index, node)| Some((*node, used(*index, node)?)))
            .collect();
        let rows = rows.filter(|rows| !rows.is_empty())?;

        let total: f64 = rows.iter().map(|(_, used)| *used as f64).sum();
        let fullest = rows.iter().rev().max_by_key(|(_, used)| *used)?;
        let max_over_mean = fullest.1 as f64 * rows.len() as f64 / total;
        let limit = room.maxmemory as f64 * rows.len() as f64;
        let months = |used: u64| months(used, room);
        let measured = !room.used.is_empty();
        let first = FirstFull {
            id: fullest.0.id.clone(),
            months: months(fullest.1),
        };
        Some(Capacity {
            maxmemory: room.maxmemory,
            usable_bytes: (total > 0.0).then(|| tidy(limit / max_over_mean)),
            max_nodes: units
                .filter(|units| units.squares.is_some())
                .and_then(|units| most_nodes(nodes.total(Metric::Bytes) as f64, units)),
            measured,
            sentence: Worded::Finding(FullestRoom {
                node: fullest.0.name().clone(),
                used: fullest.1,
                maxmemory: room.maxmemory,
                months: first.months,
                measured,
            }),
            nodes: rows
                .iter()
                .map(|(node, used)| NodeRoom {
                    id: node.id.clone(),
                    used: *used,
                    headroom: i128::from(room.maxmemory) - i128::from(*used),
                    months: months(*used),
                })
                .collect(),
            first: Some(first),
        })
    }
}

/// ln(limit / used) / ln(1 + growth).
fn months(used: u64, room: &Room) -> Option<f64> {
    if used >= room.maxmemory {
        return Some(0.0);
    }
    let growth = room.growth.filter(|growth| *growth > 0.0)?;
    (used > 0).then(|| tidy((room.maxmemory as f64 / used as f64).ln() / growth.ln_1p()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::PerMetric;
    use crate::topology::Topology;

    fn nodes(bytes: [u64; 2]) -> Nodes {
        let topology = Topology::even(2, String::from("even 2")).unwrap();
        let mut loads = PerMetric::of_keys(vec![0; 16_384]);
        let slots = loads.get_or_insert_with(Metric::Bytes, || vec![0; 16_384]);
        (slots[0], slots[16_383]) = (bytes[0], bytes[1]);
        Nodes::of(&topology, &loads)
    }

    #[test]
    fn the_fullest_node_is_full_first() {
        let room = Room {
            maxmemory: 1000,
            growth: Some(0.1),
            used: Vec::new(),
        };
        let found = Capacity::of(&nodes([500, 250]), None, &room).unwrap();
        assert_eq!(
            found
                .nodes
                .iter()
                .map(|node| node.headroom)
                .collect::<Vec<_>>(),
            [500, 750]
        );
        let months = found.first.as_ref().unwrap().months.unwrap();
        assert!(
            (500.0 * 1.1f64.powf(months) - 1000.0).abs() < 1e-4,
            "{months}"
        );
        assert_eq!(
            found.usable_bytes,
            Some(1500.0),
            "when the fuller is full the other holds half of that"
        );
        let room = FullestRoom {
            node: Name::from("even-1"),
            used: 500,
            maxmemory: 1000,
            months: Some(months),
            measured: false,
        };
        assert_eq!(found.sentence, Worded::Finding(room));
    }

    #[test]
    fn what_servers_really_use_scales_the_others() {
        let room = Room {
            maxmemory: 1000,
            growth: None,
            used: vec![(0, 1500)],
        };
        let found = Capacity::of(&nodes([500, 250]), None, &room).unwrap();
        assert_eq!(
            found.nodes.iter().map(|node| node.used).collect::<Vec<_>>(),
            [1500, 750]
        );
        assert_eq!(
            (found.nodes[0].headroom, found.nodes[0].months),
            (-500, Some(0.0))
        );
        assert_eq!(found.nodes[1].months, None);
        assert!(found.measured);
    }

    #[test]
    fn without_bytes_there_is_nothing_to_say() {
        let topology = Topology::even(2, String::from("even 2")).unwrap();
        let nodes = Nodes::of(&topology, &PerMetric::of_keys(vec![1; 16_384]));
        let room = Room {
            maxmemory: 1000,
            growth: None,
            used: vec![(0, 1)],
        };
        assert_eq!(Capacity::of(&nodes, None, &room), None);
        let all = Room {
            used: vec![(0, 400), (1, 300)],
            ..room
        };
        assert_eq!(
            Capacity::of(&nodes, None, &all).unwrap().nodes[1].headroom,
            700
        );
    }
}
