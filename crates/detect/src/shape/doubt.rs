//! Doubts about lines that would be read as raw keys although part of them may not belong to the key; and lines that
//! are not rows by themselves.

use slotscope_base::name::Name;
use slotscope_base::sentence::Sentence;
use slotscope_base::text::counted;
use slotscope_read::format::Head;
use slotscope_read::format::line::offer::{offers, with_offers};
use slotscope_read::format::line::parse::literal;
use slotscope_read::format::parse::size::size;
use slotscope_read::format::parse::value::{Value, value};
use slotscope_read::format::redis_cli::noise;
use slotscope_read::format::slot_stats;
use slotscope_read::format::table::columns::ColumnNames;

use crate::shape::beside;
use crate::shape::column::{Column, MOST, common_prefix, common_suffix, families, share_of};
use crate::shape::encoded::encoded;
use crate::shape::{column, labels, over_lines, peel, recipe};

/// Why lines are refused that do not list keys: records of several lines, pairs of numbers, objects in brackets.
pub(super) fn refused(rows: &[&[u8]], names: &ColumnNames, head: Head<'_>) -> Option<String> {
    if let Some(refused) = over_lines::refused(rows, names, head) {
        return Some(refused);
    }
    if let Some(refused) = recipe::inside_lines(rows) {
        return Some(refused);
    }
    if share_of(rows, are_two_numbers) >= MOST {
        let what =
            "two numbers in each line: a key and its size, or a slot and its number of keys?";
        let patterns = [
            "{key} {size}",
            "{key},{size}",
            "{key};{size}",
            "{key}|{size}",
        ];
        let as_keys = with_offers(what, head, patterns);
        return Some(as_keys + &as_counts(rows).unwrap_or_default());
    }
    let is_of_csv =
        |row: &&[u8]| row.starts_with(b"\"") && memchr::memmem::find(row, b"\",\"").is_some();
    if share_of(rows, is_of_csv) >= MOST {
        return Some(String::from(
            "texts in quotes with commas between, as redis-cli --csv prints them: redis-cli -h HOST -p PORT --no-raw --scan takes the keys",
        ));
    }
    let are_printed = rows.len() > 1 && share_of(rows, is_in_brackets) >= MOST;
    are_printed.then(|| {
        let what = "each line is in brackets, as programs print objects, pairs and dicts";
        let found = peel::pattern(rows).into_iter();
        with_offers(what, head, found.chain([String::from("{key}")]))
    })
}

/// Whether a line is two numbers.
fn are_two_numbers(row: &&[u8]) -> bool {
    let are_numbers = pieces(row).map(|word| word.iter().all(u8::is_ascii_digit));
    are_numbers.eq([true, true])
}

fn pieces(row: &[u8]) -> impl Iterator<Item = &[u8]> {
    let pieces = row.split(|byte| b" \t,;|".contains(byte));
    pieces.filter(|word| !word.is_empty())
}

/// The command that makes a table of counts by slot, if these lines are one: `; as counts by slot: ...`.
fn as_counts(rows: &[&[u8]]) -> Option<String> {
    let mut text = b"slot,count\n".to_vec();
    for row in rows {
        text.extend(pieces(row).collect::<Vec<_>>().join(&b','));
        text.push(b'\n');
    }
    let (slot, stats) = slot_stats::table(&text).ok()?.slots.into_iter().next()?;
    let keys = stats.get(slot_stats::KEYS)?;
    let is_bare = !rows.iter().any(|row| row.starts_with(b" "));
    is_bare.then(|| {
        format!(
            "; as counts by slot: (echo slot,count; tr -s ' \\t;|' , < FILE) > COUNTS.csv; slotscope analyze COUNTS.csv \
             gives slot {slot} with {}",
            counted(keys, "key")
        )
    })
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

/// A doubt: its test, and the fact.
type Doubt = (fn(&[&[u8]]) -> bool, &'static str);

/// Doubts about lines of any number.
const OF_ANY: [Doubt; 5] = [
    (
        |rows| rows.len() > 2 && share_of(rows, ends_with_size) >= 0.3,
        "lines end with a size",
    ),
    (
        |rows| rows.iter().any(|row| is_printed(row)),
        "some lines are not keys, as programs print them (--More--, == HOST ==, (integer) 5, # a comment)",
    ),
    (
        have_cursors,
        "some lines are numbers at even distances, as the cursors of SCAN",
    ),
    (
        |rows| share_of(rows, |row| matches!(row.first(), Some(b' ' | b'\t'))) >= 0.2,
        "lines start with blanks",
    ),
    (
        |rows| share_of(rows, |row| row.ends_with(b" ")) >= 0.2,
        "lines end with blanks",
    ),
];

/// Doubts about several lines.
const OF_SEVERAL: [Doubt; 6] = [
    (is_log, "lines start with a time, as those of a log"),
    (
        beside::are_numbered,
        "each line starts with a rising number, as grep -n prints it",
    ),
    (
        beside::have_messages,
        "some lines have blanks and the others none, as messages of a program",
    ),
    (
        beside::are_names_first,
        "each line has a name and another word after it",
    ),
    (
        beside::are_names_last,
        "each line has a name and another word before it",
    ),
    (beside::have_values, "each line has a number beside a name"),
];

/// The part of the lines that may not belong to the keys, and how to strip it.
pub(super) fn doubt(rows: &[&[u8]], head: Head<'_>) -> Option<Sentence> {
    // Messages of redis-cli and servers have notices of their own.
    let is_row = |row: &&&[u8]| noise::noise(row).is_none();
    let rows: &[&[u8]] = &rows.iter().filter(is_row).copied().collect::<Vec<_>>();
    let said = |doubts: &[Doubt]| {
        let (_, fact) = doubts.iter().find(|(is, _)| is(rows))?;
        let whole = format!("{fact}, and each line is read as a key");
        Some(Sentence::from(with_offers(
            &whole,
            head,
            peel::pattern(rows),
        )))
    };
    if rows.len() < 3 {
        return said(&OF_ANY).or_else(|| few(rows));
    }
    said(&OF_ANY)
        .or_else(|| frame(rows))
        .or_else(|| encoded(rows))
        .or_else(|| said(&OF_SEVERAL))
        .or_else(|| separated(rows, head))
        .or_else(|| around(rows, head))
}

fn sentence(text: String) -> Option<Sentence> {
    Some(Sentence::from(text))
}

/// A size beside a name in most lines, or quotes around it, or a name of it before it.
fn around(rows: &[&[u8]], head: Head<'_>) -> Option<Sentence> {
    let labelled = || labels::pattern(rows).filter(|_| rows.len() >= 3);
    let found = peel::proven(rows).or_else(labelled)?;
    let offers = offers(head, [found]);
    let what = "lines have more than a name, and each is read as a key";
    (!offers.is_empty()).then(|| Sentence::from(format!("{what}: {offers}")))
}

/// Whether a number and its unit end a line: `- 14.8 MB`.
fn ends_with_size(row: &&[u8]) -> bool {
    let mut words = row.rsplitn(3, |byte| *byte == b' ');
    let (Some(unit), Some(number), Some(_)) = (words.next(), words.next(), words.next()) else {
        return false;
    };
    column::unit(unit).is_some() && number.iter().any(u8::is_ascii_digit) && size(number).is_some()
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
    sentence(text.into())
}

fn is_printed(row: &[u8]) -> bool {
    let starts = [&b"--More--("[..], b"== ", b"(integer) ", b"# "];
    starts.iter().any(|start| row.starts_with(start))
}

/// Whether the first line and others at even distances are numbers among names, as the cursors of the pages of SCAN.
fn have_cursors(rows: &[&[u8]]) -> bool {
    const LEAST: usize = 4;
    let is_number = |row: &[u8]| !row.is_empty() && row.iter().all(u8::is_ascii_digit);
    let places: Vec<usize> = (0..rows.len()).filter(|at| is_number(rows[*at])).collect();
    let is_first = places.first() == Some(&0) && 2 * places.len() < rows.len();
    let steps = places.windows(2).map(|pair| pair[1] - pair[0]);
    let usual = places.get(1).copied().unwrap_or_default();
    // A page has about as many keys as was asked for.
    let is_usual = |step: &usize| *step > 1 && step.abs_diff(usual) * 2 <= usual;
    let even = steps.filter(is_usual).count();
    let ends = rows.iter().skip(1).any(|row| *row == b"0");
    is_first && (ends || places.len() >= LEAST && even * 10 >= (places.len() - 1) * 9)
}

/// A separator after a text that is in one line only.
fn separated(rows: &[&[u8]], head: Head<'_>) -> Option<Sentence> {
    const SEPARATORS: [&str; 5] = [" | ", " -> ", " => ", " = ", "\t"];
    let separator = SEPARATORS.into_iter().find(|separator| {
        let end = |row: &&[u8]| memchr::memmem::find(row, separator.as_bytes());
        let starts = rows.iter().filter_map(|row| Some(&row[..end(row)?]));
        share_of(rows, |row| end(row).is_some()) >= MOST && Column::of(starts.collect()).is_unique()
    })?;
    let text = separator.trim();
    let what = format!(
        "each line has {} in it, and is read as a key",
        if text.is_empty() { "a TAB" } else { text }
    );
    sentence(with_offers(
        &what,
        head,
        [format!("{{key}}{}{{_}}", literal(separator))],
    ))
}

/// Whether lines have a time of day followed by another word.
fn is_log(rows: &[&[u8]]) -> bool {
    let is_stamped = |row: &&[u8]| {
        let mut words = row
            .split(|byte| byte.is_ascii_whitespace())
            .filter(|word| !word.is_empty());
        let is_clock = |word: &[u8]| word.contains(&b':') && matches!(value(word), Value::Time);
        let at = words.by_ref().take(4).position(is_clock);
        at.is_some() && words.next().is_some()
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
            .words(String::from(", which is read as a part of the keys"))
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

    fn head(bytes: &[u8]) -> Head<'_> {
        Head { bytes, whole: true }
    }

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
            let refused = refused(
                &rows(lines),
                &ColumnNames::USUAL,
                head(lines.join("\n").as_bytes()),
            );
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
            assert_eq!(
                doubt(&rows(lines), head(lines.join("\n").as_bytes())).is_some(),
                is_doubted,
                "{lines:?}"
            );
        }
    }
}
