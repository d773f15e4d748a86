//! How a cluster grows and when its fullest node is full, in sentences.

use slotscope_engine::metric::Metric;
use slotscope_engine::text::{amount, bytes, counted, day, short, signed_percent};

use crate::trend::fit::{Interval, Rate, Reached};
use crate::trend::forecast::{Basis, Forecast, Full};
use crate::trend::point::Condensed;

/// The trend of all reports by a metric; `load` is the total in the newest report used for growth, if any, else in the
/// newest.
pub(super) fn sentence(
    reports: &[Condensed],
    metric: Metric,
    load: u64,
    forecast: Option<&Forecast>,
) -> String {
    let date = |report: Option<&Condensed>| day(report.map_or(0, |report| report.point.at));
    let mut sentence = format!(
        "{}, {} to {}: {}",
        counted(reports.len() as u64, "report"),
        date(reports.first()),
        date(reports.last()),
        amount(metric, load)
    );
    let Some(forecast) = forecast else {
        return sentence;
    };
    if let Some(of_metric) = forecast.growth.get(metric) {
        sentence += &format!(", {}", growth(&of_metric.rate, metric));
    }
    if let Some(first) = &forecast.full {
        let (node, source) = (short(&first.node), first.basis.words());
        let when = full(&first.months, first.at);
        sentence += &format!("; by {source}, node {node} {when}");
    }
    sentence
}

/// The node that is full first.
pub(super) fn full_first(first: &Full) -> String {
    let (node, when) = (short(&first.node), full(&first.months, first.at));
    let (used, limit) = (bytes(first.used), bytes(first.maxmemory));
    let (source, reports) = (first.basis.words(), counted(first.reports, "report"));
    format!("node {node} {when}: it uses {used} of {limit} (growth by {source} in {reports})")
}

impl Basis {
    fn words(self) -> &'static str {
        match self {
            Basis::UsedMemory => "used_memory",
            Basis::FullestNodes => "the bytes of its keys",
            Basis::AllData => "the bytes of all keys",
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

/// `is full in 7.3 months (6.1 to 8.9), on 2027-05-10`.
pub(super) fn full(months: &Reached, at: Option<u64>) -> String {
    let Some(first) = months.estimate.or(months.low) else {
        return String::from("is not full as it grows now");
    };
    let (number, unit) = in_time(first);
    let ends = match (months.low, months.high) {
        (Some(low), Some(high)) => format!(" ({} to {})", number(low), number(high)),
        (Some(low), None) => format!(" ({} or later, or never)", number(low)),
        _ => String::new(),
    };
    let on = at.map_or(String::new(), |at| format!(", on {}", day(at)));
    let first = format!("in {} {unit}", number(first));
    match months.estimate {
        Some(0.0) => String::from("is full"),
        Some(_) => format!("is full {first}{ends}{on}"),
        None => format!("is not full as it grows now, at the earliest {first}"),
    }
}

/// How times like this one are printed, and the unit: days below two months.
fn in_time(months: f64) -> (fn(f64) -> String, &'static str) {
    let days = |months: f64| format!("{:.0}", months * 365.25 / 12.0);
    if months >= 2.0 {
        (|months| format!("{months:.1}"), "months")
    } else if days(months) == "1" {
        (days, "day")
    } else {
        (days, "days")
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
        let reached = |estimate, low, high| Reached {
            estimate,
            low,
            high,
        };
        for (months, at, words) in [
            (
                reached(Some(7.3), Some(6.1), Some(8.9)),
                Some(0),
                "is full in 7.3 months (6.1 to 8.9), on 1970-01-01",
            ),
            (
                reached(Some(7.3), Some(6.1), None),
                Some(0),
                "is full in 7.3 months (6.1 or later, or never), on 1970-01-01",
            ),
            (
                reached(None, Some(6.1), None),
                None,
                "is not full as it grows now, at the earliest in 6.1 months",
            ),
            (
                reached(Some(0.5), Some(0.3), Some(3.0)),
                Some(0),
                "is full in 15 days (9 to 91), on 1970-01-01",
            ),
            (
                reached(None, None, None),
                None,
                "is not full as it grows now",
            ),
            (reached(Some(0.0), Some(0.0), Some(0.0)), Some(0), "is full"),
        ] {
            assert_eq!(full(&months, at), words);
        }
    }
}
