//! Tables: tries every way to split lines into cells with a single key column, and picks the most certain.

mod bare;
mod header;
mod overfull;

use slotscope_base::sentence::Sentence;
use slotscope_read::format::parse::escape;
use slotscope_read::format::parse::python;
use slotscope_read::format::table::columns::{ColumnNames, Role};
use slotscope_read::format::table::layout::{KeyText, Layout, is_escaped};
use slotscope_read::format::table::separator::Separator;

use crate::shape::column::{Column, MOST, share_of};
use crate::shape::cut::{CutRows, Text};
use crate::shape::encoded::encoded;
use crate::shape::lines::Lines;

/// How certain it is that the lines are table rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::shape) enum Certainty {
    /// Rows of keys and numbers, or keys that end with a number: undecidable.
    Ambiguous,
    /// One column has distinct names of several kinds, and the others have values.
    Likely,
    /// A header names the key, but the rows do not fit it.
    Unfit,
    /// Proven by the header, or by slot numbers.
    Proven,
}

/// A table.
#[derive(Debug)]
pub(in crate::shape) struct Table {
    pub certainty: Certainty,
    pub layout: Layout,
    /// Numeric columns that are not used.
    pub unread: Vec<Vec<u8>>,
    /// Doubts about cells.
    pub doubts: Vec<Sentence>,
    /// Why it is refused, if it is unfit.
    pub refused: Option<String>,
}

impl Table {
    pub(super) fn new(certainty: Certainty, layout: Layout) -> Table {
        Table {
            certainty,
            layout,
            unread: Vec::new(),
            doubts: Vec::new(),
            refused: None,
        }
    }

    /// The same, if it is refused for a reason.
    pub(super) fn unless(self, refused: Option<String>) -> Table {
        Table {
            certainty: if refused.is_some() {
                Certainty::Unfit
            } else {
                self.certainty
            },
            refused,
            ..self
        }
    }
}

/// The most certain table; among equals, the one whose separator is least frequent in key names.
pub(in crate::shape) fn surest(lines: &Lines<'_>, names: &ColumnNames) -> Option<Table> {
    let mut best: Option<Table> = None;
    for separator in candidates(lines) {
        let searched = Searched::new(lines, separator, names);
        let table = searched.with_header().or_else(|| searched.without_header());
        if table.as_ref().map(|table| table.certainty) > best.as_ref().map(|table| table.certainty)
        {
            best = table;
        }
        if best
            .as_ref()
            .is_some_and(|table| table.certainty == Certainty::Proven)
        {
            break;
        }
    }
    best
}

/// The table whose header names these columns, with any separator.
pub(in crate::shape) fn named(
    lines: &Lines<'_>,
    separators: &[Separator],
    names: &ColumnNames,
) -> Option<Table> {
    let mut tables = separators.iter();
    tables.find_map(|separator| Searched::new(lines, *separator, names).with_header())
}

/// The separators found in most of the first rows.
pub(in crate::shape) fn candidates(lines: &Lines<'_>) -> Vec<Separator> {
    const LOOKED_AT: usize = 24;
    let step = lines.rows.len().div_ceil(LOOKED_AT).max(1);
    let sample: Vec<&[u8]> = lines.rows.iter().copied().step_by(step).collect();
    let only = lines.separator();
    let is_wanted =
        |separator: &Separator| only.is_none_or(|byte| *separator == Separator::Byte(byte));
    // A title before few rows is a large part of them, and quoted cells may span lines.
    let is_open = |row: &&[u8]| memchr::memchr_iter(b'"', row).count() % 2 == 1;
    let is_short = lines.rows.len() < 30 || sample.iter().any(is_open);
    let least = if is_short { 0.25 } else { 0.6 };
    let is_there = |separator: &Separator| share_of(&sample, |row| separator.is_in(row)) >= least;
    // A row framed by bars is split at each bar.
    let with_bar: Vec<&[u8]> = sample
        .iter()
        .copied()
        .filter(|row| row.contains(&b'|'))
        .collect();
    let is_framed = share_of(&with_bar, |row| {
        matches!(row.trim_ascii(), [b'|', .., b'|'])
    }) >= 0.9;
    let is_usable = |separator: &Separator| !(is_framed && *separator == Separator::Text(" | "));
    Separator::ALL
        .into_iter()
        .filter(|separator| is_wanted(separator) && is_usable(separator) && is_there(separator))
        .collect()
}

/// Lines cut by a separator.
struct Searched<'s, 'a> {
    lines: &'s Lines<'a>,
    cut: CutRows<'a>,
    separator: Separator,
    has_border: bool,
    names: &'s ColumnNames,
}

impl<'s, 'a> Searched<'s, 'a> {
    fn new(lines: &'s Lines<'a>, separator: Separator, names: &'s ColumnNames) -> Self {
        let mut cut = CutRows::of(lines.head, &lines.rows, separator);
        let may_have_border =
            separator == Separator::Byte(b'|') || separator == Separator::Text("│");
        Searched {
            lines,
            has_border: may_have_border && cut.strip_border(),
            cut,
            separator,
            names,
        }
    }

    /// The rows with exactly this many cells; if there are none, those with more.
    pub(super) fn rows_of(&self, rows: &[usize], columns: usize) -> Vec<usize> {
        let rows_with = |fits: &dyn Fn(usize) -> bool| -> Vec<usize> {
            rows.iter()
                .copied()
                .filter(|row| fits(self.cut.cells(*row).len()))
                .collect()
        };
        let exact = rows_with(&|cells| cells == columns);
        if exact.is_empty() {
            rows_with(&|cells| cells >= columns)
        } else {
            exact
        }
    }

    pub(super) fn column(&self, rows: &[usize], column: usize) -> Column<'a> {
        let cells = rows
            .iter()
            .map(|row| self.cut.text(*row, self.cut.cells(*row)[column]).trimmed());
        Column::of(cells.collect())
    }

    /// A layout with the key in `column`, and what the rows show about the other columns.
    pub(super) fn layout(
        &self,
        columns: usize,
        key: usize,
        cells: &[Column<'a>],
        exact: &[usize],
    ) -> Layout {
        let mut layout = Layout::new(self.separator, columns);
        layout.at[Role::Key.place()] = Some(key);
        layout.has_border = self.has_border;
        layout.values = cells
            .iter()
            .map(|column| column.is_value() && column.len() > 0)
            .collect();
        layout.padded = self.padded(exact, key);
        layout.words = cells.iter().map(Column::words).collect();
        layout.key_text = key_text(&cells[key].cells, self.separator, self.has_border);
        layout
    }

    /// Doubts about the keys and the sizes in `rows` of a table.
    pub(super) fn doubts(&self, layout: &Layout, rows: &[usize], has_units: bool) -> Vec<Sentence> {
        const UNITS: &str =
            "sizes whose unit is in another column were not read: write both in one cell (5 MB)";
        const BLANKS: &str = "keys end with blanks, which are read as parts of them";
        let text = |row: &usize| self.cut.text(*row, self.cut.cells(*row)[layout.key()]);
        let keys: Vec<Text<'_>> = rows.iter().map(text).collect();
        let ends = |text: &Text<'_>| !text.is_quoted && text.raw.ends_with(b" ");
        // Between other separators, blanks do not belong to the key.
        let is_between_bytes = matches!(self.separator, Separator::Byte(_));
        let is_padded = is_between_bytes && layout.padded.is_none() && share_of(&keys, ends) >= 0.2;
        let cells: Vec<&[u8]> = keys.into_iter().map(Text::trimmed).collect();
        let said = |is: bool, words: &str| is.then(|| Sentence::default().words(words));
        let is_plain = layout.key_text == KeyText::Plain;
        let encoded = is_plain.then(|| encoded(&cells)).flatten();
        let others = [said(is_padded, BLANKS), said(has_units, UNITS)];
        encoded
            .into_iter()
            .chain(others.into_iter().flatten())
            .collect()
    }

    /// The width of a column's cells, if they are padded with blanks.
    fn padded(&self, rows: &[usize], column: usize) -> Option<usize> {
        let cell = |row: &usize| self.cut.text(*row, self.cut.cells(*row)[column]);
        let width = |text: Text<'_>| String::from_utf8_lossy(text.raw).chars().count().max(1);
        let has_blanks = |text: Text<'_>| text.raw.len() > text.trimmed().len();
        let is_padded = match self.separator {
            _ if self.has_border => true,
            Separator::Byte(_) => self.is_padded(rows, column),
            Separator::Text(text) if !text.starts_with(' ') => {
                rows.iter().take(200).map(cell).any(has_blanks)
            }
            Separator::Text(_) | Separator::Blanks(_) => false,
        };
        let widths = rows.iter().take(200).map(|row| width(cell(row)));
        is_padded.then_some(())?;
        widths.max().or(Some(1))
    }

    /// Whether the cells of a column between bytes are padded with blanks.
    fn is_padded(&self, rows: &[usize], column: usize) -> bool {
        let columns: Vec<usize> = match rows {
            [_, _, _, ..] => vec![column],
            [first, ..] => (0..self.cut.cells(*first).len()).collect(),
            [] => return false,
        };
        let is_bare = |text: Text<'_>| {
            !text.is_quoted && text.raw.len() == text.trimmed().len() && !text.raw.is_empty()
        };
        let texts = |row: &usize| {
            let cells = self.cut.cells(*row);
            columns
                .iter()
                .filter_map(|column| Some(self.cut.text(*row, *cells.get(*column)?)))
                .collect::<Vec<_>>()
        };
        let sample: Vec<Text<'_>> = rows.iter().take(200).flat_map(texts).collect();
        let is_any = sample
            .iter()
            .any(|text| !text.is_quoted && text.raw.len() > text.trimmed().len());
        // Where all have one width, the longest is bare.
        let width = |text: &Text<'_>| String::from_utf8_lossy(text.raw).chars().count();
        let is_wide = |text: &Text<'_>| !text.is_quoted && width(text) == width(&sample[0]);
        is_any && (sample.iter().all(is_wide) || !sample.iter().copied().any(is_bare))
    }
}

/// How these keys are quoted or escaped.
fn key_text(keys: &[&[u8]], separator: Separator, is_framed: bool) -> KeyText {
    const MARKS: [&[u8]; 2] = [b"`", b"**"];
    let may_be_quoted = !matches!(separator, Separator::Byte(_));
    let is_between = |mark: &&&[u8]| {
        let ends = |cell: &[u8]| cell.ends_with(mark);
        share_of(keys, |cell| cell.strip_prefix(**mark).is_some_and(ends)) >= MOST
    };
    let has_escapes =
        |cell: &&[u8]| memchr::memchr_iter(b'\\', cell).any(|at| is_escaped(&cell[at..]));
    match MARKS.iter().find(is_between) {
        Some(mark) => KeyText::Marked(mark),
        None if share_of(keys, |cell| is_python(cell)) >= MOST => KeyText::Python,
        None if may_be_quoted && share_of(keys, |cell| escape::is_quoted(cell)) >= MOST => {
            KeyText::Quoted
        }
        None if is_framed && keys.iter().any(has_escapes) || are_properties(keys) => {
            KeyText::Escaped
        }
        None => KeyText::Plain,
    }
}

/// Whether colons are written after backslashes, as properties of Java are.
fn are_properties(keys: &[&[u8]]) -> bool {
    let mut colons = keys
        .iter()
        .flat_map(|key| memchr::memchr_iter(b':', key).map(|at| &key[..at]));
    colons.clone().next().is_some() && colons.all(|before| before.ends_with(b"\\"))
}

/// Whether a cell is a Python literal; its quotes are doubled inside a quoted cell.
fn is_python(cell: &[u8]) -> bool {
    let single = || String::from_utf8_lossy(cell).replace("\"\"", "\"");
    python::literal(cell).is_some_and(|(inside, _)| cell[inside.start - 1] == b'\'')
        || python::is_bytes(single().as_bytes())
}

/// A column holding the slots of another one's cells, which proves the latter to be keys: (slots, keys).
pub(super) fn proof(columns: &[Column<'_>]) -> Option<(usize, usize)> {
    const ROWS: usize = 8;
    let is_slot = |column: &Column<'_>| {
        column.len() >= ROWS
            && column.are_numbers() >= 0.99
            && column.numbers.len() == column.len()
            && column.numbers.iter().all(|slot| *slot < 16384)
    };
    let slots = (0..columns.len()).filter(|column| is_slot(&columns[*column]));
    let keys = |slots: usize| {
        let numbers = &columns[slots].numbers;
        let fits = move |key: &usize| {
            let pairs = columns[*key].cells.iter().zip(numbers);
            let right = pairs
                .filter(|(key, slot)| u64::from(hashslot::slot(key)) == **slot)
                .count();
            right as f64 >= MOST * numbers.len() as f64
        };
        // Repeated cells prove nothing: 0 is the slot of an empty one.
        (0..columns.len())
            .filter(move |key| *key != slots && columns[*key].is_unique())
            .find(fits)
            .map(|key| (slots, key))
    };
    slots.into_iter().find_map(keys)
}

#[cfg(test)]
mod tests {
    use crate::shape;
    use slotscope_read::format::Head;

    /// The description of a text and its warning, or its refusal.
    fn told(text: &str) -> (String, String) {
        let bytes = text.as_bytes();
        let of = shape::of(Head { bytes, whole: true });
        of.map_or_else(
            |refusal| (String::new(), refusal),
            |shape| {
                let told = shape.unwrap().told;
                let warning = told.warning.map(|said| format!("{said:?}"));
                (told.shape, warning.unwrap_or_default())
            },
        )
    }

    #[test]
    fn encoded_keys_in_cells_are_told_as_those_of_lines() {
        for table in [
            "key,size\ndXNlcjoxMDAx,12\ndXNlcjoxMDAy,13\n",
            "key,size\nuser%3A1,12\nuser%3A2,13\n",
            "key,size\n\\x757365723a31,12\n",
            "key,size\n'user:1,12\n'user:2,13\n",
            "key,size\n\"=\"\"user:1\"\"\",12\n\"=\"\"user:2\"\"\",12\n",
            "user%3A1\t120\ncart%3A2\t130\nlock%3A3\t97\n",
            "{\"key\":\"b'user:1'\",\"size\":12}\n",
            "{\"key\":\"\\\\x757365723a31\",\"size\":12}\n",
        ] {
            let (shape, warning) = told(table);
            assert!(
                !shape.is_empty() && warning.contains("the keys are written with"),
                "{table}: {warning}"
            );
        }
        for table in [
            "key,size\nuser:1,12\n",
            "key,size\nb'user:1',12\n",
            "| key | size |\n|---|---|\n| `user:1` | 12 |\n",
            "| key | size |\n|---|---|\n| \\{user\\}:1 | 12 |\n",
            "{\"key\":\"user:1\"}\n",
        ] {
            assert_eq!(told(table).1, "", "{table}");
        }
    }

    #[test]
    fn a_unit_beside_a_size_is_told() {
        for table in [
            "key,size,unit\nuser:1,5,MB\n",
            "key,size,size_unit\nuser:1,5,MB\nuser:2,5,KB\n",
            "user:1\t500\tMB\ncart:2\t90\tMB\nlock:3\t70\tMB\n",
        ] {
            let (shape, warning) = told(table);
            assert!(
                !shape.contains("size in column") && warning.contains("unit"),
                "{table}: {shape}"
            );
        }
        let (_, refusal) = told("{\"key\":\"user:1\",\"size\":5,\"size_unit\":\"MB\"}\n");
        assert!(
            refusal.contains(r#"jq -c '.size = "\(.size) \(.unit)"' FILE"#),
            "{refusal}"
        );
        for table in [
            "key,size,unit\nuser:1,5,bytes\n",
            "{\"key\":\"user:1\",\"size\":5,\"unit\":\"B\"}\n",
        ] {
            let (shape, warning) = told(table);
            assert!(
                !shape.is_empty() && warning.is_empty(),
                "{table}: {warning}"
            );
        }
    }

    #[test]
    fn a_column_of_numbers_that_may_be_sizes_is_unread_however_small_they_are() {
        let unread = |header: &str| {
            let rows = (0..40).map(|at| format!("user:{at},{},{}\n", 1 + at % 3, at % 7));
            let text = format!("{header}\n{}", rows.collect::<String>());
            let bytes = text.as_bytes();
            let shape = shape::of(Head { bytes, whole: true }).unwrap().unwrap();
            shape.told.unread.map(|name| name.to_string())
        };
        for name in [
            "max_bytes",
            "bits",
            "memory (pages)",
            "bytes_in",
            "key_size",
            "size (h)",
        ] {
            for header in [format!("key,{name},ops"), format!("key,score,{name}")] {
                assert_eq!(unread(&header).as_deref(), Some(name), "{header}");
            }
        }
        for header in ["key,slot,ops", "key,bytes,max_bytes", "key,ops_latency,n"] {
            assert_eq!(unread(header), None, "{header}");
        }
    }

    #[test]
    fn blanks_after_keys_are_told_unless_they_pad_all_to_one_width() {
        let (_, warning) = told("key,size\nuser:1,12\nab ,13\ncart:7 ,14\nx,14\n");
        assert!(warning.contains("end with blanks"), "{warning}");
        assert_eq!(
            told("key   ,size\nuser:1,12\nab    ,13\ncart:7,14\nx     ,14\n").1,
            ""
        );
    }

    #[test]
    fn a_header_between_rows_is_refused() {
        let rows = |from: usize| -> String {
            (from..from + 5)
                .map(|at| format!("user:{at},{}\n", 90 + at))
                .collect()
        };
        let (_, refusal) = told(&format!("{}key,size\n{}", rows(0), rows(5)));
        assert!(refusal.contains("line 6 is a header"), "{refusal}");
        let titled = format!("Report of shop, 2026-11-20\nkey,size\n{}", rows(0));
        let (shape, warning) = told(&titled);
        assert!(shape.contains("{key"));
        assert!(warning.contains("not read: 1 row above the header in line 2"));
    }
}
