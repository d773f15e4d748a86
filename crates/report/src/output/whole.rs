//! A directory put in place as a whole: filled under a hidden name, and renamed once complete.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use slotscope_base::error::{Error, Result};

use crate::output::guard::{Guard, Mark};
use crate::output::staging::{self, Staging, Written};

/// A directory not yet in place; removed with its content if dropped unfinished.
pub struct WholeDirectory {
    /// Dropped first: while it is locked, no other run takes its hidden name.
    staging: Staging,
    path: PathBuf,
    temporary: PathBuf,
    /// Held while this run fills it. `None` if directories cannot be locked.
    _lock: Option<File>,
}

/// The directories that may be replaced.
#[derive(Debug, Clone)]
pub struct Replaces {
    /// Identifies directories written by this program.
    pub mark: Mark,
    /// Whether this program writes a file of this name there.
    pub is_ours: fn(&str) -> bool,
    /// The guard, with a suggested fix.
    pub guard: Guard,
}

impl WholeDirectory {
    /// Creates the directory that will become `path`.
    ///
    /// # Errors
    /// The directory cannot be created, or `path` may not be replaced.
    pub fn create(path: &Path, replaces: &Replaces) -> Result<Self> {
        replaces.check(path)?;
        if path.file_name().is_none_or(|name| name.to_str().is_none()) {
            let reason = "no name of a directory that could be made";
            return Err(Error::bad_file(path, reason));
        }
        let failed = |error| Error::io(path, error);
        let mut staging = Staging::default();
        let around = staging::parent(path);
        staging.make_directories(around).map_err(failed)?;
        let (temporary, lock) = staging.make_directory(path).map_err(failed)?;
        Ok(WholeDirectory {
            path: path.to_path_buf(),
            _lock: lock,
            temporary,
            staging,
        })
    }

    /// Creates a private directory for this run.
    ///
    /// # Errors
    /// An I/O error.
    pub fn temporary() -> Result<Self> {
        let mut staging = Staging::default();
        let made = staging.make_private_directory();
        let temporary = made.map_err(|error| Error::io(std::env::temp_dir(), error))?;
        Ok(WholeDirectory {
            path: temporary.clone(),
            temporary,
            _lock: None,
            staging,
        })
    }

    /// Its destination.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates a file in it.
    ///
    /// # Errors
    /// An I/O error.
    pub fn file(&self, name: &str) -> Result<File> {
        let path = self.temporary.join(name);
        staging::make_inside(&path).map_err(|error| self.failed(name, error))
    }

    /// Reopens a file in it for appending.
    ///
    /// # Errors
    /// An I/O error.
    pub fn append(&self, name: &str) -> Result<File> {
        let opened = OpenOptions::new()
            .append(true)
            .open(self.temporary.join(name));
        opened.map_err(|error| self.failed(name, error))
    }

    /// Reopens a file in it for reading.
    ///
    /// # Errors
    /// An I/O error.
    pub fn read(&self, name: &str) -> Result<File> {
        File::open(self.temporary.join(name)).map_err(|error| self.failed(name, error))
    }

    /// Renames file `from` to `to`, replacing that.
    ///
    /// # Errors
    /// An I/O error.
    pub fn rename(&self, from: &str, to: &str) -> Result<()> {
        let renamed = fs::rename(self.temporary.join(from), self.temporary.join(to));
        renamed.map_err(|error| self.failed(to, error))
    }

    /// Removes a file in it.
    ///
    /// # Errors
    /// An I/O error.
    pub fn remove(&self, name: &str) -> Result<()> {
        fs::remove_file(self.temporary.join(name)).map_err(|error| self.failed(name, error))
    }

    /// The error for a file in it, under the file's final name.
    pub fn failed(&self, name: &str, error: io::Error) -> Error {
        Error::io(self.path.join(name), error)
    }

    /// Puts it in place.
    ///
    /// # Errors
    /// The directory cannot be renamed, or `path` now contains something that may not be replaced.
    pub fn publish(self, replaces: &Replaces) -> Result<()> {
        replaces.check(&self.path)?;
        self.staging.publish([Written::Whole])
    }
}

impl Replaces {
    /// Checks that the directory at `path` may be created, or replaced with all its files.
    ///
    /// # Errors
    /// The directory was not written by this program, contains foreign files, or replacing was not forced.
    fn check(&self, path: &Path) -> Result<()> {
        match path.symlink_metadata() {
            Err(_) => return Ok(()),
            Ok(metadata) if !metadata.is_dir() => {
                return self.guard.refused(path, "exists and is not a directory");
            }
            Ok(_) => {}
        }
        let listed = fs::read_dir(path).map_err(|error| Error::io(path, error))?;
        let entries: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
        let is_foreign = |path: &&PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            !name.is_some_and(self.is_ours) || path.is_dir()
        };
        if entries.is_empty() {
            return Ok(());
        }
        if let Some(foreign) = entries.iter().find(is_foreign) {
            let reason = "slotscope did not write this file and does not replace its directory";
            return self.guard.refused(foreign, reason);
        }
        if !self.mark.is_of(path) {
            let reason = "slotscope did not write this directory and does not replace it";
            return self.guard.refused(path, reason);
        }
        if !self.guard.force {
            return self
                .guard
                .refused(path, "is there already; --force replaces it");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn replaces(force: bool) -> Replaces {
        Replaces {
            mark: Mark {
                file: Some("mark"),
                text: "ours",
            },
            is_ours: |name| name == "mark",
            guard: Guard::new("name another").forced(force, ""),
        }
    }

    fn write(path: &Path, force: bool) -> Result<()> {
        let directory = WholeDirectory::create(path, &replaces(force))?;
        directory.file("mark")?.write_all(b"ours").unwrap();
        directory.publish(&replaces(force))
    }

    fn entries(path: &Path) -> usize {
        fs::read_dir(path).unwrap().count()
    }

    #[test]
    fn a_directory_is_put_in_place_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/out");
        let unfinished = WholeDirectory::create(&path, &replaces(false)).unwrap();
        unfinished.file("mark").unwrap();
        drop(unfinished);
        assert_eq!(
            entries(folder.path()),
            0,
            "what was made for it is removed too"
        );
        write(&path, false).unwrap();
        assert_eq!(fs::read(path.join("mark")).unwrap(), b"ours");
        assert_eq!(entries(path.parent().unwrap()), 1);
    }

    #[test]
    fn what_is_there_is_replaced_by_force_and_only_if_this_program_wrote_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        write(&path, false).unwrap();
        let message = write(&path, false).unwrap_err().to_string();
        assert!(message.contains("--force"), "{message}");
        write(&path, true).unwrap();
        fs::write(path.join("notes.txt"), "mine").unwrap();
        let message = write(&path, true).unwrap_err().to_string();
        assert!(message.contains("notes.txt"), "{message}");
        let file = folder.path().join("file");
        fs::write(&file, "x").unwrap();
        assert!(write(&file, true).is_err());
        assert_eq!(entries(folder.path()), 2);
    }

    #[test]
    fn what_a_killed_run_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let left = folder.path().join(".out.slotscope-part");
        fs::create_dir(&left).unwrap();
        fs::write(left.join("a.csv.zst"), "half").unwrap();
        let path = folder.path().join("out");
        let alive = WholeDirectory::create(&path, &replaces(false)).unwrap();
        assert_eq!(entries(&left), 0);
        let refused = write(&path, false).unwrap_err().to_string();
        assert!(refused.contains("another run is writing it"), "{refused}");
        drop(alive);
        write(&path, false).unwrap();
        assert_eq!(entries(folder.path()), 1);
    }
}
