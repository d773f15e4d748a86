//! `slotscope tally`, `slotscope merge` and `slotscope recount`: distributed counting.

use std::path::{Path, PathBuf};

use clap::Args;

use slotscope_app::cli::input::kind::{NEEDS_DUMPS, check_paths};
use slotscope_app::cli::input::tally_files::Tallies;
use slotscope_app::cli::progress::{self, When};
use slotscope_app::cli::reading::ReadingArgs;
use slotscope_app::cli::{Command, Ending, Run};
use slotscope_app::options::headings::{ARGUMENTS, COUNTING, INPUT, OUTPUT, RUN};
use slotscope_app::options::{CountSpec, HashSpec, ListingSpec, StorageSpec};
use slotscope_app::partial::job::Job;
use slotscope_app::partial::recount_file::SCHEMA as RECOUNT_SCHEMA;
use slotscope_app::partial::tally_file::SCHEMA;
use slotscope_app::partial::{self, Input, Part, Plan, Split};
use slotscope_app::pipeline::reading::Options;
use slotscope_base::error::{Error, Result};
use slotscope_base::slot::policy::Policy;
use slotscope_read::source::chunk::CHUNK;
use slotscope_report::output::{Guard, SingleFile};

/// Distributed counting: the counts of dumps, as a file
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct TallyArgs {
    /// What is read
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// The nodes
    #[command(flatten)]
    pub cluster: ListingSpec,
    /// The hash policy
    #[command(flatten)]
    pub hashing: HashSpec,
    /// What is counted
    #[command(flatten)]
    pub counting: CountSpec,
    /// Which part is counted: 3/16 is the third of sixteen
    ///
    /// Parts are of about the same size.
    #[arg(long, value_name = "K/N", value_parser = part, help_heading = COUNTING)]
    pub part: Option<Part>,
    /// The tally file
    #[arg(long, short, value_name = "FILE", help_heading = OUTPUT)]
    pub out: PathBuf,
}

/// Distributed counting: tally files merged into one
#[derive(Args, Debug)]
#[command(next_help_heading = INPUT, after_help = MERGE_EXAMPLES)]
pub struct MergeArgs {
    /// Tally files, or files of recount
    #[arg(value_name = "FILE", required = true, help_heading = ARGUMENTS)]
    pub files: Vec<PathBuf>,
    /// The merged file
    #[arg(long, short, value_name = "FILE", help_heading = OUTPUT)]
    pub out: PathBuf,
}

/// Distributed counting: the second pass, where one is needed
#[derive(Args, Debug)]
#[command(next_help_heading = INPUT, after_help = RECOUNT_EXAMPLES)]
pub struct RecountArgs {
    /// The tally file of all parts
    #[arg(long = "for", value_name = "FILE")]
    pub tally: PathBuf,
    /// Which part is counted: 3/16 is the third of sixteen
    #[arg(long, value_name = "K/N", value_parser = part)]
    pub part: Option<Part>,
    /// How object stores are opened
    #[command(flatten)]
    pub storage: StorageSpec,
    /// Worker threads [default: all cores]
    #[arg(long, value_name = "N", help_heading = RUN, hide_short_help = true)]
    pub threads: Option<usize>,
    /// Bytes, rate and time left on standard error
    #[arg(long, value_enum, value_name = "WHEN", default_value_t, help_heading = RUN, hide_short_help = true)]
    pub progress: When,
    /// The file of the second pass, which analyze takes next to the tally file
    #[arg(long, short, value_name = "FILE", help_heading = OUTPUT)]
    pub out: PathBuf,
}

const EXAMPLES: &str = "\
Example, on the third of sixteen machines:
  slotscope tally s3://bucket/dumps/ --part 3/16 -o 3.tally";
const MERGE_EXAMPLES: &str = "\
Example:
  slotscope merge *.tally -o all.tally && slotscope analyze all.tally";
const RECOUNT_EXAMPLES: &str = "\
Example:
  slotscope recount --for all.tally -o all.again
  slotscope analyze all.tally all.again";

impl Run for TallyArgs {
    fn run(&self, _: &Command) -> Result<Ending> {
        check_paths(&self.reading.inputs, NEEDS_DUMPS)?;
        let cluster = self.cluster.listing()?;
        let flags = self.reading.flags(&self.hashing, &self.counting, cluster)?;
        let reading = self.reading.reading(Policy::Oss)?;
        let output = open(&self.out, SCHEMA, reading.paths())?;
        let options = reading.options.clone();
        let (plan, reading) = partial::plan_of(flags, reading, CHUNK)?;
        let splits = splits(&plan, self.part);
        let mut sources: Vec<_> = reading.sources.into_iter().map(Some).collect();
        let job = Job::on(&plan, &splits, &options, |number, input| {
            let source = sources.get_mut(number).and_then(Option::take);
            source.map_or_else(|| input.source(&options.storage), Ok)
        })?;
        let file = job.tally(self.part)?;
        let bytes = file.to_bytes();
        output.publish(|out| out.write_all(&bytes))?;
        Ok(if file.incomplete.is_empty() {
            Ending::Done
        } else {
            Ending::Incomplete
        })
    }

    fn reading(&self) -> Option<&ReadingArgs> {
        Some(&self.reading)
    }
}

impl Run for MergeArgs {
    fn run(&self, _: &Command) -> Result<Ending> {
        let paths = || self.files.iter().map(PathBuf::as_path);
        let (schema, bytes) = match Tallies::read(&self.files)? {
            Tallies {
                tally: Some(tally),
                again: None,
            } => (SCHEMA, tally.to_bytes()),
            Tallies {
                tally: None,
                again: Some(again),
            } => (RECOUNT_SCHEMA, again.to_bytes()),
            _ => {
                let reason =
                    "tally files and files of recount are merged apart; analyze takes both";
                return Err(Error::bad("FILE", reason));
            }
        };
        let output = open(&self.out, schema, paths())?;
        output.publish(|out| out.write_all(&bytes))?;
        Ok(Ending::Done)
    }
}

impl Run for RecountArgs {
    fn run(&self, _: &Command) -> Result<Ending> {
        let merged = Tallies::read(std::slice::from_ref(&self.tally))?.tally;
        let wanted = || Error::bad_file(self.tally.as_path(), "is not a tally file");
        let tally = merged.ok_or_else(wanted)?;
        let plan = tally.plan.clone();
        let options = Options {
            storage: self.storage.options()?,
            threads: self.threads,
            on_progress: Some(progress::hook(self.progress)),
            ..Options::default()
        };
        let paths = plan.inputs.iter().map(Input::path);
        let read: Vec<PathBuf> = paths.chain([self.tally.clone()]).collect();
        let output = open(&self.out, RECOUNT_SCHEMA, read.iter().map(PathBuf::as_path))?;
        let job = Job::new(&plan, &splits(&plan, self.part), &options)?;
        let bytes = job.recount(tally, self.part)?.to_bytes();
        output.publish(|out| out.write_all(&bytes))?;
        Ok(Ending::Done)
    }
}

/// The splits of one part, or of all.
fn splits(plan: &Plan, part: Option<Part>) -> Vec<Split> {
    part.map_or_else(|| plan.splits(u64::MAX), |part| plan.part(part))
}

/// Opens an output, which may replace only a file of the same schema and never an input.
fn open<'p>(
    path: &Path,
    schema: &'static str,
    read: impl Iterator<Item = &'p Path>,
) -> Result<SingleFile> {
    let guard = Guard::new("name another file with --out").reading(read);
    SingleFile::open(path, schema, guard)
}

fn part(text: &str) -> std::result::Result<Part, String> {
    text.parse().map_err(String::from)
}
