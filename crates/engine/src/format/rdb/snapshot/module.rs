//! Values of modules: numbers and strings with their forms, up to an end.

use crate::format::frame::fault::{Read, wrong};
use crate::format::rdb::snapshot::elements::Elements;
use crate::format::rdb::snapshot::kind::module_type;
use crate::format::rdb::snapshot::memory::{Footprint, Vectors};
use crate::format::rdb::snapshot::text::Texts;
use crate::source::forward::Forward;

/// The module whose values say how large they are.
const VECTORS: &str = "vectorset";

/// Forms of what follows.
const END: u64 = 0;
const SIGNED: u64 = 1;
const UNSIGNED: u64 = 2;
const FLOAT: u64 = 3;
const DOUBLE: u64 = 4;
const STRING: u64 = 5;

/// A part of what a module wrote.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    /// An unsigned number.
    Unsigned(u64),
    /// A string of this many bytes.
    Text(u64),
}

/// Passes over the value of a module; the number of its type, and how many elements it has.
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

/// Passes over what a module wrote, to its end; the parts of it that say how large it is are handed on.
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
            other => return wrong(at, format!("a module's value of unknown form, {other}")),
        }
    }
}
