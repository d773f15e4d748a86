//! A report's part about the run: the only one that differs between runs.

use std::fs;
use std::time::{Instant, SystemTime};

use slotscope_base::name::Name;
use slotscope_model::balance::tidy;
use slotscope_model::{Run, Summary};

use crate::pipeline::inputs::{Inputs, seconds};

/// The start of a run, on both clocks.
pub(super) struct Started {
    instant: Instant,
    time: SystemTime,
}

impl Started {
    /// Begins now.
    pub(super) fn now() -> Self {
        Started {
            instant: Instant::now(),
            time: SystemTime::now(),
        }
    }

    /// How the report was made; the command is filled in by the program.
    pub(super) fn run(&self, inputs: &Inputs, passes: u32, summary: &Summary) -> Run {
        let elapsed_secs = self.instant.elapsed().as_secs_f64();
        let rate = |count: f64| tidy(count / elapsed_secs.max(1e-9));
        Run {
            title: None,
            version: env!("CARGO_PKG_VERSION").into(),
            command: Name::default(),
            started: seconds(self.time),
            dumped: inputs.dumped,
            date: None,
            elapsed_secs: tidy(elapsed_secs),
            threads: inputs.threads,
            kernel: inputs.options.kernel.name.into(),
            passes,
            bytes_per_sec: rate(summary.input.bytes_read as f64 * f64::from(passes)),
            keys_per_sec: rate(summary.input.keys as f64),
            peak_rss_bytes: peak_rss_bytes(),
        }
    }
}

/// Peak resident memory, if the system reports it (Linux).
fn peak_rss_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim()
        .strip_suffix(" kB")?
        .trim()
        .parse::<u64>()
        .ok()
        .map(|kib| kib * 1024)
}
