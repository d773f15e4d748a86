//! Counts all hash tags in one pass, in a table shared by the threads; the names of listed tags are reread from the
//! locations of their keys.

use std::sync::Arc;

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_count::scan::{Scan, Scanned};
use slotscope_count::tally::Tallies;
use slotscope_count::tally::tag_table::{FindNames, Swept, TagTable};
use slotscope_read::format::frame::walk::Walking;
use slotscope_read::source::Source;

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
    /// Counts all keys in tallies created by `make`; `None` if a table of at most `most_tags` cannot hold the tags, or if
    /// names cannot be reread.
    ///
    /// # Errors
    /// As `Scan::run`.
    pub(crate) fn count(
        scan: &Scan<'_>,
        sources: &[Box<dyn Source>],
        most_tags: usize,
        make: impl Fn() -> Tallies,
    ) -> Result<Option<Self>> {
        let are_rereadable = sources.iter().all(|source| source.is_rereadable());
        if most_tags == 0 || !are_rereadable || make().names.is_none() {
            return Ok(None);
        }
        let sizes: Vec<_> = sources.iter().map(|source| source.size_bytes()).collect();
        let table = Arc::new(TagTable::of(scan.kernel, &sizes, most_tags));
        let proceed = |bytes| (scan.proceed)(bytes) && !table.is_full();
        let counting = scan.clone().proceed(&proceed);
        let mut counted = counting.run(sources, || make().sharing(&table))?;
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
            tally.tags.take_counted(tags);
        }
        Ok((counted, self.passes))
    }
}
