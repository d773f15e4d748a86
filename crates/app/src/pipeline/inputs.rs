//! Facts about inputs besides counts: both together suffice for a report without the inputs.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use slotscope_base::name::Name;
use slotscope_count::scan::Scanned;
use slotscope_model::Dumped;
use slotscope_read::source::Source;
use slotscope_read::source::collection::Collection;
use slotscope_read::source::identity::ObjectIdentity;

use crate::pipeline::counters::Counters;
use crate::pipeline::reading::{Options, Reading};
use crate::pipeline::rejected::{self, Lines};

/// Facts about inputs.
pub struct Inputs {
    /// Files and objects, in order.
    pub files: Vec<File>,
    /// The line numbers of the first rejected rows and unreadable values, where known.
    pub lines: Lines,
    /// The collections among them.
    pub collections: Vec<Collection>,
    /// Entries of directories that are not dumps.
    pub passed_over: usize,
    /// Logs, and dumps of replicas, next to dumps in directories.
    pub left_out: Vec<PathBuf>,
    /// How they were read.
    pub options: Options,
    /// The extent of server-counted loads.
    pub counters: Option<Counters>,
    /// When they were last modified.
    pub dumped: Option<Dumped>,
    /// Number of threads that read them.
    pub threads: usize,
}

/// A file or an object.
pub struct File {
    /// Its name as given by the user.
    pub path: PathBuf,
    /// The version of an object.
    pub object: Option<ObjectIdentity>,
}

impl File {
    /// The input read by `source`.
    pub(crate) fn of(source: &dyn Source) -> Self {
        File {
            path: source.path().to_path_buf(),
            object: source.facts().object.clone(),
        }
    }
}

impl Inputs {
    /// The inputs' names as given by the user.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|file| file.path.as_path())
    }

    /// Facts about inputs just scanned.
    pub(crate) fn of<T>(reading: &Reading, scanned: &Scanned<T>) -> Self {
        Inputs {
            files: reading
                .sources
                .iter()
                .map(|source| File::of(&**source))
                .collect(),
            lines: rejected::lines(&reading.sources, scanned),
            counters: None,
            dumped: dumped(&reading.sources),
            threads: reading.threads(),
            collections: reading.collections.clone(),
            passed_over: reading.passed_over,
            left_out: reading.left_out.clone(),
            options: reading.options.clone(),
        }
    }
}

/// The path with this name.
pub(crate) fn path_of(name: &Name) -> PathBuf {
    #[cfg(unix)]
    let path: std::ffi::OsString = std::os::unix::ffi::OsStringExt::from_vec(name.0.clone());
    #[cfg(not(unix))]
    let path: std::ffi::OsString = String::from_utf8_lossy(&name.0).into_owned().into();
    path.into()
}

/// When the files among `sources` were last modified; `None` if there are none.
pub(crate) fn dumped(sources: &[Box<dyn Source>]) -> Option<Dumped> {
    let written = sources
        .iter()
        .filter_map(|source| source.facts().written_ms);
    let times: Vec<u64> = written.map(|at| at / 1000).collect();
    Some(Dumped {
        first: *times.iter().min()?,
        last: *times.iter().max()?,
    })
}

/// Seconds since 1970.
pub(crate) fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
