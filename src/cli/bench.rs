//! The flags of `slotscope bench`.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::bench::{Bench, chart, view};
use crate::cli::Ending;
use crate::cli::printing::{OutputArgs, Rows};
use crate::error::Result;
use crate::report::directory::{Directory, Guard, Mark, Written};
use crate::report::json;
use crate::spec::headings::{OUTPUT, RUN};

/// What is written with `--out`.
const JSON_FILE: &str = "bench.json";
const CHART_FILE: &str = "bench.png";
/// What may be replaced.
const GUARD: Guard = Guard {
    mark: Mark {
        file: Some(JSON_FILE),
        text: "\"schema\":\"slotscope.bench/",
    },
    read: Vec::new(),
    force: false,
    way_out: "name another directory with --out",
    or_force: "",
};

/// CRC16 throughput of every kernel on this machine.
#[derive(Args, Debug)]
#[command(next_help_heading = RUN, after_help = EXAMPLES)]
pub struct BenchArgs {
    /// Rounds; the median counts
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Threads of the second measurement [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Keys of the dump that is scanned in memory
    #[arg(long, value_name = "N", default_value = "2M", value_parser = crate::cli::values::count)]
    pub keys: u64,
    /// The format of the result
    #[command(flatten)]
    pub output: OutputArgs,
    /// Also write bench.json and bench.png here
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Example:
  slotscope bench --rounds 3 --json > bench.json";

impl BenchArgs {
    /// Checks, times, and prints.
    ///
    /// # Errors
    /// A kernel that gives a wrong slot, or an output that cannot be written.
    pub fn run(&self) -> Result<Ending> {
        let open = |path: &Path| Directory::open(path, &[JSON_FILE, CHART_FILE], GUARD);
        let directory = self.out.as_deref().map(open).transpose()?;
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let figures = Bench {
            rounds: self.rounds,
            threads: self.threads.map_or_else(cores, usize::from),
            keys: self.keys,
        }
        .run()?;
        let rows = Rows::or_json(usize::MAX);
        let printed = self
            .output
            .print(&figures, rows, || view::sections(&figures));
        if let Some(directory) = directory {
            directory.publish(|name, out| {
                match name {
                    CHART_FILE => chart::write(&figures, out)?,
                    _ => json::write_object(&figures, out)?,
                }
                Ok(Written::Whole)
            })?;
        }
        printed?;
        Ok(Ending::Done)
    }
}
