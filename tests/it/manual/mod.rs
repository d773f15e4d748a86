//! The manual as a book: every page is listed, begins with its purpose, and shows the program's flags, files and findings.

mod flags;
mod made;
mod worked_example;

use std::collections::BTreeSet;

use crate::docs::blocks;
use regex::Regex;
use slotscope::cli::program;
use testkit::files::{below, text_of};
use testkit::run::{Said, Scratch, code, root, stderr, stdout, succeeded};

/// Line limit for the longest `-h` at 80 columns.
const SCREEN: usize = 50;

/// The pages below docs/, relative to it.
pub(crate) fn pages() -> Vec<String> {
    let docs = root().join("docs");
    let pages = below(&docs, "md").into_iter();
    let inside = pages.map(|page| page.strip_prefix(&docs).unwrap().display().to_string());
    inside.collect()
}

pub(crate) fn page(name: &str) -> String {
    text_of(&format!("docs/{name}"))
}

/// The commands of the program.
fn commands() -> Vec<String> {
    let mut cli = program();
    cli.build();
    let commands = cli.get_subcommands();
    commands
        .map(|command| command.get_name().to_owned())
        .collect()
}

#[test]
fn the_summary_lists_every_page() {
    let link = Regex::new(r"\]\(([^)]+)\)").unwrap();
    let summary = page("SUMMARY.md");
    let listed = link
        .captures_iter(&summary)
        .map(|found| found[1].to_owned());
    let pages = pages().into_iter().filter(|name| name != "SUMMARY.md");
    assert_eq!(listed.collect::<BTreeSet<_>>(), pages.collect());
    text_of("book.toml").says("src = \"docs\"");
}

/// The defect in the beginning of a page.
fn flaw_of_beginning(page: &str) -> Option<&'static str> {
    let Some(rest) = page.strip_prefix("# ") else {
        return Some("no heading");
    };
    let paragraph = rest.split("\n\n").nth(1).unwrap_or_default();
    let paragraph = paragraph.replace('\n', " ");
    match paragraph {
        text if text.starts_with(['#', '|', '-', '!', '<']) || text.starts_with("```") => {
            Some("no paragraph under the heading")
        }
        text if text.len() < 40 || !text.ends_with(['.', ':']) => Some("no whole sentence"),
        _ => None,
    }
}

#[test]
fn every_page_begins_with_what_it_is_for() {
    for name in pages().iter().filter(|name| *name != "SUMMARY.md") {
        assert_eq!(flaw_of_beginning(&page(name)), None, "{name}");
    }
    for flawed in [
        "A page\n",
        "# A\n\n## B\n",
        "# A\n\n| a | b |\n",
        "# A\n\nShort.\n",
    ] {
        assert!(flaw_of_beginning(flawed).is_some(), "{flawed}");
    }
}

/// The help at 80 columns.
fn help(scratch: &Scratch, line: &str) -> String {
    let mut command = scratch.command(line);
    let output = command.env("COLUMNS", "80").output().unwrap();
    String::from_utf8(succeeded(output)).unwrap()
}

#[test]
fn a_short_help_is_one_screen_in_groups_with_an_example() {
    let scratch = Scratch::new();
    for name in commands() {
        let text = help(&scratch, &format!("{name} -h"));
        let (count, mut lines) = (text.lines().count(), text.lines());
        assert!(count <= SCREEN, "{name}: {count}");
        assert!(lines.all(|line| line.chars().count() <= 80), "{text}");
        text.says("\nExample").says(&format!("  slotscope {name}"));
        // Every flag is in a group.
        text.lacks("\nOptions:");
        let long = help(&scratch, &format!("{name} --help"));
        assert!(long.lines().count() > count, "{name}");
        assert_eq!(long, help(&scratch, &format!("help {name}")));
    }
}

#[test]
fn topics_are_listed_and_printed() {
    let scratch = Scratch::new();
    let list = help(&scratch, "help");
    for topic in slotscope::cli::help::topics::TOPICS {
        list.says(&format!("\n  {}", topic.name));
        assert_eq!(help(&scratch, &format!("help {}", topic.name)), topic.page);
    }
}

#[test]
#[cfg_attr(not(feature = "rooms"), ignore)]
fn a_run_without_a_command_is_answered_with_what_to_type() {
    let scratch = Scratch::new();
    let welcome = scratch.run("");
    assert_eq!((code(&welcome), stdout(&welcome)), (2, ""));
    stderr(&welcome).says("\n  slotscope analyze dump.rdb");
    assert!(stderr(&welcome).lines().all(|line| line.len() <= 60));
    scratch.file("dump.keys", b"a\n");
    scratch.refuses(
        "dump.keys --nodes 3 | slotscope analyze dump.keys
         anlyze x | did you mean slotscope analyze?
         verdict | slotscope help verdict
         help xyzzy | there are: analyze | formats",
    );
    let missing = scratch.run("diff old");
    stderr(&missing).says("Example:\n  slotscope diff ");
}

/// Words in a block of commands that needs more than a test has: a server, a store, another program, a checkout.
const NEEDS: &str =
    "HOST, 10.0.0.1, ://, cargo , tests/run, parallel , man -l, aws , rdb -c, jq , recount";

#[test]
fn a_block_of_commands_that_can_run_is_run() {
    for name in pages() {
        for (info, block) in blocks(&page(&name)) {
            let may_stay = info != "sh" || NEEDS.split(", ").any(|need| block.contains(need));
            assert!(may_stay, "docs/{name}: mark it `sh run`:\n{block}");
            // Blocks in other languages: `python` is run by tests/python, `rust` below.
            let known = ["sh", "text", "python", "py", "rust", "json", "toml"];
            let is_known = info.starts_with("sh run") || known.contains(&info.as_str());
            assert!(is_known, "docs/{name}: {info}");
        }
    }
}

#[test]
fn the_example_of_the_library_runs() {
    fn example() -> slotscope::Result<()> {
        let summary = slotscope::Analysis::new()
            .nodes(6)
            .run(&["samples/hot-tag.keys"])?;
        println!("{}", summary.verdict.sentence);
        Ok(())
    }
    example().unwrap();
    let source: String = include_str!("mod.rs").split_whitespace().collect();
    let blocks = blocks(&page("library.md"));
    for (_, block) in blocks.iter().filter(|(info, _)| info == "rust") {
        let block: String = block.split_whitespace().collect();
        assert!(
            source.contains(&block),
            "docs/library.md has other code than this test"
        );
    }
}
