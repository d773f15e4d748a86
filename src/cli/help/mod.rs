//! `slotscope help [WORD]`: the flags of a command, or a manual page in the terminal.

pub mod topics;

use std::io::Write;

use clap::Args;

use slotscope_app::cli::{Command, Ending, Run};
use slotscope_app::options::headings::ARGUMENTS;
use slotscope_base::error::{Error, Result};

use crate::cli::first_contact::no_command;
use crate::cli::help::topics::{TOPICS, Topic};
use crate::cli::program;

/// A command's flags, or a page of the manual
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct HelpArgs {
    /// A command or a topic; without it both are listed
    #[arg(value_name = "WORD", help_heading = ARGUMENTS)]
    pub word: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  slotscope help analyze
  slotscope help formats";

/// The topics, for the end of the command list.
pub(crate) fn footer() -> String {
    let rows: String = TOPICS
        .iter()
        .map(|topic| format!("\n  {:<16} {}", topic.name, topic.about))
        .collect();
    format!("Pages of the manual, by `slotscope help TOPIC`:{rows}")
}

impl Run for HelpArgs {
    fn run(&self, _: &Command) -> Result<Ending> {
        let text = match &self.word {
            None => program().render_long_help().ansi().to_string(),
            Some(word) => of(word)?,
        };
        let mut out = anstream::stdout();
        write!(out, "{text}")
            .and_then(|()| out.flush())
            .map_err(Error::stdout)?;
        Ok(Ending::Done)
    }
}

/// The flags of a command, or a page.
fn of(word: &str) -> Result<String> {
    if let Some(topic) = Topic::named(word) {
        return Ok(topic.page.to_owned());
    }
    let mut cli = program();
    cli.build();
    let command = cli.find_subcommand_mut(word).map(|command| {
        let help = command.render_long_help();
        help.ansi().to_string()
    });
    command.ok_or_else(|| Error::bad("help", no_command(word, None)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_topic_is_called_as_a_command() {
        let mut cli = program();
        cli.build();
        for topic in TOPICS {
            assert!(cli.find_subcommand(topic.name).is_none(), "{}", topic.name);
        }
    }

    #[test]
    fn a_word_is_a_command_a_topic_or_an_error_that_names_all() {
        assert!(of("plan").unwrap().contains("--topology"));
        assert!(of("verdict").unwrap().contains("air share"));
        let error = of("no\u{1b}thing").unwrap_err().to_string();
        assert!(
            error.contains("no\\x1bthing") && error.contains("analyze, "),
            "{error}"
        );
        assert!(error.contains("formats, "), "{error}");
        for (word, hint) in [
            ("analyse", "did you mean slotscope analyze?"),
            ("rebalance", "did you mean slotscope plan?"),
        ] {
            let error = of(word).unwrap_err().to_string();
            assert!(error.contains(hint), "{word}: {error}");
        }
    }
}
