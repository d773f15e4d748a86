//! Cursors of SCAN and CLUSTERSCAN, which precede each page of keys.

use crate::format::Head;

/// The longest cursor.
pub(crate) const LONGEST: i64 = 64;

/// Whether `text` is a cursor: the digits of SCAN, or the form of Valkey's CLUSTERSCAN, `aBcDeF-{06S}-48`.
pub(crate) fn is_cursor(text: &[u8]) -> bool {
    let is_number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let of_cluster = || {
        let open = memchr::memmem::find(text, b"-{")?;
        let close = memchr::memmem::find(text, b"}-")?;
        let tag = text.get(open + 2..close)?;
        let is_word = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_alphanumeric);
        Some(is_word(&text[..open]) && is_word(tag) && is_number(&text[close + 2..]))
    };
    text.len() as i64 <= LONGEST && (is_number(text) || of_cluster().unwrap_or(false))
}

/// Whether each line of CSV starts with a number as a cursor of SCAN, the last one of a whole input with 0, and other
/// texts are not.
pub(crate) fn are_pages(head: Head<'_>) -> bool {
    let text = match memchr::memrchr(b'\n', head.bytes) {
        Some(end) if !head.whole => &head.bytes[..end],
        _ => head.bytes.trim_ascii_end(),
    };
    let number = |item: &[u8]| -> bool {
        let inside = item
            .strip_prefix(b"\"")
            .and_then(|item| item.strip_suffix(b"\""));
        inside.is_some_and(is_cursor)
    };
    let lines = || {
        text.split(|byte| *byte == b'\n')
            .map(<[u8]>::trim_ascii_end)
    };
    let items = |line: &'_ [u8]| {
        line.split(|byte| *byte == b',')
            .map(number)
            .collect::<Vec<_>>()
    };
    let last = lines().next_back().unwrap_or_default();
    let is_end = last.starts_with(b"\"0\",") || last == b"\"0\"";
    let numbers: Vec<Vec<bool>> = lines().map(items).collect();
    let all = numbers.iter().map(|line| line.len() - 1).sum::<usize>();
    let others = numbers
        .iter()
        .flat_map(|line| &line[1..])
        .filter(|is| !**is);
    (is_end || !head.whole && numbers.len() > 2)
        && numbers.iter().all(|line| line[0])
        && 2 * others.count() > all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_are_cursors_and_keys_are_not() {
        for cursor in ["0", "17", "aBcDeF-{06S}-0", "x1-{06S}-48"] {
            assert!(is_cursor(cursor.as_bytes()), "{cursor}");
        }
        for key in ["", "a", "user-{1}-", "-{06S}-1", "{06S}-1", "a-{}-1"] {
            assert!(!is_cursor(key.as_bytes()), "{key}");
        }
    }
}
