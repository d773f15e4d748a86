//! Tally files among the inputs of a command.

use std::path::{Path, PathBuf};

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_base::small_file;

use crate::cli::input::kind::InputKind;
use crate::partial::recount_file::{self, RecountFile};
use crate::partial::tally_file::TallyFile;
use crate::partial::{RECOUNT_FILE, TALLY_FILE};

/// Maximum file size, above the largest that slotscope writes.
const MAX_BYTES: u64 = 256 << 20;

/// Merged tally files, and files of a second pass.
pub struct Tallies {
    pub tally: Option<TallyFile>,
    /// The counts of a second pass.
    pub again: Option<RecountFile>,
}

impl Tallies {
    /// Reads and merges the files at `paths`.
    ///
    /// # Errors
    /// A file is not a tally file, or files do not belong together.
    pub fn read(paths: &[PathBuf]) -> Result<Tallies> {
        let mut merged = Tallies {
            tally: None,
            again: None,
        };
        for path in paths {
            merged.add(path).map_err(|error| of_file(path, error))?;
        }
        Ok(merged)
    }

    fn add(&mut self, path: &Path) -> Result<()> {
        let bytes = small_file::read(path, MAX_BYTES, "is longer than any tally file")?;
        match (self, recount_file::is_one(&bytes)) {
            (Tallies { again, .. }, true) => {
                let file = RecountFile::from_bytes(&bytes)?;
                merge(again, file, RecountFile::merge)
            }
            (Tallies { tally, .. }, false) => {
                let file = TallyFile::from_bytes(&bytes)?;
                merge(tally, file, TallyFile::merge)
            }
        }
    }
}

fn merge<T>(merged: &mut Option<T>, next: T, merge: fn(&mut T, T) -> Result<()>) -> Result<()> {
    match merged {
        Some(merged) => merge(merged, next),
        None => {
            *merged = Some(next);
            Ok(())
        }
    }
}

/// Whether the inputs are tally files.
///
/// # Errors
/// Only some are.
pub fn are_tallies(paths: &[PathBuf]) -> Result<bool> {
    let is_tally = |path: &&PathBuf| InputKind::of_path(path) == Some(InputKind::Tally);
    let (tallies, others): (Vec<_>, Vec<_>) = paths.iter().partition(is_tally);
    match (tallies.first(), others.first()) {
        (Some(_), Some(stray)) => Err(Error::bad_file(
            stray.as_path(),
            "is not a tally file, and others are; count it with slotscope tally, or analyze it by itself",
        )),
        (tally, _) => Ok(tally.is_some()),
    }
}

/// Prefixes an error with its file name.
pub fn of_file(path: &Path, error: Error) -> Error {
    let path = Name::from(path);
    match error {
        Error::Bad { place, what } if place == TALLY_FILE || place == RECOUNT_FILE => {
            Error::bad(path.to_string(), what)
        }
        Error::Bad { place, what } => Error::bad(format!("{path}: {place}"), what),
        option @ Error::Option { .. } => Error::bad(path.to_string(), option.to_string()),
        error => error,
    }
}
