//! Counts all hash tags in one pass, in a table shared by the threads; the names of listed tags are reread from the
//! locations of their keys.

use std::sync::Arc;

use slotscope_engine::error::{Error, Result};
use slotscope_engine::format::frame::walk::Walking;
use slotscope_engine::name::Name;
use slotscope_engine::scan::{Scan, Scanned};
use slotscope_engine::source::Source;
use slotscope_engine::tally::Tallies;
use slotscope_engine::tally::tag_table::{FindNames, Swept};
use slotscope_engine::tally::tags::TagCounts;

use crate::pipeline::distinct_tags;
use crate::pipeline::likely_heavy::Sampling;

/// A table is not started if a sample suggests this fraction of its capacity: the estimate is a lower bound, and half
/// of the truth if some tags have many more keys than others.
const SURE: f64 = 0.8;

/// The state after counting all keys and choosing the tags to list.
pub(crate) struct InTable {
    /// All counts except those of tags.
    pub counted: Scanned<Tallies>,
    /// The tags, if they exceed a table of names.
    tags: Option<(Swept, FindNames)>,
    /// How often the inputs were read to the end just for names.
    passes: u32,
}

impl InTable {
    /// A lower bound on the number of tags, estimated from a sample; 0 if that is not worthwhile. `None` if a table
    /// could not hold them: everything counted before an overflow would have to be counted again.
    pub(crate) fn expected(
        scan: &Scan<'_>,
        sources: &[Box<dyn Source>],
        sampling: Sampling,
    ) -> Option<f64> {
        let tags = distinct_tags::at_least(sampling, scan, sources).unwrap_or(0.0);
        (tags <= SURE * sampling.most_tags as f64).then_some(tags)
    }

    /// Counts all keys, expecting at least about this many tags, in tallies created by `make`; `None` if a table cannot
    /// hold the tags, or if names cannot be reread.
    ///
    /// # Errors
    /// As `Scan::run`.
    pub(crate) fn count(
        scan: &Scan<'_>,
        sources: &[Box<dyn Source>],
        sampling: Sampling,
        expected: f64,
        make: impl Fn() -> Tallies,
    ) -> Result<Option<Self>> {
        let table = sampling.table(scan, sources);
        let Some(table) = table.filter(|_| make().names.is_some()).map(Arc::new) else {
            return Ok(None);
        };
        let proceed = |bytes| (scan.proceed)(bytes) && !table.is_full();
        let counting = scan.clone().proceed(&proceed);
        let mut counted = counting.run(sources, || make().sharing(&table, expected))?;
        let names = counted.tally.names.as_mut();
        let shared = names.and_then(|names| names.tags.take_shared());
        if table.is_full() {
            return Ok(None);
        }
        let loads = &counted.tally.slots.loads;
        let tags = shared.map(|table| scan.pool.install(|| table.sweep(loads)));
        let mut in_table = InTable {
            counted,
            tags,
            passes: 0,
        };
        in_table.read_blocks(scan, sources)?;
        Ok(Some(in_table))
    }

    /// Reads names where a key of the tag starts, then in the preceding block, where the row may start.
    fn read_blocks(&mut self, scan: &Scan<'_>, sources: &[Box<dyn Source>]) -> Result<()> {
        let Some((_, names)) = &mut self.tags else {
            return Ok(());
        };
        for before in [0, 1] {
            let mut blocks = names.blocks();
            let start = |(_, block): &mut (usize, u64)| *block = block.saturating_sub(before);
            blocks.iter_mut().for_each(start);
            if !blocks.is_empty() {
                *names = scan.blocks(sources, (&blocks, names.block_bytes()), || names.clone())?;
            }
        }
        Ok(())
    }

    /// Whether names are missing that require reading all inputs.
    pub(crate) fn lacks_names(&self) -> bool {
        self.tags
            .as_ref()
            .is_some_and(|(_, names)| !names.is_done())
    }

    /// Reads all inputs again for missing names.
    ///
    /// # Errors
    /// As `Scan::run`.
    pub(crate) fn read_names(self, scan: &Scan<'_>, sources: &[Box<dyn Source>]) -> Result<Self> {
        match self.tags {
            Some((swept, names)) if !names.is_done() => {
                let walking = Walking {
                    verifies: false,
                    ..scan.walking
                };
                let again = scan.clone().walking(walking);
                let names = again.run(sources, || names.clone())?.tally;
                Ok(InTable {
                    tags: Some((swept, names)),
                    passes: self.passes + 1,
                    counted: self.counted,
                })
            }
            _ => Ok(self),
        }
    }

    /// The counts, and the number of passes made for names.
    ///
    /// # Errors
    /// A name is no longer where it was.
    pub(crate) fn finish(self, sources: &[Box<dyn Source>]) -> Result<(Scanned<Tallies>, u32)> {
        let mut counted = self.counted;
        if let (Some((swept, names)), Some(tally)) = (self.tags, &mut counted.tally.names) {
            let Some(tags) = swept.named(names) else {
                let file = sources.first().map(|source| Name::from(source.path()));
                return Err(Error::bad(
                    file.unwrap_or_default().to_string(),
                    "it changed while it was read; analyze a copy of the dump",
                ));
            };
            tally.tags.counts = TagCounts::Shared(Box::new(tags));
        }
        Ok((counted, self.passes))
    }
}
