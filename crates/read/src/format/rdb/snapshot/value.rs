//! Skips values by their lengths and counts their elements.

use std::collections::HashMap;

use crate::format::frame::fault::{Fault, Read, wrong};
use crate::format::rdb::snapshot::elements::Elements;
use crate::format::rdb::snapshot::kind::{Layout, Packing};
use crate::format::rdb::snapshot::memory::{Array, Footprint};
use crate::format::rdb::snapshot::packed;
use crate::format::rdb::snapshot::text::Stored;
use crate::format::rdb::snapshot::{module, streams};
use crate::source::forward::Forward;

/// Longer packed strings are not walked to count entries.
const MAX_COUNTED: u64 = 16 << 20;

/// The longest decimal form of a signed 64-bit integer.
const LONGEST_NUMBER: u64 = 20;

/// A list up to this many bytes is a single packed string.
const SHORT_LIST: u64 = 8 << 10;

/// Field counts of the templates that hashes share, by template number.
pub(super) type Templates = HashMap<u64, u64>;

/// Facts about a file that values depend on.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub templates: &'a Templates,
    /// Whether the server stores a short list without nodes, as those of RDB version 11 and later do.
    pub packs_lists: bool,
}

/// Facts learned while skipping a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Value {
    /// The number of its elements.
    pub elements: Elements,
    /// Its encoding in a server, if its content decides that; for a string, its key matters too.
    pub encoding: Option<&'static str>,
    /// The number of its type, if it is a module's.
    pub module: Option<u64>,
}

/// Skips a value and adds up its memory.
pub(super) fn pass(
    input: &mut Forward,
    layout: Layout,
    context: Context<'_>,
    memory: &mut Footprint,
) -> Read<Value> {
    memory.clear();
    let elements = match layout {
        Layout::Text => return text(input, memory),
        Layout::Module => {
            let (number, elements) = module::pass(input, memory)?;
            return Ok(Value {
                elements,
                // OBJECT ENCODING replies this for module values; the one type that counts its elements has its own.
                encoding: elements.known().map(|_| "raw"),
                module: Some(number),
            });
        }
        Layout::Members => repeated(input, |input| {
            memory.member(input.skip_string()?.len());
            Ok(())
        })?,
        Layout::Elements => {
            memory.list();
            repeated(input, |input| {
                memory.node(input.skip_string()?.len());
                Ok(())
            })?
        }
        Layout::Fields => repeated(input, |input| field(input, None, memory))?,
        Layout::Scores { binary } => repeated(input, |input| {
            memory.scored(input.skip_string()?.len());
            if binary {
                Ok(input.skip(8)?)
            } else {
                skip_text_score(input)
            }
        })?,
        Layout::Packed(packing, each) => {
            let (entries, len) = packed_elements(input, packing)?;
            memory.packed(len, false);
            entries.of(each)
        }
        Layout::Nodes(packing) => {
            memory.list();
            summed(input, |input| node(input, packing, memory))?
        }
        Layout::Containers => return list(input, context.packs_lists, memory),
        Layout::Stream(form) => Elements::Known(streams::pass(input, form, memory)?),
        Layout::FieldsThenExpiry => repeated(input, |input| {
            let lengths = [input.skip_string()?.len(), input.skip_string()?.len()];
            let expires = u64::try_from(input.int64()?).ok();
            memory.field(lengths[0], lengths[1], expires);
            Ok(())
        })?,
        Layout::WithExpiry { fields } => repeated(input, |input| {
            let member = input.skip_string()?.len();
            if fields {
                memory.field(member, input.skip_string()?.len(), Some(0));
            } else {
                memory.member(member);
            }
            input.skip_string().map(drop)
        })?,
        Layout::ExpiryThenFields { first } => {
            skip_first_expiry(input, first)?;
            repeated(input, |input| {
                let expires = Some(input.length()?).filter(|at| *at != 0);
                field(input, expires, memory)
            })?
        }
        Layout::PackedExpiry { first } => {
            skip_first_expiry(input, first)?;
            let (entries, len) = packed_elements(input, Packing::Listpack)?;
            memory.packed(len, true);
            entries.of(3)
        }
        Layout::Array => array(input, memory)?,
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
            let Some(fields) = context.templates.get(&number) else {
                let message = format!("a hash of template {number}, which is not defined");
                return wrong(at, message);
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

/// Skips a string, which is one element.
fn text(input: &mut Forward, memory: &mut Footprint) -> Read<Value> {
    let stored = input.stored()?;
    let is_number = match stored {
        Stored::Integer(_) => true,
        Stored::Bytes(len @ ..=LONGEST_NUMBER) => is_number(input.peek(len as usize)?),
        _ => false,
    };
    input.skip(stored.bytes_behind())?;
    memory.text((!is_number).then_some(stored.len()));
    Ok(Value {
        elements: Elements::Known(1),
        encoding: None,
        module: None,
    })
}

/// Whether a server stores a string as an integer: a canonical signed 64-bit decimal.
#[inline]
pub(super) fn is_number(text: &[u8]) -> bool {
    match text {
        [b'0'] => true,
        [b'1'..=b'9', ..] | [b'-', b'1'..=b'9', ..] if text.len() as u64 <= LONGEST_NUMBER => {
            let text = std::str::from_utf8(text).ok();
            text.is_some_and(|text| text.parse::<i64>().is_ok())
        }
        _ => false,
    }
}

fn strings(input: &mut Forward, count: u64) -> Read<()> {
    (0..count).try_for_each(|_| input.skip_string().map(drop))
}

/// A count, then that many elements.
fn repeated(
    input: &mut Forward,
    mut element: impl FnMut(&mut Forward) -> Read<()>,
) -> Read<Elements> {
    let count = input.length()?;
    (0..count).try_for_each(|_| element(input))?;
    Ok(Elements::Known(count))
}

/// A count, then that many parts with several elements each.
fn summed(
    input: &mut Forward,
    mut part: impl FnMut(&mut Forward) -> Read<Elements>,
) -> Read<Elements> {
    let count = input.length()?;
    (0..count).try_fold(Elements::Known(0), |sum, _| Ok(sum.plus(part(input)?)))
}

/// A length, then that many digits; three special lengths denote values without digits.
fn skip_text_score(input: &mut Forward) -> Read<()> {
    match input.byte()? {
        253.. => Ok(()),
        digits => Ok(input.skip(digits.into())?),
    }
}

fn skip_first_expiry(input: &mut Forward, is_there: bool) -> Read<()> {
    Ok(input.skip(if is_there { 8 } else { 0 })?)
}

/// A list of nodes; a short one is loaded as one packed string.
fn list(input: &mut Forward, packs_lists: bool, memory: &mut Footprint) -> Read<Value> {
    memory.list();
    let (mut nodes, mut packed_bytes) = (0u64, None);
    let elements = summed(input, |input| {
        let (elements, packed) = container(input, memory)?;
        (nodes, packed_bytes) = (nodes + 1, packed);
        Ok(elements)
    })?;
    let short = packed_bytes.filter(|len| packs_lists && nodes == 1 && *len <= SHORT_LIST);
    if let Some(len) = short {
        memory.clear();
        memory.packed(len, false);
    }
    Ok(Value {
        elements,
        encoding: short.map(|_| "listpack"),
        module: None,
    })
}

/// A field of a hash and its value.
fn field(input: &mut Forward, expires: Option<u64>, memory: &mut Footprint) -> Read<()> {
    let field = input.skip_string()?.len();
    memory.field(field, input.skip_string()?.len(), expires);
    Ok(())
}

/// A list node that is a packed string.
fn node(input: &mut Forward, packing: Packing, memory: &mut Footprint) -> Read<Elements> {
    let (entries, len) = packed_elements(input, packing)?;
    memory.node(len);
    Ok(entries)
}

/// A list node: packed, with its size in bytes, or a single element.
fn container(input: &mut Forward, memory: &mut Footprint) -> Read<(Elements, Option<u64>)> {
    let at = input.offset();
    match input.length()? {
        1 => {
            memory.node(input.skip_string()?.len());
            Ok((Elements::Known(1), None))
        }
        2 => {
            let (elements, len) = packed_elements(input, Packing::Listpack)?;
            memory.node(len);
            Ok((elements, Some(len)))
        }
        form => wrong(at, format!("a list node of unknown form, {form}")),
    }
}

/// Skips a packed string; returns its entries and bytes. It is read entirely only if its head lacks the count.
fn packed_elements(input: &mut Forward, packing: Packing) -> Read<(Elements, u64)> {
    let stored = input.stored()?;
    let (head, len) = (input.start_of(stored)?, stored.len());
    let entries = packed::entries(packing, &head, len);
    if entries == Elements::Unknown && len <= MAX_COUNTED {
        return Ok((counted(input, stored, packing)?, len));
    }
    input.skip(stored.bytes_behind())?;
    Ok((entries, len))
}

/// Reads a packed string and counts its entries.
fn counted(input: &mut Forward, stored: Stored, packing: Packing) -> Read<Elements> {
    let mut whole = Vec::new();
    match input.stored_string(stored, &mut whole, MAX_COUNTED) {
        Ok(()) => {
            let count = packed::counted(packing, &whole);
            Ok(count.map_or(Elements::Damaged, Elements::Known))
        }
        Err(Fault::Wrong(..)) => Ok(Elements::Damaged),
        Err(fault) => Err(fault),
    }
}

/// Indexed elements: the index, then a string or eight bytes.
fn array(input: &mut Forward, memory: &mut Footprint) -> Read<Elements> {
    let count = input.length()?;
    let at = input.offset();
    match input.length()? {
        0 => {}
        1 => drop(input.length()?),
        form => return wrong(at, format!("an array of unknown form, {form}")),
    }
    let mut array = Array::default();
    for _ in 0..count {
        let place = input.length()?;
        let at = input.offset();
        let text = match input.length()? {
            0 => Some(input.skip_string()?.len()),
            // Up to seven bytes are stored in place of the string pointer.
            3 => {
                input.skip_string()?;
                None
            }
            1 | 2 => {
                input.skip(8)?;
                None
            }
            form => return wrong(at, format!("an element of unknown form, {form}")),
        };
        memory.placed(&mut array, place, text);
    }
    memory.array(array);
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
        form => wrong(at, format!("names of a template in unknown form, {form}")),
    }
}

/// Packed values, after the number of their template.
fn template_values(input: &mut Forward) -> Read<Elements> {
    Ok(match packed_elements(input, Packing::Listpack)?.0 {
        Elements::Known(entries) => Elements::Known(entries.saturating_sub(1)),
        elements => elements,
    })
}
