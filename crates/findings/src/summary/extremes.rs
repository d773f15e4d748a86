//! Keys from key listings such as `--bigkeys`, and their slots and nodes. Nodes are not judged by them: only extreme
//! keys are listed.

use std::cmp::Reverse;

use slotscope_base::LISTED;
use slotscope_base::metric::extreme::Extreme;
use slotscope_base::name::Name;
use slotscope_count::tally::extremes::{Extremes, Listed, ListedKey};
use slotscope_model::extremes::{CommandEntries, ExtremeKey, ExtremeKeys};

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
