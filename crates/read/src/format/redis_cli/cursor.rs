//! Cursors of SCAN and CLUSTERSCAN, which precede each page of keys.

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
