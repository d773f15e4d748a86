//! Puts files and directories in place together: where one cannot be, those before it are taken back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use slotscope_engine::error::{Error, Result};

use crate::output::unfinished;

/// A file, or a directory.
pub(super) struct Staged {
    /// The path that it is to have.
    pub target: PathBuf,
    /// The path that it has until then.
    pub temporary: PathBuf,
}

/// The fate of a file's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// It is to be put in place.
    Whole,
    /// There is nothing to put in it: what an earlier run left under its name is removed.
    Nothing,
}

/// The file that had a name before.
enum Before {
    Nothing,
    /// It has this name until all are in place: a file has it as a second name, a directory in place of its own.
    Kept(PathBuf),
    /// It has no second name, for instance on a file system without hard links, and cannot be brought back.
    Gone,
}

/// Puts each entry in place, or removes what has its name where nothing was written.
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
        // A hidden file or directory that stays costs space and nothing else.
        let _ = match (before, &outcome) {
            (Before::Kept(kept), Ok(())) if kept.is_dir() => fs::remove_dir_all(kept),
            (Before::Kept(kept), Ok(())) => fs::remove_file(kept),
            // Where the file was not replaced, both names are its own and the rename does nothing.
            (Before::Kept(kept), Err(_)) => {
                fs::rename(&kept, target).and_then(|()| remove_if_there(&kept))
            }
            (Before::Nothing, Err(_)) => remove_if_there(target),
            _ => Ok(()),
        };
    }
    outcome
}

/// Gives the file at `target` a second name; a directory, which cannot have two, another one.
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
