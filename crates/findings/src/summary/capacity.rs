//! Headroom of nodes: from used memory (or the bytes of the dump) to the limit set by the servers or the user.

use slotscope_base::metric::Metric;
use slotscope_model::balance::tidy;
use slotscope_model::capacity::{Capacity, FirstFull, NodeRoom, Room};
use slotscope_model::nodes::{NodeLoad, Nodes};

use crate::summary::floor::largest_useful_nodes;
use crate::summary::observed::Observed;
use crate::wording::capacity::full_first;

/// The headroom of `nodes`; `None` without any limit or any usage. `bytes` are by slot.
pub(crate) fn of(
    nodes: &Nodes,
    bytes: Option<&[u64]>,
    room: &Room,
    observed: &Observed,
) -> Option<Capacity> {
    let placed = nodes.list.iter().enumerate();
    let owning: Vec<(usize, &NodeLoad)> = placed.filter(|(_, node)| node.slots > 0).collect();
    let used = used(&owning, room, observed);
    if room.maxmemory.is_some() && used.iter().any(Option::is_none) {
        return None;
    }
    let limit = |at: usize| room.maxmemory.or_else(|| observed.server(at)?.limit());
    let row = |((at, node), used): (&(usize, &NodeLoad), &Option<u64>)| {
        let (used, maxmemory) = ((*used)?, limit(*at)?);
        Some(NodeRoom {
            id: node.id.clone(),
            maxmemory,
            used,
            headroom: i128::from(maxmemory) - i128::from(used),
            months: months(used, maxmemory, room.growth),
        })
    };
    let rows: Vec<NodeRoom> = owning.iter().zip(&used).filter_map(row).collect();
    let part = |room: &NodeRoom| room.used as f64 / room.maxmemory as f64;
    let fullest = rows
        .iter()
        .rev()
        .max_by(|a, b| part(a).total_cmp(&part(b)))?;
    let total: f64 = rows.iter().map(|room| room.used as f64).sum();
    let limits: f64 = rows.iter().map(|room| room.maxmemory as f64).sum();
    let max_over_mean = part(fullest) * limits / total;
    let mut servers = observed.servers.iter().flatten();
    let measured = !room.used.is_empty() || servers.any(|server| server.used_memory.is_some());
    Some(Capacity {
        maxmemory: fullest.maxmemory,
        usable_bytes: (total > 0.0).then(|| tidy(limits / max_over_mean)),
        max_nodes: bytes.and_then(largest_useful_nodes),
        measured,
        sentence: full_first(
            &nodes.label(&fullest.id),
            (fullest.used, fullest.maxmemory),
            fullest.months,
            measured,
        ),
        first: Some(FirstFull {
            id: fullest.id.clone(),
            months: fullest.months,
        }),
        nodes: rows,
    })
}

/// The fraction of its limit that each node uses, as given by the user or its server, else the bytes of the dump,
/// scaled like those of known nodes.
fn used(owning: &[(usize, &NodeLoad)], room: &Room, observed: &Observed) -> Vec<Option<u64>> {
    let told = |at: usize| {
        let by_user = room.used.iter().find(|(node, _)| *node == at);
        let by_server = || observed.server(at)?.counted_memory();
        by_user.map(|(_, used)| *used).or_else(by_server)
    };
    let dumped = |node: &NodeLoad| node.load.get(Metric::Bytes).copied();
    // Known nodes set the scale for the others: dict, buffers and fragmentation are similar.
    let known = owning
        .iter()
        .filter_map(|(at, node)| Some((told(*at)?, dumped(node)?)));
    let (real, modelled) = known.fold((0.0, 0.0), |(real, modelled), (used, bytes)| {
        (real + used as f64, modelled + bytes as f64)
    });
    let factor = if modelled > 0.0 { real / modelled } else { 1.0 };
    let scaled = |node: &NodeLoad| Some((dumped(node)? as f64 * factor) as u64);
    owning
        .iter()
        .map(|(at, node)| told(*at).or_else(|| scaled(node)))
        .collect()
}

/// ln(limit / used) / ln(1 + growth).
fn months(used: u64, limit: u64, growth: Option<f64>) -> Option<f64> {
    if used >= limit {
        return Some(0.0);
    }
    let growth = growth.filter(|growth| *growth > 0.0)?;
    (used > 0).then(|| tidy((limit as f64 / used as f64).ln() / growth.ln_1p()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::nodes as node_loads;
    use slotscope_base::metric::PerMetric;
    use slotscope_topology::Topology;

    fn nodes(bytes: [u64; 2]) -> Nodes {
        let topology = Topology::even(2, String::from("even 2")).unwrap();
        let mut loads = PerMetric::of_keys(vec![0; 16_384]);
        let slots = loads.get_or_insert_with(Metric::Bytes, || vec![0; 16_384]);
        (slots[0], slots[16_383]) = (bytes[0], bytes[1]);
        node_loads::of(&topology, &loads)
    }

    #[test]
    fn the_fullest_node_is_full_first() {
        let room = Room {
            maxmemory: Some(1000),
            growth: Some(0.1),
            used: Vec::new(),
        };
        let found = of(&nodes([500, 250]), None, &room, &Observed::default()).unwrap();
        let headroom = [0, 1].map(|at| found.nodes[at].headroom);
        assert_eq!(headroom, [500, 750]);
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
    }

    #[test]
    fn what_servers_really_use_scales_the_others() {
        let room = Room {
            maxmemory: Some(1000),
            growth: None,
            used: vec![(0, 1500)],
        };
        let found = of(&nodes([500, 250]), None, &room, &Observed::default()).unwrap();
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
        let nodes = node_loads::of(&topology, &PerMetric::of_keys(vec![1; 16_384]));
        let room = Room {
            maxmemory: Some(1000),
            growth: None,
            used: vec![(0, 1)],
        };
        assert_eq!(of(&nodes, None, &room, &Observed::default()), None);
        let all = Room {
            used: vec![(0, 400), (1, 300)],
            ..room
        };
        assert_eq!(
            of(&nodes, None, &all, &Observed::default()).unwrap().nodes[1].headroom,
            700
        );
    }
}
