//! Raw lines that are more likely text or rows of a table than keys. Any of them may be a key, so they are counted, with a
//! warning where most of the first lines look so.

use crate::format::Head;
use crate::format::not_a_dump::lines;

/// How many of the first lines look like text, where these are most of them; else 0.
pub(crate) fn like_text(head: Head<'_>) -> u64 {
    let lines = lines(head);
    let filled = lines.iter().filter(|line| !line.is_empty()).count();
    let like_text = lines.iter().filter(|line| is_like_text(line)).count();
    if 2 * like_text > filled {
        like_text as u64
    } else {
        0
    }
}

/// Indented, of four words or three columns and more, or with two empty parts in the end, as `root:*:19000:0:99999:7:::`.
fn is_like_text(line: &[u8]) -> bool {
    let count = |bytes: &[u8]| line.iter().filter(|byte| bytes.contains(byte)).count();
    let is_indented = line.first().is_some_and(|byte| b" \t".contains(byte));
    is_indented || line.ends_with(b"::") || count(b" ") >= 3 || count(b"\t,;") >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> u64 {
        like_text(Head { bytes, whole: true })
    }

    #[test]
    fn text_and_tables_are_not_taken_for_keys() {
        for (text, like) in [
            (
                &b"10:01:02 GET /a took 3 ms\n10:01:03 GET /b took 2 ms\n"[..],
                2,
            ),
            (b"root:*:19000:0:99999:7:::\nmail:*:19000:0:99999:7:::\n", 2),
            (b"1,user:1,10\n2,user:2,20\n", 2),
            (b"package:\n  name: a\n\n  version: b\n", 2),
        ] {
            assert_eq!(of(text), like, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn keys_with_a_blank_or_a_comma_are_no_text() {
        for keys in [
            &b""[..],
            b"user:1\nuser:2\n",
            b"search:red running shoes\nsearch:blue shoes\n",
            b"cart:1:\ncart:2:\n",
            b"geo:52.5,13.4\ngeo:48.1,11.6\n",
            b"ids:1,2,3\nuser:1\n",
        ] {
            assert_eq!(of(keys), 0, "{}", keys.escape_ascii());
        }
    }
}
