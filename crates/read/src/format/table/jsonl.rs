//! `jsonl`: one JSON object per line with a key among its members, which are found by name. The objects may be
//! comma-separated in an array.
//!
//! Keys are decoded in place; bytes that are not UTF-8 stay as they are.

use std::collections::HashSet;

use slotscope_base::batch::{MISSING, Number, Word};
use slotscope_base::block::Padded;
use slotscope_base::metric::Metric;
use slotscope_base::name::Name;

use crate::format::parse::escape;
use crate::format::parse::escape::Escapes;
use crate::format::parse::json_object;
use crate::format::parse::json_object::Value;
use crate::format::parse::size::{ReadNumber, size_in_thousands};
use crate::format::table;
use crate::format::table::columns;
use crate::format::table::columns::{ColumnNames, KeyEscapes, ROLES, Role};
use crate::format::table::json_rows::JsonRows;
use crate::format::table::key_spelling::{DUMP, KeySpelling};
use crate::format::table::units::Unit;
use crate::format::table::{Carried, Refusal, Row, Rows, Span, Step, TableReader, Unreadables};
use crate::format::{Columns, Format, Head, Opened};

/// Lines of a head whose members define the columns.
const LINES: usize = 1000;

/// Members looked up by position.
const MAX_MEMBERS: usize = 4096;

/// The format.
pub struct Jsonl {
    /// Members that the user named.
    pub names: ColumnNames,
}

/// `jsonl` with the member names used by tools.
pub static USUAL: Jsonl = Jsonl {
    names: ColumnNames::USUAL,
};

impl Format for Jsonl {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn example(&self) -> &'static str {
        r#"{"key":"user:{1000}:profile","size":184,"ops":17,"type":"string"} (objects of your own, one per line)"#
    }

    fn open(&self, head: Head<'_>) -> Result<Opened, String> {
        Ok(JsonKeys::open(head, &self.names, &[])?.opened(self.name()))
    }
}

/// A member: its content, and how many aliases have precedence over its name.
struct Member {
    name: Vec<u8>,
    role: Option<(Role, usize)>,
}

impl Member {
    fn has_unit(&self) -> bool {
        let is_size = self
            .role
            .is_some_and(|(role, _)| role == Role::of(Metric::Bytes));
        is_size && ColumnNames::unit(&self.name) != Unit::One
    }
}

/// Objects with known members; also used for the JSON of other tools.
pub struct JsonKeys {
    names: ColumnNames,
    /// The members of the first object in order, which later ones usually keep.
    first: Vec<Member>,
    carried: Carried,
    /// The number parser of each role.
    readers: [ReadNumber; ROLES],
    /// Whether sizes have a unit, so that digits are not the plain number.
    has_unit: bool,
    /// Types that are not keys.
    no_keys: &'static [&'static str],
    /// Whether the lines are output of `slotscope dump`.
    is_dump: bool,
}

impl JsonKeys {
    /// Finds the members of the first objects.
    ///
    /// # Errors
    /// A required member is missing; the message lists the members present.
    pub(crate) fn open(
        head: Head<'_>,
        names: &ColumnNames,
        no_keys: &'static [&'static str],
    ) -> Result<JsonKeys, String> {
        let (mut members, mut known) = (Vec::new(), HashSet::new());
        for line in head.bytes.split(|byte| *byte == b'\n').take(LINES) {
            for name in json_object::first_names(Head {
                bytes: line,
                whole: true,
            })
            .unwrap_or_default()
            {
                if members.len() < MAX_MEMBERS && known.insert(name.clone()) {
                    members.push(name);
                }
            }
        }
        if let Some(missing) = names.missing_in(&members).filter(|_| !members.is_empty()) {
            let listed = columns::listed(&members);
            let missing = Name::from(missing.as_str());
            return Err(format!("no member \"{missing}\"; members are: {listed}"));
        }
        let names = names.of_header(&members);
        let is_dump =
            names.escapes != KeyEscapes::None && members.iter().eq(&DUMP.map(str::as_bytes));
        let first: Vec<_> = members
            .into_iter()
            .map(|name| Member {
                role: names.role(&name),
                name,
            })
            .collect();
        let mut carried = Carried::default();
        for (role, _) in first.iter().filter_map(|member| member.role) {
            carried[role.place()] = true;
        }
        Ok(JsonKeys {
            names,
            readers: readers(&first),
            has_unit: first.iter().any(Member::has_unit),
            first,
            carried,
            no_keys,
            is_dump,
        })
    }

    /// The content of member `number` of an object, by name.
    fn role(&self, number: usize, name: &[u8]) -> Option<(Role, usize)> {
        match self.first.get(number) {
            Some(member) if member.name == name => member.role,
            _ => self.names.role(name),
        }
    }

    /// Parses the object at the start of `line` and decodes its key; returns its end.
    fn row(&self, line: &mut [u8]) -> Result<(usize, Step), Refusal> {
        let mut best: [Option<(usize, Value)>; ROLES] = [None; ROLES];
        let members = json_object::members(line, |number, name, value| {
            if let Some((role, rank)) = self.role(number, &line[name.0 as usize..name.1 as usize]) {
                let place = &mut best[role.place()];
                if place.is_none_or(|(before, _)| rank <= before) {
                    *place = Some((rank, value));
                }
            }
        });
        let end = members.ok_or("not a JSON object")?;
        let values = best.map(|member| member.map(|(_, value)| value));
        let mut undone = |(from, to): Span| {
            let end = escape::undo(Escapes::Json, line, from as usize, to as usize);
            (from, end as u32)
        };
        let words = Word::ALL.map(|word| match values[Role::Word(word).place()] {
            Some(Value::Text(span)) => undone(span),
            _ => Span::default(),
        });
        let text = |(from, to): Span| &line[from as usize..to as usize];
        let mut unreadable = Unreadables::default();
        let mut number = |role: Role, read: ReadNumber| {
            let text = match values[role.place()] {
                None => return MISSING,
                Some(Value::Nested) => return unreadable.note(role, b"{...}"),
                Some(Value::Text(span) | Value::Bare(span)) => text(span),
            };
            table::optional(text, read).unwrap_or_else(|| unreadable.note(role, text))
        };
        let kind = text(words[Word::Type as usize]);
        if self.no_keys.iter().any(|no_key| no_key.as_bytes() == kind) {
            return Ok((end, Step::NoKey));
        }
        let Some(Value::Text(key)) = values[Role::Key.place()] else {
            return Err("no key, or one that is not text".into());
        };
        let mut row = Row {
            words,
            ..Row::of(key)
        };
        for (role, value) in row.numbers_mut() {
            *value = number(role, self.readers[role.place()]);
        }
        row.key.1 = escape::undo(Escapes::Json, line, key.0 as usize, key.1 as usize) as u32;
        if self.is_dump {
            row.key = KeySpelling::Name.undo(line, row.key).unwrap_or(row.key);
        } else if self.names.escapes == KeyEscapes::C {
            let spellings = [KeySpelling::EscapedInField, KeySpelling::Escaped];
            let mut undone = spellings.iter().filter_map(|keys| keys.undo(line, row.key));
            row.key = undone.next().unwrap_or(row.key);
        }
        Ok((end, Step::Key(row, unreadable)))
    }
}

impl JsonKeys {
    /// The objects as an input in the format called `format`.
    pub(crate) fn opened(self, format: &'static str) -> Opened {
        Opened::lines(format, TableReader(self))
    }

    /// Reads sizes as redis-rdb-cli writes them.
    pub(crate) fn in_thousands(mut self) -> JsonKeys {
        self.readers[Role::of(Metric::Bytes).place()] = size_in_thousands;
        self
    }
}

/// The number parser of each role, by the units in the names of `members`.
fn readers(members: &[Member]) -> [ReadNumber; ROLES] {
    let roles: Vec<_> = members.iter().map(|member| member.role).collect();
    let at = columns::best(&roles);
    let unit = |role: Role| {
        let member = at[role.place()].map(|at| &members[at]);
        member.map_or(Unit::One, |member| ColumnNames::unit(&member.name))
    };
    let mut readers: [ReadNumber; ROLES] = [|_| None; ROLES];
    for role in table::number_roles() {
        readers[role.place()] = table::reader(role, unit(role));
    }
    readers
}

impl Rows for JsonKeys {
    type Memory = JsonRows;

    fn carried(&self) -> Carried {
        self.carried
    }

    fn alike(
        &self,
        base: Padded<'_>,
        from: usize,
        columns: &mut Columns<'_>,
        rows: &mut JsonRows,
    ) -> Option<usize> {
        if self.names.escapes == KeyEscapes::C || self.has_unit {
            return None;
        }
        let next = rows.cut(base, from as u32, columns.kernel)?;
        let first = &base.bytes()[from..];
        let mut best: [Option<(usize, usize)>; ROLES] = [None; ROLES];
        for (at, name) in rows.names().enumerate() {
            if let Some((role, rank)) = self.role(at, &first[name]) {
                let place = &mut best[role.place()];
                if place.is_none_or(|(before, _)| rank <= before) {
                    *place = Some((rank, at));
                }
            }
        }
        // Columns that start late are counted row by row.
        let is_late = |(column, carried): (&Option<_>, &bool)| column.is_some() && !carried;
        if best.iter().zip(&self.carried).any(is_late) {
            return None;
        }
        let at = |role: Role| best[role.place()].map(|(_, at)| at);

        let Columns { keys, values, .. } = columns;
        values.clear();
        if !rows.texts(at(Role::Key)?, keys) {
            return None;
        }
        let len = keys.len();
        for word in Word::ALL {
            let role = Role::Word(word);
            let column = values.word_mut(word);
            let is_text = at(role).is_some_and(|at| rows.texts(at, column));
            if self.carried[role.place()] && !is_text {
                column.resize(len)
            }
        }
        let types = values.word(Word::Type);
        let is_no_key = |at| {
            let kind = types.get(base, at);
            self.no_keys.iter().any(|no_key| no_key.as_bytes() == kind)
        };
        if !self.no_keys.is_empty() && (0..types.len()).any(is_no_key) {
            return None;
        }
        let mut known = Vec::new();
        for (role, column) in table::number_columns(values) {
            let number = self.readers[role.place()];
            match at(role) {
                Some(at) => {
                    let are_times = role == Role::Number(Number::Expiry);
                    known.push(at);
                    let is_read = rows.numbers(base, at, (number, are_times), column);
                    is_read.then_some(())?;
                }
                None if self.carried[role.place()] => column.resize(len, MISSING),
                None => {}
            }
        }
        rows.are_values(base, &known).then_some(next as usize)
    }

    fn next(&self, content: &mut [u8], at: usize, rows: &mut JsonRows) -> (usize, Step) {
        let end = rows.end_of_line(content, at);
        match content[at] {
            b' ' | b'\t' | b'\r' | b'\n' | b'[' | b']' | b',' => (at + 1, Step::Blank),
            b'{' => match self.row(&mut content[at..end]) {
                Ok((len, step)) => (at + len, step.moved(at as u32)),
                Err(refusal) => (end + 1, Step::Reject(refusal)),
            },
            _ => (end + 1, Step::Reject("not a JSON object".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Notice;
    use crate::format::reading::{assert_reads, read_whole, refused};

    #[test]
    fn members_are_found_by_name_and_keys_are_decoded() {
        assert_reads(
            &USUAL,
            &[
                (
                    &b"{\"key\":\"a\",\"size\":10,\"ops\":3}\n{\"hits\":4,\"used_memory\":\"1.2kB\",\"name\":\"b\",\"x\":[{}]}\n"[..],
                    "a bytes=10 ops=3; b bytes=1229 ops=4",
                ),
                (
                    b"{\"key\":\"\\u00e9\\n\\ud83d\\ude00\"}\n{\"key\":\"\\ud800x\"}\r\n{\"key\":\"\xff\xfe\"}\n{\"key\":\"\"}",
                    r"\xc3\xa9\n\xf0\x9f\x98\x80; \xed\xa0\x80x; \xff\xfe; ",
                ),
                (b"[\n{\"key\":\"a\"},\n{\"key\":\"b\"}\n]\n", "a; b"),
                (b"[{\"key\":\"a\"}, {\"key\":\"b\"}]", "a; b"),
                (
                    b"{\"key\":\"a\"}\n{\"key\":1}\nx\n{\"key\":\"b\",\"size\":\"many\"}\n{\"key\":\"c\"\n{\"key\":\"d\",\"size\":null}\n",
                    "a; b; d; !12; !22; !50; Size=1 at 24: many",
                ),
            ],
        );
        let names = ColumnNames {
            escapes: KeyEscapes::C,
            ..ColumnNames::USUAL
        };
        let escaped = br#"{"key":"\"\\xd1\""}
{"key":"\\x41"}"#;
        assert_reads(&Jsonl { names }, &[(escaped, "\\xd1; A")]);
    }

    #[test]
    fn a_column_that_comes_late_is_counted_as_such() {
        let row = "{\"key\":\"a\"}\n";
        let content = format!("{}{{\"key\":\"a\",\"size\":7}}\n", row.repeat(LINES));
        let found = read_whole(&USUAL, content.as_bytes());
        assert_eq!(found.keys.len(), LINES + 1);
        assert_eq!(found.seen.count(Notice::LateColumn), 1);
        assert!(found.values.weights[0].is_empty());
    }

    #[test]
    fn an_input_without_a_key_is_refused() {
        assert_eq!(
            refused(&USUAL, "{\"id\":1,\"size\":2}\n"),
            "no member \"key\"; members are: \"id\", \"size\""
        );
        assert_eq!(refused(&USUAL, ""), "");
    }
}
