//! The heaviest slots of a cluster, which sampling slots would miss: they determine how full a node is.

use slotscope_base::slot::SLOTS;
use slotscope_base::slot::set::SlotSet;
use slotscope_read::source::collection::manifest::HeaviestBy;

use crate::crew;
use crate::probe::{self, Reading};
use crate::readings::Asked;
use crate::scan;
use crate::series;
use crate::task::{Plan, Task};
use crate::watch::Watch;

/// Slots always read, by each measure.
const HEAVIEST: usize = 64;

/// The heaviest slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heaviest {
    /// The slots.
    pub slots: SlotSet,
    /// The measure used for ranking; absent if no server counts.
    pub by: Option<HeaviestBy>,
    /// Keys in all slots; absent if a server did not count.
    pub keys: Option<u64>,
}

/// Asks all primaries for the key counts of their slots, and for memory if known.
pub(crate) fn ask(plan: &Plan<'_>, watch: &Watch<'_>) -> Heaviest {
    let counts = counts(plan, watch);
    let readings = series::once(plan.access, watch);
    let memory = readings.and_then(|readings| memory(&readings));
    of_counts(&counts, memory.as_deref())
}

/// The memory of each slot; absent if a server does not count it.
fn memory(readings: &[Reading]) -> Option<Vec<u64>> {
    let mut memory = vec![0; SLOTS];
    for counts in readings.iter().flat_map(|reading| &reading.slots).flatten() {
        memory[usize::from(counts.slot)] = counts.memory?;
    }
    Some(memory)
}

/// COUNTKEYSINSLOT of all slots; absent for nodes that do not answer.
fn counts(plan: &Plan<'_>, watch: &Watch<'_>) -> Vec<Option<u64>> {
    let mut servers = probe::primaries(watch);
    servers.retain(|server| watch.view.silence(server.key()).is_none());
    let count = |server: &Asked| scan::counts(plan, &Task::of(server));
    // A node that does not count is sampled like the rest.
    let outcomes = crew::all(servers.iter(), count).unwrap_or_default();
    let mut counts = vec![None; SLOTS];
    for (slot, keys) in outcomes
        .into_iter()
        .flatten()
        .flat_map(|outcome| outcome.counts)
    {
        counts[usize::from(slot)] = Some(keys);
    }
    counts
}

fn of_counts(counts: &[Option<u64>], memory: Option<&[u64]>) -> Heaviest {
    let keys: Vec<u64> = counts.iter().map(|keys| keys.unwrap_or(0)).collect();
    let mut slots = heaviest(&keys);
    if let Some(memory) = memory {
        slots.add(&heaviest(memory));
    }
    let is_counted = counts.iter().any(Option::is_some);
    Heaviest {
        slots,
        by: match memory {
            Some(_) => Some(HeaviestBy::Memory),
            None => is_counted.then_some(HeaviestBy::Keys),
        },
        keys: counts.iter().copied().sum::<Option<u64>>(),
    }
}

/// The slots with the largest non-zero amounts; for ties, lower slots first.
fn heaviest(loads: &[u64]) -> SlotSet {
    let mut order: Vec<usize> = (0..loads.len().min(SLOTS))
        .filter(|slot| loads[*slot] > 0)
        .collect();
    order.sort_by_key(|slot| std::cmp::Reverse(loads[*slot]));
    let mut slots = SlotSet::none();
    let heaviest = order.into_iter().take(HEAVIEST);
    heaviest.for_each(|slot| slots.insert(slot as u16));
    slots
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::SlotCounts;

    #[test]
    fn slots_are_heavy_by_keys_and_by_memory() {
        let mut counts = vec![Some(1); SLOTS];
        (counts[7], counts[16_383]) = (Some(100), Some(50));
        let by_keys = of_counts(&counts, None);
        assert_eq!(by_keys.by, Some(HeaviestBy::Keys));
        assert_eq!(by_keys.keys, Some(SLOTS as u64 - 2 + 150));
        assert_eq!(by_keys.slots.len(), HEAVIEST);
        assert!(by_keys.slots.contains(7) && by_keys.slots.contains(16_383));
        let mut memory = vec![0; SLOTS];
        memory[9000] = 1 << 30;
        let by_memory = of_counts(&counts, Some(&memory));
        assert_eq!(by_memory.by, Some(HeaviestBy::Memory));
        assert_eq!(by_memory.slots.len(), HEAVIEST + 1);
        assert!(by_memory.slots.contains(9000));
    }

    #[test]
    fn memory_by_slot_is_that_of_all_nodes_or_unknown() {
        let of = |slot: u16, memory: Option<u64>| Reading {
            slots: Some(vec![SlotCounts {
                slot,
                memory,
                ..SlotCounts::default()
            }]),
            ..Reading::default()
        };
        let found = memory(&[of(3, Some(70)), of(9, Some(5))]).unwrap();
        assert_eq!((found[3], found[9], found[4]), (70, 5, 0));
        assert_eq!(memory(&[of(3, Some(70)), of(9, None)]), None);
    }

    #[test]
    fn without_an_answer_no_slot_is_known_to_be_heavy() {
        let found = of_counts(&vec![None; SLOTS], None);
        assert_eq!((found.by, found.keys), (None, None));
        assert!(found.slots.is_empty());
    }
}
