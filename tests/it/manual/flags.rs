//! The flags in the manual and its lists of commands and formats match the program. `BLESS=1 cargo test --test it manual::`
//! rewrites them.

use std::collections::BTreeMap;

use crate::manual::made::{check, with, with_rows};
use crate::manual::page;
use clap::{Arg, Command};
use slotscope::cli::program;
use slotscope::detect::FORMATS;
use slotscope::format::Format;
use testkit::run::Said;

/// This many commands share a flag that has its row on the page of all commands.
const SHARED: usize = 2;

/// A row of a table, under its heading.
#[derive(Clone, PartialEq)]
struct Flag {
    heading: String,
    name: String,
    text: String,
}

impl Flag {
    fn of(arg: &Arg) -> Flag {
        let heading = arg.get_help_heading().unwrap_or("Arguments").to_owned();
        Flag {
            heading,
            name: name(arg),
            text: text(arg),
        }
    }

    fn row(&self) -> String {
        format!("| {} | {} |\n", self.name, self.text)
    }

    /// The name without its short form and value: `--out` of `-o`, `--out DIR`.
    fn bare_name(&self) -> String {
        let long = self.name.rsplit(", `").next().unwrap_or_default();
        let word = long.trim_matches('`').split(' ').next().unwrap_or_default();
        format!("`{word}`")
    }
}

/// `-o`, `--out DIR`.
fn name(arg: &Arg) -> String {
    let values = arg.get_value_names().unwrap_or_default().join(" ");
    let values = Some(values).filter(|_| arg.get_action().takes_values());
    match (arg.get_short(), arg.get_long(), values) {
        (_, None, values) => format!("`{}`", values.unwrap_or_default()),
        (short, Some(long), values) => {
            let short = short.map_or(String::new(), |short| format!("`-{short}`, "));
            let values = values.map_or(String::new(), |values| format!(" {values}"));
            format!("{short}`--{long}{values}`")
        }
    }
}

/// The whole help as one line, with the possible values of the flag.
fn text(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    // The default comes last, wherever the help states it.
    let mut defaults = String::new();
    let sentences = help.split("\n\n").map(|paragraph| {
        let paragraph = paragraph.trim().replace('\n', " ");
        let (sentence, default) = match paragraph.rsplit_once("[default: ") {
            Some((sentence, default)) if default.ends_with(']') => (sentence.trim(), default),
            _ => (paragraph.as_str(), ""),
        };
        if !default.is_empty() {
            defaults += &format!(" [default: {default}");
        }
        let is_whole = sentence.is_empty() || sentence.ends_with(['.', ':', '?']);
        format!("{sentence}{}", if is_whole { "" } else { "." })
    });
    let sentences = sentences.collect::<Vec<_>>().join(" ");
    let mut text = escaped(sentences.trim());
    let values = arg.get_possible_values();
    let values = values
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| {
            let help = value
                .get_help()
                .map(|help| format!(" ({})", escaped(&help.to_string())));
            format!("`{}`{}", value.get_name(), help.unwrap_or_default())
        });
    let values: Vec<String> = values.filter(|_| arg.get_action().takes_values()).collect();
    if !values.is_empty() {
        text += &format!(" One of {}.", values.join(", "));
    }
    text += &escaped(&defaults);
    let taken = arg.get_default_values().iter();
    let taken: Vec<_> = taken.map(|it| it.to_string_lossy()).collect();
    if !taken.is_empty() && arg.get_action().takes_values() {
        text += &format!(" [default: `{}`]", taken.join(" "));
    }
    if let Some(variable) = arg.get_env() {
        text += &format!(" [variable: `{}`]", variable.to_string_lossy());
    }
    text
}

/// Escaped for a table cell: outside backticks no character has a meaning in Markdown.
fn escaped(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(number, part)| {
        let part = part.replace('|', "\\|");
        match number % 2 {
            0 => part.replace('<', "\\<").replace('*', "\\*"),
            _ => part,
        }
    });
    parts.collect::<Vec<_>>().join("`")
}

fn flags(command: &Command) -> Vec<Flag> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    shown.map(Flag::of).collect()
}

fn headings(flags: &[Flag]) -> Vec<&str> {
    let mut headings: Vec<&str> = Vec::new();
    for flag in flags {
        if !headings.contains(&flag.heading.as_str()) {
            headings.push(&flag.heading);
        }
    }
    headings
}

/// Tables, one per heading, in the order of the headings.
fn tables(flags: &[Flag]) -> String {
    let tables = headings(flags).into_iter().map(|heading| {
        let of_heading = flags.iter().filter(|flag| flag.heading == heading);
        format!("### {heading}\n\n{}", table(of_heading))
    });
    tables.collect()
}

fn table<'a>(flags: impl Iterator<Item = &'a Flag>) -> String {
    let rows: String = flags.map(Flag::row).collect();
    format!("| flag | |\n|---|---|\n{rows}\n")
}

/// A group of shared flags by its heading; if the command lacks some of them, with the names of those that it has or lacks.
fn group(heading: &str, taken: &[Flag], shared: &[Flag]) -> String {
    let of_group = shared.iter().filter(|flag| flag.heading == heading);
    let (has, lacks): (Vec<&Flag>, Vec<&Flag>) = of_group.partition(|flag| taken.contains(flag));
    let names = |flags: &[&Flag]| {
        let names: Vec<String> = flags.iter().map(|flag| flag.bare_name()).collect();
        names.join(", ")
    };
    if lacks.is_empty() {
        heading.to_owned()
    } else if lacks.len() < has.len() {
        format!("{heading} (without {})", names(&lacks))
    } else {
        format!("{heading} ({})", names(&has))
    }
}

/// The flags on the page of a command: its own in one table, by their headings, and the groups of those that it shares.
fn section(command: &Command, shared: &[Flag]) -> String {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").replace('\n', " ");
    let all = flags(command).into_iter();
    let (common, own): (Vec<_>, Vec<_>) = all.partition(|flag| shared.contains(flag));
    let groups = headings(&common).into_iter();
    let groups = groups.map(|heading| group(heading, &common, shared));
    let common = groups.collect::<Vec<_>>().join(", ");
    let mut ordered: Vec<&Flag> = Vec::new();
    for heading in headings(&own) {
        ordered.extend(own.iter().filter(|flag| flag.heading == heading));
    }
    let own = match ordered[..] {
        [] => String::new(),
        _ => table(ordered.into_iter()),
    };
    format!(
        "```text\n{usage}\n```\n\n{own}[Shared flags](../commands.md#flags-that-commands-share): {common}.\n"
    )
}

#[test]
#[cfg_attr(not(feature = "rooms"), ignore)]
fn the_flags_and_commands_in_the_manual_are_those_of_the_program() {
    let mut cli = program();
    cli.build();
    let all = || cli.get_subcommands().flat_map(flags);
    let mut uses: BTreeMap<(String, String), usize> = BTreeMap::new();
    for flag in all() {
        *uses.entry((flag.name, flag.text)).or_default() += 1;
    }
    let mut shared: Vec<Flag> = Vec::new();
    for flag in all() {
        let is_shared = uses[&(flag.name.clone(), flag.text.clone())] >= SHARED;
        if is_shared && !shared.contains(&flag) {
            shared.push(flag);
        }
    }
    assert!(shared.len() > 10, "{}", shared.len());
    let (mut links, mut rows) = (String::new(), String::new());
    for command in cli.get_subcommands() {
        let name = command.get_name();
        let file = format!("commands/{name}.md");
        links += &format!("  - [{name}]({file})\n");
        rows += &format!("| [{name}]({file}) | {} |\n", command.get_about().unwrap());
        let page = page(&file);
        page.begins(&format!("# {name}\n"));
        check(&file, &with(&page, "flags", &section(command, &shared)));
    }
    check(
        "SUMMARY.md",
        &with_rows(&page("SUMMARY.md"), "  - [", &links),
    );
    let commands = with_rows(&page("commands.md"), "| [", &rows);
    check("commands.md", &with(&commands, "flags", &tables(&shared)));
}

#[test]
fn the_formats_in_the_manual_are_those_of_the_program() {
    let row = |format: &&dyn Format| {
        let (row, from) = format.example().rsplit_once(" (").unwrap();
        let from = escaped(from.trim_end_matches(')'));
        format!("| `{}` | `{row}` | {from} |\n", format.name())
    };
    let rows: String = FORMATS.iter().map(row).collect();
    check("formats.md", &with_rows(&page("formats.md"), "| `", &rows));
}

#[test]
fn a_row_has_all_that_the_help_says() {
    let arg = Arg::new("by")
        .long("by")
        .short('b')
        .value_name("A|B")
        .help("The <metric> of `x*`")
        .long_help("The <metric> of `x*`\n\nAnd more.")
        .default_value("keys")
        .value_parser(["keys", "ops"]);
    let row = Flag::of(&arg).row();
    let expected = "| `-b`, `--by A|B` | The \\<metric> of `x*`. And more. One of `keys`, `ops`. [default: `keys`] |\n";
    assert_eq!(row, expected);
    assert_eq!(Flag::of(&arg).bare_name(), "`--by`");
}
