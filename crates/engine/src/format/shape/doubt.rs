//! Doubts about lines that would be read as raw keys although part of them may not belong to the key; and lines that
//! are not rows by themselves.

use crate::format::parse::size::{is_missing, size};
use crate::format::parse::value::{Value, value};
use crate::format::redis_cli::noise;
use crate::format::shape::beside;
use crate::format::shape::column::{
    Column, MOST, common_prefix, common_suffix, families, share_of,
};
use crate::format::shape::encoded::encoded;
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
    if are_records {
        let lines = distinct.len();
        return Some(format!(
            "records of {lines} lines each, a key in one of them: sed -nE 's/^ *(- )?[^ :=|]*[Kk]ey[^ :=|]* *[:=|] *//p' FILE | slotscope analyze - takes the keys; {RAW}"
        ));
    }
    if share_of(rows, are_two_numbers) >= MOST {
        return Some(format!(
            "two numbers in each line, a key and its size, or a slot and how many keys it has? --columns key,size reads the former; \
             redis-cli --no-raw --scan takes the keys of the latter; {RAW}"
        ));
    }
    let is_of_csv =
        |row: &&[u8]| row.starts_with(b"\"") && memchr::memmem::find(row, b"\",\"").is_some();
    if share_of(rows, is_of_csv) >= MOST {
        return Some(format!(
            "texts in quotes with commas between, as redis-cli --csv prints them: redis-cli -h HOST -p PORT --no-raw --scan takes the keys; {RAW}"
        ));
    }
    let are_printed = rows.len() > 1 && share_of(rows, is_in_brackets) >= MOST;
    are_printed.then(|| {
        format!(
            "each line is in brackets, as programs print objects, pairs and dicts: of pairs, python3 -c 'import ast,sys; \
             [print(*ast.literal_eval(l.rstrip(\"\\n,\")), sep=\"\\t\") for l in sys.stdin]' < FILE | slotscope analyze - takes the brackets off; {RAW}"
        )
    })
}

/// Whether a line is two numbers.
fn are_two_numbers(row: &&[u8]) -> bool {
    let pieces = row.split(|byte| b" \t,;|".contains(byte));
    let words = pieces.filter(|word| !word.is_empty());
    let are_numbers = words.map(|word| word.iter().all(u8::is_ascii_digit));
    are_numbers.eq([true, true])
}

/// Whether brackets enclose a line, possibly after a name, with several values between.
fn is_in_brackets(row: &&[u8]) -> bool {
    let row = row.strip_suffix(b",").unwrap_or(row);
    let open = row.iter().find(|byte| !byte.is_ascii_alphanumeric());
    let pair = open.zip(row.last());
    let is_pair = [(b'(', b')'), (b'[', b']'), (b'{', b'}')]
        .iter()
        .any(|(open, close)| pair == Some((open, close)));
    is_pair && row.iter().any(|byte| b" ,=".contains(byte))
}

/// Whether every second line is a number.
fn alternate(rows: &[&[u8]]) -> bool {
    let odd: Vec<&[u8]> = rows.iter().copied().step_by(2).collect();
    let even: Vec<&[u8]> = rows.iter().copied().skip(1).step_by(2).collect();
    let is_number = |row: &&[u8]| {
        let row = row.trim_ascii();
        size(row).is_some() || is_missing(row)
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

/// A doubt: its test, the fact, and what takes the keys out.
type Doubt = (fn(&[&[u8]]) -> bool, &'static str, &'static str);

/// Doubts about lines of any number.
const OF_ANY: [Doubt; 4] = [
    (
        |rows| rows.iter().any(|row| is_printed(row)),
        "some lines are not keys, as programs print them (--More--, == HOST ==, (integer) 5)",
        "grep -vE '^(--More--|== |[(]integer[)])' FILE",
    ),
    (
        have_cursors,
        "the first line is a number and another one is 0, as the cursors of SCAN",
        "redis-cli -h HOST -p PORT --no-raw --scan",
    ),
    (
        |rows| share_of(rows, |row| matches!(row.first(), Some(b' ' | b'\t'))) >= 0.2,
        "lines start with blanks",
        "sed 's/^ *//' FILE",
    ),
    (
        |rows| share_of(rows, |row| row.ends_with(b" ")) >= 0.2,
        "lines end with blanks",
        "sed 's/ *$//' FILE",
    ),
];

/// Doubts about several lines.
const OF_SEVERAL: [Doubt; 5] = [
    (
        is_log,
        "lines start with a time, as those of a log",
        "awk '{print $NF}' FILE",
    ),
    (
        beside::are_numbered,
        "each line starts with a rising number, as grep -n prints it",
        "sed -E 's/^([^:]*[.][^:]*:)?[^:]*://' FILE",
    ),
    (
        have_messages,
        "the first or last lines have blanks and the others none, as messages of a program",
        "grep -v ' ' FILE",
    ),
    (
        beside::are_names_first,
        "each line has a name and another word after it",
        "awk '{print $1}' FILE",
    ),
    (
        beside::are_names_last,
        "each line has a name and another word before it",
        "awk '{print $NF}' FILE",
    ),
];

/// The part of the lines that may not belong to the keys, and how to strip it.
pub(super) fn doubt(rows: &[&[u8]]) -> Option<Sentence> {
    // Messages of redis-cli and servers have notices of their own.
    let is_row = |row: &&&[u8]| noise::noise(row).is_none();
    let rows: &[&[u8]] = &rows.iter().filter(is_row).copied().collect::<Vec<_>>();
    let said = |doubts: &[Doubt]| {
        let (_, fact, way_out) = doubts.iter().find(|(is, ..)| is(rows))?;
        sentence(format!(
            "{fact}, and each line is read as a key; otherwise: {way_out} | slotscope analyze - ; {RAW}"
        ))
    };
    if rows.len() < 3 {
        return said(&OF_ANY).or_else(|| few(rows));
    }
    said(&OF_ANY)
        .or_else(|| frame(rows))
        .or_else(|| encoded(rows))
        .or_else(|| said(&OF_SEVERAL))
        .or_else(|| separated(rows))
}

fn sentence(text: String) -> Option<Sentence> {
    Some(Sentence::default().words(text))
}

/// One or two lines that may be more than keys.
fn few(rows: &[&[u8]]) -> Option<Sentence> {
    const LISTED: usize = 10;
    let may_be_more = |row: &&[u8]| {
        let row = row.trim_ascii();
        row.iter().any(|byte| b" \t\"'<>()=;".contains(byte))
            || row.ends_with(b",")
            || memchr::memchr_iter(b',', row).count() >= LISTED
    };
    let text = "lines are too few to tell whether they are more than keys, each read as one";
    if !rows.iter().any(may_be_more) {
        return None;
    }
    sentence(format!("{text}; {RAW} without asking"))
}

fn is_printed(row: &[u8]) -> bool {
    let starts = [&b"--More--("[..], b"== ", b"(integer) "];
    starts.iter().any(|start| row.starts_with(start))
}

/// Whether the first line and another one may be cursors of SCAN among names.
fn have_cursors(rows: &[&[u8]]) -> bool {
    let is_number = |row: &&[u8]| row.iter().all(u8::is_ascii_digit);
    rows.first().is_some_and(is_number)
        && rows[1..].contains(&&b"0"[..])
        && share_of(rows, is_number) < 0.5
}

/// A separator after a text that is in one line only.
fn separated(rows: &[&[u8]]) -> Option<Sentence> {
    const SEPARATORS: [&str; 5] = [" | ", " -> ", " => ", " = ", "\t"];
    let separator = SEPARATORS.into_iter().find(|separator| {
        let end = |row: &&[u8]| memchr::memmem::find(row, separator.as_bytes());
        let starts = rows.iter().filter_map(|row| Some(&row[..end(row)?]));
        share_of(rows, |row| end(row).is_some()) >= MOST && Column::of(starts.collect()).is_unique()
    })?;
    let text = match separator {
        "\t" => "tab",
        text => text.trim(),
    };
    sentence(format!(
        "each line has {text} in it, and is read as a key; --columns key,_ --column-separator '{text}' reads what is before it; {RAW}"
    ))
}

/// Whether first or last lines have blanks, and others have none.
fn have_messages(rows: &[&[u8]]) -> bool {
    const ENDS: usize = 3;
    const LEAST: usize = 20;
    let has_blank = |row: &&[u8]| row.iter().any(u8::is_ascii_whitespace);
    rows.len() >= LEAST
        && rows.iter().any(has_blank)
        && !rows[ENDS..rows.len() - ENDS].iter().any(has_blank)
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
        || !matches!(prefix.first(), Some(b'[' | b'{'))
            && prefix
                .iter()
                .chain(suffix)
                .any(|byte| b"\"'".contains(byte));
    let are_families = || {
        !is_query
            && prefix.iter().rev().take(2).any(is_frame)
            && !prefix.last().is_some_and(u8::is_ascii_alphanumeric)
            && families(&inside) >= 2
            && Column::of(inside.clone()).look_like_keys() > 0.7
    };
    let is_behind = suffix
        .last()
        .is_some_and(|byte| b",;$".contains(byte) || is_frame(byte) && families(rows) >= 2);
    match () {
        () if inside.is_empty() => None,
        () if is_markup && !prefix.is_empty() || are_families() => {
            Some(sentence("starts with", &prefix[..prefix.len().min(30)]))
        }
        () if is_markup || is_behind => Some(sentence(
            "ends with",
            &suffix[suffix.len().saturating_sub(30)..],
        )),
        () => None,
    }
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
        for (lines, is_refused) in [
            (&["user:1", "184", "cart:2", "(nil)"][..], true),
            (
                &["key: user:1", "size: 184", "key: cart:2", "size: 96"],
                true,
            ),
            (&["key = user:1", "size = 184"], true),
            (&["user:1", "user:2"], false),
            (&["1", "2", "3", "4"], false),
            (&["0 12", "1 7"], true),
            (&["\"user:1\",\"cart:2\"", "\"lock:3\",\"a\""], true),
            (&["K(key=u:1, n=5)", "K(key=u:2, n=6)"], true),
            (&["[\"u:1\",5]", "[\"u:2\",6]"], true),
            (&["list[1]", "list[2]"], false),
        ] {
            let refused = refused(&rows(lines), &ColumnNames::USUAL);
            assert_eq!(refused.is_some(), is_refused, "{lines:?}");
        }
    }

    #[test]
    fn text_around_several_kinds_of_names_is_doubted() {
        let listed = vec!["user:1"; 30];
        let titled = [&["keys of redis-1"], &listed[1..]].concat();
        for (lines, is_doubted) in [
            (
                &["<k>user:1</k>", "<k>cart:2</k>", "<k>lock:3</k>"][..],
                true,
            ),
            (&["user:1,", "cart:2,", "lock:3,"], true),
            (&["user:1,", "user:2,", "user:3,"], true),
            (&["1:user:7", "2:user:8", "3:user:9"], true),
            (&["+user:1", "+cart:2", "+lock:3"], true),
            (&["user:1  ", "user:22 ", "user:333"], true),
            (&listed, false),
            (&titled, true),
            (&["{user:1}", "{user:2}", "{user:3}"], false),
            (&["a:1 -> x", "b:2 -> y", "c:3 -> x"], true),
            (&["user:1", "cart:2", "lock:3"], false),
            (&["prod:user:1", "prod:cart:2", "prod:lock:3"], false),
            (&["a b 1", "c d 2", "e f 3"], false),
            (&["a:1 b:1 c:1", "a:2 b:2 c:2", "a:3 b:3 c:3"], true),
        ] {
            assert_eq!(doubt(&rows(lines)).is_some(), is_doubted, "{lines:?}");
        }
    }
}
