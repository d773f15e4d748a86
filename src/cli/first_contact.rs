//! Suggestions for a run without a command, with an unknown command, or without input.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use slotscope_base::name::Name;
use slotscope_base::text::shell_word;
use slotscope_read::source::remote;
use slotscope_report::render::text::wrapped;

use crate::cli::help::topics::{TOPICS, Topic};
use crate::cli::program;
use crate::cli::synonyms::command_for;

/// How to begin, shown after the description of the program.
const BEGIN: &str = "

  slotscope analyze dump.rdb            a report of dumps
  slotscope analyze redis://HOST:6379   of a running cluster
  slotscope keyslot 'user:{42}:cart'    the slot of a key

  slotscope help                        commands and topics
  slotscope help formats                what is read
";

/// Its width in columns.
const COLUMNS: usize = 60;

/// The suggestion for a command without input.
pub(super) fn no_input(words: &[OsString]) -> String {
    let examples = examples(words).unwrap_or_default();
    format!(
        "no input: none is named, and none is piped in\n\n{examples}\n\nslotscope help formats lists what is read"
    )
}

/// A better answer than clap's to a refused command line `words`, if there is one.
pub(super) fn answer(error: &clap::Error, words: &[OsString]) -> Option<String> {
    match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            let purpose = wrapped(env!("CARGO_PKG_DESCRIPTION"), COLUMNS);
            Some(purpose.join("\n") + BEGIN)
        }
        ErrorKind::InvalidSubcommand => {
            let word = text_of(error, ContextKind::InvalidSubcommand)?;
            let similar = text_of(error, ContextKind::SuggestedSubcommand);
            Some(format!(
                "slotscope: {}\n",
                no_command(&word, similar.as_deref())
            ))
        }
        ErrorKind::DisplayHelp => host_after_h(words),
        ErrorKind::InvalidUtf8 => Some(
            "slotscope: an argument is not UTF-8; keys with other bytes are matched by --match-regex '^a(?-u:\\xff)'\n".into(),
        ),
        ErrorKind::MissingRequiredArgument => {
            let examples = examples(words)?;
            Some(format!("{}\n{examples}\n", rendered(error)))
        }
        ErrorKind::ValueValidation => Some(in_plain_words(&rendered(error))),
        _ => None,
    }
}

/// Without the words of Rust for a number that cannot be parsed.
fn in_plain_words(error: &str) -> String {
    const WORDS: [(&str, &str); 4] = [
        ("invalid digit found in string", "it must be a whole number"),
        (
            "cannot parse integer from empty string",
            "it must be a whole number",
        ),
        ("number too large to fit in target type", "it is too large"),
        (
            " is not in 0..16384",
            " is not a slot; slots are 0 to 16383",
        ),
    ];
    let replaced = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
    WORDS.iter().fold(error.to_owned(), replaced)
}

/// `-h HOST` as in redis-cli: the URL to write instead.
fn host_after_h(words: &[OsString]) -> Option<String> {
    let cli = program();
    let value = |flag: &str| {
        let at = words.iter().position(|word| word == flag)?;
        let word = words.get(at + 1)?.to_str()?;
        (!word.starts_with('-')).then_some(word)
    };
    let host = value("-h").filter(|host| cli.find_subcommand(host).is_none())?;
    let typed = if host.contains("://") {
        host.to_owned()
    } else {
        format!("redis://{host}:{}", value("-p").unwrap_or("6379"))
    };
    let url = Name::from(remote::without_password(&typed).as_str());
    Some(format!("slotscope: -h is the help; write {url}\n"))
}

/// The examples of the command in a command line.
fn examples(words: &[OsString]) -> Option<String> {
    let cli = program();
    let mut commands = words.iter().filter_map(|word| cli.find_subcommand(word));
    commands.next()?.get_after_help().map(ToString::to_string)
}

/// The likely meaning of a word that is not a command.
pub(super) fn no_command(word: &str, similar: Option<&str>) -> String {
    let shown = remote::without_password(word);
    let name = Name::from(shown.as_str());
    let typed = Name::from(shell_word(&shown).as_str());
    if Topic::named(word).is_some() {
        return format!("\"{name}\" is a page of the manual: slotscope help {typed}");
    }
    if remote::is_server(Path::new(word)) {
        return format!(
            "\"{name}\" is a server, not a command: slotscope analyze {typed}, or to keep what is read: slotscope collect \
             {typed} -o DIR"
        );
    }
    if is_input(word) {
        return format!("\"{name}\" is an input, not a command: slotscope analyze {typed}");
    }
    match command_for(word).or(similar) {
        Some(command) => {
            format!(
                "no command is called \"{name}\"; did you mean slotscope {command}? slotscope help lists all"
            )
        }
        None => format!(
            "no command or page of the manual is called \"{name}\"; there are: {}",
            known()
        ),
    }
}

/// Whether a word looks like input for analyze: an existing file, a path, an address or a file name.
fn is_input(word: &str) -> bool {
    let path = Path::new(word);
    word == "-" || word.contains(['/', '\\', '*']) || path.extension().is_some() || path.exists()
}

/// The commands and pages.
fn known() -> String {
    let mut cli = program();
    cli.build();
    let commands = cli.get_subcommands().map(clap::Command::get_name);
    let topics = TOPICS.iter().map(|topic| topic.name);
    commands.chain(topics).collect::<Vec<_>>().join(", ")
}

/// The error text, starting with the program's name like all its errors, for pipelines and cron mail.
pub(super) fn rendered(error: &clap::Error) -> String {
    error
        .render()
        .ansi()
        .to_string()
        .replacen("error:", "slotscope:", 1)
}

/// A text from the context of a clap error.
fn text_of(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        // The closest match is last.
        ContextValue::Strings(texts) => texts.last().cloned(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_in_place_of_a_command_is_answered_with_what_to_type() {
        for (word, answer) in [
            (
                "dump.rdb",
                "\"dump.rdb\" is an input, not a command: slotscope analyze dump.rdb",
            ),
            ("my dump.rdb", "slotscope analyze 'my dump.rdb'"),
            ("/data", "slotscope analyze /data"),
            ("src", "slotscope analyze src"),
            ("s3://bucket/dumps/", "slotscope analyze s3://bucket/dumps/"),
            (
                "10.0.0.1:6379",
                "slotscope analyze 10.0.0.1:6379, or to keep",
            ),
            (
                "redis://u:secret@h:1",
                "slotscope collect redis://h:1 -o DIR",
            ),
            ("formats", "slotscope help formats"),
            ("-", "slotscope analyze -"),
            ("nonsense", "there are: analyze, "),
            ("\u{1b}[2J", "\\x1b[2J"),
        ] {
            let said = no_command(word, None);
            assert!(
                said.contains(answer) && !said.contains("secret"),
                "{word}: {said}"
            );
        }
        assert!(no_command("anlyze", Some("analyze")).contains("did you mean slotscope analyze?"));
        assert!(no_command("report", Some("recount")).contains("did you mean slotscope analyze?"));
    }
}
