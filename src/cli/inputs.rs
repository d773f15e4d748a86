//! The inputs that a command names, less what slotscope itself wrote: a report may be in the directory of its dumps.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::name::Name;
use crate::report;
use crate::source;
use crate::source::Found;
use crate::source::storage_options::StorageOptions;

/// The sources that `paths` name, and how many files were passed over because they are those of a report in a directory.
///
/// # Errors
/// As `source::find`; a directory that holds nothing but a report.
pub fn find(paths: &[PathBuf], storage: &StorageOptions) -> Result<(Found, usize)> {
    let (mut found, mut of_reports) = (source::find_with(paths, storage)?, 0);
    let reports = paths
        .iter()
        .filter(|path| path.is_dir() && report::is_in(path));
    for directory in reports {
        let before = found.sources.len();
        found
            .sources
            .retain(|source| !is_of_report(source.path(), directory));
        of_reports += before - found.sources.len();
        if found.sources.is_empty() {
            let what = "holds a report of slotscope and no dump; name a key dump";
            return Err(Error::bad(
                Name::from(directory.as_path()).to_string(),
                what,
            ));
        }
    }
    Ok((found, of_reports))
}

fn is_of_report(path: &Path, directory: &Path) -> bool {
    let is_output = |name: &std::ffi::OsStr| report::files().any(|file| name == file);
    path.parent() == Some(directory) && path.file_name().is_some_and(is_output)
}
