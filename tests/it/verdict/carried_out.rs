//! Steps as an operator carries them out: slots move on the topology, keys get the names that a split gives them.

use slotscope::metric::Metric;
use slotscope::name::Name;
use slotscope::plan::request::PlanRequest;
use slotscope::summary::Summary;
use slotscope::summary::step::Step;
use slotscope::topology::{Node, Topology};

/// The topology after the moves of the `slotscope plan` of a step.
pub(super) fn moved(summary: &Summary, topology: &Topology, step: &Step) -> Topology {
    let command = step.command.as_ref().map(ToString::to_string);
    let command = command.unwrap_or_default();
    let by = command.split_once("--by ").map_or("", |(_, by)| by);
    let by = by.split(' ').next().unwrap_or_default();
    let by = by.split(',').filter(|name| !name.is_empty()).map(|name| {
        let metrics = [Metric::Keys, Metric::Bytes, Metric::Ops];
        metrics.into_iter().find(|metric| metric.name() == name)
    });
    let by: Vec<(Metric, f64)> = by.map(|metric| (metric.unwrap(), 1.0)).collect();
    planned(summary, topology, by)
}

/// The topology after the moves of `slotscope plan`.
pub(super) fn planned(summary: &Summary, topology: &Topology, by: Vec<(Metric, f64)>) -> Topology {
    let request = PlanRequest::new(by);
    let outcome = request.on(topology).unwrap().plan(summary).unwrap();
    let mut owner: Vec<usize> = (0..16_384)
        .map(|slot| topology.owner(slot).unwrap())
        .collect();
    let index = |id: &Name| {
        let mut nodes = topology.nodes.iter();
        nodes.position(|node| node.id.as_bytes() == id.0).unwrap()
    };
    for moved in &outcome.moves {
        for (first, last) in &moved.ranges {
            owner[usize::from(*first)..=usize::from(*last)].fill(index(&moved.to));
        }
    }
    of_owners(&owner, topology)
}

fn of_owners(owner: &[usize], topology: &Topology) -> Topology {
    let line = |(index, node): (usize, &Node)| {
        let slots = (0..16_384)
            .filter(|slot| owner[*slot] == index)
            .map(|slot| format!(" {slot}"));
        let address = node.address.as_deref().unwrap();
        format!(
            "{} {address}@1 master - 0 0 1 connected{}\n",
            node.id,
            slots.collect::<String>()
        )
    };
    let text: String = topology.nodes.iter().enumerate().map(line).collect();
    Topology::parse("cluster.nodes", text.as_bytes()).unwrap()
}

/// The key in the part of a tag that its CRC16 says; unchanged if it has none of the tags.
pub(super) fn renamed(key: &str, names: &[Name], parts: u32) -> String {
    let tags = names.iter().map(|name| format!("{{{name}}}"));
    let part = u32::from(hashslot::crc16(key.as_bytes())) % parts;
    match tags.into_iter().find(|tag| key.contains(tag)) {
        Some(tag) => key.replace(&tag, &format!("{}:{part}}}", &tag[..tag.len() - 1])),
        None => key.to_owned(),
    }
}

/// Rows with the keys of the tags `names` renamed.
pub(super) fn split_tags(
    rows: &[(String, u64, u64)],
    names: &[Name],
    parts: u32,
) -> Vec<(String, u64, u64)> {
    let rows = rows.iter();
    rows.map(|(key, size, ops)| (renamed(key, names, parts), *size, *ops))
        .collect()
}

/// Rows with the keys `names` in parts, each a key of its own.
pub(super) fn split_keys(
    rows: &[(String, u64, u64)],
    names: &[Name],
    parts: u32,
) -> Vec<(String, u64, u64)> {
    let is_split = |key: &str| names.iter().any(|name| name.0 == key.as_bytes());
    let (split, mut rows): (Vec<_>, Vec<_>) =
        rows.iter().cloned().partition(|(key, ..)| is_split(key));
    let parts = u64::from(parts);
    for (key, size, ops) in split {
        let of = |all: u64, part: u64| all / parts + u64::from(part < all % parts);
        rows.extend(
            (0..parts).map(|part| (format!("{key}:{part}"), of(size, part), of(ops, part))),
        );
    }
    rows
}
