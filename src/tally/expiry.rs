//! When keys expire: by the minute, or by as many minutes as it takes to stay within bounded memory.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::format::batch::{NEVER, Number, SOMETIME};
use crate::metric::{Load, Metric};
use crate::slot::SlotBatch;
use crate::tally::Tally;

/// Spans of time that are kept apart: of a minute each they are 45 days.
const SPANS: usize = 1 << 16;
/// Milliseconds of a minute.
const MINUTE: u64 = 60_000;

/// When keys expire. Whatever their order and the parts that were merged, the spans are the shortest that fit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Expiry {
    /// Keys that never expire.
    pub never: Load,
    /// Keys that expire, at a time that the input does not say.
    pub sometime: Load,
    /// Each span is a minute, doubled so often.
    doublings: u32,
    /// Keys that expire in a span, by its number since 1970.
    spans: HashMap<u64, Load>,
}

impl Expiry {
    /// Minutes of a span.
    pub fn minutes(&self) -> u64 {
        1 << self.doublings
    }

    /// The spans, each by its start in milliseconds since 1970, with what expires in it; in the order of time.
    pub fn spans(&self) -> Vec<(u64, Load)> {
        let start = |(span, load): (&u64, &Load)| ((span << self.doublings) * MINUTE, *load);
        let mut spans: Vec<_> = self.spans.iter().map(start).collect();
        spans.sort_by_key(|(start, _)| *start);
        spans
    }

    /// Whether the input says of keys whether they expire.
    pub fn is_known(&self) -> bool {
        self.never[Metric::Keys] > 0 || self.sometime[Metric::Keys] > 0 || !self.spans.is_empty()
    }

    fn add_at(&mut self, span: u64, load: Load) {
        *self.spans.entry(span).or_default() += load;
        while self.spans.len() > SPANS {
            self.double();
        }
    }

    fn double(&mut self) {
        self.doublings += 1;
        for (span, load) in std::mem::take(&mut self.spans) {
            *self.spans.entry(span >> 1).or_default() += load;
        }
    }
}

impl Tally for Expiry {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let values = keys.batch.values;
        for (i, at) in values.number(Number::Expiry).iter().enumerate() {
            let load = values.load(i);
            match *at {
                NEVER => self.never += load,
                SOMETIME => self.sometime += load,
                at => self.add_at((at / MINUTE) >> self.doublings, load),
            }
        }
    }

    fn merge(&mut self, mut other: Self) {
        while other.doublings < self.doublings {
            other.double();
        }
        while self.doublings < other.doublings {
            self.double();
        }
        self.never += other.never;
        self.sometime += other.sometime;
        for (span, load) in other.spans {
            // Both may double on the way; what is left of the other then has its old length.
            let span = span >> (self.doublings - other.doublings);
            self.add_at(span, load);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(minutes: impl Iterator<Item = u64>) -> Expiry {
        let mut expiry = Expiry::default();
        for minute in minutes {
            expiry.add_at(minute >> expiry.doublings, Load::KEY);
        }
        expiry
    }

    #[test]
    fn spans_are_the_shortest_that_fit_whatever_the_order_and_the_parts() {
        let minutes = |from: u64, to: u64| (from..to).map(|i| i * 7 % 300_000);
        let whole = counted(minutes(0, 300_000));
        assert_eq!(whole.minutes(), 8, "300,000 minutes in 65,536 spans");
        assert!(
            whole
                .spans()
                .iter()
                .all(|(_, load)| load[Metric::Keys] == 8)
        );
        for cut in [1, 60_000, 150_000, 299_999] {
            let (mut first, mut second) =
                (counted(minutes(0, cut)), counted(minutes(cut, 300_000)));
            second.merge(first.clone());
            first.merge(counted(minutes(cut, 300_000)));
            assert_eq!(first, whole, "cut at {cut}");
            assert_eq!(second, whole, "cut at {cut}");
        }
    }

    #[test]
    fn a_minute_is_a_minute_while_there_is_room() {
        let expiry = counted([28_000_000, 28_000_000, 28_000_001].into_iter());
        let spans = expiry.spans();
        assert_eq!((expiry.minutes(), spans.len()), (1, 2));
        assert_eq!(spans[0], (28_000_000 * MINUTE, Load::new(2, 0, 0)));
    }
}
