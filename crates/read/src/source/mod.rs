//! Inputs: how users name them, and how their bytes get into blocks.
//!
//! A new kind of source is one file with an `impl Source`, and one line in `SOURCES`.

#[doc(hidden)]
pub mod boundary;
#[doc(hidden)]
pub mod chunk;
#[doc(hidden)]
pub mod collection;
#[doc(hidden)]
pub mod counted;
#[doc(hidden)]
pub mod decompress;
mod directory;
#[doc(hidden)]
pub mod file;
#[doc(hidden)]
pub mod forward;
#[doc(hidden)]
pub mod identity;
#[doc(hidden)]
pub mod line_number;
#[doc(hidden)]
pub mod listed;
mod manifest;
#[doc(hidden)]
pub mod memory;
#[doc(hidden)]
pub mod pipe;
#[doc(hidden)]
pub mod remote;
pub mod room;
#[doc(hidden)]
pub mod stem;
#[doc(hidden)]
pub mod storage_options;
#[doc(hidden)]
pub mod stream;

use std::collections::HashMap;
use std::fmt::Debug;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use slotscope_base::command::times::CommandTimes;
use slotscope_base::error::{Error, Result};
use slotscope_base::file_identity::FileIdentity;
use slotscope_base::name::Name;

use crate::source::collection::Collection;
use crate::source::identity::ObjectIdentity;
use crate::source::storage_options::StorageOptions;

/// Maximum line length in bytes; a Redis key may be longer, but not in a legitimate dump.
pub const MAX_LINE: usize = 64 << 20;

/// An input that was found but not opened.
///
/// It is read in one of two ways: with random access by several threads, any number of times (`open_at`), or
/// sequentially once (`open`).
pub trait Source: Debug + Send + Sync {
    /// The facts known before it is opened.
    fn facts(&self) -> &SourceFacts;

    /// A permanent read error, which retrying does not help; the part read so far does not count.
    fn failure(&self) -> Option<Error> {
        None
    }

    /// Opens it for random access; `None` if not possible. The scan reopens a source at its end to verify that it is
    /// unchanged.
    ///
    /// # Errors
    /// The source is gone or has changed.
    fn open_at(&self) -> Result<Option<Box<dyn ReadAt>>> {
        Ok(None)
    }

    /// Opens it for sequential reading of the stored bytes; decompression is up to the caller.
    ///
    /// # Errors
    /// An I/O error.
    fn open(&self) -> io::Result<Box<dyn Read + Send>>;
}

/// Facts about a source that are known before it is opened.
#[derive(Debug, Clone, Default)]
pub struct SourceFacts {
    /// As named by the user: a path, `-` for standard input, a URL.
    pub path: PathBuf,
    /// Length in bytes for random-access sources, else `None`.
    pub size_bytes: Option<u64>,
    /// Stored bytes, compressed or not, if known.
    pub stored_bytes: Option<u64>,
    /// A value that changes with the bytes, such as a modification time. `None` if nothing shows a change, and for
    /// objects, which have an entity tag.
    pub version: Option<String>,
    /// Whether it can be reopened and yields the same bytes.
    pub is_rereadable: bool,
    /// The version of a store object; `None` for files.
    pub object: Option<ObjectIdentity>,
    /// When it was last modified, in milliseconds since 1970; `None` if unknown.
    pub written_ms: Option<u64>,
    /// The times that the commands of a capture took on its server; `None` where they are not known.
    pub command_times: Option<CommandTimes>,
    /// The place that names it.
    pub listed: Listed,
}

impl SourceFacts {
    /// The facts of a source with random access if its size is known, and of one that is read once if not.
    pub fn of(path: impl Into<PathBuf>, size_bytes: Option<u64>) -> Self {
        SourceFacts {
            path: path.into(),
            size_bytes,
            stored_bytes: size_bytes,
            is_rereadable: size_bytes.is_some(),
            ..SourceFacts::default()
        }
    }
}

impl dyn Source + '_ {
    /// See `SourceFacts`.
    pub fn path(&self) -> &Path {
        &self.facts().path
    }

    /// See `SourceFacts`.
    pub fn size_bytes(&self) -> Option<u64> {
        self.facts().size_bytes
    }

    /// See `SourceFacts`.
    pub fn is_rereadable(&self) -> bool {
        self.facts().is_rereadable
    }
}

/// Where a source was named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Listed {
    /// By the user.
    #[default]
    User,
    /// In a directory: if it cannot be read, the others still are.
    Directory,
    /// In the manifest of an append-only file: it holds commands, or the data before them.
    Manifest,
}

/// A shared source.
impl Source for Arc<dyn Source> {
    fn facts(&self) -> &SourceFacts {
        self.as_ref().facts()
    }

    fn failure(&self) -> Option<Error> {
        self.as_ref().failure()
    }

    fn open_at(&self) -> Result<Option<Box<dyn ReadAt>>> {
        self.as_ref().open_at()
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        self.as_ref().open()
    }
}

/// Bytes with random access from several threads; called once per chunk.
pub trait ReadAt: Send + Sync {
    /// Fills `into` with the bytes at `offset`.
    ///
    /// # Errors
    /// An I/O error, or `UnexpectedEof` if there are fewer bytes.
    fn read_exact_at(&self, into: &mut [u8], offset: u64) -> io::Result<()>;
}

impl<T: ReadAt + ?Sized> ReadAt for Arc<T> {
    fn read_exact_at(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        (**self).read_exact_at(into, offset)
    }
}

/// The sources named by the user's arguments.
#[derive(Debug, Default)]
pub struct Found {
    /// The sources in argument order.
    pub sources: Vec<Box<dyn Source>>,
    /// The collections among them, which list nodes and missing parts.
    pub collections: Vec<Collection>,
    /// Node listings found next to dumps in a directory.
    pub listings: Vec<PathBuf>,
    /// Number of nested directories skipped.
    pub passed_over: usize,
    /// Files that servers leave next to their dumps, and that add nothing to them: logs, dumps of replicas.
    pub left_out: Vec<PathBuf>,
}

/// Adds the sources named by an argument; false if it is of another kind.
pub type Find = fn(&Path, &StorageOptions, &mut Found) -> Result<bool>;

/// Every kind of source in this crate; the first that recognises an argument wins.
static SOURCES: &[Find] = &[
    |path, _, found| pipe::find_stdin(path, found),
    |path, _, found| remote::find(path, found),
    |path, _, found| directory::find(path, found),
    |path, _, found| collection::find(path, found),
    |path, _, found| manifest::find(path, found),
    |path, _, found| file::find(path, found),
];

/// The sources named by `paths`: files, directories (every file in them), and `-` for standard input.
///
/// # Errors
/// A path does not exist or is not readable, or a directory has no files.
pub fn find(paths: &[impl AsRef<Path>]) -> Result<Found> {
    find_among(&[], paths, &StorageOptions::default())
}

/// Like `find`, with source kinds of other crates, which take precedence, and options for network locations.
///
/// # Errors
/// As for `find`, or a network location cannot be read.
pub fn find_among(
    finders: &[Find],
    paths: &[impl AsRef<Path>],
    options: &StorageOptions,
) -> Result<Found> {
    let mut found = Found::default();
    for path in paths {
        let path = path.as_ref();
        let mut is_found = false;
        for find in finders.iter().chain(SOURCES) {
            is_found = is_found || find(path, options, &mut found)?;
        }
        if !is_found {
            let unknown = io::Error::new(io::ErrorKind::InvalidInput, "no kind of source");
            return Err(Error::io(path, unknown));
        }
    }
    check_streams(&found)?;
    Ok(found)
}

/// Refuses a stream named twice: two readers would split its bytes between them.
fn check_streams(found: &Found) -> Result<()> {
    let mut paths: HashMap<FileIdentity, &Path> = HashMap::new();
    let streams = found
        .sources
        .iter()
        .filter(|source| source.size_bytes().is_none())
        .map(|source| source.path());
    for (path, identity) in streams.filter_map(|path| Some((path, FileIdentity::of_stream(path)?)))
    {
        if let Some(first) = paths.insert(identity, path) {
            let reason = format!(
                "the same stream as \"{}\"; it can be read only once, so name it once",
                Name::from(first)
            );
            return Err(Error::bad_file(path, reason));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_directory_is_its_visible_files_in_byte_order() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b.keys", "a.keys", "B.keys", ".hidden"] {
            fs::write(dir.path().join(name), "k\n").unwrap();
        }
        fs::create_dir(dir.path().join("deeper")).unwrap();
        let found = find(&[dir.path()]).unwrap();
        assert_eq!(found.passed_over, 1);
        let names: Vec<_> = found
            .sources
            .iter()
            .map(|source| source.path().file_name().unwrap().to_str().unwrap())
            .collect();
        assert_eq!(names, ["B.keys", "a.keys", "b.keys"]);
    }

    #[test]
    fn a_directory_without_files_is_an_error_with_a_way_out() {
        let dir = tempfile::tempdir().unwrap();
        let message = find(&[dir.path()]).unwrap_err().to_string();
        assert!(
            message.contains("a directory without files; name a key dump"),
            "{message}"
        );
    }

    #[test]
    fn standard_input_can_be_named_once() {
        let found = find(&["-"]).unwrap();
        assert_eq!(found.sources.len(), 1);
        assert!(found.sources[0].size_bytes().is_none());
        assert!(
            find(&["-", "-"])
                .unwrap_err()
                .to_string()
                .contains("named twice")
        );
    }
}
