//! Interprets a command's words: which are keys.

use slotscope_base::command::{Access, COMMANDS};

/// The reason for rejecting a command that lacks required keys.
pub(crate) const WRONG: &str = "a command without the keys that it has to have";

/// The meaning of a command.
pub(super) enum Meaning {
    /// It is not in the table.
    Unknown,
    /// It has no keys.
    NoKeys,
    /// It lacks required keys.
    Wrong,
    /// Its name in lower case, and the indices of its keys.
    Keys(&'static str, Vec<usize>),
}

impl Meaning {
    /// The meaning of a command with these words.
    pub(super) fn of(words: &[&[u8]]) -> Meaning {
        let Some(command) = COMMANDS.find(words) else {
            return Meaning::Unknown;
        };
        // A script in the AOF is not followed by the commands it ran.
        if command.access == Access::Neither && !command.is_script() {
            return Meaning::NoKeys;
        }
        match command.keys(words) {
            Err(_) => Meaning::Wrong,
            Ok(keys) if keys.is_empty() => Meaning::NoKeys,
            Ok(keys) => Meaning::Keys(command.name, keys),
        }
    }
}
