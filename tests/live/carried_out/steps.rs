//! Collects, analyzes, and carries out the report's steps.

use std::process::Command;

use crate::plan::follower::Follower;
use slotscope::slot::policy::Policy;
use slotscope::whatif::rules::RenameRules;
use testkit::prelude::*;

/// Collects the cluster at `address` into `out`, and returns the report on that and `more` inputs.
pub(super) fn judged(scratch: &Scratch, address: &str, flags: &[&str], more: &[&str]) -> Value {
    let args = [&["collect", address, "-o", "out", "--force"], flags].concat();
    succeeded(scratch.run(&args));
    let args = [&["analyze", "out"], more, &["--json"]].concat();
    let report = scratch.report(&args);
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
    let written = scratch.shell(command);
    assert!(written.status.success(), "{command}: {}", stderr(&written));
    let output = Command::new("bash")
        .arg(script)
        .current_dir(scratch.path(""))
        .output()
        .unwrap();
    // Keys are written meanwhile, so they may end up spread differently than planned, which is exit code 1 after all
    // moves.
    let said = stderr(&output);
    let is_spread = !said.contains("the keys are not spread as planned");
    assert_eq!(
        output.status.code(),
        Some(i32::from(!is_spread)),
        "{script}: {said}"
    );
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
    let tried = scratch.shell(command);
    assert!(tried.status.success(), "{command}: {}", stderr(&tried));
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
