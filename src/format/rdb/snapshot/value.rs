//! Values: passed over by their lengths; how many elements each has is counted on the way.

use std::collections::HashMap;

use crate::format::rdb::snapshot::elements::Elements;
use crate::format::rdb::snapshot::fault::{Fault, Read, wrong};
use crate::format::rdb::snapshot::kind::{Layout, Packing, StreamForm};
use crate::format::rdb::snapshot::packed::{self, Entries};
use crate::format::rdb::snapshot::text::{Stored, Texts};
use crate::format::rdb::snapshot::{module, streams};
use crate::source::forward::Forward;

/// The longest packed string whose entries are counted one by one.
const MAX_COUNTED: u64 = 64 << 20;

/// Bytes of a string up to which it is in one block with its object.
const EMBEDDED: u64 = 44;

/// The names of fields that hashes share: how many each template has, by its number.
pub type Templates = HashMap<u64, u64>;

/// What was learned of a value in passing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Value {
    /// How many elements it has.
    pub elements: Elements,
    /// How a server stores it, where its content decides that.
    pub encoding: Option<&'static str>,
    /// The number of its type, where a module has it.
    pub module: Option<u64>,
}

/// Passes over a value.
pub fn pass(input: &mut Forward, layout: Layout, templates: &Templates) -> Read<Value> {
    let elements = match layout {
        Layout::Text => return text(input),
        Layout::Module => {
            let (number, elements) = module::pass(input)?;
            return Ok(Value {
                elements,
                encoding: None,
                module: Some(number),
            });
        }
        Layout::Strings(each) => repeated(input, |input| strings(input, each))?,
        Layout::Scores { binary: true } => repeated(input, |input| {
            input.skip_string()?;
            Ok(input.skip(8)?)
        })?,
        Layout::Scores { binary: false } => repeated(input, |input| {
            input.skip_string()?;
            skip_text_score(input)
        })?,
        Layout::Packed(packing, each) => packed_elements(input, packing)?.of(each),
        Layout::Nodes(packing) => summed(input, |input| packed_elements(input, packing))?,
        Layout::Containers => summed(input, container)?,
        Layout::Stream(form) => stream(input, form)?,
        Layout::FieldsThenExpiry => repeated(input, |input| {
            strings(input, 2)?;
            Ok(input.skip(8)?)
        })?,
        Layout::ExpiryThenFields { first } => {
            skip_first_expiry(input, first)?;
            repeated(input, |input| {
                input.length()?;
                strings(input, 2)
            })?
        }
        Layout::PackedExpiry { first } => {
            skip_first_expiry(input, first)?;
            packed_elements(input, Packing::Listpack)?.of(3)
        }
        Layout::Array => array(input)?,
        Layout::TemplateNames => {
            template_names(input)?;
            template_values(input)?
        }
        Layout::TemplateValues => template_values(input)?,
        Layout::TemplateFields => {
            input.length()?;
            let fields = input.length()?;
            strings(input, fields)?;
            strings(input, fields)?;
            Elements::Known(fields)
        }
        Layout::TemplateRef => {
            let at = input.offset();
            let number = input.length()?;
            let Some(fields) = templates.get(&number) else {
                return wrong(
                    at,
                    format!("a hash of template {number}, which is not defined"),
                );
            };
            strings(input, *fields)?;
            Elements::Known(*fields)
        }
    };
    Ok(Value {
        elements,
        encoding: None,
        module: None,
    })
}

/// Passes over a string, which is one element.
fn text(input: &mut Forward) -> Read<Value> {
    let stored = input.stored()?;
    let start = input.start_of(stored)?;
    input.skip(stored.bytes_behind())?;
    let encoding = match stored.len() {
        _ if is_integer(stored, &start) => "int",
        ..=EMBEDDED => "embstr",
        _ => "raw",
    };
    Ok(Value {
        elements: Elements::Known(1),
        encoding: Some(encoding),
        module: None,
    })
}

/// Whether a server stores a string as a number: it is how a signed integer of 64 bits is spelled.
fn is_integer(stored: Stored, start: &[u8]) -> bool {
    let spelled = || {
        let text = std::str::from_utf8(start).ok()?;
        let number: i64 = text.parse().ok()?;
        Some(number.to_string() == text)
    };
    match stored {
        Stored::Integer(_) => true,
        Stored::Bytes(len) if len <= 20 => spelled() == Some(true),
        _ => false,
    }
}

fn strings(input: &mut Forward, count: u64) -> Read<()> {
    (0..count).try_for_each(|_| input.skip_string().map(drop))
}

/// A count, and so many elements.
fn repeated(
    input: &mut Forward,
    mut element: impl FnMut(&mut Forward) -> Read<()>,
) -> Read<Elements> {
    let count = input.length()?;
    (0..count).try_for_each(|_| element(input))?;
    Ok(Elements::Known(count))
}

/// A count, and so many parts with elements of their own.
fn summed(
    input: &mut Forward,
    mut part: impl FnMut(&mut Forward) -> Read<Elements>,
) -> Read<Elements> {
    let count = input.length()?;
    (0..count).try_fold(Elements::Known(0), |all, _| Ok(all.plus(part(input)?)))
}

/// A length and that many digits; three lengths mean numbers that have none.
fn skip_text_score(input: &mut Forward) -> Read<()> {
    match input.byte()? {
        253.. => Ok(()),
        digits => Ok(input.skip(digits.into())?),
    }
}

fn skip_first_expiry(input: &mut Forward, is_there: bool) -> Read<()> {
    Ok(input.skip(if is_there { 8 } else { 0 })?)
}

/// A packed string, or an element alone.
fn container(input: &mut Forward) -> Read<Elements> {
    let at = input.offset();
    match input.length()? {
        1 => input.skip_string().map(|_| Elements::Known(1)),
        2 => packed_elements(input, Packing::Listpack),
        other => wrong(at, format!("a list node of unknown form, {other}")),
    }
}

/// Passes over a packed string; how many entries it has. Only where its head does not say that, all of it is read.
fn packed_elements(input: &mut Forward, packing: Packing) -> Read<Elements> {
    let stored = input.stored()?;
    let head = input.start_of(stored)?;
    match packed::entries(packing, &head, stored.len()) {
        Entries::Uncounted if stored.len() <= MAX_COUNTED => {
            let mut whole = Vec::new();
            match input.stored_string(stored, &mut whole, MAX_COUNTED) {
                Ok(()) => {}
                Err(Fault::Wrong(..)) => return Ok(Elements::Damaged),
                Err(fault) => return Err(fault),
            }
            let counted = packed::counted(packing, &whole);
            Ok(counted.map_or(Elements::Damaged, Elements::Known))
        }
        entries => {
            input.skip(stored.bytes_behind())?;
            Ok(match entries {
                Entries::Known(count) => Elements::Known(count),
                Entries::Uncounted => Elements::Unknown,
                Entries::Damaged => Elements::Damaged,
            })
        }
    }
}

fn stream(input: &mut Forward, form: StreamForm) -> Read<Elements> {
    streams::pass(input, form).map(Elements::Known)
}

/// Numbered elements: where each is, and a string or eight bytes.
fn array(input: &mut Forward) -> Read<Elements> {
    let count = input.length()?;
    let at = input.offset();
    match input.length()? {
        0 => {}
        1 => drop(input.length()?),
        other => return wrong(at, format!("an array of unknown form, {other}")),
    }
    for _ in 0..count {
        input.length()?;
        let at = input.offset();
        match input.length()? {
            0 | 3 => drop(input.skip_string()?),
            1 | 2 => input.skip(8)?,
            other => return wrong(at, format!("an element of unknown form, {other}")),
        }
    }
    Ok(Elements::Known(count))
}

fn template_names(input: &mut Forward) -> Read<()> {
    let at = input.offset();
    match input.length()? {
        0 => input.skip_string().map(drop),
        1 => {
            let fields = input.length()?;
            strings(input, fields)
        }
        other => wrong(at, format!("names of a template in unknown form, {other}")),
    }
}

/// Packed values behind the number of their template.
fn template_values(input: &mut Forward) -> Read<Elements> {
    Ok(match packed_elements(input, Packing::Listpack)? {
        Elements::Known(entries) => Elements::Known(entries.saturating_sub(1)),
        other => other,
    })
}
