//! Changes between two views of a cluster: slots that moved, and replicas that took over.

use std::collections::BTreeMap;

use slotscope_base::slot::SLOTS;
use slotscope_base::slot::set::SlotSet;
use slotscope_read::source::collection::manifest::Failover;

use crate::cluster::View;

/// The moved slots as ranges, and the primaries whose slots a replica has taken over.
pub(crate) fn between(before: &View, after: &View) -> (Vec<(u16, u16)>, Vec<Failover>) {
    let (mut moved, mut heirs) = (SlotSet::none(), BTreeMap::new());
    for slot in 0..SLOTS as u16 {
        let (Some(old), Some(new)) = (before.owner(slot), after.owner(slot)) else {
            continue;
        };
        let heir = before.members.get(&**new);
        match old == new {
            true => {}
            false if heir.is_some_and(|heir| heir.primary.as_deref() == Some(&**old)) => {
                *heirs.entry((old.to_string(), new.to_string())).or_default() += 1;
            }
            false => moved.insert(slot),
        }
    }
    let failover = |((from, to), slots)| Failover { from, to, slots };
    (moved.ranges(), heirs.into_iter().map(failover).collect())
}
