//! Operations on keys in captures: by key, by command, and by second.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use slotscope_base::batch::{MISSING, Values};
use slotscope_base::command::{Access, COMMANDS};
use slotscope_base::hash::hash_span;
use slotscope_base::metric::{Load, Metric, are_counts};
use slotscope_base::slot::{self, SLOTS, SlotBatch};

use crate::tally::Tally;
use crate::tally::sketch::spans::TimeSpans;
use crate::tally::tags::TagCounter;

/// More commands than any server has: beyond this, others are lumped together.
const MAX_COMMANDS: usize = 4096;
/// Bytes kept of a long name.
pub const MAX_NAME: usize = 512;
/// Milliseconds per second.
pub const SECOND: u64 = 1000;

/// Operations on keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Operations {
    /// By command.
    pub commands: BTreeMap<String, u64>,
    /// By seconds.
    pub times: TimeSpans<SECOND>,
    /// Times of the first and last operation, in milliseconds since 1970.
    pub range: Option<(u64, u64)>,
    /// Operations on keys missing from all dumps, if looked up.
    pub absent: Option<Absent>,
    /// By key, under the names built by `named`: reads as keys, with all operations and their CPU time.
    keys: TagCounter,
    /// Whether it is known what their commands take.
    has_cpu: bool,
}

impl Default for Operations {
    fn default() -> Self {
        Operations {
            commands: BTreeMap::new(),
            times: TimeSpans::default(),
            range: None,
            absent: None,
            // Keys that exceed the table are tracked by name: no second pass counts them.
            keys: TagCounter::new(true),
            has_cpu: false,
        }
    }
}

/// The operations on one key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BusyKey {
    /// A lower bound on their number.
    pub ops: u64,
    /// Its first 512 bytes.
    pub name: Vec<u8>,
    /// Its length in bytes.
    pub length: u64,
    /// Its slot.
    #[serde(deserialize_with = "slot::checked")]
    pub slot: u16,
    /// Whether it has a hash tag.
    pub tagged: bool,
    /// Whether it is a channel of sharded Pub/Sub, which has a slot as a key has.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub channel: bool,
    /// Number of reads among them, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<u64>,
    /// Microseconds of CPU time by what commands take, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u64>,
}

impl BusyKey {
    /// Its operations, or its CPU time.
    pub(crate) fn weight(&self, metric: Metric) -> u64 {
        match metric {
            Metric::Ops => self.ops,
            Metric::Cpu => self.cpu.unwrap_or(0),
            _ => 0,
        }
    }
}

/// Operations by key.
pub struct BusyKeys {
    /// All keys, or the busiest.
    pub keys: Vec<BusyKey>,
    /// The number of keys.
    pub distinct: f64,
}

/// Operations on keys missing from all dumps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Absent {
    /// Operations on keys that were looked up: those known by name.
    pub looked_up: u64,
    /// The number of missing keys.
    pub keys: u64,
    /// Operations on missing keys.
    pub ops: u64,
    /// The missing keys with the most operations.
    pub top: Vec<BusyKey>,
}

impl Operations {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty() && self.keys.distinct() == 0.0
    }

    /// Whether these may be counts of operations.
    pub(super) fn is_sound(&self) -> bool {
        self.keys.is_sound() && self.times.is_sound() && are_counts(self.commands.values())
    }

    /// Whether it is known what their commands take.
    pub(crate) fn has_cpu(&self) -> bool {
        self.has_cpu
    }

    /// The keys that were operated on.
    pub fn busy_keys(&self) -> BusyKeys {
        let listed = self.keys.listed(None).tags.into_iter();
        let keys = listed.map(|key| BusyKey {
            reads: Some(key.load[Metric::Keys]),
            cpu: self.has_cpu.then_some(key.load[Metric::Cpu]),
            ..key_of(&key.name.0, key.load[Metric::Ops])
        });
        BusyKeys {
            keys: keys.collect(),
            distinct: self.keys.distinct(),
        }
    }
}

impl Operations {
    fn add_times(&mut self, values: &Values) {
        let (mut at, mut next) = (0, 0);
        while let Some(time) = values.times.get(at).copied() {
            // Operations of one second are added at once.
            let mut ops = 0;
            while values
                .times
                .get(next)
                .is_some_and(|after| after / SECOND == time / SECOND)
            {
                ops += values.ops(next);
                next += 1;
            }
            let run = &values.times[at..next];
            at = next;
            if time == MISSING {
                continue;
            }
            self.times.add(time, Load::of(Metric::Ops, ops));
            let (first, last) = self.range.unwrap_or((time, time));
            let of_run = run.iter().fold((first, last), |(first, last), time| {
                (first.min(*time), last.max(*time))
            });
            self.range = Some(of_run);
        }
    }

    fn add_commands(&mut self, keys: &SlotBatch<'_>) {
        let (base, values) = (keys.batch.base, keys.batch.values);
        let spans = &values.commands;
        // Few and short: for most commands, the first bytes and the length identify them.
        let mut sums: Vec<((u128, u32), &[u8], u64)> = Vec::new();
        for i in 0..spans.len() {
            let length = spans.end[i] - spans.start[i];
            let mask = u128::MAX.checked_shr(128 - 8 * length.min(16)).unwrap_or(0);
            let start = (base.sixteen_at(spans.start[i]) & mask, length);
            let command = spans.get(base, i);
            let is_command = |(known, name, _): &&mut ((u128, u32), &[u8], u64)| {
                *known == start && (length <= 16 || *name == command)
            };
            match sums.iter_mut().find(is_command) {
                Some((.., sum)) => *sum += values.ops(i),
                None => sums.push((start, command, values.ops(i))),
            }
        }
        for (_, command, ops) in sums {
            add_to_command(&mut self.commands, command, ops);
        }
    }
}

/// Adds to a command; beyond the maximum, to a nameless one.
#[doc(hidden)]
pub(crate) fn add_to_command(commands: &mut BTreeMap<String, u64>, command: &[u8], ops: u64) {
    let command = String::from_utf8_lossy(command);
    let is_known = commands.contains_key(&*command);
    let command = if commands.len() >= MAX_COMMANDS && !is_known {
        String::new()
    } else {
        command.into_owned()
    };
    *commands.entry(command).or_default() += ops;
}

/// The name under which a key is counted: its slot, whether it has a tag (1) or is a channel (2), its length, and its
/// prefix.
fn named(name: &mut Vec<u8>, key: &[u8], slot: u16, kind: u8) {
    name.clear();
    name.extend(slot.to_le_bytes());
    name.push(kind);
    name.extend((key.len() as u32).to_le_bytes());
    name.extend_from_slice(&key[..key.len().min(MAX_NAME)]);
}

fn key_of(name: &[u8], ops: u64) -> BusyKey {
    let [low, high, kind, a, b, c, d] = name.first_chunk().copied().unwrap_or_default();
    BusyKey {
        ops,
        name: name.get(7..).unwrap_or_default().to_vec(),
        length: u32::from_le_bytes([a, b, c, d]).into(),
        slot: u16::from_le_bytes([low, high]) % SLOTS as u16,
        tagged: kind & 1 != 0,
        channel: kind & 2 != 0,
        reads: None,
        cpu: None,
    }
}

impl Tally for Operations {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let (base, values) = (keys.batch.base, keys.batch.values);
        if !values.are_operations {
            return;
        }
        let spans = keys.batch.keys;
        let rows = 0..keys.len();
        let ops: Vec<u64> = rows.clone().map(|i| values.ops(i)).collect();
        let (commands, mut last) = (&values.commands, LastCommand::default());
        // Rows without commands do not count as reads.
        let mut does = |i: usize| (i < commands.len()).then(|| last.does(commands.get(base, i)));
        let does: Vec<_> = rows
            .clone()
            .map(|i| does(i).unwrap_or(Does::Writes))
            .collect();
        let is_channel = |i: usize| does[i] == Does::Publishes;
        let hash = |i| hash_span(base, spans.start[i], spans.end[i]) ^ u64::from(is_channel(i));
        let hashes: Vec<u64> = rows.clone().map(hash).collect();
        let reads = |i: usize| if does[i] == Does::Reads { ops[i] } else { 0 };
        let reads: Vec<u64> = rows.map(reads).collect();
        let mut amounts = vec![(Metric::Keys, &reads[..]), (Metric::Ops, &ops[..])];
        if let Some(usec) = values.column(Metric::Cpu) {
            self.has_cpu = true;
            amounts.push((Metric::Cpu, usec));
        }
        self.keys.add_operations(&hashes, &amounts, |i, name| {
            let kind = u8::from(keys.is_tagged(i)) | u8::from(is_channel(i)) << 1;
            named(name, spans.get(base, i), keys.slots[i], kind);
        });
        self.add_times(values);
        self.add_commands(keys);
    }

    fn merge(&mut self, other: Self) {
        for (command, ops) in other.commands {
            let sum = self.commands.entry(command).or_default();
            *sum = sum.saturating_add(ops);
        }
        self.times.merge(other.times);
        self.range = match (self.range, other.range) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
        self.keys.merge(other.keys);
        self.has_cpu |= other.has_cpu;
    }
}

/// The effect of a command on its key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Reads,
    Writes,
    /// The key is a channel.
    Publishes,
}

/// The effects of commands; usually the same as of the previous one.
#[derive(Default)]
struct LastCommand<'k>(Option<(&'k [u8], Does)>);

impl<'k> LastCommand<'k> {
    fn does(&mut self, name: &'k [u8]) -> Does {
        match self.0 {
            Some((last, does)) if last == name => does,
            _ => {
                let does = match name {
                    b"spublish" | b"ssubscribe" | b"sunsubscribe" => Does::Publishes,
                    name if is_read(name) => Does::Reads,
                    _ => Does::Writes,
                };
                self.0 = Some((name, does));
                does
            }
        }
    }
}

/// Whether a command is a read. An unknown one may write.
pub fn is_read(command: &[u8]) -> bool {
    let known = COMMANDS.named(command);
    known.is_some_and(|command| command.access != Access::Write)
}
