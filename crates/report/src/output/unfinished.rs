//! Files and directories that a run has made and not put in place: an interrupt removes them, and what a killed run
//! left is removed by the next one into the same directory.
//!
//! All changes are made under one lock, so that an interrupt finds each file either not made or listed.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Files first, then directories from the innermost on.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Whether an output is in place.
static PUBLISHED: AtomicBool = AtomicBool::new(false);

/// How often a random name is tried.
const TRIES: usize = 16;
/// Digits of the random part of a name.
const DIGITS: usize = 16;

/// Calls `change` while no interrupt can remove anything.
pub(super) fn locked<T>(change: impl FnOnce(&mut Vec<PathBuf>) -> T) -> T {
    change(&mut UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Notes that an output is in place: from here on an interrupt waits for the end of the run.
pub(super) fn published() {
    PUBLISHED.store(true, Relaxed);
}

/// Removes everything that is not in place, for a run that is about to be ended, and lets nothing be made or put in
/// place from here on. Does nothing, and returns false, where an output is in place already and `even_then` is false.
pub fn abandon(even_then: bool) -> bool {
    let mut paths = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    if PUBLISHED.load(Relaxed) && !even_then {
        return false;
    }
    paths.drain(..).for_each(|path| remove(&path));
    // Kept until the process ends.
    std::mem::forget(paths);
    true
}

/// Removes what `is_own`.
pub(super) fn discard(is_own: impl Fn(&Path) -> bool) {
    locked(|paths| {
        let (own, others) = paths.drain(..).partition(|path| is_own(path));
        *paths = others;
        let own: Vec<PathBuf> = own;
        own.iter().for_each(|path| remove(path));
    });
}

/// There is nobody to report a failure to. A directory that another run put a file into is not empty, and stays.
fn remove(path: &Path) {
    let _ = if path.is_dir() {
        fs::remove_dir(path)
    } else {
        fs::remove_file(path)
    };
}

/// Makes the directory with those above it that are missing, and returns these.
pub(super) fn make_directories(path: &Path) -> io::Result<Vec<PathBuf>> {
    locked(|paths| {
        let missing = path
            .ancestors()
            .take_while(|part| !part.as_os_str().is_empty() && !part.exists());
        let missing: Vec<_> = missing.map(Path::to_path_buf).collect();
        paths.extend(missing.iter().cloned());
        fs::create_dir_all(path)?;
        Ok(missing)
    })
}

/// Makes a new file that is to become `name`, and follows no link to do so. The file is locked as long as it is open,
/// which shows other runs that this one is alive.
pub(super) fn make_file(directory: &Path, name: &str) -> io::Result<(PathBuf, File)> {
    locked(|paths| {
        let (path, file) = with_new_name(directory, name, |path| {
            OpenOptions::new().write(true).create_new(true).open(path)
        })?;
        paths.insert(0, path.clone());
        // Where files cannot be locked, none is taken for left over either.
        let _ = file.try_lock();
        Ok((path, file))
    })
}

/// Lets `make` make a file under a name that no other run can foresee.
pub(super) fn with_new_name<T>(
    directory: &Path,
    name: &str,
    make: impl Fn(&Path) -> io::Result<T>,
) -> io::Result<(PathBuf, T)> {
    let mut tried = 0;
    loop {
        let random = getrandom::u64().map_err(io::Error::other)?;
        let path = directory.join(format!(".{name}.{random:0DIGITS$x}.part"));
        tried += 1;
        match make(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tried < TRIES => {}
            made => return made.map(|made| (path, made)),
        }
    }
}

/// Removes the files and directories that killed runs left on their way to one of `names`; the caller holds the
/// directory's lock.
pub(super) fn remove_stale(directory: &Path, names: &[&str]) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let is_left = entry
            .file_name()
            .to_str()
            .is_some_and(|file| final_name(file).is_some_and(|name| names.contains(&name)));
        let Some(kind) = entry.file_type().ok().filter(|_| is_left) else {
            continue;
        };
        let path = entry.path();
        let _ = match kind {
            kind if kind.is_file() && is_of_no_run(&path) => fs::remove_file(path),
            kind if kind.is_dir() && is_of_no_run(&path) => fs::remove_dir_all(path),
            _ => Ok(()),
        };
    }
}

/// The directory that `path` is in.
pub(super) fn parent(path: &Path) -> &Path {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// The name that a temporary file is to have.
fn final_name(temporary: &str) -> Option<&str> {
    let inner = temporary.strip_prefix('.')?.strip_suffix(".part")?;
    let (name, random) = inner.rsplit_once('.')?;
    let is_random = random.len() == DIGITS && random.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_random.then_some(name)
}

fn is_of_no_run(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_run_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let stale = ".a.csv.0123456789abcdef.part";
        let kept = [
            ".other.csv.0123456789abcdef.part",
            ".a.csv.part",
            ".a.csv.1234.part",
            ".a.csv.0123456789abcdeg.part",
            "a.csv",
        ];
        for name in kept.iter().chain([&stale]) {
            fs::write(at(name), "x").unwrap();
        }
        let (alive, _file) = make_file(folder.path(), "a.csv").unwrap();
        remove_stale(folder.path(), &["a.csv"]);
        assert!(!at(stale).exists());
        assert!(alive.exists() && kept.iter().all(|name| at(name).exists()));
        discard(|path| path == alive);
        assert!(!alive.exists());
    }
}
