//! `slotscope dump`: the keys of RDB files, one per line, in the order of the file.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;

use slotscope_app::cli::input::kind::{NEEDS_RDB, check_paths, check_sources};
use slotscope_app::cli::{Command, Ending, Run, inputs, say_at};
use slotscope_app::options::headings::{ARGUMENTS, INPUT, OUTPUT};
use slotscope_app::options::{FilterSpec, MemorySpec, StorageSpec};
use slotscope_base::batch::MISSING;
use slotscope_base::calendar::utc;
use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_base::redact;
use slotscope_count::scan::filter::KeyFacts;
use slotscope_read::format::Notice;
use slotscope_read::format::rdb::snapshot::record::{Event, Record};
use slotscope_read::format::rdb::snapshot::walk::Walker;
use slotscope_read::format::table::key_spelling::DUMP;
use slotscope_read::source::Source;
use slotscope_read::source::forward::Forward;
use slotscope_report::output::{CsvRows, spelled};
use slotscope_report::render::json;

/// The keys of RDB files, one per line: type, sizes, expiry, slot
///
/// What is odd about a file, and where one cannot be read on, goes to standard error; then the exit code is 2.
#[derive(Args, Debug)]
#[command(next_help_heading = INPUT, after_help = EXAMPLES)]
pub struct DumpArgs {
    /// RDB files, directories, - for standard input
    ///
    /// Also compressed, and addresses as for analyze.
    #[arg(value_name = "FILE", required = true, help_heading = ARGUMENTS)]
    pub inputs: Vec<PathBuf>,
    /// The form of the lines
    #[arg(long = "output-format", alias = "output", help_heading = OUTPUT, value_enum, value_name = "FORM", default_value_t)]
    pub output: LineForm,
    /// Only keys of this database
    #[arg(long, value_name = "N")]
    pub db: Option<u64>,
    /// Which of them
    #[command(flatten)]
    pub filter: FilterSpec,
    /// How they are read
    #[command(flatten)]
    pub walking: MemorySpec,
    /// How places on the network are opened
    #[command(flatten)]
    pub storage: StorageSpec,
}

const EXAMPLES: &str = "\
Example, the largest keys:
  slotscope dump dump.rdb | sort -t, -k7,7nr | head";

/// A form of lines.
#[derive(ValueEnum, Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LineForm {
    /// CSV with a header, which analyze reads
    #[default]
    Csv,
    /// One JSON object a line
    Jsonl,
}

impl Run for DumpArgs {
    fn run(&self, _: &Command) -> Result<Ending> {
        check_paths(&self.inputs, NEEDS_RDB)?;
        let inputs = inputs::find(&self.inputs, &self.storage.options()?)?;
        check_sources(&inputs.sources, NEEDS_RDB)?;
        let filter = self.filter.filter()?;
        let is_wanted = |record: &Record<'_>| {
            self.db.is_none_or(|wanted| wanted == record.database)
                && filter
                    .as_ref()
                    .is_none_or(|filter| filter.keeps(&facts(record)))
        };
        match self.output {
            LineForm::Csv => {
                let mut csv = CsvRows::new(io::stdout());
                let mut has_header = false;
                let ending = self.print(&inputs.sources, &is_wanted, |line| {
                    if !has_header {
                        csv.row(DUMP)?;
                        has_header = true;
                    }
                    csv.row(cells(line))
                })?;
                // An unreadable file yields an error, not an empty table.
                if !has_header && matches!(ending, Ending::Done) {
                    csv.row(DUMP).map_err(Error::stdout)?;
                }
                csv.finish().map_err(Error::stdout)?;
                Ok(ending)
            }
            LineForm::Jsonl => {
                let mut out = io::BufWriter::new(io::stdout());
                let ending = self.print(&inputs.sources, &is_wanted, |line| {
                    json::write_object(line, &mut out)
                })?;
                out.flush().map_err(Error::stdout)?;
                Ok(ending)
            }
        }
    }
}

impl DumpArgs {
    fn print(
        &self,
        sources: &[Box<dyn Source>],
        is_wanted: &dyn Fn(&Record<'_>) -> bool,
        mut write: impl FnMut(&RecordLine) -> io::Result<()>,
    ) -> Result<Ending> {
        let mut ending = Ending::Done;
        for source in sources {
            if !self.print_file(&**source, is_wanted, &mut write)? {
                ending = Ending::Incomplete;
            }
        }
        Ok(ending)
    }

    /// Prints the keys of one file; returns whether these are all.
    fn print_file(
        &self,
        source: &dyn Source,
        is_wanted: &dyn Fn(&Record<'_>) -> bool,
        write: &mut dyn FnMut(&RecordLine) -> io::Result<()>,
    ) -> Result<bool> {
        let input = Forward::open(source)?;
        let mut walker = Walker::new(input, !self.walking.no_verify, self.walking.allocator);
        let mut is_whole = true;
        loop {
            match walker.next_event() {
                Ok(Some(Event::Key(record))) if is_wanted(&record) => {
                    write(&RecordLine::of(&record)).map_err(Error::stdout)?;
                }
                Ok(Some(Event::Key(_))) => {}
                Ok(Some(Event::Remark(remark))) => {
                    say_at(&Name::from(source.path()), remark.offset, &remark.what);
                    is_whole &= remark.notice != Notice::LongKey;
                }
                Ok(None) => return Ok(is_whole),
                Err(damage) => {
                    let what = redact::spelled(&damage.what, None);
                    say_at(&Name::from(source.path()), damage.offset, &what);
                    return Ok(false);
                }
            }
        }
    }
}

/// A key of an RDB file; the fields are those of a line of the JSON and the columns of the CSV.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct RecordLine {
    /// The key.
    pub key: Name,
    /// The number of its database.
    pub db: u64,
    /// The reply to TYPE.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The reply to OBJECT ENCODING for a value in this encoding; absent if only a module knows.
    pub encoding: Option<&'static str>,
    /// How many elements it has; absent where only a module knows, and of a damaged value.
    pub elements: Option<u64>,
    /// Bytes it takes in the file, with its expiry and its name.
    pub bytes: u64,
    /// Bytes it takes in memory, estimated as the server that wrote the file counts; absent where only a module knows.
    pub memory: Option<u64>,
    /// When it expires, in UTC.
    pub expiry: Option<String>,
    /// Its LFU counter, a logarithmic rank from 0 to 255.
    pub lfu: Option<u8>,
    /// Seconds since it was last used.
    pub idle: Option<u64>,
    /// Its slot.
    pub slot: u16,
    /// Its hash tag.
    pub tag: Option<Name>,
}

/// The fields of a record that filters use; size is in memory.
fn facts<'a>(record: &'a Record<'_>) -> KeyFacts<'a> {
    KeyFacts {
        name: record.key,
        kind: record.type_name.as_bytes(),
        size: record.memory.unwrap_or(MISSING),
        expiry: record.attributes.expiry(),
    }
}

impl RecordLine {
    fn of(record: &Record<'_>) -> Self {
        let attributes = &record.attributes;
        RecordLine {
            key: Name::from(record.key),
            db: record.database,
            type_name: record.type_name.to_string(),
            encoding: Some(record.encoding).filter(|name| !name.is_empty()),
            elements: record.elements.known(),
            bytes: record.bytes,
            memory: record.memory,
            expiry: attributes.expires_ms.map(utc),
            lfu: attributes.lfu,
            idle: attributes.idle_secs,
            slot: hashslot::slot(record.key),
            tag: hashslot::tag(record.key).map(|tag| Name::from(&record.key[tag])),
        }
    }
}

/// The cells of `line`, in the order of `DUMP`; empty if unknown.
fn cells(line: &RecordLine) -> [String; DUMP.len()] {
    let number = |number: Option<u64>| number.map_or(String::new(), |number| number.to_string());
    [
        spelled(&line.key),
        line.db.to_string(),
        line.type_name.clone(),
        line.encoding.unwrap_or_default().to_owned(),
        number(line.elements),
        line.bytes.to_string(),
        number(line.memory),
        line.expiry.clone().unwrap_or_default(),
        number(line.lfu.map(u64::from)),
        number(line.idle),
        line.slot.to_string(),
        line.tag.as_ref().map_or(String::new(), spelled),
    ]
}
