//! The Gregorian calendar: days since 1970-01-01, dates, and units for shorter times.
//!
//! Years start in March here, which puts the leap day last; 400 years are an era with a fixed number of days.

const ERA: i64 = 146_097;
/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;

/// Days from 1970-01-01 to a date.
pub fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = match month {
        1 | 2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    era * ERA + 365 * year + year / 4 - year / 100 + day_of_year - EPOCH
}

/// Year, month and day of a day counted from 1970-01-01.
pub fn date(days: i64) -> (i64, i64, i64) {
    let days = days + EPOCH;
    let (era, day) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month + 2) / 5 + 1;
    match month {
        10.. => (400 * era + year + 1, month - 9, day_of_month),
        _ => (400 * era + year, month + 3, day_of_month),
    }
}

/// A time in milliseconds since 1970 as `2026-03-01T12:00:00.000Z`.
pub fn utc(ms: i64) -> String {
    const DAY_MS: i64 = 86_400_000;
    let (days, rest) = (ms.div_euclid(DAY_MS), ms.rem_euclid(DAY_MS));
    let (year, month, day) = date(days);
    let (hours, minutes) = (rest / 3_600_000, rest / 60_000 % 60);
    let (seconds, ms) = (rest / 1000 % 60, rest % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.{ms:03}Z")
}

/// Units of time with their microseconds and upper bound of use: two minutes read better as 120 s.
const TIMES: [(f64, &str, f64); 5] = [
    (1.0, "µs", 1e3),
    (1e3, "ms", 999.5e3),
    (1e6, "s", 120e6),
    (60e6, "min", 7200e6),
    (3600e6, "h", f64::INFINITY),
];

/// The unit for times up to `micros` microseconds, with its microseconds.
pub fn unit_of_time(micros: f64) -> (f64, &'static str) {
    let fits = |unit: &&(f64, &str, f64)| micros < unit.2;
    let unit = TIMES.iter().find(fits).unwrap_or(&TIMES[TIMES.len() - 1]);
    (unit.0, unit.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_those_of_the_calendar_and_each_the_other_way_round() {
        for (day, expected) in [
            (0, (1970, 1, 1)),
            (11_016, (2000, 2, 29)),
            (11_017, (2000, 3, 1)),
            (-1, (1969, 12, 31)),
            (47_540, (2100, 2, 28)),
            (47_541, (2100, 3, 1)),
        ] {
            assert_eq!(date(day), expected);
        }
        for day in (-800_000..800_000).step_by(13) {
            let (year, month, of_month) = date(day);
            assert_eq!(days(year, month, of_month), day);
        }
    }

    #[test]
    fn a_time_is_the_one_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199, "2024-02-29T23:59:59.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.000Z"),
        ] {
            assert_eq!(utc(1000 * seconds), text);
        }
        assert_eq!(utc(1_645_164_929_123), "2022-02-18T06:15:29.123Z");
        // No server means such times, but they must still print.
        assert!(utc(i64::MAX).starts_with("292278994-08-17") && utc(i64::MIN).starts_with('-'));
    }
}
