//! Scripts in MONITOR: the command that runs a script and the commands inside are one batch.

use slotscope_base::command::{COMMANDS, Command};
use slotscope_read::format::parse::words::Word;

use crate::fanout::batch::Batch;
use crate::fanout::commands::keys_of;
use crate::fanout::{Fanout, ROOM};

/// A script with its keys: declared ones, and those of its commands.
pub(super) struct Script {
    /// The command that runs it; `None` if it declared no keys.
    command: Option<&'static str>,
    batch: Batch,
}

impl Script {
    pub(super) fn new() -> Script {
        Script {
            command: None,
            batch: Batch::with_room(ROOM),
        }
    }
}

impl Fanout<'_> {
    /// Starts a script, whose commands follow.
    pub(super) fn begin_script(
        &mut self,
        command: &'static Command,
        words: Vec<Word<'_>>,
    ) -> Result<(), String> {
        let keys = keys_of(command, words)?;
        if keys.is_empty() {
            self.sums.without_keys += 1;
            return Ok(());
        }
        let slots = self.slots_of(&keys)?;
        self.script.command = Some(command.name);
        self.script.batch.add(&slots, keys);
        Ok(())
    }

    /// Adds a command run by a script: clusters also refuse undeclared keys of other nodes there.
    pub(super) fn add_of_script(&mut self, words: Vec<Word<'_>>) -> Result<(), String> {
        self.sums.of_scripts += u64::from(self.script.command.is_some());
        let Some(command) = COMMANDS.find(&words) else {
            self.unknown.add(words.first().map_or(b"", |word| word));
            return Ok(());
        };
        let mut keys = keys_of(command, words)?;
        let known = &self.script.batch.kept;
        keys.retain(|key| !known.iter().any(|known| **known == **key));
        let slots = self.slots_of(&keys)?;
        self.script.batch.add(&slots, keys);
        Ok(())
    }

    /// Ends a script.
    pub(super) fn end_script(&mut self) {
        if self.script.batch.keys == 0 {
            return;
        }
        let Script { command, mut batch } = std::mem::replace(&mut self.script, Script::new());
        self.count(command.or(Some("eval")), &batch);
        batch.clear();
        self.script.batch = batch;
    }
}
