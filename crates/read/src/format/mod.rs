//! Input formats: turn blocks of bytes into batches of keys. One file per format, one line in `GRAMMARS`.

pub mod around;
#[doc(hidden)]
pub mod capture;
#[doc(hidden)]
pub mod extremes;
#[doc(hidden)]
pub mod frame;
pub mod keyless;
#[doc(hidden)]
pub mod line;
#[doc(hidden)]
pub mod lines;
mod notice;
#[doc(hidden)]
pub mod parse;
#[doc(hidden)]
pub mod rdb;
#[doc(hidden)]
pub mod read_stats;
#[doc(hidden)]
pub mod reading;
#[doc(hidden)]
pub mod redis_cli;
#[doc(hidden)]
pub mod resp;
mod resp_row;
#[doc(hidden)]
pub mod slot_stats;
#[doc(hidden)]
pub mod table;
mod told;

use hashslot::Kernel;

use slotscope_base::batch::{KeyBatch, Spans, Values};
use slotscope_base::block::{Block, Padded, Piece};
use slotscope_base::command::times::CommandTimes;
use slotscope_base::lfu::LfuRule;

use crate::format::frame::row_boundary::RowBoundary;
use crate::format::frame::walk::OpenWalk;
pub use crate::format::notice::Notice;
pub use crate::format::read_stats::{Lost, ReadStats, Unreadable};
pub use crate::format::told::{LineBy, Told};

/// The formats with a grammar of their own, in the order of detection; other texts are told by their lines.
pub static GRAMMARS: &[&dyn Format] = &[
    &rdb::snapshot::Rdb,
    &rdb::redis_rdb_cli::RedisRdbCli,
    &rdb::rdb_tools::RdbTools,
    &rdb::hdt_rdb::HdtRdb,
    &extremes::hotkeys::Hotkeys,
    &extremes::command_log::CommandLog,
    &extremes::top_keys::TopKeys,
    &capture::monitor::Monitor,
    &capture::aof::Aof,
    &resp::Resp,
    &redis_cli::redis_json::RedisJson,
    &redis_cli::numbered::Numbered,
    &redis_cli::sized::KeyAndSize,
    &redis_cli::quoted::Quoted,
];

/// UTF-8 byte order mark: dropped, with a warning, at the start of an input.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// An input format.
pub trait Format: Sync {
    /// Its `--format` name.
    fn name(&self) -> &'static str;
    /// A row of the key `user:{1000}:profile`, of 184 bytes and of type string where it has these, with line ends inside
    /// as `\r\n`; then a blank and, in parentheses, what writes it. Tests make their dumps of it.
    fn example(&self) -> &'static str;
    /// The line above the rows of a table.
    fn header(&self) -> &'static str {
        ""
    }
    /// Whether an input starting with `head` is in this format, for formats with a grammar of their own; others are
    /// recognised by the shape of their lines.
    fn detect(&self, _: Head<'_>) -> Detected {
        Detected::No
    }
    /// The pattern of its lines, if it is one that the user gave.
    fn line(&self) -> Option<&str> {
        None
    }
    /// The limitations of a dump in this format, if it is lossy.
    fn note(&self) -> Option<&'static str> {
        None
    }
    /// Fixes what the start of an input decides, such as its line ends or columns.
    ///
    /// # Errors
    /// Why the input is unusable in this format, with a suggested fix: a header without a key column, say.
    fn open(&self, head: Head<'_>) -> std::result::Result<Opened, String>;
}

/// How the rows of an input are found.
pub enum Opened {
    /// In blocks of complete rows, by all workers in parallel.
    Blocks {
        /// The name of the format.
        format: &'static str,
        /// Where the input may be split.
        boundary: RowBoundary,
        /// The reader that finds the keys of a block.
        reader: Box<dyn Reader>,
    },
    /// By a walk from front to back that hands rows to the workers.
    Walk {
        /// The name of the format.
        format: &'static str,
        /// Opens the walk.
        walk: OpenWalk,
    },
}

impl Opened {
    /// Blocks that are split at `boundary`.
    pub fn blocks(
        format: &'static str,
        boundary: RowBoundary,
        reader: impl Reader + 'static,
    ) -> Self {
        Opened::Blocks {
            format,
            boundary,
            reader: Box::new(reader),
        }
    }

    /// Blocks of complete lines.
    pub fn lines(format: &'static str, reader: impl Reader + 'static) -> Self {
        Opened::blocks(format, RowBoundary::Lines(b'\n'), reader)
    }

    /// The name of the format.
    pub fn format(&self) -> &'static str {
        match self {
            Opened::Blocks { format, .. } | Opened::Walk { format, .. } => format,
        }
    }
}

/// The start of an input.
#[derive(Clone, Copy)]
pub struct Head<'a> {
    /// Its first bytes.
    pub bytes: &'a [u8],
    /// Whether this is the entire input.
    pub whole: bool,
}

impl Head<'_> {
    /// The answer where only more bytes would decide.
    fn undecided(self) -> Detected {
        if self.whole {
            Detected::No
        } else {
            Detected::NeedMore
        }
    }
}

/// An answer to "is this your format?".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detected {
    /// It is.
    Yes,
    /// It is not.
    No,
    /// The head is too short to decide.
    NeedMore,
}

/// An opened input; shared by all workers and called once per block.
pub trait Reader: Send + Sync {
    /// Finds the keys in the owned part of a block, in order, and emits them in batches. Decoding happens in place: the
    /// result is never longer than its source.
    fn rows(&self, block: &mut Block, piece: Piece, columns: &mut Columns<'_>) -> ReadStats;

    /// The same after a byte order mark at the start of the input.
    fn read(&self, block: &mut Block, piece: Piece, columns: &mut Columns<'_>) -> ReadStats {
        let is_marked = piece.first && block.content().starts_with(BYTE_ORDER_MARK);
        let mark = if is_marked {
            BYTE_ORDER_MARK.len() as u32
        } else {
            0
        };
        let from = piece.from + mark;
        let mut stats = self.rows(block, Piece { from, ..piece }, columns);
        stats.note(Notice::ByteOrderMark, u64::from(is_marked));
        stats
    }
}

/// The receiver of a reader's rows.
pub trait Sink {
    /// A batch of keys.
    fn keys(&mut self, batch: KeyBatch<'_>);
    /// A rejected row: its offset in the block, and the reason, which contains nothing of the row.
    fn reject(&mut self, at: usize, reason: &str);
    /// Like `reject`, for a row at `byte` of the input.
    fn reject_at(&mut self, byte: u64, reason: &str);
}

/// A reader's working state.
pub struct Columns<'a> {
    /// The keys of the current batch.
    pub keys: &'a mut Spans,
    /// The attributes of each key besides its name.
    pub values: &'a mut Values,
    /// The receiver of the rows.
    pub sink: &'a mut dyn Sink,
    /// The kernel, for searches.
    pub kernel: &'static Kernel,
    /// The meaning of LFU counters.
    pub lfu: LfuRule,
    /// The times that the commands of a capture take on its server.
    pub command_times: Option<&'a CommandTimes>,
    /// When the input was written, in milliseconds since 1970: times to live count from it.
    pub written_ms: u64,
    /// Whether types, encodings, elements and times are used; if not, a reader may leave their columns empty.
    pub with_attributes: bool,
}

impl Columns<'_> {
    /// Passes a non-empty batch of the rows in `base` to the sink, with what follows from its columns.
    pub(crate) fn hand_on(&mut self, base: Padded<'_>, stats: &mut ReadStats) {
        let (keys, values) = (&*self.keys, &mut *self.values);
        if keys.is_empty() {
            return;
        }
        values.estimate_accesses(self.lfu);
        let left = values.date_expiry(self.written_ms);
        if left > 0 {
            stats.note(Notice::TimeLeft, left);
            stats.written_ms = stats.written_ms.max(Some(self.written_ms));
        }
        if values.are_operations {
            stats.operations += keys.len() as u64;
            if let Some(times) = self.command_times {
                values.estimate_cpu(base, keys, times);
            }
        } else {
            stats.keys += keys.len() as u64;
        }
        self.sink.keys(KeyBatch { base, keys, values });
    }
}

#[cfg(test)]
mod growth;
