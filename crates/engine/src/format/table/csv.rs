//! `csv`: a table with a header line, fields quoted as RFC 4180 has it, columns found by their names.
//!
//! A quote in the middle of an unquoted field is itself, and what follows a closing quote belongs to the field: what
//! `row_boundary` and the `csv` crate hold too. Doubled quotes are decoded in place, so a key stays a span.
//! A batch of plain rows is cut all at once (`grid`); the result is the same.

use crate::format::batch::{Number, Spans, Word};
use crate::format::frame::row_boundary::{Quotes, RowBoundary};
use crate::format::parse::csv_row::{MAX_FIELDS, cut_row};
use crate::format::parse::size::ReadNumber;
use crate::format::table;
use crate::format::table::columns;
use crate::format::table::columns::{ColumnNames, KeyEscapes, ROLES, Role};
use crate::format::table::header::{Header, LONGEST_HEADER};
use crate::format::table::key_spelling::{KeySpelling, cut_line};
use crate::format::table::plain_rows;
use crate::format::table::plain_rows::Grid;
use crate::format::table::{Carried, Refusal, Row, Span, Step};
use crate::format::{Columns, Detected, Format, Head, Notice, Opened, ReadStats, Reader, Sink};
use crate::metric::Metric;
use crate::name::Name;
use crate::source::block::{Block, Padded, Piece};

/// The format.
pub struct Csv {
    /// Columns that the user named.
    pub names: ColumnNames,
}

/// `csv` with the column names that tools use.
pub(crate) static USUAL: Csv = Csv {
    names: ColumnNames::USUAL,
};

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn example(&self) -> &'static str {
        "key,size,ops (a header line; then) user:{1000}:profile,184,17"
    }

    fn detect(&self, head: Head<'_>) -> Detected {
        // A header of one column is a key like any other.
        let named = |header: &Header| {
            header.fields.len() > 1
                && !header.alone_in_quotes
                && self.names.missing_in(&header.fields).is_none()
        };
        let word = |field: &Vec<u8>| {
            field
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_- ".contains(byte))
        };
        match Header::read(head, &self.names) {
            Some(header) if named(&header) && header.fields.iter().all(word) => Detected::Yes,
            Some(_) => Detected::No,
            None if head.bytes.len() >= LONGEST_HEADER => Detected::No,
            None => Detected::NeedMore,
        }
    }

    fn with_columns(&self, names: &ColumnNames) -> Option<Box<dyn Format>> {
        Some(Box::new(Csv {
            names: names.clone(),
        }))
    }

    fn open(&self, head: Head<'_>) -> Result<Opened, String> {
        let keys = CsvKeys::open(head, &self.names)?;
        Ok(keys.spelled(head, self.names.escapes).opened(self.name()))
    }
}

/// A table that is open; other tools' CSV is read by it too.
pub(crate) struct CsvKeys {
    delimiter: u8,
    fields: usize,
    /// The field of each role.
    at: [Option<usize>; ROLES],
    keys: KeySpelling,
}

impl CsvKeys {
    /// Finds the columns by the header.
    ///
    /// # Errors
    /// The columns there are, where one that is needed is not among them.
    pub(crate) fn open(head: Head<'_>, names: &ColumnNames) -> Result<CsvKeys, String> {
        let header = Header::read(head, names).ok_or("the header line does not end")?;
        if header.fields.iter().any(|name| name.contains(&b'\n')) {
            return Err(String::from(
                "no header: a quote in its first line has no end there",
            ));
        }
        if let Some(missing) = names.missing_in(&header.fields) {
            let there = columns::listed(&header.fields);
            let missing = Name::from(missing.as_str());
            return Err(format!("no column \"{missing}\"; columns are: {there}"));
        }
        let mut best = [None; ROLES];
        for (at, name) in header.fields.iter().enumerate() {
            if let Some((role, rank)) = names.role(name) {
                let place = &mut best[role.place()];
                if place.is_none_or(|(before, _)| rank < before) {
                    *place = Some((rank, at));
                }
            }
        }
        let at = best.map(|found| found.map(|(_, at)| at));
        Ok(CsvKeys {
            delimiter: header.delimiter,
            fields: header.fields.len(),
            at,
            keys: KeySpelling::Plain,
        })
    }

    /// The same table, with its keys as `head` shows that they are spelled.
    fn spelled(self, head: Head<'_>, wanted: KeyEscapes) -> CsvKeys {
        let key = self.at[Role::Key.place()].unwrap_or_default();
        CsvKeys {
            keys: KeySpelling::of(head, self.delimiter, key, wanted),
            ..self
        }
    }

    /// The table as an input in the format called `format`.
    pub(crate) fn opened(self, format: &'static str) -> Opened {
        let boundary = match self.keys {
            KeySpelling::Escaped => RowBoundary::Lines(b'\n'),
            _ => RowBoundary::Quoted(b'\n', Quotes::Doubled(self.delimiter)),
        };
        Opened::blocks(format, boundary, self)
    }

    fn carried(&self) -> Carried {
        self.at.map(|at| at.is_some())
    }

    /// Reads a batch of plain rows, each of them a key; returns where the next one starts. `None`: some
    /// row of it has to be looked at.
    fn read_plain(
        &self,
        base: Padded<'_>,
        from: usize,
        columns: &mut Columns<'_>,
        grid: &mut Grid,
        spans: &mut Spans,
    ) -> Option<usize> {
        let next = grid.cut(
            base,
            from as u32,
            self.delimiter,
            self.fields,
            true,
            columns.find_cells,
        )?;
        let text = &base.bytes()[from..base.len().min(next as usize)];
        let has_escapes = || memchr::memchr(b'\\', text).is_some();
        match self.keys {
            KeySpelling::Plain => {}
            KeySpelling::Escaped | KeySpelling::Name if !has_escapes() => {}
            _ => return None,
        }
        let Columns {
            keys,
            values,
            with_attributes,
            ..
        } = columns;
        let with_attributes = *with_attributes;
        values.clear();
        grid.column(self.at[Role::Key.place()]?, keys);
        let weights = Metric::WEIGHTS.into_iter().zip(&mut values.weights);
        let weights = weights
            .map(|(metric, column)| (Role::Weight(metric), column, table::reader_of(metric)));
        let numbers = Number::ALL.into_iter().zip(&mut values.numbers);
        let numbers = numbers.map(|(number, column)| {
            (
                Role::Number(number),
                column,
                table::reader_of_number(number).0,
            )
        });
        // No row is refused for what is in the columns that are left out.
        let is_read = |role: &Role| with_attributes || !role.is_attribute();
        for (role, column, read) in weights.chain(numbers).filter(|(role, ..)| is_read(role)) {
            if let Some(at) = self.at[role.place()] {
                grid.column(at, spans);
                if role == Role::Number(Number::Expiry) {
                    plain_rows::times(base, spans, column);
                } else if !plain_rows::numbers(
                    base,
                    spans,
                    |text| table::optional(text, read),
                    column,
                ) {
                    return None;
                }
            }
        }
        for word in Word::ALL.into_iter().filter(|_| with_attributes) {
            if let Some(at) = self.at[Role::Word(word).place()] {
                grid.column(at, values.word_mut(word));
            }
        }
        Some(next as usize)
    }

    /// The row at `at`, and where the next one starts.
    fn next(
        &self,
        content: &mut [u8],
        at: usize,
        fields: &mut Vec<Span>,
        undone: &mut u64,
    ) -> (usize, Step) {
        let (after, cut) = match self.keys {
            KeySpelling::Escaped => cut_line(content, at, self.delimiter, fields),
            _ => (cut_row(content, at, self.delimiter, fields), Some(())),
        };
        let step = match cut {
            None => Step::Reject("a text in double quotes that ends elsewhere".into()),
            Some(()) if fields.is_empty() => Step::Blank,
            Some(()) => self.key(content, fields).unwrap_or_else(Step::Reject),
        };
        if let Step::Key(row) = &step {
            let written = fields[self.at[Role::Key.place()].unwrap_or_default()];
            let has_quotes = u32::from(self.keys == KeySpelling::EscapedInField);
            *undone += u64::from(row.key.1 - row.key.0 + 2 * has_quotes < written.1 - written.0);
        }
        (after, step)
    }

    /// The key of a row and its other fields.
    fn key(&self, content: &mut [u8], fields: &[Span]) -> Result<Step, Refusal> {
        let row = self.row(content, fields)?;
        match self.keys.undo(content, row.key) {
            Some(key) => Ok(Step::Key(Row { key, ..row })),
            None => Err("a key without the quotes that the first ones have".into()),
        }
    }

    /// Parses the fields of a row.
    fn row(&self, content: &[u8], fields: &[Span]) -> Result<Row, Refusal> {
        if fields.len() != self.fields {
            let or_more = if fields.len() == MAX_FIELDS {
                " or more"
            } else {
                ""
            };
            return Err(format!(
                "{}{or_more} fields, where the header has {}",
                fields.len(),
                self.fields
            )
            .into());
        }
        let field = |role: Role| self.at[role.place()].map(|at| fields[at]);
        let text = |role| {
            field(role).map_or(&b""[..], |(start, end)| {
                &content[start as usize..end as usize]
            })
        };
        let number = |role, read: ReadNumber, what: &str| {
            let text = text(role);
            table::optional(text, read).ok_or_else(|| table::no_number(text, what))
        };
        Ok(Row {
            key: field(Role::Key).unwrap_or_default(),
            weights: table::weights(number)?,
            numbers: table::numbers(number)?,
            words: Word::ALL.map(|word| field(Role::Word(word)).unwrap_or_default()),
        })
    }
}

impl Reader for CsvKeys {
    fn read(
        &self,
        block: &mut Block,
        piece: Piece,
        columns: &mut Columns<'_>,
        sink: &mut dyn Sink,
    ) -> ReadStats {
        let mut seen = ReadStats::default();
        let (mut fields, mut undone) = (Vec::new(), 0);
        let mut from = table::start(block, piece, &mut seen);
        while piece.first && fields.is_empty() && from < block.len() {
            from = cut_row(block.content_mut(), from, self.delimiter, &mut fields);
        }
        let (mut grid, mut spans) = (Grid::default(), Spans::default());
        while from < block.len() {
            if let Some(next) =
                self.read_plain(block.padded(), from, columns, &mut grid, &mut spans)
            {
                table::hand_on(block, columns, sink, &mut seen);
                from = next;
                continue;
            }
            from = table::read_batch(
                block,
                from,
                self.carried(),
                columns,
                sink,
                &mut seen,
                |content, at| self.next(content, at, &mut fields, &mut undone),
            );
        }
        seen.note(Notice::EscapedKey, undone);
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::batch::{MISSING, NEVER, SOMETIME};
    use crate::format::detect;
    use crate::format::reading::{Found, read_whole};

    fn read(content: &str) -> Found {
        read_whole(&USUAL, content.as_bytes())
    }

    fn keys(content: &str) -> Vec<String> {
        read(content)
            .keys
            .into_iter()
            .map(|key| String::from_utf8(key).unwrap())
            .collect()
    }

    fn detected(content: &str) -> Detected {
        USUAL.detect(Head {
            bytes: content.as_bytes(),
            whole: false,
        })
    }

    #[test]
    fn columns_are_found_by_name_in_any_order_and_case() {
        let found = read("TTL,Hits,Name,DB,Type,memory_usage\n-1,7,a,0,hash,88\n60,,b,,,\n");
        assert_eq!(found.keys, [b"a", b"b"]);
        assert_eq!(found.values.weights[1], [7, MISSING]);
        assert_eq!(found.values.weights[0], [88, MISSING]);
        assert_eq!(found.values.number(Number::Database).to_vec(), [0, MISSING]);
        assert_eq!(
            found.values.number(Number::Expiry).to_vec(),
            [NEVER, SOMETIME]
        );
        assert_eq!(found.types, [&b"hash"[..], b""]);
    }

    #[test]
    fn a_column_that_is_not_there_is_empty() {
        let found = read("key,frequency\na,255\n");
        assert_eq!((found.keys.len(), found.values), (1, Default::default()));
    }

    #[test]
    fn quotes_delimiters_and_line_ends_may_be_in_a_key() {
        assert_eq!(
            keys("key,size\n\"a,b\",1\n\"c\nd\",2\n\"e\"\"f\"\"\",3\n"),
            ["a,b", "c\nd", "e\"f\""]
        );
        assert_eq!(keys("key;size\r\na,b;1\r\n\"c;d\";2\r\n"), ["a,b", "c;d"]);
        assert_eq!(keys("size\tkey\n1\ta\n"), ["a"]);
        assert_eq!(keys("key|size\na,b|1\n\"c|d\"|2\n"), ["a,b", "c|d"]);
        assert_eq!(keys("\u{feff}key,size\na\"b,1"), ["a\"b"]);
    }

    #[test]
    fn a_header_without_a_key_lists_its_columns() {
        let open = |content: &str, names| {
            Csv { names }
                .open(Head {
                    bytes: content.as_bytes(),
                    whole: true,
                })
                .err()
                .unwrap_or_default()
        };
        assert_eq!(
            open("id,size\n1,2\n", ColumnNames::USUAL),
            "no column \"key\"; columns are: \"id\", \"size\""
        );
        let names = ColumnNames {
            size: Some("weight".into()),
            ..ColumnNames::USUAL
        };
        assert_eq!(
            open("key;size\n1;2\n", names),
            "no column \"weight\"; columns are: \"key\", \"size\""
        );
    }

    #[test]
    fn a_column_can_be_named() {
        let csv = Csv {
            names: ColumnNames {
                key: Some("id".into()),
                ..ColumnNames::USUAL
            },
        };
        assert_eq!(read_whole(&csv, b"key,id\na,b\n").keys, [b"b"]);
    }

    #[test]
    fn keys_as_redis_cli_spells_them_are_decoded_unless_the_user_says_otherwise() {
        let with = |escapes, content: &[u8]| {
            let names = ColumnNames {
                escapes,
                ..ColumnNames::USUAL
            };
            read_whole(&Csv { names }, content)
        };
        let found = read("key,size\n\"\\xd1\\x82\",1\n\"a\\\"b,c\\\\\",2\n\"\",3\n");
        assert_eq!(found.keys, [&b"\xd1\x82"[..], b"a\"b,c\\", b""]);
        assert_eq!(found.values.weights[0], [1, 2, 3]);
        assert_eq!(found.seen.count(Notice::EscapedKey), 2);
        let found = read("size;key\n1;\"\"\"\\xd1\\x82\"\"\"\n2;\"\"\"a\\\"\"b\"\"\"\n");
        assert_eq!(found.keys, [&b"\xd1\x82"[..], b"a\"b"]);
        assert_eq!(found.seen.count(Notice::EscapedKey), 2);
        let kept = with(KeyEscapes::None, b"key,size\n\"\\x41\",1\n");
        assert_eq!(kept.keys, [br"\x41"]);
        let rows = b"key,size\n\\x41,1\n\"\\x42\",2\n\"open,4\nc,3\n\"d\"x,5\n\n";
        let undone = with(KeyEscapes::C, rows);
        assert_eq!(undone.keys, [b"A", b"B", b"c"]);
        let places: Vec<_> = undone.rejects.iter().map(|(at, _)| *at).collect();
        assert_eq!(places, [25, 37]);
    }

    #[test]
    fn a_row_that_does_not_fit_is_rejected_where_it_starts() {
        let found = read("key,size\na,1\nb\nc,many\n\nd,2,3\ne,4\n");
        assert_eq!(found.keys, [b"a", b"e"]);
        let rejects: Vec<_> = found
            .rejects
            .iter()
            .map(|(at, why)| (*at, why.as_str()))
            .collect();
        let expected = [
            (13, "1 fields, where the header has 2"),
            (15, "no size"),
            (23, "3 fields, where the header has 2"),
        ];
        assert_eq!(rejects, expected);
        assert_eq!(found.excerpts[1], b"many");
    }

    #[test]
    fn a_header_in_quotes_is_not_taken_for_a_reply() {
        let name = |content: &str| {
            detect(Head {
                bytes: content.as_bytes(),
                whole: true,
            })
            .unwrap()
            .name()
        };
        assert_eq!(
            name("\"database\",\"type\",\"key\"\n\"0\",\"set\",\"a\"\n"),
            "csv"
        );
        for reply in [
            "\"name\",\"age\"\n",
            "\"user:1\",\"key\"\n\"b\"\n",
            "\"a\",\"b\"",
        ] {
            assert_eq!(name(reply), "redis-csv", "{reply}");
        }
    }

    #[test]
    fn only_a_header_with_a_key_among_other_columns_is_detected() {
        assert_eq!(detected("key,size\na"), Detected::Yes);
        assert_eq!(detected("db;name\n1"), Detected::Yes);
        assert_eq!(detected("key,size\n"), Detected::NeedMore);
        for no in [
            "key\na",
            "user:1,user:2\na",
            "a,b\na",
            "key,{user}:1\na",
            "\na\na",
        ] {
            assert_eq!(detected(no), Detected::No, "{no:?}");
        }
    }
}
