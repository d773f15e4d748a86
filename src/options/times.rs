//! Ranges of times as people write them: `1h..7d` from now, or `2026-12-01..2027-01-01`.

use std::ops::RangeInclusive;
use std::time::SystemTime;

use slotscope_engine::calendar;

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

/// Seconds since 1970.
pub fn now() -> u64 {
    seconds(SystemTime::now())
}

#[cfg(test)]
mod tests {
    use super::*;

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
