//! Infers cluster nodes from dumps, one file per node: files of different nodes share no slot.
//!
//! Disjoint slots are significant only if chance would have made the files overlap, or if the servers were in cluster
//! mode. Files that share most of their slots are dumps of one node. A few slots move while RDB files are taken; for
//! any other overlap, `overlap` decides whether the files are of nodes nevertheless.

use std::collections::BTreeMap;

use slotscope_base::slot::SLOTS;

use crate::file_groups::{FileSlots, Group, groups, share_hardly_any};
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
    let groups = groups(files);
    let overlap = if groups.len() >= 2 && share_hardly_any(&groups, files) {
        None
    } else {
        Some(overlap::find(files, &groups).ok_or_else(|| why_not(&groups))?)
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

    fn file(slots: impl IntoIterator<Item = u16>) -> FileSlots {
        let mut slots: Vec<u16> = slots.into_iter().collect();
        slots.sort_unstable();
        slots.dedup();
        FileSlots {
            slots,
            ..FileSlots::default()
        }
    }

    fn snapshot(slots: impl IntoIterator<Item = u16>) -> FileSlots {
        FileSlots {
            is_snapshot: true,
            ..file(slots)
        }
    }

    fn of_cluster(slots: impl IntoIterator<Item = u16>) -> FileSlots {
        FileSlots {
            is_of_cluster: true,
            ..snapshot(slots)
        }
    }

    fn spelled(ranges: &[(u16, u16)]) -> String {
        let range = |(first, last): &(u16, u16)| format!("{first}-{last}");
        match ranges.len() {
            0..4 => ranges.iter().map(range).collect::<Vec<_>>().join(","),
            many => format!("{many} ranges"),
        }
    }

    /// Files a, b, c: the nodes and their slots, the slots on their way, and the overlap.
    fn told<const N: usize>(mut files: [FileSlots; N]) -> String {
        let names = files.iter_mut().zip(["a", "b", "c"]);
        names.for_each(|(file, name)| file.name = name.into());
        let found = match of_files(&files) {
            Ok(found) => found,
            Err(why) => return format!("{why:?}"),
        };
        let names = |of: &[usize]| {
            let names: Vec<&str> = of.iter().map(|at| &*files[*at].name).collect();
            names.join("+")
        };
        let nodes = found.topology.nodes.iter().zip(&found.files);
        let nodes = nodes.map(|(node, of)| format!("{} {}", names(of), spelled(&node.ranges)));
        let moving = found.topology.in_flight.iter();
        let moving = moving.map(|slot| format!("{} {}>{}", slot.slot, slot.from, slot.to));
        let overlap = found.overlap.map(|overlap| {
            let ranges = spelled(&overlap.ranges);
            format!("{} share {ranges}", names(&overlap.files))
        });
        let all: Vec<String> = nodes.chain(moving).chain(overlap).collect();
        all.join("; ")
    }

    #[test]
    fn files_that_share_no_slot_are_nodes_unless_that_may_be_chance() {
        let both = "a 0-7999; b 8000-16383";
        assert_eq!(told([file(0..8000), file(8000..16_384)]), both);
        let turned = [file(8000..16_384), file(0..8000)];
        assert_eq!(told(turned), "b 0-7999; a 8000-16383");
        let replica = file((0..8000).step_by(2));
        let files = [file(0..8000), file(8000..16_384), replica];
        assert_eq!(told(files), "a+c 0-7999; b 8000-16383");
        let few = [5, 9000];
        let too_few = [
            [file(few), file([70])],
            [snapshot(few), snapshot([70])],
            [of_cluster(few), file([70])],
        ];
        assert_eq!(too_few.map(told), ["TooFewKeys"; 3]);
        let nodes = "a 0-69,9000-16383; b 70-8999";
        assert_eq!(told([of_cluster(few), of_cluster([70])]), nodes);
        // 2,341 random slots and none of 200 others: 28 would be shared.
        let files = [(0..16_384).step_by(7), (3..1403).step_by(7)].map(file);
        assert_eq!(told(files), "a 201 ranges; b 200 ranges");
    }

    #[test]
    fn parts_of_one_dump_are_no_nodes_however_it_was_cut() {
        assert_eq!(told([]), "Alone");
        assert_eq!(told([file([]), file(0..16_384)]), "Alone");
        assert_eq!(told([file(0..16_384), file(0..16_384)]), "SameSlots");
        let files = [3, 2].map(|step| file((0..16_384).step_by(step)));
        assert_eq!(told(files), "SameSlots");
        // In slot order, cut within slots.
        assert_eq!(told([file(0..=8000), file(8000..16_384)]), "Shared(1)");
        let files = [file(0..=5000), file(5000..=9000), file(9000..16_384)];
        assert_eq!(told(files), "Shared(2)");
        // By chance: three quarters of the slots each.
        let files = [1, 20_000, 300_000].map(|seed| {
            let is_in = move |slot: &u16| {
                (u64::from(*slot) + 1 + seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 62 != 0
            };
            file((0..16_384).filter(is_in))
        });
        assert_eq!(told(files), "SameSlots");
        // Structured ids: less overlap than by chance, but exclusive slots are scattered.
        let odd = (1..16_384).step_by(2).chain((0..16_384).step_by(64));
        let files = [file((0..16_384).step_by(2)), file(odd)];
        assert_eq!(told(files), "Shared(256)");
    }

    #[test]
    fn more_files_than_a_cluster_has_nodes_are_no_nodes() {
        let files: Vec<FileSlots> = (0..=1000).map(|at| of_cluster([at])).collect();
        assert_eq!(of_files(&files), Err(NotNodes::TooMany));
        assert_eq!(of_files(&files[..50]).unwrap().files.len(), 50);
    }

    #[test]
    fn shared_slots_are_on_their_way_or_were_given_to_the_smaller_node() {
        let files = [snapshot(0..=8000), snapshot(7999..16_384)];
        let moving = "a 0-7998; b 7999-16383; 7999 b>a; 8000 b>a";
        assert_eq!(told(files), moving);
        // 1,001 slots are too many to have moved.
        let files = [snapshot(0..=9000), snapshot(8000..16_384)];
        let shared = "a 0-7999; b 8000-16383; a+b share 8000-9000";
        assert_eq!(told(files), shared);
        let new = [0..8000, 8000..16_384, 100..600].map(snapshot);
        let shared = "a 0-99,600-7999; c 100-599; b 8000-16383; a+c share 100-599";
        assert_eq!(told(new), shared);
        let ranges = [0..6000, 5400..11_000, 11_000..16_384];
        let shared = "a 0-5399; b 5400-10999; c 11000-16383; a+b share 5400-5999";
        assert_eq!(told(ranges.clone().map(file)), shared);
        assert_eq!(told(ranges.map(snapshot)), shared);
        let foreign = (0..8000).step_by(15);
        let files = [file(0..8000), file((8000..16_384).chain(foreign))];
        let shared = "a 0-7999; b 8000-16383; a+b share 534 ranges";
        assert_eq!(told(files), shared);
        let files = [vec![1, 5, 9, 300, 400], vec![9, 8000, 12_000]].map(of_cluster);
        let shared = "a 0-8,300-7999; b 9-299,8000-16383; a+b share 9-9";
        assert_eq!(told(files), shared);
    }

    #[test]
    fn empty_slots_go_with_those_before_them_unless_a_file_is_missing() {
        // 10,683 empty slots at the end are not due to chance.
        let files = [of_cluster((10..5000).step_by(9)), of_cluster([5400, 5700])];
        assert_eq!(told(files), "a 0-5399; b 5400-5700");
        let files = [file(0..5461), file(10_923..16_384)];
        assert_eq!(told(files), "a 0-5460; b 10923-16383");
    }

    #[test]
    fn the_order_of_files_changes_nothing_but_their_places() {
        let mut files = [0..4000, 4000..8192, 8190..16_384].map(snapshot);
        let names = files.iter_mut().zip(["a", "b", "c"]);
        names.for_each(|(file, name)| file.name = name.into());
        let there = of_files(&files).unwrap().topology;
        files.reverse();
        assert_eq!(of_files(&files).unwrap().topology, there);
    }
}
