//! The reply to CLUSTER SLOT-STATS of one node: of the slots that it owns, each once, with counts that a server can have.

use slotscope_engine::format::slot_stats::MAX_COUNT;
use slotscope_engine::slot::SLOTS;
use slotscope_engine::slot::set::SlotSet;

use crate::resp::Reply;

/// The command.
pub(crate) const COMMAND: [&[u8]; 5] = [b"CLUSTER", b"SLOT-STATS", b"SLOTSRANGE", b"0", b"16383"];

/// Gives `take` the slot and the names and values of each row of a slot in `owned`; the number of rows of other slots,
/// which may have just moved there. What nodes send together is then bounded by the number of slots. `None` where it is
/// another reply.
pub(crate) fn each(
    reply: &Reply,
    owned: &SlotSet,
    mut take: impl FnMut(u16, &[[Reply; 2]]) -> Option<()>,
) -> Option<u64> {
    let (mut known, mut foreign) = (SlotSet::none(), 0);
    for row in reply.items()? {
        let [slot, metrics] = row.items()? else {
            return None;
        };
        let slot = u16::try_from(slot.number()?).ok()?;
        if usize::from(slot) >= SLOTS || known.contains(slot) {
            return None;
        }
        known.insert(slot);
        let (metrics, rest) = metrics.items()?.as_chunks();
        let is_count = |[_, value]: &[Reply; 2]| value.number().is_some_and(|of| of <= MAX_COUNT);
        if !rest.is_empty() || !metrics.iter().all(is_count) {
            return None;
        }
        if owned.contains(slot) {
            take(slot, metrics)?;
        } else {
            foreign += 1;
        }
    }
    Some(foreign)
}

/// Says that rows of slots were left out.
pub(crate) fn left_out(foreign: u64) -> Option<String> {
    (foreign > 0).then(|| {
        let rows = slotscope_engine::text::counted(foreign, "row");
        format!("{rows} of CLUSTER SLOT-STATS of slots that the node does not own: they moved meanwhile, or the node is wrong")
    })
}
