//! A directory that is put in place as a whole: it is filled under a hidden name and renamed once it is finished.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::name::Name;
use crate::report::directory::guard::Mark;
use crate::report::directory::{turn, unfinished};

/// A directory that is not in place yet; dropped unfinished, it is removed with what is in it.
pub struct WholeDirectory {
    path: PathBuf,
    temporary: PathBuf,
    /// Directories above it that were made for it.
    made: Vec<PathBuf>,
    /// Held as long as this run fills it.
    _lock: Option<File>,
}

/// What may be replaced.
#[derive(Debug, Clone, Copy)]
pub struct Replaces<'a> {
    /// What shows that the directory was written by this program.
    pub mark: Mark,
    /// Whether a file of this name is one that this program wrote there.
    pub is_ours: fn(&str) -> bool,
    /// Whether the user asks for it.
    pub force: bool,
    /// What the user can do where it may not be replaced.
    pub way_out: &'a str,
}

impl WholeDirectory {
    /// Makes the directory that is to become `path`.
    ///
    /// # Errors
    /// It cannot be made, or `path` holds what may not be replaced.
    pub fn create(path: &Path, replaces: Replaces<'_>) -> Result<Self> {
        check(path, replaces)?;
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            let what = "no name of a directory that could be made";
            return Err(Error::bad(Name::from(path).to_string(), what));
        };
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        let failed = |error| Error::io(path, error);
        let made = unfinished::make_directories(parent).map_err(failed)?;
        let turn = turn::take(parent)?;
        remove_stale_directories(parent, name);
        let temporary = make_directory(parent, name, false).map_err(failed)?;
        let lock = File::open(&temporary)
            .ok()
            .filter(|lock| lock.try_lock().is_ok());
        drop(turn);
        Ok(WholeDirectory {
            path: path.to_path_buf(),
            temporary,
            made,
            _lock: lock,
        })
    }

    /// Makes a directory for this run alone, which nobody else may read.
    ///
    /// # Errors
    /// What the system says.
    pub fn temporary() -> Result<Self> {
        let parent = std::env::temp_dir();
        let failed = |error| Error::io(&parent, error);
        let temporary = make_directory(&parent, "slotscope", true).map_err(failed)?;
        Ok(WholeDirectory {
            path: temporary.clone(),
            temporary,
            made: Vec::new(),
            _lock: None,
        })
    }

    /// Where it is to be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a new file in it, for writing.
    ///
    /// # Errors
    /// What the system says.
    pub fn file(&self, name: &str) -> Result<File> {
        let path = self.temporary.join(name);
        unfinished::locked(|paths| {
            let file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(&path)?;
            paths.insert(0, path.clone());
            Ok(file)
        })
        .map_err(|error| self.failed(name, error))
    }

    /// Opens a file in it again, to add to its end.
    ///
    /// # Errors
    /// What the system says.
    pub fn append(&self, name: &str) -> Result<File> {
        let opened = OpenOptions::new()
            .append(true)
            .open(self.temporary.join(name));
        opened.map_err(|error| self.failed(name, error))
    }

    /// Opens a file in it again, to read it.
    ///
    /// # Errors
    /// What the system says.
    pub fn read(&self, name: &str) -> Result<File> {
        File::open(self.temporary.join(name)).map_err(|error| self.failed(name, error))
    }

    /// Gives file `from` the name of file `to`, which it replaces.
    ///
    /// # Errors
    /// What the system says.
    pub fn rename(&self, from: &str, to: &str) -> Result<()> {
        let renamed = fs::rename(self.temporary.join(from), self.temporary.join(to));
        renamed.map_err(|error| self.failed(to, error))
    }

    /// Removes a file in it.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove(&self, name: &str) -> Result<()> {
        fs::remove_file(self.temporary.join(name)).map_err(|error| self.failed(name, error))
    }

    /// The error of a file in it, under the name that it is to have.
    pub fn failed(&self, name: &str, error: io::Error) -> Error {
        Error::io(self.path.join(name), error)
    }

    /// Puts it in place.
    ///
    /// # Errors
    /// It cannot be renamed, or `path` has come to hold what may not be replaced.
    pub fn publish(self, replaces: Replaces<'_>) -> Result<()> {
        check(&self.path, replaces)?;
        unfinished::locked(|paths| {
            let old = set_aside(&self.path)?;
            if let Err(error) = fs::rename(&self.temporary, &self.path) {
                // What was there before comes back.
                if let Some(old) = &old {
                    let _ = fs::rename(old, &self.path);
                }
                return Err(error);
            }
            paths.retain(|path| !path.starts_with(&self.temporary) && !self.made.contains(path));
            unfinished::published();
            // A hidden directory that stays costs space and nothing else.
            let _ = old.map(fs::remove_dir_all);
            Ok(())
        })
        .map_err(|error| Error::io(&self.path, error))
    }
}

impl Drop for WholeDirectory {
    fn drop(&mut self) {
        discard_below(&self.temporary, &self.made);
    }
}

/// Makes a new directory that is to become `name`; one that is private is only for this user.
fn make_directory(parent: &Path, name: &str, is_private: bool) -> io::Result<PathBuf> {
    let builder = directory_builder(is_private);
    unfinished::locked(|paths| {
        let (path, ()) = unfinished::with_new_name(parent, name, |path| builder.create(path))?;
        paths.insert(0, path.clone());
        Ok(path)
    })
}

#[cfg(unix)]
fn directory_builder(is_private: bool) -> fs::DirBuilder {
    use std::os::unix::fs::DirBuilderExt;

    let mut builder = fs::DirBuilder::new();
    if is_private {
        builder.mode(0o700);
    }
    builder
}

/// What only this user may read is below a directory of this user there.
#[cfg(not(unix))]
fn directory_builder(_is_private: bool) -> fs::DirBuilder {
    fs::DirBuilder::new()
}

/// Gives what is at `path` a hidden name, under which a later run removes it; `None` where nothing is there.
fn set_aside(path: &Path) -> io::Result<Option<PathBuf>> {
    let (Some(parent), Some(name)) = (
        path.parent(),
        path.file_name().and_then(|name| name.to_str()),
    ) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    if path.symlink_metadata().is_err() {
        return Ok(None);
    }
    let (aside, ()) = unfinished::with_new_name(parent, name, |aside| fs::rename(path, aside))?;
    Ok(Some(aside))
}

/// Removes a directory that is not in place, with what is in it, and those that were made for it.
fn discard_below(directory: &Path, made: &[PathBuf]) {
    unfinished::locked(|paths| {
        let is_mine = |path: &PathBuf| path.starts_with(directory) || made.contains(path);
        let (mine, others) = paths.drain(..).partition(is_mine);
        *paths = others;
        let mine: Vec<PathBuf> = mine;
        mine.iter().for_each(|path| unfinished::remove(path));
    });
}

/// Removes what runs that were killed left of directories called `name`.
fn remove_stale_directories(parent: &Path, name: &str) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_left = entry.file_name().to_str().and_then(unfinished::final_name) == Some(name);
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_left && is_directory && unfinished::is_of_no_run(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether `path` may be made or replaced.
fn check(path: &Path, replaces: Replaces<'_>) -> Result<()> {
    let refused = |path: &Path, what: &str| {
        let what = format!("{what}; {}", replaces.way_out);
        Err(Error::bad(Name::from(path).to_string(), what))
    };
    match path.symlink_metadata() {
        Err(_) => return Ok(()),
        Ok(metadata) if !metadata.is_dir() => {
            return refused(path, "is no directory, and is not replaced");
        }
        Ok(_) => {}
    }
    let entries = fs::read_dir(path).map_err(|error| Error::io(path, error))?;
    let entries: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    let is_foreign = |path: &&PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        !name.is_some_and(replaces.is_ours) || path.is_dir()
    };
    match entries.iter().find(is_foreign) {
        _ if entries.is_empty() => Ok(()),
        Some(foreign) => refused(
            foreign,
            "slotscope did not write this file and does not replace its directory",
        ),
        None if !replaces
            .mark
            .file
            .is_some_and(|file| replaces.mark.is_in(&path.join(file))) =>
        {
            refused(
                path,
                "slotscope did not write this directory and does not replace it",
            )
        }
        None if !replaces.force => refused(path, "is there already; --force replaces it"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn replaces(force: bool) -> Replaces<'static> {
        Replaces {
            mark: Mark {
                file: Some("mark"),
                text: "ours",
            },
            is_ours: |name| name == "mark",
            force,
            way_out: "name another",
        }
    }

    fn write(path: &Path, force: bool) -> Result<()> {
        let directory = WholeDirectory::create(path, replaces(force))?;
        directory.file("mark")?.write_all(b"ours").unwrap();
        directory.publish(replaces(force))
    }

    fn entries(path: &Path) -> usize {
        fs::read_dir(path).unwrap().count()
    }

    #[test]
    fn a_directory_is_put_in_place_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/out");
        let unfinished = WholeDirectory::create(&path, replaces(false)).unwrap();
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
        let left = folder.path().join(".out.0123456789abcdef.part");
        fs::create_dir(&left).unwrap();
        fs::write(left.join("a.csv.zst"), "half").unwrap();
        let alive = WholeDirectory::create(&folder.path().join("out"), replaces(false)).unwrap();
        assert!(!left.exists());
        write(&folder.path().join("out"), false).unwrap();
        assert_eq!(
            entries(folder.path()),
            2,
            "the directory of a run that goes on stays"
        );
        drop(alive);
        assert_eq!(entries(folder.path()), 1);
    }
}
