//! Flags that say what is read and how, shared by all commands that read key dumps.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use hashslot::UnknownKernel;

use crate::analysis::reading::{Options, Reading};
use crate::cli::Ending;
use crate::cli::given::Given;
use crate::cli::headings::{ARGUMENTS, INPUT, RUN};
use crate::cli::inputs;
use crate::cli::progress::{Bars, When};
use crate::cli::storage::StorageArgs;
use crate::cli::walking::WalkingArgs;
use crate::error::{Error, Result};
use crate::format::chosen::chosen;
use crate::format::table::columns::{ColumnNames, KeyEscapes};
use crate::format::{FORMATS, Format};
use crate::name::Name;
use crate::partial::Flags;
use crate::scan::Only;
use crate::slot::Kernel;
use crate::slot::policy::Policy;
use crate::source::{Source, remote};

/// What is read and how.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = INPUT)]
pub struct ReadingArgs {
    /// Files, directories, - for standard input, or addresses
    ///
    /// Of a directory every file is read, and none of the directories in it. Addresses: `s3://`, `gs://`, `az://`,
    /// `abfss://` and `https://`, of an object, of a prefix that ends with `/`, or a pattern in quotes such as
    /// `'s3://bucket/dumps/*.csv.gz'`. Without INPUT what is piped in is read.
    #[arg(value_name = "INPUT", help_heading = ARGUMENTS)]
    pub inputs: Vec<PathBuf>,
    /// The format; `--format help` lists all
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub format: String,
    /// The byte between keys, for the format `lines`: one character, or one of `\0` `\t` `\n` `\xHH`
    /// [default: the line end]
    #[arg(
        long,
        value_name = "STR",
        allow_hyphen_values = true,
        hide_short_help = true
    )]
    pub delimiter: Option<String>,
    /// The column of the keys, for `csv` and `jsonl` [default: key or name]
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub key_column: Option<String>,
    /// The column of their sizes in bytes [default: memory, size, size_in_bytes, bytes, used_memory or memory_usage]
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub size_column: Option<String>,
    /// The column of the operations on them [default: ops, hits, qps, requests or count]; of CLUSTER SLOT-STATS the
    /// statistic that counts as such
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub ops_column: Option<String>,
    /// Escapes of redis-cli in the keys of `csv` and `jsonl`, such as `\xff`
    #[arg(
        long,
        value_enum,
        value_name = "WHICH",
        default_value_t,
        hide_short_help = true
    )]
    pub escapes: KeyEscapes,
    /// Only keys of this database, where the input has it
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub db: Option<u64>,
    /// Fail at the first row that is not a key, without a report
    #[arg(long, hide_short_help = true)]
    pub strict: bool,
    /// How RDB files are read
    #[command(flatten)]
    pub walking: WalkingArgs,
    /// How places on the network are opened
    #[command(flatten)]
    pub storage: StorageArgs,
    /// Worker threads [default: all cores]
    #[arg(long, value_name = "N", help_heading = RUN, hide_short_help = true)]
    pub threads: Option<usize>,
    /// How slots are computed; `slotscope bench` lists the kernels [default: the best that this CPU has]
    #[arg(long, value_name = "NAME", env = "SLOTSCOPE_KERNEL", help_heading = RUN, hide_short_help = true)]
    pub kernel: Option<String>,
    /// Bytes, rate and time left on standard error
    #[arg(long, value_enum, value_name = "WHEN", default_value_t, help_heading = RUN, hide_short_help = true)]
    pub progress: When,
    /// What is not on the command line
    #[arg(skip)]
    pub given: Given,
}

/// The formats and an example line of each, for `--format help`.
fn format_help() -> String {
    let lines = FORMATS
        .iter()
        .map(|format| format!("{:<14} {}\n", format.name(), format.example()));
    format!(
        "{:<14} detected from the content\n{}",
        "auto",
        lines.collect::<String>()
    )
}

/// Prints them.
///
/// # Errors
/// Standard output cannot be written to.
pub fn print_format_help() -> Result<Ending> {
    let help = format_help();
    std::io::stdout()
        .write_all(help.as_bytes())
        .map_err(Error::stdout)?;
    Ok(Ending::Done)
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
        [b'\\', b'x', digits @ ..]
            if digits.len() == 2 && digits.iter().all(u8::is_ascii_hexdigit) =>
        {
            u8::from_str_radix(&text[2..], 16).ok()
        }
        _ => None,
    };
    byte.ok_or_else(|| {
        let what = "the delimiter must be one byte: a character such as ; or one of \\0 \\t \\n \\r \\\\ \\xHH";
        Error::bad(format!("--delimiter \"{}\"", text.escape_debug()), what)
    })
}

/// The kernel called `name`, if this CPU supports it.
fn kernel_named(name: &str) -> Result<&'static Kernel> {
    hashslot::named(name).map_err(|unknown| {
        let (place, what) = match unknown {
            UnknownKernel::NoSuchName => (
                String::from("--kernel"),
                format!("no kernel is called \"{}\"", Name::from(name)),
            ),
            UnknownKernel::Unsupported { .. } => (format!("--kernel {name}"), unknown.to_string()),
        };
        let usable: Vec<_> = hashslot::available().map(|kernel| kernel.name).collect();
        Error::bad(place, format!("{what}; usable here: {}", usable.join(", ")))
    })
}

impl ReadingArgs {
    /// Finds the sources and starts the workers.
    ///
    /// # Errors
    /// A flag that cannot be used, or a source that cannot be read.
    pub fn reading(&self, policy: Policy) -> Result<Reading> {
        let options = self.options(policy)?;
        let (mut found, of_reports) = inputs::find(&self.paths(), &self.storage.options()?)?;
        let given = self.given.sources.iter().cloned();
        found
            .sources
            .extend(given.map(|source| Box::new(source) as Box<dyn Source>));
        let mut reading = Reading::new(found, options)?;
        reading.of_reports = of_reports;
        Ok(reading)
    }

    /// The flags, as far as counts depend on them.
    ///
    /// # Errors
    /// A delimiter that is none.
    pub fn flags(&self) -> Result<Flags> {
        let delimiter = self.delimiter.as_deref().map(delimiter_byte);
        Ok(Flags {
            format: self.format.clone(),
            delimiter: delimiter.transpose()?,
            columns: self.columns(),
            db: self.db,
            walking: self.walking.walking(),
            ..Flags::default()
        })
    }

    fn columns(&self) -> ColumnNames {
        ColumnNames {
            key: self.key_column.clone(),
            size: self.size_column.clone(),
            ops: self.ops_column.clone(),
            escapes: self.escapes,
        }
    }

    /// How it is read.
    ///
    /// # Errors
    /// A flag that cannot be used.
    pub fn options(&self, policy: Policy) -> Result<Options> {
        let kernel = self.kernel.as_deref().filter(|name| !name.is_empty());
        let on_progress = self.given.on_progress.clone();
        let on_progress = on_progress.unwrap_or_else(|| Bars::hook(self.progress));
        Ok(Options {
            kernel: kernel.map_or_else(|| Ok(hashslot::best()), kernel_named)?,
            format: self.format()?,
            only: Only {
                database: self.db,
                ..Only::default()
            },
            policy,
            walking: self.walking.walking(),
            storage: self.storage.options()?,
            threads: self.threads,
            strict: self.strict,
            on_progress: Some(on_progress),
        })
    }

    /// The format of the input; `None` to detect it.
    fn format(&self) -> Result<Option<&'static dyn Format>> {
        let delimiter = self.delimiter.as_deref().map(delimiter_byte);
        chosen(&self.format, delimiter.transpose()?, &self.columns())
    }

    /// Whether standard input is read because no input is named.
    pub fn reads_stdin(&self) -> bool {
        self.inputs.is_empty() && self.given.sources.is_empty() && self.format != "help"
    }

    /// Whether the inputs may be several files.
    pub fn may_be_several(&self) -> bool {
        let are_several = |input: &PathBuf| {
            input.is_dir() || remote::is_server(input) || remote::are_objects(input)
        };
        self.inputs.len() > 1 || self.inputs.iter().any(are_several)
    }

    /// The inputs, or what is read in their place, and the flags that say how they are read, as words of a command line.
    pub fn words(&self, in_place: Option<String>) -> Vec<String> {
        let inputs = match (in_place, self.inputs.as_slice()) {
            (Some(other), _) => vec![other],
            (None, []) if self.given.sources.is_empty() => vec!["-".into()],
            (None, inputs) => {
                let given = self.given.sources.iter().map(|source| source.path());
                let paths = inputs.iter().map(PathBuf::as_path).chain(given);
                let paths = paths.map(|path| path.display().to_string());
                paths.map(|path| remote::without_password(&path)).collect()
            }
        };
        let format = Some(self.format.clone()).filter(|format| format != "auto");
        let flags = [
            ("--format", format),
            ("--delimiter", self.delimiter.clone()),
            ("--key-column", self.key_column.clone()),
            ("--size-column", self.size_column.clone()),
            ("--ops-column", self.ops_column.clone()),
            ("--db", self.db.map(|db| db.to_string())),
        ];
        let flags = flags
            .into_iter()
            .filter_map(|(flag, value)| Some([flag.into(), value?]));
        let words = inputs.into_iter().chain(flags.flatten());
        words.chain(self.walking.words()).collect()
    }

    /// The inputs as the user named them; standard input where none is named.
    fn paths(&self) -> Vec<PathBuf> {
        match self.inputs.as_slice() {
            [] if !self.given.sources.is_empty() => Vec::new(),
            [] => vec![PathBuf::from("-")],
            paths => paths.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delimiter_is_one_byte_or_the_escape_of_one() {
        let bytes = [
            (r"\0", 0),
            (r"\n", b'\n'),
            (r"\xfF", 255),
            (";", b';'),
            ("\t", b'\t'),
            (r"\\", b'\\'),
            ("\\", b'\\'),
        ];
        for (text, byte) in bytes {
            assert_eq!(delimiter_byte(text).unwrap(), byte, "{text}");
        }
        for text in ["", "::", r"\x1", r"\xgg", r"\x+1", r"\q", "é"] {
            assert!(
                delimiter_byte(text)
                    .unwrap_err()
                    .to_string()
                    .contains("must be one byte"),
                "{text}"
            );
        }
    }
}
