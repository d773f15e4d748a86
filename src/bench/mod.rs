//! Measures how fast this machine computes slots with each kernel, or scans a dump, stage by stage.
//!
//! Results are verified before timing. All rows are timed in turn, round after round, so that a slowdown of the machine
//! affects all of them; the median counts, and the spread is shown.

mod figures;
mod keys;
mod reading;
mod scanning;
mod timing;
pub(crate) mod view;

use std::path::Path;

use rayon::ThreadPoolBuilder;

use slotscope_app::pipeline::reading::Reading;
use slotscope_base::error::{Error, Result};
use slotscope_base::slot::Kernel;
use slotscope_model::balance::tidy;

pub(crate) use crate::bench::figures::{Figures, KernelRate};
use crate::bench::keys::Batch;
pub(crate) use crate::bench::timing::Rate;
use crate::bench::timing::in_turn;

/// Times every kernel on one thread and on `threads`; analyze takes `chosen`.
///
/// # Errors
/// A kernel gives a wrong slot, or threads cannot be started.
pub(crate) fn kernels(rounds: u32, threads: usize, chosen: &'static Kernel) -> Result<Figures> {
    let mut figures = Figures::new(rounds, chosen);
    for threads in thread_counts(threads) {
        for key_bytes in keys::LENGTHS {
            let rates = time_kernels(&Batch::of(*key_bytes), threads, rounds)?;
            figures.kernels.extend(rates.into_iter().map(|row| {
                let is_chosen = row.kernel == chosen.name;
                KernelRate { is_chosen, ..row }
            }));
        }
    }
    Ok(figures.settled())
}

/// Times the stages of a scan of `file` on one thread and on `threads`; `reading` finds it, to be read by that many, and
/// analyze takes `chosen`.
///
/// # Errors
/// The dump cannot be read, or read again; it has no keys; the stages find other keys.
pub(crate) fn scan(
    rounds: u32,
    threads: usize,
    chosen: &'static Kernel,
    file: &Path,
    reading: impl Fn(usize) -> Result<Reading>,
) -> Result<Figures> {
    let mut figures = Figures::new(rounds, chosen);
    for threads in thread_counts(threads) {
        let scanned = scanning::time(file, &reading(threads)?, rounds)?;
        match &mut figures.scan {
            None => figures.scan = Some(scanned),
            Some(first) => first.stages.extend(scanned.stages),
        }
    }
    Ok(figures.settled())
}

/// One thread, and all.
fn thread_counts(threads: usize) -> Vec<usize> {
    let mut counts = vec![1, threads];
    counts.dedup();
    counts
}

/// Times every kernel on `batch`; each thread has its own copy of the columns.
fn time_kernels(batch: &Batch, threads: usize, rounds: u32) -> Result<Vec<KernelRate>> {
    let kernels: Vec<&'static Kernel> = hashslot::available().collect();
    kernels.iter().try_for_each(|kernel| batch.check(kernel))?;
    let built = ThreadPoolBuilder::new().num_threads(threads).build();
    let pool =
        built.map_err(|error| Error::option("threads", threads.to_string(), error.to_string()))?;
    let runs: Vec<_> = kernels
        .iter()
        .map(|kernel| batch.runner(kernel, &pool))
        .collect();
    let rates = in_turn(rounds, &runs);
    let table = rates.last().map_or(1.0, |rate| rate.keys_per_sec);
    let row = |(kernel, rate): (&&'static Kernel, Rate)| KernelRate {
        kernel: kernel.name,
        is_chosen: false,
        threads,
        key_bytes: batch.key_bytes,
        over_table: tidy(rate.keys_per_sec / table),
        rate,
    };
    Ok(kernels.iter().zip(rates).map(row).collect())
}
