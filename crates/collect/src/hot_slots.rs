//! The slots with the most CPU time, and their keys: servers count by slot, and a slot has few enough keys to list.

use slotscope_base::error::Result;
use slotscope_read::source::collection::load::{HotKey, HotSlotKeys};

use crate::connection::Access;
use crate::probe::Reading;
use crate::readings::Asked;
use crate::slot_keys::{self, SlotKey};
use crate::work;

/// Maximum slots listed.
const MOST_SLOTS: usize = 5;
/// A slot is hot at or above this fraction of a node's fair share of CPU time. Under an even load a slot has almost
/// nothing, but the first command of each pipeline includes the server's wake-up time.
const LEAST_SHARE: f64 = 0.6;
/// Keys requested per slot.
const MOST_KEYS: u64 = 20;

/// A hot slot with its owner.
#[derive(Debug, PartialEq)]
struct Hot<'r> {
    slot: u16,
    server: &'r Reading,
    share: f64,
    keys: u64,
}

/// Lists keys of the hottest slots between two readings of each server. If a server refuses, its slots have no keys;
/// the second value tells why.
pub(crate) fn list(
    access: &Access,
    servers: &[Asked],
    readings: &[[Reading; 2]],
) -> (Vec<HotSlotKeys>, Option<String>) {
    let mut refusal = None;
    let keys_of = |hot: Hot<'_>| {
        let mut servers = servers.iter();
        let server = servers.find(|server| server.key() == hot.server.key());
        let answer = server.map(|server| keys(access, server, hot.slot));
        let listed = answer.unwrap_or(Ok(Vec::new())).unwrap_or_else(|error| {
            refusal.get_or_insert_with(|| format!("keys of hot slots: {error}"));
            Vec::new()
        });
        HotSlotKeys {
            slot: hot.slot,
            cpu_share: hot.share,
            keys: hot.keys,
            listed,
        }
    };
    let slots = hottest(readings).into_iter().map(keys_of).collect();
    (slots, refusal)
}

/// The slots with the most CPU time overall, hottest first.
fn hottest(readings: &[[Reading; 2]]) -> Vec<Hot<'_>> {
    let (mut total, mut nodes) = (0u64, 0);
    let mut slots = Vec::new();
    for [first, last] in readings {
        if first.slots.is_none() || last.slots.is_none() {
            continue;
        }
        nodes += 1;
        for slot in work::by_slot(Some(first), last) {
            if let Some(cpu) = slot.grown(|counts| counts.cpu) {
                total = total.saturating_add(cpu);
                slots.push((cpu, slot.now.slot, last, slot.now.keys));
            }
        }
    }
    slots.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let most = slots.into_iter().take(MOST_SLOTS);
    let hot = most.map(|(cpu, slot, server, keys)| Hot {
        slot,
        server,
        share: cpu as f64 / total.max(1) as f64,
        keys,
    });
    let least = LEAST_SHARE / f64::from(nodes.max(1));
    hot.filter(|hot| hot.share >= least).collect()
}

/// Some keys of a slot, largest first.
fn keys(access: &Access, server: &Asked, slot: u16) -> Result<Vec<HotKey>> {
    let found = slot_keys::ask(&server.address, access, slot, MOST_KEYS)?;
    let key = |key: SlotKey| HotKey {
        key: key.name,
        bytes: key.memory,
    };
    let mut keys: Vec<HotKey> = found.keys.into_iter().map(key).collect();
    keys.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.key.cmp(&b.key)));
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::SlotCounts;

    fn reading(name: &str, slots: &[(u16, u64)]) -> Reading {
        let slots = slots.iter().map(|(slot, cpu)| SlotCounts {
            slot: *slot,
            keys: 7,
            cpu: Some(*cpu),
            ..SlotCounts::default()
        });
        Reading {
            name: name.into(),
            slots: Some(slots.collect()),
            ..Reading::default()
        }
    }

    #[test]
    fn slots_are_hot_by_what_grew_and_only_where_it_is_much_of_all() {
        let readings = [
            [
                reading("a", &[(1, 9_000_000), (2, 0), (3, 0)]),
                reading("a", &[(1, 9_000_100), (2, 700), (3, 1)]),
            ],
            // Slot 5 came from another node in between.
            [
                reading("b", &[(4, 100)]),
                reading("b", &[(4, 300), (5, 9_000)]),
            ],
            [reading("c", &[]), Reading::default()],
        ];
        let found: Vec<_> = hottest(&readings)
            .iter()
            .map(|hot| {
                (
                    hot.slot,
                    hot.server.name.as_str(),
                    (1000.0 * hot.share).round(),
                )
            })
            .collect();
        assert_eq!(found, [(2, "a", 699.0)]);
        let idle = reading("a", &[(1, 5)]);
        assert_eq!(hottest(&[[idle.clone(), idle]]), []);
    }
}
