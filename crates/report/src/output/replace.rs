//! Puts files and directories in place together: if one fails, earlier ones are reverted.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use slotscope_engine::error::{Error, Result};

use crate::output::unfinished;

/// A staged file or directory.
pub(super) struct Staged {
    /// Its destination.
    pub target: PathBuf,
    /// Its temporary path.
    pub temporary: PathBuf,
}

/// The fate of a staged file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// It is put in place.
    Whole,
    /// It has no content: a file of that name from an earlier run is removed.
    Nothing,
}

/// The file that was at the destination before.
enum Before {
    Nothing,
    /// It is kept under this path until all are in place: a file as a hard link, a directory by renaming.
    Kept(PathBuf),
    /// It could not be kept, for instance without hard links, and cannot be restored.
    Gone,
}

/// Puts each entry in place, or removes the old file if nothing was written.
pub(super) fn all<'a>(entries: impl Iterator<Item = (&'a Staged, Written)>) -> Result<()> {
    let mut done: Vec<(&Path, Before)> = Vec::new();
    let mut outcome = Ok(());
    for (Staged { target, temporary }, written) in entries {
        let before = keep(target);
        let step = match written {
            Written::Whole => fs::rename(temporary, target),
            Written::Nothing => remove_if_there(target).and_then(|()| fs::remove_file(temporary)),
        };
        outcome = step.map_err(|error| Error::io(target, error));
        done.push((target, before));
        if outcome.is_err() {
            break;
        }
    }
    for (target, before) in done {
        // A leftover hidden file or directory only costs space.
        let _ = match (before, &outcome) {
            (Before::Kept(kept), Ok(())) if kept.is_dir() => fs::remove_dir_all(kept),
            (Before::Kept(kept), Ok(())) => fs::remove_file(kept),
            // If the file was not replaced, both names are links to it, and the rename does nothing.
            (Before::Kept(kept), Err(_)) => {
                fs::rename(&kept, target).and_then(|()| remove_if_there(&kept))
            }
            (Before::Nothing, Err(_)) => remove_if_there(target),
            _ => Ok(()),
        };
    }
    outcome
}

/// Keeps the old file at `target`: a hard link for a file, a rename for a directory.
fn keep(target: &Path) -> Before {
    let name = target.file_name().and_then(|name| name.to_str());
    let keep = |kept: &Path| {
        if target.is_dir() {
            fs::rename(target, kept)
        } else {
            fs::hard_link(target, kept)
        }
    };
    match unfinished::with_new_name(unfinished::parent(target), name.unwrap_or_default(), keep) {
        Ok((kept, ())) => Before::Kept(kept),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Before::Nothing,
        Err(_) => Before::Gone,
    }
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_one_cannot_be_put_in_place_files_and_directories_are_as_before() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("directory")).unwrap();
        fs::write(at("directory/old"), "old").unwrap();
        fs::write(at("file"), "old").unwrap();
        fs::create_dir(at("new-directory")).unwrap();
        fs::write(at("new-file"), "new").unwrap();
        let staged = |target: &str, temporary: &str| Staged {
            target: at(target),
            temporary: at(temporary),
        };
        let entries = [
            staged("directory", "new-directory"),
            staged("file", "new-file"),
            staged("other", "missing"),
        ];
        let all = |entries: &[Staged]| {
            let written = entries.iter().map(|staged| (staged, Written::Whole));
            super::all(written)
        };
        assert!(all(&entries).is_err());
        assert_eq!(fs::read(at("directory/old")).unwrap(), b"old");
        assert_eq!(fs::read(at("file")).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);

        fs::create_dir(at("new-directory")).unwrap();
        all(&entries[..1]).unwrap();
        assert!(!at("directory/old").exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
