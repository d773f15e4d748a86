//! The flags of `slotscope timeline INPUT...`.

use std::path::PathBuf;

use clap::Args;

use slotscope_app::cli::input::kind::{NEEDS_TIMES, check_paths};
use slotscope_app::cli::printing::{ReplaceArgs, Rows, TableArgs};
use slotscope_app::cli::reading::ReadingArgs;
use slotscope_app::cli::{Command, Ending, Run, redacted};
use slotscope_app::options::headings::{COUNTING, OUTPUT};
use slotscope_app::options::{HashSpec, NodeSpec};
use slotscope_base::error::{Error, Result};
use slotscope_base::redact::Redaction;
use slotscope_read::source::collection::manifest::{FILE, SLOT_STATS_FILE};
use slotscope_read::source::listed::in_directory;
use slotscope_report::view::Heat;

use crate::timeline::outputs::outputs;
use crate::timeline::{self, view};

/// Operations over time and slots, and bursts by name
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct TimelineArgs {
    /// What is read
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// The nodes
    #[command(flatten)]
    pub cluster: NodeSpec,
    /// The hash policy
    #[command(flatten)]
    pub hashing: HashSpec,
    /// Tags that are followed, bursts that are shown
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = OUTPUT, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub top: u16,
    /// What is counted [default: ops of captures, cpu of CLUSTER SLOT-STATS]
    #[arg(long, value_enum, value_name = "WHAT", help_heading = COUNTING)]
    pub by: Option<Heat>,
    /// Hashes in place of names, in every output
    ///
    /// Keyed hashes replace the names of keys, tags, patterns, files and nodes; slots and numbers stay true. The key is
    /// SLOTSCOPE_REDACT_KEY, else random.
    #[arg(long, help_heading = OUTPUT)]
    pub redact: bool,
    /// The format of the result
    #[command(flatten)]
    pub output: TableArgs,
    /// Also write timeline.json and timeline.html here
    #[arg(short, long, value_name = "DIR", help_heading = OUTPUT)]
    pub out: Option<PathBuf>,
    /// What may be replaced
    #[command(flatten)]
    pub replace: ReplaceArgs,
}

const EXAMPLES: &str = "\
Example:
  timeout 30 redis-cli -h HOST -p PORT MONITOR > HOST-PORT.monitor
  slotscope timeline *.monitor --topology cluster.nodes --out hot";

impl Run for TimelineArgs {
    fn run(&self, _: &Command) -> Result<Ending> {
        redacted(self.redact, |redaction| self.timeline(redaction.as_deref()))
    }

    fn reading(&self) -> Option<&ReadingArgs> {
        Some(&self.reading)
    }
}

impl TimelineArgs {
    fn timeline(&self, redaction: Option<&Redaction>) -> Result<Ending> {
        check_paths(&self.reading.inputs, NEEDS_TIMES)?;
        let top = usize::from(self.top);
        let options = timeline::Options {
            by: self.by,
            topology: self.cluster.named()?,
            top,
            redaction,
        };
        let reading = self.inputs()?.reading(self.hashing.policy()?)?;
        let guard = self.replace.guard(reading.paths());
        let open = |path| outputs(top).open(path, guard);
        let files = self.out.as_deref().map(open).transpose()?;
        let timeline = timeline::read(&reading, &options)?;
        let printed = self.output.print(
            &timeline,
            Rows::or_json(top),
            || view::sections(&timeline, top),
            || view::rows(&timeline),
        );
        if let Some(files) = files {
            files.publish(&timeline)?;
        }
        printed?;
        Ok(Ending::of(&timeline.incomplete))
    }

    /// The input; for a `collect` directory, its counts over time.
    fn inputs(&self) -> Result<ReadingArgs> {
        let mut reading = self.reading.clone();
        for input in &mut reading.inputs {
            if !input.join(FILE).is_file() {
                continue;
            }
            let series = in_directory(input, SLOT_STATS_FILE)?;
            if !series.is_file() {
                let reason = format!(
                    "no {SLOT_STATS_FILE}: collect with --every 10s --for 10m to have counts over time"
                );
                return Err(Error::bad_file(input.as_path(), reason));
            }
            *input = series;
        }
        Ok(reading)
    }
}
