//! The subcommands, one file each with its flags and `run`.

pub mod analyze;
pub mod bench;
pub mod dump;
pub mod find_tag;
mod first_contact;
pub mod generate;
pub mod help;
pub mod keyslot;
pub mod manual;
pub mod plan;
pub mod schema;
mod synonyms;
mod table;
pub mod whatif;

use std::ffi::OsString;
use std::io::{IsTerminal, Write};

use anstream::ColorChoice;
use clap::error::ErrorKind;
use clap::{ArgAction, ArgMatches, FromArgMatches, ValueEnum};

use slotscope_app::cli::{Command, Ending, Run};
use slotscope_app::options::headings::GENERAL;
use slotscope_base::error::{Error, Result};
use slotscope_read::source::pipe;

use crate::cli::table::COMMANDS;

pub use clap::Args;
pub use slotscope_app::cli::{reading, report_file, say};

/// Exit code: a limit set by the user was crossed.
const CROSSED: u8 = 1;
/// Exit code: usage error, I/O error, or bad input.
const FAILED: u8 = 2;

/// Runs the command line `words`, starting with the program's name, and returns the exit code. Signals are up to the
/// caller.
pub fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    let words: Vec<OsString> = words.into_iter().collect();
    let line = match Line::parse(&words) {
        Ok(line) => line,
        Err(error) => return unparsed(&error, &words),
    };
    match line.color {
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    }
    .write_global();
    let reads_stdin = line.flags.reads_stdin();
    // Nobody types a dump by hand.
    let is_typed = reads_stdin && (std::io::stdin().is_terminal() || pipe::stdin_is_null());
    let code = if is_typed {
        FAILED
    } else {
        ended(line.result())
    };
    if is_typed || (reads_stdin && pipe::stdin_was_empty()) {
        say(&first_contact::no_input(&words));
        return FAILED;
    }
    code
}

/// Answers words that are not a command line, and returns the exit code; clap reports help and version as errors, too.
fn unparsed(error: &clap::Error, words: &[OsString]) -> u8 {
    if let Some(answer) = first_contact::answer(error, words) {
        drop(write!(anstream::stderr(), "{answer}"));
        FAILED
    } else if error.use_stderr() {
        let rendered = first_contact::rendered(error);
        drop(write!(anstream::stderr(), "{rendered}"));
        u8::try_from(error.exit_code()).unwrap_or(FAILED)
    } else {
        let printed = error.print().and_then(|()| std::io::stdout().flush());
        ended(printed.map(|()| Ending::Done).map_err(Error::stdout))
    }
}

/// The program; what it is for is in Cargo.toml.
#[derive(Args)]
#[command(
    version,
    about = env!("CARGO_PKG_DESCRIPTION"),
    propagate_version = true,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_flag = true,
    disable_help_subcommand = true,
    disable_version_flag = true,
    after_help = help::footer()
)]
struct Program {
    /// When to use colours; NO_COLOR is honoured too
    #[arg(
        long,
        value_enum,
        default_value_t = Color::Auto,
        global = true,
        value_name = "WHEN",
        help_heading = GENERAL,
        hide_short_help = true
    )]
    color: Color,
    /// -h the flags that matter, --help all of them
    #[arg(short, long, action = ArgAction::Help, global = true, help_heading = GENERAL)]
    help: Option<bool>,
    /// The version
    #[arg(short = 'V', long, action = ArgAction::Version, global = true, help_heading = GENERAL)]
    version: Option<bool>,
}

/// The definition of the command line. A negative number is an invalid value of its flag, not an unknown flag.
pub fn program() -> clap::Command {
    let with_numbers = |arg: clap::Arg| {
        let takes_value = !arg.is_positional() && arg.get_action().takes_values();
        arg.allow_negative_numbers(takes_value)
    };
    let commands = COMMANDS.iter().map(Command::flags);
    Program::augment_args(clap::Command::new("slotscope").subcommands(commands))
        .mut_subcommands(|command| command.mut_args(with_numbers))
}

/// A command line: a command, and its flags.
struct Line {
    command: &'static Command,
    flags: Box<dyn Run>,
    color: Color,
}

impl Line {
    /// Parses the words of a command line; the flags keep them.
    fn parse(words: &[OsString]) -> std::result::Result<Self, clap::Error> {
        let mut matches = matches(words)?;
        let color = Program::from_arg_matches(&matches)?.color;
        let (name, mut matches) = matches.remove_subcommand().expect("a required command");
        let command = COMMANDS.iter().find(|command| command.name == name);
        let command = command.expect("a command of the table");
        let mut flags = command.parse(&mut matches)?;
        flags.keep_words(words.to_vec());
        Ok(Line {
            command,
            flags,
            color,
        })
    }

    /// Runs the command.
    fn result(&self) -> Result<Ending> {
        let reading = self.flags.reading();
        if reading.is_some_and(|reading| reading.format == "help") {
            reading::print_format_help()
        } else {
            self.flags.run(self.command)
        }
    }
}

/// The flags of the command in a command line.
///
/// # Errors
/// The words are not a command, or ask for help or version, which clap reports as errors.
pub fn flags<A: Args>(words: &[OsString]) -> std::result::Result<A, clap::Error> {
    let (_, mut matches) = matches(words)?
        .remove_subcommand()
        .expect("a required command");
    A::from_arg_matches_mut(&mut matches)
}

fn matches(words: &[OsString]) -> std::result::Result<ArgMatches, clap::Error> {
    let mut program = program();
    program
        .try_get_matches_from_mut(words)
        .map_err(|mut error| {
            if error.kind() == ErrorKind::UnknownArgument {
                let command = words.iter().find_map(|word| program.find_subcommand(word));
                synonyms::tip(&mut error, command.map_or("", |command| command.get_name()));
            }
            error
        })
}

/// When to use colours.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    /// On a terminal
    Auto,
    /// Also into files and pipes
    Always,
    /// Not at all
    Never,
}

/// Reports a failure, and returns the exit code. A closed output does not count as a failure.
fn ended(result: Result<Ending>) -> u8 {
    match result {
        Ok(Ending::Done) | Err(Error::BrokenPipe) => 0,
        Ok(Ending::Crossed) => CROSSED,
        Ok(Ending::Incomplete) => FAILED,
        Err(error) => {
            say(&error.to_string());
            FAILED
        }
    }
}
