//! Lines that tools print around table rows, and before a program's output.

/// A line that is not a table row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Around {
    /// Empty or blank.
    Blank,
    /// A message of kubectl, docker or telnet before the program's output.
    Client,
    /// A border of a table, a row count, the server's reply to MONITOR.
    Print,
    /// The separator declaration for Excel (`sep=`).
    Separator(u8),
    /// A comment.
    Comment,
}

/// The kind of `line`, which has no line end; `None` if it may be a row.
pub fn around(line: &[u8]) -> Option<Around> {
    let line = line.strip_suffix(b"\r").unwrap_or(line).trim_ascii();
    match line {
        [] => Some(Around::Blank),
        b"OK" | b"+OK" => Some(Around::Print),
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', separator] => {
            Some(Around::Separator(*separator))
        }
        [b'D' | b'U' | b'T' | b'C' | b'E' | b'm', ..] => {
            is_of_client(line).then_some(Around::Client)
        }
        [b'0'..=b'9' | b'(' | b'[', ..] => is_count(line).then_some(Around::Print),
        [b'-', b'[', b' ', b'R', b'E', b'C', ..] | [b'*', b'*', b'*', b'*', ..] => {
            is_record(line).then_some(Around::Print)
        }
        [b'+' | b'-' | b'=' | b'|' | b':' | b'_' | b'*' | 0xE2, ..] => {
            is_border(line).then_some(Around::Print)
        }
        _ => None,
    }
}

/// Whether `line` is a comment; only used for inputs that start with one.
pub fn is_comment(line: &[u8]) -> bool {
    [&b"# "[..], b"// ", b"-- "]
        .iter()
        .any(|mark| line.starts_with(mark))
        || line == b"#"
}

fn is_of_client(line: &[u8]) -> bool {
    const STARTS: [&[u8]; 6] = [
        b"Defaulted container \"",
        b"Unable to use a TTY",
        b"Trying ",
        b"Connected to ",
        b"Escape character is ",
        b"Connection closed by ",
    ];
    STARTS.iter().any(|start| line.starts_with(start)) || line == b"monitor"
}

/// `(5 rows)`, `5 rows in set (0.01 sec)`, `[5 rows x 3 columns]`.
fn is_count(line: &[u8]) -> bool {
    let is_frame = |byte: &u8| b"()[].".contains(byte);
    let words: Vec<&[u8]> = line
        .split(|byte| *byte == b' ' || is_frame(byte))
        .filter(|word| !word.is_empty())
        .collect();
    let is_number = |word: &[u8]| word.iter().all(u8::is_ascii_digit);
    let rest = match words.as_slice() {
        [
            number,
            b"row" | b"rows" | b"key" | b"keys" | b"record" | b"records",
            rest @ ..,
        ] if is_number(number) => rest,
        _ => return false,
    };
    let is_known = |word: &&[u8]| {
        is_number(word)
            || [
                &b"in"[..],
                b"set",
                b"sec",
                b"x",
                b"columns",
                b"found",
                b"returned",
            ]
            .contains(word)
    };
    rest.iter().all(is_known)
}

/// Whether psql or mysql print it before each record in expanded output: `-[ RECORD 1 ]---`, `**** 1. row ****`.
fn is_record(line: &[u8]) -> bool {
    let inside = |byte: &u8| byte.is_ascii_digit() || b"-+[] *.".contains(byte);
    let has_word = |word: &[u8]| {
        let at = memchr::memmem::find(line, word)?;
        Some(
            line[..at]
                .iter()
                .chain(&line[at + word.len()..])
                .all(inside),
        )
    };
    has_word(b"RECORD")
        .or_else(|| has_word(b"row"))
        .unwrap_or(false)
}

/// At least three dashes, and only characters used in borders.
fn is_border(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    let is_stroke = |letter: char| {
        "+-=".contains(letter)
            || ('\u{2500}'..='\u{257F}').contains(&letter)
            || ('\u{2010}'..='\u{2015}').contains(&letter)
    };
    let is_part = |letter: char| is_stroke(letter) || " |:_*\t".contains(letter);
    // A boxed table has bars in every row.
    let strokes = text
        .chars()
        .filter(|letter| is_stroke(*letter) && *letter != '│')
        .count();
    strokes >= 3 && text.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_and_counts_are_no_rows() {
        for (line, expected) in [
            ("", Some(Around::Blank)),
            ("+------+----+", Some(Around::Print)),
            ("|---|---|", Some(Around::Print)),
            ("------+------", Some(Around::Print)),
            ("├───────┼──────┤", Some(Around::Print)),
            ("-[ RECORD 1 ]", Some(Around::Print)),
            ("******** 12. row ********", Some(Around::Print)),
            ("(5 rows)", Some(Around::Print)),
            ("2000 rows in set (0.01 sec)", Some(Around::Print)),
            ("[5 rows x 3 columns]", Some(Around::Print)),
            ("sep=;", Some(Around::Separator(b';'))),
            (
                "Defaulted container \"redis\" out of: redis",
                Some(Around::Client),
            ),
            ("+OK\r", Some(Around::Print)),
            ("--", None),
            ("5", None),
            ("5 rows of beans", None),
            ("user:1", None),
            ("Trying", None),
            ("│ a │ 1 │", None),
        ] {
            assert_eq!(around(line.as_bytes()), expected, "{line}");
        }
    }
}
