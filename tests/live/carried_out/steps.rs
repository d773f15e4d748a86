//! Collects, analyzes, and carries out the report's steps.

use crate::plan::follower::Follower;
use slotscope::renaming::RenameRules;
use slotscope::slot::policy::Policy;
use testkit::cluster::Cluster;
use testkit::prelude::*;

/// Collects the cluster into `out`, and returns the report on that.
pub(super) fn judged(scratch: &Scratch, cluster: &Cluster, flags: &str) -> Value {
    let address = cluster.address(0);
    scratch.text(&format!("collect {address} -o out --force {flags}"));
    reported(scratch, "out")
}

/// The report on inputs, which is printed.
pub(super) fn reported(scratch: &Scratch, inputs: &str) -> Value {
    let report = scratch.report(&format!("analyze {inputs} --json"));
    println!("{}", report["verdict"]["sentence"].text());
    for step in steps(&report) {
        println!("  {} -> {}", step["sentence"], step["after"]);
        println!("    {}", step["command"]);
    }
    println!("  left: {}", report["verdict"]["left"]);
    report
}

/// The steps of a report.
pub(super) fn steps(report: &Value) -> &[Value] {
    report["verdict"]["steps"].list()
}

/// Runs the command of a moving step as pasted, and the script that it writes.
pub(super) fn move_slots(scratch: &Scratch, step: &Value) {
    let command = step["command"].text();
    let (_, script) = command.rsplit_once("> ").unwrap();
    succeeded(scratch.shell(command));
    let output = scratch.shell(format!("bash {script}"));
    // Keys are written meanwhile, so they may end up spread differently than planned, which is exit code 1 after all
    // moves.
    let said = stderr(&output);
    let is_spread = !said.contains("the keys are not spread as planned");
    assert_eq!(code(&output), i32::from(!is_spread), "{script}: {said}");
    println!("  {}", said.lines().last().unwrap_or_default());
}

/// Renames keys as a step with `whatif --split` says, the way an application would: it writes the new key, then removes
/// the old one. The command itself must run, too.
pub(super) fn rename(
    scratch: &Scratch,
    step: &Value,
    follower: &mut Follower,
    keys: &[String],
    value: &[u8],
) {
    let command = step["command"].text();
    succeeded(scratch.shell(command));
    let split = command.split_once("--split ").unwrap().1;
    let split = split.split('\'').nth(1).unwrap().to_owned();
    let rules = RenameRules::parse(&[], &[split]).unwrap();
    let mut renaming = rules.start();
    for key in keys {
        let mut name = Vec::new();
        rules.rename(key.as_bytes(), &Policy::Oss, &mut renaming, &mut name);
        assert_ne!(name, key.as_bytes(), "{command}");
        follower.set(&name, value);
        follower.call(key.as_bytes(), &[b"UNLINK", key.as_bytes()]);
    }
}
