//! Carries out steps as an operator does: slots move in the topology, keys get the names given by a split.

use slotscope::name::Name;
use slotscope::plan::cluster::MoveFlags;
use slotscope::summary::Summary;
use slotscope::summary::independent_units::UnitKind;
use slotscope::topology::{Node, Topology};

/// The topology after the moves of `slotscope plan`.
pub(super) fn moved(summary: &Summary, topology: &Topology) -> Topology {
    let cluster = MoveFlags::default().on(topology).unwrap();
    let outcome = cluster.plan(summary).unwrap();
    let mut owner = owners(topology);
    let index = |id: &Name| {
        let mut nodes = topology.nodes.iter();
        nodes.position(|node| node.id.as_bytes() == id.0).unwrap()
    };
    for moved in &outcome.moves {
        for (first, last) in &moved.ranges {
            owner[usize::from(*first)..=usize::from(*last)].fill(index(&moved.to));
        }
    }
    Topology::parse("cluster.nodes", listed(&owner, topology).as_bytes()).unwrap()
}

/// The owner of each slot.
pub(super) fn owners(topology: &Topology) -> Vec<usize> {
    let owners = (0..16_384).map(|slot| topology.owner(slot).unwrap());
    owners.collect()
}

/// The listing in which the slots have these owners.
pub(super) fn listed(owner: &[usize], topology: &Topology) -> String {
    let line = |(index, node): (usize, &Node)| {
        let slots = (0..16_384).filter(|slot| owner[*slot] == index);
        let slots: String = slots.map(|slot| format!(" {slot}")).collect();
        let (id, address) = (&node.id, node.address.as_deref().unwrap());
        format!("{id} {address}@1 master - 0 0 1 connected{slots}\n")
    };
    topology.nodes.iter().enumerate().map(line).collect()
}

/// A tag or key that a step splits: its name, whether it is a tag, and the number of parts.
pub(super) type Piece = (Name, UnitKind, u32);

/// The key, with its tag replaced by the part selected by its CRC16; unchanged if it has none of the tags.
fn renamed(key: &str, pieces: &[Piece]) -> String {
    let tags = pieces.iter().filter(|(_, kind, _)| *kind == UnitKind::Tag);
    let found = tags
        .map(|(name, _, parts)| (format!("{{{name}}}"), *parts))
        .find(|(tag, _)| key.contains(tag));
    let Some((tag, parts)) = found else {
        return key.to_owned();
    };
    let part = u32::from(hashslot::crc16(key.as_bytes())) % parts;
    key.replace(&tag, &format!("{}:{part}}}", &tag[..tag.len() - 1]))
}

/// Rows with the keys of split tags renamed, and split keys in parts, each a key of its own.
pub(super) fn split(rows: &[(String, u64, u64)], pieces: &[Piece]) -> Vec<(String, u64, u64)> {
    let mut after = Vec::new();
    for (key, size, ops) in rows {
        let is_it = |(name, kind, _): &&Piece| *kind != UnitKind::Tag && name.0 == key.as_bytes();
        let Some((.., parts)) = pieces.iter().find(is_it) else {
            after.push((renamed(key, pieces), *size, *ops));
            continue;
        };
        let parts = u64::from(*parts);
        let of = |all: u64, part: u64| all / parts + u64::from(part < all % parts);
        // The name without braces, as all of a part's name is hashed.
        let name = key.replace(['{', '}'], "");
        let part = |part| (format!("{name}:{part}"), of(*size, part), of(*ops, part));
        after.extend((0..parts).map(part));
    }
    after
}
