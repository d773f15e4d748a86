//! The directory of a collection: collect.json lists its key files; if only counts by slot were collected, these are
//! the input.

pub mod load;
pub mod manifest;
pub mod servers;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;

use slotscope_base::small_file;

use crate::source::collection::manifest::{FILE, Level, Manifest, SCHEMA, SLOT_STATS_FILE};
use crate::source::{Found, Listed, file, listed};

/// Maximum size of collect.json; a thousand nodes take less than one MiB.
const MAX_BYTES: u64 = 16 << 20;

/// A directory written by `collect`.
#[derive(Debug, Clone)]
pub struct Collection {
    /// The directory.
    pub directory: PathBuf,
    /// Its collect.json.
    pub manifest: Manifest,
}

impl Collection {
    /// One of its files.
    ///
    /// # Errors
    /// The file is a link out of the directory.
    pub fn file(&self, name: &str) -> Result<PathBuf> {
        listed::in_directory(&self.directory, name)
    }
}

/// Adds the files of the collection in a directory; false if there is none.
///
/// # Errors
/// The manifest cannot be read, or one of its files is missing.
pub(crate) fn find_in(files: &[PathBuf], found: &mut Found) -> Result<bool> {
    let mut manifests = files.iter().filter(|path| is_manifest(path));
    manifests.next().map_or(Ok(false), |path| find(path, found))
}

/// Adds the files listed in a collect.json.
///
/// # Errors
/// As for `find_in`.
pub(crate) fn find(path: &Path, found: &mut Found) -> Result<bool> {
    if !is_manifest(path) || !path.is_file() {
        return Ok(false);
    }
    let directory = path.parent().unwrap_or(Path::new(""));
    let manifest = read(&listed::in_directory(directory, FILE)?)?;
    for name in inputs(&manifest, path)? {
        let path = listed::in_directory(directory, name)?;
        let load = manifest.load.as_ref();
        let times = load.and_then(|load| load.times_of(name));
        file::find_listed(&path, Listed::User, times, found)?;
    }
    found.collections.push(Collection {
        directory: directory.to_path_buf(),
        manifest,
    });
    Ok(true)
}

fn is_manifest(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == FILE)
}

/// The member that identifies a collection.
#[derive(Deserialize)]
struct Marked<'a> {
    #[serde(borrow)]
    schema: Option<Cow<'a, str>>,
}

fn read(path: &Path) -> Result<Manifest> {
    let bad = |reason: &str| Error::bad_file(path, reason);
    let bytes = small_file::read(path, MAX_BYTES, "is longer than any that slotscope writes")?;
    // Parse only the mark first: parsing the whole file takes many times its size.
    let marked: serde_json::Result<Marked<'_>> = serde_json::from_slice(&bytes);
    match marked.map(|marked| marked.schema) {
        Ok(Some(schema)) if schema == SCHEMA => {}
        Ok(Some(schema)) if schema.starts_with("slotscope.collect/") => {
            return Err(bad(
                "is of another version of slotscope; collect again, or use that version",
            ));
        }
        Err(error) if !error.is_data() => {
            return Err(bad(
                "is no JSON, so not of slotscope collect; collect again",
            ));
        }
        _ => {
            return Err(bad(
                "is not of slotscope collect; name the dumps in place of their directory",
            ));
        }
    }
    let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|error| {
        let message = format!("a part is missing or damaged ({error}); collect again");
        bad(&Name::from(message.as_str()).to_string())
    })?;
    match manifest.odd_number() {
        Some(odd) => Err(bad(&format!("is damaged: {odd}; collect again"))),
        None => Ok(manifest),
    }
}

/// The names of the files to read, deduplicated.
fn inputs<'m>(manifest: &'m Manifest, path: &Path) -> Result<BTreeSet<&'m str>> {
    let bad = |reason: &str| Error::bad_file(path, reason);
    if manifest.level == Level::Slots {
        return Ok(BTreeSet::from([SLOT_STATS_FILE]));
    }
    let nodes = manifest.nodes.iter();
    let keys = nodes.filter_map(|node| node.file.as_deref());
    let monitor = manifest.load.iter().flat_map(|load| &load.monitor);
    let monitored = monitor.flat_map(|monitor| &monitor.nodes);
    let captures = monitored.map(|node| node.file.as_str());
    let files: BTreeSet<&str> = keys.chain(captures).collect();
    let leaves = |name: &&str| name.starts_with('.') || name.contains(['/', '\\']);
    match files.iter().find(|name| leaves(name)) {
        Some(_) => Err(bad("lists a file outside its directory; collect again")),
        None if files.is_empty() => Err(bad("lists no file: no node could be read; collect again")),
        None => Ok(files),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::collection::manifest::example;

    fn read_all(manifest: &str) -> Result<Found> {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text);
        for name in ["a.csv.zst", "b.csv.zst", "cluster.nodes", "slot-stats.json"] {
            write(name, "x\n").unwrap();
        }
        write(FILE, manifest).unwrap();
        crate::source::find(&[directory.path()])
    }

    fn names(found: &Found) -> Vec<String> {
        let names = found.sources.iter().map(|source| source.path().file_name());
        names
            .map(|name| name.unwrap().to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn a_collection_is_the_files_that_it_lists_each_once() {
        let mut manifest = example(&["b.csv.zst", "a.csv.zst", "b.csv.zst"]);
        let json = serde_json::to_string(&manifest).unwrap();
        let found = read_all(&json).unwrap();
        assert_eq!(names(&found), ["a.csv.zst", "b.csv.zst"]);
        assert_eq!(found.collections[0].manifest, manifest);
        manifest.level = Level::Slots;
        let json = serde_json::to_string(&manifest).unwrap();
        assert_eq!(names(&read_all(&json).unwrap()), ["slot-stats.json"]);
    }

    #[test]
    fn numbers_that_no_collection_has_are_refused() {
        let whole = serde_json::to_value(example(&["a.csv.zst"])).unwrap();
        assert!(read_all(&whole.to_string()).is_ok());
        for percent in [-5.0, 0.0, 100.5, 1e308] {
            let mut json = whole.clone();
            json["settings"]["sample_percent"] = percent.into();
            let error = read_all(&json.to_string()).unwrap_err().to_string();
            assert!(error.contains("sample_percent is"), "{error}");
        }
        for name in ["slots_moved", "slots_missing", "slots_open"] {
            for range in [[5, 2], [16_384, 16_384], [0, 65_535]] {
                let mut json = whole.clone();
                json[name] = vec![range].into();
                let error = read_all(&json.to_string()).unwrap_err().to_string();
                let said = format!("{name} has [{}, {}]", range[0], range[1]);
                assert!(error.contains(&said), "{error}");
            }
        }
    }

    #[test]
    fn what_is_no_collection_is_refused_with_the_way_out() {
        let json = |files: &[&str]| serde_json::to_string(&example(files)).unwrap();
        let newer = json(&["a.csv.zst"]).replace("collect/1", "collect/2");
        let torn = json(&["a.csv.zst"]).replace("\"nodes\"", "\"n\\u001b\"");
        for (manifest, what) in [
            ("{", "is no JSON"),
            ("[]", "is not of slotscope collect"),
            (&newer, "another version"),
            (&torn, "missing or damaged"),
            (&json(&["../a.csv.zst"]), "outside its directory"),
            (&json(&[]), "no node could be read"),
            (&json(&["c.csv.zst"]), "no such file"),
        ] {
            let error = read_all(manifest).unwrap_err().to_string();
            assert!(error.contains(what) && !error.contains('\x1b'), "{error}");
        }
    }
}
