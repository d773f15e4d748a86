//! Commands missing from the table: modules, newer servers. Their key positions are unknown.

use std::collections::BTreeMap;

use serde::Serialize;

use slotscope_base::name::Name;

/// Maximum names counted individually, and bytes of each.
const MOST: usize = 100;
const LONGEST: usize = 64;

/// Modules whose commands are recognised by the prefix before the dot.
const MODULES: [&str; 10] = [
    "ai", "bf", "cf", "cms", "ft", "graph", "json", "tdigest", "topk", "ts",
];

/// The frequency of each command.
#[derive(Debug, Default)]
pub(crate) struct UnknownCommands {
    by_name: BTreeMap<Vec<u8>, u64>,
    /// The total frequency.
    pub total: u64,
}

/// A command and how often it came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CommandCount {
    /// Its name in upper case.
    pub name: Name,
    /// How often.
    pub count: u64,
}

impl UnknownCommands {
    pub(crate) fn add(&mut self, name: &[u8]) {
        self.total += 1;
        let name = name[..name.len().min(LONGEST)].to_ascii_uppercase();
        if self.by_name.len() < MOST || self.by_name.contains_key(&name) {
            *self.by_name.entry(name).or_default() += 1;
        }
    }

    /// The commands, most frequent first.
    pub(crate) fn list(&self) -> Vec<CommandCount> {
        let counts = self.by_name.iter().map(|(name, count)| CommandCount {
            name: Name(name.clone()),
            count: *count,
        });
        let mut rows: Vec<_> = counts.collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.count));
        rows
    }
}

/// Whether the first word of a line looks like a command rather than a key: a module command, or, if `among_commands`,
/// a capitalized word.
pub(crate) fn is_verb(word: &[u8], among_commands: bool) -> bool {
    let Ok(word) = std::str::from_utf8(word) else {
        return false;
    };
    let of_module = word.split_once('.').is_some_and(|(module, command)| {
        MODULES.contains(&module.to_ascii_lowercase().as_str())
            && !command.is_empty()
            && command
                .bytes()
                .all(|byte| byte.is_ascii_alphabetic() || b"._".contains(&byte))
    });
    let is_capital = |byte: u8| byte.is_ascii_uppercase() || b"._-".contains(&byte);
    let in_capitals = word.len() > 1
        && word.bytes().all(is_capital)
        && word.starts_with(|c: char| c.is_ascii_uppercase());
    of_module || among_commands && in_capitals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_of_modules_and_words_in_capitals_are_no_keys() {
        for (word, alone, among) in [
            ("JSON.MGET", true, true),
            ("ts.madd", true, true),
            ("FT._LIST", true, true),
            ("ZNEW", false, true),
            ("www.example.com", false, false),
            ("json.", false, false),
            ("user:1", false, false),
            ("A", false, false),
            ("KEY1", false, false),
        ] {
            assert_eq!(is_verb(word.as_bytes(), false), alone, "{word}");
            assert_eq!(is_verb(word.as_bytes(), true), among, "{word}");
        }
    }

    #[test]
    fn endless_names_cost_no_memory() {
        let mut unknown = UnknownCommands::default();
        (0..10_000).for_each(|i| unknown.add(format!("x{i}").as_bytes()));
        (0..5).for_each(|_| unknown.add(b"x7"));
        assert_eq!((unknown.total, unknown.list().len()), (10_005, MOST));
        assert_eq!(
            unknown.list()[0],
            CommandCount {
                name: Name::from("X7"),
                count: 6
            }
        );
    }
}
