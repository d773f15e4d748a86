//! The flags for measuring the load of running servers before reading their keys.

use std::time::Duration;

use clap::Args;

use slotscope_base::error::{Error, Result};
use slotscope_collect::run::Measured;

use crate::cli::{say, values};
use crate::options::headings::SERVERS;

/// How load is measured.
#[derive(Args, Debug, Clone, Copy, Default)]
#[command(next_help_heading = SERVERS)]
pub struct LoadArgs {
    /// Measure load too, over these seconds: 10s
    ///
    /// All primaries over the same seconds, by two readings of INFO and, if cluster-slot-stats-enabled (Redis 8.2, Valkey
    /// 8.0), of CLUSTER SLOT-STATS.
    #[arg(long, value_name = "TIME", value_parser = values::duration, hide_short_help = true)]
    pub load: Option<Duration>,
    /// With --load: MONITOR too, for as long after that, at most 10 s
    ///
    /// Names hot keys and tags on every server. It can halve throughput meanwhile; its cost is measured and reported. Up to
    /// 64 MiB per node are read; commands and keys are kept, no values.
    #[arg(long, hide_short_help = true)]
    pub monitor: bool,
}

impl LoadArgs {
    /// The requested measurement. Warns of the cost of MONITOR first.
    ///
    /// # Errors
    /// MONITOR is requested without a load measurement.
    pub fn measured(self) -> Result<Option<Measured>> {
        if self.monitor && self.load.is_none() {
            let reason = "runs for as long as load is measured; add --load 10s";
            return Err(Error::option("monitor", "", reason));
        }
        if self.monitor {
            say("MONITOR can halve what a server does while it runs; Ctrl-C ends it");
        }
        let monitor = self.monitor;
        Ok(self.load.map(|during| Measured { during, monitor }))
    }

    /// The flags as words of a command line.
    pub fn words(self) -> Vec<String> {
        let load = self
            .load
            .map(|during| ["--load".to_owned(), values::written(during)]);
        let monitor = self.monitor.then(|| "--monitor".to_owned());
        load.into_iter().flatten().chain(monitor).collect()
    }
}
