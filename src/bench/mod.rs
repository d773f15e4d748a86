//! Measures how fast this machine computes slots with each kernel.
//!
//! Results are verified before timing. Kernels are timed in turn, round after round, so that a slowdown of the machine
//! affects all of them; the median counts, and the spread is shown.

mod figures;
mod keys;
mod timing;
pub(crate) mod view;

use rayon::ThreadPoolBuilder;

use slotscope_engine::error::{Error, Result};
use slotscope_engine::slot::Kernel;
use slotscope_model::balance::tidy;

pub(crate) use crate::bench::figures::{Figures, KernelRate, SCHEMA};
use crate::bench::keys::Batch;
pub(crate) use crate::bench::timing::Rate;
use crate::bench::timing::in_turn;

/// Verifies every result, then times on one thread and on `threads`; of the rounds the median counts.
///
/// # Errors
/// A kernel gives a wrong slot, or threads cannot be started.
pub(crate) fn run(rounds: u32, threads: usize) -> Result<Figures> {
    let mut thread_counts = vec![1, threads];
    thread_counts.dedup();
    let mut kernels = Vec::new();
    for key_bytes in keys::LENGTHS {
        let batch = Batch::of(*key_bytes);
        for threads in &thread_counts {
            kernels.extend(time_kernels(&batch, *threads, rounds)?);
        }
    }
    Ok(Figures {
        schema: SCHEMA,
        cpu: cpu(),
        kernels,
    })
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
        threads,
        key_bytes: batch.key_bytes,
        over_table: tidy(rate.keys_per_sec / table),
        rate,
    };
    Ok(kernels.iter().zip(rates).map(row).collect())
}

/// The name of the processor.
fn cpu() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| {
        line.strip_prefix("model name")
            .and_then(|rest| rest.split_once(": "))
    });
    model.map_or_else(
        || String::from(std::env::consts::ARCH),
        |(_, name)| name.to_string(),
    )
}
