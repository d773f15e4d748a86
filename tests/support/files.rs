//! Files of the repository: read, listed, and compared with what is made now.

use std::fs;
use std::path::{Path, PathBuf};

use crate::run::root;

/// The text of a file, by its path from the root.
pub fn text_of(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The files with this extension below a folder, sorted; none if there is no such folder.
pub fn below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(below(&path, extension));
        } else if path.extension().is_some_and(|it| it == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Compares a committed file with what is made now, or commits that if BLESS is set. An unchanged file is not
/// rewritten, so that a rerun changes nothing.
pub fn committed(name: &str, made: &[u8], same: impl Fn(&[u8], &[u8]) -> bool) {
    let path = root().join(name);
    let old = fs::read(&path);
    let is_same = old.as_ref().is_ok_and(|old| same(old, made));
    if !is_same && std::env::var_os("BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        return fs::write(path, made).unwrap();
    }
    let found = old.map(drop);
    assert!(
        is_same,
        "{name} is not what the program makes now ({found:?}); BLESS=1 rewrites it"
    );
}

pub fn same_bytes(old: &[u8], new: &[u8]) -> bool {
    old == new
}
