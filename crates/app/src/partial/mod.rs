//! Distributed counting: a report from parts counted by any processes on any machines. Steps: plan, tally, merge,
//! recount, report.
//!
//! Parts are counted independently, tallies merge in any order and tree shape, and the report equals that of a single
//! process. Every function takes and returns bytes or plain values, to be carried by a queue, a cluster or a shell.
//!
//! ```
//! # use slotscope_app as slotscope;
//! use slotscope::partial::{self, Flags};
//! # let path = std::env::temp_dir().join("slotscope-partial.keys");
//! # std::fs::write(&path, "user:1\nuser:2\n{cart}:1\n{cart}:2\n")?;
//! let plan = partial::plan(Flags::default(), &[&path], &Default::default())?;
//! let mut parts = Vec::new();
//! for split in plan.splits(256 << 20) {
//!     parts.push(partial::tally(&plan, &[split], &Default::default())?); // anywhere
//! }
//! let all = partial::merge(&parts)?;
//! let mut again = Vec::new();
//! if partial::needs_recount(&all)? {
//!     again.push(partial::recount(&all, &plan.splits(u64::MAX), &Default::default())?);
//! }
//! let summary = partial::report(&slotscope::Analysis::new(), &all, &again)?;
//! assert_eq!(summary.input.keys, 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod covered;
pub mod evidence;
pub(crate) mod flags;
mod frame;
pub(crate) mod input;
pub mod job;
pub(crate) mod plan;
pub mod recount_file;
pub mod reporting;
pub(crate) mod split;
pub mod tally_file;

use std::path::Path;

use crate::source;
use slotscope_base::error::{Error, Result};
use slotscope_model::Summary;
use slotscope_read::source::chunk::CHUNK;

use crate::partial::job::Job;
use crate::partial::recount_file::RecountFile;
use crate::partial::tally_file::TallyFile;
use crate::pipeline::Analysis;
use crate::pipeline::reading::{Options, Reading};
use crate::pipeline::two_pass::SecondPass;

pub use crate::options::Listing;
pub use crate::partial::flags::Flags;
pub use crate::partial::input::Input;
pub use crate::partial::plan::Plan;
pub use crate::partial::split::{Part, Split};

/// The error place for a file that only the caller can name.
pub(crate) const TALLY_FILE: &str = "a tally file";
pub(crate) const RECOUNT_FILE: &str = "a recount file";

/// Bytes needed by `is_tally`.
pub const MAGIC: usize = 80;

/// Plans how to count the inputs named by `paths`: once, before the parts. Here and below, only the threads, kernel,
/// progress, strictness and object store settings of `options` are used.
///
/// # Errors
/// An input cannot be opened or has no parts, or a flag is unusable.
pub fn plan(flags: Flags, paths: &[impl AsRef<Path>], options: &Options) -> Result<Plan> {
    let reading = Reading::new(source::find_with(paths, &options.storage)?, options.clone())?;
    plan_of(flags, reading, CHUNK).map(|(plan, _)| plan)
}

/// Like `plan`, for inputs already found, which are returned, and with chunks of this many bytes.
///
/// # Errors
/// As for `plan`.
pub fn plan_of(mut flags: Flags, mut reading: Reading, chunk: usize) -> Result<(Plan, Reading)> {
    if flags.listing.is_none() {
        flags.listing = plan::collected_listing(&reading)?;
    }
    reading.options = flags.options(&reading.options)?;
    let plan = Plan::of(flags, &reading, chunk)?;
    Ok((plan, reading))
}

/// Counts splits of a plan; returns a tally file.
///
/// # Errors
/// An input differs from the plan or cannot be opened; with `strict`, a rejected row.
pub fn tally(plan: &Plan, splits: &[Split], options: &Options) -> Result<Vec<u8>> {
    Ok(Job::new(plan, splits, options)?.tally(None)?.to_bytes())
}

/// Merges tally files or recount files of parts of one plan.
///
/// # Errors
/// A file is not a tally file; parts have other flags or inputs; a part is given twice.
pub fn merge(files: &[impl AsRef<[u8]>]) -> Result<Vec<u8>> {
    let mut files = files.iter().map(AsRef::as_ref);
    let Some(first) = files.next() else {
        return Err(Error::bad(
            "nothing to merge",
            "name the files of all parts",
        ));
    };
    if frame::schema(first) == Some(recount_file::SCHEMA) {
        let mut merged = RecountFile::from_bytes(first)?;
        files.try_for_each(|file| merged.merge(RecountFile::from_bytes(file)?))?;
        return Ok(merged.to_bytes());
    }
    let mut merged = TallyFile::from_bytes(first)?;
    files.try_for_each(|file| merged.merge(TallyFile::from_bytes(file)?))?;
    Ok(merged.to_bytes())
}

/// Whether reporting a merged tally file needs a second pass, because some heavy names are not known yet.
///
/// # Errors
/// It is not a tally file, or incomplete.
pub fn needs_recount(tally: &[u8]) -> Result<bool> {
    let file = TallyFile::from_bytes(tally)?;
    file.check_whole()?;
    Ok(SecondPass::of(&file.tallies).is_some())
}

/// The second pass over splits for a merged tally file; returns a recount file.
///
/// # Errors
/// As for `tally`; the tally file needs no second pass.
pub fn recount(tally: &[u8], splits: &[Split], options: &Options) -> Result<Vec<u8>> {
    let file = TallyFile::from_bytes(tally)?;
    let plan = file.plan.clone();
    let counted = Job::new(&plan, splits, options)?.recount(file, None)?;
    Ok(counted.to_bytes())
}

/// The summary of a merged tally file, with the files of a second pass if needed. `analysis` has the nodes and listing
/// settings; what was counted and how is in the file.
///
/// # Errors
/// It is not a tally file, parts are missing, or options contradict those of the file.
pub fn report(analysis: &Analysis, tally: &[u8], again: &[impl AsRef<[u8]>]) -> Result<Summary> {
    let again = match again {
        [] => None,
        again => Some(RecountFile::from_bytes(&merge(again)?)?),
    };
    reporting::counted(analysis, TallyFile::from_bytes(tally)?, again)?.summary()
}

/// Whether a file starting with `head` is a tally or recount file of any version.
#[cfg(feature = "cli")]
pub(crate) fn is_tally(head: &[u8]) -> bool {
    frame::schema(head).is_some()
}
