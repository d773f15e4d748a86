//! Expiry over time: how much expires how long after the dump, with storms highlighted. Drawn by a chart and the page.

use slotscope_engine::metric::PerMetric;
use slotscope_engine::text::time;
use slotscope_findings::summary::expiry::Expiry;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// The ends of the spans in seconds, with names: each is about twice the previous one.
pub(crate) const ENDS: [(u64, &str); 25] = [
    (0, "0"),
    (MINUTE, "1 min"),
    (2 * MINUTE, "2 min"),
    (5 * MINUTE, "5 min"),
    (10 * MINUTE, "10 min"),
    (20 * MINUTE, "20 min"),
    (30 * MINUTE, "30 min"),
    (HOUR, "1 h"),
    (2 * HOUR, "2 h"),
    (4 * HOUR, "4 h"),
    (8 * HOUR, "8 h"),
    (16 * HOUR, "16 h"),
    (DAY, "1 d"),
    (2 * DAY, "2 d"),
    (4 * DAY, "4 d"),
    (7 * DAY, "7 d"),
    (14 * DAY, "14 d"),
    (30 * DAY, "30 d"),
    (60 * DAY, "60 d"),
    (120 * DAY, "120 d"),
    (240 * DAY, "240 d"),
    (365 * DAY, "1 y"),
    (730 * DAY, "2 y"),
    (1825 * DAY, "5 y"),
    (u64::MAX, "later"),
];

/// The load that expires in each span.
#[derive(Debug, Clone, PartialEq)]
pub struct Expiring {
    /// The start of the spans, in seconds since 1970.
    pub start: u64,
    /// Whether that is the time of the dump rather than the first expiry.
    pub is_dated: bool,
    /// The index into `ENDS` of the first span.
    pub first: usize,
    /// By span.
    pub spans: Vec<PerMetric<u64>>,
    /// By span: what expires in storms.
    pub storms: Vec<PerMetric<u64>>,
}

impl Expiring {
    /// The load that expires after `written`, or after the first expiry; `None` if no expiry time is known.
    pub(crate) fn new(expiry: &Expiry, written: Option<u64>) -> Option<Self> {
        let minute = |at: u64| at / MINUTE * MINUTE;
        let from = written.map_or(0, minute);
        let due = || expiry.over_time.iter().filter(|(at, _)| *at >= from);
        let start = written.map(minute).or(due().next().map(|(at, _)| *at))?;
        let none = due().next()?.1.map(|_, _| 0);
        let mut all = Expiring {
            start,
            is_dated: written.is_some(),
            first: 0,
            spans: vec![none; ENDS.len() - 1],
            storms: vec![none; ENDS.len() - 1],
        };
        for (at, load) in due() {
            let span = all.span_of(*at);
            add(&mut all.spans[span], load);
            if expiry.storms.iter().any(|storm| storm.at == *at) {
                add(&mut all.storms[span], load);
            }
        }
        Some(all.trimmed())
    }

    /// Drops empty spans at both ends.
    fn trimmed(mut self) -> Self {
        let is_filled = |span: &PerMetric<u64>| span.keys > 0;
        let first = self.spans.iter().position(is_filled).unwrap_or(0);
        let last = self.spans.iter().rposition(is_filled).unwrap_or(0);
        for spans in [&mut self.spans, &mut self.storms] {
            spans.truncate(last + 1);
            spans.drain(..first);
        }
        self.first = first;
        self
    }

    /// The index of the span containing a time.
    pub(crate) fn span_of(&self, at: u64) -> usize {
        let left = at.saturating_sub(self.start);
        let after = ENDS.iter().take_while(|(end, _)| *end <= left).count();
        (after - 1).min(ENDS.len() - 2) - self.first
    }

    /// The axis title.
    pub(crate) fn along(&self) -> String {
        let start = time(self.start);
        if self.is_dated {
            format!("time after the dump of {start}")
        } else {
            format!(
                "time after the first expiry, {start}; the input does not say when it was dumped"
            )
        }
    }
}

fn add(sum: &mut PerMetric<u64>, load: &PerMetric<u64>) {
    *sum = sum.map(|metric, sum| sum.saturating_add(load.get(metric).copied().unwrap_or(0)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_findings::summary::expiring::Storm;

    /// In the middle of a minute.
    const NOW: u64 = 1_795_000_030;

    /// Keys that expire this many minutes after the dump, and the minutes of storms among them.
    fn expiring(due: &[(u64, u64)], storms: &[u64], written: Option<u64>) -> Expiring {
        let at = |minutes: u64| NOW / 60 * 60 + 60 * minutes;
        let none = PerMetric::of_keys(0);
        let storm = |minutes: &u64| Storm {
            at: at(*minutes),
            after: None,
            minutes: 1,
            keys: 0,
            share: 0.0,
            pattern: None,
            node: None,
        };
        let expiry = Expiry {
            never: none,
            expiring: none,
            expired: None,
            within: Vec::new(),
            fullest: None,
            storms: storms.iter().map(storm).collect(),
            leaving: None,
            over_time: due
                .iter()
                .map(|(minutes, keys)| (at(*minutes), PerMetric::of_keys(*keys)))
                .collect(),
        };
        Expiring::new(&expiry, written).unwrap()
    }

    #[test]
    fn every_key_is_in_a_span_and_the_first_and_the_last_hold_some() {
        let due = [(0, 1), (3, 5), (61, 7), (1440, 11), (10_000_000, 13)];
        let found = expiring(&due, &[], Some(NOW));
        assert_eq!(found.spans.iter().map(|span| span.keys).sum::<u64>(), 37);
        assert_eq!((found.first, found.spans.len()), (0, ENDS.len() - 1));
        assert_eq!(found.spans[found.span_of(NOW + 62 * 60)].keys, 7);
        let late = expiring(&[(70, 2), (200, 3)], &[], Some(NOW));
        assert_eq!((ENDS[late.first].1, late.spans.len()), ("1 h", 2));
    }

    #[test]
    fn without_the_date_of_the_dump_time_begins_with_the_first_expiry() {
        let found = expiring(&[(70, 2), (200, 3)], &[200], None);
        assert_eq!((found.first, found.is_dated), (0, false));
        let storms: Vec<u64> = found.storms.iter().map(|span| span.keys).collect();
        assert_eq!(storms.iter().sum::<u64>(), 3);
        assert!(found.along().contains("first expiry"));
    }
}
