//! Infers cluster nodes from dumps, one file per node: files of different nodes share no slot.
//!
//! Disjoint slots are significant only if chance would have made the files overlap, or if the servers were in cluster
//! mode. Files that share most of their slots are dumps of one node. A few slots move while RDB files are taken; for
//! any other overlap, `overlap` decides whether the files are of nodes nevertheless.

use std::collections::BTreeMap;

use slotscope_engine::slot::SLOTS;

use crate::file_groups::{FileSlots, Group, are_apart, groups};
use crate::overlap::{self, Overlap};
use crate::{InFlight, Node, Topology};

/// The nodes, and the files of each.
#[derive(Debug, Clone, PartialEq)]
pub struct OfFiles {
    /// The nodes.
    pub topology: Topology,
    /// For each node, the indices of its files.
    pub files: Vec<Vec<usize>>,
    /// The damage, if nodes cover the same slots.
    pub overlap: Option<Overlap>,
}

/// A run of empty slots is too long for chance if keys elsewhere would leave one in e^45 dumps.
const NEVER: f64 = 45.0;
/// Minimum length of such a run: sequential ids skip single slots.
const WIDE: f64 = 16.0;

/// Redis Cluster is made for up to this many nodes, as its specification says. Comparing files with each other takes
/// time that grows with the square of their number.
const MOST_FILES: usize = 1000;

/// Why files are not treated as nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotNodes {
    /// Fewer than two have keys.
    Alone,
    /// There are more of them than a cluster has nodes.
    TooMany,
    /// All of them share most of their slots.
    SameSlots,
    /// Some of them share this many slots.
    Shared(u32),
    /// They have too few keys: chance alone could have kept their slots apart.
    TooFewKeys,
}

/// The nodes that `files` are dumps of.
///
/// # Errors
/// They are not dumps of several nodes.
pub fn of_files(files: &[FileSlots]) -> Result<OfFiles, NotNodes> {
    let with_keys = files.iter().filter(|file| !file.slots.is_empty()).count();
    match with_keys {
        0 | 1 => return Err(NotNodes::Alone),
        2..=MOST_FILES => {}
        _ => return Err(NotNodes::TooMany),
    }
    let groups = groups(files, |_| true);
    let (groups, overlap) = if groups.len() >= 2 && are_apart(&groups, files) {
        (groups, None)
    } else {
        let (groups, overlap) = overlap::find(files).ok_or_else(|| why_not(&groups))?;
        (groups, Some(overlap))
    };
    let (mut owner, mut in_flight) = owners(&groups, overlap.is_some());
    if overlap.is_some() {
        in_flight.clear();
    }
    fill_gaps(&mut owner);
    Ok(OfFiles {
        overlap,
        ..named(&groups, &owner, &in_flight, files)
    })
}

/// Why these groups of files are not nodes.
fn why_not(groups: &[Group]) -> NotNodes {
    if groups.len() < 2 {
        return NotNodes::SameSlots;
    }
    let mut holders = vec![0u32; SLOTS];
    for group in groups {
        group.slots().for_each(|slot| holders[slot] += 1);
    }
    match holders.iter().filter(|holders| **holders > 1).count() {
        0 => NotNodes::TooFewKeys,
        shared => NotNodes::Shared(shared as u32),
    }
}

/// The group of each slot, and the second group of slots that are in several.
///
/// A few shared slots are in migration and stay with the group that has more slots. If there are many, they moved
/// between the dumps, most likely to an added node: the group with fewer slots gets them.
fn owners(groups: &[Group], are_many: bool) -> (Vec<Option<usize>>, BTreeMap<u16, usize>) {
    let (mut owner, mut also) = (vec![None; SLOTS], BTreeMap::new());
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_cached_key(|at| {
        (
            std::cmp::Reverse(groups[*at].count),
            groups[*at].bits.clone(),
        )
    });
    if are_many {
        order.reverse();
    }
    for at in order {
        for slot in groups[at].slots() {
            match owner[slot] {
                None => owner[slot] = Some(at),
                Some(_) => _ = also.insert(slot as u16, at),
            }
        }
    }
    (owner, also)
}

/// Assigns empty slots to the owner of the preceding slot, or of the first; they hold nothing, so no load depends on
/// it. Runs too long for chance stay unassigned: the file of their node is missing.
fn fill_gaps(owner: &mut [Option<usize>]) {
    let empty = owner.iter().filter(|owner| owner.is_none()).count();
    let per_slot = -(empty.max(1) as f64 / SLOTS as f64).ln();
    let longest = (NEVER / per_slot).max(WIDE) as usize;
    let mut before = owner.iter().flatten().next().copied();
    for run in owner.chunk_by_mut(|a, b| a.is_none() == b.is_none()) {
        match run.last().copied().flatten() {
            Some(last) => before = Some(last),
            None if run.len() <= longest => run.fill(before),
            None => {}
        }
    }
}

fn named(
    groups: &[Group],
    owner: &[Option<usize>],
    in_flight: &BTreeMap<u16, usize>,
    files: &[FileSlots],
) -> OfFiles {
    let name = |group: usize| files[groups[group].files[0]].name.clone();
    let node = |group: usize| Node {
        id: name(group),
        ..Node::default()
    };
    let nodes = (0..groups.len()).map(node).collect();
    let (topology, order) = Topology::of_owners(Topology::ONE_A_FILE.into(), nodes, owner);
    let moving = in_flight.iter().filter_map(|(slot, to)| {
        Some(InFlight {
            slot: *slot,
            from: name(owner[usize::from(*slot)]?),
            to: name(*to),
        })
    });
    OfFiles {
        files: order
            .iter()
            .map(|group| groups[*group].files.clone())
            .collect(),
        topology: Topology {
            in_flight: moving.collect(),
            ..topology
        },
        overlap: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, slots: impl IntoIterator<Item = u16>) -> FileSlots {
        FileSlots {
            name: name.into(),
            slots: slots.into_iter().collect(),
            ..FileSlots::default()
        }
    }

    fn snapshot(name: &str, slots: impl IntoIterator<Item = u16>) -> FileSlots {
        FileSlots {
            is_snapshot: true,
            ..file(name, slots)
        }
    }

    fn of_cluster(name: &str, slots: impl IntoIterator<Item = u16>) -> FileSlots {
        FileSlots {
            is_of_cluster: true,
            ..snapshot(name, slots)
        }
    }

    fn names(found: &OfFiles) -> Vec<&str> {
        let nodes = found.topology.nodes.iter();
        nodes.map(|node| node.id.as_str()).collect()
    }

    #[test]
    fn files_that_share_no_slot_are_nodes_in_the_order_of_their_slots() {
        let files = [file("b", 8000..16384), file("a", 0..8000)];
        let found = of_files(&files).unwrap();
        assert_eq!(names(&found), ["a", "b"]);
        assert_eq!(found.files, [[1], [0]]);
        assert_eq!(found.topology.nodes[0].ranges, [(0, 7999)]);
        assert_eq!(found.topology.owner(8000), Some(1));
        assert_eq!(found.topology.source, "one node a file");
    }

    #[test]
    fn few_keys_share_no_slot_by_chance_unless_their_servers_were_in_cluster_mode() {
        let [few, many]: [Vec<u16>; 2] = [vec![5, 9000], (0..16384).step_by(7).collect()];
        assert!(of_files(&[file("a", few.clone()), file("b", [70])]).is_err());
        assert!(of_files(&[snapshot("a", few.clone()), snapshot("b", [70])]).is_err());
        let found = of_files(&[of_cluster("a", few.clone()), of_cluster("b", [70])]).unwrap();
        assert_eq!(names(&found), ["a", "b"]);
        let mixed = [of_cluster("a", few), file("b", [70])];
        assert!(of_files(&mixed).is_err());
        // 2,341 random slots and none of 200 others: 28 would be shared.
        let apart: Vec<u16> = (3..1403).step_by(7).collect();
        assert!(of_files(&[file("a", many), file("b", apart)]).is_ok());
    }

    #[test]
    fn pieces_of_a_dump_are_no_nodes() {
        let piece = |from: u16| (from..16384).step_by(3);
        assert!(of_files(&[file("a", 0..16384), file("b", 0..16384)]).is_err());
        assert!(of_files(&[file("a", piece(0)), file("b", (0..16384).step_by(2))]).is_err());
        // A scan in slot order, cut within a slot.
        assert!(of_files(&[file("a", 0..=8000), file("b", 8000..16384)]).is_err());
        assert!(of_files(&[file("a", []), file("b", 0..16384)]).is_err());
        assert!(of_files(&[]).is_err());
    }

    #[test]
    fn more_files_than_a_cluster_has_nodes_are_no_nodes() {
        let files: Vec<FileSlots> = (0..=1000).map(|at| of_cluster("a", [at])).collect();
        assert_eq!(of_files(&files), Err(NotNodes::TooMany));
        assert_eq!(of_files(&files[..50]).unwrap().files.len(), 50);
        assert_eq!(of_files(&files[..1]), Err(NotNodes::Alone));
    }

    #[test]
    fn slots_that_move_while_rdb_files_are_taken_are_on_their_way() {
        let files = [snapshot("a", 0..=8000), snapshot("b", 7998..16384)];
        let found = of_files(&files).unwrap();
        let moving = found.topology.in_flight.iter();
        let moving: Vec<_> = moving
            .map(|slot| (slot.slot, &*slot.from, &*slot.to))
            .collect();
        assert_eq!(
            moving,
            [(7998, "b", "a"), (7999, "b", "a"), (8000, "b", "a")]
        );
        assert_eq!(found.overlap, None);
        let files = [snapshot("a", 0..=9000), snapshot("b", 8000..16384)];
        let found = of_files(&files).unwrap();
        assert!(
            found.overlap.is_some() && found.topology.in_flight.is_empty(),
            "1,001 slots are too many to have moved"
        );
    }

    #[test]
    fn two_dumps_of_a_node_are_one_node() {
        let files = [
            file("a", 0..8000),
            file("b", 8000..16384),
            file("a-replica", (0..8000).step_by(2)),
        ];
        let found = of_files(&files).unwrap();
        assert_eq!(names(&found), ["a", "b"]);
        assert_eq!(found.files, [vec![0, 2], vec![1]]);
    }

    #[test]
    fn a_new_node_that_was_given_slots_of_another_is_not_its_replica() {
        let files = [
            snapshot("a", 0..8000),
            snapshot("b", 8000..16384),
            snapshot("new", 100..600),
        ];
        let found = of_files(&files).unwrap();
        assert_eq!(names(&found), ["a", "new", "b"]);
        assert_eq!(found.topology.nodes[1].ranges, [(100, 599)]);
        assert_eq!(found.topology.nodes[0].ranges, [(0, 99), (600, 7999)]);
        assert!(found.overlap.is_some());
    }

    #[test]
    fn empty_slots_go_with_those_before_them_unless_a_file_is_missing() {
        let files = [
            of_cluster("a", (10..5000).step_by(9)),
            of_cluster("b", [5400, 5700]),
        ];
        let nodes = of_files(&files).unwrap().topology.nodes;
        assert_eq!(nodes[0].ranges, [(0, 5399)]);
        assert_eq!(
            nodes[1].ranges,
            [(5400, 5700)],
            "10,683 empty slots are no chance"
        );
        let found = of_files(&[file("a", 0..5461), file("c", 10923..16384)]).unwrap();
        assert_eq!(found.topology.owner(5461), None);
        assert_eq!(found.topology.owner(10922), None);
    }

    #[test]
    fn the_order_of_files_changes_nothing_but_their_places() {
        let files = [
            snapshot("a", 0..4000),
            snapshot("b", 4000..8192),
            snapshot("c", 8190..16384),
        ];
        let mut turned = files.clone();
        turned.reverse();
        let [there, back] = [&files, &turned].map(|files| of_files(files).unwrap().topology);
        assert_eq!(there, back);
    }
}
