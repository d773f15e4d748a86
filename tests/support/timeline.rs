//! MONITOR captures with a burst, as input for `slotscope timeline`.

use crate::rng::Rng;
use crate::run::Scratch;

/// 2026-11-21 06:26:35.
pub const START: u64 = 1_795_242_395;
pub const SECONDS: u64 = 300;
/// The seconds of the burst, and its operations per second.
pub const BURST: std::ops::Range<u64> = 120..150;
pub const BURST_RATE: u64 = 150;

/// Lines of MONITOR by second: traffic over all slots, and one tag that is hot for half a minute.
pub fn seconds(seed: u64) -> Vec<Vec<String>> {
    let mut rng = Rng::new(seed);
    let line = |at: u64, number: u64, of: u64, command: &str| {
        let micros = number * 1_000_000 / of;
        format!("{}.{micros:06} [0 10.0.0.7:58548] {command}\n", START + at)
    };
    let second = |at: u64| {
        let burst = if BURST.contains(&at) { BURST_RATE } else { 0 };
        let base = 90 + (rng.unit() * 20.0) as u64;
        let all = base + burst;
        let mut command = |number: u64| {
            if number * burst / all < (number + 1) * burst / all {
                String::from(r#""HGET" "cart:{hot}:items" "total""#)
            } else {
                match (rng.unit() * 20_000.0) as u64 {
                    id @ 0..15_000 => format!(r#""GET" "user:{{{id}}}:profile""#),
                    id => format!(r#""SET" "news:{id}" "text""#),
                }
            }
        };
        let commands: Vec<_> = (0..all).map(&mut command).collect();
        let lines = commands.iter().enumerate();
        lines
            .map(|(number, command)| line(at, number as u64, all, command))
            .collect()
    };
    (0..SECONDS).map(second).collect()
}

pub fn capture(scratch: &Scratch, name: &str, seconds: &[Vec<String>]) -> String {
    let text = String::from("OK\n") + &seconds.concat().concat();
    scratch.file(name, text).display().to_string()
}

/// Makes a key hot for three seconds.
pub fn hot_key(seconds: &mut [Vec<String>], key: &str) {
    for (at, lines) in (START..).zip(seconds).skip(200).take(3) {
        let line = format!("{at}.5 [0 10.0.0.7:1] \"GET\" \"{key}\"\n");
        lines.extend(std::iter::repeat_n(line, 200));
    }
}
