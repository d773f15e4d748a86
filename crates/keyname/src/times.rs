//! Numbers whose values look like times: they have the placeholder of a number, but a tag of them follows the clock.

/// Whether digits are a month, a day, an hour or a minute, or Unix time in seconds or milliseconds from 2001 to 2033.
pub fn is_time(digits: &[u8]) -> bool {
    if !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    match digits.len() {
        6 => is_year(digits) && is_in(&digits[4..], 1, 12),
        8 | 10 | 12 if is_day(digits) => true,
        10 | 13 => digits[0] == b'1',
        _ => false,
    }
}

/// `20261101`, optionally followed by hour and minute.
fn is_day(digits: &[u8]) -> bool {
    is_year(digits)
        && is_in(&digits[4..6], 1, 12)
        && is_in(&digits[6..8], 1, 31)
        && digits.get(8..10).is_none_or(|hour| is_in(hour, 0, 23))
        && digits.get(10..12).is_none_or(|minute| is_in(minute, 0, 59))
}

fn is_year(digits: &[u8]) -> bool {
    matches!(&digits[..2], b"19" | b"20")
}

fn is_in(two: &[u8], from: u8, to: u8) -> bool {
    (from..=to).contains(&(10 * (two[0] - b'0') + two[1] - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_by_their_values() {
        for time in [
            "202611",
            "20261101",
            "2026110117",
            "202611011759",
            "1717269600",
            "1717269600123",
        ] {
            assert!(is_time(time.as_bytes()), "{time}");
        }
        for number in [
            "202613",
            "20261301",
            "2026110125",
            "2717269600",
            "7",
            "",
            "1a2b3c4d5e",
        ] {
            assert!(!is_time(number.as_bytes()), "{number}");
        }
    }
}
