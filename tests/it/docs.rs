//! The documents are true: marked commands print the text below them, links and paths exist, no flag is missing.
//!
//! A fence with the info string `sh run` is executed by bash in a scratch directory that holds samples/ and a dump.rdb,
//! with slotscope on the PATH; all fences of a document share that directory. `sh run 1` expects the exit code 1. The
//! `text` fence that follows is the output of the commands on both streams; a line `...` matches any lines.
//! `BLESS=1 cargo test --test it docs::` rewrites these texts.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use regex::Regex;
use testkit::files::text_of as read;
use testkit::run::{Said, Scratch, root, stderr};

/// Folders with documents.
const FOLDERS: [&str; 9] = [
    "",
    "docs",
    "docs/commands",
    "benches",
    "samples",
    "reports",
    "reports/bench",
    "crates/hashslot",
    "packaging",
];

/// Documents that name files of the source tree in backticks.
const NAME_PATHS: [&str; 6] = [
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "benches/README.md",
    "samples/README.md",
    "reports/statistics.md",
    "packaging/README.md",
];

/// A line of an expected text that matches any number of lines.
const ANY_LINES: &str = "...";

/// All documents, relative to the root.
fn documents() -> Vec<String> {
    let mut names = Vec::new();
    for folder in FOLDERS {
        let entries = fs::read_dir(root().join(folder)).unwrap();
        let paths = entries.map(|entry| Path::new(folder).join(entry.unwrap().file_name()));
        let documents = paths.filter(|path| path.extension().is_some_and(|it| it == "md"));
        names.extend(documents.map(|path| path.into_os_string().into_string().unwrap()));
    }
    names.sort();
    names
}

/// The README and the manual, whose commands are executed.
fn manual() -> Vec<String> {
    let is_manual = |name: &String| name == "README.md" || name.starts_with("docs/");
    documents().into_iter().filter(is_manual).collect()
}

/// A fenced block: start and end of its content, in lines from 0.
struct Fence {
    info: String,
    from: usize,
    to: usize,
}

impl Fence {
    /// The expected exit code of a block that is executed.
    fn expected_code(&self) -> Option<i32> {
        let rest = self.info.strip_prefix("sh run")?.trim();
        Some(if rest.is_empty() {
            0
        } else {
            rest.parse().unwrap()
        })
    }
}

fn fences(lines: &[String]) -> Vec<Fence> {
    let mut fences = Vec::new();
    let mut open: Option<(String, usize)> = None;
    for (number, line) in lines.iter().enumerate() {
        let Some(info) = line.strip_prefix("```") else {
            continue;
        };
        open = match open {
            None => Some((info.trim().to_owned(), number + 1)),
            Some((info, from)) => {
                let to = number;
                fences.push(Fence { info, from, to });
                None
            }
        };
    }
    assert!(open.is_none(), "a fence is not closed");
    fences
}

/// The info string and the content of each fence.
pub(crate) fn blocks(document: &str) -> Vec<(String, String)> {
    let lines: Vec<String> = document.lines().map(str::to_owned).collect();
    let fences = fences(&lines).into_iter();
    let content = |fence: &Fence| lines[fence.from..fence.to].join("\n");
    fences
        .map(|fence| (fence.info.clone(), content(&fence)))
        .collect()
}

/// Whether `text` directly follows `code`, separated only by blank lines.
fn follows(lines: &[String], code: &Fence, text: &Fence) -> bool {
    text.info == "text"
        && lines[code.to + 1..text.from - 1]
            .iter()
            .all(|line| line.trim().is_empty())
}

/// An RDB file with two strings, one of which expires.
fn dump_rdb() -> Vec<u8> {
    let expires = 1_772_366_400_000_u64.to_le_bytes();
    let keys = b"\x00\x13user:{1000}:profile\x07Ada, 36\x00\x0Fconfig:currency\x03EUR";
    [
        b"REDIS0011\xFE\x00\xFC",
        &expires[..],
        keys,
        b"\xFF",
        &[0; 8],
    ]
    .concat()
}

/// A scratch directory with samples/ and a dump.rdb in it.
pub(crate) fn scratch() -> Scratch {
    let scratch = Scratch::with("dump.rdb", dump_rdb());
    fs::create_dir(scratch.path("samples")).unwrap();
    for entry in fs::read_dir(root().join("samples")).unwrap() {
        let entry = entry.unwrap();
        let copy = scratch.path("samples").join(entry.file_name());
        fs::copy(entry.path(), copy).unwrap();
    }
    scratch
}

/// Runs `script` in a directory, with the program under test on the PATH.
pub(crate) fn bash(script: &str, scratch: &Scratch) -> Output {
    let mut bash = scratch.bash(&format!("set -eo pipefail\nexec 2>&1\n{script}"));
    bash.env("LC_ALL", "C").output().unwrap()
}

fn is_any(line: &String) -> bool {
    line == ANY_LINES
}

/// Whether `made` matches `expected`, in which `...` matches any lines.
fn matches(expected: &[String], made: &[String]) -> bool {
    let parts: Vec<&[String]> = expected.split(is_any).collect();
    let [first, rest @ ..] = parts.as_slice() else {
        return made.is_empty();
    };
    let Some((last, middle)) = rest.split_last() else {
        return made == *first;
    };
    if made.len() < first.len() + last.len() || !made.starts_with(first) || !made.ends_with(last) {
        return false;
    }
    let mut left = &made[first.len()..made.len() - last.len()];
    middle.iter().filter(|part| !part.is_empty()).all(|part| {
        let at = left.windows(part.len()).position(|lines| lines == *part);
        at.is_some_and(|at| {
            left = &left[at + part.len()..];
            true
        })
    })
}

/// The lines that replace `expected` so that `made` matches, keeping as many lines at both ends. `None` if more was
/// left out.
fn blessed(expected: &[String], made: &[String]) -> Option<Vec<String>> {
    let parts: Vec<&[String]> = expected.split(is_any).collect();
    match parts.as_slice() {
        [_] => Some(made.to_vec()),
        [first, last] if made.len() >= first.len() + last.len() => {
            let head = made[..first.len()].iter();
            let tail = made[made.len() - last.len()..].iter();
            let any = ANY_LINES.to_owned();
            Some(head.chain([&any]).chain(tail).cloned().collect())
        }
        _ => None,
    }
}

/// Runs the marked commands of a document; returns their number and the document with the new texts.
fn run_document(name: &str) -> (usize, Vec<String>) {
    let lines: Vec<String> = read(name).lines().map(str::to_owned).collect();
    let fences = fences(&lines);
    let scratch = scratch();
    let mut rewritten = Vec::new();
    let (mut copied, mut count) = (0, 0);
    for (index, fence) in fences.iter().enumerate() {
        let next = fences.get(index + 1);
        let text = next.filter(|next| follows(&lines, fence, next));
        let place = format!("{name}:{}", fence.from);
        let Some(code) = fence.expected_code() else {
            let unmarked = fence.info == "sh" && text.is_some();
            assert!(!unmarked, "{place}: output is shown, so mark it `sh run`");
            continue;
        };
        count += 1;
        let output = bash(&lines[fence.from..fence.to].join("\n"), &scratch);
        let printed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(code), "{place}:\n{printed}");
        let made: Vec<String> = printed.lines().map(str::to_owned).collect();
        let Some(text) = text else { continue };
        let expected = &lines[text.from..text.to];
        if matches(expected, &made) {
            continue;
        }
        let blessing = std::env::var_os("BLESS").is_some();
        assert!(
            blessing,
            "{place}: this prints now (BLESS=1 rewrites):\n{printed}"
        );
        let new = blessed(expected, &made);
        let new = new.unwrap_or_else(|| panic!("{place}: edit this by hand:\n{printed}"));
        rewritten.extend_from_slice(&lines[copied..text.from]);
        rewritten.extend(new);
        copied = text.to;
    }
    rewritten.extend_from_slice(&lines[copied..]);
    (count, rewritten)
}

#[test]
#[cfg_attr(not(feature = "rooms"), ignore)]
fn marked_commands_print_what_the_documents_show() {
    let mut count = 0;
    for name in manual() {
        let (commands, lines) = run_document(&name);
        count += commands;
        let text = lines.join("\n") + "\n";
        if text != read(&name) {
            fs::write(root().join(&name), text).unwrap();
        }
    }
    assert!(count >= 20, "only {count} marked blocks were found");
}

/// The anchor that GitHub generates for a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        c if c.is_alphanumeric() => c.to_lowercase().next(),
        _ => None,
    });
    kept.collect()
}

/// The lines outside fences.
fn prose(document: &str) -> String {
    let outside = document.split("\n```").step_by(2);
    outside.collect::<Vec<_>>().join("\n")
}

/// The targets of the relative links of a document.
fn links(document: &str) -> Vec<String> {
    let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let prose = prose(document);
    let targets = link.captures_iter(&prose).map(|found| found[1].to_owned());
    targets.filter(|target| !target.contains("://")).collect()
}

/// The dead relative links of a document in `folder`.
pub(crate) fn dead_links(folder: &Path, document: &str) -> Vec<String> {
    let is_dead = |target: &String| {
        let (file, heading) = target.split_once('#').unwrap_or((target, ""));
        let text = match file {
            "" => document.to_owned(),
            _ if heading.is_empty() => return !folder.join(file).exists(),
            _ => fs::read_to_string(folder.join(file)).unwrap_or_default(),
        };
        let text = format!("\n{}", self::prose(&text));
        let mut headings = text.lines().filter(|line| line.starts_with('#'));
        !headings.any(|line| anchor(line.trim_start_matches('#').trim()) == heading)
    };
    links(document).into_iter().filter(is_dead).collect()
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    for name in documents() {
        let path = root().join(&name);
        let dead = dead_links(path.parent().unwrap(), &read(&name));
        assert!(dead.is_empty(), "{name}: {dead:?}");
    }
}

/// An addition makes room by shortening other pages.
#[test]
fn readme_and_manual_are_short() {
    const MOST: usize = 180_000;
    let bytes: usize = manual().iter().map(|name| read(name).len()).sum();
    assert!(bytes > MOST / 2 && bytes <= MOST, "{bytes} bytes");
}

#[test]
fn a_link_of_the_manual_leads_to_a_file_of_the_manual() {
    // The book has exactly the files of docs/, and no listing of a folder.
    let docs = root().join("docs").canonicalize().unwrap();
    for name in manual().iter().filter(|name| *name != "README.md") {
        for target in links(&read(name)) {
            // A heading of the same page has no file.
            let file = target.split('#').next().filter(|file| !file.is_empty());
            let path = file.map(|file| root().join(name).with_file_name(file).canonicalize());
            let is_in_docs = |path: PathBuf| path.is_file() && path.starts_with(&docs);
            let is_inside = path.is_none_or(|path| path.is_ok_and(is_in_docs));
            assert!(
                is_inside,
                "{name}: {target}: name files elsewhere in backticks"
            );
        }
    }
}

/// Paths of the source tree in backticks that do not exist; NAME is a placeholder.
fn lost_paths(document: &str) -> Vec<String> {
    let path = Regex::new(
        r"`((?:src|tests|benches|docs|examples|crates|reports|samples|fuzz|packaging|python|\.ci)/[\w./-]*)",
    );
    let path = path.unwrap();
    let named = path
        .captures_iter(document)
        .map(|found| found[1].to_owned());
    named
        .filter(|path| !path.contains("NAME") && !root().join(path).exists())
        .collect()
}

#[test]
fn every_path_that_the_developers_documents_and_the_manual_name_exists() {
    let pages = manual().into_iter().filter(|name| name != "README.md");
    for name in NAME_PATHS.map(String::from).into_iter().chain(pages) {
        let lost = lost_paths(&read(&name));
        assert!(lost.is_empty(), "{name}: {lost:?}");
    }
}

#[test]
fn a_printed_benchmark_names_its_package_and_exists() {
    let manifest = read("crates/benches/Cargo.toml");
    let command = Regex::new(r"cargo bench [^`#\n]*").unwrap();
    let target = Regex::new(r"--bench (\w+)").unwrap();
    let sources = testkit::files::below(&root().join("benches"), "rs").into_iter();
    let sources = sources.map(|path| fs::read_to_string(path).unwrap());
    let mut seen = 0;
    for text in documents().iter().map(|name| read(name)).chain(sources) {
        for found in command.find_iter(&text).map(|found| found.as_str()) {
            let target = target.captures(found).map(|found| found[1].to_owned());
            let is_there = |target: String| manifest.contains(&format!("name = \"{target}\" "));
            assert!(
                found.contains("-p benches"),
                "{found}: cargo needs -p benches"
            );
            assert!(
                target.is_some_and(is_there),
                "{found}: there is no such benchmark"
            );
            seen += 1;
        }
    }
    assert!(seen >= 20, "{seen}");
}

#[test]
fn the_architecture_names_every_part_of_the_code() {
    let architecture = read("ARCHITECTURE.md");
    let folders = [
        "src",
        "crates/app/src",
        "crates/live/src",
        "crates/names/src",
        "crates/history/src",
        "crates/parts/src",
        "crates/base/src",
        "crates/count/src",
        "crates/detect/src",
        "crates/read/src",
        "crates/findings/src",
        "crates/moves/src",
        "crates/report/src",
    ];
    let entries = folders.map(|folder| fs::read_dir(root().join(folder)).unwrap());
    for entry in entries.into_iter().flatten() {
        let entry = entry.unwrap();
        let mut name = entry.file_name().into_string().unwrap();
        let page = format!("docs/commands/{}.md", name.replace('_', "-"));
        if entry.file_type().unwrap().is_dir() {
            name.push('/');
        }
        let is_named = architecture.contains(&name) || root().join(page).exists();
        assert!(is_named, "{name} is not named");
    }
}

#[test]
fn the_library_page_has_the_public_names_and_no_others() {
    let library = read("src/lib.rs");
    let item = r"(?m)(#\[doc\(hidden\)\]\n)?^ *pub (?:mod (\w+)|use ([^;]+);)";
    let item = Regex::new(item).unwrap();
    // The last component of `name`, `path::Name`, or of each in `path::{A, b::C}`.
    let name = Regex::new(r"(\w+)\s*(?:[,}]|$)").unwrap();
    let items = item.captures_iter(&library);
    let shown = items.filter(|item| item.get(1).is_none());
    let names = shown.flat_map(|item| {
        let of_item = item.get(2).or(item.get(3)).unwrap().as_str();
        name.captures_iter(of_item).map(|name| name[1].to_owned())
    });
    let public: BTreeSet<String> = names.collect();
    let page = read("docs/library.md");
    let rows = page.lines().filter(|line| line.starts_with('|'));
    let rows = rows.collect::<Vec<_>>().join("\n");
    let listed = Regex::new(r"`(\w+)`").unwrap();
    let listed = listed.captures_iter(&rows).map(|name| name[1].to_owned());
    assert_eq!(listed.collect::<BTreeSet<_>>(), public, "docs/library.md");
}

#[test]
#[cfg_attr(not(feature = "rooms"), ignore)]
fn the_manual_has_every_rule_and_file() {
    let naming = read("docs/naming.md");
    let scratch = Scratch::with("slotscope.toml", "[severity]\nno = \"off\"\n");
    let refused = scratch.piped("lint", b"a\n");
    let (_, rules) = stderr(&refused).trim().split_once("there are: ").unwrap();
    for rule in rules.split(", ") {
        naming.says(&format!("| `{rule}` |"));
    }

    let analyze = read("docs/commands/analyze.md");
    for entry in fs::read_dir(root().join("reports/samples/commerce")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        analyze.says(&format!("`{name}`"));
    }
}

#[test]
fn dots_match_any_lines_and_nothing_else_does() {
    let words = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
    let made = words("a b c d");
    for expected in ["a b c d", "a ...", "... d", "a ... d", "... b ... d"] {
        assert!(matches(&words(expected), &made), "{expected}");
    }
    for expected in [
        "a b c",
        "b ...",
        "... c",
        "a ... c ... b ...",
        "a ... x ... d",
    ] {
        assert!(!matches(&words(expected), &made), "{expected}");
    }
    // The two ends must not share a line.
    assert!(!matches(&words("a b ... b c"), &words("a b c")));
    // Dots stay where they still stand for something.
    let blessed = |expected| blessed(&words(expected), &made).map(|lines| lines.join(" "));
    assert_eq!(blessed("x"), Some("a b c d".into()));
    assert_eq!(blessed("x y ..."), Some("a b ...".into()));
    assert_eq!(blessed("x ... y"), Some("a ... d".into()));
    assert_eq!(blessed("... x ..."), None);
}

#[test]
fn a_dead_link_and_a_lost_path_are_found() {
    let document = "# One two\n[a](README.md) [b](no.md) [c](#one-two) [d](#three) [e](https://x.y/z)\n\
        ```text\n[f](no.md)\n```\n[g](samples/README.md#samples) [h](samples/README.md#no)\n";
    let dead = ["no.md", "#three", "samples/README.md#no"];
    assert_eq!(dead_links(root(), document), dead);
    let paths = "`src/lib.rs` `src/no.rs` `src/format/NAME.rs` src/plain.rs";
    assert_eq!(lost_paths(paths), ["src/no.rs"]);
    assert_eq!(anchor("What `--by` is, and isn't"), "what---by-is-and-isnt");
}
