//! A directory stands for every regular, non-hidden file in it, or if it describes itself, for the files listed. A
//! directory that contains only directories is a tree of nodes, each with its dump; nothing is searched deeper.

use std::borrow::Cow;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use slotscope_base::error::{Error, Result};
use slotscope_base::text::grouped;

use slotscope_base::small_file;

use crate::source::{Found, Listed, collection, file, manifest};

/// Adds the inputs of a self-describing directory; false if it does not describe itself.
type FindIn = fn(&[PathBuf], &mut Found) -> Result<bool>;

/// Self-describing directories: collections, and multi-part append-only files.
const DESCRIBED: &[FindIn] = &[collection::find_in, manifest::find_in];

/// File names of listings that somebody saved, besides the `nodes.conf` and `nodes-*.conf` of servers.
const LISTINGS: [&str; 2] = ["cluster.nodes", "cluster-nodes.txt"];

/// Maximum size of a listing whose own node is looked for.
const MAX_LISTING: u64 = 1 << 20;

/// Maximum files per directory: each takes 2 KiB of memory and is named in the report. The same limit as for store
/// listings.
const MAX_FILES: usize = 100_000;

/// Adds the files of a directory.
pub(super) fn find(path: &Path, found: &mut Found) -> Result<bool> {
    let metadata = fs::metadata(path).map_err(|error| Error::io(path, error))?;
    if !metadata.is_dir() {
        return Ok(false);
    }
    let (files, others) = entries_in(path, MAX_FILES)?;
    if files.is_empty() {
        return find_in_tree(path, others, found);
    }
    found.passed_over += others.len();
    find_files(files, false, found)
}

/// Adds the dumps in subdirectories: the RDB files of each, or all its files if it has none.
fn find_in_tree(path: &Path, directories: Vec<PathBuf>, found: &mut Found) -> Result<bool> {
    let before = found.sources.len();
    for directory in directories.iter().filter(|path| path.is_dir()) {
        let (mut files, others) = entries_in(directory, MAX_FILES)?;
        found.passed_over += others.len();
        let is_read = |path: &PathBuf| has_extension(path, "rdb") || is_listing(path);
        if files.iter().any(|path| has_extension(path, "rdb")) {
            let count = files.len();
            files.retain(is_read);
            found.passed_over += count - files.len();
        }
        find_files(files, true, found)?;
    }
    if found.sources.len() == before {
        return Err(Error::bad_file(
            path,
            "a directory without files; name a key dump, the directory that holds them, or one of directories with a dump each",
        ));
    }
    Ok(true)
}

/// Adds the files of a directory, which may contain a node listing besides dumps.
fn find_files(files: Vec<PathBuf>, is_of_tree: bool, found: &mut Found) -> Result<bool> {
    for find_in in DESCRIBED {
        if find_in(&files, found)? {
            return Ok(true);
        }
    }
    let (listings, files): (Vec<_>, Vec<_>) = files.into_iter().partition(|path| is_listing(path));
    let (left_out, files) = left_out(files, &listings, is_of_tree);
    for path in files {
        file::find_listed(&path, Listed::Directory, None, found)?;
    }
    found.listings.extend(listings);
    found.left_out.extend(left_out);
    Ok(true)
}

fn file_name(path: &Path) -> Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|own| own == extension)
}

/// Splits off the files that repeat others, or hold no keys: a replica's dump, by its own listing; below a dump, a server's
/// log and the file that it was writing. Where all dumps are those of replicas, and no other directory is read, they are read.
fn left_out(
    files: Vec<PathBuf>,
    listings: &[PathBuf],
    is_of_tree: bool,
) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let is_dump = |path: &Path| {
        (has_extension(path, "rdb") || has_extension(path, "aof"))
            && !is_unfinished(&file_name(path))
    };
    let of_replicas: Vec<PathBuf> = listings
        .iter()
        .filter_map(|listing| {
            let node = replica(listing)?;
            let dumps = files.iter().filter(|path| is_dump(path));
            let mut own = dumps.filter(|path| is_of(&file_name(path), &node));
            // Where several have its name, it is not known whose they are.
            own.next().filter(|_| own.next().is_none()).cloned()
        })
        .collect();
    let dumps = files.iter().filter(|path| is_dump(path)).count();
    let has_others = is_of_tree || dumps > of_replicas.len();
    let is_left_out = |path: &PathBuf| {
        let is_beside = dumps > 0 && (is_unfinished(&file_name(path)) || is_log(path));
        is_beside || has_others && of_replicas.contains(path)
    };
    files.into_iter().partition(is_left_out)
}

/// A file that a server renames when it is complete: `temp-1234.rdb`, `temp-rewriteaof-1234.aof`.
fn is_unfinished(name: &str) -> bool {
    let number = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    let rdb = name
        .strip_prefix("temp-")
        .and_then(|name| name.strip_suffix(".rdb"));
    let aof = name
        .strip_prefix("temp-rewriteaof-")
        .and_then(|name| name.strip_suffix(".aof"));
    rdb.or(aof.map(|name| name.trim_start_matches("bg-")))
        .is_some_and(number)
}

/// Whether a file starts as the log of a server: `1234:M 20 Nov 2026 ...`, or with its logo.
fn is_log(path: &Path) -> bool {
    let mut start = [0; 64];
    let read = |mut file: fs::File| file.read(&mut start);
    if !has_extension(path, "log") || fs::File::open(path).and_then(read).is_err() {
        return false;
    }
    let start = start.trim_ascii_start();
    let digits = start
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    match &start[digits..] {
        [b':', role, b' ', ..] => digits > 0 && role.is_ascii_uppercase(),
        rest => rest.starts_with(b"_._"),
    }
}

/// The part of a listing's name that the files of its node share: `7001` of `nodes-7001.conf`, nothing of `nodes.conf`.
fn node_of(name: &str) -> Option<&str> {
    match name {
        "nodes.conf" => Some(""),
        name => name.strip_prefix("nodes-")?.strip_suffix(".conf"),
    }
}

fn is_listing(path: &Path) -> bool {
    let name = file_name(path);
    LISTINGS.contains(&&*name) || node_of(&name).is_some()
}

/// The replica whose own listing this is, by what its files share; `None` if it is a primary's, or a reply that somebody
/// saved.
fn replica(listing: &Path) -> Option<String> {
    let name = file_name(listing);
    let node = node_of(&name)?;
    let text = small_file::read(listing, MAX_LISTING, "too long").ok()?;
    let text = String::from_utf8_lossy(&text);
    let mut flags = text
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2));
    let own = flags.find(|flags| flags.split(',').any(|flag| flag == "myself"))?;
    let is_replica = own
        .split(',')
        .any(|flag| flag == "slave" || flag == "replica");
    is_replica.then(|| node.to_owned())
}

/// Whether a file is named after a node, as `dump-7001.rdb`; the dump of a directory is that of the node of its `nodes.conf`.
fn is_of(name: &str, node: &str) -> bool {
    let mut words = name.split(|letter: char| !letter.is_alphanumeric());
    node.is_empty() || words.any(|word| word == node)
}

/// The files in byte order of their names, up to this many, and the other entries.
fn entries_in(directory: &Path, most: usize) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let failed = |error| Error::io(directory, error);
    let (mut files, mut others) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        // A dangling link may have been a node's dump.
        let metadata =
            fs::metadata(entry.path()).map_err(|error| Error::io(entry.path(), error))?;
        if metadata.is_file() {
            files.push(entry.path())
        } else if metadata.is_dir() {
            others.push(entry.path())
        } else {
            let reason = "neither a file nor a directory, and may give a dump; move it, or name the files that are to be read";
            return Err(Error::bad_file(entry.path(), reason));
        }
        if files.len() + others.len() > most {
            let reason = format!(
                "a directory of more than {} files; join them: find DIRECTORY -type f -exec cat {{}} + | slotscope analyze -",
                grouped(most as u64)
            );
            return Err(Error::bad_file(directory, reason));
        }
    }
    for paths in [&mut files, &mut others] {
        paths.sort_by(|a, b| {
            let [a, b] = [a, b].map(|path| path.as_os_str().as_encoded_bytes());
            a.cmp(b)
        });
    }
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
        let (files, _) = entries_in(directory.path(), 3).unwrap();
        assert_eq!(
            files,
            ["a", "b", "c"].map(|name| directory.path().join(name))
        );
        let error = entries_in(directory.path(), 2).unwrap_err().to_string();
        assert!(error.contains("more than 2 files; join them"), "{error}");
    }
}
