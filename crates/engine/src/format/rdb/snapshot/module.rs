//! Values of modules: numbers and strings with their forms, up to an end.

use crate::format::fault::{Read, wrong};
use crate::format::rdb::snapshot::elements::Elements;
use crate::format::rdb::snapshot::kind::module_type;
use crate::format::rdb::snapshot::text::Texts;
use crate::source::forward::Forward;

/// The module whose second number is how many elements a value has.
const VECTORS: &str = "vectorset";

/// Forms of what follows.
const END: u64 = 0;
const SIGNED: u64 = 1;
const UNSIGNED: u64 = 2;
const FLOAT: u64 = 3;
const DOUBLE: u64 = 4;
const STRING: u64 = 5;

/// Passes over the value of a module; the number of its type, and how many elements it has.
pub(super) fn pass(input: &mut Forward) -> Read<(u64, Elements)> {
    let number = input.length()?;
    let mut numbers = (0, None);
    pass_parts(input, |unsigned| {
        numbers.0 += 1;
        if numbers.0 == 2 {
            numbers.1 = Some(unsigned);
        }
    })?;
    let is_counted = module_type(number) == VECTORS;
    let count = numbers.1.filter(|_| is_counted);
    Ok((number, count.map_or(Elements::Unknown, Elements::Known)))
}

/// Passes over what a module wrote, to its end; the unsigned numbers of it are handed on.
pub(super) fn pass_parts(input: &mut Forward, mut unsigned: impl FnMut(u64)) -> Read<()> {
    loop {
        let at = input.offset();
        match input.length()? {
            END => return Ok(()),
            SIGNED => drop(input.length()?),
            UNSIGNED => unsigned(input.length()?),
            FLOAT => input.skip(4)?,
            DOUBLE => input.skip(8)?,
            STRING => drop(input.skip_string()?),
            other => return wrong(at, format!("a module's value of unknown form, {other}")),
        }
    }
}
