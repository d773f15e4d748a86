//! Streams: packed entries, their number, and consumer groups.

use crate::format::frame::fault::Read;
use crate::format::rdb::snapshot::kind::StreamForm;
use crate::format::rdb::snapshot::memory::Footprint;
use crate::format::rdb::snapshot::text::Stored;
use crate::format::rdb::snapshot::tree::{ID, Tree};
use crate::source::forward::Forward;

/// Bytes of a time.
const TIME: u64 = 8;

/// Skips a stream; returns its number of entries.
pub(super) fn pass(input: &mut Forward, form: StreamForm, memory: &mut Footprint) -> Read<u64> {
    let mut tree = memory.tree();
    repeat(input, |input| {
        first_id(input, &mut tree)?;
        memory.stream_node(input.skip_string()?.len());
        Ok(())
    })?;
    memory.stream(tree);
    let entries = input.length()?;
    // The last id; then the first id, the last deleted id, and the number of entries ever added.
    lengths(input, 2)?;
    if form >= StreamForm::Offsets {
        lengths(input, 5)?;
    }
    let mut pending: Option<Tree> = None;
    repeat(input, |input| {
        let of_group = group(input, form, memory)?;
        // Groups usually have the same pending entries.
        pending = match pending.take() {
            Some(most) if most.len() >= of_group.len() => Some(most),
            _ => Some(of_group),
        };
        Ok(())
    })?;
    memory.groups(pending);
    if form >= StreamForm::Producers {
        producers(input)?;
    }
    Ok(entries)
}

/// The first id of a block of entries, its key in the tree.
fn first_id(input: &mut Forward, tree: &mut Tree) -> Read<()> {
    match input.stored()? {
        Stored::Bytes(len) if len == ID as u64 => tree.add(input.array()?),
        stored => input.skip(stored.bytes_behind())?,
    }
    Ok(())
}

/// Skips a group; returns its pending entries.
fn group(input: &mut Forward, form: StreamForm, memory: &mut Footprint) -> Read<Tree> {
    let name = input.skip_string()?.len();
    lengths(input, 2)?;
    if form >= StreamForm::Offsets {
        lengths(input, 1)?;
    }
    // Pending entries: id, delivery time, delivery count.
    let mut pending = memory.tree();
    repeat(input, |input| {
        pending.add(input.array()?);
        input.skip(TIME)?;
        lengths(input, 1)
    })?;
    memory.group(name, pending.clone());
    repeat(input, |input| consumer(input, form, memory))?;
    if form >= StreamForm::Refused {
        repeat(input, |input| Ok(input.skip(ID as u64)?))?;
    }
    Ok(pending)
}

fn consumer(input: &mut Forward, form: StreamForm, memory: &mut Footprint) -> Read<()> {
    let name = input.skip_string()?.len();
    let times = if form >= StreamForm::Activity { 2 } else { 1 };
    input.skip(times * TIME)?;
    let mut pending = memory.tree();
    repeat(input, |input| {
        pending.add(input.array()?);
        Ok(())
    })?;
    memory.consumer(name, times, pending);
    Ok(())
}

/// Limits, then the ids seen per producer.
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

/// A count, then that many items skipped by `each`.
fn repeat(input: &mut Forward, mut each: impl FnMut(&mut Forward) -> Read<()>) -> Read<()> {
    let count = input.length()?;
    (0..count).try_for_each(|_| each(input))
}

fn lengths(input: &mut Forward, count: u64) -> Read<()> {
    (0..count).try_for_each(|_| input.length().map(drop))
}
