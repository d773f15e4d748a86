//! Output files: all are opened before the work and renamed into place together after it, so a bad path fails at once
//! and an interrupted run leaves nothing half-written. What others wrote is not replaced.

mod guard;
mod replace;
mod turn;
mod unfinished;
#[cfg(feature = "live")]
mod whole;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::name::Name;

pub use guard::{Guard, Mark};
pub use unfinished::abandon;
#[cfg(feature = "live")]
pub use whole::{Replaces, WholeDirectory};

/// A directory that is removed by another run while this one opens files in it is made again so often.
const TRIES: usize = 5;

/// Opened files that are not in place yet; dropped unfinished, they are removed.
pub struct Directory {
    path: PathBuf,
    guard: Guard,
    files: Vec<Staged>,
    /// Directories that were made for it.
    made: Vec<PathBuf>,
}

struct Staged {
    name: String,
    temporary: PathBuf,
    file: File,
}

/// What became of a file's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// It is to be put in place.
    Whole,
    /// There is nothing to put in it: what an earlier run left under its name is removed.
    Nothing,
}

impl Directory {
    /// Makes the directory and opens a file for each of `names`; the first is put in place first.
    ///
    /// # Errors
    /// It cannot be made or written to, or holds what `guard` does not let it replace.
    pub fn open(path: &Path, names: &[&str], guard: Guard) -> Result<Self> {
        if path.exists() && !path.is_dir() {
            let what = "is a file; the name of a directory is needed here";
            return Err(Error::bad(Name::from(path).to_string(), what));
        }
        let mut tried = 0;
        loop {
            tried += 1;
            match Self::try_open(path, names, &guard) {
                Err(Error::Io { source, .. })
                    if source.kind() == io::ErrorKind::NotFound && tried < TRIES => {}
                opened => return opened,
            }
        }
    }

    fn try_open(path: &Path, names: &[&str], guard: &Guard) -> Result<Self> {
        let made = unfinished::make_directories(path).map_err(|error| Error::io(path, error))?;
        let mut directory = Directory {
            path: path.to_path_buf(),
            guard: guard.clone(),
            files: Vec::new(),
            made,
        };
        let turn = turn::take(path)?;
        guard.check(path, names)?;
        unfinished::remove_stale(path, names);
        for name in names {
            let (temporary, file) = unfinished::make_file(path, name)
                .map_err(|error| Error::io(path.join(name), error))?;
            directory.files.push(Staged {
                name: (*name).to_owned(),
                temporary,
                file,
            });
        }
        drop(turn);
        Ok(directory)
    }

    /// Lets `write` fill every file, and puts them in place together.
    ///
    /// # Errors
    /// A file cannot be written or put in place; then all are as they were before.
    pub fn publish(
        mut self,
        write: impl Fn(&str, &mut dyn Write) -> io::Result<Written>,
    ) -> Result<()> {
        let written = self
            .files
            .iter()
            .map(|staged| self.fill(staged, &write))
            .collect::<Result<Vec<_>>>()?;
        let turn = turn::take(&self.path)?;
        let names: Vec<&str> = self
            .files
            .iter()
            .map(|staged| staged.name.as_str())
            .collect();
        self.guard.check(&self.path, &names)?;
        // An interrupt waits for the lock: it finds either nothing in place or everything.
        unfinished::locked(|paths| {
            replace::all(&self.path, self.files.iter().zip(written))?;
            let own = self.own();
            paths.retain(|path| !own.contains(path));
            (self.files, self.made) = (Vec::new(), Vec::new());
            unfinished::published();
            Ok(())
        })?;
        drop(turn);
        Ok(())
    }

    fn fill(
        &self,
        staged: &Staged,
        write: impl Fn(&str, &mut dyn Write) -> io::Result<Written>,
    ) -> Result<Written> {
        let mut buffered = BufWriter::new(&staged.file);
        let written = write(&staged.name, &mut buffered)
            .and_then(|written| buffered.flush().map(|()| written));
        written.map_err(|error| Error::io(self.path.join(&staged.name), error))
    }

    fn own(&self) -> Vec<PathBuf> {
        let files = self.files.iter().map(|staged| staged.temporary.clone());
        files.chain(self.made.iter().cloned()).collect()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        unfinished::discard(&self.own());
    }
}

/// A file that is opened before the work and renamed into place after it.
pub struct SingleFile(Directory);

impl SingleFile {
    /// Opens it; `path` is where it is to be.
    ///
    /// # Errors
    /// It cannot be written to, its name is not text, or `guard` does not let it be replaced.
    pub fn open(path: &Path, guard: Guard) -> Result<Self> {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            let what = "no name of a file that could be written";
            return Err(Error::bad(Name::from(path).to_string(), what));
        };
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        Directory::open(parent.unwrap_or(Path::new(".")), &[name], guard).map(SingleFile)
    }

    /// Lets `write` fill it, and puts it in place.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn publish(self, write: impl Fn(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        self.0.publish(|_, out| write(out).map(|()| Written::Whole))
    }
}
