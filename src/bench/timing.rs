//! Times runs in turn, round after round: A B C A B C ...

use std::time::{Duration, Instant};

use serde::Serialize;

use slotscope_model::balance::tidy;

/// A round is repeated until it takes this long: a time slice that another program takes is then a part of it, not most.
const ROUND: Duration = Duration::from_millis(20);

pub(super) struct Run<'a> {
    /// Keys per repetition.
    pub keys: u64,
    /// Bytes per repetition.
    pub bytes: u64,
    /// Runs this many repetitions.
    pub repeat: Box<dyn Fn(u64) + 'a>,
}

/// How fast something was: the median round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Rate {
    /// Keys a second.
    pub keys_per_sec: f64,
    /// Bytes a second: of keys, or of the dump.
    pub bytes_per_sec: f64,
    /// (slowest round - fastest round) / median round; null for one round.
    pub spread: Option<f64>,
}

/// Times all `runs` in turn.
pub(super) fn in_turn(rounds: u32, runs: &[Run<'_>]) -> Vec<Rate> {
    let times: Vec<u64> = runs.iter().map(repetitions).collect();
    let mut secs: Vec<Vec<f64>> = vec![Vec::new(); runs.len()];
    for _ in 0..rounds {
        for ((run, times), secs) in runs.iter().zip(&times).zip(&mut secs) {
            secs.push(timed(run, *times).as_secs_f64() / *times as f64);
        }
    }
    runs.iter()
        .zip(secs)
        .map(|(run, secs)| rate(run, secs))
        .collect()
}

/// The number of repetitions per round. Finding it also warms up the caches and the CPU clock.
fn repetitions(run: &Run<'_>) -> u64 {
    let mut times = 1;
    loop {
        let elapsed = timed(run, times);
        if elapsed >= ROUND / 2 {
            return ((times as f64 * ROUND.as_secs_f64() / elapsed.as_secs_f64()).ceil() as u64)
                .max(1);
        }
        times *= 2;
    }
}

fn timed(run: &Run<'_>, times: u64) -> Duration {
    let start = Instant::now();
    (run.repeat)(times);
    start.elapsed()
}

fn rate(run: &Run<'_>, mut secs: Vec<f64>) -> Rate {
    secs.sort_by(f64::total_cmp);
    let median = secs[secs.len() / 2];
    Rate {
        keys_per_sec: tidy(run.keys as f64 / median),
        bytes_per_sec: tidy(run.bytes as f64 / median),
        spread: (secs.len() > 1).then(|| tidy((secs[secs.len() - 1] - secs[0]) / median)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_round_counts_and_the_spread_is_reported() {
        let run = Run {
            keys: 100,
            bytes: 3000,
            repeat: Box::new(|_| {}),
        };
        let found = rate(&run, vec![4.0, 1.0, 2.0]);
        assert_eq!(
            (found.keys_per_sec, found.bytes_per_sec, found.spread),
            (50.0, 1500.0, Some(1.5))
        );
        assert_eq!(rate(&run, vec![4.0]).spread, None);
    }
}
