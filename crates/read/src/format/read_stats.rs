//! Counts of a reader, apart from the keys themselves; they add up over the blocks of an input.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde::{Deserialize, Serialize};

use slotscope_base::name::Name;
use slotscope_base::text::counted;

use crate::format::keyless::Keyless;
use crate::format::notice::Says::{self, Note, Warning};
use crate::format::notice::{Notice, WORDS};

/// A value of a key that may not be readable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Lost {
    /// Its size.
    Size,
    /// The operations on it.
    Operations,
    /// When it expires.
    Expiry,
    /// The number of its database.
    Database,
    /// The keys of a command whose name is unknown.
    Command,
    /// Anything else.
    Other,
}

impl Lost {
    /// All of them.
    pub const ALL: [Lost; 6] = [
        Lost::Size,
        Lost::Operations,
        Lost::Expiry,
        Lost::Database,
        Lost::Command,
        Lost::Other,
    ];

    /// Its name, in singular or plural.
    pub fn name(self, count: u64) -> &'static str {
        match (self, count) {
            (Lost::Size, 1) => "size",
            (Lost::Size, _) => "sizes",
            (Lost::Operations, 1) => "number of operations",
            (Lost::Operations, _) => "numbers of operations",
            (Lost::Expiry, 1) => "time of expiry",
            (Lost::Expiry, _) => "times of expiry",
            (Lost::Database, 1) => "number of a database",
            (Lost::Database, _) => "numbers of databases",
            (Lost::Command, 1) => "command",
            (Lost::Command, _) => "commands",
            (Lost::Other, 1) => "value",
            (Lost::Other, _) => "values",
        }
    }
}

/// Unreadable values of one kind; their keys are counted without them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unreadable {
    /// How many.
    pub count: u64,
    /// Offset in bytes of the first such row.
    pub byte: u64,
    /// The start of the first value.
    pub text: Name,
}

/// Maximum bytes of a value shown.
const SHOWN: usize = 24;

impl Unreadable {
    /// Whether a reader can have written this.
    pub fn is_sound(&self) -> bool {
        self.count > 0 && self.text.0.len() <= SHOWN
    }

    fn merge(&mut self, other: Unreadable) {
        let count = self.count.saturating_add(other.count);
        if other.byte < self.byte {
            *self = other;
        }
        self.count = count;
    }
}

/// The counts of a reader.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadStats {
    /// Keys.
    pub keys: u64,
    /// Operations on keys.
    pub operations: u64,
    /// Rows that are not keys.
    pub rejected: u64,
    /// Elements announced by replies, minus those present.
    pub missing: i64,
    /// When the dump was written, in milliseconds since 1970, if stated; the last of several.
    pub written_ms: Option<u64>,
    /// The server's used memory when it wrote the dump, if stated; the largest of several.
    pub used_memory: Option<u64>,
    /// Bytes of the keys of known size excluded by a filter.
    pub filtered_bytes: u64,
    /// The offset from which lines have a different shape, if any.
    pub another_from: Option<u64>,
    notices: BTreeMap<Notice, u64>,
    /// Commands that are in no slot.
    #[serde(default, skip_serializing_if = "Keyless::is_empty")]
    pub keyless: Keyless,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    unreadable: BTreeMap<Lost, Unreadable>,
}

impl ReadStats {
    /// This many keys, and nothing odd.
    pub fn of_keys(keys: u64) -> Self {
        ReadStats {
            keys,
            ..ReadStats::default()
        }
    }

    /// Rows that are keys or commands, whether excluded or not.
    pub fn rows(&self) -> u64 {
        self.keys + self.operations + self.commands_without_keys() + self.left_out()
    }

    /// Commands that are in no slot.
    pub fn commands_without_keys(&self) -> u64 {
        let notices = [Notice::NoKeyCommand, Notice::Script, Notice::UnknownCommand];
        notices.map(|notice| self.count(notice)).iter().sum()
    }

    /// Whether commands were read, with or without keys.
    pub fn has_commands(&self) -> bool {
        self.operations + self.commands_without_keys() > 0
    }

    /// Counts a command without keys, or a script, called `name`, of the client at this address, at this time.
    pub(crate) fn keyless(
        &mut self,
        notice: Notice,
        name: &[u8],
        client: Option<&[u8]>,
        time_ms: Option<u64>,
    ) {
        self.note(notice, 1);
        self.keyless.add(name, client, time_ms);
    }

    /// Keys and operations excluded by a filter.
    pub fn left_out(&self) -> u64 {
        let reasons = [
            Notice::OtherDatabase,
            Notice::Filtered,
            Notice::FilteredOperation,
        ];
        reasons.map(|notice| self.count(notice)).iter().sum()
    }

    /// Adds `count` occurrences of a notice.
    pub fn note(&mut self, notice: Notice, count: u64) {
        if count > 0 {
            *self.notices.entry(notice).or_default() += count;
        }
    }

    /// Records an unreadable value with its `text`, in the row at `byte` of the input.
    pub fn lose(&mut self, value: Lost, byte: u64, text: &[u8]) {
        let text = Name::from(&text[..text.len().min(SHOWN)]);
        let count = 1;
        self.add_unreadable(value, Unreadable { count, byte, text });
    }

    /// Records an unknown command called `name`, in the row at `byte` of the input.
    pub(crate) fn unknown_command(&mut self, byte: u64, name: &[u8], time_ms: Option<u64>) {
        self.keyless(Notice::UnknownCommand, b"", None, time_ms);
        self.lose(Lost::Command, byte, name);
    }

    fn add_unreadable(&mut self, value: Lost, unreadable: Unreadable) {
        match self.unreadable.entry(value) {
            Entry::Occupied(mut known) => known.get_mut().merge(unreadable),
            Entry::Vacant(first) => drop(first.insert(unreadable)),
        }
    }

    /// The unreadable values.
    pub fn unreadable(&self) -> impl Iterator<Item = (Lost, &Unreadable)> {
        let values = self.unreadable.iter();
        values.map(|(value, unreadable)| (*value, unreadable))
    }

    /// The notices that occurred, with their counts.
    pub fn notices(&self) -> impl Iterator<Item = (Notice, u64)> {
        let counts = self.notices.iter();
        counts.map(|(notice, count)| (*notice, *count))
    }

    /// The number of occurrences of a notice.
    pub fn count(&self, notice: Notice) -> u64 {
        self.notices.get(&notice).copied().unwrap_or(0)
    }

    /// Evidence that the dump is wrong.
    pub fn warnings(&self) -> Vec<String> {
        // A single empty key is legitimate.
        self.words(Warning, |notice| u64::from(notice == Notice::EmptyKey))
    }

    /// Why the input is incomplete, if its replies show that.
    #[doc(hidden)]
    pub fn cut_off(&self) -> Option<String> {
        match self.missing {
            1.. => Some(format!(
                "its replies announce {} more than it holds: the dump was cut off",
                counted(self.missing as u64, "key")
            )),
            _ if self.count(Notice::CutOff) > 0 => {
                Some("it ends in the middle of a reply: the dump was cut off".to_owned())
            }
            _ => None,
        }
    }

    /// Oddities that may be right.
    pub fn notes(&self) -> Vec<String> {
        self.words(Note, |_| 0)
    }

    fn words(&self, wanted: Says, harmless: impl Fn(Notice) -> u64) -> Vec<String> {
        // A few such keys are names; many lost the line ends of another system, or were escaped.
        let is_of_few = |notice: Notice| {
            matches!(notice, Notice::CarriageReturn | Notice::EscapeInJson)
                && 100 * self.count(notice) < self.keys
        };
        let said = |notice: Notice, says: Says| if is_of_few(notice) { Note } else { says };
        let rows = WORDS.iter().filter(|(notice, .., says)| {
            said(*notice, *says) == wanted && self.count(*notice) > harmless(*notice)
        });
        rows.map(|(notice, noun, rest, _)| counted(self.count(*notice), noun) + rest)
            .collect()
    }
}

impl std::ops::AddAssign for ReadStats {
    fn add_assign(&mut self, other: ReadStats) {
        self.keys += other.keys;
        self.operations += other.operations;
        self.rejected += other.rejected;
        self.missing = self.missing.wrapping_add(other.missing);
        self.written_ms = self.written_ms.max(other.written_ms);
        self.used_memory = self.used_memory.max(other.used_memory);
        self.filtered_bytes = self.filtered_bytes.saturating_add(other.filtered_bytes);
        self.another_from = match (self.another_from, other.another_from) {
            (Some(mine), Some(theirs)) => Some(mine.min(theirs)),
            (mine, theirs) => mine.or(theirs),
        };
        self.keyless.merge(other.keyless);
        for (value, unreadable) in other.unreadable {
            self.add_unreadable(value, unreadable);
        }
        for (notice, count) in other.notices {
            self.note(notice, count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_longer_than_those_shown_are_of_no_reader() {
        for (count, len, is_sound) in [(1, SHOWN, true), (0, 1, false), (1, SHOWN + 1, false)] {
            let text = Name::from(&vec![b'x'; len][..]);
            let value = Unreadable {
                count,
                byte: 0,
                text,
            };
            assert_eq!(value.is_sound(), is_sound, "{count} {len}");
        }
    }

    #[test]
    fn one_empty_key_is_no_evidence() {
        let mut seen = ReadStats::default();
        seen.note(Notice::EmptyKey, 1);
        assert!(seen.warnings().is_empty());
        seen += seen.clone();
        assert_eq!(
            seen.warnings(),
            ["2 empty lines, counted as empty keys, of which there can be only one"]
        );
        assert!(seen.notes().is_empty());
    }
}
