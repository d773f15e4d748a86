//! Sources that report how much of their stored bytes was read, for progress bars on compressed sources.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use slotscope_base::error::{Error, Result};

use crate::source::{ReadAt, Source, SourceFacts};

/// Progress through sources since the start of a pass. Bytes read twice count once.
#[derive(Debug, Clone)]
pub struct Counter {
    /// How far each source was read.
    ends: Arc<[AtomicU64]>,
    /// The bytes read since the last call of `take`.
    read: Arc<AtomicU64>,
    /// Stored bytes in total.
    pub total: u64,
}

impl Counter {
    /// For sources of which some are compressed, if the stored size of all is known.
    pub fn of(sources: &[Box<dyn Source>]) -> Option<Self> {
        let are_compressed = sources.iter().any(|source| source.size_bytes().is_none());
        let total: Option<u64> = sources
            .iter()
            .map(|source| source.facts().stored_bytes)
            .sum();
        total.filter(|_| are_compressed).map(|total| Counter {
            ends: sources.iter().map(|_| AtomicU64::new(0)).collect(),
            read: Arc::default(),
            total,
        })
    }

    /// Wraps these sources to count the bytes read.
    pub fn count(&self, sources: Vec<Box<dyn Source>>) -> Vec<Box<dyn Source>> {
        let sources = sources.into_iter().enumerate();
        let counted = sources.map(|(index, source)| {
            let counter = self.clone();
            Box::new(Counted {
                source,
                counter,
                index,
                at: 0,
            }) as Box<dyn Source>
        });
        counted.collect()
    }

    /// Starts a pass.
    pub fn begin(&self) {
        self.ends.iter().for_each(|end| end.store(0, Relaxed));
        self.read.store(0, Relaxed);
    }

    /// The bytes read since the last call.
    pub fn take(&self) -> u64 {
        self.read.swap(0, Relaxed)
    }

    fn add(&self, index: usize, end: u64) {
        let before = self.ends[index].fetch_max(end, Relaxed);
        self.read.fetch_add(end.saturating_sub(before), Relaxed);
    }
}

#[derive(Debug)]
struct Counted<S> {
    source: S,
    counter: Counter,
    index: usize,
    /// The position of a stream.
    at: u64,
}

impl Source for Counted<Box<dyn Source>> {
    fn facts(&self) -> &SourceFacts {
        self.source.facts()
    }

    fn failure(&self) -> Option<Error> {
        self.source.failure()
    }

    fn open_at(&self) -> Result<Option<Box<dyn ReadAt>>> {
        let opened = self.source.open_at()?;
        Ok(opened.map(|source| Box::new(self.of(source)) as Box<dyn ReadAt>))
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(self.of(self.source.open()?)))
    }
}

impl<S> Counted<S> {
    /// Wraps an opened source.
    fn of<T>(&self, source: T) -> Counted<T> {
        Counted {
            source,
            counter: self.counter.clone(),
            index: self.index,
            at: 0,
        }
    }
}

impl ReadAt for Counted<Box<dyn ReadAt>> {
    fn read_exact_at(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        self.source.read_exact_at(into, offset)?;
        self.counter.add(self.index, offset + into.len() as u64);
        Ok(())
    }
}

impl Read for Counted<Box<dyn Read + Send>> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(into)?;
        self.at += count as u64;
        self.counter.add(self.index, self.at);
        Ok(count)
    }
}
