//! When keys expire.

use crate::summary::kinds::in_metrics;
use slotscope_base::metric::{Load, Metric, PerMetric};
use slotscope_base::name::Name;
use slotscope_count::tally;
use slotscope_model::balance::tidy;
use slotscope_model::expiry::{Expiry, FullestTime, Within};

use crate::summary::expiring::Expiring;

/// Bounds of the remaining TTL, in seconds.
const WITHIN: [u64; 6] = [60, 3600, 86_400, 7 * 86_400, 30 * 86_400, 365 * 86_400];

/// Expiry of a dump of `keys` keys `written` at that second; `None` if the dump has no expiry times. `owner` maps a
/// slot to its node, `shown` redacts a pattern for display.
pub(crate) fn of(
    counted: &tally::expiry::Expiry,
    written: Option<u64>,
    keys: u64,
    carried: &PerMetric<u128>,
    owner: &dyn Fn(u16) -> Option<Name>,
    shown_pattern: &dyn Fn(&Name) -> Name,
) -> Option<Expiry> {
    let shown = |load: Load| in_metrics(load, carried);
    let spans = counted.times.sorted();
    let mut expiring = counted.sometime;
    spans.iter().for_each(|(_, load)| expiring += *load);
    let (mut expired, mut within) = (Load::default(), [Load::default(); WITHIN.len() + 1]);
    for (start, load) in &spans {
        match written.map(|written| (start / 1000).checked_sub(minute(written))) {
            Some(Some(left)) => {
                let class = WITHIN.iter().take_while(|bound| left >= **bound).count();
                within[class] += *load;
            }
            _ => expired += *load,
        }
    }
    let bounds = WITHIN.into_iter().map(Some).chain([None]);
    let rows = bounds.zip(within).map(|(secs, load)| Within {
        secs,
        load: shown(load),
    });
    let is_dated = written.is_some() && !spans.is_empty();
    let future = spans
        .iter()
        .filter(|(start, _)| written.is_none_or(|at| start / 1000 >= minute(at)));
    let fullest = future.rev().max_by_key(|(_, load)| load[Metric::Keys]);
    let known = Expiring {
        sample: counted.sample(),
        spans: &spans,
        units: counted.times.units(),
        owner,
        shown_pattern,
    };
    counted.is_known().then(|| Expiry {
        storms: known.storms(written.map(minute), keys),
        leaving: written.and_then(|written| known.leaving(minute(written))),
        never: shown(counted.never),
        expiring: shown(expiring),
        expired: is_dated.then(|| shown(expired)),
        within: if is_dated { rows.collect() } else { Vec::new() },
        fullest: fullest.map(|(start, load)| FullestTime {
            at: start / 1000,
            minutes: counted.times.units(),
            keys: load[Metric::Keys],
            share: tidy(load[Metric::Keys] as f64 / keys.max(1) as f64),
        }),
    })
}

/// Rounds down to the minute: expiry times are counted by the minute.
fn minute(secs: u64) -> u64 {
    secs / 60 * 60
}
