//! Reads a run's rows on a worker: keys are spans of the file's bytes, attributes go into columns.

use std::ops::Range;

use slotscope_base::batch::{BATCH_KEYS, MISSING, NEVER, Number, Word};
use slotscope_base::block::{Block, Padded};

use crate::format::frame::row_batch::Unread;
use crate::format::frame::walk::Sizes;
use crate::format::rdb::snapshot::elements::Elements;
use crate::format::rdb::snapshot::plain::{Content, PlainRow};
use crate::format::rdb::snapshot::run::Run;
use crate::format::{Columns, Notice, ReadStats};

/// The replies to TYPE and OBJECT ENCODING for keys of plain rows.
const WORDS: [&str; 12] = [
    "string", "hash", "list", "set", "zset", "int", "embstr", "raw", "listpack", "ziplist",
    "intset", "zipmap",
];

/// Size of the cache: most files have few distinct lengths of keys and values.
const REMEMBERED: usize = 256;

/// A run, with how sizes are measured.
pub(super) struct RunRows {
    pub run: Run,
    pub sizes: Sizes,
}

/// The memory, type and encoding of a key in a server.
#[derive(Clone, Copy, Default)]
struct InMemory {
    /// Cache tag: key and value length, whether the key has a TTL, and the type; 0 if empty.
    tag: u64,
    bytes: u64,
    kind: Named,
}

/// The places of a type and of an encoding in `WORDS`.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Named {
    type_name: usize,
    encoding: usize,
}

/// Rows being collected for a sink.
struct Filling<'a, 'c> {
    rows: &'a RunRows,
    columns: &'a mut Columns<'c>,
    seen: ReadStats,
    /// Positions of the words in the block.
    words: [(u32, u32); WORDS.len()],
    remembered: [InMemory; REMEMBERED],
    /// Type and encoding of the last row.
    kind: Named,
}

impl Unread for RunRows {
    fn read(&mut self, block: &mut Block, columns: &mut Columns<'_>) -> ReadStats {
        let end = self.run.parts.last().map_or(0, |part| part.end);
        let words = put_words(block, end);
        let mut filling = Filling {
            rows: self,
            columns,
            seen: ReadStats::default(),
            words,
            remembered: [InMemory::default(); REMEMBERED],
            kind: Named::default(),
        };
        for part in &filling.rows.run.parts {
            filling.part(block.padded(), part.clone());
        }
        filling.hand_on(block.padded());
        filling.seen
    }
}

/// Writes the words after the last row, over bytes no longer needed.
fn put_words(block: &mut Block, end: usize) -> [(u32, u32); WORDS.len()] {
    let mut at = end;
    WORDS.map(|word| {
        let start = at;
        at += word.len();
        if block.len() < at {
            block.resize(at);
        }
        block.content_mut()[start..at].copy_from_slice(word.as_bytes());
        (start as u32, at as u32)
    })
}

impl Filling<'_, '_> {
    /// Adds the rows of a part.
    fn part(&mut self, base: Padded<'_>, part: Range<usize>) {
        let bytes = &base.bytes()[..part.end];
        let mut at = part.start;
        while let Some(row) = PlainRow::at_start_of(&bytes[at..]) {
            self.row(&row, at, bytes);
            at += row.bytes;
            if self.columns.keys.len() == BATCH_KEYS {
                self.hand_on(base);
            }
        }
        debug_assert_eq!(at, part.end, "a run is of plain rows");
    }

    #[inline(always)]
    fn row(&mut self, row: &PlainRow, at: usize, bytes: &[u8]) {
        let (start, end) = (at + row.key.start, at + row.key.end);
        let expires_ms = row.attributes.expires_ms;
        let in_memory = self.in_memory(row);
        let run = &self.rows.run;
        let size = match self.rows.sizes {
            Sizes::Memory(_) => in_memory.bytes,
            Sizes::Serialized => row.bytes as u64,
        };
        if in_memory.kind != self.kind {
            self.fill_words();
            self.kind = in_memory.kind;
        }
        let Columns { keys, values, .. } = &mut *self.columns;
        if let Content::Packed(elements, _) = row.content {
            let counts = values.number_mut(Number::Elements);
            counts.resize(keys.len(), 1);
            counts.push(elements.known().unwrap_or(MISSING));
            let is_damaged = elements == Elements::Damaged;
            self.seen.note(Notice::DamagedValue, is_damaged.into());
        }
        if let Some(lfu) = row.attributes.lfu {
            let counters = values.number_mut(Number::Lfu);
            counters.resize(keys.len(), MISSING);
            counters.push(lfu.into());
        }
        if expires_ms.is_some() {
            let times = values.number_mut(Number::Expiry);
            times.resize(keys.len(), NEVER);
            times.push(row.attributes.expiry());
        }
        keys.push(start as u32, end as u32);
        values.offsets.push(run.offset + at as u64);
        values.sizes_mut().push(size);
        let has_expired = expires_ms.is_some_and(|at| run.written_ms.is_some_and(|now| at < now));
        let is_imported = run.imported.has(&bytes[start..end]);
        if has_expired || is_imported {
            self.seen.note(Notice::Expired, has_expired.into());
            self.seen.note(Notice::Imported, is_imported.into());
        }
    }

    #[inline(always)]
    fn in_memory(&mut self, row: &PlainRow) -> InMemory {
        let len = row.key.len() as u64;
        // Lengths in plain rows have 14 bits.
        let value = match row.content {
            Content::Text(text) => text.map_or(0, |len| len + 1),
            Content::Packed(_, len) => len,
        };
        let expires = row.attributes.expires_ms.is_some();
        let tag =
            1 | u64::from(expires) << 1 | len << 2 | value << 32 | u64::from(row.number) << 56;
        let place = &mut self.remembered[(len ^ value << 3) as usize % REMEMBERED];
        if place.tag != tag {
            let (bytes, encoding) = row.in_memory(&self.rows.run.memory);
            let kind = Named {
                type_name: place_of(row.kind().name),
                encoding: place_of(encoding),
            };
            *place = InMemory { tag, bytes, kind };
        }
        *place
    }

    /// Fills the columns of types and encodings up to the last row, with those in effect since the last change.
    fn fill_words(&mut self) {
        let Named {
            type_name,
            encoding,
        } = self.kind;
        for (column, word) in [(Word::Type, type_name), (Word::Encoding, encoding)] {
            let (start, end) = self.words[word];
            let column = self.columns.values.word_mut(column);
            column.start.resize(self.columns.keys.len(), start);
            column.end.resize(self.columns.keys.len(), end);
        }
    }

    /// Hands the batch on.
    fn hand_on(&mut self, base: Padded<'_>) {
        let len = self.columns.keys.len();
        if len == 0 {
            return;
        }
        self.fill_words();
        let values = &mut *self.columns.values;
        values
            .number_mut(Number::Database)
            .resize(len, self.rows.run.database);
        values.number_mut(Number::Elements).resize(len, 1);
        values.number_mut(Number::Expiry).resize(len, NEVER);
        let counters = values.number_mut(Number::Lfu);
        if !counters.is_empty() {
            counters.resize(len, MISSING);
        }
        self.columns.hand_on(base, &mut self.seen);
        self.columns.keys.clear();
        self.columns.values.clear();
    }
}

/// Where a word is in `WORDS`.
fn place_of(word: &str) -> usize {
    let place = WORDS.iter().position(|known| *known == word);
    place.expect("the words of all plain rows are known")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::frame::walk::{Walk, Walked, Walking};
    use crate::format::rdb::snapshot::plain::tests::PACKED;
    use crate::format::rdb::snapshot::rows::Rows;
    use crate::format::reading::{assert_same, assert_same_if_damaged};
    use crate::source::forward::Forward;

    fn walk(input: Forward, sizes: Sizes, leaves_runs: bool) -> Box<dyn Walk> {
        let walking = Walking {
            sizes,
            ..Walking::default()
        };
        let rows = Rows::new(input, walking);
        let rows = if leaves_runs {
            rows
        } else {
            rows.without_runs()
        };
        Box::new(Walked::new(rows))
    }

    fn in_memory(input: Forward, leaves_runs: bool) -> Box<dyn Walk> {
        walk(input, Walking::default().sizes, leaves_runs)
    }

    fn serialized(input: Forward, leaves_runs: bool) -> Box<dyn Walk> {
        walk(input, Sizes::Serialized, leaves_runs)
    }

    /// Asserts that a file reads the same with and without runs handed to workers; returns the number of runs.
    fn same(file: &[u8]) -> usize {
        assert_same(file, &serialized);
        assert_same(file, &in_memory)
    }

    /// A file with all kinds of rows, some with slot headers, some in slots being imported.
    fn file(rows: u32, in_cluster: bool, imports: bool) -> Vec<u8> {
        let magic = if imports { b"VALKEY080" } else { b"REDIS0012" };
        let mut file = [&magic[..], b"\xFA\x05ctime\x0520000"].concat();
        if imports {
            // All slots up to 8191.
            file.extend(b"\xF3\x03job\x01\x00\x5F\xFF");
        }
        file.extend(b"\xFE\x02");
        for i in 0..rows {
            if in_cluster && i % 50 == 0 {
                let slot = hashslot::slot(b"a") + u16::from(i % 500 == 0);
                let [high, low] = (slot | 0x4000).to_be_bytes();
                if i % 100 == 0 {
                    file.extend([0xF4, high, low, 50, 5]);
                } else {
                    let text = format!("{slot},50,5,{}", i % 7);
                    file.extend(b"\xFA\x09slot-info");
                    file.push(text.len() as u8);
                    file.extend(text.bytes());
                }
            }
            if i % 10 == 0 {
                let times = [19_999_999u64, 2_000_000_000_000, u64::MAX, 20_000_000];
                file.push(0xFC);
                file.extend(times[i as usize / 10 % 4].to_le_bytes());
            }
            if i % 97 == 3 {
                file.extend([0xF9, i as u8]);
            }
            let key = format!("{{a}}:{}", i * i);
            let packed = PACKED.get(i as usize % 23);
            file.extend([packed.map_or(0, |(number, _)| *number), key.len() as u8]);
            file.extend(key.bytes());
            match (packed, i % 6) {
                (Some((_, value)), _) => file.extend(*value),
                (None, 0) => file.extend(b"\xC0\x07"),
                (None, 1) => file.extend(b"\x0412.5"),
                (None, 2) => file.extend(b"\x041205"),
                (None, 3) => file.extend([&b"\x40\x64"[..], &[b'x'; 100]].concat()),
                (None, 4) => file.extend(b"\xC3\x04\x40\x64\x01ab\xE0"),
                (None, _) => file.extend(b"\xC2\x00\x00\x00\x01"),
            }
            if i % 1000 == 999 {
                file.extend(b"\x01\x04list\x02\x01x\x01y");
            }
        }
        file.extend(b"\xFF\0\0\0\0\0\0\0\0");
        file
    }

    #[test]
    fn a_run_says_of_its_keys_what_the_walk_says() {
        for (in_cluster, imports) in [(false, false), (true, false), (false, true), (true, true)] {
            assert!(same(&file(2000, in_cluster, imports)) >= 2);
        }
        // More than one buffer, with batches ending inside of one.
        assert!(same(&file(60_000, true, false)) > 50);
    }

    #[test]
    fn a_damaged_or_cut_run_ends_where_the_walk_ends() {
        let whole = file(500, true, false);
        assert_same_if_damaged(&whole, &in_memory);
        assert_same_if_damaged(&whole, &serialized);
    }
}
