//! Operations on keys as seen in captures: how many, when, and by which commands.

use std::collections::BTreeMap;

use slotscope_base::command::{Access, COMMANDS};
use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_count::tally;
use slotscope_count::tally::operations::{Absent, SECOND};
use slotscope_model::HotSlot;
use slotscope_model::balance::tidy;
use slotscope_model::independent_units::{Unit, UnitKind, Units};
use slotscope_model::operations::{AbsentKey, AbsentKeys, CommandOps, KeyOps, Operations, Peak};

/// Keys named per slot.
const KEYS_OF_A_SLOT: usize = 3;

fn absent_keys(counted: &Absent, shown: &dyn Fn(&Name) -> Name) -> AbsentKeys {
    let top = counted.top.iter().map(|key| AbsentKey {
        key: shown(&Name::from(&key.name[..])),
        slot: key.slot,
        ops: key.ops,
    });
    AbsentKeys {
        looked_up: counted.looked_up,
        ops: counted.ops,
        share: tidy(counted.ops as f64 / counted.looked_up.max(1) as f64),
        keys: counted.keys,
        top: top.collect(),
    }
}

/// Names the busiest keys of slots without a hash tag; tags are named already.
pub(crate) fn name_keys(
    slots: &mut [HotSlot],
    counted: Option<&tally::operations::Operations>,
    shown: &dyn Fn(&Name) -> Name,
) {
    let Some(counted) = counted.filter(|counted| !counted.is_empty()) else {
        return;
    };
    let mut keys = counted.busy_keys().keys;
    keys.retain(|key| !key.tagged);
    keys.sort_by(|a, b| (b.ops, &a.name).cmp(&(a.ops, &b.name)));
    for slot in slots {
        let of_slot = keys.iter().filter(|key| key.slot == slot.slot);
        let rows = of_slot.take(KEYS_OF_A_SLOT).map(|key| KeyOps {
            key: shown(&Name::from(&key.name[..])),
            ops: key.ops,
        });
        slot.top_keys = rows.collect();
    }
}

/// Keys that are this part of a tag's operations speak for it.
const MOST_OF: f64 = 0.5;

/// Notes how much of the operations on each hash tag only reads, from those on its keys.
pub(crate) fn note_reads(
    units: &mut Units,
    counted: Option<&tally::operations::Operations>,
    shown: &dyn Fn(&Name) -> Name,
) {
    let Some(counted) = counted.filter(|counted| !counted.is_empty()) else {
        return;
    };
    let mut tags: BTreeMap<(u16, Name), [u64; 2]> = BTreeMap::new();
    let busy = counted.busy_keys().keys;
    for key in busy.iter().filter(|key| key.tagged) {
        let (Some(tag), Some(reads)) = (hashslot::tag(&key.name), key.reads) else {
            continue;
        };
        let tag = Name::from(&key.name[tag]);
        let [ops, of_reads] = tags.entry((key.slot, tag)).or_default();
        (*ops, *of_reads) = (*ops + key.ops, *of_reads + reads);
    }
    let tags: BTreeMap<(u16, Name), [u64; 2]> = tags
        .into_iter()
        .map(|((slot, tag), counts)| ((slot, shown(&tag)), counts))
        .collect();
    let of_ops = units.per.get(Metric::Ops);
    let captured = of_ops.map(|units| units.named.clone()).unwrap_or_default();
    for metric in [Metric::Ops, Metric::Cpu] {
        let of_metric = units.per.get_mut(metric);
        let named = of_metric.into_iter().flat_map(|units| &mut units.named);
        for unit in named.filter(|unit| unit.kind == UnitKind::Tag) {
            let is_same = |other: &&Unit| other.kind == unit.kind && other.name == unit.name;
            let whole = captured.iter().find(is_same).map_or(0.0, |unit| unit.load);
            let counts = tags.get(&(unit.slot, unit.name.clone()));
            let known = counts.filter(|[ops, _]| *ops > 0 && *ops as f64 >= MOST_OF * whole);
            unit.reads = known.map(|[ops, reads]| *reads as f64 / *ops as f64);
        }
    }
}

pub(crate) fn of(
    counted: &tally::operations::Operations,
    shown: &dyn Fn(&Name) -> Name,
) -> Option<Operations> {
    if counted.is_empty() {
        return None;
    }
    let ops: u64 = counted.commands.values().sum();
    let writes_of = |name: &str| {
        let command = COMMANDS.named(name.as_bytes());
        command.is_none_or(|command| command.access == Access::Write)
    };
    let writes = of_commands(&counted.commands, writes_of);
    let mut commands: Vec<_> = counted
        .commands
        .iter()
        .map(|(name, count)| CommandOps {
            command: name.clone(),
            writes: writes_of(name),
            ops: *count,
            share: tidy(*count as f64 / ops.max(1) as f64),
        })
        .collect();
    commands.sort_by_key(|command| std::cmp::Reverse(command.ops));
    let span = counted.range.map(|(from, to)| to - from);
    let times = counted.times.sorted();
    let fullest = times.iter().rev().max_by_key(|(_, load)| load[Metric::Ops]);
    let absent = counted.absent.as_ref();
    Some(Operations {
        ops,
        reads: ops - writes,
        writes,
        keys: counted.busy_keys().distinct.round() as u64,
        from_ms: counted.range.map(|(from, _)| from),
        to_ms: counted.range.map(|(_, to)| to),
        per_second: span
            .filter(|span| *span >= SECOND)
            .map(|span| tidy(ops as f64 * SECOND as f64 / span as f64)),
        peak: fullest.map(|(start, load)| Peak {
            at: start / SECOND,
            seconds: counted.times.units(),
            ops: load[Metric::Ops],
        }),
        commands,
        absent: absent.map(|absent| absent_keys(absent, shown)),
    })
}

fn of_commands(commands: &BTreeMap<String, u64>, wanted: impl Fn(&str) -> bool) -> u64 {
    let wanted = commands.iter().filter(|(name, _)| wanted(name));
    wanted.map(|(_, ops)| ops).sum()
}
