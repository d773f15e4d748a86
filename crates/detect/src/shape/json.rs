//! JSON: objects with a member that is called a key, or is another name in each, one per line or in an array. Other objects may
//! be keys themselves; documents are refused.

use std::collections::BTreeSet;

use slotscope_base::metric::Metric;
use slotscope_base::sentence::Sentence;
use slotscope_read::format::Head;
use slotscope_read::format::line::offer::offers;
use slotscope_read::format::parse::escape::{self, Escapes};
use slotscope_read::format::parse::json_object::{self, Value};
use slotscope_read::format::table::Span;
use slotscope_read::format::table::columns::{self, ColumnNames, Role};
use slotscope_read::format::table::names::{FIRST_RANK, is_unit};

use crate::shape::column::{Column, MOST, MayBeSize, are_units_of_one, share};
use crate::shape::encoded::encoded;
use crate::shape::lines::Lines;
use crate::shape::{over_lines, peel, recipe};

/// No row of a dump has more members.
const MANY: usize = 30;
/// Why JSON without a key member is refused.
const OTHER: &str = "JSON without a member that is called a key, no key dump";
const OVER_LINES: &str = "JSON over several lines, no key dump";
const AS_LINES: &str = "--format lines reads each line as a key";
const WAYS_OUT: &str = "--key-column NAME says which member of an object is the key; of other JSON let the program write an object of each key in \
    a line of its own, in pandas with to_json(FILE, orient=\"records\", lines=True)";
const LIST_OF_PYTHON: &str = "a list of Python on one line: python3 -c 'import ast,sys; [print(k.decode() if isinstance(k, bytes) else k) \
    for k in ast.literal_eval(sys.stdin.read())]' < FILE | slotscope analyze - ; --format lines reads each line as a key";
const UNITS: &str = "JSON objects with sizes in one member and their unit in another: jq -c '.size = \"\\(.size) \\(.unit)\"' FILE | \
    slotscope analyze - joins them; --size-column NAME reads another member";

/// The kind of JSON.
#[derive(Debug)]
pub(super) enum Json {
    /// Objects with a key member, and a doubt about their keys.
    Members(Option<Sentence>),
    /// Objects with one member that is a distinct name in each, and possibly one that is a size: their names.
    ByContent(String, Option<String>),
    /// Objects that may be keys themselves.
    Keys,
}

/// The kind of JSON; `None` if the lines are no JSON.
///
/// # Errors
/// Why other JSON is refused.
pub(super) fn of(lines: &Lines<'_>) -> Option<Result<Json, String>> {
    let first = lines.rows.first()?.trim_ascii();
    match first.first()? {
        b'{' => objects(lines).or_else(|| document(lines, first)),
        b'[' if has_key_in_array(lines) => Some(Ok(Json::Members(None))),
        b'[' => document(lines, first),
        _ => None,
    }
}

/// Why a document over several lines is refused. What no filter of JSON reads may be the print of another language.
pub(super) fn over_lines(lines: &Lines<'_>, head: Head<'_>) -> Option<String> {
    let mut filled = lines.rows.iter().filter(|row| !row.is_empty());
    let first = filled.next()?.trim_ascii();
    let starts = [&b"["[..], b"[{", b"{"].contains(&first);
    let of_records = || over_lines::refused(&lines.rows, &ColumnNames::USUAL, head);
    let of_lines = || {
        let offers = offers(head, peel::proven(&lines.rows));
        let what = "text in brackets, not JSON";
        (!offers.is_empty()).then(|| format!("{what}: {offers}"))
    };
    let of_others = || of_records().or_else(of_lines);
    let is_json = recipe::of(lines.head).is_some();
    let other = || if is_json { None } else { of_others() };
    starts.then(|| other().unwrap_or_else(|| refused(OVER_LINES, lines.head)))
}

/// The refusal of a document, with the filter that makes rows of it.
fn refused(what: &str, text: &[u8]) -> String {
    match recipe::of(text) {
        Some(recipe) => format!("{what}: {recipe}; {AS_LINES}"),
        None => format!("{what}: {WAYS_OUT}; {AS_LINES}"),
    }
}

/// The name of a member, and its value with its text.
type Member<'a> = (&'a [u8], Value, &'a [u8]);

/// The members of an object, if a row is one.
fn members(row: &[u8]) -> Option<Vec<Member<'_>>> {
    let text = |(from, to): Span| &row[from as usize..to as usize];
    let mut members = Vec::new();
    let end = json_object::members(row, |_, name, value| {
        let content = match value {
            Value::Text(span) | Value::Bare(span) => text(span),
            Value::Nested => b"",
        };
        members.push((text(name), value, content));
    })?;
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b",]".contains(byte);
    row[end..].iter().all(is_end).then_some(members)
}

/// One object per line.
fn objects(lines: &Lines<'_>) -> Option<Result<Json, String>> {
    members(lines.rows[0])?;
    let objects: Vec<_> = lines.rows.iter().filter_map(|row| members(row)).collect();
    if share(objects.len(), lines.rows.len()) < MOST {
        return None;
    }
    let all = objects.iter().flatten();
    let header: BTreeSet<&[u8]> = all.map(|(name, ..)| *name).collect();
    let header: Vec<&[u8]> = header.into_iter().collect();
    let names = ColumnNames::USUAL.of_header(&header);
    let roles: Vec<_> = header.iter().map(|name| names.role(name)).collect();
    let best = |role: Role| columns::best(&roles)[role.place()].map(|at| header[at]);
    let texts = |wanted: &[u8]| -> Vec<&[u8]> {
        let of = objects.iter().flatten();
        let of = of.filter(|(name, value, _)| *name == wanted && matches!(value, Value::Text(_)));
        of.map(|(.., text)| *text).collect()
    };
    let Some(key) = best(Role::Key) else {
        return Some(without_key(&objects, &header, lines));
    };
    let is_named = |(role, rank): &(Role, usize)| *role == Role::Key && *rank < FIRST_RANK;
    // One object of many members, or with others inside, is settings.
    let is_document = objects[0].len() > MANY || objects[0].iter().any(is_nested);
    let is_lone = objects.len() == 1 && is_document;
    if is_lone && !roles.iter().flatten().any(is_named) {
        return Some(Err(refused(OTHER, lines.head)));
    }
    let unit = header.iter().find(|name| is_unit(name));
    if best(Role::of(Metric::Bytes)).is_some()
        && unit.is_some_and(|unit| !are_units_of_one(&texts(unit)))
    {
        return Some(Err(UNITS.into()));
    }
    let keys: Vec<Vec<u8>> = texts(key).into_iter().map(undone).collect();
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    Some(Ok(Json::Members(encoded(&keys))))
}

fn is_nested((_, value, _): &Member<'_>) -> bool {
    matches!(value, Value::Nested)
}

/// Objects without a member that is called a key.
fn without_key(
    objects: &[Vec<Member<'_>>],
    header: &[&[u8]],
    lines: &Lines<'_>,
) -> Result<Json, String> {
    const COMMANDS: [&str; 4] = ["command", "cmd", "args", "argv"];
    let is_command = |name: &&[u8]| {
        COMMANDS
            .iter()
            .any(|word| name.eq_ignore_ascii_case(word.as_bytes()))
    };
    let column = |wanted: &[u8], is_text: bool| {
        let of = objects.iter().flatten();
        let of = of.filter(|(name, value, _)| {
            *name == wanted && matches!(value, Value::Text(_)) == is_text
        });
        Column::of(of.map(|(.., text)| *text).collect())
    };
    let only = |is: &dyn Fn(&[u8]) -> bool| {
        let mut found = header.iter().filter(|name| is(name));
        let only = found.next().filter(|_| found.next().is_none())?;
        String::from_utf8(only.to_vec()).ok()
    };
    let is_common = |name: &&&[u8]| {
        let has = |members: &&Vec<Member<'_>>| members.iter().any(|(other, ..)| other == *name);
        objects.iter().filter(has).count() == objects.len()
    };
    let common = header.iter().filter(is_common).count();
    if common == 0
        || header.iter().any(is_command)
        || objects.iter().flatten().any(is_nested)
        || objects.len() == 1 && column(header[0], true).len() == 0 && header.len() == 1
    {
        return Err(refused(OTHER, lines.head));
    }
    let is_name = |name: &[u8]| {
        let texts = column(name, true);
        texts.len() == objects.len()
            && texts.is_unique()
            && texts.is_text()
            && texts.look_like_keys() > 0.7
    };
    let is_size = |name: &[u8]| column(name, false).size() == Some(MayBeSize::Likely);
    let by_content = only(&is_name).filter(|_| objects.len() >= 3 && common > 1);
    Ok(by_content.map_or(Json::Keys, |key| Json::ByContent(key, only(&is_size))))
}

/// A text without its escapes.
fn undone(text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    let len = text.len();
    let end = escape::undo(Escapes::Json, &mut text, 0, len);
    text.truncate(end);
    text
}

/// An array whose first object has a key member.
fn has_key_in_array(lines: &Lines<'_>) -> bool {
    let head = Head {
        bytes: lines.head,
        whole: true,
    };
    json_object::first_names(head).is_ok_and(|members| ColumnNames::USUAL.has(&members, Role::Key))
}

/// One document of any length on one line.
fn document(lines: &Lines<'_>, first: &[u8]) -> Option<Result<Json, String>> {
    if lines.rows.len() > 1 {
        return None;
    }
    let inside = first[1..].trim_ascii_start();
    match (first[0], inside) {
        (b'[', [b'\'', ..] | [b'b', b'\'' | b'"', ..]) => {
            return Some(Err(LIST_OF_PYTHON.into()));
        }
        (b'{', [b'"' | b'}', ..])
        | (
            b'[',
            [
                b'"' | b'{' | b'[' | b'0'..=b'9' | b'-' | b't' | b'f' | b'n',
                ..,
            ],
        ) => {}
        _ => return None,
    }
    let is_cut = !lines.is_whole && memchr::memchr(b'\n', lines.head).is_none();
    let is_other = match serde_json::from_slice(first) {
        Ok(serde_json::Value::Array(items)) => {
            items.iter().any(|item| item.is_array() || item.is_object())
        }
        parsed => parsed.is_ok(),
    };
    (is_cut || is_other).then(|| Err(refused(OTHER, lines.head)))
}
