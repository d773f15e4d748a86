//! The input and how it is read, shared by all commands that read key dumps.

use std::path::PathBuf;

use hashslot::UnknownKernel;
use serde::{Deserialize, Serialize};

use slotscope_base::error::{Error, Result};
use slotscope_base::lfu::LfuRule;
use slotscope_base::name::Name;
use slotscope_base::slot::Kernel;
use slotscope_base::text::shell_word;
use slotscope_count::scan::Only;
use slotscope_detect::chosen::{AUTO, chosen};
use slotscope_read::format::Format;
use slotscope_read::format::frame::walk::{Sizes, Walking};
use slotscope_read::format::table::columns::{ColumnNames, KeyEscapes};

#[cfg(feature = "cli")]
use crate::options::headings::{ARGUMENTS, INPUT, RDB_FILES, RUN};
use crate::options::walking::{MemorySpec, Size};
use crate::options::{FilterSpec, StorageSpec};
use crate::pipeline::reading::Options;

/// Above any server's setting.
#[cfg(feature = "cli")]
const MOST_LFU: u64 = 1_000_000;

/// What is read and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", command(next_help_heading = INPUT))]
#[serde(default, deny_unknown_fields)]
pub struct ReadSpec {
    /// Files, directories, - for standard input, or addresses
    ///
    /// Directories are read without their subdirectories. Addresses: `s3://`, `gs://`, `az://`, `abfss://`, `https://`,
    /// also prefixes that end with `/` and quoted patterns such as `'s3://bucket/dumps/*.csv.gz'`. Without INPUT, piped
    /// input is read.
    #[cfg_attr(feature = "cli", arg(value_name = "INPUT", help_heading = ARGUMENTS))]
    #[serde(skip)]
    pub inputs: Vec<PathBuf>,
    /// The format; `--format help` lists all
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME", default_value = AUTO))]
    pub format: String,
    /// The byte between keys, for the format `lines`: one character, or one of `\0` `\t` `\n` `\xHH`
    /// [default: the line end]
    #[cfg_attr(
        feature = "cli",
        arg(
            long,
            value_name = "STR",
            allow_hyphen_values = true,
            hide_short_help = true
        )
    )]
    pub delimiter: Option<String>,
    /// The column of the keys, for `csv` and `jsonl` [default: key or name]
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "NAME", hide_short_help = true)
    )]
    pub key_column: Option<String>,
    /// The column of their sizes in bytes; none: there is none [default: memory, size_in_bytes, bytes, used_memory, memory_usage or size]
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "NAME", hide_short_help = true)
    )]
    pub size_column: Option<String>,
    /// The column of the operations on them; of CLUSTER SLOT-STATS the statistic that counts as such [default: ops, hits,
    /// qps, requests or count]
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "NAME", hide_short_help = true)
    )]
    pub ops_column: Option<String>,
    /// The pattern of the lines of a text, such as `{_} key={key} size={size}`; `{{` is a brace [default: found by the
    /// content]
    #[cfg_attr(
        feature = "cli",
        arg(
            long,
            value_name = "PATTERN",
            allow_hyphen_values = true,
            hide_short_help = true
        )
    )]
    pub line: Option<String>,
    /// Was the columns of a table
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "NAMES", value_delimiter = ',', hide = true)
    )]
    #[serde(skip)]
    pub columns: Vec<String>,
    /// Was what is between columns
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "STR", allow_hyphen_values = true, hide = true)
    )]
    #[serde(skip)]
    pub column_separator: Option<String>,
    /// Escapes of redis-cli in the keys of `csv` and `jsonl`, such as `\xff`
    #[cfg_attr(
        feature = "cli",
        arg(
            long,
            value_enum,
            value_name = "WHICH",
            default_value_t,
            hide_short_help = true
        )
    )]
    pub escapes: KeyEscapes,
    /// Only keys of this database, where the input has it
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", hide_short_help = true))]
    pub db: Option<u64>,
    /// Which keys are counted
    #[cfg_attr(feature = "cli", command(flatten))]
    #[serde(flatten)]
    pub filter: FilterSpec,
    /// Fail at the first row that is not a key, without a report
    #[cfg_attr(feature = "cli", arg(long, help_heading = INPUT, hide_short_help = true))]
    pub strict: bool,
    /// What the sizes of keys are
    #[cfg_attr(
        feature = "cli",
        arg(long, value_enum, value_name = "WHICH", default_value_t, help_heading = RDB_FILES, hide_short_help = true)
    )]
    pub size: Size,
    /// What memory is estimated for, and whether bytes are verified
    #[cfg_attr(feature = "cli", command(flatten))]
    #[serde(flatten)]
    pub memory: MemorySpec,
    /// The server's lfu-log-factor, for accesses by LFU counters [default: 10]
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "N", help_heading = RDB_FILES, hide_short_help = true, value_parser = clap::value_parser!(u64).range(..=MOST_LFU))
    )]
    pub lfu_log_factor: Option<u64>,
    /// The server's lfu-decay-time, in minutes [default: 1]
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "N", help_heading = RDB_FILES, hide_short_help = true, value_parser = clap::value_parser!(u64).range(1..=MOST_LFU))
    )]
    pub lfu_decay_time: Option<u64>,
    /// How places on the network are opened
    #[cfg_attr(feature = "cli", command(flatten))]
    #[serde(skip)]
    pub storage: StorageSpec,
    /// Worker threads [default: all cores]
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "N", help_heading = RUN, hide_short_help = true)
    )]
    pub threads: Option<usize>,
    /// How slots are computed; `slotscope bench` lists the kernels [default: the best that this CPU has]
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "NAME", env = "SLOTSCOPE_KERNEL", help_heading = RUN, hide_short_help = true)
    )]
    pub kernel: Option<String>,
}

impl Default for ReadSpec {
    fn default() -> Self {
        ReadSpec {
            inputs: Vec::new(),
            format: AUTO.into(),
            delimiter: None,
            key_column: None,
            size_column: None,
            ops_column: None,
            line: None,
            columns: Vec::new(),
            column_separator: None,
            escapes: KeyEscapes::default(),
            db: None,
            filter: FilterSpec::default(),
            strict: false,
            size: Size::default(),
            memory: MemorySpec::default(),
            lfu_log_factor: None,
            lfu_decay_time: None,
            storage: StorageSpec::default(),
            threads: None,
            kernel: None,
        }
    }
}

impl ReadSpec {
    /// The settings that affect counts: parts counted with different ones are not merged. Relative times are resolved
    /// now.
    ///
    /// # Errors
    /// A time is unusable.
    pub fn of_counts(&self) -> Result<ReadSpec> {
        Ok(ReadSpec {
            inputs: Vec::new(),
            strict: false,
            filter: self.filter.settled()?,
            storage: StorageSpec::default(),
            threads: None,
            kernel: None,
            delimiter: self.delimiter.as_deref().map(one_spelling).transpose()?,
            ..self.clone()
        })
    }

    /// The settings of this group for reading sources: no hash policy, no progress.
    ///
    /// # Errors
    /// An option is unusable.
    pub fn options(&self) -> Result<Options> {
        let kernel = self.kernel.as_deref().filter(|name| !name.is_empty());
        Ok(Options {
            kernel: kernel.map_or_else(|| Ok(hashslot::best()), kernel_named)?,
            format: self.format()?,
            only: self.only()?,
            walking: self.walking(),
            storage: self.storage.options()?,
            threads: self.threads,
            strict: self.strict,
            ..Options::default()
        })
    }

    /// The filter of keys.
    ///
    /// # Errors
    /// A condition is unusable.
    pub fn only(&self) -> Result<Only> {
        Ok(Only {
            database: self.db,
            filter: self.filter.filter()?,
        })
    }

    /// The format of the input; `None` to detect it.
    ///
    /// # Errors
    /// There is no such format, or it lacks the given options.
    pub fn format(&self) -> Result<Option<&'static dyn Format>> {
        let delimiter = self.delimiter.as_deref().map(delimiter_byte);
        if !self.columns.is_empty() || self.column_separator.is_some() {
            return Err(self.with_line());
        }
        let names = self.column_names();
        chosen(
            &self.format,
            delimiter.transpose()?,
            &names,
            self.line.as_deref(),
        )
    }

    /// The table columns named by the user.
    pub(crate) fn column_names(&self) -> ColumnNames {
        ColumnNames {
            key: self.key_column.clone(),
            size: self.size_column.clone(),
            ops: self.ops_column.clone(),
            escapes: self.escapes,
            ..ColumnNames::default()
        }
    }

    /// The pattern in place of columns by their place.
    fn with_line(&self) -> Error {
        let between = match self.column_separator.as_deref() {
            None | Some("blank" | "blanks") => " ",
            Some("tab" | "TAB" | "\t") => r"\t",
            Some(text) => text,
        };
        let columns = if self.columns.is_empty() {
            vec!["key", "_"]
        } else {
            self.columns.iter().map(String::as_str).collect()
        };
        let fields = columns.iter().map(|column| format!("{{{column}}}"));
        let pattern = fields.collect::<Vec<_>>().join(between);
        let flag = if self.columns.is_empty() {
            "column_separator"
        } else {
            "columns"
        };
        let reason = format!(
            "gave way to the pattern of a line: --line {}",
            shell_word(&pattern)
        );
        Error::option(flag, "", reason)
    }

    /// How RDB files are walked.
    pub fn walking(&self) -> Walking {
        let usual = LfuRule::default();
        Walking {
            verifies: !self.memory.no_verify,
            sizes: match self.size {
                Size::Memory => Sizes::Memory(self.memory.allocator),
                Size::Serialized => Sizes::Serialized,
            },
            lfu: LfuRule {
                log_factor: self.lfu_log_factor.unwrap_or(usual.log_factor),
                decay_minutes: self.lfu_decay_time.unwrap_or(usual.decay_minutes),
            },
        }
    }
}

/// The single byte denoted by `text`.
///
/// # Errors
/// It denotes none, or several.
pub(crate) fn delimiter_byte(text: &str) -> Result<u8> {
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
        let reason = "the delimiter must be one byte: a character such as ; or one of \\0 \\t \\n \\r \\\\ \\xHH";
        Error::option("delimiter", format!("\"{}\"", text.escape_debug()).as_str(), reason)
    })
}

/// A delimiter in its canonical spelling.
fn one_spelling(delimiter: &str) -> Result<String> {
    Ok(format!(r"\x{:02x}", delimiter_byte(delimiter)?))
}

/// The kernel called `name`, if this CPU supports it.
fn kernel_named(name: &str) -> Result<&'static Kernel> {
    hashslot::named(name).map_err(|unknown| {
        let (value, problem) = match unknown {
            UnknownKernel::NoSuchName => {
                ("", format!("no kernel is called \"{}\"", Name::from(name)))
            }
            UnknownKernel::Unsupported { .. } => (name, unknown.to_string()),
        };
        let usable: Vec<_> = hashslot::available().map(|kernel| kernel.name).collect();
        let reason = format!("{problem}; usable here: {}", usable.join(", "));
        Error::option("kernel", value, reason)
    })
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
