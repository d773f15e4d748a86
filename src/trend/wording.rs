//! How a cluster grows and when its fullest node is full, in sentences.

use slotscope_engine::text::{amount, bytes, counted, day, percent, short, signed_percent};
use slotscope_findings::wording::InWords;

use crate::trend::Outlook;
use crate::trend::fit::Shape;
use crate::trend::forecast::{Full, LastForecast};
use crate::trend::interval::{Interval, Reached};

slotscope_findings::displayed_in_words! {
    crate::trend::Outlook,
    crate::trend::forecast::Full,
    crate::trend::forecast::LastForecast,
}

impl InWords for Outlook {
    fn in_words(&self) -> String {
        let [from, to] = self.times.map(day);
        let reports = counted(self.reports as u64, "report");
        let mut sentence = format!("{reports}, {from} to {to}: {}", amount(self.by, self.load));
        if let Some((shape, a_month)) = &self.growth {
            sentence += &format!(", {}", growth(*shape, a_month));
        }
        if let Some((node, months, at)) = &self.full {
            sentence += &format!("; node {} {}", short(node), full(months, *at));
        }
        sentence
    }
}

impl InWords for Full {
    fn in_words(&self) -> String {
        let (node, when) = (short(&self.node.name), full(&self.months, self.at));
        let (used, limit) = (bytes(self.used), bytes(self.maxmemory));
        format!("node {node} {when}: it uses {used} of {limit}")
    }
}

impl InWords for LastForecast {
    fn in_words(&self) -> String {
        let (node, at, full_at) = (short(&self.node), day(self.at), day(self.full_at));
        let months = in_months(self.months);
        format!("the report of {at} forecast: node {node} is full {months}, on {full_at}")
    }
}

/// `growing by 6.2% a month (+5.8% to +6.6%)`.
fn growth(shape: Shape, a_month: &Interval) -> String {
    let change = percent(a_month.estimate.abs());
    let direction = match a_month.estimate {
        share if share < 0.0 => "shrinking",
        _ => "growing",
    };
    let how = match shape {
        Shape::Exponential => format!("{direction} by {change} a month"),
        Shape::Linear => format!("{direction} by the same amount each month, {change} now"),
    };
    match (a_month.low, a_month.high) {
        (Some(low), Some(high)) => format!(
            "{how} ({} to {})",
            signed_percent(low),
            signed_percent(high)
        ),
        _ => how,
    }
}

/// `is full in 7.3 months (6.1 to 8.9), on 2027-05-10`.
fn full(months: &Reached, at: Option<u64>) -> String {
    let on = at.map_or(String::new(), |at| format!(", on {}", day(at)));
    let number = |months: f64| format!("{months:.1}");
    let ends = match (months.low, months.high) {
        (Some(low), Some(high)) => format!(" ({} to {})", number(low), number(high)),
        (Some(low), None) => format!(" ({} or later, or never)", number(low)),
        _ => String::new(),
    };
    match months.estimate {
        Some(0.0) => String::from("is full"),
        Some(months) => format!("is full {}{ends}{on}", in_months(months)),
        None => match months.low {
            Some(low) => format!(
                "is not full as it grows now, at the earliest {}",
                in_months(low)
            ),
            None => String::from("is not full as it grows now"),
        },
    }
}

fn in_months(months: f64) -> String {
    match format!("{months:.1}").as_str() {
        "1.0" => String::from("in 1.0 month"),
        months => format!("in {months} months"),
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
    fn growth_is_worded_by_its_shape_its_direction_and_its_ends() {
        for (shape, of, words) in [
            (
                Shape::Exponential,
                interval(0.062, Some((0.058, 0.066))),
                "growing by 6.2% a month (+5.8% to +6.6%)",
            ),
            (
                Shape::Exponential,
                interval(-0.02, None),
                "shrinking by 2.0% a month",
            ),
            (
                Shape::Linear,
                interval(0.03, Some((-0.01, 0.07))),
                "growing by the same amount each month, 3.0% now (-1.0% to +7.0%)",
            ),
        ] {
            assert_eq!(growth(shape, &of), words);
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
