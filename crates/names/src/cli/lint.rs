//! The flags of `slotscope lint`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use slotscope_app::cli::input::kind::NEEDS_NAMES;
use slotscope_app::cli::input::servers::ServerArgs;
use slotscope_app::cli::input::{Input, InputFlags};
use slotscope_app::cli::printing::{OutputArgs, Rows};
use slotscope_app::cli::reading::ReadingArgs;
use slotscope_app::cli::{Command, Ending, Run, say, say_stop};
use slotscope_app::options::headings::LIMITS;
use slotscope_app::pipeline::input_info;
use slotscope_app::pipeline::reading::Reading;
use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_count::scan::{Scanned, SeenInput};

use crate::lint::{BUILT_IN, Checks, LintFindings, NamingRules, Severity, view};

/// The default configuration file.
const CONFIG: &str = "slotscope.toml";

/// Key names against a naming convention
///
/// Exits with 1 where there is an error. The convention is env:service:module:{domain:id}:...; slotscope.toml
/// in the current directory changes it.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, after_long_help = rules())]
pub struct LintArgs {
    /// What is read
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// The convention [default: slotscope.toml in the current directory, if there is one]
    #[arg(long, value_name = "FILE", help_heading = LIMITS)]
    pub config: Option<PathBuf>,
    /// The format of the result
    #[command(flatten)]
    pub output: OutputArgs,
    /// Servers among the inputs
    #[command(flatten)]
    pub servers: ServerArgs,
}

const EXAMPLES: &str = "\
Example:
  slotscope lint dumps --config slotscope.toml

`slotscope help naming` has the rules and the file.";

impl Run for LintArgs {
    fn run(&self, _: &Command) -> Result<Ending> {
        let rules = Arc::new(self.rules()?);
        let (reading, collected) = self.input()?.reading()?;
        let scanned = reading.scan("checking", || Checks::new(&rules))?;
        only_keys(&reading, &scanned)?;
        let mut read = input_info::of_reading(&reading, &scanned);
        if let Some(collected) = collected {
            collected.rename(&mut read, &mut Name::default());
        }
        let findings = LintFindings::of(&scanned.tally, &rules, read.rejected);
        self.output
            .print(&findings, Rows::or_json(usize::MAX), || {
                view::sections(&findings)
            })?;
        if findings.keys == 0 {
            say("no keys were checked: the inputs have none");
        }
        read.incomplete.iter().for_each(say_stop);
        Ok(match findings.of_severity(Severity::Error) {
            _ if findings.keys == 0 || !read.incomplete.is_empty() => Ending::Incomplete,
            0 => Ending::Done,
            _ => Ending::Crossed,
        })
    }

    fn reading(&self) -> Option<&ReadingArgs> {
        Some(&self.reading)
    }
}

impl LintArgs {
    fn input(&self) -> Result<Input> {
        let flags = InputFlags {
            reading: &self.reading,
            servers: &self.servers,
            hashing: None,
            refused: NEEDS_NAMES,
        };
        flags.find()?.read(self.reading.progress)
    }

    /// The convention named by the flags, or found in the current directory.
    fn rules(&self) -> Result<NamingRules> {
        match &self.config {
            Some(path) => NamingRules::read(path),
            None if Path::new(CONFIG).is_file() => NamingRules::read(Path::new(CONFIG)),
            None => NamingRules::usual(),
        }
    }
}

/// Refuses an input with operations instead of keys: names occur as often as they are used.
fn only_keys(reading: &Reading, scanned: &Scanned<Checks>) -> Result<()> {
    let is_capture = |input: &SeenInput| input.seen.keys == 0 && input.seen.operations > 0;
    let capture = scanned.inputs.iter().position(is_capture);
    capture.map_or(Ok(()), |at| {
        let reason = format!(
            "its rows ({}) are operations, or name a few keys: name a dump; slotscope analyze reads it",
            scanned.inputs[at].format
        );
        Err(Error::bad_file(reading.sources[at].path(),
            reason,
        ))
    })
}

/// The built-in rules, for `--help`.
fn rules() -> String {
    let row = |(id, severity, fault): &(&str, Severity, &str)| {
        format!("\n  {id:<18}{:<8} {fault}", severity.name())
    };
    let rows: String = BUILT_IN.iter().map(row).collect();
    format!(
        "Rules, their severities unless slotscope.toml sets others, and what keys do that break them:{rows}\n\n{EXAMPLES}"
    )
}
