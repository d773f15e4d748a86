//! Flags that say what is read and how, shared by all commands that read key dumps.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use clap::Args;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::command::progress::{Progress, When};
use crate::error::{Error, Result};
use crate::format::by_name::ByName;
use crate::format::columns::ColumnNames;
use crate::format::lines::{self, Lines};
use crate::format::{self, FORMATS, Format};
use crate::name::Name;
use crate::scan::{Only, Scan, Scanned};
use crate::slot::kernel::{self, Kernel};
use crate::slot::policy::Policy;
use crate::source::file::{CHUNK, line_of};
use crate::source::{self, Found, Input};
use crate::summary::sentence::grouped;
use crate::tally::Tally;

/// More threads than this never help: the memory bus is full long before.
const MAX_THREADS: usize = 1024;

/// What is read and how.
#[derive(Args, Debug, Clone, Default)]
pub struct Reading {
    /// Key dumps: files, directories (every file in them), - for standard input
    #[arg(value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// The form of the input; `--format help` lists them
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub format: String,
    /// The byte between keys, for `lines`: one character or \0 \t \n \xHH [default: the line end]
    #[arg(long, value_name = "STR", allow_hyphen_values = true)]
    pub delimiter: Option<String>,
    /// The column of the keys, for `csv` and `jsonl` [default: key or name]
    #[arg(long, value_name = "NAME")]
    pub key_column: Option<String>,
    /// The column of their sizes in bytes [default: size, size_in_bytes, bytes, used_memory or memory_usage]
    #[arg(long, value_name = "NAME")]
    pub size_column: Option<String>,
    /// The column of the operations on them [default: ops, hits, qps, requests or count]; of CLUSTER SLOT-STATS the
    /// statistic that counts as such [default: cpu-usec]
    #[arg(long, value_name = "NAME")]
    pub ops_column: Option<String>,
    /// Only keys of this database, where the input tells it
    #[arg(long, value_name = "N")]
    pub db: Option<u64>,
    /// A row that is no key is an error: nothing is reported then
    #[arg(long)]
    pub strict: bool,
    /// Worker threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// How slots are computed [default: the best that this CPU has]
    #[arg(long, value_name = "NAME", env = "SLOTSCOPE_KERNEL")]
    pub kernel: Option<String>,
    /// Bytes, rate and time left on standard error
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    pub progress: When,
}

/// What a scan needs, made from the flags.
pub struct Reader {
    /// The inputs.
    pub inputs: Vec<Input>,
    /// Entries of directories that are no files.
    pub passed_over: usize,
    /// The kernel.
    pub kernel: &'static Kernel,
    pool: ThreadPool,
    format: Option<&'static dyn Format>,
    /// Which keys are wanted.
    pub only: Only,
    /// What part of a key is hashed.
    pub policy: Policy,
    strict: bool,
    progress: When,
}

/// The formats and an example line of each, for `--format help`.
pub fn format_help() -> String {
    let lines = FORMATS.iter().map(|format| format!("{:<14} {}\n", format.name(), format.example()));
    format!("{:<14} told by the content\n{}", "auto", lines.collect::<String>())
}

/// The one byte that `text` means.
fn delimiter_byte(text: &str) -> Result<u8> {
    let byte = match text.as_bytes() {
        [byte] => Some(*byte),
        br"\0" => Some(0),
        br"\t" => Some(b'\t'),
        br"\n" => Some(b'\n'),
        br"\r" => Some(b'\r'),
        br"\\" => Some(b'\\'),
        [b'\\', b'x', digits @ ..] if digits.len() == 2 && digits.iter().all(u8::is_ascii_hexdigit) => {
            u8::from_str_radix(&text[2..], 16).ok()
        }
        _ => None,
    };
    byte.ok_or_else(|| {
        let what = "the delimiter must be one byte: a character such as ; or one of \\0 \\t \\n \\r \\\\ \\xHH";
        Error::bad(format!("--delimiter \"{}\"", text.escape_debug()), what)
    })
}

/// The format called `name` with columns of these names; it stays until the program ends.
fn with_columns(name: &str, names: &ColumnNames) -> Result<&'static dyn Format> {
    let format = match name {
        "auto" => Some(Box::new(ByName::new(names)) as Box<dyn Format>),
        name => format::named(name)?.with_columns(names),
    };
    let format = format.ok_or_else(|| {
        let given = [("--key-column", &names.key), ("--size-column", &names.size), ("--ops-column", &names.ops)];
        let flag = given.iter().find(|(_, name)| name.is_some()).map_or("--key-column", |(flag, _)| flag);
        Error::bad(flag, format!("{name} has no columns to choose from; csv and jsonl have"))
    })?;
    Ok(Box::leak(format))
}

impl Reading {
    /// Finds the inputs and starts the workers.
    ///
    /// # Errors
    /// A flag that cannot be used, or an input that cannot be read.
    pub fn reader(&self) -> Result<Reader> {
        let format = self.format()?;
        let kernel =
            self.kernel.as_deref().filter(|name| !name.is_empty()).map_or_else(|| Ok(kernel::best()), kernel::named)?;
        let Found { inputs, passed_over } = source::find(&self.paths()?)?;
        Ok(Reader {
            inputs,
            passed_over,
            kernel,
            pool: self.pool()?,
            format,
            only: Only { database: self.db, ..Only::default() },
            policy: Policy::Oss,
            strict: self.strict,
            progress: self.progress,
        })
    }

    /// The form of the input; `None` to detect it.
    fn format(&self) -> Result<Option<&'static dyn Format>> {
        let lines = Lines.name();
        let names =
            ColumnNames { key: self.key_column.clone(), size: self.size_column.clone(), ops: self.ops_column.clone() };
        match (self.format.as_str(), &self.delimiter) {
            (name, None) if names != ColumnNames::USUAL => Ok(Some(with_columns(name, &names)?)),
            (_, Some(_)) if names != ColumnNames::USUAL => {
                Err(Error::bad("--delimiter", "belongs to --format lines, which has no columns"))
            }
            ("auto", None) => Ok(None),
            (name, None) => Ok(Some(format::named(name)?)),
            (name, Some(delimiter)) if name == "auto" || name == lines => {
                Ok(Some(lines::delimited_by(delimiter_byte(delimiter)?)))
            }
            (name, Some(_)) => {
                let what = format!("belongs to --format {lines}; {name} says itself where a key ends");
                Err(Error::bad("--delimiter", what))
            }
        }
    }

    /// The inputs as the user named them; standard input where none is named and something is piped in.
    fn paths(&self) -> Result<Vec<PathBuf>> {
        match self.inputs.as_slice() {
            [] if std::io::stdin().is_terminal() => {
                Err(Error::bad("no input", "name a key dump, or pipe one in: redis-cli --scan | slotscope analyze"))
            }
            [] => Ok(vec![PathBuf::from("-")]),
            paths => Ok(paths.to_vec()),
        }
    }

    fn pool(&self) -> Result<ThreadPool> {
        let threads = match self.threads {
            None => std::thread::available_parallelism().map_or(1, usize::from),
            Some(threads) if (1..=MAX_THREADS).contains(&threads) => threads,
            Some(threads) => {
                return Err(Error::bad(format!("--threads {threads}"), "the number of threads must be from 1 to 1024"));
            }
        };
        let built = ThreadPoolBuilder::new().num_threads(threads).build();
        built.map_err(|error| Error::bad("--threads", format!("cannot start {threads} threads: {error}")))
    }
}

impl Reader {
    /// Reads all inputs once and counts them in tallies that start as `make` gives them. Progress is shown
    /// under `title`.
    ///
    /// # Errors
    /// As `Scan::run`.
    pub fn scan<T: Tally>(&self, title: &'static str, make: impl Fn() -> T) -> Result<Scanned<T>> {
        let progress = Progress::new(self.progress, title, self.inputs.iter().map(Input::bytes).sum());
        let proceed = |bytes| {
            progress.advance(bytes);
            true
        };
        let scanned = self.scan_while(&proceed, make);
        progress.finish();
        scanned
    }

    /// As `scan`, without a bar, until `going` is false.
    ///
    /// # Errors
    /// As `Scan::run`.
    pub fn scan_until_closed<T: Tally>(&self, closed: &AtomicBool, make: impl Fn() -> T) -> Result<Scanned<T>> {
        self.scan_while(&|_| !closed.load(Relaxed), make)
    }

    fn scan_while<T: Tally>(&self, proceed: &(dyn Fn(u64) -> bool + Sync), make: impl Fn() -> T) -> Result<Scanned<T>> {
        let scan = Scan {
            pool: &self.pool,
            kernel: self.kernel,
            format: self.format,
            only: &self.only,
            policy: &self.policy,
            chunk: CHUNK,
            proceed,
        };
        let scanned = scan.run(&self.inputs, make)?;
        match scanned.rejects.first.first().filter(|_| self.strict) {
            None => Ok(scanned),
            Some(first) => {
                let input = &self.inputs[first.input as usize];
                let line = line_of(input, first.byte).map_or(String::new(), |line| format!("line {line} "));
                let place = format!("{}: {line}(byte {})", Name::from(input.path()), first.byte);
                let all = grouped(scanned.rejects.count);
                Err(Error::bad(place, format!("{}; rows that are no keys: {all}", first.reason)))
            }
        }
    }

    /// Worker threads.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_can_only_be_named_where_there_are_columns() {
        let names = ColumnNames { ops: Some("n".into()), ..ColumnNames::USUAL };
        for name in ["auto", "csv", "jsonl"] {
            assert_eq!(with_columns(name, &names).unwrap().name(), name);
        }
        let error = with_columns("lines", &names).err().unwrap().to_string();
        assert_eq!(error, "--ops-column: lines has no columns to choose from; csv and jsonl have");
        assert!(with_columns("yaml", &names).is_err());
    }

    #[test]
    fn a_delimiter_is_one_byte_or_the_escape_of_one() {
        let bytes =
            [(r"\0", 0), (r"\n", b'\n'), (r"\xfF", 255), (";", b';'), ("\t", b'\t'), (r"\\", b'\\'), ("\\", b'\\')];
        for (text, byte) in bytes {
            assert_eq!(delimiter_byte(text).unwrap(), byte, "{text}");
        }
        for text in ["", "::", r"\x1", r"\xgg", r"\x+1", r"\q", "é"] {
            assert!(delimiter_byte(text).unwrap_err().to_string().contains("must be one byte"), "{text}");
        }
    }
}
