//! An output directory: every file is opened before the work and renamed into place after it, so a bad path fails at
//! once and an interrupted run leaves nothing half-written.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::name::Name;

/// What an interrupted run has to remove: files first, then directories.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Opened files that are not in place yet; dropped unfinished, they are removed.
pub struct Directory {
    path: PathBuf,
    files: Vec<Staged>,
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
    /// Makes the directory and opens a file for each of `names`.
    ///
    /// # Errors
    /// It cannot be made or written to.
    pub fn open(path: &Path, names: impl IntoIterator<Item = impl Into<String>>) -> Result<Self> {
        let missing = path
            .ancestors()
            .take_while(|part| !part.as_os_str().is_empty() && !part.exists());
        let missing: Vec<_> = missing.map(Path::to_path_buf).collect();
        let mut directory = Directory {
            path: path.to_path_buf(),
            files: Vec::new(),
        };
        unfinished(|paths| paths.extend(missing));
        if path.exists() && !path.is_dir() {
            let what = "is a file; the name of a directory is needed here";
            return Err(Error::bad(Name::from(path).to_string(), what));
        }
        fs::create_dir_all(path).map_err(|error| Error::io(path, error))?;
        for name in names.into_iter().map(Into::into) {
            // The process id keeps two runs into one directory from writing to one file.
            let temporary = path.join(format!(".{name}.{}.part", std::process::id()));
            unfinished(|paths| paths.insert(0, temporary.clone()));
            let file =
                File::create(&temporary).map_err(|error| Error::io(path.join(&name), error))?;
            directory.files.push(Staged {
                name,
                temporary,
                file,
            });
        }
        Ok(directory)
    }

    /// Lets `write` fill every file, and puts them in place together.
    ///
    /// # Errors
    /// A file cannot be written; then none is put in place.
    pub fn publish(
        mut self,
        write: impl Fn(&str, &mut dyn Write) -> io::Result<Written>,
    ) -> Result<()> {
        let mut written = Vec::with_capacity(self.files.len());
        for staged in &self.files {
            let mut buffered = BufWriter::new(&staged.file);
            let outcome = write(&staged.name, &mut buffered)
                .and_then(|outcome| buffered.flush().map(|()| outcome));
            written.push(outcome.map_err(|error| Error::io(self.path.join(&staged.name), error))?);
        }
        if let Some(taken) = self
            .files
            .iter()
            .map(|staged| self.path.join(&staged.name))
            .find(|target| target.is_dir())
        {
            return Err(Error::bad(
                Name::from(taken.as_path()).to_string(),
                "a directory stands where a file is to be",
            ));
        }
        // Two runs into one directory take turns; where that cannot be had, the last one wins file by file.
        let turn =
            File::open(&self.path).and_then(|directory| directory.lock().map(|()| directory));
        // Interrupts wait for the lock: they find either nothing in place or everything.
        let own: Vec<PathBuf> = self
            .files
            .iter()
            .map(|staged| staged.temporary.clone())
            .collect();
        let published = unfinished(|paths| {
            for (staged, written) in self.files.drain(..).zip(written) {
                let target = self.path.join(&staged.name);
                let done = match written {
                    Written::Whole => fs::rename(&staged.temporary, &target),
                    Written::Nothing => {
                        fs::remove_file(&staged.temporary).and_then(|()| remove_if_there(&target))
                    }
                };
                done.map_err(|error| Error::io(target, error))?;
            }
            paths.retain(|path| !own.contains(path) && !self.path.starts_with(path));
            Ok(())
        });
        drop(turn);
        published
    }
}

/// A file that is opened before the work and renamed into place after it.
pub struct SingleFile(Directory);

impl SingleFile {
    /// Opens it; `path` is where it is to be.
    ///
    /// # Errors
    /// It cannot be written to, or its name is not text.
    pub fn open(path: &Path) -> Result<Self> {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            let what = "no name of a file that could be written";
            return Err(Error::bad(Name::from(path).to_string(), what));
        };
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        Directory::open(parent.unwrap_or(Path::new(".")), [name]).map(SingleFile)
    }

    /// Lets `write` fill it, and puts it in place.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn publish(self, write: impl Fn(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        self.0.publish(|_, out| write(out).map(|()| Written::Whole))
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
            let _ = if path.is_dir() {
                fs::remove_dir(&path)
            } else {
                fs::remove_file(&path)
            };
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
