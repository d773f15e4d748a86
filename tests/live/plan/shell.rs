//! Scripts of all kinds under static analysis: shellcheck finds nothing, and no feature is newer than bash 3.2, which
//! macOS has.

use testkit::prelude::*;
/// Features of later versions of bash.
const NEWER: &str = "declare -A; local -A; declare -n; local -n; mapfile; readarray; coproc; ^^}; ,,}; @Q}; \
    &>>; |&; EPOCH; wait -n";

/// A script of each kind, and the rollback scripts.
fn scripts(scratch: &Scratch) -> Vec<String> {
    let samples = root().join("samples");
    let samples = samples.display();
    let inputs = format!("{samples}/hot-tag.keys --topology {samples}/seed-cluster.nodes");
    let mut names = Vec::new();
    for kind in ["setslot", "valkey", "redis-8.4"] {
        let [name, back] = ["", "-back"].map(|end| format!("{kind}{end}.sh"));
        let plan = format!("plan {inputs} --add 1 --commands {kind} --rollback {back}");
        scratch.file(&name, scratch.text(&plan));
        names.extend([name, back]);
    }
    names
}

#[test]
fn shellcheck_finds_nothing() {
    let scratch = Scratch::new();
    for script in scripts(&scratch) {
        println!("{script}; tests/run installs shellcheck");
        let output = scratch.shell(format!("shellcheck {script}"));
        assert_eq!(code(&output), 0, "{}{}", stdout(&output), stderr(&output));
    }
}

/// Bash 5.2 parses a trap as the rest of the `$(...)` at which a signal finds it, and any bash runs it only once the
/// programs in front have ended: there are none after the trap is set.
#[test]
fn nothing_is_newer_than_the_bash_of_macos_and_nothing_keeps_a_trap_from_running() {
    let scratch = Scratch::new();
    for script in scripts(&scratch) {
        println!("{script}");
        let text = scratch.read(&script);
        for newer in NEWER.split("; ") {
            text.lacks(newer);
        }
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with('#'));
        let in_front =
            code.filter(|line| line.replace("$((", "").contains("$(") || line.contains("<("));
        let at_the_end = "trap 'kill $(jobs -rp) 2>/dev/null || true; rm -rf \"$work\"' EXIT";
        let expected = ["work=$(mktemp -d)", at_the_end];
        assert_eq!(in_front.collect::<Vec<_>>(), expected);
    }
}
