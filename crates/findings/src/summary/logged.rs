//! Slow and large commands that servers logged while load was measured.

use slotscope_base::name::Name;
use slotscope_model::logged::{CommandAtWork, LoggedAtWork};
use slotscope_read::source::collection::load::{LoggedCommand, LoggedCommands};

use crate::summary::hot_slots::Shown;

/// The commands in a collection; `None` if none was logged.
pub(crate) fn of(logged: &LoggedCommands, shown: Shown<'_>) -> Option<LoggedAtWork> {
    let row = |command: &LoggedCommand| CommandAtWork {
        log: command.log,
        node: command.id.as_deref().map(Name::from),
        command: command.command.clone(),
        key: command.key.as_ref().map(shown.name),
        slot: command.slot,
        entries: command.entries,
        amount: command.amount,
        most: command.most,
    };
    (logged.entries > 0).then(|| LoggedAtWork {
        nodes: logged.nodes,
        entries: logged.entries,
        logs_cut: logged.logs_cut,
        commands: logged.commands.iter().map(row).collect(),
    })
}
