//! The output directory: every file is opened before the scan and renamed into place after it, so a bad path fails
//! at once and an interrupted run leaves nothing half-written.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::{OUTPUTS, Output};
use crate::error::{Error, Result};
use crate::summary::Summary;

/// What an interrupted run has to remove: files first, then directories.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Opened files that are not in place yet; dropped unfinished, they are removed.
pub struct Directory {
    path: PathBuf,
    files: Vec<(&'static Output, PathBuf, File)>,
}

impl Directory {
    /// Makes the directory and opens a file for every output.
    ///
    /// # Errors
    /// It cannot be made or written to.
    pub fn open(path: &Path) -> Result<Self> {
        let missing = path.ancestors().take_while(|part| !part.as_os_str().is_empty() && !part.exists());
        let missing: Vec<_> = missing.map(Path::to_path_buf).collect();
        let mut directory = Directory { path: path.to_path_buf(), files: Vec::new() };
        fs::create_dir_all(path).map_err(|error| Error::io(path, error))?;
        unfinished(|paths| paths.extend(missing));
        for output in OUTPUTS {
            // The process id keeps two runs into one directory from writing to one file.
            let temporary = path.join(format!(".{}.{}.part", output.file, std::process::id()));
            unfinished(|paths| paths.insert(0, temporary.clone()));
            let file = File::create(&temporary).map_err(|error| Error::io(path.join(output.file), error))?;
            directory.files.push((output, temporary, file));
        }
        Ok(directory)
    }

    /// Writes every output that has something to say, puts them in place together, and removes what an earlier run
    /// left of the others.
    ///
    /// # Errors
    /// A file cannot be written; then none is put in place.
    pub fn publish(mut self, summary: &Summary) -> Result<()> {
        for (output, _, file) in &self.files {
            let mut buffered = BufWriter::new(file);
            let written = (output.write)(summary, &mut buffered).and_then(|()| buffered.flush());
            written.map_err(|error| Error::io(self.path.join(output.file), error))?;
        }
        // Interrupts wait for the lock: they find either nothing in place or everything.
        unfinished(|paths| {
            for (output, temporary, _) in self.files.drain(..) {
                let target = self.path.join(output.file);
                let done = match (output.wanted)(summary) {
                    true => fs::rename(&temporary, &target),
                    false => fs::remove_file(&temporary).and_then(|()| remove_if_there(&target)),
                };
                done.map_err(|error| Error::io(target, error))?;
            }
            paths.clear();
            Ok(())
        })
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        discard_unfinished();
    }
}

/// Removes what is not in place yet; for a run that is given up. Nothing is left to report a failure to.
pub fn discard_unfinished() {
    unfinished(|paths| {
        for path in paths.drain(..) {
            // A directory that somebody else put a file into stays: only an empty one can be removed.
            let _ = if path.is_dir() { fs::remove_dir(&path) } else { fs::remove_file(&path) };
        }
    });
}

fn unfinished<T>(change: impl FnOnce(&mut Vec<PathBuf>) -> T) -> T {
    change(&mut UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner))
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
