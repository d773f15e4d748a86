//! One node's reply to CLUSTER SLOT-STATS: the slots it owns, each once, with plausible counts.

use serde_json::{Map, Value};

use slotscope_base::slot::SLOTS;
use slotscope_base::slot::set::SlotSet;
use slotscope_read::format::slot_stats::MAX_COUNT;

use crate::connection::NONSENSE;
use crate::resp::Reply;

/// The command.
pub(crate) const COMMAND: [&[u8]; 5] = [b"CLUSTER", b"SLOT-STATS", b"SLOTSRANGE", b"0", b"16383"];

/// A server's counters of a slot; all except keys and memory count since server start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SlotCounts {
    /// The slot.
    pub slot: u16,
    /// `key-count`.
    pub keys: u64,
    /// `memory-bytes`.
    pub memory: Option<u64>,
    /// `cpu-usec`.
    pub cpu: Option<u64>,
    /// `network-bytes-in`.
    pub net_in: Option<u64>,
    /// `network-bytes-out`.
    pub net_out: Option<u64>,
}

impl SlotCounts {
    /// The counts in a row; `None` without keys, or with implausible numbers.
    fn of(slot: u16, metrics: &Reply) -> Option<SlotCounts> {
        let is_count = |pair: &[Reply]| {
            let count = pair.get(1).and_then(Reply::number);
            count.is_some_and(|count| count <= MAX_COUNT)
        };
        if !metrics.items()?.chunks(2).all(is_count) {
            return None;
        }
        let metric = |name: &str| metrics.field(name)?.number();
        Some(SlotCounts {
            slot,
            keys: metric("key-count")?,
            memory: metric("memory-bytes"),
            cpu: metric("cpu-usec"),
            net_in: metric("network-bytes-in"),
            net_out: metric("network-bytes-out"),
        })
    }

    /// The statistics under the server's names.
    pub(crate) fn stats(&self) -> Map<String, Value> {
        let metrics = [
            ("key-count", Some(self.keys)),
            ("memory-bytes", self.memory),
            ("cpu-usec", self.cpu),
            ("network-bytes-in", self.net_in),
            ("network-bytes-out", self.net_out),
        ];
        metrics
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), Value::from(value?))))
            .collect()
    }
}

/// The counts of each slot in `owned`, and the number of rows for other slots, which may have just moved there. This
/// bounds the total over nodes by the number of slots. An error is the rule that the reply breaks.
pub(crate) fn read(reply: &Reply, owned: &SlotSet) -> Result<(Vec<SlotCounts>, u64), &'static str> {
    let (mut known, mut counts, mut foreign) = (SlotSet::none(), Vec::new(), 0);
    for row in reply.items().ok_or(NONSENSE)? {
        let Some([slot, metrics]) = row.items() else {
            return Err(NONSENSE);
        };
        let slot = slot.number().and_then(|slot| u16::try_from(slot).ok());
        let slot = slot.filter(|slot| usize::from(*slot) < SLOTS);
        let slot = slot.ok_or("has a row of a slot that there is not")?;
        if known.contains(slot) {
            return Err("has two rows of one slot");
        }
        known.insert(slot);
        metrics.items().ok_or(NONSENSE)?;
        if owned.contains(slot) {
            let of_slot = SlotCounts::of(slot, metrics);
            counts
                .push(of_slot.ok_or("has a row without key-count, or a count that no server has")?);
        } else {
            foreign += 1;
        }
    }
    Ok((counts, foreign))
}

/// The note that rows of slots were dropped.
pub(crate) fn left_out(foreign: u64) -> Option<String> {
    (foreign > 0).then(|| {
        let rows = slotscope_base::text::counted(foreign, "row");
        format!("{rows} of CLUSTER SLOT-STATS of slots that the node does not own: they moved meanwhile, or the node is wrong")
    })
}
