//! What a report says of its inputs besides the counts: with both it is made without the inputs.

use std::path::{Path, PathBuf};

use crate::analysis::reading::Reading;
use crate::analysis::{rejected, run_info};
use crate::format::lfu::LfuRule;
use crate::name::Name;
use crate::scan::Scanned;
use crate::slot::policy::Policy;
use crate::source::collection::Collection;
use crate::summary::{Dumped, Rejected};

/// What is known of inputs.
pub struct Inputs {
    /// What the user named them.
    pub paths: Vec<PathBuf>,
    /// The first rows that are no keys, with their lines.
    pub rejected: Rejected,
    /// The collections among them.
    pub collections: Vec<Collection>,
    /// Entries of directories that are not regular files.
    pub passed_over: usize,
    /// Files of an earlier report in such a directory.
    pub of_reports: usize,
    /// What part of a key was hashed.
    pub policy: Policy,
    /// What LFU counters say.
    pub lfu: LfuRule,
    /// When they were last written.
    pub dumped: Option<Dumped>,
    /// Threads that read them.
    pub threads: usize,
    /// What computed the slots.
    pub kernel: String,
}

impl Inputs {
    /// Those that were just scanned.
    pub fn of<T>(reading: Reading, scanned: &Scanned<T>) -> Self {
        Inputs {
            paths: reading.paths().map(Path::to_path_buf).collect(),
            rejected: rejected::of(&reading.sources, &scanned.rejects),
            dumped: run_info::dumped(&reading.sources),
            threads: reading.threads(),
            collections: reading.collections,
            passed_over: reading.passed_over,
            of_reports: reading.of_reports,
            policy: reading.options.policy,
            lfu: reading.options.walking.lfu,
            kernel: reading.options.kernel.name.into(),
        }
    }
}

/// The path whose name this is.
pub fn path_of(name: &Name) -> PathBuf {
    #[cfg(unix)]
    let path: std::ffi::OsString = std::os::unix::ffi::OsStringExt::from_vec(name.0.clone());
    #[cfg(not(unix))]
    let path: std::ffi::OsString = String::from_utf8_lossy(&name.0).into_owned().into();
    path.into()
}
