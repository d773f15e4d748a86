//! `slotscope completions SHELL` and `slotscope man [COMMAND]`, both generated from the same flags as `--help`.

use std::io::{self, Write};

use clap::Args;
use clap_complete::Shell;

use slotscope_app::cli::{Command, Ending, Run};
use slotscope_app::options::headings::ARGUMENTS;
use slotscope_base::error::{Error, Result};

use crate::cli::first_contact::no_command;
use crate::cli::program;

/// A completion script for a shell, on standard output
#[derive(Args, Debug)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(help_heading = ARGUMENTS)]
    pub shell: Shell,
}

const COMPLETIONS_EXAMPLES: &str = "\
Example:
  slotscope completions bash > ~/.local/share/bash-completion/completions/slotscope";
const MAN_EXAMPLES: &str = "\
Example:
  slotscope man analyze | man -l -";

impl Run for CompletionsArgs {
    fn run(&self, _: &Command) -> Result<Ending> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut program(), "slotscope", &mut script);
        print(&script)
    }
}

/// The manual page, on standard output
#[derive(Args, Debug)]
#[command(after_help = MAN_EXAMPLES)]
pub struct ManArgs {
    /// The page of one command, for instance analyze
    #[arg(help_heading = ARGUMENTS)]
    pub command: Option<String>,
}

impl Run for ManArgs {
    fn run(&self, _: &Command) -> Result<Ending> {
        let mut cli = program();
        cli.build();
        let page = match &self.command {
            None => cli,
            Some(name) => match cli.find_subcommand(name) {
                Some(command) => {
                    let title = format!("slotscope-{name}");
                    command.clone().display_name(title)
                }
                None => return Err(Error::bad("man", no_command(name, None))),
            },
        };
        let mut text = Vec::new();
        clap_mangen::Man::new(page)
            .render(&mut text)
            .map_err(Error::stdout)?;
        print(&text)
    }
}

fn print(text: &[u8]) -> Result<Ending> {
    io::stdout().write_all(text).map_err(Error::stdout)?;
    Ok(Ending::Done)
}
