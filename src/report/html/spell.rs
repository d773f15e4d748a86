//! How the page spells names, counts and times.

use crate::name::Name;
use crate::report::units::grouped;
use crate::summary::nodes::NodeLoad;

/// Characters of a name that the page shows; an ellipsis stands for the rest.
pub const SHOWN: usize = 120;
/// Counts are shown whole below this.
const SHORTENED: u64 = 100_000_000;

/// The first characters of a name's spelling.
pub fn cut(name: &Name) -> String {
    // No more bytes than those characters can have: the spelling of a long name would be thrown away.
    let start = Name::from(&name.0[..name.0.len().min(4 * (SHOWN + 1))]);
    let text = start.to_string();
    match text.char_indices().nth(SHOWN) {
        None => text,
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}

/// What a node is called: its address where it has one, since people know that.
pub fn node(node: &NodeLoad) -> String {
    cut(node.address.as_ref().unwrap_or(&node.id))
}

/// The last second of 9999: no clock is meant to say more.
const LAST: u64 = 253_402_300_799;

/// `1,234,567`, and from 100 million on `123.4 M`, `1.5 G`.
pub fn short_count(count: u64) -> String {
    match count {
        c if c < SHORTENED => grouped(c),
        c if c < 1_000_000_000 => format!("{:.1} M", c as f64 / 1e6),
        c if c < 1_000_000_000_000 => format!("{:.2} G", c as f64 / 1e9),
        c => format!("{:.2} T", c as f64 / 1e12),
    }
}

/// `2026-11-21 07:30:05 UTC`, from seconds since 1970.
pub fn time(seconds: u64) -> String {
    let seconds = seconds.min(LAST);
    let (mut day, of_day) = (seconds / 86_400, seconds % 86_400);
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in lengths {
        if day < length || month == 12 {
            break;
        }
        day -= length;
        month += 1;
    }
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year}-{month:02}-{:02} {hour:02}:{minute:02}:{second:02} UTC", day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_cut_and_a_short_one_is_not() {
        assert_eq!(cut(&Name::from("a<b")), "a<b");
        let long = cut(&Name(vec![b'x'; 1 << 20]));
        assert_eq!((long.chars().count(), long.ends_with('…')), (SHOWN + 1, true));
        assert_eq!(cut(&Name("名".repeat(200).into_bytes())).chars().count(), SHOWN + 1);
        assert!(!cut(&Name("名".repeat(120).into_bytes())).ends_with('…'));
    }

    #[test]
    fn large_counts_are_short() {
        let shown = [0, 99_999_999, 123_400_000, 1_543_901_949, 2_500_000_000_000].map(short_count);
        assert_eq!(shown, ["0", "99,999,999", "123.4 M", "1.54 G", "2.50 T"]);
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
