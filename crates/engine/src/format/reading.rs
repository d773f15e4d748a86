//! For format tests: everything that a reader finds in a dump read as one block.

use crate::format::batch::{BATCH_KEYS, KeyBatch, Spans, Values, Word};
use crate::format::frame::row_batch::RowBatch;
use crate::format::frame::walk::{Damage, Walk, Walking};
use crate::format::lfu::LfuRule;
use crate::format::shape::first;
use crate::format::{Format, Head, Opened, ReadStats, Sink};
use crate::source::forward::Forward;
use std::io::Cursor;

/// The keys and attributes found.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Found {
    pub keys: Vec<Vec<u8>>,
    pub values: Values,
    pub types: Vec<Vec<u8>>,
    pub commands: Vec<Vec<u8>>,
    pub rejects: Vec<(usize, String)>,
    pub seen: ReadStats,
    /// Where and why the input could not be read further.
    pub damage: Option<Damage>,
}

impl Sink for Found {
    fn keys(&mut self, batch: KeyBatch<'_>) {
        let KeyBatch { base, keys, values } = batch;
        let len = keys.len();
        assert!((1..=BATCH_KEYS).contains(&len), "a batch of {len} keys");
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
        for (all, column) in self.values.weights.iter_mut().zip(&values.weights) {
            all.extend(column);
        }
        for (all, column) in self.values.numbers.iter_mut().zip(&values.numbers) {
            all.extend(column);
        }
        self.values.times.extend(&values.times);
        self.values.offsets.extend(&values.offsets);
        self.values.extremes.extend(&values.extremes);
        self.commands
            .extend((0..values.commands.len()).map(|i| values.commands.get(base, i).to_vec()));
        let types = values.word(Word::Type);
        self.types
            .extend((0..types.len()).map(|i| types.get(base, i).to_vec()));
    }

    fn reject_at(&mut self, byte: u64, reason: &str) {
        self.reject(byte as usize, reason);
    }

    fn reject(&mut self, at: usize, reason: &str) {
        self.rejects.push((at, reason.to_string()));
    }
}

/// Reads `content` with the reader that `format` opens for it.
pub(super) fn read_whole(format: &dyn Format, content: &[u8]) -> Found {
    let opened = format
        .open(Head {
            bytes: content,
            whole: true,
        })
        .expect("a head that can be opened");
    let mut found = Found::default();
    found.seen = match opened {
        Opened::Blocks { reader, .. } => first::read(&*reader, content, true, &mut found),
        Opened::Walk { walk, .. } => {
            let input = Forward::stream(Box::new(Cursor::new(content.to_vec())));
            read_walk(&mut *walk(input, Walking::default()), &mut found)
        }
    };
    let rows = found.seen.keys + found.seen.operations;
    assert_eq!(rows as usize, found.keys.len());
    found
}

fn read_walk(walk: &mut dyn Walk, found: &mut Found) -> ReadStats {
    let (mut seen, mut rows) = (ReadStats::default(), RowBatch::default());
    loop {
        match walk.next(&mut rows) {
            Ok(Some(_)) => seen += rows.read(LfuRule::default(), found),
            Ok(None) => return seen,
            Err(damage) => {
                found.damage = Some(damage);
                return seen;
            }
        }
    }
}
