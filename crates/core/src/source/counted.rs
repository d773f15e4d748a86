//! Sources that say how much of what is stored has been read: what a progress bar goes by where sources are compressed.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::error::{Error, Result};
use crate::source::identity::ObjectIdentity;
use crate::source::{ReadAt, Source};

/// Stored bytes that were read since they were last asked for.
#[derive(Debug, Clone)]
pub struct Counter {
    read: Arc<AtomicU64>,
    /// All that is stored.
    pub total: u64,
}

impl Counter {
    /// For sources some of which are compressed, where it is known how much is stored of all.
    pub fn of(sources: &[Box<dyn Source>]) -> Option<Self> {
        let are_compressed = sources.iter().any(|source| source.size_bytes().is_none());
        let total: Option<u64> = sources.iter().map(|source| source.stored_bytes()).sum();
        total.filter(|_| are_compressed).map(|total| Counter {
            read: Arc::default(),
            total,
        })
    }

    /// The source, with what is read of it counted.
    pub fn count(&self, source: Box<dyn Source>) -> Box<dyn Source> {
        let counter = self.clone();
        Box::new(Counted { source, counter })
    }

    /// How much was read since the last call.
    pub fn take(&self) -> u64 {
        self.read.swap(0, Relaxed)
    }

    fn add(&self, bytes: usize) {
        self.read.fetch_add(bytes as u64, Relaxed);
    }
}

#[derive(Debug)]
struct Counted<S> {
    source: S,
    counter: Counter,
}

impl Source for Counted<Box<dyn Source>> {
    fn path(&self) -> &Path {
        self.source.path()
    }

    fn size_bytes(&self) -> Option<u64> {
        self.source.size_bytes()
    }

    fn stored_bytes(&self) -> Option<u64> {
        self.source.stored_bytes()
    }

    fn version(&self) -> Option<String> {
        self.source.version()
    }

    fn is_rereadable(&self) -> bool {
        self.source.is_rereadable()
    }

    fn object(&self) -> Option<&ObjectIdentity> {
        self.source.object()
    }

    fn failure(&self) -> Option<Error> {
        self.source.failure()
    }

    fn open_at(&self) -> Result<Option<Box<dyn ReadAt>>> {
        Ok(self.source.open_at()?.map(|source| self.counted(source)))
    }

    fn open_compressed(&self) -> io::Result<Option<(Box<dyn ReadAt>, u64)>> {
        let opened = self.source.open_compressed()?;
        Ok(opened.map(|(source, len)| (self.counted(source), len)))
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(Counted {
            source: self.source.open()?,
            counter: self.counter.clone(),
        }))
    }
}

impl Counted<Box<dyn Source>> {
    fn counted(&self, source: Box<dyn ReadAt>) -> Box<dyn ReadAt> {
        let counter = self.counter.clone();
        Box::new(Counted { source, counter })
    }
}

impl ReadAt for Counted<Box<dyn ReadAt>> {
    fn read_exact_at(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        self.source.read_exact_at(into, offset)?;
        self.counter.add(into.len());
        Ok(())
    }
}

impl Read for Counted<Box<dyn Read + Send>> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(into)?;
        self.counter.add(read);
        Ok(read)
    }
}
