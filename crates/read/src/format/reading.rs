//! For format tests: everything that a reader finds in a dump read as one block, or a walk in batches.

use slotscope_base::batch::{BATCH_KEYS, KeyBatch, MISSING, Number, Spans, Values};
use slotscope_base::lfu::LfuRule;
use slotscope_base::metric::Metric;
use std::io::Cursor;

use crate::format::frame::row_batch::RowBatch;
use crate::format::frame::walk::{Damage, Walk, Walking};
use crate::format::line::tried;
use crate::format::{Detected, Format, GRAMMARS, Head, Notice, Opened, ReadStats, Sink};
use crate::source::forward::Forward;

/// The keys and attributes found.
#[derive(Debug, Default, PartialEq)]
pub struct Found {
    pub keys: Vec<Vec<u8>>,
    pub values: Values,
    pub types: Vec<Vec<u8>>,
    pub encodings: Vec<Vec<u8>>,
    pub commands: Vec<Vec<u8>>,
    pub rejects: Vec<(usize, String)>,
    pub seen: ReadStats,
    /// Where and why the input could not be read further.
    pub damage: Option<Damage>,
}

impl Found {
    /// All of it: the keys with what is known of them, the offsets of rejects, and the notices.
    pub fn text(&self) -> String {
        let known = |column: &[u64], i: usize| column.get(i).copied().filter(|n| *n != MISSING);
        let key = |(i, key): (usize, &Vec<u8>)| {
            let mut words = vec![key.escape_ascii().to_string()];
            let command = self.commands.get(i);
            words.extend(command.map(|command| format!("by={}", command.escape_ascii())));
            for (metric, column) in Metric::WEIGHTS.into_iter().zip(&self.values.weights) {
                let is_shown = command.is_none() || metric != Metric::Ops;
                let weight = known(column, i).filter(|_| is_shown);
                words.extend(weight.map(|weight| format!("{}={weight}", metric.name())));
            }
            for (number, column) in Number::ALL.into_iter().zip(&self.values.numbers) {
                let name = format!("{number:?}").to_lowercase();
                words.extend(known(column, i).map(|value| format!("{name}={value}")));
            }
            let of_type = self.types.get(i).filter(|word| !word.is_empty());
            words.extend(of_type.map(|word| format!("type={}", word.escape_ascii())));
            words.extend(known(&self.values.times, i).map(|time| format!("at={time}")));
            let extreme = self.values.extremes.get(i);
            words.extend(extreme.map(|(extreme, amount)| format!("{extreme:?}={amount}")));
            words.join(" ")
        };
        let noted = Notice::ALL.map(|notice| (notice, self.seen.count(notice)));
        let keys = self.keys.iter().enumerate().map(key);
        let rejects = self.rejects.iter().map(|(at, _)| format!("!{at}"));
        let notices = noted.iter().filter(|(_, count)| *count > 0);
        let notices = notices.map(|(notice, count)| format!("{notice:?}={count}"));
        let lost = self.seen.unreadable();
        let lost = lost.map(|(lost, first)| {
            format!("{lost:?}={} at {}: {}", first.count, first.byte, first.text)
        });
        let all = keys.chain(rejects).chain(notices).chain(lost);
        all.collect::<Vec<_>>().join("; ")
    }

    /// Asserts that another way of reading the same input finds the same.
    fn assert_same_as(&self, other: &Found) {
        for (mine, others) in self.facts().iter().zip(&other.facts()) {
            assert_eq!(mine, others);
        }
        let others = |found: &Found| {
            let ReadStats {
                keys,
                operations,
                written_ms,
                ..
            } = found.seen;
            let (offsets, encodings) = (&found.values.offsets, &found.encodings);
            let places = (offsets.clone(), encodings.clone(), found.rejects.clone());
            (places, found.damage.clone(), keys, operations, written_ms)
        };
        assert_eq!(others(self), others(other));
        assert_eq!(self.facts().len(), other.facts().len());
    }

    /// The text in parts, without what every batch of a cluster's file repeats.
    fn facts(&self) -> Vec<String> {
        let text = self.text();
        let facts = text
            .split("; ")
            .filter(|fact| !fact.starts_with("InCluster="));
        facts.map(String::from).collect()
    }
}

/// Opens a walk over an input, which leaves runs to workers or not.
pub type WithRuns<'a> = &'a dyn Fn(Forward, bool) -> Box<dyn Walk>;

/// Asserts that a file reads the same with and without runs left to workers; returns the number of runs.
pub fn assert_same(file: &[u8], walk: WithRuns<'_>) -> usize {
    let [left, walked] = [true, false].map(|leaves| {
        let input = Forward::stream(Box::new(Cursor::new(file.to_vec())));
        let (mut found, mut runs) = (Found::default(), 0);
        found.seen = read_walk(&mut *walk(input, leaves), &mut found, &mut runs);
        (found, runs)
    });
    left.0.assert_same_as(&walked.0);
    left.1
}

/// The same of files that end early or are damaged.
pub fn assert_same_if_damaged(whole: &[u8], walk: WithRuns<'_>) {
    let ends = (0..whole.len()).step_by(97);
    for end in ends.chain(whole.len() - 12..whole.len()) {
        assert_same(&whole[..end], walk);
    }
    let mut random = 1u64;
    for _ in 0..400 {
        let mut damaged = whole.to_vec();
        for _ in 0..1 + random % 3 {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            let at = (random >> 33) as usize % damaged.len();
            damaged[at] = (random >> 25) as u8;
        }
        assert_same(&damaged, walk);
    }
}

impl Sink for Found {
    fn keys(&mut self, batch: KeyBatch<'_>) {
        let KeyBatch { base, keys, values } = batch;
        let len = keys.len();
        assert!((1..=BATCH_KEYS).contains(&len), "a batch of {len} keys");
        let before = self.keys.len();
        self.keys
            .extend((0..len).map(|i| keys.get(base, i).to_vec()));
        let numbers = values.weights.iter().chain(&values.numbers).map(Vec::len);
        let words = values.words.iter();
        let words = words.chain([&values.commands]).map(Spans::len);
        for column in numbers
            .chain(words)
            .chain([values.times.len(), values.offsets.len()])
        {
            assert!(
                [0, len].contains(&column),
                "a column is as long as the keys, or empty"
            );
        }
        // Batches before may lack a column.
        let extend = |all: &mut Vec<u64>, column: &Vec<u64>| {
            if !column.is_empty() {
                all.resize(before, MISSING);
                all.extend(column);
            }
        };
        for (all, column) in self.values.weights.iter_mut().zip(&values.weights) {
            extend(all, column);
        }
        for (all, column) in self.values.numbers.iter_mut().zip(&values.numbers) {
            extend(all, column);
        }
        extend(&mut self.values.times, &values.times);
        self.values.offsets.extend(&values.offsets);
        self.values.extremes.extend(&values.extremes);
        let [types, encodings] = &values.words;
        for (all, words) in [
            (&mut self.types, types),
            (&mut self.encodings, encodings),
            (&mut self.commands, &values.commands),
        ] {
            if !words.is_empty() {
                all.resize(before, Vec::new());
                all.extend((0..len).map(|i| words.get(base, i).to_vec()));
            }
        }
    }

    fn reject_at(&mut self, byte: u64, reason: &str) {
        self.reject(byte as usize, reason);
    }

    fn reject(&mut self, at: usize, reason: &str) {
        self.rejects.push((at, reason.to_string()));
    }
}

/// The name of the format with a grammar that an input starting with these bytes, or being these, has.
pub fn named(content: impl AsRef<[u8]>, whole: bool) -> Option<&'static str> {
    let bytes = content.as_ref();
    let mut answers = GRAMMARS
        .iter()
        .map(|format| (format.name(), format.detect(Head { bytes, whole })));
    let (name, answer) = answers
        .find(|(_, answer)| *answer == Detected::Yes || !whole && *answer == Detected::NeedMore)?;
    (answer == Detected::Yes).then_some(name)
}

/// Why a format does not open an input; empty if it does.
pub fn refused(format: &dyn Format, content: impl AsRef<[u8]>) -> String {
    let bytes = content.as_ref();
    let opened = format.open(Head { bytes, whole: true });
    opened.err().unwrap_or_default()
}

/// Asserts what a format finds in each of the inputs, as `Found::text` has it.
pub fn assert_reads(format: &dyn Format, cases: &[(impl AsRef<[u8]>, &str)]) {
    for (content, expected) in cases {
        let found = read_whole(format, content.as_ref());
        assert!(found.damage.is_none(), "{:?}", found.damage);
        let content = content.as_ref().escape_ascii();
        assert_eq!(found.text(), *expected, "{content}");
    }
}

/// Reads `content` with the reader that `format` opens for it.
pub fn read_whole(format: &dyn Format, content: &[u8]) -> Found {
    let opened = format
        .open(Head {
            bytes: content,
            whole: true,
        })
        .expect("a head that can be opened");
    let mut found = Found::default();
    found.seen = match opened {
        Opened::Blocks { reader, .. } => tried::read(&*reader, content, true, &mut found),
        Opened::Walk { walk, .. } => {
            let input = Forward::stream(Box::new(Cursor::new(content.to_vec())));
            read_walk(&mut *walk(input, Walking::default()), &mut found, &mut 0)
        }
    };
    let rows = found.seen.keys + found.seen.operations;
    assert_eq!(rows as usize, found.keys.len());
    found
}

fn read_walk(walk: &mut dyn Walk, found: &mut Found, runs: &mut usize) -> ReadStats {
    let (mut seen, mut rows) = (ReadStats::default(), RowBatch::default());
    loop {
        match walk.next(&mut rows) {
            Ok(Some(_)) => {
                *runs += usize::from(rows.is_left());
                seen += rows.read(LfuRule::default(), found);
            }
            Ok(None) => return seen,
            Err(damage) => {
                found.damage = Some(damage);
                return seen;
            }
        }
    }
}
