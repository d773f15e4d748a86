//! The input: what was read, what was rejected, what may be wrong with it.

use crate::name::Name;
use crate::report::view::remarks as of_any;
use crate::report::view::{Block, Cell, Column, Scope, Section, Table};
use crate::summary::{FileFacts, Summary};
use crate::text::{and_more, bytes, counted, grouped, truncated};

/// Characters of the reason why a line was rejected; it may quote the line.
const REASON: usize = 400;
/// Warnings that are shown where space is short.
const DOUBTS: usize = 3;

/// What was read, in one line.
pub fn overview(summary: &Summary) -> Option<Section<'_>> {
    let input = &summary.input;
    let from = match input.files.as_slice() {
        [only] => only.name.to_string(),
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
        "{} in {} of 16,384 slots, from {from} ({})",
        what_was_read(summary),
        grouped(taken),
        bytes(input.bytes_read)
    );
    Some(Section::untitled().scoped(Scope::Overview).paragraph(text))
}

/// How many keys, and operations, were read.
fn what_was_read(summary: &Summary) -> String {
    let keys = counted(summary.input.keys, "key");
    let listed = summary.extremes.iter().map(|list| list.entries).sum();
    match &summary.operations {
        None if summary.has_only_extremes() => match listed {
            1 => "1 entry of a list of extremes".into(),
            listed => format!("{} entries of lists of extremes", grouped(listed)),
        },
        None => keys,
        Some(of) if summary.input.keys == 0 => {
            let keys = counted(of.keys, "key");
            format!("{} on {keys}", counted(of.ops, "operation"))
        }
        Some(of) => format!("{keys} and {}", counted(of.ops, "operation")),
    }
}

/// Doubts about the input in few lines: where it ended early, what was rejected, and warnings.
pub fn doubts(summary: &Summary) -> Option<Section<'_>> {
    let input = &summary.input;
    let keys = what_was_read(summary);
    let rejected = match input.rejected.count {
        0 => String::new(),
        lines => format!(", {} rejected", counted(lines, "line")),
    };
    let stops = input.incomplete.iter().map(|stop| {
        format!(
            "incomplete: {}: byte {}: {}",
            stop.file,
            grouped(stop.byte),
            stop.reason
        )
    });
    let warnings = input.warnings.iter().map(|text| format!("warning: {text}"));
    let remarks: Vec<String> = stops.chain(warnings).collect();
    let more = remarks.len().saturating_sub(DOUBTS);
    let remarks = remarks.into_iter().take(DOUBTS).map(Block::Line);
    let more = (more > 0).then(|| Block::Line(and_more(more)));
    let read = Block::Line(format!("{keys} read{rejected}"));
    Some(Section::untitled().with(read).with_all(remarks.chain(more)))
}

/// The inputs.
pub fn files(summary: &Summary) -> Option<Section<'_>> {
    let files = &summary.input.files;
    let are_objects = files.iter().any(|file| file.object.is_some());
    let etag = |file: &FileFacts| file.object.as_ref()?.etag.as_ref().map(Name::to_string);
    let rows = files.iter().map(|file| {
        let mut row = vec![
            Cell::name(&file.name),
            Cell::text(&*file.format),
            Cell::bytes(file.bytes),
            Cell::count(file.keys),
        ];
        row.extend(are_objects.then(|| Cell::text(etag(file).unwrap_or_default())));
        row
    });
    let mut columns = vec![
        Column::words("file").flexible(),
        Column::words("format"),
        Column::number("bytes"),
        Column::number("keys"),
    ];
    columns.extend(are_objects.then(|| Column::words("ETag")));
    let section = Section::titled("Input").anchored("input", "Input");
    Some(section.scoped(Scope::Page).table(Table::new(columns, rows)))
}

/// Lines that are no keys.
pub fn rejected(summary: &Summary) -> Option<Section<'_>> {
    let rejected = &summary.input.rejected;
    let rows = rejected.first.iter().map(|reject| {
        vec![
            Cell::name(&reject.file),
            Cell::of(reject.line, Cell::count),
            Cell::count(reject.byte),
            Cell::text(truncated(&reject.reason, REASON)),
        ]
    });
    let columns = vec![
        Column::words("file").flexible(),
        Column::number("line"),
        Column::number("byte"),
        Column::words("what is wrong with it"),
    ];
    let title = format!("{} that are no keys", counted(rejected.count, "line"));
    let section = Section::titled(title).anchored("rejected", "");
    let section = section.table(Table::new(columns, rows));
    (rejected.count > 0).then_some(section)
}

/// Where reading ended early, warnings, and what the formats cannot show.
pub fn remarks(summary: &Summary) -> Option<Section<'_>> {
    let input = &summary.input;
    let remarks = of_any::remarks(&input.warnings, &input.notes);
    let section = Section::untitled().scoped(Scope::Overview);
    Some(section.with_all(of_any::incomplete(&input.incomplete).chain(remarks)))
}
