//! Prints of other programs: with numbers that are not sizes, or with rows left out.

use slotscope_read::format::Head;
use slotscope_read::format::line::offer::with_offers;

use crate::shape::column::{Column, MOST, share};

/// Why such a print is refused.
pub(super) fn refused(rows: &[&[u8]], head: Head<'_>) -> Option<String> {
    if are_counted(rows) {
        let what = "counts and lines as uniq -c prints them: how often a key occurs, or its size?";
        return Some(with_offers(what, head, ["{ops} {key}", "{size} {key}"]));
    }
    rows.iter().any(|row| is_ellipsis(row)).then(|| {
        "rows of a print that leaves others out, no key dump: let the program write all of them, in pandas with to_csv, in DuckDB with \
         COPY; --format lines reads them as they are"
            .into()
    })
}

/// Whether each row is a number that ends in the column where uniq ends it, one blank, and a text.
fn are_counted(rows: &[&[u8]]) -> bool {
    const WIDTHS: [usize; 2] = [7, 4];
    let is_one = |row: &[u8], width: usize| {
        row.split_at_checked(width).is_some_and(|(number, text)| {
            let digits = number.trim_ascii_start();
            (1..width).contains(&digits.len())
                && digits.iter().all(u8::is_ascii_digit)
                && matches!(text, [b' ', first, ..] if !first.is_ascii_whitespace())
        })
    };
    WIDTHS.into_iter().any(|width| {
        let counted = rows.iter().filter(|row| is_one(row, width));
        let numbers = Column::of(counted.map(|row| &row[..width]).collect());
        let is_long = rows.len() > 1 || width == WIDTHS[0];
        is_long && share(numbers.len(), rows.len()) >= MOST && !numbers.is_index
    })
}

/// Whether a row has dots in place of each cell, and blanks or bars around them.
fn is_ellipsis(row: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(row) else {
        return false;
    };
    let is_between = |letter: char| letter.is_whitespace() || "│|┆".contains(letter);
    let mut cells = text.split(is_between).filter(|cell| !cell.is_empty());
    let is_apart = text.starts_with(is_between) || cells.clone().count() > 1;
    let mut are_any = cells.clone();
    is_apart
        && are_any.next().is_some()
        && cells.all(|cell| ["..", "...", "…", "·"].contains(&cell))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_refused(text: &str) -> bool {
        let bytes = text.as_bytes();
        let rows: Vec<_> = text.lines().map(str::as_bytes).collect();
        refused(&rows, Head { bytes, whole: true }).is_some()
    }

    #[test]
    fn counts_of_uniq_are_no_sizes() {
        assert!(is_refused(
            "     40 user:1\n     31 sess:ab\n      3 cart:{2}"
        ));
        assert!(is_refused("  40 user:1\n 131 sess:ab"));
        for other in [
            "      1 user:1\n      2 sess:2\n      3 cart:3",
            "     40  user:1\n     31  sess:2",
            "40 user:1\n31 sess:2",
            "1234 user:1\n1235 sess:2",
            "     40\tuser:1\n     41\tsess:2",
        ] {
            assert!(!is_refused(other), "{other}");
        }
    }

    #[test]
    fn rows_that_were_left_out_are_told_from_keys() {
        assert!(is_refused("0  user:1\n1  sess:2\n      ...  \n299  lock:4"));
        assert!(is_refused(
            "      key  size\n0  user:1  12\n..   ...   ..\n299  lock:4  7"
        ));
        assert!(is_refused(
            "│ user:1 │ 12 │\n│   ·    │  · │\n│ lock:4 │  7 │"
        ));
        for other in ["user:1\n...\nlock:4", "a\n..\n", "a ...\nb ..."] {
            assert!(!is_refused(other), "{other}");
        }
    }
}
