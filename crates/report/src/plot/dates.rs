//! Round dates and times of day for a time axis.

use slotscope_engine::calendar::{date, days};
use slotscope_engine::text::{day, time};

/// Seconds per day.
const DAY: u64 = 86_400;

/// Up to `most` round dates between two times, with labels.
fn dates(from: u64, to: u64, most: usize) -> Vec<(u64, String)> {
    const MONTHS: [i64; 9] = [1, 2, 3, 6, 12, 24, 60, 120, 1200];
    const DAYS: [u64; 3] = [1, 2, 7];
    let span = to.saturating_sub(from);
    let fits = |secs: u64| span / secs < most as u64;
    if let Some(step) = DAYS.into_iter().find(|step| fits(step * DAY)) {
        let first = from.div_ceil(DAY);
        let days = (first..=to / DAY)
            .step_by(step as usize)
            .map(|number| number * DAY);
        return days.map(|at| (at, day(at))).collect();
    }
    let step = MONTHS
        .into_iter()
        .find(|step| fits(*step as u64 * 28 * DAY))
        .unwrap_or(12_000);
    let (year, month, _) = date((from / DAY) as i64);
    // Counted in months from year 0, so that steps start with the year.
    let first = (year * 12 + month - 1).div_euclid(step) * step;
    let starts = (0..=most as i64 + 1)
        .map(|count| first + count * step)
        .map(|months| {
            let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
            let at = u64::try_from(days(year, month, 1)).unwrap_or(0) * DAY;
            let name = if step % 12 == 0 {
                format!("{year}")
            } else {
                format!("{year}-{month:02}")
            };
            (at, name)
        });
    starts.filter(|(at, _)| (from..=to).contains(at)).collect()
}

/// Like `dates`, but round times of day for ranges of less than a few days.
pub(super) fn moments(from: u64, to: u64, most: usize) -> Vec<(u64, String)> {
    const STEPS: [u64; 17] = [
        1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200,
    ];
    let span = to.saturating_sub(from);
    let Some(step) = STEPS.into_iter().find(|step| span / step < most as u64) else {
        return dates(from, to, most);
    };
    let name = |at: u64| {
        let whole = time(at);
        let (date, clock) = (&whole[5..10], &whole[11..19]);
        match step {
            ..60 => String::from(clock),
            60..3600 => String::from(&clock[..5]),
            _ => format!("{date} {}", &clock[..5]),
        }
    };
    let places = from.div_ceil(step)..=to / step;
    places
        .map(|place| (place * step, name(place * step)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(year: i64, month: i64, day: i64) -> u64 {
        days(year, month, day) as u64 * DAY
    }

    #[test]
    fn times_of_the_day_are_round_and_few() {
        let start = at(2026, 11, 21) + 7 * 3600;
        let named = |from, to| {
            let all = moments(from, to, 8).into_iter().map(|(_, name)| name);
            all.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            named(start, start + 8),
            "07:00:00 07:00:02 07:00:04 07:00:06 07:00:08"
        );
        assert_eq!(
            named(start, start + 300),
            "07:00 07:01 07:02 07:03 07:04 07:05"
        );
        assert_eq!(
            named(start, start + 86_400),
            "11-21 12:00 11-21 18:00 11-22 00:00 11-22 06:00"
        );
        for span in [0, 1, 59, 86_400, 500_000, 10_000_000] {
            assert!(moments(start, start + span, 8).len() <= 9, "{span}");
        }
    }

    #[test]
    fn dates_are_round_and_few() {
        let named = |from, to| {
            let all = dates(from, to, 8).into_iter().map(|(_, name)| name);
            all.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            named(at(2026, 1, 15), at(2026, 6, 2)),
            "2026-02 2026-03 2026-04 2026-05 2026-06"
        );
        assert_eq!(
            named(at(2024, 11, 1), at(2026, 11, 1)),
            "2025-01 2025-07 2026-01 2026-07"
        );
        assert_eq!(
            named(at(2026, 1, 1), at(2026, 1, 4)),
            "2026-01-01 2026-01-02 2026-01-03 2026-01-04"
        );
        assert_eq!(
            named(at(1990, 1, 1), at(2026, 1, 1)),
            "1990 1995 2000 2005 2010 2015 2020 2025"
        );
        for (from, to) in [(0, 0), (0, 253_402_300_799), (DAY / 2, DAY / 2 + 5)] {
            assert!(dates(from, to, 8).len() <= 9, "{from} {to}");
        }
    }
}
