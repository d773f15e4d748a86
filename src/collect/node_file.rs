//! The file of a node's keys: compressed CSV, to which slots are added, and from which the rows of slots are taken that
//! have to be read again.

use std::fs::File;
use std::io::{self, BufReader, BufWriter};

use csv::{ByteRecord, ReaderBuilder, Writer};

use crate::collect::key_facts::KeyFacts;
use crate::collect::slot_set::SlotSet;
use crate::dump;
use crate::dump::view::{Csv, spelled};
use crate::error::Result;
use crate::format::table::key_spelling::DUMP;
use crate::name::Name;
use crate::report::directory::WholeDirectory;
use crate::slot::SLOTS;

/// How hard the compressor tries: about as fast as keys come.
const LEVEL: i32 = 3;

/// A file of keys.
pub struct NodeFile<'a> {
    directory: &'a WholeDirectory,
    /// Its name.
    pub name: String,
    /// Rows by slot; empty before the first.
    rows: Vec<u64>,
}

/// Rows on their way into a file.
pub struct Rows<'a, 'f> {
    file: &'f mut NodeFile<'a>,
    csv: Csv<zstd::Encoder<'static, BufWriter<File>>>,
}

impl<'a> NodeFile<'a> {
    /// The file of the node at `HOST:PORT`, not made yet.
    pub fn new(directory: &'a WholeDirectory, name: String) -> Self {
        NodeFile {
            directory,
            name,
            rows: Vec::new(),
        }
    }

    /// Rows in it.
    pub fn keys(&self) -> u64 {
        self.rows.iter().sum()
    }

    /// Whether it has been made.
    pub fn is_made(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Opens it for more rows, in a frame after those that are there.
    ///
    /// # Errors
    /// It cannot be written to.
    pub fn open(&mut self) -> Result<Rows<'a, '_>> {
        let is_made = self.is_made();
        let file = match is_made {
            true => self.directory.append(&self.name)?,
            false => self.directory.file(&self.name)?,
        };
        self.rows.resize(SLOTS, 0);
        let opened =
            zstd::Encoder::new(BufWriter::new(file), LEVEL).and_then(|frame| match is_made {
                true => Ok(Csv::without_header(frame)),
                false => Csv::new(frame),
            });
        let csv = opened.map_err(|error| self.directory.failed(&self.name, error))?;
        Ok(Rows { file: self, csv })
    }

    /// Takes out the rows of these slots.
    ///
    /// # Errors
    /// It cannot be read or written.
    pub fn leave_out(&mut self, slots: &SlotSet) -> Result<()> {
        let has_any = |(slot, rows): (u16, &u64)| *rows > 0 && slots.contains(slot);
        if !(0..).zip(&self.rows).any(has_any) {
            return Ok(());
        }
        let stays = |(slot, rows): (u16, &u64)| *rows > 0 && !slots.contains(slot);
        if !(0..).zip(&self.rows).any(stays) {
            self.rows.clear();
            return self.directory.remove(&self.name);
        }
        let part = format!("{}.part", self.name);
        let (from, to) = (
            self.directory.read(&self.name)?,
            self.directory.file(&part)?,
        );
        copy_without(slots, from, to).map_err(|error| self.directory.failed(&self.name, error))?;
        self.directory.rename(&part, &self.name)?;
        for slot in slots.iter() {
            self.rows[usize::from(slot)] = 0;
        }
        Ok(())
    }

    /// Removes it where it has no row.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn remove_if_empty(&mut self) -> Result<()> {
        if self.is_made() && self.keys() == 0 {
            self.directory.remove(&self.name)?;
            self.rows.clear();
        }
        Ok(())
    }
}

fn copy_without(slots: &SlotSet, from: File, to: File) -> io::Result<()> {
    let slot_column = DUMP.len() - 2;
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .from_reader(BufReader::new(zstd::Decoder::new(from)?));
    let mut writer = Writer::from_writer(zstd::Encoder::new(BufWriter::new(to), LEVEL)?);
    let mut row = ByteRecord::new();
    let failed = |error: csv::Error| io::Error::other(error.to_string());
    while reader.read_byte_record(&mut row).map_err(failed)? {
        let slot = row
            .get(slot_column)
            .and_then(|cell| std::str::from_utf8(cell).ok()?.parse().ok());
        if !slot.is_some_and(|slot| slots.contains(slot)) {
            writer.write_byte_record(&row).map_err(failed)?;
        }
    }
    let frame = writer
        .into_inner()
        .map_err(|error| io::Error::from(error.error().kind()))?;
    frame
        .finish()?
        .into_inner()
        .map_err(|error| error.into_error())?
        .sync_all()
}

impl Rows<'_, '_> {
    /// Adds a key.
    ///
    /// # Errors
    /// The file cannot be written to.
    pub fn add(&mut self, key: &[u8], database: u64, slot: u16, facts: &KeyFacts) -> Result<()> {
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
            facts.expires_ms.map_or(String::new(), dump::utc),
            number(facts.lfu),
            number(facts.idle_secs),
            slot.to_string(),
            hashslot::tag(key).map_or(String::new(), |tag| escaped(&key[tag])),
        ];
        let written = self.csv.row(std::array::from_fn(|at| cells[at].as_str()));
        written.map_err(|error| self.file.directory.failed(&self.file.name, error))?;
        self.file.rows[usize::from(slot)] += 1;
        Ok(())
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// The file cannot be written to.
    pub fn finish(self) -> Result<()> {
        let finish = |csv: Csv<zstd::Encoder<'static, BufWriter<File>>>| {
            let file = csv.into_inner()?.finish()?;
            file.into_inner()
                .map_err(|error| error.into_error())?
                .sync_all()
        };
        finish(self.csv).map_err(|error| self.file.directory.failed(&self.file.name, error))
    }
}
