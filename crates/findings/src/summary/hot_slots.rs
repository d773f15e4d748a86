//! The slots with the most CPU time while load was measured, and their keys: puts names to counters per slot.

use std::cmp::Ordering;

use slotscope_base::name::Name;
use slotscope_count::tally::operations::Operations;
use slotscope_model::balance::tidy;
use slotscope_model::hot_slots::{HotKeyAtWork, KeyAtWork, SlotAtWork};
use slotscope_read::source::collection::load::{HotKeys, HotSlotKeys, TimedKey};

/// A key is hot with at least this fraction of the CPU time of all commands.
const LEAST_SHARE: f64 = 0.01;

/// Display names, and slot owners.
#[derive(Clone, Copy)]
pub(crate) struct Shown<'s> {
    /// Redacts a name for display, if required.
    pub(crate) name: &'s dyn Fn(&Name) -> Name,
    pub(crate) owner: &'s dyn Fn(u16) -> Option<Name>,
}

/// The keys that servers report as hot, hottest first.
pub(crate) fn keys(timed: &HotKeys, shown: Shown<'_>) -> Vec<HotKeyAtWork> {
    let share_of = |key: &TimedKey| share(key.cpu_usec, timed.cpu_usec);
    let hot = timed.keys.iter().filter(|key| share_of(key) >= LEAST_SHARE);
    hot.map(|key| HotKeyAtWork {
        key: (shown.name)(&key.key),
        slot: key.slot,
        node: (shown.owner)(key.slot),
        cpu_share: share_of(key),
    })
    .collect()
}

fn share(part: u64, total: u64) -> f64 {
    tidy((part as f64 / total.max(1) as f64).min(1.0))
}

/// The hot slots that servers report, with the keys known from HOTKEYS and captures.
pub(crate) fn of(
    named: &[HotSlotKeys],
    timed: &HotKeys,
    operations: Option<&Operations>,
    shown: Shown<'_>,
) -> Vec<SlotAtWork> {
    if named.is_empty() {
        return Vec::new();
    }
    let busy = operations.map(|operations| operations.busy_keys().keys);
    let busiest = busy.unwrap_or_default();
    let ops_of = |key: &Name| {
        let busy = busiest.iter().find(|busy| busy.name[..] == key.0[..]);
        busy.map(|busy| busy.ops)
    };
    let slot = |hot: &HotSlotKeys| {
        let in_slot = || timed.keys.iter().filter(|key| key.slot == hot.slot);
        let time_of = |key: &Name| in_slot().find(|timed| timed.key == *key);
        // A key may be hot in a large slot without being listed there.
        let unlisted = in_slot().filter(|timed| hot.listed.iter().all(|key| key.key != timed.key));
        let listed = hot.listed.iter().map(|key| (&key.key, key.bytes));
        let names = unlisted.map(|timed| (&timed.key, None)).chain(listed);
        let keys = names.map(|(key, bytes)| KeyAtWork {
            key: (shown.name)(key),
            bytes,
            cpu_share: time_of(key).map(|busy| share(busy.cpu_usec, timed.cpu_usec)),
            ops: ops_of(key),
        });
        let mut listed: Vec<KeyAtWork> = keys.collect();
        // Stable sort: ties keep the order by size.
        listed.sort_by(|a, b| {
            b.cpu_share
                .partial_cmp(&a.cpu_share)
                .unwrap_or(Ordering::Equal)
                .then(b.ops.cmp(&a.ops))
        });
        SlotAtWork {
            slot: hot.slot,
            node: (shown.owner)(hot.slot),
            cpu_share: hot.cpu_share,
            keys: hot.keys,
            listed,
        }
    };
    named.iter().map(slot).collect()
}
