//! advise --out: the files do what the advice says, with the tools they are for.

use std::fs;
use std::process::Command;

use super::commands::shop;
use testkit::prelude::*;

/// A shop and the files with its advice.
fn advised() -> Scratch {
    let scratch = shop();
    let said = scratch.run(&words("advise keys node.monitor --nodes 6 -o out"));
    assert_eq!(code(&said), 0, "{}", stderr(&said));
    scratch
}

fn read(scratch: &Scratch, file: &str) -> String {
    scratch.read(file)
}

/// The arguments of `--retag` in whatif.sh, as a shell sees them.
fn rules(scratch: &Scratch) -> Vec<String> {
    let script = read(scratch, "out/whatif.sh").replace("exec slotscope", "printf '%s\\n'");
    scratch.file("words.sh", script);
    let said = Command::new("sh").arg(scratch.path("words.sh")).output();
    let said = said.unwrap();
    let words: Vec<&str> = stdout(&said).lines().collect();
    let after = |at: &usize| words[at - 1] == "--retag";
    let rules = (1..words.len()).filter(after);
    rules.map(|at| words[at].to_owned()).collect()
}

#[test]
fn the_files_are_those_of_the_advice() {
    let scratch = advised();
    let files = ["advise.json", "slotscope.toml", "whatif.sh"];
    assert_eq!(scratch.entries("out"), files);
    let advice: Value = serde_json::from_str(&read(&scratch, "out/advise.json")).unwrap();
    assert_eq!(advice["advice"], "change");
    assert_eq!(json!(rules(&scratch)), advice["rules"]);
    // A second run replaces its own files, and a run without a change removes the files that apply one.
    let kept = scratch.run(&["advise", "keys", "--nodes", "6", "--out", "out"]);
    assert_eq!(code(&kept), 0, "{}", stderr(&kept));
    assert_eq!(scratch.entries("out"), ["advise.json"]);
    fs::create_dir(scratch.path("theirs")).unwrap();
    scratch.file("theirs/slotscope.toml", "# theirs");
    scratch
        .refuses("advise keys --out theirs | slotscope.toml | name another directory with --out");
}

#[test]
fn whatif_promises_the_same_and_lint_finds_the_old_names_only() {
    let scratch = advised();
    let rules = rules(&scratch);
    let mut words = vec!["whatif", "keys", "--nodes", "6", "--json"];
    rules
        .iter()
        .for_each(|rule| words.extend(["--retag", rule]));
    let after = scratch.report(&words);
    let advice: Value = serde_json::from_str(&read(&scratch, "out/advise.json")).unwrap();
    let promised = advice["schemes"][0]["max_over_mean"]["n"].float();
    let found = after["after"]["nodes"]["max_over_mean"].float();
    assert!((found - promised).abs() < 1e-5, "{found} {promised}");

    let lint = |names: &str| scratch.run(&["lint", names, "--config", "out/slotscope.toml"]);
    let old = lint("keys");
    assert_eq!(code(&old), 1, "{}", stderr(&old));
    assert!(stdout(&old).contains("2 errors"), "{}", stdout(&old));
    let new =
        (0..2000).map(|user| format!("cart:{{user:{user}}}:items\n{{user:{user}}}:profile\n"));
    scratch.file("new", new.collect::<String>());
    let new = lint("new");
    assert_eq!(code(&new), 0, "{}{}", stdout(&new), stderr(&new));
}

#[test]
fn hostile_names_stay_text_in_every_file() {
    let scratch = Scratch::new();
    let name = |i: u32| format!("a'`$HOME<script>\x1b[31m\"%\u{e9}\\:{i}");
    let names: String = (0..300)
        .map(|i| format!("{}:x\nuser:{i}\n", name(i)))
        .collect();
    scratch.file("keys", names);
    let line = |i: u32| {
        let word = name(i * 7 % 300) + ":x";
        let word = word.replace('\\', "\\\\").replace('"', "\\\"");
        format!(
            "1700000000.{i:06} [0 127.0.0.1:5] \"MGET\" \"{word}\" \"user:{}\"\n",
            i * 7 % 300
        )
    };
    scratch.file(
        "node.monitor",
        format!("OK\n{}", (0..300).map(line).collect::<String>()),
    );
    let said = scratch.run(&words(
        "advise keys --format lines --batches node.monitor --out out",
    ));
    assert_eq!(code(&said), 0, "{}", stderr(&said));
    let files = scratch.entries("out");
    assert!(files.contains(&"whatif.sh".to_owned()), "{files:?}");
    for file in files {
        let bytes = fs::read(scratch.path("out").join(&file)).unwrap();
        assert!(!bytes.contains(&0x1b), "{file}");
    }
}
