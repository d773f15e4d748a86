//! Refuses lines of text that are commands.

use slotscope_base::command::COMMANDS;
use slotscope_read::format::parse::words::words;

use crate::shape::column::{MOST, share};

/// Why lines that are redis-cli commands are refused.
pub(super) fn refused(rows: &[&[u8]]) -> Option<String> {
    let commands: Vec<bool> = rows.iter().filter_map(|row| has_keys(row)).collect();
    let with_keys = commands.iter().filter(|has| **has).count();
    let are_commands = share(commands.len(), rows.len()) >= MOST && 2 * with_keys >= commands.len();
    are_commands.then(|| {
        "commands for redis-cli, no key dump: awk '{print $2}' FILE | slotscope analyze - takes their first arguments, \
         slotscope fanout FILE says which of them span slots"
            .into()
    })
}

/// Whether the command in a line has keys, if there is one. Caches of web servers have keys like `GET /index.html`.
fn has_keys(line: &[u8]) -> Option<bool> {
    let first = line.split(|byte| *byte == b' ').next()?;
    let is_called = first == b"redis-cli" || first == b"valkey-cli";
    if !is_called {
        COMMANDS.named(first)?;
    }
    let written = words(line).ok()?;
    let words = &written[usize::from(is_called)..];
    let places = COMMANDS.find(words)?.keys(words).ok()?;
    let is_path = |place: &usize| words[*place].starts_with(b"/");
    (!places.iter().any(is_path)).then_some(!places.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn are(lines: &[&str]) -> bool {
        let rows: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
        refused(&rows).is_some()
    }

    #[test]
    fn commands_are_known_by_name_arity_and_words() {
        assert!(are(&["SET user:1 v1", "SET \"a b\" v2"]));
        assert!(are(&["del a", "hset b f 1"]));
        assert!(are(&["redis-cli get x"]));
        assert!(are(&["get user:1", "get user:2"]));
        for no in [
            &["SELECT * FROM a WHERE id=1"][..],
            &["GET /index.html", "GET /a.css"],
            &["user:1"],
            &["type-1", "list a"],
        ] {
            assert!(!are(no), "{no:?}");
        }
    }
}
