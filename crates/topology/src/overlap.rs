//! Dumps of several nodes that partly cover the same slots: slots moved between the dumps, or a dump holds foreign
//! keys.
//!
//! Parts of one dump share slots at the rate of chance; parts of a dump in slot order share only the slot at the cut.
//! Dumps of nodes share far fewer slots, and their exclusive slots form ranges.

use slotscope_base::slot::SLOTS;

use crate::file_groups::{FileSlots, Group, SURELY, are_all, are_apart, shared};

/// Slots in dumps of several nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlap {
    /// Indices of the two files with the largest overlap.
    pub files: [usize; 2],
    /// The slots that they share as inclusive first and last; slots in between that no file has are included.
    pub ranges: Vec<(u16, u16)>,
    /// How many other pairs of nodes share slots.
    pub others: usize,
}

/// Dumps of nodes share at most this fraction of the overlap expected by chance.
const FEW: f64 = 0.5;
/// In ranges, ownership changes from slot to slot at most this often relative to chance.
const IN_RANGES: f64 = 0.2;

/// The overlap of these groups of `files`, each of one node; `None` if they are not known to be dumps of several nodes.
pub(super) fn find(files: &[FileSlots], groups: &[Group]) -> Option<Overlap> {
    // An RDB file is never part of a dump, and a new node may hold slots of only one other.
    let may_share = if are_all(groups, files, |file| file.is_snapshot) {
        f64::INFINITY
    } else {
        FEW
    };
    let are_several = groups.len() > 1 && !are_pieces(files);
    if !are_several || !are_apart(groups, files, may_share) || !are_nodes(groups, files) {
        return None;
    }
    let mut pairs = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        for (partner, theirs) in groups.iter().enumerate().skip(at + 1) {
            let common = shared(&group.bits, &theirs.bits);
            pairs.extend((common > 0).then_some((common, [at, partner])));
        }
    }
    let (_, pair) = *pairs.iter().rev().max_by_key(|(common, _)| *common)?;
    let pair = pair.map(|at| &groups[at]);
    Some(Overlap {
        files: pair.map(|group| group.files[0]),
        ranges: ranges_of(pair, groups),
        others: pairs.len() - 1,
    })
}

/// The slots that a pair shares.
fn ranges_of(pair: [&Group; 2], groups: &[Group]) -> Vec<(u16, u16)> {
    let mut ranges: Vec<(u16, u16)> = Vec::new();
    let mut is_open = false;
    for slot in 0..SLOTS as u16 {
        if pair.iter().all(|group| group.has(slot)) {
            match ranges.last_mut() {
                Some(range) if is_open => range.1 = slot,
                _ => ranges.push((slot, slot)),
            }
            is_open = true;
        } else if groups.iter().any(|group| group.has(slot)) {
            is_open = false;
        }
    }
    ranges
}

/// Whether files share only the slot in which a dump in slot order was cut.
fn are_pieces(files: &[FileSlots]) -> bool {
    if files.iter().any(|file| file.is_snapshot) {
        return false;
    }
    let mut ends: Vec<(u16, u16)> = files
        .iter()
        .filter_map(|file| Some((*file.slots.first()?, *file.slots.last()?)))
        .collect();
    ends.sort_unstable();
    ends.windows(2).all(|pair| pair[0].1 <= pair[1].0)
}

/// Whether the exclusive slots of groups form ranges, as for nodes, or servers in cluster mode wrote all files.
fn are_nodes(groups: &[Group], files: &[FileSlots]) -> bool {
    if are_all(groups, files, |file| file.is_of_cluster) {
        return true;
    }
    let mut holder = vec![None; SLOTS];
    let mut holders = vec![0u32; SLOTS];
    for (at, group) in groups.iter().enumerate() {
        group.slots().for_each(|slot| {
            holder[slot] = Some(at);
            holders[slot] += 1;
        });
    }
    let single = holder
        .iter()
        .zip(&holders)
        .filter(|(_, holders)| **holders == 1);
    let alone: Vec<usize> = single.filter_map(|(holder, _)| *holder).collect();
    let mut parts = vec![0.0; groups.len()];
    alone
        .iter()
        .for_each(|at| parts[*at] += 1.0 / alone.len() as f64);
    let by_chance = 1.0 - parts.iter().map(|part| part * part).sum::<f64>();
    let expected = alone.len().saturating_sub(1) as f64 * by_chance;
    let changes = alone.windows(2).filter(|pair| pair[0] != pair[1]).count();
    expected >= SURELY && changes as f64 <= IN_RANGES * expected
}
