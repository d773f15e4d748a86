//! The input: files, rejected rows, and possible faults.

use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_base::text::{and_more, bytes, counted, grouped, name, truncated};
use slotscope_model::coverage::{Extent, Lacking, RoleCoverage};
use slotscope_model::{FileFacts, InputFacts, Summary};

use crate::view::remarks as of_any;
use crate::view::{Block, Cell, Column, Scope, Section, Table};

/// Maximum characters of the reason for a rejected line, which may quote it.
const REASON: usize = 400;
/// Ways of reading shown below the verdict.
const READINGS: usize = 2;
/// Maximum characters of a key there.
const SHOWN: usize = 40;
/// Doubts shown below the verdict.
const DOUBTS: usize = 3;

/// The keys excluded by a filter, at the start of a report; the page has its own place for it.
pub(crate) fn filtered(summary: &Summary) -> Option<Section<'_>> {
    let section = Section::untitled().scoped(Scope::Overview);
    left_out(summary).map(|text| section.paragraph(text))
}

/// The sentence about excluded keys: everything else refers to the rest.
pub(crate) fn left_out(summary: &Summary) -> Option<String> {
    let filter = summary.input.filter.as_ref()?;
    let parts = [
        (filter.keys > 0 || filter.operations == 0).then(|| counted(filter.keys, "key")),
        (filter.operations > 0).then(|| counted(filter.operations, "operation")),
        filter.bytes.map(bytes),
    ];
    let amounts: Vec<String> = parts.into_iter().flatten().collect();
    let text = format!(
        "Filtered by {}: {} left out",
        filter.flags,
        amounts.join(", ")
    );
    Some(text)
}

/// The input, in one line.
pub fn overview(summary: &Summary) -> Option<Section<'_>> {
    let input = &summary.input;
    let from = match input.files.as_slice() {
        [only] => match only.answered_by() {
            Some(host) => format!("{}, sent by {host}", only.name),
            None => only.name.to_string(),
        },
        files => counted(files.len() as u64, "file"),
    };
    if summary.has_only_extremes() {
        let text = format!(
            "{}, from {from} ({})",
            what_was_read(summary),
            bytes(input.bytes_read)
        );
        return Some(Section::untitled().scoped(Scope::Overview).paragraph(text));
    }
    let loads = &summary.slots.loads;
    let is_taken = |slot: &usize| loads.iter().any(|(_, loads)| loads[*slot] > 0);
    let taken = (0..loads.keys.len()).filter(is_taken).count() as u64;
    let text = format!(
        "{} in {} of 16,384 slots, from {from} ({}){}",
        what_was_read(summary),
        grouped(taken),
        bytes(input.bytes_read),
        not_seen(summary)
    );
    Some(Section::untitled().scoped(Scope::Overview).paragraph(text))
}

/// The lines on what was not seen, last.
fn not_seen(summary: &Summary) -> String {
    let of_role = |role: &RoleCoverage| {
        let unseen = role
            .nodes
            .iter()
            .filter(|node| node.seen != Extent::Whole)
            .count();
        let nodes = counted(role.nodes.len() as u64, "node");
        (unseen > 0).then(|| format!("{} of {unseen} of {nodes}", role.metric.noun()))
    };
    let coverage = &summary.coverage;
    let of_nodes = coverage.roles.iter().filter_map(of_role);
    let of_input = coverage.lacks.iter().map(|lack| match lack.of {
        Lacking::Slots => "some primaries".to_owned(),
        Lacking::Columns => "a column of numbers".to_owned(),
        Lacking::Commands => "which nodes ran the commands without keys".to_owned(),
    });
    let parts: Vec<String> = of_nodes.chain(of_input).collect();
    match parts.as_slice() {
        [] => String::new(),
        parts => format!("; not seen: {}", parts.join(", ")),
    }
}

/// The number of keys and operations read.
fn what_was_read(summary: &Summary) -> String {
    let keys = counted(summary.input.keys, "key");
    let listed = summary.extremes.iter().map(|list| list.entries).sum();
    match &summary.operations {
        None if summary.has_only_extremes() => match listed {
            1 => "1 entry of a list of extremes".into(),
            listed => format!("{} entries of lists of extremes", grouped(listed)),
        },
        None => keys,
        Some(operations) if summary.input.keys == 0 => {
            let keys = counted(operations.keys, "key");
            format!("{} on {keys}", counted(operations.ops, "operation"))
        }
        Some(operations) => format!("{keys} and {}", counted(operations.ops, "operation")),
    }
}

/// How the input was read and doubts about it, if space is short.
pub(crate) fn read(summary: &Summary) -> Option<Section<'_>> {
    let readings = readings(summary).into_iter().map(Block::Line);
    let lines: Vec<Block<'_>> = readings.chain(first_doubts(&summary.input)).collect();
    (!lines.is_empty()).then(|| Section::untitled().with_all(lines))
}

/// How texts were read, each with the first key: so a misreading is seen even where nothing warns of it.
pub(crate) fn readings(summary: &Summary) -> Vec<String> {
    let mut groups: Vec<(&FileFacts, u64)> = Vec::new();
    let files = &summary.input.files;
    for file in files.iter().filter(|file| file.first.is_some()) {
        let is_same = |(other, _): &&mut (&FileFacts, u64)| {
            (&other.line, &other.format) == (&file.line, &file.format)
        };
        match groups.iter_mut().find(is_same) {
            Some((_, files)) => *files += 1,
            None => groups.push((file, 1)),
        }
    }
    let hidden = groups.len().saturating_sub(READINGS);
    let largest = largest(summary).filter(|_| groups.len() == 1);
    let has_sizes = summary.input.weights.get(Metric::Bytes).is_some();
    let shown = groups.iter().take(READINGS);
    let lines = shown.map(|(file, count)| {
        let name = match (files.len(), count) {
            (1, _) => String::new(),
            (_, 1) => format!("{}: ", file.name),
            (_, count) => format!("{}: ", counted(*count, "file")),
        };
        format!(
            "{name}{}{}",
            reading(file, has_sizes),
            largest.as_deref().unwrap_or_default()
        )
    });
    lines
        .chain((hidden > 0).then(|| and_more(hidden)))
        .collect()
}

/// How a file was read.
fn reading(file: &FileFacts, has_sizes: bool) -> String {
    let line = file.line.as_deref().unwrap_or(&file.format);
    let first = file.first.as_ref();
    let key = first.map_or(String::new(), |first| {
        format!(": \"{}\"", name(&first.key, SHOWN))
    });
    let size = match first.and_then(|first| first.size) {
        Some(size) => format!(" of {}", bytes(size)),
        None if has_sizes || file.keys == 0 => String::new(),
        None => String::from("; no sizes"),
    };
    let line = columns(line).unwrap_or_else(|| truncated(line, REASON));
    format!("read as {line}{key}{size}")
}

/// A pattern that is nothing but keys, or the columns of a table.
fn columns(line: &str) -> Option<String> {
    if line == "{key}" {
        return Some("lines of keys".into());
    }
    let inner = line.strip_prefix('{')?.strip_suffix(":csv}")?;
    let (separator, called) = match inner.split_once(":csv}") {
        None => (",", "CSV".to_owned()),
        Some((_, rest)) => match rest.split_once('{')?.0 {
            "," => (",", "CSV".to_owned()),
            r"\t" => (r"\t", "TSV".to_owned()),
            other if other.chars().count() == 1 => (other, format!("CSV ({other})")),
            _ => return None,
        },
    };
    let between = format!(":csv}}{separator}{{");
    let columns: Vec<&str> = inner.split(&*between).collect();
    let is_plain = |column: &&str| !column.contains([':', '{', '}']);
    let is_table = columns.iter().all(is_plain);
    is_table.then(|| format!("{called} with {}", columns.join(", ")))
}

/// The largest key, where sizes are known.
fn largest(summary: &Summary) -> Option<String> {
    let keys = summary.keys.as_ref()?.heaviest.get(Metric::Bytes)?;
    let key = keys.first()?;
    let size = key.weights.get(Metric::Bytes)?;
    let is_first = |file: &FileFacts| {
        file.first
            .as_ref()
            .is_some_and(|first| first.key == key.key)
    };
    if summary.input.files.iter().any(is_first) {
        return Some(", the largest".into());
    }
    Some(format!(
        ", the largest \"{}\" of {}",
        name(&key.key, SHOWN),
        bytes(*size)
    ))
}

/// How much was read, for the last line of the output.
pub fn read_in_words(summary: &Summary) -> String {
    let rejected = match summary.input.rejected.count {
        0 => String::new(),
        lines => format!(", {} rejected", counted(lines, "line")),
    };
    format!("{} read{rejected}", what_was_read(summary))
}

/// Doubts about the input, for below the verdict; `remarks` has those that do not fit.
pub(crate) fn doubts(summary: &Summary) -> Option<Section<'_>> {
    let section = Section::untitled().scoped(Scope::Overview);
    let readings = readings(summary).into_iter().map(Block::Line);
    Some(section.with_all(readings.chain(first_doubts(&summary.input))))
}

fn first_doubts<'a>(input: &InputFacts) -> impl Iterator<Item = Block<'a>> {
    let doubts: Vec<String> = all_doubts(input).collect();
    let hidden = doubts.len().saturating_sub(DOUBTS);
    let rest = (hidden > 0).then(|| and_more(hidden));
    let first = doubts.into_iter().take(DOUBTS);
    first.chain(rest).map(Block::Line)
}

/// Early ends and warnings.
fn all_doubts(input: &InputFacts) -> impl Iterator<Item = String> {
    let stops = input.incomplete.iter().map(of_any::stop);
    stops.chain(input.warnings.iter().map(of_any::warning))
}

/// The inputs.
pub(crate) fn files(summary: &Summary) -> Option<Section<'_>> {
    let files = &summary.input.files;
    let are_objects = files.iter().any(|file| file.object.is_some());
    let etag = |file: &FileFacts| file.object.as_ref()?.etag.as_ref().map(Name::to_string);
    let table = Table::of(files)
        .column(Column::words("file").flexible(), |file| {
            Cell::name(&file.name)
        })
        .column(Column::words("format"), |file| Cell::text(&*file.format))
        .column(Column::number("bytes"), |file| Cell::bytes(file.bytes))
        .column(Column::number("keys"), |file| Cell::count(file.keys))
        .columns(are_objects.then_some("ETag"), Column::words, |_, file| {
            Cell::text(etag(file).unwrap_or_default())
        })
        .build();
    let section = Section::titled("Input").anchored("input", "Input");
    Some(section.scoped(Scope::Page).table(table))
}

/// Rejected lines.
pub(crate) fn rejected(summary: &Summary) -> Option<Section<'_>> {
    let rejected = &summary.input.rejected;
    let table = Table::of(&rejected.first)
        .column(Column::words("file").flexible(), |reject| {
            Cell::name(&reject.file)
        })
        .column(Column::number("line"), |reject| {
            Cell::of(reject.line, Cell::count)
        })
        .column(Column::number("byte"), |reject| Cell::count(reject.byte))
        .column(Column::words("what is wrong with it"), |reject| {
            Cell::text(truncated(&reject.reason, REASON))
        })
        .build();
    let title = format!("{} without a key", counted(rejected.count, "line"));
    let section = Section::titled(title).anchored("rejected", "Rejected");
    (rejected.count > 0).then_some(section.table(table))
}

/// Doubts that do not fit below the verdict, and limitations of the formats.
pub(crate) fn remarks(summary: &Summary) -> Option<Section<'_>> {
    let input = &summary.input;
    let doubts = all_doubts(input).skip(DOUBTS).map(Block::Paragraph);
    let notes = input.notes.iter().map(of_any::note).map(Block::Paragraph);
    let section = Section::untitled().scoped(Scope::Overview);
    Some(section.with_all(doubts.chain(notes)))
}

#[cfg(test)]
mod tests {
    use super::columns;

    #[test]
    fn tables_are_said_by_their_columns() {
        for (line, said) in [
            ("{key}", Some("lines of keys")),
            ("{key:csv},{size:csv}", Some("CSV with key, size")),
            ("{key:csv};{_:csv}", Some("CSV (;) with key, _")),
            (r"{key:csv}\t{size:csv}", Some("TSV with key, size")),
            ("{key:csv},{size:csv,kb}", None),
            ("{key:csv} | {size:csv}", None),
            ("{key} {size}", None),
        ] {
            assert_eq!(columns(line).as_deref(), said, "{line}");
        }
    }
}
