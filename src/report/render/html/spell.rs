//! How the page spells names, counts and times.

use crate::name::Name;
use crate::summary::nodes::NodeLoad;
use crate::text;

/// Characters of a name that the page shows; the rest is an ellipsis.
pub const SHOWN: usize = 120;
/// Characters of a sentence, which may quote a line of the input.
pub const TEXT: usize = 400;
/// Counts are shown whole below this.
const SHORTENED: u64 = 100_000_000;

/// A name as the page shows it.
pub fn cut(name: &Name) -> String {
    text::name(name, SHOWN)
}

/// A node in the data of the script.
pub fn node(node: &NodeLoad) -> String {
    cut(&node.name())
}

/// The last second of 9999: no clock is meant to say more.
const LAST: u64 = 253_402_300_799;

/// `1,234,567`, and from 100 million on `123 M`, `1.54 G`.
pub fn short_count(count: u64) -> String {
    match count < SHORTENED {
        true => text::grouped(count),
        false => text::three_digits(count as f64),
    }
}

/// `2026-11-21 07:30:05 UTC`, from seconds since 1970.
pub fn time(seconds: u64) -> String {
    let seconds = seconds.min(LAST);
    let (mut day, of_day) = (seconds / 86_400, seconds % 86_400);
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [
        31,
        28 + u64::from(leap(year)),
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    let mut month = 1;
    for length in lengths {
        if day < length || month == 12 {
            break;
        }
        day -= length;
        month += 1;
    }
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!(
        "{year}-{month:02}-{:02} {hour:02}:{minute:02}:{second:02} UTC",
        day + 1
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_counts_are_short() {
        let shown = [0, 99_999_999, 123_400_000, 1_543_901_949, 2_500_000_000_000].map(short_count);
        assert_eq!(shown, ["0", "99,999,999", "123 M", "1.54 G", "2.50 T"]);
    }

    #[test]
    fn times_are_those_of_the_calendar() {
        assert_eq!(time(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(time(951_782_400), "2000-02-29 00:00:00 UTC");
        assert_eq!(time(951_868_799), "2000-02-29 23:59:59 UTC");
        assert_eq!(time(951_868_800), "2000-03-01 00:00:00 UTC");
        assert_eq!(time(1_795_242_395), "2026-11-21 06:26:35 UTC");
        assert_eq!(time(1_798_761_599), "2026-12-31 23:59:59 UTC");
        assert!(time(u64::MAX).starts_with("9999-"));
    }
}
