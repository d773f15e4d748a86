//! The file of a node's keys: compressed CSV, with one frame per task. Rows of slots that must be reread are marked,
//! and removed once at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufReader, BufWriter};

use csv::{ByteRecord, ReaderBuilder, Writer};

use slotscope_base::calendar::utc;
use slotscope_base::error::Result;
use slotscope_base::name::Name;
use slotscope_base::slot::set::SlotSet;
use slotscope_read::format::table::key_spelling::DUMP;
use slotscope_report::output::{CsvRows, WholeDirectory, spelled};

use crate::key_facts::KeyFacts;

/// The slot column.
const SLOT: usize = DUMP.len() - 2;
/// Compression level: about as fast as keys arrive, and with 64 KiB of tables, as there is an encoder per node.
const LEVEL: i32 = 1;

/// A file of keys.
pub(crate) struct NodeFile<'a> {
    directory: &'a WholeDirectory,
    /// Its name.
    pub name: String,
    frames: Vec<Frame>,
}

/// The rows of a task, one frame of the compressed file.
#[derive(Debug, Default)]
struct Frame {
    /// The number of rows per slot.
    rows: BTreeMap<u16, u64>,
    /// Slots whose rows are void.
    left_out: BTreeSet<u16>,
}

impl Frame {
    fn keys(&self) -> u64 {
        let counts = self
            .rows
            .iter()
            .filter(|(slot, _)| !self.left_out.contains(slot));
        counts.map(|(_, rows)| rows).sum()
    }
}

/// Rows being written.
pub(crate) struct Rows<'a, 'f> {
    file: &'f mut NodeFile<'a>,
    frame: Frame,
    csv: CsvRows<zstd::Encoder<'static, BufWriter<File>>>,
}

impl<'a> NodeFile<'a> {
    /// A file not created yet.
    pub(crate) fn new(directory: &'a WholeDirectory, name: String) -> Self {
        NodeFile {
            directory,
            name,
            frames: Vec::new(),
        }
    }

    /// The number of valid rows.
    pub(crate) fn keys(&self) -> u64 {
        self.frames.iter().map(Frame::keys).sum()
    }

    /// Whether it was created.
    pub(crate) fn is_made(&self) -> bool {
        !self.frames.is_empty()
    }

    /// Opens it for appending.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn open(&mut self) -> Result<Rows<'a, '_>> {
        let is_made = self.is_made();
        let file = if is_made {
            self.directory.append(&self.name)?
        } else {
            self.directory.file(&self.name)?
        };
        let frame = zstd::Encoder::new(BufWriter::new(file), LEVEL);
        let opened = frame.and_then(|frame| {
            let mut csv = CsvRows::new(frame);
            if !is_made {
                csv.row(DUMP)?;
            }
            Ok(csv)
        });
        let csv = opened.map_err(|error| self.directory.failed(&self.name, error))?;
        Ok(Rows {
            file: self,
            frame: Frame::default(),
            csv,
        })
    }

    /// Voids the current rows of these slots.
    pub(crate) fn leave_out(&mut self, slots: &SlotSet) {
        for frame in &mut self.frames {
            let held = frame.rows.keys().filter(|slot| slots.contains(**slot));
            frame.left_out.extend(held.copied().collect::<Vec<_>>());
        }
    }

    /// Removes void rows; unless `is_wanted`, a file without rows is removed.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub(crate) fn tidy(&mut self, is_wanted: bool) -> Result<()> {
        if self.is_made() && self.keys() == 0 && !is_wanted {
            self.frames.clear();
            return self.directory.remove(&self.name);
        }
        if self.frames.iter().all(|frame| frame.left_out.is_empty()) {
            return Ok(());
        }
        let part = format!("{}.part", self.name);
        let (from, to) = (
            self.directory.read(&self.name)?,
            self.directory.file(&part)?,
        );
        let copied = self.copy(from, to);
        copied.map_err(|error| self.directory.failed(&self.name, error))?;
        self.directory.rename(&part, &self.name)
    }

    fn copy(&self, from: File, to: File) -> io::Result<()> {
        let failed = |error: csv::Error| io::Error::other(error.to_string());
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .from_reader(BufReader::new(zstd::Decoder::new(from)?));
        let mut writer = Writer::from_writer(zstd::Encoder::new(BufWriter::new(to), LEVEL)?);
        let mut row = ByteRecord::new();
        if reader.read_byte_record(&mut row).map_err(failed)? {
            writer.write_byte_record(&row).map_err(failed)?;
        }
        for frame in &self.frames {
            for _ in 0..frame.rows.values().sum() {
                reader.read_byte_record(&mut row).map_err(failed)?;
                let slot = row
                    .get(SLOT)
                    .and_then(|cell| std::str::from_utf8(cell).ok()?.parse().ok());
                if slot.is_some_and(|slot| !frame.left_out.contains(&slot)) {
                    writer.write_byte_record(&row).map_err(failed)?;
                }
            }
        }
        let frame = writer
            .into_inner()
            .map_err(|error| io::Error::from(error.error().kind()))?;
        finish(frame)
    }
}

/// Ends a frame and the file.
fn finish(frame: zstd::Encoder<'static, BufWriter<File>>) -> io::Result<()> {
    let file = frame.finish()?.into_inner();
    file.map_err(io::IntoInnerError::into_error)?.sync_all()
}

impl Rows<'_, '_> {
    /// Adds a key.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn add(
        &mut self,
        key: &[u8],
        database: u64,
        slot: u16,
        facts: &KeyFacts,
    ) -> Result<()> {
        let number =
            |number: Option<u64>| number.map_or(String::new(), |number| number.to_string());
        let escaped = |bytes: &[u8]| spelled(&Name::from(bytes));
        let cells = [
            escaped(key),
            database.to_string(),
            escaped(facts.kind.as_bytes()),
            facts
                .encoding
                .as_deref()
                .map_or(String::new(), |name| escaped(name.as_bytes())),
            number(facts.elements),
            String::new(),
            number(facts.memory),
            facts.expires_ms.map_or(String::new(), utc),
            number(facts.lfu),
            number(facts.idle_secs),
            slot.to_string(),
            hashslot::tag(key).map_or(String::new(), |tag| escaped(&key[tag])),
        ];
        let written = self.csv.row(cells);
        written.map_err(|error| self.file.directory.failed(&self.file.name, error))?;
        *self.frame.rows.entry(slot).or_default() += 1;
        Ok(())
    }

    /// Flushes the rest.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn finish(self) -> Result<()> {
        let Rows { file, frame, csv } = self;
        let finished = csv.finish().and_then(finish);
        finished.map_err(|error| file.directory.failed(&file.name, error))?;
        file.frames.push(frame);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn add(file: &mut NodeFile<'_>, keys: &[&str]) {
        let mut rows = file.open().unwrap();
        for key in keys {
            let key = key.as_bytes();
            rows.add(key, 0, hashslot::slot(key), &KeyFacts::default())
                .unwrap();
        }
        rows.finish().unwrap();
    }

    /// The keys of a file, in order.
    fn keys(file: &NodeFile<'_>) -> Vec<String> {
        let mut text = String::new();
        let content = file.directory.read(&file.name).unwrap();
        zstd::Decoder::new(content)
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        assert!(text.starts_with("key,db,"), "{text}");
        text.lines()
            .skip(1)
            .map(|line| line.split(',').next().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn rows_of_slots_that_moved_are_taken_out_and_those_that_came_later_stay() {
        let directory = WholeDirectory::temporary().unwrap();
        let mut file = NodeFile::new(&directory, "h-1.csv.zst".into());
        add(&mut file, &["{a}1", "{b}1", "{c}1"]);
        file.leave_out(&SlotSet::of(|slot| slot == hashslot::slot(b"a")));
        add(&mut file, &["{a}2", "{d}1"]);
        file.leave_out(&SlotSet::of(|slot| slot == hashslot::slot(b"d")));
        assert_eq!(file.keys(), 3);
        file.tidy(true).unwrap();
        assert_eq!(keys(&file), ["{b}1", "{c}1", "{a}2"]);
        file.leave_out(&SlotSet::all());
        file.tidy(true).unwrap();
        assert!(file.is_made() && keys(&file).is_empty());
        file.tidy(false).unwrap();
        assert!(!file.is_made());
    }
}
