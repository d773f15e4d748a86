//! The project uses the language of its field: documents, help, messages and comments contain none of the phrases that
//! once made them read like a translation.

use std::fs;
use std::path::PathBuf;

use regex::Regex;
use testkit::files::{below, text_of};
use testkit::run::{Scratch, raw_rows, root};

/// A phrase, as a regular expression, and what to write instead.
const PHRASES: &str = r"
\b(is|are|was|were) none\b ¦ there are none
\b(is|are|was|were) no [a-z]+ ¦ is not a ..., are not ...
\b[Ss]o many\b ¦ N, up to N, this many
\bthe way out\b ¦ a suggested fix
\b[Bb]ehind\b ¦ after
\b[Mm]end(s|ed|ing)?\b ¦ fix
\bcomes? to\b ¦ results in, totals
\b(goes|went|go) on\b ¦ continues
(^|[.:;] )Of (a|an|all|such|each|two|several|what)  ¦ say the noun again
(^|[0-9( ]) %([ ,.;)]|$) ¦ 19%
\bless (its|the|what|those)\b ¦ minus
\bin vain\b ¦ that never existed
\b[Aa]ll else\b ¦ everything else
\bone a (line|slot|row|node|key|file)\b ¦ one per ...
\b(is|are|was|were) not whole\b ¦ is incomplete
\b[Tt]akes? over (what|another|others|those|which)\b ¦ merges
\bwho owns (what|which)\b ¦ the owners of slots
\bwhat be(came|comes) of\b ¦ the outcome, the new ...
\bwhich is what\b ¦ say the noun
";

/// Like `PHRASES`, but only in comments: a few messages and server replies need these words.
const COMMENT_PHRASES: &str = r"
\b([Ss]ays?|said) of\b ¦ the noun: a reply, a reading
\bcut short\b ¦ truncated
\b(is|are) what (it|they|the|is|was)\b ¦ say the noun
\bbut for\b ¦ except for
\bas far as\b ¦ if known, within limits
";

/// A comment that opens with a relative clause in place of a noun: "What it holds" for "Its load".
const OPENING: &str = r"^(What|Who|Whose|Which)\b[^?]*$";

/// Files whose comments are help texts or Python documentation, and may open with a question.
const MAY_ASK: [&str; 4] = [
    "src/cli/",
    "src/options/",
    "src/generate/mod.rs",
    "python/src/",
];

/// Good English that matches a phrase, with the reason. It is removed before the search.
const ALLOWED: &str = r"
\b[Tt]here (is|are|was|were|is still) (no|none)\b ¦ a plain sentence
\b(is|are|was|were) no (longer|more|better|worse)\b ¦ no other word says it
\bno one\b ¦ nobody
`[^`]*` ¦ code
\{[^}]*\} ¦ a value that is filled in
\b(lags|lagging|left|leaves nothing) behind\b ¦ an idiom
\bcomes? to (an end|rest)\b ¦ an idiom
\bbehind a NAT\b ¦ a term
";

/// Folders with Rust files other than those of `sources`.
const OTHER_CODE: [&str; 7] = [
    "tests",
    "benches",
    "examples",
    "fuzz/src",
    "fuzz/fuzz_targets",
    "fuzz/examples",
    "python/src",
];

/// Documents that people read; CHANGELOG.md is history.
const DOCUMENTS: [&str; 8] = [
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "ARCHITECTURE.md",
    "packaging/README.md",
    "samples/README.md",
    "benches/README.md",
    "python/README.md",
];

/// Finds the phrases in a line.
struct Phrases {
    phrases: Vec<(Regex, &'static str)>,
    allowed: Vec<Regex>,
}

impl Phrases {
    fn new(tables: &[&'static str]) -> Self {
        let regex = |[pattern, instead]: [&'static str; 2]| (Regex::new(pattern).unwrap(), instead);
        let phrases = tables.iter().flat_map(|table| raw_rows(table));
        let allowed = raw_rows(ALLOWED).into_iter();
        Self {
            phrases: phrases.map(regex).collect(),
            allowed: allowed.map(|row| regex(row).0).collect(),
        }
    }

    /// The phrases in `line`, with their replacements.
    fn of(&self, line: &str) -> Vec<String> {
        let mut line = line.trim().to_owned();
        for allowed in &self.allowed {
            line = allowed.replace_all(&line, "").into_owned();
        }
        let found = self.phrases.iter().filter_map(|(regex, instead)| {
            let found = regex.find(&line)?;
            Some(format!("\"{}\", better: {instead}", found.as_str()))
        });
        found.collect()
    }
}

/// The files with this extension below folders, by their paths from the root.
fn files<'f>(folders: impl IntoIterator<Item = &'f str>, extension: &str) -> Vec<String> {
    let found = folders
        .into_iter()
        .flat_map(|folder| below(&root().join(folder), extension));
    let from_root = |path: PathBuf| path.strip_prefix(root()).unwrap().display().to_string();
    found.map(from_root).collect()
}

/// The Rust files of the program and its crates; with `all`, those of tests, benches and others too.
fn sources(all: bool) -> Vec<String> {
    let is_program = |name: &String| name.starts_with("src/") || name.contains("/src/");
    let program = files(["src", "crates"], "rs").into_iter();
    let program = program.filter(|name| all || is_program(name));
    let others = if all { OTHER_CODE.as_slice() } else { &[] };
    program.chain(files(others.iter().copied(), "rs")).collect()
}

/// The comments of a file that are on lines of their own, without slashes; and whether each opens a paragraph.
fn comments(text: &str) -> impl Iterator<Item = (usize, &str, bool)> {
    let mut is_open = false;
    numbered(text).filter_map(move |(number, line)| {
        let comment = line.trim_start().strip_prefix("//");
        let comment = comment.map(|rest| rest.trim_start_matches(['/', '!']).trim());
        let opens = !is_open;
        is_open = comment.is_some_and(|comment| !comment.is_empty());
        comment.map(|comment| (number, comment, opens))
    })
}

fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines())
}

/// The lines of a document outside fences and generated flags, which are checked as help.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let (mut is_code, mut is_made) = (false, false);
    numbered(text).filter(move |(_, line)| {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        is_made = (is_made || *line == "<!-- flags -->") && *line != "<!-- end of flags -->";
        !is_fence && !is_code && !is_made
    })
}

/// The phrases in the lines of files that `chosen` takes, each with its place.
fn found(
    phrases: &Phrases,
    names: Vec<String>,
    chosen: impl Fn(&str) -> Vec<(usize, String)>,
) -> Vec<String> {
    let mut found = Vec::new();
    for name in names {
        for (number, line) in chosen(&text_of(&name)) {
            let phrases = phrases.of(&line).into_iter();
            found.extend(phrases.map(|phrase| format!("{name}:{number}: {phrase}: {line}")));
        }
    }
    found
}

/// The literals of a file above its tests.
fn literals(text: &str) -> Vec<(usize, String)> {
    let literal = Regex::new(r#""((?:[^"\\]|\\.)*)""#).unwrap();
    let above_tests = text.split("#[cfg(test)]").next().unwrap_or_default();
    let code = numbered(above_tests).filter(|(_, line)| !line.trim_start().starts_with("//"));
    let found = code.flat_map(|(at, line)| {
        let found = literal.captures_iter(line);
        found
            .map(move |found| (at, found[1].to_owned()))
            .collect::<Vec<_>>()
    });
    found.collect()
}

#[test]
#[cfg_attr(not(feature = "rooms"), ignore)]
fn documents_help_messages_and_comments_are_written_in_the_words_of_the_field() {
    let mut documents: Vec<String> = DOCUMENTS.map(String::from).to_vec();
    documents.extend(files(["docs"], "md"));
    let lines = |text: &str| {
        prose(text)
            .map(|(at, line)| (at, line.to_owned()))
            .collect()
    };
    let phrases = Phrases::new(&[PHRASES]);
    let mut all = found(&phrases, documents, lines);
    all.extend(found(&phrases, sources(false), literals));

    let scratch = Scratch::new();
    let pages = fs::read_dir(root().join("docs/commands")).unwrap();
    let names = pages.map(|page| page.unwrap().path().with_extension(""));
    let commands = names.map(|name| format!("{} --help", name.file_name().unwrap().display()));
    for command in commands.chain(["help".into()]) {
        for line in scratch.text(&command).lines() {
            let phrases = phrases.of(line).into_iter();
            all.extend(phrases.map(|phrase| format!("{command}: {phrase}: {line}")));
        }
    }

    let lines = |text: &str| {
        comments(text)
            .map(|(at, comment, _)| (at, comment.to_owned()))
            .collect()
    };
    all.extend(found(
        &Phrases::new(&[PHRASES, COMMENT_PHRASES]),
        sources(true),
        lines,
    ));
    let opening = Regex::new(OPENING).unwrap();
    let may_ask = |name: &String| MAY_ASK.iter().any(|part| name.contains(part));
    for name in sources(true).into_iter().filter(|name| !may_ask(name)) {
        let odd = comments(&text_of(&name))
            .filter(|(_, comment, opens)| *opens && opening.is_match(comment))
            .map(|(at, comment, _)| format!("{name}:{at}: open with a noun or a verb: {comment}"))
            .collect::<Vec<_>>();
        all.extend(odd);
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn a_phrase_is_found_and_plain_english_is_not() {
    let phrases = Phrases::new(&[PHRASES]);
    for odd in [
        "Rows that are no keys.",
        "`None` where it is none",
        "a list of so many nodes",
        "what is wrong, and the way out",
        "the line behind it",
        "Of a dump the first line is read",
        "half, or 19 % of the keys",
        "({share:.1} %)",
        "all else is the same",
        "a dump that is not whole",
        "Takes over what another worker counted",
        "asks who owns what",
    ] {
        assert_eq!(phrases.of(odd).len(), 1, "{odd}");
    }
    for plain in [
        "There are no keys; there is none.",
        "It is no longer read.",
        "`--behind` and `5 %` are code",
        "19% of the keys, after the header",
        "a replica takes over",
        "an address behind a NAT",
    ] {
        assert_eq!(phrases.of(plain), [""; 0], "{plain}");
    }
}
