//! Puts files and directories in place together: where one cannot be, those before it are taken back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::output::directory::Written;
use crate::output::staging::Staged;
use crate::output::unfinished;

/// What was under a name before.
enum Before {
    Nothing,
    /// It has this name until all are in place: a file has it as a second name, a directory in place of its own.
    Kept(PathBuf),
    /// It has no second name, for instance on a file system without hard links, and cannot be brought back.
    Gone,
}

/// Puts each entry in place, or removes what has its name where nothing was written.
pub fn all<'a>(entries: impl Iterator<Item = (&'a Staged, Written)>) -> Result<()> {
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

/// Gives what is at `target` a second name; a directory, which cannot have two, another one.
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
