//! The identity of a file, whatever path leads to it: no output replaces an input, and no stream is read twice.

use std::path::Path;

/// The path of standard input.
pub(crate) const STDIN: &str = "-";

/// A file, by device and inode.
#[cfg(unix)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileIdentity(u64, u64);

/// A file, by its path from the root.
#[cfg(not(unix))]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct FileIdentity(std::path::PathBuf);

impl FileIdentity {
    /// The identity of the file at `path`, with links followed; `-` is standard input. `None` if nothing is there.
    pub fn of(path: &Path) -> Option<Self> {
        find(path).map(|(identity, _)| identity)
    }

    /// As `of`, of what can be read only once: pipes, sockets, terminals.
    pub(crate) fn of_stream(path: &Path) -> Option<Self> {
        find(path)
            .filter(|(_, is_stream)| *is_stream)
            .map(|(identity, _)| identity)
    }
}

#[cfg(unix)]
fn find(path: &Path) -> Option<(FileIdentity, bool)> {
    use std::fs::{self, File};
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;

    let metadata = if path.as_os_str() == STDIN {
        let stdin = std::io::stdin().as_fd().try_clone_to_owned().ok()?;
        File::from(stdin).metadata().ok()?
    } else {
        fs::metadata(path).ok()?
    };
    let identity = FileIdentity(metadata.dev(), metadata.ino());
    Some((identity, !metadata.is_file() && !metadata.is_dir()))
}

#[cfg(not(unix))]
fn find(path: &Path) -> Option<(FileIdentity, bool)> {
    let is_named = path.as_os_str() != STDIN;
    let path = is_named.then(|| path.canonicalize().ok()).flatten()?;
    Some((FileIdentity(path), false))
}
