//! Loads by time: in spans of `UNIT` milliseconds, or as many units as needed to bound memory.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize, Serializer};

use slotscope_base::metric::Load;

/// Maximum number of spans: 45 days in minutes.
const SPANS: usize = 1 << 16;

/// Loads by time span. Spans are the shortest that fit, regardless of order and merging.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeSpans<const UNIT: u64> {
    /// How often a span was doubled from one unit.
    doublings: u32,
    /// Loads by span number since 1970.
    #[serde(serialize_with = "in_order")]
    loads: HashMap<u64, Load>,
}

fn in_order<S: Serializer>(loads: &HashMap<u64, Load>, to: S) -> Result<S::Ok, S::Error> {
    loads.iter().collect::<BTreeMap<_, _>>().serialize(to)
}

impl<const UNIT: u64> TimeSpans<UNIT> {
    /// Whether a scan can have written these spans.
    pub(in crate::tally) fn is_sound(&self) -> bool {
        let most = (u64::MAX / UNIT).checked_shr(self.doublings);
        let is_span = |span: &u64| most.is_some_and(|most| *span <= most);
        self.loads.len() <= SPANS && self.doublings < u64::BITS && self.loads.keys().all(is_span)
    }

    /// Units per span.
    pub fn units(&self) -> u64 {
        1 << self.doublings
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.loads.is_empty()
    }

    /// The spans in time order, by start in milliseconds since 1970.
    pub fn sorted(&self) -> Vec<(u64, Load)> {
        let start = |(span, load): (&u64, &Load)| ((span << self.doublings) * UNIT, *load);
        let mut spans: Vec<_> = self.loads.iter().map(start).collect();
        spans.sort_by_key(|(start, _)| *start);
        spans
    }

    /// Adds a load at a time in milliseconds since 1970.
    pub(crate) fn add(&mut self, time: u64, load: Load) {
        self.add_to((time / UNIT) >> self.doublings, load);
    }

    fn add_to(&mut self, span: u64, load: Load) {
        *self.loads.entry(span).or_default() += load;
        while self.loads.len() > SPANS {
            self.double();
        }
    }

    fn double(&mut self) {
        self.doublings += 1;
        for (span, load) in std::mem::take(&mut self.loads) {
            *self.loads.entry(span >> 1).or_default() += load;
        }
    }

    /// Merges another set of spans.
    pub(crate) fn merge(&mut self, mut other: Self) {
        while other.doublings < self.doublings {
            other.double();
        }
        while self.doublings < other.doublings {
            self.double();
        }
        for (span, load) in other.loads {
            // This one may get coarser meanwhile; the rest of the other then still has its old length.
            self.add_to(span >> (self.doublings - other.doublings), load);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_base::metric::Metric;

    type Minutes = TimeSpans<60_000>;

    fn counted(minutes: impl Iterator<Item = u64>) -> Minutes {
        let mut spans = Minutes::default();
        minutes.for_each(|minute| spans.add(minute * 60_000 + 59_999, Load::KEY));
        spans
    }

    #[test]
    fn spans_are_the_shortest_that_fit_whatever_the_order_and_the_parts() {
        let minutes = |from: u64, to: u64| (from..to).map(|i| i * 7 % 300_000);
        let whole = counted(minutes(0, 300_000));
        assert_eq!(whole.units(), 8, "300,000 minutes in 65,536 spans");
        let has_eight = |(_, load): &(u64, Load)| load[Metric::Keys] == 8;
        assert!(whole.sorted().iter().all(has_eight));
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
    fn a_unit_is_a_span_while_there_is_room() {
        let minutes = counted([28_000_000, 28_000_000, 28_000_001].into_iter());
        let spans = minutes.sorted();
        assert_eq!((minutes.units(), spans.len()), (1, 2));
        assert_eq!(spans[0], (28_000_000 * 60_000, Load::new(2, 0, 0)));
    }
}
