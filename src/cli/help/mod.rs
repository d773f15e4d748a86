//! `slotscope help [WORD]`: the flags of a command, or a page of the manual in the terminal.

mod code;
mod page;
pub mod topics;

use std::io::Write;

use clap::{Args, CommandFactory};

use slotscope_engine::error::{Error, Result};
use slotscope_engine::name::Name;

use crate::cli::help::topics::{TOPICS, Topic};
use crate::cli::printing::width;
use crate::cli::{Cli, Ending};
use crate::spec::headings::ARGUMENTS;

/// A command's flags, or a page of the manual.
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

/// The topics, for the end of the list of commands.
pub(crate) fn footer() -> String {
    let rows = TOPICS
        .iter()
        .map(|topic| format!("\n  {:<15}{}", topic.name, topic.about));
    let rows: String = rows.collect();
    format!("Pages of the manual, by `slotscope help TOPIC`:{rows}")
}

impl HelpArgs {
    /// Prints the list, the flags or the page.
    ///
    /// # Errors
    /// No command and no topic has that name, or standard output cannot be written to.
    pub(crate) fn run(&self) -> Result<Ending> {
        let text = match &self.word {
            None => Cli::command().render_long_help().ansi().to_string(),
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
        return Ok(page::rendered(topic.page, width()));
    }
    let mut cli = Cli::command();
    cli.build();
    let command = cli.find_subcommand_mut(word).map(|command| {
        let help = command.render_long_help();
        help.ansi().to_string()
    });
    command.ok_or_else(|| unknown(word, &cli))
}

fn unknown(word: &str, cli: &clap::Command) -> Error {
    let commands: Vec<_> = cli.get_subcommands().map(clap::Command::get_name).collect();
    let topics: Vec<_> = TOPICS.iter().map(|topic| topic.name).collect();
    let what = format!(
        "no command or topic is called \"{}\"; commands: {}; topics: {}",
        Name::from(word),
        commands.join(", "),
        topics.join(", ")
    );
    Error::bad("help", what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_report::render::text::shell_words;

    #[test]
    fn a_page_is_no_wider_than_the_terminal_but_for_a_long_word_of_code() {
        let is_word = |line: &str| shell_words(line.trim().trim_end_matches(" \\")).count() == 1;
        // Lines of a program are not broken.
        let of_programs = ["parts", "python", "spark"];
        let topics = TOPICS
            .iter()
            .filter(|topic| !of_programs.contains(&topic.name));
        for (topic, width) in topics.flat_map(|topic| [60, 80].map(|width| (topic, width))) {
            let page = page::rendered(topic.page, width);
            let page = anstream::adapter::strip_str(&page).to_string();
            let wide = page.lines().filter(|line| line.chars().count() > width);
            let wide: Vec<_> = wide.filter(|line| !is_word(line)).collect();
            assert!(wide.is_empty(), "{} at {width}: {wide:#?}", topic.name);
        }
    }

    #[test]
    fn no_topic_is_called_as_a_command() {
        let mut cli = Cli::command();
        cli.build();
        for topic in TOPICS {
            assert!(cli.find_subcommand(topic.name).is_none(), "{}", topic.name);
        }
    }

    #[test]
    fn a_word_is_a_command_a_topic_or_an_error_that_lists_both() {
        assert!(of("plan").unwrap().contains("--topology"));
        assert!(of("verdict").unwrap().contains("Fair share"));
        let error = of("no\u{1b}thing").unwrap_err().to_string();
        assert!(
            error.contains("no\\x1bthing") && error.contains("analyze, "),
            "{error}"
        );
        assert!(error.contains("formats, "), "{error}");
    }
}
