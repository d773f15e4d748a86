//! The output files of `slotscope capacity --out`.

use std::io::{self, Write};

use slotscope_report::json;
use slotscope_report::output::OutputSet;
use slotscope_report::output::Written;
use slotscope_report::render::csv;
use slotscope_report::render::html::sections;

use crate::capacity::picture;
use crate::capacity::wording::scope;
use crate::capacity::{Capacity, table, view};

/// Rows of a table of the page.
const ROWS: usize = 40;

/// The files.
pub(crate) fn outputs() -> OutputSet<Capacity> {
    OutputSet::marked("\"schema\":\"slotscope.capacity/")
        .file("capacity.json", |review, out| {
            json::write_object(review, out)
        })
        .file("capacity.html", page)
        .file("capacity.csv", |review, out| {
            csv::write(&table::rows(review), out)
        })
        .maybe("capacity.png", |review, out| png(review, out))
}

/// The chart, if there is one: it needs two reports.
///
/// # Errors
/// `out` cannot be written.
pub fn png(review: &Capacity, out: &mut dyn Write) -> io::Result<Written> {
    let Some(figure) = picture::figure(review) else {
        return Ok(Written::Nothing);
    };
    let sheet = slotscope_report::charts::Sheet::figure(figure, scope(review));
    sheet.write(out).map(|()| Written::Whole)
}

fn page(review: &Capacity, out: &mut dyn Write) -> io::Result<()> {
    let frame = sections::Frame {
        title: &view::title(review),
        sentence: &review.sentence,
        notes: &review.notes,
        rows: ROWS,
    };
    sections::write(&frame, &view::sections(review), out)
}
