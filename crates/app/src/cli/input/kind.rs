//! Kinds of arguments besides dumps, and the answer of commands that cannot read them: what to name instead.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_read::source::collection::manifest;
use slotscope_read::source::{Source, remote};

use crate::partial;
use crate::pipeline::slot_stats;

/// An input that is not a dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    /// A URL, or a host and a port.
    Server,
    /// A file of `tally`, `merge` or `recount`.
    Tally,
    /// A directory of `collect`.
    Collection,
    /// Replies to CLUSTER SLOT-STATS.
    SlotCounts,
}

/// The kinds a command does not read, and what to name instead.
#[derive(Debug, Clone, Copy)]
pub struct Refused {
    kinds: &'static [InputKind],
    instead: &'static str,
}

/// For commands that read all kinds.
pub const NOTHING: Refused = Refused {
    kinds: &[],
    instead: "",
};

/// For commands that read names.
pub const NEEDS_NAMES: Refused = Refused {
    kinds: &[InputKind::Tally, InputKind::SlotCounts],
    instead: "name a dump, such as those that it was counted from, or the servers as redis://HOST:PORT",
};

/// For `bench`.
pub const NEEDS_KEYS: Refused = Refused {
    kinds: &[InputKind::Server, InputKind::Tally, InputKind::SlotCounts],
    instead: "name a dump of keys; slotscope collect URL -o DIR reads servers",
};

/// For commands that read client commands.
pub const NEEDS_COMMANDS: Refused = Refused {
    kinds: &[
        InputKind::Server,
        InputKind::Tally,
        InputKind::Collection,
        InputKind::SlotCounts,
    ],
    instead: "name a capture of MONITOR (timeout 10 redis-cli -h HOST -p PORT MONITOR > FILE), or an append-only file",
};

/// For `dump`.
pub const NEEDS_RDB: Refused = Refused {
    kinds: NEEDS_COMMANDS.kinds,
    instead: "name an RDB file, as redis-cli --rdb FILE writes it; slotscope collect URL -o DIR writes such lines of servers: \
              zstd -dc DIR/*.csv.zst",
};

/// For `timeline`.
pub const NEEDS_TIMES: Refused = Refused {
    kinds: &[InputKind::Server, InputKind::Tally],
    instead: "name the captures, or what slotscope collect URL -o DIR --every 10s --for 10m reads of servers",
};

/// For `tally`.
pub const NEEDS_DUMPS: Refused = Refused {
    kinds: &[InputKind::Server, InputKind::Tally],
    instead: "name dumps; slotscope collect URL -o DIR reads servers, slotscope merge makes one of several tally files",
};

impl InputKind {
    /// The kind evident from a path; `None` for a dump, and for counts by slot, which only their content shows.
    pub fn of_path(path: &Path) -> Option<InputKind> {
        if remote::is_server(path) {
            Some(InputKind::Server)
        } else if path.join(manifest::FILE).is_file() {
            Some(InputKind::Collection)
        } else {
            is_tally(path).then_some(InputKind::Tally)
        }
    }

    fn in_words(self) -> &'static str {
        match self {
            InputKind::Server => "a running server, which this command does not read",
            InputKind::Tally => "a tally file of slotscope, which has counts and no keys",
            InputKind::Collection => "a directory of slotscope collect, which has keys alone",
            InputKind::SlotCounts => "counts by slot (CLUSTER SLOT-STATS), without keys",
        }
    }
}

/// Refuses paths of these kinds.
///
/// # Errors
/// A path is of a refused kind.
pub fn check_paths(paths: &[PathBuf], refused: Refused) -> Result<()> {
    paths
        .iter()
        .filter_map(|path| Some((path, InputKind::of_path(path)?)))
        .try_for_each(|(path, kind)| check(path, kind, refused))
}

/// Refuses counts by slot among the sources, if `refused`.
///
/// # Errors
/// A source has counts by slot, or cannot be read.
pub fn check_sources(sources: &[Box<dyn Source>], refused: Refused) -> Result<()> {
    if !refused.kinds.contains(&InputKind::SlotCounts) {
        return Ok(());
    }
    sources
        .iter()
        .try_for_each(|source| match slot_stats::spelling(&**source)? {
            Some(_) => check(source.path(), InputKind::SlotCounts, refused),
            None => Ok(()),
        })
}

fn check(path: &Path, kind: InputKind, refused: Refused) -> Result<()> {
    if !refused.kinds.contains(&kind) {
        return Ok(());
    }
    let shown = remote::without_password(&path.to_string_lossy());
    Err(Error::bad(
        Name::from(shown.as_str()).to_string(),
        format!("{}; {}", kind.in_words(), refused.instead),
    ))
}

fn is_tally(path: &Path) -> bool {
    // Opening a pipe would wait for its writer.
    let mut head = Vec::new();
    let mut read = || {
        File::open(path)?
            .take(partial::MAGIC as u64)
            .read_to_end(&mut head)
    };
    path.is_file() && read().is_ok() && partial::is_tally(&head)
}
