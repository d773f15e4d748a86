//! Keys from key listings such as `--bigkeys`, and their slots and nodes. Nodes are not judged by them: only extreme
//! keys are listed.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use slotscope_engine::metric::extreme::Extreme;
use slotscope_engine::name::Name;
use slotscope_engine::tally::extremes::{Extremes, Listed, ListedKey};

use crate::summary::Summary;
use crate::summary::tags::LISTED;

/// The keys of lists of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExtremeKeys {
    /// The measure of the lists.
    pub by: Extreme,
    /// Their entries: a key may have several.
    pub entries: u64,
    /// When the first ran, in milliseconds since 1970, where the lists say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_ms: Option<u64>,
    /// When the last ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_ms: Option<u64>,
    /// Entries by command, most first, where the lists have commands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandEntries>,
    /// The keys, most extreme first.
    pub keys: Vec<ExtremeKey>,
}

/// The entries of a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommandEntries {
    /// Its name, in lower case.
    pub command: String,
    /// How many.
    pub entries: u64,
}

/// A key, and its entries in lists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExtremeKey {
    /// Its first 512 bytes.
    pub key: Name,
    /// Its length in bytes.
    pub length: u64,
    /// Its slot.
    pub slot: u16,
    /// Its hash tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<Name>,
    /// The node that owns the slot.
    pub node: Option<Name>,
    /// Its entries.
    pub entries: u64,
    /// The sum of their amounts, or the mean of amounts that do not add up.
    pub amount: u64,
}

pub(crate) fn of(
    counted: &Extremes,
    shown: &dyn Fn(&Name) -> Name,
    owner: &dyn Fn(u16) -> Option<Name>,
) -> Vec<ExtremeKeys> {
    let known = counted.keys();
    let row = |extreme: Extreme, key: &ListedKey| ExtremeKey {
        key: shown(&Name::from(&key.name[..])),
        length: key.length,
        slot: key.slot,
        tag: key.tag.as_ref().map(|tag| shown(&Name::from(&tag[..]))),
        node: owner(key.slot),
        entries: key.entries,
        amount: if extreme.adds_up() {
            key.sum
        } else {
            key.sum / key.entries.max(1)
        },
    };
    let list = |(extreme, listed): (&Extreme, &Listed)| {
        let of_list = known.iter().filter(|(counted_by, _)| counted_by == extreme);
        let mut keys: Vec<_> = of_list.map(|(_, key)| row(*extreme, key)).collect();
        keys.sort_by(|a, b| (Reverse(a.amount), &a.key).cmp(&(Reverse(b.amount), &b.key)));
        keys.truncate(LISTED);
        let rows = listed
            .commands
            .iter()
            .map(|(command, entries)| CommandEntries {
                command: command.clone(),
                entries: *entries,
            });
        let mut commands: Vec<_> = rows.collect();
        commands.sort_by_key(|command| Reverse(command.entries));
        ExtremeKeys {
            by: *extreme,
            entries: listed.entries,
            from_ms: listed.range.map(|(from, _)| from),
            to_ms: listed.range.map(|(_, to)| to),
            commands,
            keys,
        }
    };
    counted.lists.iter().map(list).collect()
}

impl Summary {
    /// Whether key listings are the only input.
    pub fn has_only_extremes(&self) -> bool {
        self.input.keys == 0 && self.operations.is_none() && !self.extremes.is_empty()
    }

    /// Whether captures are the only input; the number of keys is then unknown, not 0.
    pub fn has_only_operations(&self) -> bool {
        self.input.keys == 0 && self.operations.is_some()
    }

    /// The key listings that name a key.
    pub fn listed_by(&self, key: &Name, slot: u16) -> impl Iterator<Item = Extreme> {
        let names = move |list: &&ExtremeKeys| {
            let mut keys = list.keys.iter();
            keys.any(|listed| listed.slot == slot && listed.key == *key)
        };
        self.extremes.iter().filter(names).map(|list| list.by)
    }
}
