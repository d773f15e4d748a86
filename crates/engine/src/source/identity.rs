//! Which file a path leads to, whatever it is called: no output replaces what is read, and no stream is read twice.

use std::path::Path;

use crate::source::pipe::STDIN;

/// A file, by device and inode.
#[cfg(unix)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity(u64, u64);

/// A file, by its path from the root.
#[cfg(not(unix))]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Identity(std::path::PathBuf);

impl Identity {
    /// What is at `path`, behind links; `-` is standard input. `None` where there is nothing.
    pub fn of(path: &Path) -> Option<Self> {
        find(path).map(|(identity, _)| identity)
    }

    /// As `of`, of what can be read only once: pipes, sockets, terminals.
    pub fn of_stream(path: &Path) -> Option<Self> {
        find(path)
            .filter(|(_, is_stream)| *is_stream)
            .map(|(identity, _)| identity)
    }
}

#[cfg(unix)]
fn find(path: &Path) -> Option<(Identity, bool)> {
    use std::fs::{self, File};
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;

    let metadata = match path.as_os_str() == STDIN {
        true => {
            let stdin = std::io::stdin().as_fd().try_clone_to_owned().ok()?;
            File::from(stdin).metadata().ok()?
        }
        false => fs::metadata(path).ok()?,
    };
    let identity = Identity(metadata.dev(), metadata.ino());
    Some((identity, !metadata.is_file() && !metadata.is_dir()))
}

#[cfg(not(unix))]
fn find(path: &Path) -> Option<(Identity, bool)> {
    let is_named = path.as_os_str() != STDIN;
    let path = is_named.then(|| path.canonicalize().ok()).flatten()?;
    Some((Identity(path), false))
}

/// Which version of an object of a store is read: each request asks for this one, so that an object that is replaced
/// meanwhile is an error.
#[derive(Debug, Clone, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct ObjectIdentity {
    /// Its length.
    pub size_bytes: u64,
    /// Its entity tag, as the server spells it, with quotes.
    pub etag: Option<String>,
    /// When it was last written, in milliseconds since 1970.
    pub modified_ms: Option<u64>,
    /// Host and port of the server that sent it, where a redirect led to another than was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
}

/// The same version, whichever of its servers sent it.
impl PartialEq for ObjectIdentity {
    fn eq(&self, other: &Self) -> bool {
        let version = |of: &Self| (of.size_bytes, of.etag.clone(), of.modified_ms);
        version(self) == version(other)
    }
}

impl ObjectIdentity {
    /// The tag, where equal tags mean equal bytes.
    pub fn strong_etag(&self) -> Option<&str> {
        self.etag.as_deref().filter(|tag| !tag.starts_with("W/"))
    }
}
