//! In-memory bytes as a source, for tests, examples and callers that already have a dump.

use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Result;
use crate::source::{ReadAt, Source};

/// In-memory bytes.
#[derive(Debug, Clone)]
pub struct Memory {
    path: PathBuf,
    bytes: Arc<[u8]>,
}

impl Memory {
    /// Bytes that reports refer to as `name`.
    pub fn new(name: impl Into<PathBuf>, bytes: impl Into<Arc<[u8]>>) -> Self {
        Memory {
            path: name.into(),
            bytes: bytes.into(),
        }
    }
}

/// In-memory bytes as a boxed source.
pub fn memory(name: &str, bytes: &[u8]) -> Box<dyn Source> {
    Box::new(Memory::new(name, bytes))
}

impl Source for Memory {
    fn path(&self) -> &Path {
        &self.path
    }

    fn size_bytes(&self) -> Option<u64> {
        Some(self.bytes.len() as u64)
    }

    fn open_at(&self) -> Result<Option<Box<dyn ReadAt>>> {
        Ok(Some(Box::new(self.bytes.clone())))
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(Cursor::new(self.bytes.clone())))
    }
}

impl ReadAt for Arc<[u8]> {
    fn read_exact_at(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        let bytes = self.get(offset as usize..offset as usize + into.len());
        into.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}
