//! When keys expire.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use slotscope_engine::metric::{Load, Metric, PerMetric};
use slotscope_engine::name::Name;
use slotscope_engine::tally;

use crate::summary::balance::tidy;
use crate::summary::expiring::{Expiring, Leaving, Storm};

/// Bounds of the remaining TTL, in seconds.
const WITHIN: [u64; 6] = [60, 3600, 86_400, 7 * 86_400, 30 * 86_400, 365 * 86_400];

/// When keys expire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Expiry {
    /// Keys without a TTL.
    pub never: PerMetric<u64>,
    /// Keys with a TTL.
    pub expiring: PerMetric<u64>,
    /// Keys that had expired when the dump was written, and are in it all the same; absent if the dump does not say when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expired: Option<PerMetric<u64>>,
    /// Keys that expire within a time of the writing of the dump, but not within the time before it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub within: Vec<Within>,
    /// The shortest time, from a minute on, in which most keys expire; absent where no time of expiry is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fullest: Option<FullestTime>,
    /// Minutes in which a tenth of all keys or more expire, and far more than in the hour after, that are not soon after the
    /// dump: most keys first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub storms: Vec<Storm>,
    /// Keys that expire within an hour of the writing of the dump, by node and pattern; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaving: Option<Leaving>,
}

/// Keys that expire within a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Within {
    /// That time; absent: later.
    pub secs: Option<u64>,
    /// The load that expires.
    #[serde(flatten)]
    pub load: PerMetric<u64>,
}

/// The time in which most keys expire.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FullestTime {
    /// When it begins, in seconds since 1970.
    pub at: u64,
    /// How long it is. More than one where times of expiry are too many to count each minute.
    pub minutes: u64,
    /// Keys that expire in it.
    pub keys: u64,
    /// Their share of all keys.
    pub share: f64,
}

impl Expiry {
    /// Expiry of a dump of `keys` keys `written` at that second; `None` if the dump has no expiry times. `owner` maps a
    /// slot to its node, `shown` redacts a pattern for display.
    pub(crate) fn of(
        counted: &tally::expiry::Expiry,
        written: Option<u64>,
        keys: u64,
        carried: &PerMetric<u128>,
        owner: &dyn Fn(u16) -> Option<Name>,
        shown_pattern: &dyn Fn(&Name) -> Name,
    ) -> Option<Self> {
        let shown = |load: Load| carried.map(|metric, _| load[metric]);
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
}

/// Rounds down to the minute: expiry times are counted by the minute.
fn minute(secs: u64) -> u64 {
    secs / 60 * 60
}
