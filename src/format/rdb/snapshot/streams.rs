//! Streams: packed entries, how many there are, and the consumer groups.

use crate::format::rdb::snapshot::fault::Read;
use crate::format::rdb::snapshot::kind::StreamForm;
use crate::format::rdb::snapshot::memory::Footprint;
use crate::format::rdb::snapshot::text::Texts;
use crate::source::forward::Forward;

/// Bytes of an id that is not written as two lengths.
const ID: u64 = 16;

/// Bytes of a time.
const TIME: u64 = 8;

/// Passes over a stream; how many entries it has.
pub fn pass(input: &mut Forward, form: StreamForm, memory: &mut Footprint) -> Read<u64> {
    repeat(input, |input| {
        input.skip_string()?;
        memory.stream_node(input.skip_string()?.len());
        Ok(())
    })?;
    let entries = input.length()?;
    // The last id; the first one, the last deleted one and how many were ever added.
    lengths(input, 2)?;
    if form >= StreamForm::Offsets {
        lengths(input, 5)?;
    }
    repeat(input, |input| group(input, form, memory))?;
    if form >= StreamForm::Producers {
        producers(input)?;
    }
    Ok(entries)
}

fn group(input: &mut Forward, form: StreamForm, memory: &mut Footprint) -> Read<()> {
    input.skip_string()?;
    memory.group();
    lengths(input, 2)?;
    if form >= StreamForm::Offsets {
        lengths(input, 1)?;
    }
    // What was delivered and not acknowledged: id, when, how often.
    repeat(input, |input| {
        input.skip(ID + TIME)?;
        memory.pending();
        lengths(input, 1)
    })?;
    repeat(input, |input| {
        memory.group();
        consumer(input, form)
    })?;
    if form >= StreamForm::Refused {
        repeat(input, |input| Ok(input.skip(ID)?))?;
    }
    Ok(())
}

fn consumer(input: &mut Forward, form: StreamForm) -> Read<()> {
    input.skip_string()?;
    let times = if form >= StreamForm::Activity { 2 } else { 1 };
    input.skip(times * TIME)?;
    repeat(input, |input| Ok(input.skip(ID)?))
}

/// Limits, and of each producer the ids that were seen.
fn producers(input: &mut Forward) -> Read<()> {
    lengths(input, 2)?;
    repeat(input, |input| {
        input.skip_string()?;
        repeat(input, |input| {
            input.skip_string()?;
            lengths(input, 2)
        })
    })?;
    lengths(input, 2)
}

/// A count, and so many times what `each` passes over.
fn repeat(input: &mut Forward, mut each: impl FnMut(&mut Forward) -> Read<()>) -> Read<()> {
    let count = input.length()?;
    (0..count).try_for_each(|_| each(input))
}

fn lengths(input: &mut Forward, count: u64) -> Read<()> {
    (0..count).try_for_each(|_| input.length().map(drop))
}
