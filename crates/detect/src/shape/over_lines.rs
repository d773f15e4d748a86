//! A key and its number, or its attributes, on successive lines: refused, with the command that joins them.

use std::collections::HashSet;

use slotscope_base::metric::Metric;
use slotscope_read::format::line::Pattern;
use slotscope_read::format::line::offer::offers;
use slotscope_read::format::line::tried::sample;
use slotscope_read::format::parse::size::size;
use slotscope_read::format::parse::unit::is_letter;
use slotscope_read::format::parse::value::{Value, value};
use slotscope_read::format::redis_cli::noise;
use slotscope_read::format::table::columns::{ColumnNames, Role};
use slotscope_read::format::{Head, Notice};

use crate::shape::column::{Column, MOST, MayBeSize, share_of};
use crate::shape::{labels, peel};

/// Maximum lines of a record.
const LONGEST: usize = 10;

/// Why lines are refused that list a key and its number, or its other attributes, on successive lines.
pub(super) fn refused(rows: &[&[u8]], names: &ColumnNames, head: Head<'_>) -> Option<String> {
    let text = sample(head);
    let has_returns = memchr::memchr(b'\r', text).is_some();
    let lines = text.split(|byte| *byte == b'\n');
    let bare = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let mut lines: Vec<&[u8]> = bare.collect();
    lines.pop_if(|line| line.is_empty());
    let joined = labelled(rows, &lines, names)
        .or_else(|| periodic(&lines))
        .or_else(|| indented(&lines))?;
    let what = match joined.lines {
        2 if joined.is_bare => "a key and its number on two lines".into(),
        lines => format!("records of {lines} lines each, a key in one of them"),
    };
    let returns = has_returns.then(|| "tr -d '\\r'".to_owned());
    Some(joined.message(&what, returns))
}

/// Records, each joined to one line.
struct Joined {
    records: Vec<Vec<u8>>,
    /// Lines of a record in the input.
    lines: usize,
    /// Whether it is nothing but a key and a number.
    is_bare: bool,
    /// The commands that join them.
    steps: Vec<String>,
}

impl Joined {
    fn of(lines: &[&[u8]], each: usize) -> Joined {
        let records = lines.chunks_exact(each).map(|record| record.join(&b'\t'));
        Joined {
            records: records.collect(),
            lines: each,
            is_bare: each == 2,
            steps: vec![format!("paste{}", " -".repeat(each))],
        }
    }

    /// The patterns that may read them.
    fn patterns(&self) -> impl Iterator<Item = String> {
        let rows: Vec<&[u8]> = self.records.iter().map(Vec::as_slice).collect();
        // A blank in a pattern is a TAB as well.
        let blank = |byte: &u8| if *byte == b'\t' { b' ' } else { *byte };
        let spaced = rows.iter().map(|row| row.iter().map(blank).collect());
        let spaced: Vec<Vec<u8>> = spaced.collect();
        let spaced: Vec<&[u8]> = spaced.iter().map(Vec::as_slice).collect();
        let found = [
            labels::pattern(&spaced),
            peel::pattern(&rows),
            cells(&self.records),
        ];
        found.into_iter().flatten()
    }

    /// Whether a pattern with a size reads the first of them, and so tells where a record starts.
    fn are_records(&self, kinds: &[Kind]) -> bool {
        let share = |at: usize, is: fn(&Kind) -> bool| {
            let of_line: Vec<Kind> = kinds.iter().skip(at).step_by(self.lines).copied().collect();
            share_of(&of_line, is)
        };
        let lines = 0..self.lines;
        let has_values = lines
            .clone()
            .any(|at| share(at, |kind| kind.is_value) >= MOST);
        let has_names = lines
            .clone()
            .any(|at| share(at, |kind| kind.is_value) < 0.5);
        let quotes = lines.map(|at| share(at, |kind| kind.has_quote));
        let [least, most] = quotes.fold([1.0f64, 0.0], |[least, most], share| {
            [least.min(share), most.max(share)]
        });
        let are_some_quoted = least == 0.0 && most >= MOST;
        let reads = |text: String| {
            let is_proof = text.contains("{size") && (has_values || text.contains("{key:q}"));
            let pattern = Pattern::parse(&text).ok().filter(|_| is_proof);
            pattern.is_some_and(|pattern| pattern.find(self.records[0].trim_ascii()).is_ok())
        };
        has_names && (has_values || are_some_quoted) && self.patterns().any(reads)
    }

    /// A message with the commands, and the pattern that then reads the records: both were tried.
    fn message(self, what: &str, returns: Option<String>) -> String {
        let mut text = self.records.join(&b'\n');
        text.push(b'\n');
        let offer = offers(
            Head {
                bytes: &text,
                whole: true,
            },
            self.patterns(),
        );
        let first = offer.split(", --line").next();
        let Some((pattern, gives)) = first.and_then(|offer| offer.rsplit_once(" gives ")) else {
            return format!("{what}: let the program write a line for each key, as key,size");
        };
        let mut steps: Vec<String> = returns.into_iter().chain(self.steps).collect();
        steps[0] += " < FILE";
        format!(
            "{what}: {} | slotscope analyze - {pattern} gives {gives}",
            steps.join(" | ")
        )
    }
}

/// Records with a name before each of their values: the lines of the key and the size.
fn labelled(rows: &[&[u8]], lines: &[&[u8]], names: &ColumnNames) -> Option<Joined> {
    let labels: Vec<Option<&[u8]>> = rows.iter().map(|row| label_of(row)).collect();
    let usual = usual(&labels);
    let is_usual = |label: &Option<&[u8]>| label.is_some_and(|label| usual.contains(&label));
    let with = |wanted: Role| {
        let rank = |label: &&&[u8]| match names.role(label) {
            Some((role, rank)) if role == wanted => Some(rank),
            _ if **label == SECTION && wanted == Role::Key => Some(usize::MAX),
            _ => None,
        };
        // The name of something else is the same in many records.
        let is_of_key = |label: &&&[u8]| {
            let named = lines.iter().filter(|line| starts_with(line, label));
            let distinct: HashSet<&&[u8]> = named.clone().collect();
            wanted != Role::Key || 2 * distinct.len() >= named.count()
        };
        let known = usual
            .iter()
            .filter(|label| rank(label).is_some() && is_of_key(label));
        known.min_by_key(|label| rank(label)).copied()
    };
    let key = with(Role::Key)?;
    let wanted: Vec<&[u8]> = [Some(key), with(Role::of(Metric::Bytes))]
        .into_iter()
        .flatten()
        .collect();
    if usual.len() < 2 || share_of(&labels, is_usual) < 0.5 {
        return None;
    }
    let is_wanted = |line: &&&[u8]| wanted.iter().any(|label| starts_with(line, label));
    let kept: Vec<&[u8]> = lines.iter().filter(is_wanted).copied().collect();
    let place = |line: &&[u8]| wanted.iter().position(|label| starts_with(line, label));
    let order: Vec<Option<usize>> = kept.iter().take(wanted.len()).map(place).collect();
    let is_in_order = kept
        .iter()
        .enumerate()
        .all(|(at, line)| place(line) == order[at % order.len()]);
    // A line that has the name of a key elsewhere is of a record that is cut in another way.
    let is_elsewhere = |line: &&&[u8]| !is_wanted(line) && has_word(line, key);
    let is_whole = key == SECTION || !lines.iter().any(|line| is_elsewhere(&line));
    (kept.len() >= wanted.len() && is_in_order && is_whole).then_some(())?;
    let mut joined = Joined::of(&kept, wanted.len());
    joined.steps.insert(
        0,
        format!(
            "grep -E '{}'",
            wanted
                .iter()
                .map(|label| expression(label))
                .collect::<Vec<_>>()
                .join("|")
        ),
    );
    joined.lines = usual.len();
    joined.is_bare = false;
    Some(joined)
}

/// Lines that follow the one of their key, with blanks before them.
fn indented(lines: &[&[u8]]) -> Option<Joined> {
    const JOIN: &str = r#"awk '/^[^ \t]/ && NR > 1 {print ""} {printf "%s ", $0} END {print ""}'"#;
    let is_below = |line: &&[u8]| line.first().is_some_and(|byte| b" \t".contains(byte));
    let records: Vec<&[&[u8]]> = lines.chunk_by(|_, next| is_below(next)).collect();
    let with_lines = records.iter().filter(|record| record.len() > 1).count();
    let most = records.iter().map(|record| record.len()).max()?;
    (2..=LONGEST).contains(&most).then_some(())?;
    (records.len() > 1 && 10 * with_lines >= 8 * records.len()).then_some(())?;
    let joined = Joined {
        records: records.iter().map(|record| record.join(&b' ')).collect(),
        lines: most,
        is_bare: false,
        steps: vec![JOIN.into()],
    };
    let reads = |text: String| {
        let pattern = Pattern::parse(&text).ok().filter(Pattern::has_size);
        let fits = |record: &Vec<u8>| {
            let pattern = pattern.as_ref();
            pattern.is_some_and(|pattern| pattern.find(record.trim_ascii()).is_ok())
        };
        share_of(&joined.records, fits) >= 0.8
    };
    let is_read = joined.patterns().any(reads);
    is_read.then_some(joined)
}

/// Records that all have this many lines, one with a key and another with values alone, after a few titles.
fn periodic(lines: &[&[u8]]) -> Option<Joined> {
    const TITLES: usize = 5;
    const BLANK: &str = "grep '[^ ]'";
    const WAITING: &str = "grep -vE '^[^ ]*> *$|^-> Redirected'";
    let filled: Vec<&[u8]> = lines
        .iter()
        .copied()
        .filter(|line| !line.trim_ascii().is_empty())
        .collect();
    let rows: Vec<&[u8]> = filled
        .iter()
        .copied()
        .filter(|line| !is_waiting(line))
        .collect();
    let has_blanks = filled.len() < lines.len();
    let starts = (2..=LONGEST).flat_map(|each| (0..=TITLES).map(move |start| (each, start)));
    let kinds: Vec<Kind> = rows.iter().map(|row| Kind::of(row)).collect();
    let (mut joined, start) = starts
        .filter(|(each, start)| {
            start + 2 * each <= rows.len() || (*each, *start, rows.len()) == (2, 0, 2)
        })
        .map(|(each, start)| (Joined::of(&rows[start..], each), start))
        .find(|(joined, start)| joined.are_records(&kinds[*start..]))?;
    let above = (start > 0).then(|| format!("tail -n +{}", start + 1));
    let filters = [
        has_blanks.then(|| BLANK.into()),
        (rows.len() < filled.len()).then(|| WAITING.into()),
        above,
    ];
    joined.steps.splice(0..0, filters.into_iter().flatten());
    Some(joined)
}

/// The pattern of records whose lines are each a cell: one of distinct names, and one of sizes, with units if there are
/// several of numbers.
fn cells(records: &[Vec<u8>]) -> Option<String> {
    let cut: Vec<Vec<&[u8]>> = records
        .iter()
        .map(|record| record.split(|byte| *byte == b'\t').collect())
        .collect();
    let count = cut.first()?.len();
    if cut.iter().any(|cells| cells.len() != count) {
        return None;
    }
    let columns: Vec<Column<'_>> = (0..count)
        .map(|at| Column::of(cut.iter().map(|cells| cells[at]).collect()))
        .collect();
    let only = |is: &dyn Fn(&Column<'_>) -> bool| {
        let mut which = (0..count).filter(|at| is(&columns[*at]));
        which.next().filter(|_| which.next().is_none())
    };
    let is_key = |column: &Column<'_>| {
        column.is_unique() && column.is_text() && column.look_like_keys() >= 0.7
    };
    let is_size = |column: &Column<'_>| column.size() == Some(MayBeSize::Likely);
    let has_units = |column: &Column<'_>| {
        is_size(column) && share_of(&column.cells, |cell| cell.ends_with(b"B")) >= MOST
    };
    let key = only(&is_key)?;
    let size = only(&has_units).or_else(|| only(&is_size))?;
    let field = |at: usize| match at {
        at if at == key => "{key}",
        at if at == size => "{size}",
        _ => "{_}",
    };
    Some((0..count).map(field).collect::<Vec<_>>().join("\\t"))
}

/// The kind of a line in a record.
#[derive(Clone, Copy)]
struct Kind {
    is_value: bool,
    has_quote: bool,
}

impl Kind {
    fn of(line: &[u8]) -> Kind {
        let line = line.trim_ascii();
        // In a reply, its number is before it.
        let mark = memchr::memmem::find(line, b") ");
        let mark = mark.filter(|mark| line[..*mark].iter().all(u8::is_ascii_digit));
        let bare = mark.map_or(line, |mark| &line[mark + 2..]);
        Kind {
            is_value: value(bare) != Value::Text,
            has_quote: bare.iter().any(|byte| b"\"'".contains(byte)),
        }
    }
}

/// Whether a line is a prompt without a command, or names the node to which redis-cli turns.
fn is_waiting(row: &[u8]) -> bool {
    let row = row.trim_ascii();
    row.starts_with(b"-> Redirected")
        || row.ends_with(b">") && !row.contains(&b' ') && noise::noise(row) == Some(Notice::Prompt)
}

/// The labels that occur at least a third as often as the commonest one: once in each record, where another is in it twice.
fn usual<'a>(labels: &[Option<&'a [u8]>]) -> Vec<&'a [u8]> {
    let mut distinct: Vec<&[u8]> = labels.iter().flatten().copied().collect();
    distinct.sort_unstable();
    let counted: Vec<&[&[u8]]> = distinct.chunk_by(|a, b| a == b).collect();
    let most = counted.iter().map(|same| same.len()).max().unwrap_or(0);
    let usual = counted.iter().filter(|same| 3 * same.len() >= most);
    usual.map(|same| same[0]).collect()
}

/// The label of a line that names a section: `[K]`.
const SECTION: &[u8] = b"[";

/// The label of a line: `key: K`, `:key => K`, `size=5`, `Key` and a TAB; or that of a section.
fn label_of(row: &[u8]) -> Option<&[u8]> {
    if row.starts_with(SECTION) && row.ends_with(b"]") && !row.contains(&b',') {
        return Some(SECTION);
    }
    let start = row.iter().position(|byte| !b" \t-:\"'".contains(byte))?;
    let text = &row[start..];
    let len = text.iter().take_while(|byte| is_of_label(byte)).count();
    let close = usize::from(text.get(len).is_some_and(|byte| b"\"'".contains(byte)));
    let sign = text[len + close..].iter().position(|byte| *byte != b' ')? + len + close;
    let (sign, value) = (text[sign], &text[sign + 1..]);
    let value = value.strip_prefix(b">").unwrap_or(value);
    let is_apart = value.starts_with(b" ") || value.starts_with(b"\t");
    let value = value.trim_ascii();
    // Keys may have a sign inside; a number after one is the value of a name.
    let is_number = |text: &[u8]| size(text.strip_prefix(b"-").unwrap_or(text)).is_some();
    let is_value = match sign {
        b'=' => is_apart && !value.is_empty() || is_number(value),
        b':' | b'|' => is_apart && !value.is_empty(),
        b'\t' => !value.is_empty(),
        _ => false,
    };
    ((1..=20).contains(&len) && is_value).then(|| &text[..len])
}

fn is_of_label(byte: &u8) -> bool {
    is_letter(byte) || *byte == b'_'
}

/// Whether a line has a label anywhere, as a word.
fn has_word(line: &[u8], label: &[u8]) -> bool {
    memchr::memmem::find_iter(line, label).any(|at| {
        let after = &line[at + label.len()..];
        let is_start = at == 0 || !is_of_label(&line[at - 1]);
        // A blank alone is after any word of a sentence.
        let sign = after.iter().find(|byte| **byte != b' ');
        is_start && sign.is_none_or(|byte| b"\"':=\t".contains(byte))
    })
}

/// Whether grep with the expression below finds a line.
fn starts_with(line: &[u8], label: &[u8]) -> bool {
    if label == SECTION {
        return line.starts_with(SECTION);
    }
    let is_of_word = |byte: &u8| byte.is_ascii_alphabetic();
    memchr::memmem::find_iter(line, label).any(|at| {
        let after = line.get(at + label.len());
        !line[..at].iter().any(is_of_word)
            && after.is_some_and(|byte| !is_of_word(byte) && *byte != b'_')
    })
}

/// The expression of lines that start with a label.
fn expression(label: &[u8]) -> String {
    match label {
        SECTION => r"^\[".into(),
        label => format!("^[^A-Za-z]*{}[^A-Za-z_]", String::from_utf8_lossy(label)),
    }
}
