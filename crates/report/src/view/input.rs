//! The input: files, rejected rows, and possible faults.

use slotscope_engine::name::Name;
use slotscope_engine::text::{and_more, bytes, counted, grouped, truncated};
use slotscope_model::{FileFacts, InputFacts, Summary};

use crate::view::remarks as of_any;
use crate::view::{Block, Cell, Column, Scope, Section, Table};

/// Maximum characters of the reason for a rejected line, which may quote it.
const REASON: usize = 400;
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
        "{} in {} of 16,384 slots, from {from} ({})",
        what_was_read(summary),
        grouped(taken),
        bytes(input.bytes_read)
    );
    Some(Section::untitled().scoped(Scope::Overview).paragraph(text))
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

/// Doubts about the input, if space is short.
pub(crate) fn read(summary: &Summary) -> Option<Section<'_>> {
    let doubts: Vec<Block<'_>> = first_doubts(&summary.input).collect();
    (!doubts.is_empty()).then(|| Section::untitled().with_all(doubts))
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
    Some(section.with_all(first_doubts(&summary.input)))
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
