//! Files and directories under hidden names, put in place together. An interrupt removes those not in place, and the next
//! run replaces what a killed run left.
//!
//! All changes are made under one lock, so that for an interrupt each file is either listed or does not exist.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use slotscope_base::error::{Error, Result};

/// The endings of hidden names: no other program uses them, so what has one is ours to remove.
const PART: &str = "slotscope-part";
const OLD: &str = "slotscope-old";
/// Any process that can read a directory can lock it, so waiting for that lock is bounded: this many times this long.
const TRIES: u32 = 100;
const WAIT: Duration = Duration::from_millis(100);

/// Files first, then directories from the innermost outwards.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Whether an output is in place.
static PUBLISHED: AtomicBool = AtomicBool::new(false);

/// The fate of a staged file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// It is put in place.
    Whole,
    /// It has no content: a file of that name from an earlier run is removed.
    Nothing,
}

/// Files not yet in place; removed with the directories made for them if dropped unfinished.
#[derive(Default)]
pub(super) struct Staging {
    /// Hidden paths and destinations, in the order they are put in place.
    entries: Vec<(PathBuf, PathBuf)>,
    made: Vec<PathBuf>,
}

impl Staging {
    /// Creates the directory with its missing parents.
    pub(super) fn make_directories(&mut self, path: &Path) -> io::Result<()> {
        locked(|paths| {
            let absent = path
                .ancestors()
                .take_while(|part| !part.as_os_str().is_empty() && !part.exists());
            self.made = absent.map(Path::to_path_buf).collect();
            paths.extend(self.made.iter().cloned());
            fs::create_dir_all(path)
        })
    }

    /// Creates a hidden file to be moved to `target`.
    pub(super) fn make_file(&mut self, target: &Path) -> io::Result<File> {
        let create = |path: &Path| {
            let file = OpenOptions::new().write(true).create_new(true).open(path)?;
            let _ = file.try_lock();
            Ok(file)
        };
        self.make(target, create).map(|(_, file)| file)
    }

    /// Creates a hidden directory to be moved to `target`; `None` if directories cannot be locked.
    pub(super) fn make_directory(&mut self, target: &Path) -> io::Result<(PathBuf, Option<File>)> {
        self.make(target, |path| {
            fs::create_dir(path)?;
            let directory = File::open(path).ok();
            Ok(directory.filter(|directory| directory.try_lock().is_ok()))
        })
    }

    /// Lets `create` make something that is locked as long as it is open, which tells other runs that this one is alive.
    fn make<T>(
        &mut self,
        target: &Path,
        create: impl FnOnce(&Path) -> io::Result<T>,
    ) -> io::Result<(PathBuf, T)> {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let path = parent(target).join(format!(".{name}.{PART}"));
        let _turn = turn(parent(target))?;
        locked(|paths| {
            remove_left(&path)?;
            let made = create(&path)?;
            paths.insert(0, path.clone());
            self.entries.push((path.clone(), target.to_path_buf()));
            Ok((path, made))
        })
    }

    /// Creates a private directory that stays hidden.
    pub(super) fn make_private_directory(&mut self) -> io::Result<PathBuf> {
        let mut private = tempfile::Builder::new();
        private.prefix(".slotscope.").suffix(".slotscope-part");
        #[cfg(unix)] // elsewhere temporary directories are inside the user's own
        private.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        locked(|paths| {
            let path = private.tempdir()?.keep();
            paths.insert(0, path.clone());
            self.entries.push((path.clone(), path.clone()));
            Ok(path)
        })
    }

    /// Puts all entries in place, except for those `written` without content.
    ///
    /// # Errors
    /// An entry cannot be put in place: all are then as before.
    pub(super) fn publish(mut self, written: impl IntoIterator<Item = Written>) -> Result<()> {
        // An interrupt waits for this lock, so it finds nothing in place, or everything.
        locked(|paths| {
            let entries = self.entries.iter().zip(written);
            let mut all: Vec<Placing<'_>> = entries.map(Placing::new).collect();
            for step in [Placing::keep, Placing::put] {
                let mut steps = all.iter_mut().map(|entry| (entry.target, step(entry)));
                let failed = steps.find_map(|(target, done)| Some((target, done.err()?)));
                if let Some((target, error)) = failed {
                    all.iter().rev().for_each(Placing::put_back);
                    return Err(Error::io(target, error));
                }
            }
            all.iter().for_each(Placing::forget);
            paths.retain(|path| !self.has(path));
            self.entries.clear();
            self.made.clear();
            PUBLISHED.store(true, Relaxed);
            Ok(())
        })
    }

    fn has(&self, path: &Path) -> bool {
        let mut entries = self.entries.iter();
        entries.any(|(hidden, _)| path.starts_with(hidden))
            || self.made.iter().any(|made| made == path)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        locked(|paths| {
            let own = paths.extract_if(.., |path| self.has(path));
            own.for_each(|path| remove(&path));
        });
    }
}

/// Calls `change` while interrupts cannot remove anything.
fn locked<T>(change: impl FnOnce(&mut Vec<PathBuf>) -> T) -> T {
    change(&mut UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Creates a file inside a hidden directory.
pub(super) fn make_inside(path: &Path) -> io::Result<File> {
    locked(|paths| {
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        paths.insert(0, path.to_path_buf());
        Ok(file)
    })
}

/// Removes everything not in place, for a run about to be terminated, and blocks further creation. Does nothing and
/// returns false if an output is already in place, unless `even_then`.
pub fn abandon(even_then: bool) -> bool {
    let mut paths = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    if PUBLISHED.load(Relaxed) && !even_then {
        return false;
    }
    paths.drain(..).for_each(|path| remove(&path));
    // Hold the lock until the process ends.
    std::mem::forget(paths);
    true
}

/// Failures cannot be reported anywhere. A directory with files of another run is not empty, and stays.
fn remove(path: &Path) {
    let _ = if path.is_dir() {
        fs::remove_dir(path)
    } else {
        fs::remove_file(path)
    };
}

/// One run at a time removes and creates in a directory. `None` if it cannot be locked: the last run then wins.
fn turn(directory: &Path) -> io::Result<Option<File>> {
    let Ok(directory) = File::open(directory) else {
        return Ok(None);
    };
    for _ in 0..TRIES {
        match directory.try_lock() {
            Ok(()) => return Ok(Some(directory)),
            Err(TryLockError::Error(_)) => return Ok(None),
            Err(TryLockError::WouldBlock) => thread::sleep(WAIT),
        }
    }
    let reason =
        "another process keeps its directory locked; end that process, or name another directory";
    Err(io::Error::new(io::ErrorKind::ResourceBusy, reason))
}

/// Removes what a killed run left at a hidden path.
fn remove_left(path: &Path) -> io::Result<()> {
    let Ok(kind) = path.symlink_metadata().map(|metadata| metadata.file_type()) else {
        return Ok(());
    };
    // Opening a pipe would block.
    let is_openable = kind.is_file() || kind.is_dir();
    let left = is_openable.then(|| File::open(path)).transpose()?;
    if left.is_some_and(|left| matches!(left.try_lock(), Err(TryLockError::WouldBlock))) {
        let reason = "another run is writing it; wait for its end, or name another directory";
        return Err(io::Error::new(io::ErrorKind::ResourceBusy, reason));
    }
    if kind.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}

/// An entry on its way into place.
struct Placing<'a> {
    path: &'a Path,
    target: &'a Path,
    written: Written,
    /// The hidden name under which the present file is kept until all are placed.
    old: PathBuf,
    /// Whether a file is kept there.
    is_kept: bool,
    is_placed: bool,
}

impl<'a> Placing<'a> {
    fn new(((path, target), written): (&'a (PathBuf, PathBuf), Written)) -> Self {
        Placing {
            path,
            target,
            written,
            old: path.with_extension(OLD),
            is_kept: false,
            is_placed: false,
        }
    }

    /// Gives the present file a second, hidden name; moves it there if it cannot have two names or is to be removed.
    fn keep(&mut self) -> io::Result<()> {
        remove_left(&self.old)?;
        let Ok(there) = self.target.symlink_metadata() else {
            return Ok(());
        };
        let stays = self.written == Written::Whole && !there.is_dir();
        if !stays || fs::hard_link(self.target, &self.old).is_err() {
            fs::rename(self.target, &self.old)?;
        }
        self.is_kept = true;
        Ok(())
    }

    fn put(&mut self) -> io::Result<()> {
        if self.written == Written::Whole {
            fs::rename(self.path, self.target)?;
            self.is_placed = true;
        }
        Ok(())
    }

    /// Restores the state before. Ignores failures: the error that led here is reported.
    fn put_back(&self) {
        if self.is_placed && (!self.is_kept || self.target.is_dir()) {
            let _ = fs::rename(self.target, self.path);
        }
        if self.is_kept {
            // Two names of one file both remain; where the rename fails, the hidden name may be the only one.
            let _ = fs::rename(&self.old, self.target).and_then(|()| fs::remove_file(&self.old));
        }
    }

    /// A hidden name that is left only costs space, until the next run.
    fn forget(&self) {
        if self.written == Written::Nothing {
            remove(self.path);
        }
        if self.is_kept {
            let _ = remove_left(&self.old);
        }
    }
}

pub(super) fn parent(path: &Path) -> &Path {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// The names in a directory, of those that are directories the file in them, and the contents.
    fn content(directory: &Path) -> Vec<(PathBuf, String)> {
        let mut found = Vec::new();
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.extend(content(&path));
            } else {
                found.push((path.clone(), fs::read_to_string(path).unwrap()));
            }
        }
        found.sort();
        found
    }

    /// A file that is replaced, a new one, one that goes, a directory that is replaced, and another file.
    fn staged(folder: &Path) -> (Staging, [Written; 5]) {
        for name in ["a", "c", "e", "d/old"] {
            let path = folder.join(name);
            fs::create_dir_all(parent(&path)).unwrap();
            fs::write(path, "old").unwrap();
        }
        let mut staging = Staging::default();
        for name in ["a", "b", "c"] {
            let mut file = staging.make_file(&folder.join(name)).unwrap();
            file.write_all(b"new").unwrap();
        }
        let (hidden, _) = staging.make_directory(&folder.join("d")).unwrap();
        let mut inside = make_inside(&hidden.join("new")).unwrap();
        inside.write_all(b"new").unwrap();
        let mut last = staging.make_file(&folder.join("e")).unwrap();
        last.write_all(b"new").unwrap();
        let mut written = [Written::Whole; 5];
        written[2] = Written::Nothing;
        (staging, written)
    }

    fn names(folder: &Path) -> Vec<String> {
        let name = |(path, text): (PathBuf, String)| {
            format!("{} {text}", path.strip_prefix(folder).unwrap().display())
        };
        content(folder).into_iter().map(name).collect()
    }

    #[test]
    fn all_entries_are_placed_and_nothing_hidden_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (staging, written) = staged(folder.path());
        staging.publish(written).unwrap();
        let now = names(folder.path());
        assert_eq!(now, ["a new", "b new", "d/new new", "e new"]);
    }

    #[test]
    fn whatever_cannot_be_placed_all_is_as_before() {
        for at in 0..5 {
            for is_kept in [false, true] {
                let folder = tempfile::tempdir().unwrap();
                let (staging, mut written) = staged(folder.path());
                let (path, target) = staging.entries[at].clone();
                written[2] = if at == 2 { Written::Whole } else { written[2] };
                let old = path.with_extension(OLD);
                let _held = if is_kept {
                    // It cannot be placed.
                    remove_left(&path).unwrap();
                    None
                } else {
                    // The name under which the old one is kept is taken by another run.
                    let other = File::create(&old).unwrap();
                    other.lock().unwrap();
                    Some(other)
                };
                let error = staging.publish(written).unwrap_err().to_string();
                assert!(error.contains(&target.display().to_string()), "{error}");
                let _ = fs::remove_file(&old);
                let now = names(folder.path());
                assert_eq!(
                    now,
                    ["a old", "c old", "d/old old", "e old"],
                    "{at} {is_kept}"
                );
            }
        }
    }

    #[test]
    fn a_kept_file_that_cannot_go_back_stays_under_its_hidden_name() {
        let folder = tempfile::tempdir().unwrap();
        let entry = (folder.path().join(".a.part"), folder.path().join("a"));
        fs::write(&entry.1, "old").unwrap();
        let mut placing = Placing::new((&entry, Written::Whole));
        placing.keep().unwrap();
        // A file cannot replace it.
        fs::remove_file(&entry.1).unwrap();
        fs::create_dir_all(entry.1.join("in the way")).unwrap();
        placing.put_back();
        assert_eq!(fs::read_to_string(&placing.old).unwrap(), "old");
    }
}
