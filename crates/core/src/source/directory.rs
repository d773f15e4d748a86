//! A directory is read as every regular file in it that is not hidden, one that describes itself as what it lists; it is not
//! searched deeper.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::name::Name;
use crate::source::{Found, collection, file, manifest};

/// Adds the inputs among the files of a directory that describes itself; false where it does not.
type FindIn = fn(&[PathBuf], &mut Found) -> Result<bool>;

/// Directories that describe themselves: collections, and append-only files in parts.
const DESCRIBED: &[FindIn] = &[collection::find_in, manifest::find_in];

/// Adds the files of a directory.
pub fn find(path: &Path, found: &mut Found) -> Result<bool> {
    let metadata = fs::metadata(path).map_err(|error| Error::io(path, error))?;
    if !metadata.is_dir() {
        return Ok(false);
    }
    let (files, others) = files_in(path)?;
    found.passed_over += others;
    for find_in in DESCRIBED {
        if find_in(&files, found)? {
            return Ok(true);
        }
    }
    for path in files {
        file::find(&path, found)?;
    }
    Ok(true)
}

/// The files in the byte order of their names, and how many other entries there are.
fn files_in(directory: &Path) -> Result<(Vec<PathBuf>, usize)> {
    let failed = |error| Error::io(directory, error);
    let (mut files, mut others) = (Vec::new(), 0);
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        match fs::metadata(entry.path()).is_ok_and(|metadata| metadata.is_file()) {
            true => files.push(entry.path()),
            false => others += 1,
        }
    }
    if files.is_empty() {
        return Err(Error::bad(
            Name::from(directory).to_string(),
            "a directory without files; name a key dump or the directory that holds them (it is not searched deeper)",
        ));
    }
    files.sort_by(|a, b| {
        let [a, b] = [a, b].map(|path| path.as_os_str().as_encoded_bytes());
        a.cmp(b)
    });
    Ok((files, others))
}
