//! The flags of `slotscope bench`.

use std::path::{Path, PathBuf};

use clap::Args;

use slotscope_app::cli::input::kind::{NEEDS_KEYS, check_paths, check_sources};
use slotscope_app::cli::printing::{OutputArgs, Rows, print_lines};
use slotscope_app::cli::{Command, Ending, Run, inputs, say};
use slotscope_app::options::ReadSpec;
use slotscope_app::options::headings::{OUTPUT, RUN};
use slotscope_app::pipeline::reading::{Options, Reading};
use slotscope_base::error::Result;
use slotscope_report::render::csv;

use crate::bench::{self, Figures, view};

/// CRC16 throughput of every kernel on this machine, or a scan of a dump by stage
#[derive(Args, Debug)]
#[command(next_help_heading = RUN, after_help = EXAMPLES)]
pub struct BenchArgs {
    /// A dump, whose scan is timed in place of the kernels: read, cut, hash, count, beside a count of its line ends
    #[arg(long, value_name = "DUMP")]
    pub file: Option<PathBuf>,
    /// Rounds; the median counts
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Threads of the second measurement [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Rows of CSV on standard output, in place of text
    #[arg(long, help_heading = OUTPUT, conflicts_with = "json")]
    pub csv: bool,
    /// The format of the result
    #[command(flatten)]
    pub output: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  slotscope bench --rounds 3 --json > bench.json
  slotscope bench --file dump.keys";

impl Run for BenchArgs {
    fn run(&self, _: &Command) -> Result<Ending> {
        let figures = self.figures()?;
        if self.csv {
            view::doubts(&figures).for_each(|doubt| say(&doubt));
            print_lines(|out| csv::write(&view::rows(&figures), out))?;
        } else {
            let rows = Rows::or_json(usize::MAX);
            self.output
                .print(&figures, rows, || view::sections(&figures))?;
        }
        Ok(Ending::Done)
    }
}

impl BenchArgs {
    fn figures(&self) -> Result<Figures> {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = self.threads.map_or_else(cores, usize::from);
        // What analyze takes without flags.
        let options = ReadSpec {
            kernel: std::env::var("SLOTSCOPE_KERNEL").ok(),
            ..ReadSpec::default()
        }
        .options()?;
        match &self.file {
            None => bench::kernels(self.rounds, threads, options.kernel),
            Some(path) => {
                let reading = |threads| reading(path, threads, &options);
                bench::scan(self.rounds, threads, options.kernel, path, reading)
            }
        }
    }
}

/// The dump at `path`, to be read by this many threads.
fn reading(path: &Path, threads: usize, options: &Options) -> Result<Reading> {
    let paths = [path.to_owned()];
    check_paths(&paths, NEEDS_KEYS)?;
    let found = inputs::find(&paths, &options.storage)?;
    check_sources(&found.sources, NEEDS_KEYS)?;
    let threads = Some(threads);
    Reading::new(
        found,
        Options {
            threads,
            ..options.clone()
        },
    )
}
