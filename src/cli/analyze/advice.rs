//! Hash tags suggested by the commands among the inputs: the advice of `slotscope advise`, in the report.

use slotscope_advisor::batches::Batches;
use slotscope_advisor::decision::LEAST_BATCHES;
use slotscope_advisor::model::Model;
use slotscope_advisor::retagged::{Retagged, SlotsMoved};
use slotscope_advisor::spelling::Renaming;
use slotscope_engine::error::Result;
use slotscope_engine::metric::Metric;
use slotscope_engine::slot::policy::Policy;
use slotscope_engine::source::Source;
use slotscope_engine::tally::Tally;
use slotscope_topology::Topology;

use crate::advise::{AdviseSpec, advise_and, names_in, owners};
use crate::cli::advise::captures_of;
use crate::cli::fanout::Read;
use crate::fanout::{Fanout, Lines};
use crate::pipeline::beside::Beside;
use crate::pipeline::counted::{Advised, CountedInputs};
use crate::pipeline::reading::Reading;

/// Bytes of captures read for commands, in total and at least per capture. One thread reads them while a larger capture
/// is being counted.
const CAPTURED: u64 = 8 << 20;
const CAPTURED_OF_EACH: u64 = 1 << 20;
/// Maximum patterns a report lists: those that a scheme may change.
const LISTED: usize = 256;

/// Adds advice to the counts if the inputs include captures with multi-key commands. All inputs are then read once
/// more.
///
/// # Errors
/// An input cannot be reread; `Cancelled`.
pub(super) fn added(mut counted: CountedInputs, metric: Option<Metric>) -> Result<CountedInputs> {
    let topology = counted.nodes();
    let Some(reading) = counted.again() else {
        return Ok(counted);
    };
    // Counts by slot have no names.
    Beside::take_from(reading)?;
    let captures = captures_of(reading)?;
    let (batches, first_bytes) = batches_of(&captures, &topology)?;
    if !batches.has_several(LEAST_BATCHES) {
        return Ok(counted);
    }
    let spec = AdviseSpec {
        owners: owners(&topology),
        by: metric.unwrap_or(Metric::Bytes),
        keep: Vec::new(),
        together: Vec::new(),
    };
    let reading = &*reading;
    let names = Some(reading)
        .filter(|reading| !reading.sources.is_empty())
        .map(|reading| names_in(reading, spec.by).map(|names| (reading, names)))
        .transpose()?;
    let (mut findings, moved) = advise_and(names, &batches, &spec, |model, decision| {
        let is_change = decision.is_change();
        let renaming = &decision.best().renaming;
        is_change
            .then(|| moved(reading, &captures, model, renaming))
            .transpose()
    })?;
    findings.families.truncate(LISTED);
    findings.first_bytes = first_bytes;
    Ok(counted.advised(Some(Advised { findings, moved })))
}

/// The commands at the start of each capture, and the bytes they cover unless that is everything.
fn batches_of(captures: &[Box<dyn Source>], topology: &Topology) -> Result<(Batches, Option<u64>)> {
    let of_each = CAPTURED / captures.len().max(1) as u64;
    let most = of_each.max(CAPTURED_OF_EACH);
    let mut fanout = Fanout::new(topology, &Policy::Oss, Lines::Auto).only_keeping();
    let mut read = Read::up_to(most);
    for (index, capture) in captures.iter().enumerate() {
        read.input(&**capture, index as u32, Lines::Auto, &mut fanout)?;
    }
    Ok((fanout.take_batches(), read.is_cut.then_some(most)))
}

/// The effect of the tags on the keys and on their operations.
fn moved(
    reading: &Reading,
    captures: &[Box<dyn Source>],
    model: &Model<'_>,
    renaming: &Renaming,
) -> Result<SlotsMoved> {
    let make = || Retagged::new(model, renaming);
    let mut counted = reading.scan("trying other tags", make)?.tally;
    let of_captures = reading.with_scan("trying other tags", |scan| scan.run(captures, make))?;
    counted.merge(of_captures.tally);
    Ok(counted.moved())
}
