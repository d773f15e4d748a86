//! Inputs that can be read only once: standard input, pipes, devices.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use slotscope_base::error::{Error, Result};

use crate::source::{Found, Source, SourceFacts};

pub(crate) use slotscope_base::file_identity::STDIN;

/// A source that is read once, sequentially.
#[derive(Debug)]
pub struct Pipe(SourceFacts);

impl Pipe {
    /// The file, pipe or device at `path`; `-` is standard input.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Pipe(SourceFacts::of(path, None))
    }
}

/// Adds standard input.
///
/// # Errors
/// Standard input is a terminal.
pub(crate) fn find_stdin(path: &Path, found: &mut Found) -> Result<bool> {
    if path.as_os_str() != STDIN {
        return Ok(false);
    }
    if found.sources.iter().any(|source| source.path() == path) {
        let reason = "standard input is named twice; it can be read only once";
        return Err(Error::bad(STDIN, reason));
    }
    found.sources.push(Box::new(Pipe::new(path)));
    Ok(true)
}

impl Source for Pipe {
    fn facts(&self) -> &SourceFacts {
        &self.0
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        if self.0.path.as_os_str() == STDIN {
            Ok(Box::new(Stdin { is_begun: false }))
        } else {
            Ok(Box::new(File::open(&self.0.path)?))
        }
    }
}

/// Whether standard input is /dev/null, as in cron jobs.
pub fn stdin_is_null() -> bool {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        use std::os::unix::fs::MetadataExt;
        let file = io::stdin().as_fd().try_clone_to_owned().map(File::from);
        let stdin = file.and_then(|file| file.metadata());
        let null = std::fs::metadata("/dev/null");
        matches!((stdin, null), (Ok(stdin), Ok(null)) if stdin.rdev() == null.rdev())
    }
    #[cfg(not(unix))]
    false
}

/// Whether standard input was read and turned out empty.
pub fn stdin_was_empty() -> bool {
    STDIN_WAS_EMPTY.load(Ordering::Relaxed)
}

static STDIN_WAS_EMPTY: AtomicBool = AtomicBool::new(false);

/// The process's standard input; remembers whether it was empty.
struct Stdin {
    is_begun: bool,
}

impl Read for Stdin {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = io::stdin().read(bytes)?;
        if !self.is_begun && !bytes.is_empty() {
            self.is_begun = true;
            STDIN_WAS_EMPTY.store(count == 0, Ordering::Relaxed);
        }
        Ok(count)
    }
}
