//! Regular files: random access for all workers, compressed ones sequentially. A file that has changed since it was
//! found is refused.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::command::times::CommandTimes;
use crate::error::{Error, Result};
use crate::source::pipe::Pipe;
use crate::source::{Found, Listed, ReadAt, Source, decompress};

/// A regular file.
#[derive(Debug)]
pub(crate) struct RegularFile {
    path: PathBuf,
    state: FileState,
    is_compressed: bool,
    listed: Listed,
    command_times: Option<CommandTimes>,
}

/// Evidence that a file is unchanged: length, modification time, and identity.
#[derive(Debug, PartialEq)]
struct FileState {
    bytes: u64,
    modified: Option<SystemTime>,
    /// Device and inode, on systems that have them.
    identity: (u64, u64),
}

impl FileState {
    fn of(metadata: &Metadata) -> Self {
        FileState {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            identity: identity(metadata),
        }
    }

    fn modified_since_1970(&self) -> Option<Duration> {
        self.modified?.duration_since(SystemTime::UNIX_EPOCH).ok()
    }
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> (u64, u64) {
    (0, 0)
}

/// Adds the file at `path`; opening it here makes an unreadable file fail before anything is written.
///
/// # Errors
/// The file cannot be opened.
pub(crate) fn find(path: &Path, found: &mut Found) -> Result<bool> {
    find_listed(path, Listed::User, None, found)
}

/// The same of a file that something else names. The server of a capture may have said what its commands took meanwhile.
///
/// # Errors
/// As for `find`.
pub(super) fn find_listed(
    path: &Path,
    listed: Listed,
    command_times: Option<CommandTimes>,
    found: &mut Found,
) -> Result<bool> {
    let failed = |error| Error::io(path, error);
    let metadata = fs::metadata(path).map_err(failed)?;
    if listed == Listed::Manifest && !metadata.is_file() {
        let reason = "not a regular file, though the manifest of the append-only file lists it; copy the files again";
        return Err(Error::bad_file(path, reason));
    }
    let regular = if metadata.is_file() {
        regular(path, &metadata).map_err(failed)?
    } else {
        None
    };
    found.sources.push(match regular {
        Some(file) => Box::new(RegularFile {
            listed,
            command_times,
            ..file
        }),
        None => Box::new(Pipe::new(path)),
    });
    Ok(true)
}

/// The regular file at `path`; `None` for kernel files (/proc), which have content despite a length of zero.
fn regular(path: &Path, metadata: &Metadata) -> io::Result<Option<RegularFile>> {
    let mut head = Vec::new();
    let mut start = File::open(path)?.take(decompress::MAGIC as u64);
    start.read_to_end(&mut head)?;
    let is_unsized = metadata.len() == 0 && !head.is_empty();
    Ok((!is_unsized).then(|| RegularFile {
        path: path.to_path_buf(),
        state: FileState::of(metadata),
        is_compressed: decompress::is_compressed(&head),
        listed: Listed::User,
        command_times: None,
    }))
}

impl Source for RegularFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn size_bytes(&self) -> Option<u64> {
        (!self.is_compressed).then_some(self.state.bytes)
    }

    fn stored_bytes(&self) -> Option<u64> {
        Some(self.state.bytes)
    }

    fn version(&self) -> Option<String> {
        Some(self.state.modified_since_1970()?.as_nanos().to_string())
    }

    fn written_ms(&self) -> Option<u64> {
        Some(self.state.modified_since_1970()?.as_millis() as u64)
    }

    fn command_times(&self) -> Option<&CommandTimes> {
        self.command_times.as_ref()
    }

    fn listed(&self) -> Listed {
        self.listed
    }

    fn is_rereadable(&self) -> bool {
        true
    }

    fn open_at(&self) -> Result<Option<Box<dyn ReadAt>>> {
        let failed = |error| Error::io(&self.path, error);
        let file = File::open(&self.path).map_err(failed)?;
        if FileState::of(&file.metadata().map_err(failed)?) != self.state {
            let reason = "changed while it was read; analyze a copy of the dump";
            return Err(Error::bad_file(&self.path, reason));
        }
        Ok((!self.is_compressed).then(|| Box::new(file) as Box<dyn ReadAt>))
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(File::open(&self.path)?))
    }
}

impl ReadAt for File {
    #[cfg(unix)]
    fn read_exact_at(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self, into, offset)
    }

    #[cfg(windows)]
    fn read_exact_at(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        let mut done = 0;
        while done < into.len() {
            let at = offset + done as u64;
            match std::os::windows::fs::FileExt::seek_read(self, &mut into[done..], at) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
