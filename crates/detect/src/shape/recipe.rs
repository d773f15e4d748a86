//! Documents of JSON: a filter of jq that makes a key per line of one, tried on its first members.

use std::borrow::Cow;
use std::fmt::{self, Write};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};

use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_read::format::line::tried::tried;
use slotscope_read::format::table::columns::{ColumnNames, Role};
use slotscope_read::format::table::jsonl::Jsonl;
use slotscope_read::format::{Format, Head};

/// Characters shown of a key.
const SHOWN: usize = 60;
/// Members looked at.
const LOOKED_AT: usize = 200;
/// Members whose values are alike are not the settings of something.
const FEW: usize = 3;

/// The first members of a document, an array without their names.
#[derive(Default)]
struct Document {
    names: Vec<String>,
    values: Vec<Value>,
}

/// A filter of jq, and what it makes of a document.
type Filter = (&'static str, fn(&Document) -> Option<Vec<Value>>);

/// The filters, the most telling first.
const FILTERS: [Filter; 5] = [
    ("to_entries[] | {key, size: .value}", |document| {
        let is_named = document.names.len() >= FEW && document.values.iter().all(Value::is_u64);
        let named = document.names.iter().zip(&document.values);
        is_named.then(|| {
            named
                .map(|(key, size)| json!({"key": key, "size": size}))
                .collect()
        })
    }),
    ("to_entries[] | {key} + .value", |document| {
        let entry = |(key, value): (&String, &Value)| {
            // Members inside members are figures of something else, as of LATENCY HISTOGRAM.
            let mut members = value.as_object()?.values();
            if members.any(|value| value.is_object() || value.is_array()) {
                return None;
            }
            let mut entry = Map::from_iter([("key".to_owned(), json!(key))]);
            entry.extend(value.as_object()?.clone());
            Some(Value::Object(entry))
        };
        let is_named = document.names.len() >= FEW;
        let named = document.names.iter().zip(&document.values);
        is_named.then(|| named.map(entry).collect()).flatten()
    }),
    (".[] | {key: .[0], size: .[1]}", |document| {
        let pair = |value: &Value| match value.as_array()?.as_slice() {
            [key @ Value::String(_), size] if size.is_u64() => {
                Some(json!({"key": key, "size": size}))
            }
            _ => None,
        };
        document.values.iter().map(pair).collect()
    }),
    (".[]", |document| {
        let are_rows = |is: fn(&Value) -> bool| document.values.iter().all(is);
        let is_list = document.names.is_empty();
        (is_list && (are_rows(Value::is_string) || are_rows(Value::is_object)))
            .then(|| document.values.clone())
    }),
    ("to_entries[] | .key", |document| {
        let has_types = |value: &Value| {
            const TYPES: [&str; 6] = ["string", "list", "set", "zset", "hash", "stream"];
            value.is_null() || value.as_str().is_some_and(|text| TYPES.contains(&text))
        };
        let is_named = document.names.len() >= FEW && document.values.iter().all(has_types);
        is_named.then(|| document.names.iter().map(|name| json!(name)).collect())
    }),
];

/// The command that makes a key per line of a document, with the first key that it gives; `None` if none does.
pub(super) fn of(text: &[u8]) -> Option<String> {
    of_several(text).or_else(|| of_one(&closed(text)))
}

/// Why lines are refused that each have an object of JSON inside, as logs and cells of CSV do: with the command that takes it
/// out.
pub(super) fn inside_lines(rows: &[&[u8]]) -> Option<String> {
    const DOUBLED: &str = "{\"\"";
    let is_doubled = |row: &&[u8]| memchr::memmem::find(row, DOUBLED.as_bytes()).is_some();
    let are_doubled = rows.iter().any(is_doubled);
    let object = |row: &&[u8]| {
        let inside = row.get(memchr::memchr(b'{', row)?..=memchr::memrchr(b'}', row)?)?;
        let text = String::from_utf8_lossy(inside);
        let text = if are_doubled {
            Cow::from(text.replace("\"\"", "\""))
        } else {
            text
        };
        serde_json::from_str(&text).ok().filter(Value::is_object)
    };
    let objects: Vec<Value> = rows.iter().filter_map(object).collect();
    let given = gives(&objects).filter(|_| 10 * objects.len() >= 9 * rows.len())?;
    let undoubled = if are_doubled {
        " | sed 's/\"\"/\"/g'"
    } else {
        ""
    };
    Some(format!(
        "objects of JSON with other text around: grep -o '{{.*}}' < FILE{undoubled} | slotscope analyze - gives {given}"
    ))
}

/// A text that ends inside a document, up to the last whole member of its outermost list, with what closes it.
fn closed(text: &[u8]) -> Cow<'_, [u8]> {
    struct Open {
        closer: u8,
        last_comma: Option<usize>,
    }
    let (mut open, mut is_in_text, mut is_escaped) = (Vec::<Open>::new(), false, false);
    for (at, byte) in text.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_in_text => is_escaped = true,
            b'"' => is_in_text = !is_in_text,
            _ if is_in_text => {}
            b'[' | b'{' => open.push(Open {
                // ASCII has it two places later.
                closer: byte + 2,
                last_comma: None,
            }),
            b']' | b'}' => drop(open.pop()),
            b',' => {
                if let Some(inner) = open.last_mut() {
                    inner.last_comma = Some(at);
                }
            }
            _ => {}
        }
    }
    let last_of = |closer: u8| {
        let is_it = |open: &Open| open.closer == closer && open.last_comma.is_some();
        open.iter().position(is_it)
    };
    let Some(outer) = last_of(b']').or_else(|| last_of(b'}')) else {
        return text.into();
    };
    let mut whole = text[..open[outer].last_comma.unwrap_or(text.len())].to_vec();
    whole.extend(open[..=outer].iter().rev().map(|open| open.closer));
    whole.into()
}

/// The same of several documents: they are rows, or a member of each is.
fn of_several(text: &[u8]) -> Option<String> {
    let documents = serde_json::Deserializer::from_slice(text).into_iter::<Map<String, Value>>();
    let documents: Vec<_> = documents.map_while(Result::ok).take(LOOKED_AT).collect();
    let first = documents.first().filter(|_| documents.len() > 1)?;
    let whole = documents.iter().cloned().map(Value::Object).collect();
    let members = first.iter().filter_map(|(name, value)| {
        let is_row = value.is_object() && is_plain(name);
        let member = |document: &Map<String, Value>| document.get(name).cloned();
        let rows = documents.iter().filter_map(member).collect();
        is_row.then(|| (format!(".{name}"), rows))
    });
    let mut filters = std::iter::once((".".to_owned(), whole)).chain(members);
    filters.find_map(|(filter, rows): (String, Vec<Value>)| command(&filter, &rows))
}

/// Whether a filter may have this name as it is.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
}

fn of_one(text: &[u8]) -> Option<String> {
    let document = Document::of(text)?;
    let mut lists = Vec::new();
    let members = document.names.iter().zip(&document.values);
    members.for_each(|(name, value)| lists_of(&mut lists, &format!(".{name}"), name, value));
    let whole = std::iter::once((String::new(), &document));
    let mut documents = whole.chain(lists.iter().map(|(path, list)| (path.clone(), list)));
    documents.find_map(|(path, document)| {
        let rows = |(filter, apply): &Filter| {
            let rows = apply(document).filter(|rows| !rows.is_empty())?;
            command(&format!("{path}{filter}"), &rows)
        };
        FILTERS.iter().find_map(rows)
    })
}

/// The lists in the member of an answer, with their paths.
fn lists_of(lists: &mut Vec<(String, Document)>, path: &str, name: &str, value: &Value) {
    const DEEPEST: usize = 3;
    if !is_plain(name) {
        return;
    }
    match value {
        Value::Array(list) if !list.is_empty() => {
            let values = list.iter().take(LOOKED_AT).cloned().collect();
            let names = Vec::new();
            lists.push((format!("{path} | "), Document { names, values }));
        }
        Value::Object(members) if path.matches('.').count() < DEEPEST => {
            for (name, value) in members {
                lists_of(lists, &format!("{path}.{name}"), name, value);
            }
        }
        _ => {}
    }
}

/// The command with a filter that gives these rows; `None` if they are not read as keys.
fn command(filter: &str, rows: &[Value]) -> Option<String> {
    let outside = |(outer, inner): (String, String)| {
        let with_size = |row: &Value| {
            let mut row = row.clone();
            row[&outer] = row[&outer][&inner].clone();
            row
        };
        let rows: Vec<Value> = rows.iter().map(with_size).collect();
        let filter = format!("{filter} | .{outer} = .{outer}.{inner}");
        Some((filter, gives(&rows)?))
    };
    let as_it_is = || Some((filter.to_owned(), gives(rows)?));
    let (filter, gives) = size_inside(rows).and_then(outside).or_else(as_it_is)?;
    Some(format!(
        "jq -c '{filter}' FILE | slotscope analyze - gives {gives}"
    ))
}

/// The member of a member that is called a size, if none of the rows themselves is: `"memory": {"bytes": 184}`.
fn size_inside(rows: &[Value]) -> Option<(String, String)> {
    let is_size = |name: &str| {
        let role = ColumnNames::USUAL.role(name.as_bytes());
        role.is_some_and(|(role, _)| role == Role::of(Metric::Bytes))
    };
    let members = rows.first()?.as_object()?;
    if members
        .iter()
        .any(|(name, value)| is_size(name) && !value.is_object())
    {
        return None;
    }
    // It takes the place of what it is inside of.
    let mut outer = members.iter().filter(|(name, _)| is_size(name));
    let inside = |(outer, value): (&String, &Value)| {
        let mut names = value.as_object()?.iter();
        let (inner, _) = names.find(|(inner, value)| is_size(inner) && value.is_number())?;
        (is_plain(outer) && is_plain(inner)).then(|| (outer.clone(), inner.clone()))
    };
    outer.find_map(inside)
}

/// The first key of rows, each in a line of its own: texts, or objects with a member that is called a key.
fn gives(rows: &[Value]) -> Option<String> {
    if let Some(key) = rows.first()?.as_str() {
        let shown = || format!("\"{}\"", Name::from(key).short(SHOWN));
        return may_be_key(key.as_bytes()).then(shown);
    }
    let mut text = String::new();
    rows.iter()
        .try_for_each(|row| writeln!(text, "{row}"))
        .ok()?;
    let head = Head {
        bytes: text.as_bytes(),
        whole: true,
    };
    let json = Jsonl {
        names: ColumnNames::USUAL,
    };
    let opened = json.open(head).ok()?;
    let tried = tried(&opened, head)?;
    let is_key = tried
        .first
        .as_ref()
        .is_some_and(|(key, _)| may_be_key(&key.0));
    (tried.misfits == 0 && is_key).then(|| tried.said())
}

/// Whether a text is more than a word, as those of settings are.
fn may_be_key(text: &[u8]) -> bool {
    let is_of_word = |byte: &u8| byte.is_ascii_alphabetic() || b"-_ ".contains(byte);
    !text.iter().all(is_of_word)
}

impl Document {
    /// The document that a text is.
    fn of(text: &[u8]) -> Option<Document> {
        let mut document = Document::default();
        let mut reader = serde_json::Deserializer::from_slice(text);
        Members(&mut document).deserialize(&mut reader).ok()?;
        (reader.end().is_ok() && !document.values.is_empty()).then_some(document)
    }

    fn is_full(&self) -> bool {
        self.values.len() >= LOOKED_AT
    }
}

/// Reads the members of a document.
struct Members<'d>(&'d mut Document);

impl<'de> DeserializeSeed<'de> for Members<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array or an object")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while !self.0.is_full() {
            match items.next_element()? {
                Some(value) => self.0.values.push(value),
                None => return Ok(()),
            }
        }
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while !self.0.is_full() {
            match members.next_entry()? {
                Some((name, value)) => {
                    self.0.names.push(name);
                    self.0.values.push(value);
                }
                None => return Ok(()),
            }
        }
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_named_with_what_it_gives() {
        for (text, expected) in [
            (
                "{\n \"user:1\": 184,\n \"user:2\": 7, \"a\": 9\n}\n",
                Some(
                    "jq -c 'to_entries[] | {key, size: .value}' FILE | slotscope analyze - gives \"user:1\" of 184 B",
                ),
            ),
            (
                "[\n \"user:1\",\n \"user:2\"\n]",
                Some("jq -c '.[]' FILE | slotscope analyze - gives \"user:1\""),
            ),
            (
                "{\"cursor\": 0, \"keys\": [[\"user:1\", 5], [\"user:2\", 6]]}",
                Some(
                    "jq -c '.keys | .[] | {key: .[0], size: .[1]}' FILE | slotscope analyze - gives \"user:1\" of 5 B",
                ),
            ),
            // Cut off.
            (
                "[{\"key\": \"a:1\", \"size\": 3}, {\"key\": \"a:2\", \"si",
                Some("jq -c '.[]' FILE | slotscope analyze - gives \"a:1\" of 3 B"),
            ),
            (
                r#"{"keys": [{"key": "a:1", "memory": {"bytes": 7, "overhead": 1}}, {"key": "b:2", "memory": {"bytes": 9}}]}"#,
                Some(
                    "jq -c '.keys | .[] | .memory = .memory.bytes' FILE | slotscope analyze - gives \"a:1\" of 7 B",
                ),
            ),
            (
                "{\"ok\": 1, \"data\": {\"page\": 2, \"keys\": [\"user:1\", \"user:2\", \"us",
                Some("jq -c '.data.keys | .[]' FILE | slotscope analyze - gives \"user:1\""),
            ),
            (
                "{\"rows\": [[\"a:1\", 5], [\"a:2\", 6], [\"a:",
                Some(
                    "jq -c '.rows | .[] | {key: .[0], size: .[1]}' FILE | slotscope analyze - gives \"a:1\" of 5 B",
                ),
            ),
            ("{\"name\": \"x\", \"version\": 1}", None),
            // Replies of a server.
            (
                "{\"set\": {\"calls\": 1, \"usec\": {\"1\": 1}}, \"config|get\": {\"calls\": 1, \"usec\": {\"1\": 1}}, \"get\": {\"calls\": 1, \"usec\": {\"1\": 1}}}",
                None,
            ),
            (
                "{\"flags\": [\"on\", \"allkeys\"], \"passwords\": []}",
                None,
            ),
            (
                "{\"id\": 1, \"_source\": {\"key\": \"a:1\", \"bytes\": 9}}\n{\"_source\": {\"key\": \"a:2\", \"bytes\": 8}}\n",
                Some("jq -c '._source' FILE | slotscope analyze - gives \"a:1\" of 9 B"),
            ),
            (
                "{\n \"key\": \"user:1\"\n}\n{\n \"key\": \"user:2\"\n}\n",
                Some("jq -c '.' FILE | slotscope analyze - gives \"user:1\""),
            ),
            ("{\"a\": 1}\n{\"a\": 2}\n", None),
            ("[1, 2, 3]", None),
            ("[\n  'user:1'\n]", None),
        ] {
            assert_eq!(of(text.as_bytes()).as_deref(), expected, "{text}");
        }
    }
}
