//! Files and directories created but not yet in place: an interrupt removes them, and the next run into the same
//! directory removes what a killed run left.
//!
//! All changes are made under one lock, so that for an interrupt each file is either listed or does not exist.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Files first, then directories from the innermost outwards.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Whether an output is in place.
static PUBLISHED: AtomicBool = AtomicBool::new(false);

/// How many random names are tried.
const TRIES: usize = 16;
/// Length of the random part of a name.
const DIGITS: usize = 16;

/// Calls `change` while interrupts cannot remove anything.
pub(super) fn locked<T>(change: impl FnOnce(&mut Vec<PathBuf>) -> T) -> T {
    change(&mut UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Records that an output is in place: from here on, an interrupt waits for the run to end.
pub(super) fn published() {
    PUBLISHED.store(true, Relaxed);
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

/// Removes files that satisfy `is_own`.
pub(super) fn discard(is_own: impl Fn(&Path) -> bool) {
    locked(|paths| {
        let (own, others): (Vec<PathBuf>, _) = paths.drain(..).partition(|path| is_own(path));
        *paths = others;
        own.iter().for_each(|path| remove(path));
    });
}

/// Failures cannot be reported anywhere. A directory with files of another run is not empty, and stays.
fn remove(path: &Path) {
    let _ = if path.is_dir() {
        fs::remove_dir(path)
    } else {
        fs::remove_file(path)
    };
}

/// Creates the directory with its missing parents, and returns the latter.
pub(super) fn make_directories(path: &Path) -> io::Result<Vec<PathBuf>> {
    locked(|paths| {
        let absent = path
            .ancestors()
            .take_while(|part| !part.as_os_str().is_empty() && !part.exists());
        let missing: Vec<_> = absent.map(Path::to_path_buf).collect();
        paths.extend(missing.iter().cloned());
        fs::create_dir_all(path)?;
        Ok(missing)
    })
}

/// Creates a new temporary file for `name`, without following links. It is locked while open, which tells other runs
/// that this one is alive.
pub(super) fn make_file(directory: &Path, name: &str) -> io::Result<(PathBuf, File)> {
    locked(|paths| {
        let (path, file) = with_new_name(directory, name, |path| {
            OpenOptions::new().write(true).create_new(true).open(path)
        })?;
        paths.insert(0, path.clone());
        // On systems without file locks, no file is considered stale either.
        let _ = file.try_lock();
        Ok((path, file))
    })
}

/// Lets `make` create a file under an unpredictable name.
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

/// Removes temporary files and directories that killed runs left for one of `names`; the caller holds the directory's
/// lock.
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

pub(super) fn parent(path: &Path) -> &Path {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// The destination name of a temporary file.
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
