//! Ready-made counts: answers to CLUSTER SLOT-STATS are taken over, not scanned.

use std::collections::BTreeMap;
use std::io::Read;

use crate::error::{Error, Result};
use crate::format::Seen;
use crate::name::Name;
use crate::scan::{Scanned, SeenInput};
use crate::source::{Source, small_file, stream};
use crate::tally::rejects::Rejects;
use crate::tally::slots_by_input::SlotsByInput;
use crate::tally::{Parts, Tallies, slot_stats};

/// The counts of all inputs; `None` where they are key dumps. `ops` is the statistic that counts as operations.
///
/// # Errors
/// Some inputs are key dumps and some are not, two tell of one slot, or one cannot be read.
pub fn take(inputs: &[Box<dyn Source>], ops: Option<&str>) -> Result<Option<Scanned<Tallies>>> {
    let ready_made = inputs
        .iter()
        .map(|input| is_ready_made(&**input))
        .collect::<Result<Vec<_>>>()?;
    if !ready_made.contains(&true) {
        return Ok(None);
    }
    if let Some(dump) = ready_made.iter().position(|ready_made| !ready_made) {
        let what = "is a key dump and another input is CLUSTER SLOT-STATS: analyze them apart, they count the same keys";
        return Err(bad(&*inputs[dump], what.into()));
    }
    let mut tally = Tallies::new(Parts::Slots);
    tally.inputs = SlotsByInput::new(inputs.len());
    let mut seen = Vec::new();
    let mut told: BTreeMap<u16, usize> = BTreeMap::new();
    for (index, input) in inputs.iter().map(|input| &**input).enumerate() {
        let text = read(input)?;
        for slot in slot_stats::slots(&text) {
            tally.inputs.note(index, slot);
            if let Some(other) = told.insert(slot, index) {
                let other = Name::from(inputs[other].path());
                let what = format!(
                    "slot {slot} is in \"{other}\" as well: one file of each primary, none of a replica"
                );
                return Err(bad(input, what));
            }
        }
        let keys = slot_stats::add(&mut tally, &text, ops).map_err(|what| bad(input, what))?;
        seen.push(SeenInput {
            format: slot_stats::NAME,
            bytes: text.len() as u64,
            seen: Seen::of_keys(keys),
        });
    }
    Ok(Some(Scanned {
        tally,
        inputs: seen,
        incomplete: Vec::new(),
        rejects: Rejects::default(),
    }))
}

/// Only files: the start of a pipe could not be read again.
fn is_ready_made(input: &dyn Source) -> Result<bool> {
    if !input.is_rereadable() {
        return Ok(false);
    }
    let mut head = Vec::new();
    stream::open(input)?
        .take(512)
        .read_to_end(&mut head)
        .map_err(|error| Error::io(input.path(), error))?;
    Ok(slot_stats::is_one(&head))
}

fn read(input: &dyn Source) -> Result<Vec<u8>> {
    let too_long = "is longer than any answer to CLUSTER SLOT-STATS";
    let reader = stream::open(input)?;
    small_file::read_from(reader, input.path(), slot_stats::MAX_BYTES, too_long)
}

fn bad(input: &dyn Source, what: String) -> Error {
    Error::bad(Name::from(input.path()).to_string(), what)
}
