//! Number formats of axes: few digits, thousands separators, SI prefixes at 100,000 and above.

use slotscope_base::calendar::{self, unit_of_time};
use slotscope_base::metric::Metric;
use slotscope_base::text::{
    binary_unit, bytes_in_three_digits, day, grouped, micros, power_of_1024, si_prefix,
    three_digits,
};

/// At or above this value, the labels of an axis share an SI prefix.
const SHORTENED: f64 = 100_000.0;

/// A number format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// Counts: in powers of a thousand.
    Decimal,
    /// Bytes: in powers of 1024.
    Binary,
    /// Microseconds: in the fitting unit.
    Micros,
    /// Days since 1970: as dates.
    Days,
}

impl Numbers {
    /// The format for a metric.
    pub(crate) fn of(metric: Metric) -> Self {
        match metric {
            metric if metric.is_size() => Numbers::Binary,
            metric if metric.is_time() => Numbers::Micros,
            _ => Numbers::Decimal,
        }
    }

    /// `4,120`, `12.3 M`; `610 B`, `12.3 MiB`; `12.3 ms`.
    pub(crate) fn short(self, value: f64) -> String {
        match self {
            Numbers::Decimal => three_digits(value),
            Numbers::Binary => bytes_in_three_digits(value),
            Numbers::Micros => micros(value),
            Numbers::Days => day((value.max(0.0) * 86_400.0) as u64),
        }
    }

    /// Like `ticks`, at round values of the labels' unit.
    pub(crate) fn ticks(self, from: f64, to: f64, about: usize, least: f64) -> Vec<(f64, String)> {
        match self {
            Numbers::Decimal => ticks(from, to, about, least),
            Numbers::Binary => {
                let power = power_of_1024(to);
                let unit = (1024f64.powi(power as i32), binary_unit(power));
                ticks_in(unit, (from, to), about, least)
            }
            Numbers::Micros => ticks_in(unit_of_time(to), (from, to), about, least),
            Numbers::Days => dates(from, to, about),
        }
    }
}

/// At most about `about` first days of months, or days where there are few months.
fn dates(from: f64, to: f64, about: usize) -> Vec<(f64, String)> {
    let months = (to - from) / 30.4;
    if months < 2.0 {
        let days = ticks(from, to, about, 1.0).into_iter();
        return days
            .map(|(value, _)| (value, Numbers::Days.short(value)))
            .collect();
    }
    let step = [1, 2, 3, 6, 12, 24, 60, 120]
        .into_iter()
        .find(|step| months / f64::from(*step) <= about as f64)
        .unwrap_or(1200);
    let (year, month, _) = calendar::date(from as i64);
    let first = 12 * year + month - 1;
    let starts = (first..).filter(|month| month % i64::from(step) == 0);
    let days = starts.map(|month| (month, calendar::days(month / 12, month % 12 + 1, 1) as f64));
    days.skip_while(|(_, day)| *day < from)
        .take_while(|(_, day)| *day <= to)
        .take(4 * about)
        .map(|(month, day)| (day, format!("{:04}-{:02}", month / 12, month % 12 + 1)))
        .collect()
}

/// Ticks at round values of a unit, labelled with its name.
fn ticks_in(
    (unit, name): (f64, &str),
    (from, to): (f64, f64),
    about: usize,
    least: f64,
) -> Vec<(f64, String)> {
    let label = |text: String| {
        if text == "0" {
            text
        } else {
            format!("{text} {name}")
        }
    };
    let in_unit = ticks(from / unit, to / unit, about, least / unit).into_iter();
    in_unit
        .map(|(value, text)| (value * unit, label(text)))
        .collect()
}

/// About `about` round values from `from` to `to`, at least `least` apart, with labels.
fn ticks(from: f64, to: f64, about: usize, least: f64) -> Vec<(f64, String)> {
    let range = (to - from).max(f64::MIN_POSITIVE);
    let rough = (range / about.max(1) as f64).max(least);
    let power = 10f64.powf(rough.log10().floor());
    let fitting = [1.0, 2.0, 5.0, 10.0]
        .map(|digit| digit * power)
        .into_iter()
        .find(|step| *step >= rough * 0.999);
    let step = fitting.unwrap_or(10.0 * power);
    let prefix = if to < SHORTENED {
        0
    } else {
        ((to / 2.0).log10() / 3.0) as usize
    };
    let unit = 1000f64.powi(prefix as i32);
    let digits = (-(step / unit).log10().floor()).clamp(0.0, 6.0) as usize;
    let label = |value: f64| match digits {
        0 => format!(
            "{}{}",
            grouped((value / unit).round() as u64),
            si_prefix(prefix)
        ),
        _ => format!("{:.digits$}{}", value / unit, si_prefix(prefix)),
    };
    let first = (from / step).ceil();
    let values = (0..=4 * about)
        .map(|i| (first + i as f64) * step)
        .take_while(|value| *value <= to + step * 1e-6);
    values
        .map(|value| {
            (
                value,
                if value == 0.0 {
                    String::from("0")
                } else {
                    label(value)
                },
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_of_bytes_are_round_in_their_unit() {
        let labels = |to| {
            Numbers::Binary
                .ticks(0.0, to, 4, 1.0)
                .into_iter()
                .map(|(_, label)| label)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            labels(1.5 * 1024f64.powi(3)),
            ["0", "0.5 GiB", "1.0 GiB", "1.5 GiB"]
        );
        assert_eq!(labels(4.0), ["0", "1 B", "2 B", "3 B", "4 B"]);
        assert_eq!(
            labels(700.0 * 1024.0),
            ["0", "200 KiB", "400 KiB", "600 KiB"]
        );
    }

    #[test]
    fn ticks_are_round_and_labelled_in_one_unit() {
        let labels = |from, to| {
            ticks(from, to, 5, 0.0)
                .into_iter()
                .map(|(_, label)| label)
                .collect::<Vec<_>>()
        };
        assert_eq!(labels(0.0, 16384.0), ["0", "5,000", "10,000", "15,000"]);
        assert_eq!(labels(0.0, 2.2), ["0", "0.5", "1.0", "1.5", "2.0"]);
        assert_eq!(ticks(0.0, 2.2, 5, 1.0).len(), 3);
        assert_eq!(labels(0.0, 1.1e6), ["0", "500 k", "1,000 k"]);
        assert_eq!(labels(0.0, 4.4e6), ["0", "1 M", "2 M", "3 M", "4 M"]);
    }

    #[test]
    fn dates_are_first_days_of_months_or_days() {
        let labels = |from, to| {
            let ticks = Numbers::Days.ticks(from, to, 6, 1.0).into_iter();
            ticks.map(|(_, label)| label).collect::<Vec<_>>()
        };
        assert_eq!(
            labels(20_700.0, 20_800.0),
            ["2026-10", "2026-11", "2026-12"]
        );
        assert_eq!(labels(20_700.0, 21_100.0).len(), 5);
        assert_eq!(
            labels(20_700.0, 20_702.0),
            ["2026-09-04", "2026-09-05", "2026-09-06"]
        );
        assert!(labels(0.0, 3e6).len() <= 24);
    }

    #[test]
    fn ticks_end_for_any_range() {
        for (from, to) in [
            (0.0, 0.0),
            (1e18, 1e18),
            (1e18, 1e18 + 256.0),
            (0.0, 1.8e19),
            (0.0, 1e-9),
        ] {
            assert!(ticks(from, to, 6, 0.0).len() <= 26, "{from} {to}");
        }
    }
}
