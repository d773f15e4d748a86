//! Dumps of several nodes that partly cover the same slots: slots moved between the dumps, or a dump holds foreign
//! keys.
//!
//! Parts of one dump share slots at the rate of chance; parts of a dump in slot order share only the slot at the cut.
//! Dumps of nodes share far fewer slots, and their exclusive slots form ranges.

use slotscope_engine::slot::SLOTS;

use crate::file_groups::{Bits, FileSlots, Group, SURELY, are_apart, count, groups, shared};
use crate::ranges;

/// Slots in dumps of several nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Overlap {
    /// Dumps of two nodes cover the same slots.
    Shared {
        /// Indices of the two files with the largest overlap.
        files: [usize; 2],
        /// The shared slots as inclusive first and last; slots in between that no file has are included.
        ranges: Vec<(u16, u16)>,
        /// How many other pairs of nodes share slots.
        others: usize,
    },
    /// All other files cover one node each, and this one covers slots of theirs.
    Stranger {
        /// Its index.
        file: usize,
        /// The foreign slots in it, ascending.
        slots: Vec<u16>,
    },
}

/// Dumps of nodes share at most this fraction of the overlap expected by chance.
const FEW: f64 = 0.5;
/// In ranges, ownership changes from slot to slot at most this often relative to chance.
const IN_RANGES: f64 = 0.2;

/// The nodes that the partly overlapping `files` are dumps of, each with its exclusive slots; `None` if they are not
/// known to be dumps of several nodes.
pub(super) fn find(files: &[FileSlots]) -> Option<(Vec<Group>, Overlap)> {
    if are_pieces(files) {
        return None;
    }
    without_a_stranger(files).or_else(|| with_shared_slots(files))
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

/// The one file that overlaps most others, if the others do not overlap.
fn without_a_stranger(files: &[FileSlots]) -> Option<(Vec<Group>, Overlap)> {
    let singles: Vec<Group> = (0..files.len())
        .filter_map(|at| Group::of(files, at))
        .collect();
    let mut met = vec![0; singles.len()];
    for (at, group) in singles.iter().enumerate() {
        for (partner, theirs) in singles.iter().enumerate().skip(at + 1) {
            if shared(&group.bits, &theirs.bits) > 0 {
                met[at] += 1;
                met[partner] += 1;
            }
        }
    }
    let most = met.iter().copied().max().filter(|most| *most > 1)?;
    let mut fullest = (0..singles.len()).filter(|at| met[*at] == most);
    let (suspect, None) = (&singles[fullest.next()?], fullest.next()) else {
        return None;
    };
    let file = suspect.files[0];
    let mut others = groups(files, |at| at != file);
    if others.len() < 2 || !are_apart(&others, files) || !are_nodes(&others, files) {
        return None;
    }
    let held = held(&others);
    let foreign = slots_of(&std::array::from_fn(|word| suspect.bits[word] & held[word]));
    let own: Bits = std::array::from_fn(|word| suspect.bits[word] & !held[word]);
    if count(&own) > 0 {
        others.push(Group {
            files: suspect.files.clone(),
            count: count(&own),
            bits: Box::new(own),
        });
    }
    let slots = foreign;
    Some((others, Overlap::Stranger { file, slots }))
}

/// Nodes, some of which share slots, though far fewer than by chance.
fn with_shared_slots(files: &[FileSlots]) -> Option<(Vec<Group>, Overlap)> {
    let groups = groups(files, |_| true);
    if groups.len() < 2 || !are_nodes(&groups, files) {
        return None;
    }
    let mut most: Option<(u32, [usize; 2])> = None;
    let (mut pairs, mut surprise) = (0, 0.0);
    for (at, group) in groups.iter().enumerate() {
        for (partner, theirs) in groups.iter().enumerate().skip(at + 1) {
            let common = shared(&group.bits, &theirs.bits);
            let expected = f64::from(group.count) * f64::from(theirs.count) / SLOTS as f64;
            surprise += unlikely_few(f64::from(common), expected);
            if common == 0 {
                continue;
            }
            pairs += 1;
            if most.is_none_or(|(most, _)| common > most) {
                most = Some((common, [at, partner]));
            }
        }
    }
    let are_of_cluster = are_of_cluster(&groups, files);
    if surprise < SURELY && !are_of_cluster {
        return None;
    }
    let (common, [at, partner]) = most?;
    let [group, theirs] = [&groups[at], &groups[partner]];
    let expected = f64::from(group.count) * f64::from(theirs.count) / SLOTS as f64;
    // An RDB file is never part of a dump, and a new node may hold slots of only one other.
    let are_snapshots = files.iter().all(|file| file.is_snapshot);
    if f64::from(common) > FEW * expected && !are_snapshots {
        return None;
    }
    let held = held(&groups);
    let in_both = |word: usize| group.bits[word] & theirs.bits[word];
    let slots = slots_of(&std::array::from_fn(|word| in_both(word) | !held[word]));
    let runs = ranges::of_slots(&slots).into_iter();
    let shared = |slot: &u16| in_both(usize::from(*slot) / 64) >> (slot % 64) & 1 == 1;
    let ranges = runs.filter_map(|(first, last)| {
        let mut run = first..=last;
        let first = run.clone().find(shared)?;
        Some((first, run.rfind(shared)?))
    });
    let overlap = Overlap::Shared {
        files: [group.files[0], theirs.files[0]],
        ranges: ranges.collect(),
        others: pairs - 1,
    };
    Some((groups, overlap))
}

/// Whether the exclusive slots of groups form ranges, as for nodes, or servers in cluster mode wrote all files.
fn are_nodes(groups: &[Group], files: &[FileSlots]) -> bool {
    if are_of_cluster(groups, files) {
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

fn are_of_cluster(groups: &[Group], files: &[FileSlots]) -> bool {
    let mut members = groups.iter().flat_map(|group| &group.files);
    members.all(|file| files[*file].is_of_cluster)
}

/// How unlikely such a small overlap is where `expected` is expected: -ln of a Chernoff bound on the probability.
fn unlikely_few(shared: f64, expected: f64) -> f64 {
    match shared {
        _ if shared >= expected => 0.0,
        0.0 => expected,
        shared => expected - shared + shared * (shared / expected).ln(),
    }
}

/// The slots of any group.
fn held(groups: &[Group]) -> Bits {
    groups.iter().fold([0; SLOTS / 64], |held, group| {
        std::array::from_fn(|word| held[word] | group.bits[word])
    })
}

fn slots_of(bits: &Bits) -> Vec<u16> {
    let is_set = |slot: &u16| bits[usize::from(*slot) / 64] >> (slot % 64) & 1 == 1;
    (0..SLOTS as u16).filter(is_set).collect()
}
