//! A word beside the name in each line, which other programs printed: a number of the line, a time, a host, an encoding.

use crate::shape::column::{Column, MOST, is_figure, share, share_of};

/// Whether each line starts with a name that no other has, and other words follow.
pub(super) fn are_names_first(rows: &[&[u8]]) -> bool {
    are_names(rows, |_| 0)
}

/// Whether each line ends with a name that no other has, and other words precede it.
pub(super) fn are_names_last(rows: &[&[u8]]) -> bool {
    are_names(rows, |words| words - 1)
}

/// Whether nearly all lines have several words, of which one is a distinct name with a colon inside.
fn are_names(rows: &[&[u8]], place: fn(usize) -> usize) -> bool {
    let words = rows.iter().map(|row| cut(row, b" \t"));
    let apart: Vec<Vec<&[u8]>> = words.filter(|words| words.len() > 1).collect();
    let names: Vec<&[u8]> = apart
        .iter()
        .map(|words| words[place(words.len())])
        .collect();
    let has_colon = |name: &&[u8]| name.strip_suffix(b":").unwrap_or(name).contains(&b':');
    share(names.len(), rows.len()) >= MOST
        && share_of(&names, has_colon) >= MOST
        && Column::of(names).is_unique()
}

/// Whether nearly all lines have as many words, or cells between bars or semicolons, of which one is a distinct name and
/// another a number, a size or a time.
pub(super) fn have_values(rows: &[&[u8]]) -> bool {
    const SEPARATORS: [&[u8]; 3] = [b" \t", b";", b"|"];
    let is_cut_by = |separators: &[u8]| {
        let mut words: Vec<Vec<&[u8]>> = rows.iter().map(|row| cut(row, separators)).collect();
        words.sort_by_key(Vec::len);
        let usual = words.get(words.len() / 2).map_or(0, Vec::len);
        words.retain(|words| words.len() == usual);
        if usual < 2 || share(words.len(), rows.len()) < 0.9 {
            return false;
        }
        let columns =
            (0..usual).map(|at| Column::of(words.iter().map(|words| words[at]).collect()));
        let is_name = |column: &Column<'_>| {
            column.is_unique() && !column.is_value() && column.look_like_keys() > 0.7
        };
        let (names, others): (Vec<_>, Vec<_>) = columns.partition(is_name);
        let is_beside = |column: &Column<'_>| {
            column.is_value() || column.has_numbers() || share_of(&column.cells, is_figure) >= MOST
        };
        !names.is_empty() && others.iter().any(is_beside)
    };
    SEPARATORS.into_iter().any(is_cut_by)
}

fn cut<'a>(row: &'a [u8], separators: &[u8]) -> Vec<&'a [u8]> {
    let words = row.split(|byte| separators.contains(byte));
    let words = words.map(<[u8]>::trim_ascii);
    words.filter(|word| !word.is_empty()).collect()
}

/// Whether lines start with rising numbers and a colon, possibly after the name of a file. Sorted names rise, too, but as
/// texts: their numbers have one length.
pub(super) fn are_numbered(rows: &[&[u8]]) -> bool {
    const LEAST: usize = 4;
    let file = |row: &[u8]| {
        let end = memchr::memchr(b':', row)?;
        row[..end].contains(&b'.').then_some(end + 1)
    };
    let number = |row: &&[u8]| {
        let rest = &row[file(row).unwrap_or(0)..];
        let number = &rest[..memchr::memchr(b':', rest)?];
        let is_one = number.iter().all(u8::is_ascii_digit) && !number.starts_with(b"0");
        std::str::from_utf8(number)
            .ok()
            .filter(|_| is_one)?
            .parse::<u64>()
            .ok()
    };
    let numbers: Vec<u64> = rows.iter().filter_map(number).collect();
    let lengths = |at: Option<&u64>| at.and_then(|number| number.checked_ilog10());
    let is_in_file = rows.first().is_some_and(|row| file(row).is_some());
    let is_long = || {
        rows.len() >= LEAST
            && numbers.is_sorted_by(|one, next| one < next)
            && (is_in_file || lengths(numbers.first()) < lengths(numbers.last()))
    };
    let starts = rows
        .iter()
        .filter_map(|row| Some(&row[..memchr::memchr(b':', row)?]));
    let starts: Vec<&[u8]> = starts.collect();
    let has_index = starts.len() == rows.len() && Column::of(starts).is_index;
    has_index || numbers.len() == rows.len() && is_long()
}

/// Whether first or last lines have blanks, and others have none.
pub(super) fn have_messages(rows: &[&[u8]]) -> bool {
    const ENDS: usize = 3;
    const LEAST: usize = 20;
    let has_blank = |row: &&[u8]| row.iter().any(u8::is_ascii_whitespace);
    let without = |row: &&&[u8]| !has_blank(row);
    rows.len() >= LEAST
        && rows.iter().any(has_blank)
        && (repeat(rows) && rows.iter().filter(without).count() * 4 >= rows.len() * 3
            || !rows[ENDS..rows.len() - ENDS].iter().any(has_blank))
}

/// Whether each line with a blank is there more than once, digits aside: `Scanned 10 keys`.
fn repeat(rows: &[&[u8]]) -> bool {
    let is_message = |row: &&&[u8]| row.contains(&b' ');
    let without_digits = |row: &&[u8]| -> Vec<u8> {
        row.iter()
            .copied()
            .filter(|byte| !byte.is_ascii_digit())
            .collect()
    };
    let mut messages: Vec<Vec<u8>> = rows.iter().filter(is_message).map(without_digits).collect();
    let all = messages.len();
    messages.sort_unstable();
    messages.dedup();
    all > 1 && 2 * messages.len() <= all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_doubted(text: &str) -> bool {
        let rows: Vec<&[u8]> = text.lines().map(str::as_bytes).collect();
        are_numbered(&rows) || are_names_first(&rows) || are_names_last(&rows) || have_values(&rows)
    }

    #[test]
    fn what_programs_print_beside_a_name_is_doubted() {
        for text in [
            "user:1 embstr\nsess:2 raw\ncart:3 listpack",
            "user:1 OK\nsess:2 OK\ncart:3 OK",
            "user:1 true\nsess:2 false\ncart:3 true",
            "user:1 ttl=55\nsess:2 ttl=-1\ncart:3 ttl=7",
            "user:1 (integer) 55\nsess:2 (integer) 7\ncart:3 (integer) 9",
            "user:1 Value at:0x7f80 refcount:1\nsess:2 Value at:0x7f81 refcount:1\ncart:3 Value at:0x7f82 refcount:1",
            "Nov 27 10:00:01 user:1\nNov 27 10:00:02 sess:2\nNov 27 10:00:03 cart:3",
            "1795000001 user:1\n1795000002 sess:2\n1795000003 cart:3",
            "redis-0\tuser:1\nredis-1\tsess:2\nredis-2\tcart:3",
            "keys.txt:2:user:1\nkeys.txt:9:sess:2\nkeys.txt:12:cart:3\nkeys.txt:30:lock:4",
            "user:1: 12 elements\nsess:2: 14 elements\ncart:3: 9 elements",
            "keys.txt:12:user:1\nkeys.txt:13:sess:2\nkeys.txt:14:cart:3\nkeys.txt:15:lock:4",
            "7:user:1\n19:sess:ab\n23:cart:{2}\n31:lock:9",
            "000001:user:1\n000002:sess:2\n000003:cart:3",
            "#1:user:1\n#2:sess:2\n#3:cart:3",
            "0x7ac6 slot=7 user/1 639B\n0xae39 slot=8 sess.2 353B\n0x36ef slot=9 lock:3 10B",
            "user:1;199.398;01.04.2025\nsess.2;9.892;01.04.2025\ncart_3;7;02.04.2025",
        ] {
            assert!(is_doubted(text), "{text}");
        }
    }

    #[test]
    fn names_with_blanks_and_numbers_are_not() {
        for text in [
            "user 1\nuser 2\nuser 3",
            "GET /a/1\nGET /a/2\nGET /b/3",
            "article:The red 1\narticle:The blue 2\narticle:The red 3",
            "10:user:1\n11:user:2\n12:user:3\n13:user:4",
            "0:session\n2:session\n5:session\n7:session",
            "1:a\n10:a\n11:a\n2:a",
            "user:1\nuser:9\nuser:10\nuser:11",
        ] {
            assert!(!is_doubted(text), "{text}");
        }
    }
}
