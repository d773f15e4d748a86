//! Output files in a directory that may contain other files.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use rayon::ThreadPool;
use rayon::prelude::*;
use slotscope_engine::error::{Error, Result};

use crate::output::guard::{Guard, Mark};
use crate::output::replace::Written;
use crate::output::staging::Staging;
use crate::output::{turn, unfinished};

/// How often to recreate a directory that another run removes while this one opens files in it.
const TRIES: usize = 5;

/// Opened files not yet in place; removed if dropped unfinished.
pub(super) struct Directory {
    path: PathBuf,
    /// The names, with files under temporary hidden names; each is locked while open.
    files: Vec<(String, File)>,
    mark: Mark,
    guard: Guard,
    staging: Staging,
}

impl Directory {
    /// Creates the directory and opens a file for each of `names`; the first one is put in place first.
    ///
    /// # Errors
    /// The directory cannot be created or written, or `guard` forbids replacing its content.
    pub(super) fn open(path: &Path, names: &[&str], mark: Mark, guard: Guard) -> Result<Self> {
        if path.exists() && !path.is_dir() {
            let reason = "is a file; the name of a directory is needed here";
            return Err(Error::bad_file(path, reason));
        }
        let mut tried = 0;
        loop {
            tried += 1;
            match Self::try_open(path, names, mark, &guard) {
                Err(Error::Io { source, .. })
                    if source.kind() == io::ErrorKind::NotFound && tried < TRIES => {}
                opened => return opened,
            }
        }
    }

    fn try_open(path: &Path, names: &[&str], mark: Mark, guard: &Guard) -> Result<Self> {
        let made = unfinished::make_directories(path).map_err(|error| Error::io(path, error))?;
        let mut directory = Directory {
            path: path.to_path_buf(),
            files: Vec::new(),
            mark,
            guard: guard.clone(),
            staging: Staging {
                entries: Vec::new(),
                made,
            },
        };
        let _turn = turn::take(path)?;
        guard.check_files(path, names, mark)?;
        unfinished::remove_stale(path, names);
        for name in names {
            let target = path.join(name);
            let (temporary, file) =
                unfinished::make_file(path, name).map_err(|error| Error::io(&target, error))?;
            directory.staging.add(&target, &temporary);
            directory.files.push(((*name).to_owned(), file));
        }
        Ok(directory)
    }

    /// Lets `write` fill every file, several at once where there is a pool, and puts them in place together.
    ///
    /// # Errors
    /// A file cannot be written or put in place; all are then restored.
    pub(super) fn publish(
        self,
        pool: Option<&ThreadPool>,
        write: impl Fn(&str, &mut dyn Write) -> io::Result<Written> + Sync,
    ) -> Result<()> {
        let fill = |(name, file): &(String, File)| {
            let mut out = BufWriter::new(file);
            let written = write(name, &mut out).and_then(|written| out.flush().map(|()| written));
            written.map_err(|error| Error::io(self.path.join(name), error))
        };
        let filled: Vec<Result<Written>> = match pool {
            Some(pool) => pool.install(|| self.files.par_iter().map(fill).collect()),
            None => self.files.iter().map(fill).collect(),
        };
        let written: Vec<Written> = filled.into_iter().collect::<Result<_>>()?;
        let _turn = turn::take(&self.path)?;
        let names: Vec<&str> = self.files.iter().map(|(name, _)| name.as_str()).collect();
        self.guard.check_files(&self.path, &names, self.mark)?;
        self.staging.publish(written)
    }
}

/// A file that is opened before the work and renamed into place afterwards.
pub struct SingleFile(Directory);

impl SingleFile {
    /// Opens it; `path` is its destination, `text` occurs near the start of such files.
    ///
    /// # Errors
    /// The file cannot be written, its name is not text, or `guard` forbids replacing it.
    pub fn open(path: &Path, text: &'static str, guard: Guard) -> Result<Self> {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            let reason = "no name of a file that could be written";
            return Err(Error::bad_file(path, reason));
        };
        let mark = Mark { file: None, text };
        Directory::open(unfinished::parent(path), &[name], mark, guard).map(SingleFile)
    }

    /// Writes it with `write`, and puts it in place.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn publish(self, write: impl Fn(&mut dyn Write) -> io::Result<()> + Sync) -> Result<()> {
        self.0
            .publish(None, |_, out| write(out).map(|()| Written::Whole))
    }
}
