//! The seam between the program and its commands: a command is a row of the program's table, and its flags implement
//! `Run`.

use std::ffi::OsString;

use clap::{ArgMatches, Args};

use slotscope_base::error::Result;
use slotscope_model::Incomplete;

use crate::cli::reading::ReadingArgs;

/// A command: a row of the table.
pub struct Command {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its JSON outputs; limits are on numbers of the first.
    pub outputs: &'static [Output],
    flags: fn(clap::Command) -> clap::Command,
    parse: fn(&mut ArgMatches) -> std::result::Result<Box<dyn Run>, clap::Error>,
}

/// A JSON output.
pub struct Output {
    /// The name of its schema.
    pub name: &'static str,
    /// Its JSON Schema.
    pub schema: &'static str,
    /// Generates the schema from the type that is written.
    #[cfg(feature = "schemas")]
    pub generate: fn(schemars::SchemaGenerator) -> schemars::Schema,
}

impl Command {
    /// The command with the flags `A`.
    pub const fn new<A: Args + Run + 'static>(
        name: &'static str,
        outputs: &'static [Output],
    ) -> Self {
        Command {
            name,
            outputs,
            flags: A::augment_args,
            parse: |matches| Ok(Box::new(A::from_arg_matches_mut(matches)?)),
        }
    }

    /// The definition of its flags.
    pub fn flags(&self) -> clap::Command {
        (self.flags)(clap::Command::new(self.name))
    }

    /// Its flags as typed.
    ///
    /// # Errors
    /// A value is refused.
    pub fn parse(
        &self,
        matches: &mut ArgMatches,
    ) -> std::result::Result<Box<dyn Run>, clap::Error> {
        (self.parse)(matches)
    }
}

/// The flags of a command.
pub trait Run {
    /// Runs the command, of which `command` is the row.
    ///
    /// # Errors
    /// Why the command has no result; the message is for the user.
    fn run(&self, command: &Command) -> Result<Ending>;

    /// How dumps are read, for commands with `--format`.
    fn reading(&self) -> Option<&ReadingArgs> {
        None
    }

    /// Whether it reads standard input for lack of arguments.
    fn reads_stdin(&self) -> bool {
        self.reading().is_some_and(ReadingArgs::reads_stdin)
    }

    /// Keeps the words of the command line, for a result that shows them.
    fn keep_words(&mut self, _: Vec<OsString>) {}
}

/// How a command ended successfully.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Complete.
    Done,
    /// Complete, but a limit set by the user was crossed.
    Crossed,
    /// The report covers only a part of the input; the rest could not be read.
    Incomplete,
}

impl Ending {
    /// `Incomplete` if an input could not be read to its end.
    pub fn of(stops: &[Incomplete]) -> Self {
        match stops {
            [] => Ending::Done,
            _ => Ending::Incomplete,
        }
    }
}
