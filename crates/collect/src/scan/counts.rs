//! COUNTKEYSINSLOT: the key count of each slot, within milliseconds for any number of keys.

use std::thread;

use slotscope_base::error::Result;
use slotscope_base::slot::set::SlotSet;

use crate::connection::Connection;
use crate::pace::Pace;
use crate::resp::{Commands, Reply};
use crate::server::Server;
use crate::task::{Outcome, Plan, Task};

/// Commands per pipeline for counting keys by slot.
const COUNTS_AT_ONCE: usize = 1024;

/// Counts the keys of a task's slots in database 0.
///
/// # Errors
/// The node does not answer, or refuses.
pub(crate) fn counts(plan: &Plan<'_>, task: &Task) -> Result<Outcome> {
    let mut connection = Connection::open_patiently(&task.address, plan.access)?;
    let server = Server::ask(&mut connection)?;
    let mut outcome = Outcome::new(&server);
    outcome.counts = count_keys(&mut connection, &task.slots, Pace::new(plan.max_load))?;
    outcome.dbsize.after = outcome.dbsize.before;
    Ok(outcome)
}

/// COUNTKEYSINSLOT of each slot.
///
/// # Errors
/// The node does not answer, or refuses.
pub(super) fn count_keys(
    connection: &mut Connection,
    slots: &SlotSet,
    pace: Pace,
) -> Result<Vec<(u16, u64)>> {
    let slots: Vec<u16> = slots.iter().collect();
    let mut counts = Vec::with_capacity(slots.len());
    for slots in slots.chunks(COUNTS_AT_ONCE) {
        let mut commands = Commands::default();
        for slot in slots {
            let slot = slot.to_string();
            commands.add(
                "CLUSTER COUNTKEYSINSLOT",
                &[b"CLUSTER", b"COUNTKEYSINSLOT", slot.as_bytes()],
            );
        }
        connection.take_busy();
        for (slot, reply) in slots.iter().zip(connection.pipeline(&commands)?) {
            let count = match &reply {
                Reply::Error(refusal) => {
                    return Err(connection.refused("CLUSTER COUNTKEYSINSLOT", refusal));
                }
                reply => reply.count(),
            };
            counts.push((
                *slot,
                count.ok_or_else(|| connection.odd("CLUSTER COUNTKEYSINSLOT"))?,
            ));
        }
        connection.forget();
        thread::sleep(pace.pause(connection.take_busy()));
    }
    Ok(counts)
}
