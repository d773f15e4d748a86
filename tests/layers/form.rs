//! The length of files, their beginning, and forbidden content.

use std::path::Path;

use crate::arrows::forbidden;
use crate::paths::tested;

/// Limit for the lines of a file, and for the median.
const LONGEST: usize = 500;
pub(crate) const MEDIAN: usize = 200;

/// Marks of unfinished code; in two parts, so that this file does not contain them.
const UNFINISHED: [&str; 4] = [
    concat!("todo", "!"),
    concat!("unimplemented", "!"),
    concat!("#[", "allow("),
    concat!("#![", "allow("),
];

/// String literals of three words or more: summary/ has numbers and names, wording/ the sentences.
fn prose(code: &str) -> Vec<String> {
    let code = tested(code).replace("\\\"", "");
    let literals = code.split('"').skip(1).step_by(2);
    let is_word = |word: &&str| word.contains(char::is_alphabetic);
    literals
        .filter(|literal| literal.split_whitespace().filter(is_word).count() >= 3)
        .map(String::from)
        .collect()
}

/// The defects of any file.
pub(crate) fn of_form(code: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if !code.starts_with("//!") {
        complaints.push(String::from("does not open with a //! line"));
    }
    let lines = code.lines().count();
    if lines > LONGEST {
        complaints.push(format!("has {lines} lines, more than {LONGEST}"));
    }
    let held = UNFINISHED.iter().filter(|word| code.contains(**word));
    complaints.extend(held.map(|word| format!("holds {word}")));
    complaints
}

/// The defects of file `path` in the crate at `root`, relative to it.
pub(crate) fn complaints(root: &str, path: &Path, code: &str) -> Vec<String> {
    let parts: Vec<String> = path
        .with_extension("")
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    let last = parts.last().map(String::as_str);
    let is_root_of_module = matches!(last, Some("mod" | "lib" | "main"));
    let mut complaints = Vec::new();
    if parts.last().is_none_or(|name| name != "tests") {
        let depth = parts.len() - usize::from(is_root_of_module && parts.len() > 1);
        let module: Vec<&str> = parts[..depth].iter().map(String::as_str).collect();
        complaints = forbidden(root, &module, code);
    }
    if parts[0] == "summary" {
        let found = prose(code).into_iter();
        complaints.extend(found.map(|text| format!("holds prose: {text:?}")));
    }
    complaints.extend(of_form(code));
    complaints
        .iter()
        .map(|complaint| format!("{}: {complaint}", path.display()))
        .collect()
}

#[test]
fn a_file_that_is_too_long_unfinished_or_unexplained_is_found() {
    let found =
        |path: &str, code: &str| complaints("crates/read/src", Path::new(path), code).join("; ");
    let long = "//! x\n".repeat(LONGEST + 1);
    let too_long = format!("slot/x.rs: has {} lines, more than {LONGEST}", LONGEST + 1);
    for (path, code, complaint) in [
        ("slot/x.rs", "//! x\nuse super::hashtag;\n", ""),
        (
            "slot/x.rs",
            "fn x() {}\n",
            "slot/x.rs: does not open with a //! line",
        ),
        ("slot/x.rs", &long, &too_long),
        (
            "slot/mod.rs",
            "//! x\nuse super::scan;\n",
            "slot/mod.rs: slot -> scan",
        ),
        ("slot/kernel/tests.rs", "//! x\nuse crate::scan;\n", ""),
    ] {
        assert_eq!(found(path, code), complaint);
    }
    for word in UNFINISHED {
        let code = format!("//! x\nfn x() {{}}\n{word}");
        assert_eq!(
            found("slot/x.rs", &code),
            format!("slot/x.rs: holds {word}")
        );
    }
    let main = complaints("src", Path::new("main.rs"), "//! x\nuse slotscope::scan;\n");
    assert_eq!(main, [""; 0]);
}

#[test]
fn prose_in_the_findings_is_found() {
    let planted = "fn f() { g(\"node {x} is \\\"full\\\" now\", \"even 3\", \"Option::is_none\") }";
    assert_eq!(prose(planted), ["node {x} is full now"]);
    let fine = "//! \"a sentence in a comment\"\n#[cfg(test)]\nmod tests { \"one of a test\" }";
    assert_eq!(prose(fine), [""; 0]);
    let planted = format!("//! x\n{planted}");
    let found = |path: &str| complaints("crates/findings/src", Path::new(path), &planted);
    let prose = "summary/x.rs: holds prose: \"node {x} is full now\"";
    assert_eq!(found("summary/x.rs"), [prose]);
    assert_eq!(found("wording/x.rs"), [""; 0]);
}
