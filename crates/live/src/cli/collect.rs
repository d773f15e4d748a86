//! The flags of `slotscope collect`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use slotscope_app::cli::collect_bar::CollectBar;
use slotscope_app::cli::live::{self, LiveArgs};
use slotscope_app::cli::load_args::LoadArgs;
use slotscope_app::cli::printing::{OutputArgs, Rows, print_lines};
use slotscope_app::cli::progress::When;
use slotscope_app::cli::{Command, Ending, Run, values};
use slotscope_app::options::headings::{ARGUMENTS, INPUT, OUTPUT, RUN, SERVERS};
use slotscope_base::error::Result;
use slotscope_base::name::Name;
use slotscope_collect::acl;
use slotscope_collect::run::{self, Options, Times};
use slotscope_read::source::collection::manifest::{Level, Manifest};
use slotscope_read::source::collection::servers::Role;

use crate::cli::collect_view as view;

/// The keys of a running cluster, as a directory that analyze reads
///
/// Servers are only read, never changed: SCAN and details of each key, at most a part of the time, from replicas where
/// there are any. Slots that move and primaries that fail meanwhile are read again from their new owners.
#[derive(Args, Debug)]
#[command(next_help_heading = INPUT, after_help = EXAMPLES)]
pub struct CollectArgs {
    /// A node: HOST:PORT, redis://HOST:PORT, rediss:// for TLS
    ///
    /// Or unix://PATH. Any node of the cluster will do; with several, the first that answers is used.
    #[arg(value_name = "URL", required_unless_present = "acl", help_heading = ARGUMENTS)]
    pub urls: Vec<String>,
    /// The directory to write [default: HOST-PORT.collect]
    ///
    /// It is put in place once all is read.
    #[arg(short, long, value_name = "DIR", help_heading = OUTPUT)]
    pub out: Option<PathBuf>,
    /// Replace a collection in that directory, and nothing else
    #[arg(long, help_heading = OUTPUT)]
    pub force: bool,
    /// Only counts by slot: takes a second
    ///
    /// Keys (CLUSTER COUNTKEYSINSLOT), and memory, CPU time and network traffic if the servers count them (CLUSTER
    /// SLOT-STATS).
    #[arg(long, conflicts_with_all = ["keys", "monitor"])]
    pub slots_only: bool,
    /// Only the names of the keys: no types, no sizes
    #[arg(long)]
    pub keys: bool,
    /// Only this percentage of the slots, with all keys
    ///
    /// Always the same slots.
    #[arg(long, value_name = "PERCENT", value_parser = values::part_percent, conflicts_with = "slots_only")]
    pub sample: Option<f64>,
    /// Which nodes are read [default: replicas, where there are any]
    ///
    /// Primaries with --slots-only. LFU counters and idle times of replicas are left out: they count their own reads.
    #[arg(long, value_enum, value_name = "WHICH")]
    pub from: Option<From>,
    /// CLUSTER SLOT-STATS of all primaries, at intervals: 10s
    ///
    /// Writes a line per node and time to slot-stats.json, for timeline: Valkey 8.0, Redis 8.2 and later.
    #[arg(long, value_name = "TIME", value_parser = values::duration, requires = "during", conflicts_with = "load")]
    pub every: Option<Duration>,
    /// For how long: 10m
    #[arg(long = "for", id = "during", value_name = "TIME", value_parser = values::duration, requires = "every")]
    pub during: Option<Duration>,
    /// COUNT of SCAN: keys of a page
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = clap::value_parser!(u64).range(1..=100_000), default_value = "500")]
    pub count: u64,
    /// Print the ACL rule of a user that may collect, and no more: valkey-9.1
    ///
    /// Run the line on every node. With --monitor it allows MONITOR too.
    #[arg(long, value_name = "SERVER", conflicts_with = "urls", help_heading = SERVERS)]
    pub acl: Option<String>,
    /// How load is measured
    #[command(flatten)]
    pub load: LoadArgs,
    /// How servers are reached, and how gently
    #[command(flatten)]
    pub live: LiveArgs,
    /// When progress is shown on standard error
    #[arg(long, value_enum, value_name = "WHEN", default_value_t, help_heading = RUN, hide_short_help = true)]
    pub progress: When,
    /// The form of the result
    #[command(flatten)]
    pub output: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  slotscope collect redis://HOST:6379 -o shop     then: slotscope analyze shop
  REDISCLI_AUTH=... slotscope collect rediss://HOST:6379 --user slotscope
  slotscope collect --acl valkey-9.1";

/// Which nodes are read.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// The nodes that own the slots
    Primaries,
    /// Their replicas, if healthy
    Replicas,
}

impl Run for CollectArgs {
    fn run(&self, _: &Command) -> Result<Ending> {
        if let Some(server) = &self.acl {
            let line = acl::line(server, self.load.monitor)?;
            return print_lines(|out| writeln!(out, "{line}")).map(|()| Ending::Done);
        }
        let options = self.options()?;
        let directory = Name::from(options.out.as_path()).to_string();
        let bar = CollectBar::new(self.progress);
        let manifest = run::run(&options, &|node, page| bar.show(node, page))?;
        drop(bar);
        self.output
            .print(&manifest, Rows::or_json(usize::MAX), || {
                view::sections(&manifest, &directory)
            })?;
        Ok(ending(&manifest))
    }
}

impl CollectArgs {
    fn options(&self) -> Result<Options> {
        let seeds = live::seeds(&self.urls)?;
        let level = match (self.slots_only, self.keys) {
            (true, _) => Level::Slots,
            (_, true) => Level::Keys,
            _ => Level::Sizes,
        };
        let named = live::name(&seeds) + ".collect";
        let out = self.out.clone().unwrap_or_else(|| named.into());
        let times = self
            .every
            .zip(self.during)
            .map(|(every, during)| Times { every, during });
        Ok(Options {
            out,
            force: self.force,
            level,
            from: self.from.map(|from| match from {
                From::Primaries => Role::Primary,
                From::Replicas => Role::Replica,
            }),
            count: self.count,
            sample_percent: self.sample.unwrap_or(100.0),
            times,
            load: self.load.measured()?,
            ..self.live.options(seeds)?
        })
    }
}

pub(crate) fn ending(manifest: &Manifest) -> Ending {
    if manifest.incomplete {
        Ending::Incomplete
    } else {
        Ending::Done
    }
}
