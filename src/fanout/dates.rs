//! Ids that are years or dates: a tag of one would hold all keys of that time.

/// Whether the digits of `key` from `start` to `end` are a year, a date or a part of a date.
pub(super) fn is_date(key: &[u8], start: usize, end: usize) -> bool {
    let digits = &key[start..end];
    match digits.len() {
        _ if !digits.iter().all(u8::is_ascii_digit) => false,
        4 => is_year(digits),
        6 => is_year(&digits[..4]) && is_month(&digits[4..]),
        8 | 10 | 12 | 14 => is_day(&digits[..8]),
        1 | 2 => is_beside_year(key, start, end),
        _ => false,
    }
}

/// 1970 to 2099.
fn is_year(digits: &[u8]) -> bool {
    (1970..2100).contains(&value(digits))
}

fn is_month(digits: &[u8]) -> bool {
    (1..=12).contains(&value(digits))
}

/// `20261101` or `01112026`.
fn is_day(digits: &[u8]) -> bool {
    let of = |year: &[u8], month: &[u8], day: &[u8]| {
        is_year(year) && is_month(month) && (1..=31).contains(&value(day))
    };
    of(&digits[..4], &digits[4..6], &digits[6..]) || of(&digits[4..], &digits[2..4], &digits[..2])
}

/// Whether a year is among the numbers that signs of dates connect with these: `2026-11-01`.
fn is_beside_year(key: &[u8], start: usize, end: usize) -> bool {
    let is_sign = |byte: &u8| byte.is_ascii_digit() || b"-/._".contains(byte);
    let from = key[..start]
        .iter()
        .rposition(|byte| !is_sign(byte))
        .map_or(0, |at| at + 1);
    let to = key[end..]
        .iter()
        .position(|byte| !is_sign(byte))
        .map_or(key.len(), |at| end + at);
    let mut numbers = key[from..to].split(|byte| !byte.is_ascii_digit());
    numbers.any(|number| number.len() == 4 && is_year(number))
}

/// Of few digits.
fn value(digits: &[u8]) -> u32 {
    digits
        .iter()
        .fold(0, |value, digit| value * 10 + u32::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_engine::pattern::ids::of_key;

    #[test]
    fn years_and_dates_are_known_and_other_numbers_are_not() {
        for (key, dates) in [
            ("lb:game:2026-11-01", vec![true, true, true]),
            ("log:01.11.2026", vec![true, true, true]),
            ("log:20261101", vec![true]),
            ("log:202611:x", vec![true]),
            ("log:2026110117:x", vec![true]),
            ("cart:17:items", vec![false]),
            ("cart:2101:items", vec![false]),
            ("order:12345678", vec![false]),
            ("a:1-2", vec![false, false]),
            ("session:0123456789abcdef", vec![false]),
        ] {
            let ids = of_key(key.as_bytes());
            let found = ids
                .iter()
                .map(|id| is_date(key.as_bytes(), id.start as usize, id.end as usize));
            assert_eq!(found.collect::<Vec<_>>(), dates, "{key}");
        }
    }
}
