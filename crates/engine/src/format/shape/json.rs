//! JSON: one object per line, an array of objects, and other documents, which are refused.

use std::collections::BTreeSet;

use crate::format::Head;
use crate::format::parse::escape::{self, Escapes};
use crate::format::parse::json_object::{self, Value};
use crate::format::parse::python;
use crate::format::shape::column::{Column, MOST, MayBeSize, are_units_of_one, share};
use crate::format::shape::encoded::encoded_cells;
use crate::format::shape::lines::Lines;
use crate::format::table::Span;
use crate::format::table::columns::{self, ColumnNames, Role};
use crate::format::table::names::{FIRST_RANK, is_unit};
use crate::metric::Metric;
use crate::sentence::Sentence;

/// The kind of JSON.
#[derive(Debug)]
pub(super) enum Json {
    /// Objects with a key member, and how its texts are encoded.
    Members(Option<Sentence>),
    /// Objects with one member that is a distinct name in each, and possibly one that is a size: their names.
    ByContent { key: String, size: Option<String> },
    /// Objects that may be keys themselves.
    Objects,
    /// Not a key list: the reason, and a suggested command.
    Refused(String),
}

const OTHER: &str = "JSON of another form, no list of keys: jq -r 'keys[]' FILE | slotscope analyze -, where its members are the keys; \
    jq -c '.[]' FILE | slotscope analyze -, where its elements are keys or objects with a member key; --format lines reads each line \
    as a key";

/// The kind of JSON, if the rows are any.
pub(super) fn of(lines: &Lines<'_>, names: &ColumnNames) -> Option<Json> {
    let first = lines.rows.first()?.trim_ascii_start();
    match first.first()? {
        b'{' => objects(lines, names).or_else(|| document(lines)),
        b'[' if has_key_in_array(lines, names) => Some(Json::Members(None)),
        b'[' => document(lines),
        _ => None,
    }
}

/// A member of an object, and its value.
type Member<'a> = (&'a [u8], &'a [u8], Kind);

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Text,
    Bare,
    Nested,
}

fn members(row: &[u8]) -> Option<Vec<Member<'_>>> {
    let text = |(from, to): Span| &row[from as usize..to as usize];
    let mut members = Vec::new();
    let end = json_object::members(row, |_, name, value| {
        let (value, kind) = match value {
            Value::Text(span) => (text(span), Kind::Text),
            Value::Bare(span) => (text(span), Kind::Bare),
            Value::Nested => (&b""[..], Kind::Nested),
        };
        members.push((text(name), value, kind));
    })?;
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b",]".contains(byte);
    row[end..].iter().all(is_end).then_some(members)
}

/// One object per line.
fn objects(lines: &Lines<'_>, names: &ColumnNames) -> Option<Json> {
    let parsed: Vec<Option<Vec<Member<'_>>>> = lines.rows.iter().map(|row| members(row)).collect();
    let objects: Vec<&Vec<Member<'_>>> = parsed.iter().flatten().collect();
    let first = parsed.first()?.as_ref()?;
    if share(objects.len(), parsed.len()) < MOST {
        let are_python = lines
            .rows
            .iter()
            .filter(|row| row.starts_with(b"{'"))
            .count();
        return (share(are_python, lines.rows.len()) >= MOST).then(python_dicts);
    }
    let is_nested = first.iter().any(|(.., kind)| *kind == Kind::Nested);
    let are_numbers = !first.is_empty() && first.iter().all(|(.., kind)| *kind == Kind::Bare);
    if objects.len() == 1
        && (is_nested || are_numbers || first.len() > 30)
        && !has_key(first, names)
    {
        return None;
    }
    let sets: Vec<BTreeSet<&[u8]>> = objects
        .iter()
        .map(|members| members.iter().map(|(name, ..)| *name).collect())
        .collect();
    let common: BTreeSet<&[u8]> = sets.iter().skip(1).fold(sets[0].clone(), |common, set| {
        common.intersection(set).copied().collect()
    });
    let union: BTreeSet<&[u8]> = sets.iter().flatten().copied().collect();
    if union.iter().any(|name| is_key(name, names)) {
        let header: Vec<&[u8]> = union.into_iter().collect();
        return Some(with_units(&objects, &header, names).unwrap_or_else(|| {
            let keys = texts_of(&objects, &header, names);
            Json::Members(encoded_cells(
                &keys.iter().map(Vec::as_slice).collect::<Vec<_>>(),
            ))
        }));
    }
    if let Some(path) = lines.rows.first().and_then(|row| path(row, names)) {
        return Some(Json::Refused(format!(
            "JSON objects with the key in an object inside: jq -c '{path}' FILE | slotscope analyze - ; --format lines reads each \
             line as a key"
        )));
    }
    let are_keys =
        sets.iter().all(|set| set.len() == 1) && union.len() == sets.len() && sets.len() > 1;
    if common.is_empty() || are_keys {
        let way_out = "JSON objects whose members are the keys: jq -r 'keys[]' FILE | slotscope analyze - ; --format lines reads each line as a key";
        return Some(Json::Refused(way_out.into()));
    }
    let texts: Vec<(&[u8], Vec<&[u8]>)> = common
        .iter()
        .filter_map(|name| Some((*name, values_of(&objects, name, Kind::Text)?)))
        .collect();
    let is_command = |name: &&[u8]| {
        [&b"command"[..], b"cmd", b"args", b"argv"]
            .iter()
            .any(|word| name.eq_ignore_ascii_case(word))
    };
    if texts.iter().any(|(name, _)| is_command(name)) {
        let way_out = "commands in JSON, no key dump: jq -r '.Command // .command // .cmd' FILE | awk '{print $2}' | slotscope analyze - \
            takes their first arguments as keys; --format lines reads each line as a key";
        return Some(Json::Refused(way_out.into()));
    }
    let is_name = |texts: &Vec<&[u8]>| {
        let column = Column::of(texts.clone());
        column.is_unique() && column.look_like_keys() > 0.7 && column.is_text()
    };
    let mut by_content = texts.iter().filter(|(_, texts)| is_name(texts));
    let only = by_content.next().filter(|_| by_content.next().is_none());
    match only.filter(|_| objects.len() >= 3 && common.len() > 1) {
        Some((name, _)) => {
            Some(
                std::str::from_utf8(name).map_or(Json::Objects, |name| Json::ByContent {
                    key: name.into(),
                    size: size_by_content(&objects, &common, names),
                }),
            )
        }
        None => Some(Json::Objects),
    }
}

/// The member of a role whose name has precedence.
fn best<'a>(header: &[&'a [u8]], names: &ColumnNames, wanted: Role) -> Option<&'a [u8]> {
    let known = names.of_header(header);
    let roles: Vec<_> = header.iter().map(|name| known.role(name)).collect();
    columns::best(&roles)[wanted.place()].map(|at| header[at])
}

/// The keys, decoded.
fn texts_of(objects: &[&Vec<Member<'_>>], header: &[&[u8]], names: &ColumnNames) -> Vec<Vec<u8>> {
    let key = best(header, names, Role::Key);
    let members = objects.iter().flat_map(|members| members.iter());
    let keys = members.filter(|(name, _, kind)| Some(*name) == key && *kind == Kind::Text);
    keys.map(|(_, text, _)| {
        let mut text = text.to_vec();
        let len = text.len();
        let end = escape::undo(Escapes::Json, &mut text, 0, len);
        text.truncate(end);
        text
    })
    .collect()
}

/// The refusal of objects that have numbers in one member and their unit in another.
fn with_units(objects: &[&Vec<Member<'_>>], header: &[&[u8]], names: &ColumnNames) -> Option<Json> {
    let size = best(header, names, Role::of(Metric::Bytes))?;
    let unit = header.iter().find(|name| is_unit(name))?;
    let values = |wanted: &[u8], kind: Kind| -> Vec<&[u8]> {
        let members = objects.iter().flat_map(|members| members.iter());
        let of = members.filter(|(name, _, own)| *name == wanted && *own == kind);
        of.map(|(_, value, _)| *value).collect()
    };
    if values(size, Kind::Bare).is_empty() || are_units_of_one(&values(unit, Kind::Text)) {
        return None;
    }
    let is_plain = |name: &[u8]| {
        name.iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    let [size, unit] = [(size, "size"), (*unit, "unit")].map(|(name, usual)| {
        let name = std::str::from_utf8(name)
            .ok()
            .filter(|name| is_plain(name.as_bytes()));
        name.unwrap_or(usual).to_owned()
    });
    Some(Json::Refused(format!(
        "JSON objects with sizes in one member and their unit in another: jq -c '.{size} = \"\\(.{size}) \\(.{unit})\"' FILE | \
         slotscope analyze - joins them; --size-column NAME reads another member"
    )))
}

/// The path of jq to an object inside with a member for the key, if it has only plain names, which no shell takes for
/// more.
fn path(row: &[u8], names: &ColumnNames) -> Option<String> {
    fn inside(object: &serde_json::Value, names: &ColumnNames) -> Option<String> {
        let members = object.as_object()?;
        if members
            .iter()
            .any(|(name, value)| value.is_string() && is_called_key(name, names))
        {
            return Some(String::new());
        }
        members.iter().find_map(|(name, value)| {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            let rest = inside(value, names).filter(|_| name.bytes().all(is_plain))?;
            Some(format!(".{name}{rest}"))
        })
    }
    inside(&serde_json::from_slice(row).ok()?, names).filter(|path| !path.is_empty())
}

/// Whether a member is called key, and not just name.
fn is_called_key(name: &str, names: &ColumnNames) -> bool {
    let is_key = is_key(name.as_bytes(), names);
    is_key && name.to_ascii_lowercase().contains("key")
}

/// The values of a member over all objects, if all are of this kind.
fn values_of<'a>(objects: &[&Vec<Member<'a>>], name: &[u8], kind: Kind) -> Option<Vec<&'a [u8]>> {
    let value = |members: &&Vec<Member<'a>>| {
        let member = members.iter().find(|(other, ..)| *other == name)?;
        (member.2 == kind).then_some(member.1)
    };
    objects.iter().map(value).collect()
}

/// The only member whose numbers may be sizes, if no name says so.
fn size_by_content(
    objects: &[&Vec<Member<'_>>],
    common: &BTreeSet<&[u8]>,
    names: &ColumnNames,
) -> Option<String> {
    let has_role = |name: &[u8]| names.role(name).is_some();
    if common.iter().any(|name| {
        names
            .role(name)
            .is_some_and(|(role, _)| role == Role::of(Metric::Bytes))
    }) {
        return None;
    }
    let is_size = |name: &&&[u8]| {
        let numbers = values_of(objects, name, Kind::Bare);
        !has_role(name)
            && numbers.is_some_and(|numbers| Column::of(numbers).size() == Some(MayBeSize::Likely))
    };
    let mut sizes = common.iter().filter(is_size);
    let only = sizes.next().filter(|_| sizes.next().is_none())?;
    String::from_utf8(only.to_vec()).ok()
}

fn python_dicts() -> Json {
    let way_out = "dicts of Python, no key dump: python3 -c 'import ast,json,sys; [print(json.dumps(ast.literal_eval(l))) for l in sys.stdin]' \
        < FILE | slotscope analyze - ; --format lines reads each line as a key";
    Json::Refused(way_out.into())
}

fn is_key(name: &[u8], names: &ColumnNames) -> bool {
    names.role(name).is_some_and(|(role, _)| role == Role::Key)
}

/// Whether a member is called key or name; longer names with these words also occur in settings.
fn has_key(members: &[Member<'_>], names: &ColumnNames) -> bool {
    let is_listed = |name: &[u8]| {
        let role = names.role(name);
        role.is_some_and(|(role, rank)| role == Role::Key && rank < FIRST_RANK)
    };
    members.iter().any(|(name, ..)| is_listed(name))
}

fn has_key_in_array(lines: &Lines<'_>, names: &ColumnNames) -> bool {
    let head = Head {
        bytes: lines.head,
        whole: true,
    };
    json_object::first_names(head).is_ok_and(|members| names.has(&members, Role::Key))
}

/// One document, on one or several lines.
fn document(lines: &Lines<'_>) -> Option<Json> {
    let refused = |way_out: &str| Some(Json::Refused(way_out.into()));
    let first = lines.rows.first()?.trim_ascii();
    if let [b'[', rest @ ..] = first
        && lines.rows.len() == 1
        && (python::is_bytes(first_item(rest))
            || python::is_text(first_item(rest)) && rest.trim_ascii_start().starts_with(b"'"))
    {
        return refused(
            "a list of Python on one line: python3 -c 'import ast,sys; [print(k.decode() if isinstance(k, bytes) else k) \
             for k in ast.literal_eval(sys.stdin.read())]' < FILE | slotscope analyze - ; --format lines reads each line as a key",
        );
    }
    if lines.rows.len() > 1 {
        return None;
    }
    let starts = match first {
        [b'{', rest @ ..] => matches!(rest.trim_ascii_start().first(), Some(b'"' | b'}')),
        [b'[', rest @ ..] => matches!(
            rest.trim_ascii_start().first(),
            Some(b'"' | b'{' | b'[' | b'0'..=b'9' | b'-' | b't' | b'f' | b'n')
        ),
        _ => false,
    };
    if !starts {
        return None;
    }
    if !lines.is_whole && memchr::memchr(b'\n', lines.head).is_none() {
        return refused(OTHER);
    }
    match serde_json::from_slice(first) {
        Ok(serde_json::Value::Array(items))
            if !items.iter().any(|item| item.is_array() || item.is_object()) =>
        {
            None
        }
        Ok(_) => refused(OTHER),
        Err(_) => None,
    }
}

/// The text up to the first unquoted comma or bracket.
fn first_item(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_start();
    let quote = text.iter().take(2).position(|byte| b"'\"".contains(byte));
    let Some(quote) = quote else {
        return text;
    };
    let close = text[quote + 1..]
        .iter()
        .position(|byte| *byte == text[quote]);
    close.map_or(text, |close| &text[..quote + close + 2])
}
