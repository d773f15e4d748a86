//! The files that an output may replace: those written by this program, but never an input of the run.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use slotscope_base::error::{Error, Result};
use slotscope_base::file_identity::FileIdentity;

/// How much of a file is read to identify it.
const LOOKED_AT: u64 = 512;

/// How files of this program are recognised.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    /// The file that identifies the whole directory; `None`: each file is checked.
    pub file: Option<&'static str>,
    /// Text that occurs near its start.
    pub text: &'static str,
}

/// The files that an output may replace.
#[derive(Debug, Clone)]
pub struct Guard {
    /// The inputs of this run.
    read: Vec<FileIdentity>,
    /// Whether the user allows replacing foreign files, and an entire directory.
    pub(super) force: bool,
    /// The suggested fix if something may not be replaced.
    way_out: &'static str,
    /// An additional suggestion, if the user can force it.
    or_force: &'static str,
}

impl Guard {
    /// Allows replacing files of this program; otherwise the error ends with `way_out`.
    pub const fn new(way_out: &'static str) -> Self {
        Guard {
            read: Vec::new(),
            force: false,
            way_out,
            or_force: "",
        }
    }

    /// Changes the suggestion.
    #[must_use]
    pub fn with_way_out(self, way_out: &'static str) -> Self {
        Guard { way_out, ..self }
    }

    /// Protects the inputs at `paths`.
    #[must_use]
    pub fn reading<'p>(mut self, paths: impl IntoIterator<Item = &'p Path>) -> Self {
        let paths = paths.into_iter();
        self.read.extend(paths.filter_map(FileIdentity::of));
        self
    }

    /// Records whether the user forces replacement, and how to suggest that.
    #[must_use]
    pub fn forced(self, force: bool, or_force: &'static str) -> Self {
        Guard {
            force,
            or_force,
            ..self
        }
    }

    /// Checks that files called `names` may be written to `directory`.
    ///
    /// # Errors
    /// A file is an input, is a directory, or was not written by this program.
    pub fn check_files(&self, directory: &Path, names: &[&str], mark: Mark) -> Result<()> {
        let existing = names
            .iter()
            .map(|name| directory.join(name))
            .filter(|path| path.symlink_metadata().is_ok());
        let there: Vec<PathBuf> = existing.collect();
        let is_read = |path: &&PathBuf| {
            FileIdentity::of(path).is_some_and(|identity| self.read.contains(&identity))
        };
        if let Some(input) = there.iter().find(is_read) {
            return self.refused(input, "the report would replace this input");
        }
        if let Some(taken) = there.iter().find(|path| path.is_dir()) {
            let reason = "a directory has the name of an output; remove it, or name another one";
            return Err(Error::bad_file(taken.as_path(), reason));
        }
        let is_foreign = |path: &&PathBuf| !is_empty(path) && !mark.shows(directory, path);
        match there.iter().find(is_foreign) {
            Some(foreign) if !self.force => {
                let reason = "slotscope did not write this file and does not replace it";
                let text = format!("{reason}; {}{}", self.way_out, self.or_force);
                Err(Error::bad_file(foreign.as_path(), text))
            }
            _ => Ok(()),
        }
    }

    /// The error for `path` being in the way.
    pub(super) fn refused(&self, path: &Path, reason: &str) -> Result<()> {
        let message = format!("{reason}; {}", self.way_out);
        Err(Error::bad_file(path, message))
    }
}

impl Mark {
    /// Whether `directory` contains marked files.
    pub(crate) fn is_of(self, directory: &Path) -> bool {
        self.file
            .is_some_and(|file| self.is_in(&directory.join(file)))
    }

    /// Whether the file at `path` in `directory` was written by this program.
    pub(super) fn shows(self, directory: &Path, path: &Path) -> bool {
        match self.file {
            Some(_) => self.is_of(directory),
            None => self.is_in(path),
        }
    }

    /// Whether the file at `path` has the mark.
    pub(crate) fn is_in(self, path: &Path) -> bool {
        // Opening a pipe would block until there is a writer.
        let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
        let mut start = Vec::new();
        let mut read = || File::open(path)?.take(LOOKED_AT).read_to_end(&mut start);
        is_file && read().is_ok() && String::from_utf8_lossy(&start).contains(self.text)
    }
}

/// An empty file may be replaced: nothing is lost.
fn is_empty(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0)
}
