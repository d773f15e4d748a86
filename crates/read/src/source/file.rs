//! Regular files: random access for all workers, compressed ones sequentially. A file that has changed since it was
//! found is refused.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, SystemTime};

use slotscope_base::command::times::CommandTimes;
use slotscope_base::error::{Error, Result};

use crate::source::pipe::Pipe;
use crate::source::{Found, Listed, ReadAt, Source, SourceFacts, decompress};

/// A regular file.
#[derive(Debug)]
pub(crate) struct RegularFile {
    facts: SourceFacts,
    state: FileState,
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
        Some(mut file) => {
            (file.facts.listed, file.facts.command_times) = (listed, command_times);
            Box::new(file)
        }
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
    let state = FileState::of(metadata);
    let modified = state.modified_since_1970();
    let size = (!decompress::is_compressed(&head)).then_some(state.bytes);
    let facts = SourceFacts {
        stored_bytes: Some(state.bytes),
        version: modified.map(|at| at.as_nanos().to_string()),
        written_ms: modified.map(|at| at.as_millis() as u64),
        is_rereadable: true,
        ..SourceFacts::of(path, size)
    };
    Ok((!is_unsized).then_some(RegularFile { facts, state }))
}

impl Source for RegularFile {
    fn facts(&self) -> &SourceFacts {
        &self.facts
    }

    fn open_at(&self) -> Result<Option<Box<dyn ReadAt>>> {
        let path = &self.facts.path;
        let failed = |error| Error::io(path, error);
        let file = File::open(path).map_err(failed)?;
        if FileState::of(&file.metadata().map_err(failed)?) != self.state {
            let reason = "changed while it was read; analyze a copy of the dump";
            return Err(Error::bad_file(path, reason));
        }
        let may_jump = self.facts.size_bytes.is_some();
        Ok(may_jump.then(|| Box::new(file) as Box<dyn ReadAt>))
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(File::open(&self.facts.path)?))
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
