//! Tests of asymptotic cost. They measure the CPU time of their own thread, so other load on the machine does not
//! matter.

use std::time::{Duration, Instant};

/// Below this, clock noise dominates.
const NOISE: Duration = Duration::from_millis(5);

/// The CPU time of this thread; on systems that do not report it, the time since `start`.
fn cpu_time(start: Instant) -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = stat.split(' ').next().and_then(|first| first.parse().ok());
    nanoseconds.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// The lowest CPU time of three runs.
pub(super) fn cpu_time_of(mut work: impl FnMut()) -> Duration {
    let start = Instant::now();
    let mut once = || {
        let before = cpu_time(start);
        work();
        cpu_time(start).saturating_sub(before)
    };
    (0..3).map(|_| once()).min().unwrap_or_default()
}

/// Asserts that four times the input takes less than eight times as long; quadratic work takes sixteen times as long.
pub(super) fn assert_linear(size: usize, work: impl Fn(usize)) {
    let [one, two, four] = [1, 2, 4].map(|times| cpu_time_of(|| work(times * size)));
    assert!(
        four < 8 * (one + NOISE),
        "{size}: {one:?}, {two:?}, {four:?}"
    );
}
