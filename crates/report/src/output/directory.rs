//! Output files in a directory that may contain other files.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use rayon::ThreadPool;
use rayon::prelude::*;
use slotscope_base::error::{Error, Result};

use crate::output::guard::{Guard, Mark};
use crate::output::staging::{self, Staging, Written};

/// Opened files not yet in place; removed if dropped unfinished.
pub(super) struct Directory {
    /// Dropped first: while the files are open, no other run takes their hidden names.
    staging: Staging,
    path: PathBuf,
    /// The names, with files under hidden names.
    files: Vec<(String, File)>,
    mark: Mark,
    guard: Guard,
}

impl Directory {
    /// Creates the directory and opens a file for each of `names`; the first one is put in place first.
    ///
    /// # Errors
    /// The directory cannot be created or written, another run writes one of the files, or `guard` forbids replacing its
    /// content.
    pub(super) fn open(path: &Path, names: &[&str], mark: Mark, guard: Guard) -> Result<Self> {
        if path.exists() && !path.is_dir() {
            let reason = "is a file; the name of a directory is needed here";
            return Err(Error::bad_file(path, reason));
        }
        let mut staging = Staging::default();
        let made = staging.make_directories(path);
        made.map_err(|error| Error::io(path, error))?;
        guard.check_files(path, names, mark)?;
        let open = |name: &&str| {
            let target = path.join(name);
            let file = staging.make_file(&target);
            let file = file.map_err(|error| Error::io(&target, error))?;
            Ok((String::from(*name), file))
        };
        let files = names.iter().map(open).collect::<Result<_>>()?;
        Ok(Directory {
            path: path.to_path_buf(),
            files,
            mark,
            guard,
            staging,
        })
    }

    /// Lets `write` fill every file, several at once where there is a pool, and puts them in place together.
    ///
    /// # Errors
    /// A file cannot be written or put in place.
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
        Directory::open(staging::parent(path), &[name], mark, guard).map(SingleFile)
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
