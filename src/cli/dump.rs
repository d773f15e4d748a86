//! The flags of `slotscope dump`.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use slotscope_engine::error::{Error, Result};
use slotscope_engine::format::Notice;
use slotscope_engine::format::rdb::snapshot::record::{Event, Record};
use slotscope_engine::format::rdb::snapshot::walk::Walker;
use slotscope_engine::format::table::key_spelling::DUMP;
use slotscope_engine::name::Name;
use slotscope_engine::redact::spelled;
use slotscope_engine::source::Source;
use slotscope_engine::source::forward::Forward;
use slotscope_report::output::CsvRows;
use slotscope_report::render::json;

use crate::cli::input::kind::{NEEDS_RDB, check_paths, check_sources};
use crate::cli::{Ending, Run, inputs};
use crate::dump::{RecordLine, facts, view};
use crate::options::headings::{ARGUMENTS, INPUT, OUTPUT};
use crate::options::{FilterSpec, MemorySpec, StorageSpec};

/// The keys of RDB files, one per line.
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
    fn run(&self) -> Result<Ending> {
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
                    csv.row(view::cells(line))
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
                    say(source, remark.offset, &remark.what);
                    is_whole &= remark.notice != Notice::LongKey;
                }
                Ok(None) => return Ok(is_whole),
                Err(damage) => {
                    say(source, damage.offset, &spelled(&damage.what, None));
                    return Ok(false);
                }
            }
        }
    }
}

/// Reports something at a position of a file on standard error, ignoring a closed one.
fn say(source: &dyn Source, offset: u64, text: &str) {
    let file = Name::from(source.path());
    drop(writeln!(
        io::stderr(),
        "slotscope: {file}: byte {offset}: {text}"
    ));
}
