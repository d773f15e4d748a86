//! Signals at random moments.

use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use crate::faults::{KINDS, Report, Rig};
use testkit::env;
use testkit::rng::Rng;
/// The signals that end runs; TERM is the usual one.
const SIGNALS: [&str; 9] = [
    "INT", "TERM", "HUP", "QUIT", "XCPU", "USR1", "USR2", "ALRM", "TERM",
];

#[test]
fn a_signal_leaves_the_old_report_or_the_new_one_and_the_exit_code_says_which() {
    let mut rng = Rng::new(71);
    let mut rig = Rig::new();
    let undisturbed: Vec<Duration> = KINDS.iter().map(|_| rig.time_of_next()).collect();
    let mut seen = [0u32; 3];
    // How far a run is by then depends on the machine: a few signals may all come too early or too late.
    let least = env::cases("SLOTSCOPE_SIGNALS", 30);
    for case in 0..least.max(60) {
        if case >= least && seen[1] > 0 {
            break;
        }
        let signal = *rng.pick(&SIGNALS);
        // Some are sent near the end, when files are put in place.
        let part = if rng.one_in(2) {
            rng.unit()
        } else {
            0.7 + 0.8 * rng.unit()
        };
        let run = rig.next();
        // The first one was of the kind after that of the rig's first run.
        let whole = undisturbed[rig.runs as usize % KINDS.len()];
        let (report, run) = rig.disturb(run, whole.mul_f64(part), signal);
        let expected = match (run.status.code(), run.status.signal()) {
            (Some(0), _) => Report::New,
            // Before the program installs its handlers, the system ends it.
            (None, Some(_)) => Report::Old,
            (Some(code), _) if code > 128 => Report::Old,
            _ => panic!("{signal}: {run:?}"),
        };
        assert_eq!(report, expected, "{signal}: {run:?}");
        seen[match run.status.code() {
            Some(0) => 0,
            Some(_) => 1,
            None => 2,
        }] += 1;
    }
    println!("runs that ended, that were interrupted, and that were too young: {seen:?}");
    assert!(seen[1] > 0, "{seen:?}");
}

impl Rig {
    /// The duration of an undisturbed run.
    fn time_of_next(&mut self) -> Duration {
        let started = Instant::now();
        let run = self.next().output().unwrap();
        let elapsed = started.elapsed();
        assert_eq!(self.outcome(&run), Ok(Report::New));
        elapsed
    }
}
