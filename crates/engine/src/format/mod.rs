//! Stage 2, KEYS: blocks of bytes come in, batches of keys go out. One file a format, one line in `FORMATS`.

mod around;
#[doc(hidden)]
pub mod batch;
#[doc(hidden)]
pub mod capture;
#[doc(hidden)]
pub mod chosen;
#[doc(hidden)]
pub mod extremes;
#[doc(hidden)]
pub mod frame;
#[doc(hidden)]
pub mod lfu;
#[doc(hidden)]
pub mod lines;
#[doc(hidden)]
pub mod not_a_dump;
mod notice;
#[doc(hidden)]
pub mod parse;
#[doc(hidden)]
pub mod rdb;
#[doc(hidden)]
pub mod read_stats;
#[doc(hidden)]
pub mod redis_cli;
#[doc(hidden)]
pub mod resp;
mod resp_row;
#[doc(hidden)]
pub mod shape;
#[doc(hidden)]
pub mod slot_stats;
#[doc(hidden)]
pub mod table;

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::format::batch::{KeyBatch, Spans, Values};
pub use crate::format::frame::block_joins::Stretch;
use crate::format::frame::row_boundary::RowBoundary;
use crate::format::frame::walk::OpenWalk;
use crate::format::lfu::LfuRule;
pub use crate::format::notice::Notice;
pub use crate::format::read_stats::{Lost, ReadStats, Unreadable};
use crate::format::redis_cli::one_line::Strings;
pub use crate::format::shape::{Shape, Told};
use crate::format::table::columns::ColumnNames;
use crate::name::Name;
use crate::simd::{Found, FoundCells};
use crate::source::block::{Block, Padded, Piece};

/// Every format that can be read; detection asks them in this order.
pub static FORMATS: &[&dyn Format] = &[
    &crate::format::rdb::snapshot::Rdb,
    &crate::format::rdb::redis_rdb_cli::RedisRdbCli,
    &crate::format::rdb::rdb_tools::RdbTools,
    &crate::format::rdb::hdt_rdb::HdtRdb,
    &extremes::hotkeys::Hotkeys,
    &extremes::command_log::CommandLog,
    &extremes::top_keys::TopKeys,
    &crate::format::table::csv::USUAL,
    &crate::format::table::jsonl::USUAL,
    &capture::monitor::Monitor,
    &capture::aof::Aof,
    &resp::Resp,
    &crate::format::redis_cli::cluster_call::ClusterCall,
    &Strings::QuotedJson,
    &Strings::Json,
    &Strings::Csv,
    &crate::format::redis_cli::numbered::Numbered,
    &crate::format::redis_cli::sized::KeyAndSize,
    &crate::format::redis_cli::quoted::Quoted,
    &lines::CHOSEN,
];

/// UTF-8 byte order mark: dropped, with a warning, at the start of an input.
#[doc(hidden)]
pub const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A format that key dumps come in.
pub trait Format: Sync {
    /// Its name for `--format`.
    fn name(&self) -> &'static str;
    /// An example line of a dump in this format.
    fn example(&self) -> &'static str;
    /// Whether an input that starts with `head` is in this format, if it has a grammar of its own; others are recognised by
    /// the shape of their lines.
    fn detect(&self, _: Head<'_>) -> Detected {
        Detected::No
    }
    /// The limits of a dump in this format, if it loses something.
    fn note(&self) -> Option<&'static str> {
        None
    }
    /// This format with columns that the user named; `None` where a key is not found by a name.
    fn with_columns(&self, _: &ColumnNames) -> Option<Box<dyn Format>> {
        None
    }
    /// Settles what the start of one input decides, for instance how its lines end or which columns it has.
    ///
    /// # Errors
    /// What makes the input unusable in this format, and a suggested fix: a header without a key column, say.
    fn open(&self, head: Head<'_>) -> std::result::Result<Opened, String>;
}

/// How the rows of an input are found.
pub enum Opened {
    /// In blocks of whole rows, by all workers.
    Blocks {
        /// The name of the format.
        format: &'static str,
        /// Where the input may be split.
        boundary: RowBoundary,
        /// Opens a reader, which finds the keys of a block.
        reader: Box<dyn Reader>,
    },
    /// By a walk from front to back, which hands the rows to the workers.
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

    /// Blocks of whole lines.
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
    /// Whether that is all there is.
    pub whole: bool,
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

/// One input in a known format; shared by all workers, called once a block.
pub trait Reader: Send + Sync {
    /// Whether rows depend on rows far before them: then `learn` is given every block before that block is read, and all
    /// before it.
    fn learns(&self) -> bool {
        false
    }
    /// Remembers the meaning of the owned part of a block for the rows after it.
    fn learn(&self, _: &Block, _: Piece) {}
    /// Finds the keys of the owned part of a block, in order, and hands them on in batches. What is decoded is written
    /// over its own source: it is never longer.
    fn read(
        &self,
        block: &mut Block,
        piece: Piece,
        columns: &mut Columns<'_>,
        sink: &mut dyn Sink,
    ) -> ReadStats;
    /// The numbers of the rows at the ends of the part that was read, if neighbouring rows are compared by number.
    fn numbers(&self) -> BTreeMap<u64, Stretch<u64>> {
        BTreeMap::new()
    }
}

/// The receiver of a reader's rows.
pub trait Sink {
    /// A batch of keys.
    fn keys(&mut self, batch: KeyBatch<'_>);
    /// As `keys`; their slots, as Redis and Valkey compute them, go to `look` first.
    fn keys_in_slots(&mut self, batch: KeyBatch<'_>, look: &mut dyn FnMut(&[u16])) {
        let slot = |i| hashslot::slot(batch.keys.get(batch.base, i));
        let slots: Vec<u16> = (0..batch.keys.len()).map(slot).collect();
        look(&slots);
        self.keys(batch);
    }
    /// A row that is not a key: its offset in the block, the reason, and the part of it that shows that. The
    /// reason holds nothing of the row, so that a report may leave the excerpt out.
    fn reject_with(&mut self, at: usize, reason: &str, excerpt: &[u8]);
    /// As `reject`, of a row that is at `byte` of the input.
    fn reject_at(&mut self, byte: u64, reason: &str);
    /// As `reject_with`, where the reason says all.
    fn reject(&mut self, at: usize, reason: &str) {
        self.reject_with(at, reason, b"");
    }
}

/// Fills the offsets of a byte in `base[from..]`, ascending, and says how many.
pub type FindByte<'a> = &'a dyn Fn(Padded<'_>, u32, u8, &mut [u32]) -> Found;

/// Fills the offsets of a delimiter and of LF in `base[from..]`, ascending, and says how many.
pub type FindCells<'a> = &'a dyn Fn(Padded<'_>, u32, u8, &mut [u32]) -> FoundCells;

/// The state that a reader works with.
pub struct Columns<'a> {
    /// The keys of the batch that is being filled.
    pub keys: &'a mut Spans,
    /// The attributes of each key besides its name.
    pub values: &'a mut Values,
    /// The kernel's way to find a byte.
    pub find: FindByte<'a>,
    /// The kernel's way to find the ends of cells.
    pub find_cells: FindCells<'a>,
    /// The meaning of LFU counters.
    pub lfu: LfuRule,
    /// When the input was written, in milliseconds since 1970: times to live count from it.
    pub written_ms: u64,
    /// Whether anything is made of types, encodings, elements, times; if not, a reader may leave their columns empty.
    pub with_attributes: bool,
}

/// The format called `name`.
///
/// # Errors
/// No format has that name; the message lists those there are.
pub fn named(name: &str) -> Result<&'static dyn Format> {
    FORMATS
        .iter()
        .copied()
        .find(|format| format.name() == name)
        .ok_or_else(|| {
            let names: Vec<_> = FORMATS.iter().map(|format| format.name()).collect();
            Error::option(
                "format",
                "",
                format!(
                    "no format is called \"{}\"; there are: auto, {}",
                    Name::from(name),
                    names.join(", ")
                ),
            )
        })
}

/// Formats of texts as redis-cli prints them in any reply.
const LISTS: [&str; 4] = ["numbered", "quoted", "redis-csv", "redis-json"];

/// How an input is read.
pub enum Recognised {
    /// In a format that has a grammar of its own.
    Known(&'static dyn Format),
    /// By the shape of its lines.
    Shaped(Box<Shape>),
}

impl Recognised {
    /// The name of the format.
    pub fn name(&self) -> &'static str {
        match self {
            Recognised::Known(format) => format.name(),
            Recognised::Shaped(shape) => shape.format(),
        }
    }

    /// Opens an input that starts with `head`.
    ///
    /// # Errors
    /// As `Format::open`.
    pub fn open(&self, head: Head<'_>) -> std::result::Result<Opened, String> {
        match self {
            Recognised::Known(format) => format.open(head),
            Recognised::Shaped(shape) => shape.open(head),
        }
    }

    /// The description of its shape.
    pub fn told(self) -> Option<Told> {
        match self {
            Recognised::Known(_) => None,
            Recognised::Shaped(shape) => Some(shape.told),
        }
    }
}

/// How an input that starts with `head` is read; `None` where more of it must be seen.
///
/// # Errors
/// The kind of the input if it is not a key dump, or may be one of two kinds, and a suggested command.
pub fn recognise(head: Head<'_>) -> std::result::Result<Option<Recognised>, String> {
    if let Some(refused) = not_a_dump::by_signature(head) {
        return Err(refused);
    }
    for format in FORMATS {
        match format.detect(head) {
            Detected::Yes => {
                // Any text of a list may be a key, so what looks like something else is asked about.
                let is_list = LISTS.contains(&format.name());
                let refused = not_a_dump::by_words(head).filter(|_| is_list);
                return refused.map_or(Ok(Some(Recognised::Known(*format))), Err);
            }
            Detected::NeedMore if !head.whole => return Ok(None),
            Detected::No | Detected::NeedMore => {}
        }
    }
    let shape = shape::of(head)?;
    Ok(shape.map(|shape| Recognised::Shaped(Box::new(shape))))
}

/// The format of an input that starts with `head`, if it is a key dump; `None` where more of it must be seen.
pub fn detect(head: Head<'_>) -> Option<&'static dyn Format> {
    let found = recognise(head).ok()??;
    named(found.name()).ok()
}

#[cfg(test)]
mod growth;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod said;
