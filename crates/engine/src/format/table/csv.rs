//! `csv`: a table with a header line, fields quoted as RFC 4180 has it, columns found by their names.
//!
//! A quote in the middle of an unquoted field is itself, and what follows a closing quote belongs to the field: what
//! `row_boundary` and the `csv` crate hold too. Doubled quotes are decoded in place, so a key stays a span.
//! A batch of plain rows is cut all at once (`grid`); the result is the same.

use crate::format::batch::{Number, Spans, Word};
use crate::format::frame::row_boundary::{Quotes, RowBoundary};
use crate::format::parse::csv_row::{MAX_FIELDS, cut_row};
use crate::format::parse::size::ReadNumber;
use crate::format::shape::{self, Around};
use crate::format::table;
use crate::format::table::columns::{ColumnNames, KeyEscapes, Role};
use crate::format::table::header::Header;
use crate::format::table::key_spelling::{KeySpelling, cut_line};
use crate::format::table::layout::Layout;
use crate::format::table::plain_rows;
use crate::format::table::plain_rows::Grid;
use crate::format::table::separator::{Cell, Separator};
use crate::format::table::{Carried, Refusal, Row, Span, Step, Unreadables};
use crate::format::{Columns, Format, Head, Notice, Opened, ReadStats, Reader, Sink};
use crate::metric::Metric;
use crate::source::block::{Block, Padded, Piece};
use crate::source::boundary::line_at;

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

    fn with_columns(&self, names: &ColumnNames) -> Option<Box<dyn Format>> {
        Some(Box::new(Csv {
            names: names.clone(),
        }))
    }

    fn open(&self, head: Head<'_>) -> Result<Opened, String> {
        let keys = CsvKeys::open(head, &self.names)?;
        Ok(keys.opened(self.name()))
    }
}

/// A table that is open; other tools' CSV is read by it too.
pub(crate) struct CsvKeys {
    layout: Layout,
    keys: KeySpelling,
}

impl CsvKeys {
    /// Finds the columns by the header, or by the places that the user gives.
    ///
    /// # Errors
    /// The columns there are, where one that is needed is not among them.
    pub(crate) fn open(head: Head<'_>, names: &ColumnNames) -> Result<CsvKeys, String> {
        let layout = if names.places.is_empty() {
            match shape::table_with(head, names) {
                Some((layout, _)) => layout,
                None => Header::read(head, names).ok_or("the header line does not end")?.layout(names)?,
            }
        } else {
            shape::table_of(head, names)?
        };
        Ok(CsvKeys::of(head, layout, names.escapes))
    }

    /// A table of this layout, with its keys as `head` shows that they are spelled.
    pub(crate) fn of(head: Head<'_>, layout: Layout, escapes: KeyEscapes) -> CsvKeys {
        let keys = match layout.plain_delimiter() {
            Some(delimiter) if layout.header.is_some() => {
                let bytes = head.bytes.get(layout.header_at as usize..);
                let bytes = bytes.unwrap_or_default();
                KeySpelling::of(Head { bytes, ..head }, delimiter, layout.key(), escapes)
            }
            _ => KeySpelling::Plain,
        };
        CsvKeys { layout, keys }
    }

    /// The table as an input in the format called `format`.
    pub(crate) fn opened(self, format: &'static str) -> Opened {
        let boundary = match (self.keys, self.layout.separator) {
            (KeySpelling::Escaped, _) => RowBoundary::Lines(b'\n'),
            (_, Separator::Byte(delimiter)) if self.layout.has_quotes => {
                RowBoundary::Quoted(b'\n', Quotes::Doubled(delimiter))
            }
            _ => RowBoundary::Lines(b'\n'),
        };
        Opened::blocks(format, boundary, self)
    }

    fn carried(&self) -> Carried {
        self.layout.at.map(|at| at.is_some())
    }

    /// How a column is read, and what its content is called.
    fn reader(&self, role: Role) -> ReadNumber {
        match role {
            Role::Weight(metric) if metric.is_size() => self.layout.size_unit.size_reader(),
            Role::Number(Number::Expiry) => self.layout.expiry_unit.expiry_reader(),
            Role::Number(number) => table::reader_of_number(number),
            Role::Weight(metric) => table::reader_of(metric),
            Role::Key | Role::Word(_) => |_| None,
        }
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
        let delimiter = self.layout.plain_delimiter()?;
        let next = grid.cut(
            base,
            from as u32,
            delimiter,
            self.layout.columns,
            self.layout.has_quotes,
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
        grid.column(self.layout.key(), keys);
        let weights = Metric::WEIGHTS.into_iter().zip(&mut values.weights);
        let weights = weights.map(|(metric, column)| (Role::Weight(metric), column));
        let numbers = Number::ALL.into_iter().zip(&mut values.numbers);
        let numbers = numbers.map(|(number, column)| (Role::Number(number), column));
        let is_read = |role: &Role| with_attributes || !role.is_attribute();
        for (role, column) in weights.chain(numbers).filter(|(role, _)| is_read(role)) {
            if let Some(at) = self.layout.at[role.place()] {
                grid.column(at, spans);
                let read = self.reader(role);
                if !plain_rows::numbers(base, spans, |text| table::optional(text, read), column) {
                    return None;
                }
            }
        }
        for word in Word::ALL.into_iter().filter(|_| with_attributes) {
            if let Some(at) = self.layout.at[Role::Word(word).place()] {
                grid.column(at, values.word_mut(word));
            }
        }
        Some(next as usize)
    }

    /// The row at `at`, and where the next one starts.
    fn next(&self, content: &mut [u8], at: usize, cut: &mut CutRow) -> (usize, Step) {
        let line = line_at(content, at).0;
        if let Some(around) = shape::around(line) {
            let step = match around {
                Around::Blank => Step::Blank,
                _ => Step::Around,
            };
            return (line_at(content, at).1, step);
        }
        let Some(after) = self.cut(content, at, cut) else {
            let after = line_at(content, at).1;
            return (after, Step::Reject("a text in double quotes that ends elsewhere".into()));
        };
        if cut.cells.is_empty() {
            return (after, Step::Blank);
        }
        let step = self.row(content, cut).unwrap_or_else(|refusal| {
            if shape::is_comment(line_at(content, at).0) { Step::Around } else { Step::Reject(refusal) }
        });
        (after, step)
    }

    /// Cuts the row at `at` into cells; returns where the next one starts.
    fn cut(&self, content: &mut [u8], at: usize, cut: &mut CutRow) -> Option<usize> {
        let CutRow { cells, fields, .. } = cut;
        let is_escaped = self.keys == KeySpelling::Escaped;
        if let (Separator::Byte(delimiter), true) = (self.layout.separator, self.layout.has_quotes && !self.layout.is_trimmed) {
            let (after, is_cut) = match is_escaped {
                true => cut_line(content, at, delimiter, fields),
                false => (cut_row(content, at, delimiter, fields), Some(())),
            };
            is_cut?;
            let is_quoted = |(from, _): &Span| content[..*from as usize].last() == Some(&b'"');
            cells.clear();
            cells.extend(fields.iter().map(|span| Cell {
                span: *span,
                is_quoted: is_quoted(span),
            }));
            return Some(after);
        }
        let (line, after) = line_at(content, at);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        self.layout.separator.cut(line, self.layout.has_quotes, cells);
        for cell in cells.iter_mut() {
            cell.span = (cell.span.0 + at as u32, cell.span.1 + at as u32);
            if cell.is_quoted {
                cell.span = undouble(content, cell.span);
            }
        }
        Some(after)
    }

    /// The key of a row and its other cells.
    fn row(&self, content: &mut [u8], cut: &mut CutRow) -> Result<Step, Refusal> {
        let layout = &self.layout;
        let cells = layout.inside(&cut.cells);
        if layout.is_header(content, cells) {
            return Ok(Step::Around);
        }
        let Some(key) = layout.key_in(content, cells) else {
            let many = if cells.len() >= MAX_FIELDS { " or more" } else { "" };
            let reason = format!("{}{many} fields, where the table has {}", cells.len(), layout.columns);
            return Err(reason.into());
        };
        let of_column = |column: usize| layout.bare(content, column, cells[layout.place(column, cells.len())]);
        let field = |role: Role| layout.at[role.place()].map(of_column);
        let text = |role| field(role).map_or(&b""[..], |(from, to)| &content[from as usize..to as usize]);
        let mut unreadable = Unreadables::default();
        let mut number = |role, read: ReadNumber| {
            let text = text(role);
            table::optional(text, read).unwrap_or_else(|| unreadable.note(role, text))
        };
        let mut row = Row::of(layout.bare(content, layout.key(), key));
        for (metric, weight) in Metric::WEIGHTS.into_iter().zip(&mut row.weights) {
            let role = Role::Weight(metric);
            *weight = number(role, self.reader(role));
        }
        for (of, value) in Number::ALL.into_iter().zip(&mut row.numbers) {
            let role = Role::Number(of);
            *value = number(role, self.reader(role));
        }
        row.words = Word::ALL.map(|word| field(Role::Word(word)).unwrap_or_default());
        let written = row.key;
        let undone = self.keys.undo(content, row.key).and_then(|key| layout.undo(content, key));
        row.key = undone.ok_or("a key without the quotes that the first ones have")?;
        let has_quotes = u32::from(self.keys == KeySpelling::EscapedInField);
        let is_shorter = row.key.1 - row.key.0 + 2 * has_quotes < written.1 - written.0;
        cut.undone += u64::from(is_shorter && self.keys != KeySpelling::Plain);
        Ok(Step::of(row, unreadable))
    }
}

/// A row that is cut; kept for its memory.
#[derive(Default)]
struct CutRow {
    fields: Vec<Span>,
    cells: Vec<Cell>,
    /// Keys so far whose escapes were undone.
    undone: u64,
}

/// Makes one quote of two in a cell.
fn undouble(content: &mut [u8], (from, to): Span) -> Span {
    let mut write = from as usize;
    let mut read = from as usize;
    while read < to as usize {
        content[write] = content[read];
        read += if content[read..to as usize].starts_with(b"\"\"") { 2 } else { 1 };
        write += 1;
    }
    (from, write as u32)
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
        let mut cut = CutRow::default();
        let mut from = table::start(block, piece, &mut seen);
        from = table::skipped(from, piece, self.layout.skip).min(block.len());
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
                piece.offset,
                |content, at| self.next(content, at, &mut cut),
            );
        }
        seen.note(Notice::EscapedKey, cut.undone);
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
