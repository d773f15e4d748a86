//! The load of the cluster, its growth, the shard that is full first and the number of shards that it takes, in sentences.

use slotscope_base::metric::Metric;
use slotscope_base::text::{amount, bytes, counted, day, percent, short, signed_percent};
use slotscope_model::measure::Measure;

use crate::capacity::Capacity;
use crate::capacity::counts::{Fits, Floor, ShardCount};
use crate::capacity::fit::{Interval, Rate, Reached};
use crate::capacity::months::after;
use crate::capacity::names::Heavy;
use crate::capacity::shards::{Basis, Shard};

/// The whole review.
pub(super) fn sentence(review: &Capacity) -> String {
    let mut sentence = overview(review);
    if let Some((source, first)) = first_full(review) {
        sentence += &format!("; by {source}, {first}");
    }
    sentence + &fullest_grown(review).unwrap_or_default()
}

/// The part of its limit that the fullest shard holds after the growth assumed, with its slots of today, where that is full.
fn fullest_grown(review: &Capacity) -> Option<String> {
    let part = |shard: &Shard| {
        let grown = shard.load.bytes()?.grown? as f64;
        Some(grown / shard.maxmemory? as f64)
    };
    let parts = review
        .shards
        .iter()
        .filter_map(|shard| Some((part(shard)?, shard)));
    let (part, shard) = parts.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let label = review.labels().label(&shard.node);
    let words = format!(
        "; after growth {} holds {} of its limit with its slots of today",
        short(&label),
        percent(part)
    );
    (part >= review.full_at).then_some(words)
}

/// The title of a chart: the shard that is full first, else how all grows.
pub(super) fn headline(review: &Capacity) -> String {
    let trend = || {
        Some(growth(
            &review.total.get(review.by)?.trend.as_ref()?.rate,
            review.by,
        ))
    };
    let grows = || trend().map(|growth| format!("{} of the shards: {growth}", capital(review.by)));
    let first = first_full(review).map(|(_, first)| first);
    first.or_else(grows).unwrap_or_default()
}

/// The noun of a metric at the start of a sentence.
pub(super) fn capital(metric: Metric) -> String {
    let noun = Measure::from(metric).noun();
    noun[..1].to_uppercase() + &noun[1..]
}

/// The shard that is full first, and the source of its memory.
fn first_full(review: &Capacity) -> Option<(&'static str, String)> {
    let first = review.full.as_ref()?;
    let mut shards = review.shards.iter();
    let basis = shards.find(|shard| shard.id == first.id)?.basis?;
    let when = full(&first.months, review.newest(), review.full_at);
    let label = review.labels().label(&first.node);
    Some((basis.words(), format!("{} {when}", short(&label))))
}

/// The reports, and what is in the newest.
pub(super) fn scope(review: &Capacity) -> String {
    let days: Vec<String> = review.used().map(|point| day(point.at)).collect();
    let when = match days.as_slice() {
        [one] => format!("report of {one}"),
        [first, .., last] => format!(
            "{}, {first} to {last}",
            counted(days.len() as u64, "report")
        ),
        [] => String::new(),
    };
    let when = match review.points.len() - days.len() {
        0 => when,
        others => format!("{when} ({others} left out)"),
    };
    let metric = review.by;
    let shards = counted(review.shards.len() as u64, "shard");
    match review.total.get(metric) {
        Some(total) => format!("{when}: {} on {shards}", amount(metric, total.now)),
        None => when,
    }
}

/// The reports, what is in the newest, and how it grows.
fn overview(review: &Capacity) -> String {
    let (metric, mut sentence) = (review.by, scope(review));
    let Some(total) = review.total.get(metric) else {
        return sentence;
    };
    if let Some(trend) = &total.trend {
        sentence += &format!(", {}", growth(&trend.rate, metric));
    }
    if let Some(grown) = total.grown {
        sentence += &format!(", {} after growth (--grow)", amount(metric, grown));
    }
    sentence
}

/// How many shards it takes, where more do not help, and which tag has to be split first.
pub(super) fn answer(review: &Capacity, limit: Option<u64>) -> Option<String> {
    let is_of_memory = review.by == Metric::Bytes;
    let lasting = limit.filter(|_| is_of_memory);
    let lasting = lasting.and_then(|limit| lasts(review, limit));
    let no_help = review.floor.as_ref().map(|floor| no_help(review, floor));
    let splits = review
        .tags
        .iter()
        .filter_map(|tag| split_by(tag, review.newest(), review.full_at));
    let split = splits.min().map(|(_, words)| words);
    let parts: Vec<String> = [lasting, no_help, split].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The smallest number of shards that holds what is there, and until when.
fn lasts(review: &Capacity, limit: u64) -> Option<String> {
    let part = format!("{:.0}%", 100.0 * review.full_at);
    let is_enough = |count: &&ShardCount| count.fits.is_some_and(Fits::now_and_then);
    let (first, last) = (review.counts.first()?, review.counts.last()?);
    first.fits?;
    let Some(enough) = review.counts.iter().find(is_enough) else {
        let fullest = last.fullest.bytes()?;
        let later = review.after_growth();
        let [and_then, then] = fullest
            .grown
            .map_or([String::new(), String::new()], |grown| {
                [
                    format!(" and {later}"),
                    format!(", {} {later}", bytes(grown)),
                ]
            });
        return Some(format!(
            "no number of shards up to {} was found to stay below {part} of {} today{and_then}: the fullest would hold {}{then}",
            last.shards,
            bytes(limit),
            bytes(fullest.now),
        ));
    };
    let shards = format!("{} of {}", counted(enough.shards, "shard"), bytes(limit));
    let (is, last) = match enough.shards {
        1 => ("is", "lasts"),
        _ => ("are", "last"),
    };
    Some(
        match (enough.full.and_then(|full| full.estimate), enough.full_on) {
            (Some(_), Some(on)) => format!(
                "{shards}, with slots placed anew, {last} until {}, when the fullest is {part} full",
                day(on)
            ),
            _ if enough.full.is_some() => {
                format!("{shards}, with slots placed anew, {is} enough as the reports grow")
            }
            _ => {
                let grown = match review.total.keys.grown {
                    Some(_) => review.after_growth(),
                    None => String::from("today"),
                };
                format!(
                    "{shards}, with slots placed anew, {is} enough {grown}: the fullest is below {part}"
                )
            }
        },
    )
}

impl Capacity {
    /// `in 3 months`, or `after the growth assumed`.
    pub(super) fn after_growth(&self) -> String {
        match self.horizon {
            Some(1) => String::from("in 1 month"),
            Some(months) => format!("in {months} months"),
            None => String::from("after growth"),
        }
    }
}

impl Fits {
    /// Whether it fits today and, where that is known, after growth.
    pub(super) fn now_and_then(self) -> bool {
        self.now && self.grown.unwrap_or(true)
    }

    /// As `now_and_then`, with one shard less.
    pub(super) fn with_one_lost(self) -> bool {
        self.one_lost && self.grown_one_lost.unwrap_or(true)
    }
}

/// From where more shards do not help.
fn no_help(review: &Capacity, floor: &Floor) -> String {
    let slot = match (&floor.key, &floor.tag) {
        (Some(key), _) => format!("the key {}", short(key)),
        (_, Some(tag)) => format!("the slot of {{{}}}", short(tag)),
        _ => format!("slot {}", floor.slot),
    };
    let holds = amount(floor.by, floor.load);
    let then = floor.shards_grown.filter(|shards| *shards != floor.shards);
    let then = then.map_or(String::new(), |shards| {
        format!(", {} beyond {}", review.after_growth(), shards.max(1))
    });
    match floor.shards {
        0 | 1 => format!("{slot} ({holds}) is the limit with any number of shards"),
        shards => format!("{slot} ({holds}) is the limit beyond {shards} shards{then}"),
    }
}

/// When a tag has to be split at the latest, and that in words.
fn split_by(tag: &Heavy, newest: u64, full_at: f64) -> Option<(u64, String)> {
    let outgrows = tag.outgrows.as_ref()?;
    let part = format!("{:.0}% of a shard", 100.0 * full_at);
    let tag = format!("split {{{}}}", short(&tag.name));
    match (outgrows.low, outgrows.estimate) {
        (_, Some(0.0)) => Some((newest, format!("{tag} now: alone it is {part} or more"))),
        (Some(low), Some(_)) => {
            let by = after(newest, low);
            let words = format!(
                "{tag} before {}: from then on it alone may be {part}",
                day(by)
            );
            Some((by, words))
        }
        (None, Some(estimate)) => {
            let by = after(newest, estimate);
            Some((
                by,
                format!("{tag} before {}, when it alone is {part}", day(by)),
            ))
        }
        _ => None,
    }
}

impl Basis {
    fn words(self) -> &'static str {
        match self {
            Basis::UsedMemory => "used_memory",
            Basis::MeasuredOnce | Basis::Keys => "the bytes of its keys",
        }
    }
}

/// Growth with its interval: as a percentage per month, but as an amount per day if the reports span less than a month,
/// or if the percentage is above 100, which means it grew from almost nothing.
pub(super) fn rate(rate: &Rate, metric: Metric) -> (String, Option<String>) {
    let is_share = |share: &Interval| {
        let ends = [Some(share.estimate), share.low, share.high];
        ends.iter().flatten().all(|end| end.abs() <= 1.0)
    };
    let per_day = |added: f64| {
        let sign = match added {
            added if added >= 0.5 => "+",
            added if added <= -0.5 => "-",
            _ => "",
        };
        format!("{sign}{}", amount(metric, added.abs().round() as u64))
    };
    let spelled = |interval: Interval, unit: &str, spell: &dyn Fn(f64) -> String| {
        let bounds = interval.low.zip(interval.high);
        let ends = bounds.map(|(low, high)| format!("{} to {}", spell(low), spell(high)));
        (format!("{} a {unit}", spell(interval.estimate)), ends)
    };
    match rate.a_month.filter(is_share) {
        Some(share) => spelled(share, "month", &signed_percent),
        None => spelled(rate.a_day, "day", &per_day),
    }
}

/// `+6.2% a month (+5.8% to +6.6%)`.
pub(super) fn growth(speed: &Rate, metric: Metric) -> String {
    match rate(speed, metric) {
        (change, Some(ends)) => format!("{change} ({ends})"),
        (change, None) => change,
    }
}

/// `is 80% full on 2027-05-10 (2027-04-03 to 2027-06-28)`; `newest` is the time of the newest report.
pub(super) fn full(months: &Reached, newest: u64, full_at: f64) -> String {
    let full = format!("{:.0}% full", 100.0 * full_at);
    let on = |months: f64| day(after(newest, months));
    let ends = match (months.low, months.high) {
        (Some(low), Some(high)) => format!(" ({} to {})", on(low), on(high)),
        (Some(low), None) => format!(" ({} or later, or never)", on(low)),
        _ => String::new(),
    };
    match (months.estimate, months.low) {
        (Some(0.0), _) => format!("is over {full} in the newest report"),
        (Some(estimate), _) => format!("is {full} on {}{ends}", on(estimate)),
        (None, Some(low)) => format!(
            "is not {full} as it grows now, at the earliest on {}",
            on(low)
        ),
        (None, None) => format!("is not {full} as it grows now"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(estimate: f64, ends: Option<(f64, f64)>) -> Interval {
        let (low, high) = ends.unzip();
        Interval {
            estimate,
            low,
            high,
        }
    }

    #[test]
    fn growth_is_a_percentage_a_month_or_an_amount_a_day() {
        let day = interval(2048.4, Some((1024.0, 3072.0)));
        let key = interval(-0.2, None);
        for (a_month, a_day, by, words) in [
            (
                Some(interval(0.062, Some((-0.058, 0.066)))),
                day,
                Metric::Bytes,
                "+6.2% a month (-5.8% to +6.6%)",
            ),
            (
                Some(interval(-0.02, None)),
                key,
                Metric::Keys,
                "-2.0% a month",
            ),
            (
                None,
                day,
                Metric::Bytes,
                "+2.00 KiB a day (+1.00 KiB to +3.00 KiB)",
            ),
            (None, key, Metric::Keys, "0 keys a day"),
            (
                Some(interval(0.9, Some((-0.1, 1.1)))),
                interval(-700.0, None),
                Metric::Keys,
                "-700 keys a day",
            ),
        ] {
            assert_eq!(growth(&Rate { a_day, a_month }, by), words);
        }
    }

    #[test]
    fn what_may_never_be_full_is_not_given_a_date() {
        for (estimate, low, high, words) in [
            (
                Some(7.3),
                Some(6.1),
                Some(8.9),
                "is 80% full on 1970-08-11 (1970-07-05 to 1970-09-28)",
            ),
            (
                Some(7.3),
                Some(6.1),
                None,
                "is 80% full on 1970-08-11 (1970-07-05 or later, or never)",
            ),
            (
                None,
                Some(6.1),
                None,
                "is not 80% full as it grows now, at the earliest on 1970-07-05",
            ),
            (None, None, None, "is not 80% full as it grows now"),
            (
                Some(0.0),
                Some(0.0),
                Some(0.0),
                "is over 80% full in the newest report",
            ),
        ] {
            let months = Reached {
                estimate,
                low,
                high,
            };
            assert_eq!(full(&months, 0, 0.8), words);
        }
    }
}
