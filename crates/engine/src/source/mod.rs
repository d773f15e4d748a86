//! Stage 1, BYTES: what an input is, how the user names one, and how its bytes get into blocks.
//!
//! A new kind of source is one file with an `impl Source` and one line in `SOURCES`.

#[doc(hidden)]
pub mod block;
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
#[doc(hidden)]
pub mod line_number;
mod listed;
mod manifest;
#[doc(hidden)]
pub mod memory;
#[doc(hidden)]
pub mod pipe;
#[doc(hidden)]
pub mod remote;
pub(crate) mod room;
#[doc(hidden)]
pub mod small_file;
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

use crate::error::{Error, Result};
use crate::file_identity::FileIdentity;
use crate::name::Name;
use crate::source::collection::Collection;
use crate::source::identity::ObjectIdentity;
use crate::source::storage_options::StorageOptions;

/// The longest line that is read, in bytes; a Redis key may be longer, but not in a dump that is meant to be one.
pub const MAX_LINE: usize = 64 << 20;

/// An input that was found and is not open yet.
///
/// It is read in one of two ways: at any offset by several threads and as often as needed (`open_at`), or once from
/// front to back (`open`).
pub trait Source: Debug + Send + Sync {
    /// As the user named it: a path, `-` for standard input, a URL.
    fn path(&self) -> &Path;

    /// Length in bytes where the source can be read at any offset, else `None`.
    fn size_bytes(&self) -> Option<u64> {
        None
    }

    /// Bytes of it as it is stored, compressed or not, where that is known.
    fn stored_bytes(&self) -> Option<u64> {
        let of_object = self.object().map(|object| object.size_bytes);
        of_object.or_else(|| self.size_bytes())
    }

    /// A value that changes with the bytes, such as the time when a file was written. `None` if nothing shows a change, and for
    /// objects, whose tag shows it.
    fn version(&self) -> Option<String> {
        None
    }

    /// Whether it can be opened again and gives the same bytes then.
    fn is_rereadable(&self) -> bool {
        self.size_bytes().is_some()
    }

    /// The version of an object of a store; `None` for files.
    fn object(&self) -> Option<&ObjectIdentity> {
        None
    }

    /// When it was last written, in milliseconds since 1970; `None` where that is not known.
    fn written_ms(&self) -> Option<u64> {
        self.object().and_then(|object| object.modified_ms)
    }

    /// The place that names it.
    fn listed(&self) -> Listed {
        Listed::User
    }

    /// Why nothing more can be read of it, however often it is tried; the part read up to there is not part of a report.
    fn failure(&self) -> Option<Error> {
        None
    }

    /// Opens it to be read at any offset; `None` where that is not possible. The scan opens a source again at its end
    /// to see that nothing changed.
    ///
    /// # Errors
    /// It is gone, or has changed.
    fn open_at(&self) -> Result<Option<Box<dyn ReadAt>>> {
        Ok(None)
    }

    /// Opens it to be read from front to back, as it is: compressed forms are recognised by the caller.
    ///
    /// # Errors
    /// What the system says.
    fn open(&self) -> io::Result<Box<dyn Read + Send>>;
}

/// The place that names a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Listed {
    /// The user.
    #[default]
    User,
    /// A directory that it is in: others are read where it cannot be.
    Directory,
    /// The manifest of an append-only file: it holds commands, or the data before them.
    Manifest,
}

/// A source that others hold too.
impl Source for Arc<dyn Source> {
    fn path(&self) -> &Path {
        self.as_ref().path()
    }

    fn size_bytes(&self) -> Option<u64> {
        self.as_ref().size_bytes()
    }

    fn stored_bytes(&self) -> Option<u64> {
        self.as_ref().stored_bytes()
    }

    fn version(&self) -> Option<String> {
        self.as_ref().version()
    }

    fn is_rereadable(&self) -> bool {
        self.as_ref().is_rereadable()
    }

    fn object(&self) -> Option<&ObjectIdentity> {
        self.as_ref().object()
    }

    fn written_ms(&self) -> Option<u64> {
        self.as_ref().written_ms()
    }

    fn listed(&self) -> Listed {
        self.as_ref().listed()
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

/// Bytes that several threads read at any offset; called once a chunk.
pub trait ReadAt: Send + Sync {
    /// Fills `into` with the bytes from `offset` on.
    ///
    /// # Errors
    /// What the system says, or `UnexpectedEof` where there are fewer.
    fn read_exact_at(&self, into: &mut [u8], offset: u64) -> io::Result<()>;
}

impl<T: ReadAt + ?Sized> ReadAt for Arc<T> {
    fn read_exact_at(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        (**self).read_exact_at(into, offset)
    }
}

/// The sources that the user's arguments name.
#[derive(Debug, Default)]
pub struct Found {
    /// The sources, in the order of the arguments.
    pub sources: Vec<Box<dyn Source>>,
    /// The collections among them: they list the nodes, and the missing parts.
    pub collections: Vec<Collection>,
    /// Listings of nodes that are beside dumps in a directory.
    pub listings: Vec<PathBuf>,
    /// Directories in directories, which are passed over.
    pub passed_over: usize,
}

/// Adds the sources that an argument names; false where it is not of this kind.
pub type Find = fn(&Path, &StorageOptions, &mut Found) -> Result<bool>;

/// Every kind of source of this crate that an argument can name; the first that recognises it is taken.
static SOURCES: &[Find] = &[
    |path, _, found| pipe::find_stdin(path, found),
    |path, _, found| remote::find(path, found),
    |path, _, found| directory::find(path, found),
    |path, _, found| collection::find(path, found),
    |path, _, found| manifest::find(path, found),
    |path, _, found| file::find(path, found),
];

/// The sources that `paths` name: files as they are, directories as every file in them, and `-` as standard input.
///
/// # Errors
/// A path that does not exist or may not be read, and a directory without files.
pub fn find(paths: &[impl AsRef<Path>]) -> Result<Found> {
    find_among(&[], paths, &StorageOptions::default())
}

/// As `find`, with kinds of sources of other crates, which are asked first, and options for places on the network.
///
/// # Errors
/// As `find`; a place on the network that cannot be read.
pub fn find_among(
    more: &[Find],
    paths: &[impl AsRef<Path>],
    options: &StorageOptions,
) -> Result<Found> {
    let mut found = Found::default();
    for path in paths {
        let path = path.as_ref();
        let mut is_found = false;
        for find in more.iter().chain(SOURCES) {
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

/// Refuses a stream that is named twice: two readers would share its bytes between them.
fn check_streams(found: &Found) -> Result<()> {
    let mut known: HashMap<FileIdentity, &Path> = HashMap::new();
    let streams = found
        .sources
        .iter()
        .filter(|source| source.size_bytes().is_none())
        .map(|source| source.path());
    for (path, identity) in streams.filter_map(|path| Some((path, FileIdentity::of_stream(path)?)))
    {
        if let Some(other) = known.insert(identity, path) {
            let what = format!(
                "the same stream as \"{}\"; it can be read only once, so name it once",
                Name::from(other)
            );
            return Err(Error::bad(Name::from(path).to_string(), what));
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
