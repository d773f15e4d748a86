//! The identity of a file, independent of its path: no output may replace an input, and no stream is read twice.

use std::path::Path;

/// The path of standard input.
pub const STDIN: &str = "-";

/// A file, as device and inode.
#[cfg(unix)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileIdentity(u64, u64);

/// A file, as an absolute path.
#[cfg(not(unix))]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct FileIdentity(std::path::PathBuf);

impl FileIdentity {
    /// The identity of the file at `path`, following links; `-` is standard input. `None` if nothing exists there.
    pub fn of(path: &Path) -> Option<Self> {
        find(path).map(|(identity, _)| identity)
    }

    /// Like `of`, but only for what can be read once: pipes, sockets, terminals.
    pub fn of_stream(path: &Path) -> Option<Self> {
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
