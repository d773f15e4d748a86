//! Ranges of times as people write them: `1h..7d` from now, or `2026-12-01..2027-01-01`.

use std::ops::RangeInclusive;
use std::time::SystemTime;

use slotscope_base::calendar;

use crate::options::sizes::with_unit;
use crate::pipeline::inputs::seconds;

const UNITS: &[(&str, u64)] = &[
    ("s", 1),
    ("m", 60),
    ("h", 3_600),
    ("d", 86_400),
    ("w", 604_800),
];

/// A range of seconds since 1970; durations count from `now`. Either end may be omitted. `None` if it is not a range.
pub fn range(text: &str, now: u64) -> Option<RangeInclusive<u64>> {
    let (from, to) = text.split_once("..")?;
    let bound = |text: &str, open: u64| match text {
        "" => Some(open),
        text => time(text, now),
    };
    let range = bound(from, 0)?..=bound(to, LAST)?;
    (!range.is_empty() && text != "..").then_some(range)
}

/// The last second that fits in milliseconds.
pub const LAST: u64 = (u64::MAX >> 1) / 1000;

/// A date, a duration from now, or seconds since 1970.
fn time(text: &str, now: u64) -> Option<u64> {
    let seconds = match text.bytes().last()? {
        b'0'..=b'9' if text.contains('-') => date(text)?,
        b'0'..=b'9' => text.parse().ok()?,
        _ => {
            let (number, factor) = with_unit(text, UNITS)?;
            now.checked_add(number.checked_mul(factor)?)?
        }
    };
    (seconds <= LAST).then_some(seconds)
}

/// The first second of a day in UTC, written 2026-12-01.
fn date(text: &str) -> Option<u64> {
    let number = |part: &str| part.parse::<u32>().ok().map(i64::from);
    let mut parts = text.splitn(3, '-').map(number);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let days = calendar::days(year, month, day);
    let is_date = (1970..=9999).contains(&year) && calendar::date(days) == (year, month, day);
    is_date.then(|| u64::try_from(days).ok()?.checked_mul(86_400))?
}

/// A day, by its first second since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Day(pub u64);

/// A day, as people write it in a flag.
///
/// # Errors
/// Not a date; for display.
pub fn day(text: &str) -> Result<Day, String> {
    let is_whole = text.len() == 10;
    let day = date(text).filter(|_| is_whole).map(Day);
    day.ok_or_else(|| "not a date; write it like 2026-10-24".into())
}

/// The last date in a text, as in the name of a dump: `2026-10-24`, `20261024`, or the Monday of a week, `2026-W43`.
#[doc(hidden)]
pub fn in_text(text: &str) -> Option<u64> {
    let is_digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let part = |at: usize, len: usize| text.get(at..at + len).filter(|_| !is_digit(at + len));
    let starts = (0..text.len()).rev().filter(|at| is_digit(*at));
    let mut starts = starts.filter(|at| *at == 0 || !is_digit(*at - 1));
    starts.find_map(|at| {
        let compact = |text: &str| {
            let digits = text.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| format!("{}-{}-{}", &text[..4], &text[4..6], &text[6..]))
        };
        let dashed = part(at, 10).and_then(date);
        let compact = || date(&part(at, 8).and_then(compact)?);
        let week = |len| part(at, len).and_then(week);
        dashed
            .or_else(compact)
            .or_else(|| week(8))
            .or_else(|| week(7))
    })
}

/// The first second of the Monday of a week, written 2026-W43 or 2026W43.
fn week(text: &str) -> Option<u64> {
    let (year, week) = text.split_once(['W', 'w'])?;
    let year = year.strip_suffix('-').unwrap_or(year);
    let number = |text: &str, digits: usize| {
        let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse::<i64>().ok())?
    };
    let (year, week) = (number(year, 4)?, number(week, 2)?);
    // The first week of a year is that of January 4; 1970-01-01 was a Thursday.
    let fourth = calendar::days(year, 1, 4);
    let monday = fourth - (fourth + 3).rem_euclid(7) + 7 * (week - 1);
    let is_week = (1970..=9999).contains(&year) && (1..=53).contains(&week);
    is_week.then(|| u64::try_from(monday).ok()?.checked_mul(86_400))?
}

/// Seconds since 1970.
pub fn now() -> u64 {
    seconds(SystemTime::now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_of_a_path_is_its_last() {
        for (path, date) in [
            ("reports/dump-2026-10-24/report.json", Some("2026-10-24")),
            ("2025-01-01/of-20261024.json", Some("2026-10-24")),
            ("r/2026-W43", Some("2026-10-19")),
            ("r/2026w01.json", Some("2025-12-29")),
            ("2026-10-24T03:00", Some("2026-10-24")),
            ("dump-2026-13-24", None),
            ("120261024", None),
            ("20261024123", None),
            ("2026-W54", None),
            ("shop-7000-12", None),
            ("\u{e9}2026-1\u{e9}-24", None),
            ("", None),
        ] {
            assert_eq!(
                in_text(path),
                date.map(|text| day(text).unwrap().0),
                "{path}"
            );
        }
        for text in ["2026-2-3", "2026-02-30", "yesterday", "2026-10-24 ", ""] {
            assert!(day(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ranges_are_of_durations_dates_or_seconds() {
        let range = |text| range(text, 1_000_000);
        assert_eq!(range("1h..1d"), Some(1_003_600..=1_086_400));
        assert_eq!(range("..30m"), Some(0..=1_001_800));
        assert_eq!(range("1w.."), Some(1_604_800..=LAST));
        assert_eq!(
            range("2026-12-01..2027-01-01"),
            Some(1_796_083_200..=1_798_761_600)
        );
        assert_eq!(range("5..7"), Some(5..=7));
        for text in [
            "..",
            "1h",
            "2d..1d",
            "x..",
            "1y..",
            "2026-02-30..",
            "2026-13-01..",
            "-1..",
            "99999999999999999999..",
            "9-9-9..",
            "..999999999999999999w",
        ] {
            assert_eq!(range(text), None, "{text}");
        }
    }
}
