//! The time that commands take on a server: with it a capture, which has no times, shows where CPU time goes.

use std::collections::BTreeMap;

use crate::hash::hash;

/// Nanoseconds of a call of each command.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandTimes(BTreeMap<Vec<u8>, u64>);

impl CommandTimes {
    /// From rows of INFO commandstats: names, calls and microseconds of a call. Captures have the first word of a command, so
    /// subcommands are one. `None` without any.
    pub fn of<'a>(rows: impl Iterator<Item = (&'a str, f64, f64)>) -> Option<Self> {
        let mut sums: BTreeMap<Vec<u8>, (f64, f64)> = BTreeMap::new();
        for (name, calls, usec) in rows {
            let name = name.split('|').next().unwrap_or(name);
            let (count, time) = sums.entry(name.as_bytes().to_vec()).or_default();
            (*count, *time) = (*count + calls, *time + calls * usec);
        }
        let called = sums.into_iter().filter(|(_, (calls, _))| *calls > 0.0);
        let means = called.map(|(name, (calls, time))| (name, (1000.0 * time / calls) as u64));
        let times: BTreeMap<_, _> = means.collect();
        (!times.is_empty()).then_some(CommandTimes(times))
    }

    /// Microseconds of an operation on one of `keys` keys of a command at `time`. Fractions are rounded up or down by the key
    /// and the time, so that sums are right whoever adds them up.
    pub(crate) fn usec(&self, command: &[u8], keys: u64, key: &[u8], time: u64) -> u64 {
        let nanos = self.0.get(command).copied().unwrap_or(0) / keys.max(1);
        let random = (hash(key) ^ time).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        nanos / 1000 + u64::from((random * 1000) >> 32 < nanos % 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subcommands_are_one_and_sums_of_fractions_are_right() {
        let rows = [
            ("get", 10.0, 2.5),
            ("xgroup|create", 1.0, 4.0),
            ("xgroup|destroy", 3.0, 8.0),
        ];
        let times = CommandTimes::of(rows.into_iter()).unwrap();
        assert_eq!(times.usec(b"xgroup", 1, b"s", 0), 7);
        let sum = |keys| {
            (0..10_000)
                .map(|time| times.usec(b"get", keys, b"user:1", time))
                .sum::<u64>()
        };
        assert!((24_500..25_500).contains(&sum(1)), "{}", sum(1));
        assert!((12_000..13_000).contains(&sum(2)), "{}", sum(2));
        assert_eq!(times.usec(b"set", 1, b"a", 0), 0);
        assert_eq!(CommandTimes::of([].into_iter()), None);
    }
}
