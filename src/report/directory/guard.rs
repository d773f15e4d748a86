//! What an output may replace: files that this program wrote, and never one that the run reads.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::name::Name;
use crate::source::identity::Identity;

/// How much of a file is looked at to see who wrote it.
const LOOKED_AT: u64 = 512;

/// How files of this program are recognised.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    /// The file that shows it for all in its directory; `None`: each file by itself.
    pub file: Option<&'static str>,
    /// What it has near its start.
    pub text: &'static str,
}

/// What may be replaced in a directory.
#[derive(Debug, Clone)]
pub struct Guard {
    /// How files of this program are recognised.
    pub mark: Mark,
    /// What is read by this run.
    pub read: Vec<Identity>,
    /// Whether files of others may be replaced too.
    pub force: bool,
    /// What the user can do where they may not.
    pub way_out: &'static str,
    /// What else, where the user can force it.
    pub or_force: &'static str,
}

impl Guard {
    /// Checks that files called `names` may be put into `directory`.
    ///
    /// # Errors
    /// One of them is read by this run, is a directory, or was not written by this program.
    pub fn check(&self, directory: &Path, names: &[&str]) -> Result<()> {
        let there = names
            .iter()
            .map(|name| directory.join(name))
            .filter(|path| path.symlink_metadata().is_ok());
        let there: Vec<PathBuf> = there.collect();
        let refused =
            |path: &Path, what: String| Err(Error::bad(Name::from(path).to_string(), what));
        let is_read = |path: &&PathBuf| {
            Identity::of(path).is_some_and(|identity| self.read.contains(&identity))
        };
        if let Some(input) = there.iter().find(is_read) {
            let what = "the report would replace this input";
            return refused(input, format!("{what}; {}", self.way_out));
        }
        if let Some(taken) = there.iter().find(|path| path.is_dir()) {
            let what = "a directory has the name of an output; remove it, or name another one";
            return refused(taken, what.into());
        }
        let is_foreign = |path: &&PathBuf| !is_empty(path) && !self.is_ours(directory, path);
        match there.iter().find(is_foreign) {
            Some(foreign) if !self.force => {
                let what = "slotscope did not write this file and does not replace it";
                refused(
                    foreign,
                    format!("{what}; {}{}", self.way_out, self.or_force),
                )
            }
            _ => Ok(()),
        }
    }

    fn is_ours(&self, directory: &Path, path: &Path) -> bool {
        match self.mark.file {
            Some(file) => self.mark.is_in(&directory.join(file)),
            None => self.mark.is_in(path),
        }
    }
}

impl Mark {
    /// Whether the file at `path` has it.
    pub fn is_in(&self, path: &Path) -> bool {
        // Opening a pipe would wait for its writer.
        let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
        let mut start = Vec::new();
        let mut read = || File::open(path)?.take(LOOKED_AT).read_to_end(&mut start);
        is_file && read().is_ok() && String::from_utf8_lossy(&start).contains(self.text)
    }
}

/// An empty file has nothing to lose.
fn is_empty(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0)
}
