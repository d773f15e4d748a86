//! Groups dumps by the slots they cover: dumps that share most of their slots are of one node.

use slotscope_base::slot::SLOTS;

/// A dump.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FileSlots {
    /// The name of its node.
    pub name: String,
    /// Slots with keys, ascending.
    pub slots: Vec<u16>,
    /// Whether a server wrote it, so that it is not part of a longer dump.
    pub is_snapshot: bool,
    /// Whether that server was in cluster mode.
    pub is_of_cluster: bool,
}

/// Sharing no slot is significant only if files of random keys would share this many: e^-20 is never.
pub(super) const SURELY: f64 = 20.0;
/// RDB files may share this fraction of the overlap expected by chance: slots that moved between dumps.
const MOVED: f64 = 0.05;
/// Files that share this fraction of the smaller one's slots are of one node.
const SAME: f64 = 0.5;
/// Unless the smaller is an RDB file with less than this fraction of the other's slots: those moved to a new node.
const SAME_SNAPSHOT: f64 = 0.25;

type Bits = [u64; SLOTS / 64];

/// A node: its files and their slots.
pub(super) struct Group {
    pub(super) files: Vec<usize>,
    pub(super) bits: Box<Bits>,
    pub(super) count: u32,
}

impl Group {
    /// The group of one file; `None` if it has no keys.
    fn of(files: &[FileSlots], at: usize) -> Option<Group> {
        let mut bits = Box::new([0; SLOTS / 64]);
        let slots = files[at].slots.iter().map(|slot| usize::from(*slot));
        slots.for_each(|slot| bits[slot / 64] |= 1 << (slot % 64));
        let group = Group {
            files: vec![at],
            count: count(&bits),
            bits,
        };
        (group.count > 0).then_some(group)
    }

    pub(super) fn slots(&self) -> impl Iterator<Item = usize> + '_ {
        (0..SLOTS).filter(|slot| self.has(*slot as u16))
    }

    pub(super) fn has(&self, slot: u16) -> bool {
        self.bits[usize::from(slot) / 64] >> (slot % 64) & 1 == 1
    }
}

/// Groups files with keys by overlapping slots.
pub(super) fn groups(files: &[FileSlots]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for at in 0..files.len() {
        let Some(mut group) = Group::of(files, at) else {
            continue;
        };
        let is_same = |known: &Group| {
            let [smaller, larger] = [group.count.min(known.count), group.count.max(known.count)];
            let shared = f64::from(shared(&group.bits, &known.bits));
            let mut members = group.files.iter().chain(&known.files);
            let least = if members.all(|file| files[*file].is_snapshot) {
                SAME_SNAPSHOT * f64::from(larger)
            } else {
                0.0
            };
            shared >= least.max(SAME * f64::from(smaller))
        };
        let (same, others): (Vec<Group>, _) = groups.into_iter().partition(is_same);
        groups = others;
        for known in same {
            group.files.extend(known.files);
            let words = group.bits.iter_mut().zip(known.bits.iter());
            words.for_each(|(mine, theirs)| *mine |= theirs);
        }
        group.count = count(&group.bits);
        group.files.sort_unstable();
        groups.push(group);
    }
    groups
}

fn count(bits: &Bits) -> u32 {
    bits.iter().map(|bits| bits.count_ones()).sum()
}

pub(super) fn shared(a: &Bits, b: &Bits) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum()
}

/// Whether this holds for all files of the groups.
pub(super) fn are_all(
    groups: &[Group],
    files: &[FileSlots],
    is_so: fn(&FileSlots) -> bool,
) -> bool {
    let mut members = groups.iter().flat_map(|group| &group.files);
    members.all(|file| is_so(&files[*file]))
}

/// Whether the groups share hardly any slot, as files of nodes do, and not by chance.
pub(super) fn share_hardly_any(groups: &[Group], files: &[FileSlots]) -> bool {
    let are_snapshots = are_all(groups, files, |file| file.is_snapshot);
    are_apart(groups, files, if are_snapshots { MOVED } else { 0.0 })
}

/// Whether the groups share at most this fraction of the overlap expected by chance, where one is expected.
pub(super) fn are_apart(groups: &[Group], files: &[FileSlots], may_share: f64) -> bool {
    let mut holders = vec![0u32; SLOTS];
    for group in groups {
        group.slots().for_each(|slot| holders[slot] += 1);
    }
    let all_held = holders.iter().filter(|holders| **holders > 0).count();
    let mut all_expected = 0.0;
    for group in groups {
        let shared = group.slots().filter(|slot| holders[*slot] > 1).count();
        let held_by_others = all_held - (group.count as usize - shared);
        let expected = f64::from(group.count) * held_by_others as f64 / SLOTS as f64;
        if shared as f64 > may_share * expected {
            return false;
        }
        all_expected += expected;
    }
    // Every pair is counted from both sides.
    are_all(groups, files, |file| file.is_of_cluster) || all_expected / 2.0 >= SURELY
}
