//! Module values: tagged numbers and strings up to an end mark.

use crate::format::frame::fault::{Read, wrong};
use crate::format::rdb::snapshot::elements::Elements;
use crate::format::rdb::snapshot::kind::module_type;
use crate::format::rdb::snapshot::memory::{Footprint, Vectors};
use crate::source::forward::Forward;

/// The module whose values reveal their size.
const VECTORS: &str = "vectorset";

/// Tags of the parts.
const END: u64 = 0;
const SIGNED: u64 = 1;
const UNSIGNED: u64 = 2;
const FLOAT: u64 = 3;
const DOUBLE: u64 = 4;
const STRING: u64 = 5;

/// A part of a module value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    /// An unsigned number.
    Unsigned(u64),
    /// A string of this many bytes.
    Text(u64),
}

/// Skips a module value; returns the number of its type, and its number of elements.
pub(super) fn pass(input: &mut Forward, memory: &mut Footprint) -> Read<(u64, Elements)> {
    let number = input.length()?;
    if module_type(number) != VECTORS {
        pass_parts(input, |_| ())?;
        return Ok((number, Elements::Unknown));
    }
    let mut vectors = Vectors::default();
    pass_parts(input, |part| memory.vector_part(&mut vectors, part))?;
    memory.vectors(&vectors);
    Ok((
        number,
        vectors
            .elements()
            .map_or(Elements::Unknown, Elements::Known),
    ))
}

/// Skips a module value up to its end, passing the parts that determine its size to `take`.
pub(super) fn pass_parts(input: &mut Forward, mut take: impl FnMut(Part)) -> Read<()> {
    loop {
        let at = input.offset();
        match input.length()? {
            END => return Ok(()),
            SIGNED => drop(input.length()?),
            UNSIGNED => take(Part::Unsigned(input.length()?)),
            FLOAT => input.skip(4)?,
            DOUBLE => input.skip(8)?,
            STRING => take(Part::Text(input.skip_string()?.len())),
            form => return wrong(at, format!("a module's value of unknown form, {form}")),
        }
    }
}
