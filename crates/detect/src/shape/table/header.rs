//! Tables with a header that names the key column, or that has words above numeric columns.

use slotscope_base::metric::Metric;
use slotscope_base::sentence::Sentence;
use slotscope_base::text::counted;
use slotscope_read::format::parse::value::{Value, value};
use slotscope_read::format::table::columns::{self, Role};
use slotscope_read::format::table::layout::Layout;
use slotscope_read::format::table::names;
use slotscope_read::format::table::separator::Separator;

use crate::shape::column::{
    Column, MOST, MayBeSize, are_units_of_one, common_prefix, share, share_of,
};
use crate::shape::cut::Text;
use crate::shape::table::{Certainty, Searched, Table, proof};

/// Why a table is refused in which no column is called a key.
const NO_KEY: &str = "a table whose header names no key, no key dump: --key-column NAME says which column has the keys";
/// Rows searched for a header.
const BEFORE_HEADER: usize = 20;
const MOST_COLUMNS: usize = 200;

/// A header.
struct Header<'a> {
    names: Vec<&'a [u8]>,
    /// The role of each column, and how many aliases have precedence over its name.
    roles: Vec<Option<(Role, usize)>>,
    /// Whether the content of a column is known, be it only that it is not read.
    is_known: Vec<bool>,
}

impl<'a> Searched<'_, 'a> {
    /// A table with a header that names the key column, or that has words above numeric columns.
    pub(super) fn with_header(&self) -> Option<Table> {
        let never = [
            Separator::Byte(b'='),
            Separator::Text(": "),
            Separator::Text(" = "),
            Separator::Text(" -> "),
            Separator::Text(" => "),
        ];
        if never.contains(&self.separator) {
            return None;
        }
        (0..self.cut.len().min(BEFORE_HEADER)).find_map(|row| self.header_at(row))
    }

    pub(super) fn header_at(&self, row: usize) -> Option<Table> {
        let header = self.header(row)?;
        let last = row + usize::from(self.has_types_below(row));
        let body: Vec<usize> = (last + 1..self.cut.len()).collect();
        let mut columns = header.names.len();
        if body.is_empty()
            && !(row == 0 && header.is_known.iter().filter(|known| **known).count() > 1)
        {
            return None;
        }
        let has = |at: &usize, least: usize| self.cut.cells(*at).len() >= least;
        let fitting = body.iter().filter(|at| has(at, columns)).count();
        // A header of well-known names is one, whatever follows.
        let is_listed = row == 0
            && header
                .roles
                .iter()
                .flatten()
                .filter(|(_, rank)| *rank < names::FIRST_RANK)
                .count()
                > 1;
        if share(fitting, body.len()) < 0.9 && !body.is_empty() && !is_listed {
            return None;
        }
        let is_shifted = self.is_shifted(&body, columns);
        columns += usize::from(is_shifted);
        let header = if is_shifted { header.shifted() } else { header };
        let exact = self.rows_of(&body, columns);
        let cells: Vec<Column<'a>> = (0..columns)
            .map(|column| self.column(&exact, column))
            .collect();
        // A title before the header has fewer cells, or a text where the rows have numbers; it is shorter than the table.
        let filled = (0..row).filter(|at| has(at, columns));
        let (rows_before, titles): (Vec<_>, Vec<_>) =
            filled.partition(|at| self.is_like(*at, &cells));
        if 2 * titles.len() > row && titles.len() > exact.len() {
            return None;
        }
        let is_inside = 2 * rows_before.len() > row;
        let above = rows_before.len() + titles.len();
        let is_listed = |key: &usize| is_listed && !are_counts(header.names[*key], &cells[*key]);
        let listed = || header.best(Role::Key).filter(is_listed);
        let proof = if self.names.key.is_none() {
            proof(&cells)
        } else {
            None
        };
        let proven = proof.map(|(_, key)| key);
        let named = proven
            .or_else(|| self.key_by_name(&header, &cells))
            .or_else(listed);
        let (key, certainty) = match named {
            Some(key) => (key, Certainty::Proven),
            None if row == 0 && self.names.key.is_none() && header.is_nameless(&cells) => {
                let Some(key) = only_names(&cells) else {
                    let table = Table::new(Certainty::Unfit, Layout::new(self.separator, columns));
                    return Some(table.unless(Some(NO_KEY.into())));
                };
                (key, Certainty::Likely)
            }
            None => return None,
        };
        if row > 0 && header.is_known.iter().filter(|known| **known).count() < 2 {
            return None;
        }
        let at = self.lines.at(self.cut.rows[row]);
        // Sizes with a separate unit column are not read, unless the unit is a byte.
        let is_of_units = |(name, column): (&&[u8], &Column<'_>)| {
            names::is_unit(name) && !are_units_of_one(&column.cells)
        };
        let has_units =
            self.names.size.is_none() && header.names.iter().zip(&cells).any(is_of_units);
        // A column is one thing: `k` may be a unit by its name, and hold keys.
        let is_apart =
            |column: &usize| *column != key && proof.is_none_or(|(slot, _)| *column != slot);
        let best = header.best(Role::of(Metric::Bytes));
        let mut sizes = best.filter(|size| !has_units && is_apart(size));
        let is_free = |column: &usize| is_apart(column) && (!header.is_known[*column] || has_units);
        if self.names.size.is_none() && sizes.is_none() && (proof.is_some() || named.is_none()) {
            let mut may_be = (0..columns)
                .filter(is_free)
                .filter(|column| cells[*column].size() == Some(MayBeSize::Likely));
            sizes = may_be.next().filter(|_| may_be.next().is_none());
        }
        let mut layout = self.layout(columns, key, &cells, &exact);
        layout.at = columns::best(&header.roles).map(|column| column.filter(|at| *at != key));
        layout.at[Role::Key.place()] = Some(key);
        layout.at[Role::of(Metric::Bytes).place()] = sizes;
        layout.skip = self.lines.after(self.cut.rows[last]) as u64;
        layout.header_at = at as u64;
        layout.has_quotes = matches!(self.separator, Separator::Byte(_)) && !self.has_border;
        layout.header = Some(header.names.iter().map(|name| name.to_vec()).collect());
        layout.take_units();
        if let Some(size) = sizes {
            layout.size_unit = layout.size_unit.of_sizes(&cells[size].cells);
        }
        let is_read = |column: &usize| layout.at.contains(&Some(*column));
        let is_missed = |column: &usize| {
            let of_words = sizes.is_none()
                && header.roles[*column].is_none()
                && names::speaks_of_size(header.names[*column])
                && cells[*column].has_numbers();
            let is_size = cells[*column].size() == Some(MayBeSize::Likely);
            let is_unread = is_apart(column) && !is_read(column) && self.names.size.is_none();
            is_unread && (of_words || is_free(column) && is_size)
        };
        let mut missed: Vec<usize> = (0..columns).filter(is_missed).collect();
        missed.sort_by_key(|column| !names::speaks_of_size(header.names[*column]));
        let unread = missed
            .into_iter()
            .map(|column| header.names[column].to_vec())
            .collect();
        let before = &self.lines.head[..at - self.lines.mark];
        let line = 1 + memchr::memchr_iter(b'\n', before).count();
        let mut doubts = self.doubts(&layout, &exact, has_units);
        if above > 0 {
            let rows = counted(above as u64, "row");
            let words = format!("not read: {rows} above the header in line {line}");
            doubts.push(Sentence::default().words(words));
        }
        let refused = if is_inside {
            Some(format!(
                "line {line} is a header, with rows before and after it: are these two tables? Give each by itself"
            ))
        } else {
            self.overfull(&body, &layout)
        };
        let table = Table {
            unread,
            doubts,
            ..Table::new(certainty, layout)
        };
        Some(table.unless(refused))
    }

    /// Whether the next row belongs to the header: DuckDB writes the types of the columns there, above a border.
    fn has_types_below(&self, row: usize) -> bool {
        let is_above_border = |row: usize| self.lines.is_above_border(self.cut.rows[row]);
        row + 2 < self.cut.len() && !is_above_border(row) && is_above_border(row + 1)
    }

    /// Whether a row has values in all columns that are values, and not in one cell alone.
    fn is_like(&self, row: usize, columns: &[Column<'a>]) -> bool {
        let texts = self.cut.texts(row);
        let filled = texts.iter().filter(|text| !text.trimmed().is_empty());
        let is_row = filled.count() > 1;
        let mut pairs = texts.into_iter().zip(columns);
        is_row
            && pairs.all(|(text, column)| match value(text.trimmed()) {
                Value::Text => !column.is_value(),
                Value::Time => column.are_numbers() < MOST,
                _ => true,
            })
    }

    /// A header in a row, if its cells are names.
    fn header(&self, row: usize) -> Option<Header<'a>> {
        let names: Vec<&[u8]> = self.cut.texts(row).into_iter().map(Text::trimmed).collect();
        let is_name = |name: &&[u8]| {
            let has_letter = name
                .iter()
                .any(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80);
            has_letter || [&b""[..], b"#", b"%"].contains(name)
        };
        let is_word = |name: &&[u8]| {
            name.iter().all(|byte| {
                byte.is_ascii_alphanumeric() || *byte >= 0x80 || b"_.()%#@/-".contains(byte)
            })
        };
        let is_blank = matches!(self.separator, Separator::Blanks(1));
        let fits = (2..=MOST_COLUMNS).contains(&names.len()) && names.iter().all(is_name);
        if !fits || is_blank && !names.iter().all(is_word) {
            return None;
        }
        let known = self.names.of_header(&names);
        let roles: Vec<_> = names.iter().map(|name| known.role(name)).collect();
        // These two are in names, too: one known word after them does not make a header.
        let is_rare = matches!(self.separator, Separator::Byte(b'^' | b'~'));
        if is_rare && roles.iter().flatten().count() < 2 {
            return None;
        }
        let is_known = names
            .iter()
            .zip(&roles)
            .map(|(name, role)| role.is_some() || names::named(name).is_some());
        Some(Header {
            is_known: is_known.collect(),
            roles,
            names,
        })
    }

    /// Whether rows have a leading index without a header name, as written by pandas.
    fn is_shifted(&self, body: &[usize], columns: usize) -> bool {
        let longer = body.iter().copied();
        let longer: Vec<usize> = longer
            .filter(|row| self.cut.cells(*row).len() > columns)
            .collect();
        matches!(self.separator, Separator::Blanks(_))
            && share(longer.len(), body.len()) >= 0.9
            && {
                let index = self.column(&longer, 0);
                // A table that was sorted has its numbers in another order.
                index.has_numbers() && index.is_unique()
            }
    }

    /// The key column according to the header, if its content agrees.
    fn key_by_name(&self, header: &Header<'a>, columns: &[Column<'a>]) -> Option<usize> {
        let roles = header.roles.iter().enumerate();
        let mut candidates: Vec<(usize, usize)> = roles
            .filter_map(|(column, role)| {
                role.filter(|(role, _)| *role == Role::Key)
                    .map(|(_, rank)| (rank, column))
            })
            .collect();
        candidates.sort_unstable();
        candidates
            .into_iter()
            .map(|(_, column)| column)
            .find(|column| {
                self.names.key.is_some()
                    || columns[*column].len() == 0
                    || self.is_key_below(header, columns, *column)
            })
    }

    fn is_key_below(&self, header: &Header<'a>, columns: &[Column<'a>], key: usize) -> bool {
        let (name, column) = (header.names[key], &columns[key]);
        let is_exact = is_exact(name);
        let is_value = column.is_value();
        let others = || (0..columns.len()).filter(|other| *other != key);
        let is_other_text =
            || others().any(|other| columns[other].is_text() && columns[other].is_unique());
        // A word that the keys start with, or spelled like them, is a key itself.
        let starts = |cell: &&[u8]| {
            let common = common_prefix(&[*cell, name]).len();
            name.len() > 3 && common >= 3 && 10 * common >= 6 * name.len()
        };
        let is_like = |cell: &&[u8]| pattern(cell) == pattern(name);
        let is_of_table = others().any(|other| header.is_known[other] || columns[other].is_value());
        let is_plain = matches!(self.separator, Separator::Byte(_)) && is_exact;
        !column.cells.iter().take(50).any(|cell| *cell == name)
            && !column.is_repetitive()
            && !are_counts(name, column)
            && share_of(&column.cells, starts) <= 0.5
            && (is_exact || share_of(&column.cells, is_like) < 0.5)
            && !(is_value && (!is_exact || column.is_index) && is_other_text())
            && (is_of_table || is_plain)
    }
}

impl Header<'_> {
    /// Whether these are words above numbers and names, none of which is called a key.
    fn is_nameless(&self, columns: &[Column<'_>]) -> bool {
        let is_word = |name: &&[u8]| {
            let is_of_key = |byte: &u8| byte.is_ascii_digit() || b":/".contains(byte);
            name.len() <= 40 && !name.iter().any(is_of_key)
        };
        let is_below = |(name, column): (&&[u8], &Column<'_>)| {
            let is_value = matches!(value(name), Value::Number(_) | Value::Missing);
            column.are_numbers() >= 0.8 && !is_value
        };
        let mut pairs = self.names.iter().zip(columns);
        let has_sizes = || {
            let is_size = |column: &Column<'_>| column.size() == Some(MayBeSize::Likely);
            columns[0].len() >= 3 && columns.iter().any(is_size)
        };
        let is_table = columns.iter().any(are_names)
            && self.names.iter().all(is_word)
            && pairs.any(is_below)
            && (self.is_known.contains(&true) || has_sizes());
        is_table || self.names.len() > 2 && !self.is_known.contains(&false)
    }

    /// Inserts an unnamed first column.
    fn shifted(mut self) -> Self {
        self.names.insert(0, b"");
        self.roles.insert(0, None);
        self.is_known.insert(0, true);
        self
    }

    fn best(&self, role: Role) -> Option<usize> {
        columns::best(&self.roles)[role.place()]
    }
}

/// The only column of distinct names.
fn only_names(columns: &[Column<'_>]) -> Option<usize> {
    let mut keys = (0..columns.len()).filter(|column| are_names(&columns[*column]));
    keys.next().filter(|_| keys.next().is_none())
}

fn are_names(column: &Column<'_>) -> bool {
    column.is_text() && column.is_unique() && column.look_like_keys() > 0.5
}

/// Whether a column holds key counts: repeating numbers under a plural.
fn are_counts(name: &[u8], column: &Column<'_>) -> bool {
    name.ends_with(b"s") && column.are_numbers() >= MOST && !column.is_unique()
}

/// Whether a column is named exactly key, name or the like.
fn is_exact(name: &[u8]) -> bool {
    const EXACT: [&str; 8] = [
        "key",
        "keys",
        "name",
        "names",
        "keyname",
        "key_name",
        "key name",
        "redis_key",
    ];
    let name = name
        .strip_prefix(b"@")
        .or(name.strip_prefix(b"_"))
        .or(name.strip_prefix(b"#"))
        .unwrap_or(name);
    EXACT
        .iter()
        .any(|exact| name.eq_ignore_ascii_case(exact.as_bytes()))
}

/// The pattern of a name: runs of letters and of digits are each unified.
fn pattern(name: &[u8]) -> Vec<u8> {
    let mut pattern: Vec<u8> = Vec::new();
    for byte in name {
        let class = match byte {
            b'0'..=b'9' => b'9',
            byte if byte.is_ascii_alphabetic() || *byte >= 0x80 => b'a',
            byte => *byte,
        };
        if !(class == b'9' || class == b'a') || pattern.last() != Some(&class) {
            pattern.push(class);
        }
    }
    pattern
}
