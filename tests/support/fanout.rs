//! Predictions of `slotscope fanout` for lines of commands.

use slotscope::slot::policy::Policy;
use slotscope::summary::Rejected;
use slotscope::topology::Topology;
use slotscope_names::fanout::outcome::BatchOutcome;
use slotscope_names::fanout::{Fanout, FanoutFindings, Lines};

pub fn findings(topology: &Topology, lines: &[Vec<u8>]) -> FanoutFindings {
    let policy = Policy::Oss;
    let mut fanout = Fanout::new(topology, &policy, Lines::Auto);
    lines.iter().for_each(|line| {
        fanout
            .add(line)
            .unwrap_or_else(|reason| panic!("{reason}: {line:?}"))
    });
    fanout.end_input().unwrap();
    fanout.findings(Rejected::default(), Vec::new(), Vec::new())
}

/// The predicted reply to the single batch in `lines`.
pub fn answer(topology: &Topology, lines: &[Vec<u8>]) -> BatchOutcome {
    let found = findings(topology, lines);
    assert_eq!(found.batches, 1, "{lines:?}");
    let mut answers = found.answers.iter();
    answers.find(|row| row.batches == 1).unwrap().answer
}
