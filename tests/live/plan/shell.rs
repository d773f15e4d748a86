//! Scripts of all kinds under static analysis: shellcheck finds nothing, and no feature is newer than bash 3.2, which
//! macOS has.

use std::process::Command;

use testkit::run::{Scratch, stderr, stdout};

/// Features of later versions of bash.
const NEWER: [&str; 14] = [
    "declare -A",
    "local -A",
    "declare -n",
    "local -n",
    "mapfile",
    "readarray",
    "coproc",
    "^^}",
    ",,}",
    "@Q}",
    "&>>",
    "|&",
    "EPOCH",
    "wait -n",
];

/// A script of each kind, and the rollback scripts.
fn scripts(scratch: &Scratch) -> Vec<String> {
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/samples/");
    let dump = format!("{samples}hot-tag.keys");
    let topology = format!("{samples}seed-cluster.nodes");
    let mut names = Vec::new();
    for kind in ["setslot", "valkey", "redis-8.4"] {
        let back = format!("{kind}-back.sh");
        let args = ["plan", &dump, "--topology", &topology, "--add", "1"];
        let more = ["--commands", kind, "--rollback", &back];
        let output = scratch.run(&[&args[..], &more].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        let name = format!("{kind}.sh");
        scratch.file(&name, stdout(&output));
        names.extend([name, back]);
    }
    names
}

#[test]
fn shellcheck_finds_nothing() {
    let scratch = Scratch::new();
    for script in scripts(&scratch) {
        let output = Command::new("shellcheck")
            .arg(&script)
            .current_dir(scratch.path(""))
            .output()
            .expect("shellcheck, which tests/run installs");
        assert!(output.status.success(), "{script}: {}", stdout(&output));
    }
}

#[test]
fn nothing_is_newer_than_the_bash_of_macos() {
    let scratch = Scratch::new();
    for script in scripts(&scratch) {
        let text = scratch.read(&script);
        for newer in NEWER {
            assert!(!text.contains(newer), "{script} has {newer}");
        }
    }
}

/// Bash 5.2 parses the trap as the rest of the `$(...)` at which a signal finds it: the text has to end both.
#[test]
fn the_trap_ends_a_substitution_that_is_being_parsed() {
    let scratch = Scratch::new();
    for script in scripts(&scratch) {
        let text = scratch.read(&script);
        let line = text.lines().find(|line| line.starts_with("on_signal="));
        let program = format!("{}\neval \"x=\\$(\"\"$on_signal\"", line.expect("a trap"));
        let program = format!("interrupted() {{ echo stopped; }}\n{program}\necho \"$x\"");
        let output = Command::new("bash")
            .args(["-c", &program])
            .output()
            .unwrap();
        assert_eq!(
            stdout(&output),
            "stopped\n",
            "{script}: {}",
            stderr(&output)
        );
    }
}
