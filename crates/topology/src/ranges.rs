//! Inclusive ranges of slots.

/// `12` or `12-34`, digits only; order and size are not checked.
pub fn parse(text: &str) -> Option<(u64, u64)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some((number(first)?, number(last)?))
}

/// Decimal digits only: `str::parse` would accept a sign.
pub(super) fn number(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

/// Ascending slots as ranges.
pub fn of_slots(slots: &[u16]) -> Vec<(u16, u16)> {
    slots
        .chunk_by(|a, b| b - a == 1)
        .filter_map(|run| Some((*run.first()?, *run.last()?)))
        .collect()
}

/// The slots of ranges.
pub fn slots(ranges: &[(u16, u16)]) -> impl Iterator<Item = u16> + '_ {
    ranges.iter().flat_map(|(first, last)| *first..=*last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_from_digits_alone() {
        assert_eq!(parse("5"), Some((5, 5)));
        assert_eq!(parse("0-16383"), Some((0, 16383)));
        for text in ["", "-", "5-", "-5", "+5", "1-2-3", " 1"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn slots_become_ranges_and_slots_again() {
        let all = [0, 1, 2, 7, 9, 10];
        assert_eq!(of_slots(&all), [(0, 2), (7, 7), (9, 10)]);
        assert!(slots(&of_slots(&all)).eq(all));
        assert_eq!(of_slots(&[]), []);
    }
}
