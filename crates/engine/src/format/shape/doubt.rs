//! Doubts about lines that would be read as raw keys although part of them may not belong to the key; and lines that
//! are not rows by themselves.

use crate::format::parse::size::size;
use crate::format::parse::value::{Value, value};
use crate::format::redis_cli::noise;
use crate::format::shape::beside;
use crate::format::shape::column::{
    Column, MOST, common_prefix, common_suffix, families, share_of,
};
use crate::format::shape::encoded::encoded;
use crate::format::shape::table::is_nothing;
use crate::format::table::columns::{ColumnNames, Role};
use crate::name::Name;
use crate::sentence::Sentence;

const RAW: &str = "--format lines reads each line as a key";

/// Why lines are refused that list a key and its number, or its other attributes, on successive lines.
pub(super) fn refused(rows: &[&[u8]], names: &ColumnNames) -> Option<String> {
    if alternate(rows) {
        return Some(format!(
            "a key and its number on two lines: paste - - < FILE | slotscope analyze - ; {RAW}"
        ));
    }
    let labels: Vec<Option<&[u8]>> = rows.iter().map(|row| name_of(row)).collect();
    let mut distinct: Vec<&[u8]> = labels.iter().flatten().copied().collect();
    distinct.sort_unstable();
    distinct.dedup();
    let is_key = |name: &&[u8]| names.role(name).is_some_and(|(role, _)| role == Role::Key);
    let are_records = rows.len() >= 2
        && share_of(&labels, Option::is_some) >= MOST
        && (2..=8).contains(&distinct.len())
        && distinct.iter().any(is_key);
    are_records.then(|| {
        let lines = distinct.len();
        format!(
            "records of {lines} lines each, a key in one of them: sed -nE 's/^ *(- )?[^ :=|]*[Kk]ey[^ :=|]* *[:=|] *//p' FILE | slotscope analyze - takes the keys; {RAW}"
        )
    })
}

/// Whether every second line is a number.
fn alternate(rows: &[&[u8]]) -> bool {
    let odd: Vec<&[u8]> = rows.iter().copied().step_by(2).collect();
    let even: Vec<&[u8]> = rows.iter().copied().skip(1).step_by(2).collect();
    let is_number = |row: &&[u8]| {
        let row = row.trim_ascii();
        size(row).is_some() || is_nothing(row)
    };
    let is_name = |row: &&[u8]| {
        row.iter()
            .any(|byte| byte.is_ascii_alphabetic() || *byte == b':')
    };
    let numbers = share_of(&odd, is_number);
    !even.is_empty()
        && share_of(&even, is_number) >= MOST
        && numbers < 0.5
        && share_of(&odd, is_name) > 0.5
        && (rows.len() >= 6 || numbers == 0.0)
}

/// The label of a line: `key: K`.
fn name_of(row: &[u8]) -> Option<&[u8]> {
    let line = row.trim_ascii_start();
    let text = line.strip_prefix(b"- ").unwrap_or(line);
    let len = text
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'_')
        .count();
    let mark = text[len..].trim_ascii_start();
    let value = mark
        .strip_prefix(b":")
        .or(mark.strip_prefix(b"="))
        .or(mark.strip_prefix(b"|"))?;
    let is_value = value.len() > value.trim_ascii_start().len() && !value.trim_ascii().is_empty();
    ((1..=20).contains(&len) && is_value).then(|| &text[..len])
}

/// The part of the lines that may not belong to the keys, and how to strip it.
pub(super) fn doubt(rows: &[&[u8]]) -> Option<Sentence> {
    const PRINTED: [&[u8]; 3] = [b"--More--(", b"== ", b"(integer) "];
    let is_printed = |row: &&&[u8]| PRINTED.iter().any(|start| row.starts_with(start));
    if let Some(row) = rows.iter().find(is_printed) {
        let line = Sentence::default()
            .words("the line ")
            .excerpt(&Name::from(&row[..row.len().min(30)]));
        return Some(line.words(format!(
            " is no key, as programs print it, and is read as one; otherwise: \
             grep -vE '^(--More--|== |[(]integer[)])' FILE | slotscope analyze - ; {RAW}"
        )));
    }
    let has_zero = rows.iter().skip(1).any(|row| *row == b"0");
    let is_number = |row: &&[u8]| row.iter().all(u8::is_ascii_digit);
    if has_zero && rows.first().is_some_and(is_number) && share_of(rows, is_number) < 0.5 {
        return Some(Sentence::default().words(format!(
            "the first line is a number and another one is 0, as the cursors of SCAN, and they are read as keys; \
             otherwise: redis-cli -h HOST -p PORT --no-raw --scan takes the keys alone; {RAW}"
        )));
    }
    // Messages of redis-cli and servers have notices of their own.
    let is_row = |row: &&&[u8]| noise::noise(row).is_none();
    let rows: &[&[u8]] = &rows.iter().filter(is_row).copied().collect::<Vec<_>>();
    const INDENTED: &str = "lines start with blanks, which are read as parts of the keys; otherwise: sed 's/^ *//' FILE | slotscope analyze -";
    if share_of(rows, |row| matches!(row.first(), Some(b' ' | b'\t'))) >= 0.2 {
        return sentence(format!("{INDENTED}; {RAW}"));
    }
    if share_of(rows, |row| row.ends_with(b" ")) >= 0.2 {
        return sentence(format!(
            "lines end with blanks, which are read as parts of the keys; otherwise: sed 's/ *$//' FILE | slotscope analyze - ; {RAW}"
        ));
    }
    if rows.len() < 3 {
        const LISTED: usize = 10;
        let may_be_more = |row: &&[u8]| {
            let row = row.trim_ascii();
            row.iter().any(|byte| b" \t\"'<>()=;".contains(byte))
                || row.ends_with(b",")
                || memchr::memchr_iter(b',', row).count() >= LISTED
        };
        let few = "lines are too few to tell whether they are more than keys, each read as one";
        return if rows.iter().any(may_be_more) {
            sentence(format!("{few}; {RAW} without asking"))
        } else {
            None
        };
    }
    if is_log(rows) {
        return sentence(format!(
            "lines start with a time, as those of a log, and are read as keys; otherwise cut the keys out with awk or sed; {RAW}"
        ));
    }
    frame(rows)
        .or_else(|| encoded(rows))
        .or_else(|| beside::number(rows))
        .or_else(|| printed(rows))
        .or_else(|| separated(rows))
        .or_else(|| two_numbers(rows))
}

fn sentence(text: String) -> Option<Sentence> {
    Some(Sentence::default().words(text))
}

/// A separator after a text that is in one line only.
fn separated(rows: &[&[u8]]) -> Option<Sentence> {
    const SEPARATORS: [&[u8]; 6] = [b" | ", b" -> ", b" => ", b" = ", b"\t", b"="];
    let is_assigned =
        |row: &[u8]| memchr::memchr(b'=', row).is_some_and(|at| size(&row[at + 1..]).is_some());
    let separator = SEPARATORS.into_iter().find(|separator| {
        let end = |row: &[u8]| memchr::memmem::find(row, separator);
        let starts: Vec<&[u8]> = rows
            .iter()
            .filter_map(|row| Some(&row[..end(row)?]))
            .collect();
        let is_there = |row: &&[u8]| match *separator {
            b"=" => is_assigned(row),
            _ => end(row).is_some(),
        };
        let are_keys_behind = *separator == b"\t" && {
            let ends = rows.iter().filter_map(|row| Some(&row[end(row)? + 1..]));
            beside::are_names(&ends.collect::<Vec<_>>())
        };
        share_of(rows, is_there) >= MOST && Column::of(starts).is_unique() && !are_keys_behind
    })?;
    let text = match separator {
        b"\t" => "tab".to_owned(),
        _ => String::from_utf8_lossy(separator).trim().to_owned(),
    };
    sentence(format!(
        "each line has {text} in it, and is read as a key; --columns key,_ --column-separator '{text}' reads what is before it; {RAW}"
    ))
}

fn two_numbers(rows: &[&[u8]]) -> Option<Sentence> {
    let are_two = |row: &&[u8]| {
        let pieces = row.split(|byte| b" \t,;|".contains(byte));
        let words = pieces.filter(|word| !word.is_empty());
        let are_numbers = words.map(|word| word.iter().all(u8::is_ascii_digit));
        are_numbers.eq([true, true])
    };
    let text = "each line is two numbers, read as a key; --columns key,size reads them as a key and its size";
    (share_of(rows, are_two) >= MOST).then(|| Sentence::default().words(format!("{text}; {RAW}")))
}

/// Text that programs print around keys: line numbers, type brackets, extra lines.
fn printed(rows: &[&[u8]]) -> Option<Sentence> {
    let sentence = |fact: &str| {
        Some(Sentence::default().words(format!(
            "{fact}, and the whole lines are read as keys; otherwise cut the keys out with sed or awk; {RAW}"
        )))
    };
    let is_object = |row: &&[u8]| {
        let open = row.iter().find(|byte| !byte.is_ascii_alphanumeric());
        let pair = open.zip(row.last());
        let is_pair = [(b'(', b')'), (b'[', b']'), (b'{', b'}')]
            .iter()
            .any(|(open, close)| pair == Some((open, close)));
        is_pair && row.iter().any(|byte| b" ,=".contains(byte))
    };
    if share_of(rows, is_object) >= MOST {
        return sentence("each line is in brackets, as programs print objects");
    }
    let is_several = |row: &&[u8]| {
        let mut words = row
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        let is_name = |word: &[u8]| word.contains(&b':') && !word.ends_with(b":");
        words.clone().count() >= 2 && words.all(is_name)
    };
    if share_of(rows, is_several) >= MOST {
        return sentence(
            "each line has several words with a colon in each, as keys side by side (tr -s ' ' '\\n' < FILE parts them)",
        );
    }
    // Tool messages come before and after the keys.
    const ENDS: usize = 3;
    const LEAST: usize = 20;
    let has_blank = |row: &&[u8]| row.iter().any(u8::is_ascii_whitespace);
    let is_inside = rows.len() >= LEAST && !rows[ENDS..rows.len() - ENDS].iter().any(has_blank);
    if is_inside && rows.iter().any(has_blank) {
        return sentence(
            "the first or last lines have blanks and the others none, as messages of a program",
        );
    }
    None
}

/// Whether lines have a time of day followed by more than one word.
fn is_log(rows: &[&[u8]]) -> bool {
    let is_stamped = |row: &&[u8]| {
        let mut words = row
            .split(|byte| byte.is_ascii_whitespace())
            .filter(|word| !word.is_empty());
        let is_clock = |word: &[u8]| word.contains(&b':') && matches!(value(word), Value::Time);
        let at = words.by_ref().take(4).position(is_clock);
        at.is_some() && words.next().is_some() && words.next().is_some()
    };
    share_of(rows, is_stamped) >= MOST
}

/// A constant prefix or suffix of nearly all lines, if the rest is names of several kinds.
fn frame(rows: &[&[u8]]) -> Option<Sentence> {
    let is_frame = |byte: &u8| b" \t\"'<>()[],;=+".contains(byte);
    let mut sorted = rows.to_vec();
    sorted.sort_unstable();
    let prefix = common_prefix(without_outliers(&sorted));
    sorted.sort_unstable_by(|a, b| a.iter().rev().cmp(b.iter().rev()));
    let suffix = common_suffix(without_outliers(&sorted));
    let longer = rows
        .iter()
        .filter(|row| row.len() > prefix.len() + suffix.len());
    let inside: Vec<&[u8]> = longer
        .map(|row| &row[prefix.len()..row.len() - suffix.len()])
        .collect();
    let sentence = |position: &str, text: &[u8]| {
        let text = Name::from(text);
        Sentence::default()
            .words(format!("each line {position} "))
            .excerpt(&text)
            .words(format!(
                ", which is read as a part of the keys; otherwise cut it with sed; {RAW}"
            ))
    };
    // Arguments of a request: their names are part of the key.
    let is_query = prefix.ends_with(b"=") && share_of(&inside, |row| row.contains(&b'&')) >= MOST;
    // Markup and quotes are rarely part of names; list punctuation is.
    let is_markup = prefix.starts_with(b"<")
        || !prefix.starts_with(b"[")
            && !prefix.starts_with(b"{")
            && prefix
                .iter()
                .chain(suffix)
                .any(|byte| b"\"'".contains(byte));
    if is_markup && !inside.is_empty() {
        return Some(sentence(
            if prefix.is_empty() {
                "ends with"
            } else {
                "starts with"
            },
            if prefix.is_empty() {
                suffix
            } else {
                &prefix[..prefix.len().min(30)]
            },
        ));
    }
    let is_before = !is_query
        && prefix.iter().rev().take(2).any(is_frame)
        && !prefix.last().is_some_and(u8::is_ascii_alphanumeric);
    if !inside.is_empty()
        && is_before
        && families(&inside) >= 2
        && Column::of(inside.clone()).look_like_keys() > 0.7
    {
        return Some(sentence("starts with", &prefix[..prefix.len().min(30)]));
    }
    let ends_item = suffix.last().is_some_and(|byte| b",;$".contains(byte));
    let is_behind = !inside.is_empty()
        && (ends_item || suffix.last().is_some_and(is_frame) && families(rows) >= 2);
    is_behind.then(|| sentence("ends with", &suffix[suffix.len().saturating_sub(30)..]))
}

/// Sorted texts without the first and last 2%, which differ most; fewer than 50 are all kept.
fn without_outliers<'r, 'a>(sorted: &'r [&'a [u8]]) -> &'r [&'a [u8]] {
    let cut = if sorted.len() >= 50 {
        sorted.len() / 50
    } else {
        0
    };
    &sorted[cut..sorted.len() - cut]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows<'a>(lines: &[&'a str]) -> Vec<&'a [u8]> {
        lines.iter().map(|line| line.as_bytes()).collect()
    }

    #[test]
    fn lines_that_are_no_rows_by_themselves_are_refused() {
        let is_refused = |lines: &[&str]| refused(&rows(lines), &ColumnNames::USUAL).is_some();
        assert!(is_refused(&["user:1", "184", "cart:2", "(nil)"]));
        assert!(is_refused(&[
            "key: user:1",
            "size: 184",
            "key: cart:2",
            "size: 96"
        ]));
        assert!(is_refused(&["key = user:1", "size = 184"]));
        assert!(!is_refused(&["user:1", "user:2"]));
        assert!(!is_refused(&["1", "2", "3", "4"]));
    }

    #[test]
    fn text_around_several_kinds_of_names_is_doubted() {
        let is_doubted = |lines: &[&str]| doubt(&rows(lines)).is_some();
        assert!(is_doubted(&[
            "<k>user:1</k>",
            "<k>cart:2</k>",
            "<k>lock:3</k>"
        ]));
        assert!(is_doubted(&["user:1,", "cart:2,", "lock:3,"]));
        assert!(is_doubted(&["user:1,", "user:2,", "user:3,"]));
        assert!(is_doubted(&["1:user:7", "2:user:8", "3:user:9"]));
        assert!(is_doubted(&["+user:1", "+cart:2", "+lock:3"]));
        assert!(is_doubted(&["user:1  ", "user:22 ", "user:333"]));
        assert!(is_doubted(&[
            "K(key=u:1, n=5)",
            "K(key=u:2, n=6)",
            "K(key=u:3, n=7)"
        ]));
        let mut listed = vec!["user:1"; 30];
        assert!(!is_doubted(&listed));
        listed[0] = "keys of redis-1";
        assert!(is_doubted(&listed));
        assert!(!is_doubted(&["{user:1}", "{user:2}", "{user:3}"]));
        assert!(is_doubted(&["a:1 -> x", "b:2 -> y", "c:3 -> x"]));
        assert!(!is_doubted(&["user:1", "cart:2", "lock:3"]));
        assert!(!is_doubted(&["prod:user:1", "prod:cart:2", "prod:lock:3"]));
        assert!(!is_doubted(&["a b 1", "c d 2", "e f 3"]));
        assert!(is_doubted(&["a:1 b:1 c:1", "a:2 b:2 c:2", "a:3 b:3 c:3"]));
        assert!(!is_doubted(&["a:1 b", "a:2 b", "a:3 c"]));
    }
}
