//! Rereads some blocks of inputs: counts the rows that start in them, without recording notices.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use slotscope_base::error::Result;
use slotscope_read::source::Source;

use crate::scan::chunks::Job;
use crate::scan::shared::{Shared, lock};
use crate::scan::shares::Share;
use crate::scan::{Scan, Worker, merged, workers};
use crate::tally::Tally;

/// Blocks a worker takes at once.
const AT_ONCE: usize = 16;

impl Scan<'_> {
    /// Whether every source can be read in blocks, so that a key can be found again by its position.
    ///
    /// # Errors
    /// An input cannot be opened or is not in its format.
    pub fn are_in_blocks(&self, sources: &[Box<dyn Source>]) -> Result<bool> {
        for (input, source) in sources.iter().enumerate() {
            let job = self.job(input, &**source, &Share::all_of(input))?;
            if job.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Counts the rows that start in these blocks of `size` bytes per input, in order. If the start of a row depends on
    /// what precedes the block, a row may be misread.
    ///
    /// # Errors
    /// An input cannot be opened or is not in its format.
    pub fn blocks<T: Tally>(
        &self,
        sources: &[Box<dyn Source>],
        (blocks, size): (&[(usize, u64)], usize),
        make: impl Fn() -> T,
    ) -> Result<T> {
        let scan = self.clone().chunk(size);
        let shares: Vec<Share> = (0..sources.len()).map(Share::all_of).collect();
        let shared = Shared::new(sources, &shares);
        let mut tallies = self.tallies(make);
        let workers = workers(&mut tallies);
        let next = AtomicUsize::new(0);
        self.pool.broadcast(|context| {
            let worker = &mut *lock(&workers[context.index()]);
            let mut open = None;
            while shared.is_going() {
                let from = next.fetch_add(AT_ONCE, Relaxed);
                let Some(batch) = blocks.get(from..) else {
                    break;
                };
                for (input, block) in batch.iter().take(AT_ONCE) {
                    let result = scan.read_block(worker, &shared, &mut open, (*input, *block));
                    if let Err(error) = result {
                        shared.fail((*input, *block), error);
                    }
                }
                shared.proceed((self.proceed)(0));
            }
        });
        shared.outcome()?;
        drop(workers);
        Ok(merged(tallies.into_iter()))
    }

    /// Reads a block with the open job, opening that of its input if needed.
    fn read_block(
        &self,
        worker: &mut Worker<'_>,
        shared: &Shared<'_>,
        open: &mut Option<(usize, Option<Job>)>,
        (input, block): (usize, u64),
    ) -> Result<()> {
        let (_, job) = match open.take() {
            Some(open) if open.0 == input => open,
            _ => {
                let job = self.job(input, &*shared.sources[input], &shared.shares[input])?;
                (input, job)
            }
        };
        let (_, job) = open.insert((input, job));
        match job {
            Some(job) if block < job.cutting.chunks() => {
                self.read_chunk(worker, shared, job, block)
            }
            _ => Ok(()),
        }
    }
}
