//! Puts files in place together: where one cannot be, those before it are taken back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::report::directory::{Staged, Written, unfinished};

/// What was under a name before.
enum Before {
    Nothing,
    /// It has this name too until all files are in place.
    Kept(PathBuf),
    /// It has no second name, for instance on a file system without hard links, and cannot be brought back.
    Gone,
}

/// Puts each file in place, or removes what has its name where nothing was written.
pub fn all<'a>(directory: &Path, files: impl Iterator<Item = (&'a Staged, Written)>) -> Result<()> {
    let mut done: Vec<(PathBuf, Before)> = Vec::new();
    let mut outcome = Ok(());
    for (staged, written) in files {
        let target = directory.join(&staged.name);
        let before = keep(directory, &staged.name);
        let step = match written {
            Written::Whole => fs::rename(&staged.temporary, &target),
            Written::Nothing => {
                remove_if_there(&target).and_then(|()| fs::remove_file(&staged.temporary))
            }
        };
        outcome = step.map_err(|error| Error::io(&target, error));
        done.push((target, before));
        if outcome.is_err() {
            break;
        }
    }
    for (target, before) in done {
        // There is no way to mend what fails here.
        let _ = match (before, &outcome) {
            (Before::Kept(kept), Ok(())) => fs::remove_file(kept),
            // Where the file was not replaced, both names are its own and the rename does nothing.
            (Before::Kept(kept), Err(_)) => {
                fs::rename(&kept, target).and_then(|()| remove_if_there(&kept))
            }
            (Before::Nothing, Err(_)) => remove_if_there(&target),
            _ => Ok(()),
        };
    }
    outcome
}

/// Gives what is called `name` a second name.
fn keep(directory: &Path, name: &str) -> Before {
    let target = directory.join(name);
    match unfinished::with_new_name(directory, name, |path| fs::hard_link(&target, path)) {
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
