//! In-memory bytes as a source, for tests, examples and callers that already have a dump.

use std::io::{self, Cursor, Read};
use std::path::PathBuf;
use std::sync::Arc;

use slotscope_base::error::Result;

use crate::source::{ReadAt, Source, SourceFacts};

/// In-memory bytes.
#[derive(Debug, Clone)]
pub struct Memory {
    facts: SourceFacts,
    bytes: Arc<[u8]>,
}

impl Memory {
    /// Bytes that reports refer to as `name`.
    pub fn new(name: impl Into<PathBuf>, bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes: Arc<[u8]> = bytes.into();
        let facts = SourceFacts::of(name, Some(bytes.len() as u64));
        Memory { facts, bytes }
    }
}

/// In-memory bytes as a boxed source.
pub fn memory(name: &str, bytes: &[u8]) -> Box<dyn Source> {
    Box::new(Memory::new(name, bytes))
}

impl Source for Memory {
    fn facts(&self) -> &SourceFacts {
        &self.facts
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
