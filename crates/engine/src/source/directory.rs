//! A directory is read as every regular file in it that is not hidden, one that describes itself as what it lists; it is not
//! searched deeper.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::name::Name;
use crate::source::{Found, collection, file, manifest};
use crate::text::grouped;

/// Adds the inputs among the files of a directory that describes itself; false where it does not.
type FindIn = fn(&[PathBuf], &mut Found) -> Result<bool>;

/// Directories that describe themselves: collections, and append-only files in parts.
const DESCRIBED: &[FindIn] = &[collection::find_in, manifest::find_in];

/// Files of a directory: each takes 2 KiB of memory, and the report names it. As many as a listing of a store has.
const MAX_FILES: usize = 100_000;

/// Adds the files of a directory.
pub(super) fn find(path: &Path, found: &mut Found) -> Result<bool> {
    let metadata = fs::metadata(path).map_err(|error| Error::io(path, error))?;
    if !metadata.is_dir() {
        return Ok(false);
    }
    let (files, others) = files_in(path, MAX_FILES)?;
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

/// The files in the byte order of their names, at most this many, and how many other entries there are.
fn files_in(directory: &Path, most: usize) -> Result<(Vec<PathBuf>, usize)> {
    let failed = |error| Error::io(directory, error);
    let bad = |what: &str| Error::bad(Name::from(directory).to_string(), what);
    let (mut files, mut others) = (Vec::new(), 0);
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if fs::metadata(entry.path()).is_ok_and(|metadata| metadata.is_file()) {
            files.push(entry.path())
        } else {
            others += 1
        }
        if files.len() > most {
            let what = format!(
                "a directory of more than {} files; join them: find DIRECTORY -type f -exec cat {{}} + | slotscope analyze -",
                grouped(most as u64)
            );
            return Err(bad(&what));
        }
    }
    if files.is_empty() {
        return Err(bad(
            "a directory without files; name a key dump or the directory that holds them (it is not searched deeper)",
        ));
    }
    files.sort_by(|a, b| {
        let [a, b] = [a, b].map(|path| path.as_os_str().as_encoded_bytes());
        a.cmp(b)
    });
    Ok((files, others))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_too_many_files_is_refused_before_they_are_all_listed() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["b", "a", "c"] {
            fs::write(directory.path().join(name), "x").unwrap();
        }
        let (files, _) = files_in(directory.path(), 3).unwrap();
        assert_eq!(
            files,
            ["a", "b", "c"].map(|name| directory.path().join(name))
        );
        let error = files_in(directory.path(), 2).unwrap_err().to_string();
        assert!(error.contains("more than 2 files; join them"), "{error}");
    }
}
