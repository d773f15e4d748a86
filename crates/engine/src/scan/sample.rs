//! Reads a small, spread-out part of the inputs: names frequent there are likely frequent overall.

use crate::error::Result;
use crate::scan::shared::{Shared, into_inner};
use crate::scan::shares::Share;
use crate::scan::{Scan, merged};
use crate::source::Source;
use crate::tally::Tally;

/// Bytes per window: enough keys to fill batches, small enough for many windows.
pub const WINDOW: usize = 32 << 10;

impl Scan<'_> {
    /// Counts one of `every` windows of the random-access `sources`, without recording notices: if the start of a row
    /// depends on what precedes the window, a row may be misread.
    ///
    /// # Errors
    /// An input cannot be opened or is not in its format.
    pub fn sample<T: Tally>(
        &self,
        sources: &[Box<dyn Source>],
        every: u64,
        make: impl Fn() -> T,
    ) -> Result<T> {
        let goes_on = |_| (self.proceed)(0);
        let scan = self.clone().chunk(WINDOW).proceed(&goes_on);
        let shares: Vec<Share> = (0..sources.len()).map(Share::all_of).collect();
        let shared = Shared::new(sources, &shares);
        let workers = self.workers(make);
        let mut jobs = Vec::new();
        for (index, source) in sources.iter().enumerate() {
            jobs.extend(scan.job(index, &**source, &shares[index])?);
        }
        scan.on_every_nth_chunk(every, &workers, &shared, &jobs, |worker, job, _, index| {
            scan.read_chunk(worker, &shared, job, index)
        })?;
        let workers = workers.into_iter().map(into_inner);
        Ok(merged(workers.map(|worker| worker.counts.tally)))
    }
}
