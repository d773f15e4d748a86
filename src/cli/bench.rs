//! The flags of `slotscope bench`.

use clap::Args;

use slotscope_engine::error::Result;

use crate::bench::{self, view};
use crate::cli::printing::{OutputArgs, Rows};
use crate::cli::{Ending, Run};
use crate::options::headings::RUN;

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
    /// The format of the result
    #[command(flatten)]
    pub output: OutputArgs,
}

const EXAMPLES: &str = "\
Example:
  slotscope bench --rounds 3 --json > bench.json";

impl Run for BenchArgs {
    fn run(&self) -> Result<Ending> {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = self.threads.map_or_else(cores, usize::from);
        let figures = bench::run(self.rounds, threads)?;
        let rows = Rows::or_json(usize::MAX);
        self.output
            .print(&figures, rows, || view::sections(&figures))?;
        Ok(Ending::Done)
    }
}
