//! Scarce resources: space for files, descriptors, memory, and output.

use crate::faults::{Report, Rig};
use testkit::env;
use testkit::rng::Rng;
use testkit::run::stderr;

/// Runs of a test at least.
const FEWEST: u32 = 8;

/// Runs after each of `setups`; returns how many made a report.
fn run_after(setups: impl Iterator<Item = String>) -> (u32, u32) {
    let mut rig = Rig::new();
    let (mut old, mut new) = (0, 0);
    for setup in setups {
        let run = rig.next_after(&setup);
        let outcome = rig.outcome(&run);
        let report = outcome.unwrap_or_else(|what| panic!("{setup}: {what}"));
        let is_done = run.status.code() == Some(0);
        assert_eq!(report == Report::New, is_done, "{setup}: {run:?}");
        if report == Report::Old {
            old += 1;
            assert!(stderr(&run).starts_with("slotscope: "), "{setup}: {run:?}");
        } else {
            new += 1;
        }
    }
    (old, new)
}

#[test]
fn no_room_for_a_file_is_an_error_with_its_name_and_leaves_the_old_report() {
    let mut rng = Rng::new(72);
    let count = env::cases("SLOTSCOPE_FAULTS", 20).max(FEWEST);
    // One of each size class, so that few are enough for both ends.
    let of = |part: u32| 1000f64.powf(f64::from(part) / f64::from(count));
    let sizes = (0..count).map(|part| rng.log_between(of(part), of(part + 1)) as u32);
    let seen = run_after(sizes.map(|kib| format!("ulimit -f {kib}; ")));
    assert!(seen.0 > 0 && seen.1 > 0, "{seen:?}");
}

#[test]
fn few_descriptors_are_an_error_and_leave_the_old_report() {
    // From none left for the report's files to enough: in a campaign each open of the run fails once.
    let limits = (4..=44).step_by(if env::is_campaign() { 1 } else { 4 });
    let seen = run_after(limits.map(|most| format!("ulimit -n {most}; ")));
    assert!(seen.0 > 0 && seen.1 > 0, "{seen:?}");
}

#[test]
fn little_memory_leaves_the_old_report_and_what_an_abort_leaves_is_removed_by_the_next_run() {
    let mut rng = Rng::new(73);
    let mut rig = Rig::new();
    for _ in 0..env::cases("SLOTSCOPE_FAULTS", 20).max(FEWEST) / 4 {
        let kib = rng.log_between(20e3, 400e3) as u32;
        let run = rig.next_after(&format!("ulimit -c 0; ulimit -v {kib}; "));
        assert_ne!(run.status.code(), Some(101), "{run:?}");
        // The previous report is still there: its directory has one key fewer.
        let done = u64::from(run.status.code() == Some(0));
        rig.runs -= 1 - done;
        let next = rig.next().output().unwrap();
        assert_eq!(rig.outcome(&next), Ok(Report::New), "{kib} KiB: {run:?}");
    }
}

#[test]
fn closed_and_full_outputs_leave_a_whole_report() {
    let mut rig = Rig::new();
    for setup in [
        "exec >&-; ",
        "exec 2>&-; ",
        "exec <&-; ",
        "exec >&- 2>&- <&-; ",
        "exec >/dev/full; ",
        "exec 2>/dev/full; ",
    ] {
        let run = rig.next_after(setup);
        let outcome = rig.outcome(&run);
        assert!(outcome.is_ok(), "{setup}: {outcome:?}");
    }
}
