//! Tables: every way to cut the lines into cells of which one alone is the key, and the surest of them.

use std::collections::HashSet;

use crate::format::shape::column::{Column, MOST, MayBeSize, Value, common_prefix, families, share, share_of, value};
use crate::format::shape::cut::{CutRows, Text};
use crate::format::shape::lines::Lines;
use crate::format::table::columns::{ColumnNames, Role};
use crate::format::table::layout::{KeyText, Layout};
use crate::format::table::names;
use crate::format::parse::python;
use crate::format::parse::size::is_missing;
use crate::format::table::separator::Separator;
use crate::metric::Metric;

/// How sure it is that the lines are the rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Certainty {
    /// Slots and how many keys each has.
    SlotCounts,
    /// Rows of keys and numbers, or keys that end with a number: nothing tells.
    Ambiguous,
    /// One column is of names of several kinds, all different, and the others are values.
    Likely,
    /// The header, or the numbers of slots, say so.
    Proven,
}

/// A table.
#[derive(Debug)]
pub(super) struct Table {
    pub certainty: Certainty,
    pub layout: Layout,
    /// Columns of numbers that nothing is made of.
    pub unread: Vec<Vec<u8>>,
}

/// Rows in which a header is looked for.
const BEFORE_HEADER: usize = 20;
const MOST_COLUMNS: usize = 200;
/// Types that a database prints below the header.
const SQL_TYPES: [&str; 10] = [
    "varchar", "int64", "int32", "bigint", "integer", "text", "double", "uint64", "hugeint", "blob",
];

/// The surest table that the lines are; of equally sure ones that with the separator that names of keys have least.
pub(super) fn surest(lines: &Lines<'_>, names: &ColumnNames) -> Option<Table> {
    let mut best: Option<Table> = None;
    for separator in candidates(lines) {
        let found = with(lines, separator, names);
        if found.as_ref().map(|table| table.certainty) > best.as_ref().map(|table| table.certainty) {
            best = found;
        }
        if best.as_ref().is_some_and(|table| table.certainty == Certainty::Proven) {
            break;
        }
    }
    best
}

/// The table with a header that names these columns, by any separator.
pub(super) fn named(lines: &Lines<'_>, separators: &[Separator], names: &ColumnNames) -> Option<Table> {
    separators.iter().find_map(|separator| {
        let mut cut = CutRows::of(lines.head, &lines.rows, *separator);
        let has_border = has_border(&mut cut, *separator);
        Searched { lines, cut, separator: *separator, has_border, names }.with_header()
    })
}

/// The separators that most of the first rows have.
pub(super) fn candidates(lines: &Lines<'_>) -> Vec<Separator> {
    const LOOKED_AT: usize = 24;
    let step = lines.rows.len().div_ceil(LOOKED_AT).max(1);
    let sample: Vec<&[u8]> = lines.rows.iter().copied().step_by(step).collect();
    let only = lines.separator();
    let is_wanted = |separator: &Separator| only.is_none_or(|byte| *separator == Separator::Byte(byte));
    let is_there = |separator: &Separator| share_of(&sample, |row| separator.is_in(row)) >= 0.6;
    let is_framed = share_of(&sample, |row| matches!(row.trim_ascii(), [b'|', .., b'|'])) >= 0.9;
    // A row between bars is cut at each of them.
    let is_usable = |separator: &Separator| !(is_framed && *separator == Separator::Text(" | "));
    let all = Separator::ALL.into_iter();
    all.filter(|separator| is_wanted(separator) && is_usable(separator) && is_there(separator)).collect()
}

fn has_border(cut: &mut CutRows<'_>, separator: Separator) -> bool {
    let may_have = separator == Separator::Byte(b'|') || separator == Separator::Text("│");
    may_have && cut.strip_border()
}

fn with(lines: &Lines<'_>, separator: Separator, names: &ColumnNames) -> Option<Table> {
    let mut cut = CutRows::of(lines.head, &lines.rows, separator);
    let has_border = has_border(&mut cut, separator);
    let searched = Searched { lines, cut, separator, has_border, names };
    searched.with_header().or_else(|| searched.without_header())
}

/// Rows cut by a separator, and what is looked for in them.
struct Searched<'s, 'a> {
    lines: &'s Lines<'a>,
    cut: CutRows<'a>,
    separator: Separator,
    has_border: bool,
    names: &'s ColumnNames,
}

/// A header.
struct Header<'a> {
    names: Vec<&'a [u8]>,
    /// The role of each column, and how many names would be preferred to it.
    roles: Vec<Option<(Role, usize)>>,
    /// Whether something is said of a column, if only that it is not read.
    is_known: Vec<bool>,
}

impl<'a> Searched<'_, 'a> {
    /// A table whose header names the column of the keys, or has words above a column of numbers.
    fn with_header(&self) -> Option<Table> {
        let never = [Separator::Byte(b'='), Separator::Text(": "), Separator::Text(" = "), Separator::Text(" -> "), Separator::Text(" => ")];
        if never.contains(&self.separator) {
            return None;
        }
        (0..self.cut.len().min(BEFORE_HEADER)).find_map(|row| self.header_at(row))
    }

    fn header_at(&self, row: usize) -> Option<Table> {
        let header = self.header(row)?;
        let body: Vec<usize> = (row + 1..self.cut.len()).collect();
        let mut columns = header.names.len();
        if body.is_empty() && !(row == 0 && header.is_known.iter().filter(|known| **known).count() > 1) {
            return None;
        }
        let has = |at: &usize, least: usize| self.cut.cells(*at).len() >= least;
        let fitting = body.iter().filter(|at| has(at, columns)).count();
        if share(fitting, body.len()) < 0.9 && !body.is_empty() {
            return None;
        }
        // What is before the header is no row.
        let before = (0..row).filter(|at| has(at, columns)).count();
        if 2 * before > row {
            return None;
        }
        let is_shifted = self.is_shifted(&body, columns);
        columns += usize::from(is_shifted);
        let header = if is_shifted { header.shifted() } else { header };
        let mut exact = self.rows_of(&body, columns);
        if exact.first().is_some_and(|first| self.are_sql_types(*first)) {
            exact.remove(0);
        }
        let cells: Vec<Column<'a>> = (0..columns).map(|column| self.column(&exact, column)).collect();
        let keys = self.key_by_name(&header, &cells);
        let (mut key, mut certainty) = match keys {
            Some(key) => (key, Certainty::Proven),
            None if row == 0 && self.names.key.is_none() => (self.key_by_content(&header, &cells)?, Certainty::Likely),
            None => return None,
        };
        if row > 0 && header.is_known.iter().filter(|known| **known).count() < 2 {
            return None;
        }
        let mut sizes = header.best(Role::of(Metric::Bytes));
        let proof = if self.names.key.is_none() { proof(&cells) } else { None };
        if let Some((slot, proven)) = proof {
            (key, certainty) = (proven, Certainty::Proven);
            sizes = sizes.filter(|size| *size != slot && *size != proven);
        }
        let is_free = |column: &usize| {
            *column != key && !header.is_known[*column] && proof.is_none_or(|(slot, _)| *column != slot)
        };
        if sizes.is_none() && (proof.is_some() || keys.is_none()) {
            let mut may_be = (0..columns).filter(is_free).filter(|column| cells[*column].size() == Some(MayBeSize::Likely));
            sizes = may_be.next().filter(|_| may_be.next().is_none());
        }
        let mut layout = self.layout(columns, key, &cells, &exact);
        for (role, column) in header.all() {
            layout.at[role.place()] = Some(column);
        }
        layout.at[Role::Key.place()] = Some(key);
        layout.at[Role::of(Metric::Bytes).place()] = sizes;
        layout.skip = self.lines.after(self.cut.rows[row]) as u64;
        layout.header_at = self.lines.at(self.cut.rows[row]) as u64;
        layout.has_quotes = matches!(self.separator, Separator::Byte(_));
        layout.header = Some(header.names.iter().map(|name| name.to_vec()).collect());
        layout.take_units();
        let is_read = |column: &usize| layout.at.contains(&Some(*column));
        let unread = (0..columns).filter(|column| is_free(column) && !is_read(column) && cells[*column].size() == Some(MayBeSize::Likely));
        let unread = unread.map(|column| header.names[column].to_vec()).collect();
        Some(Table { certainty, layout, unread })
    }

    /// The header in a row, if it may be one.
    fn header(&self, row: usize) -> Option<Header<'a>> {
        let names: Vec<&[u8]> = self.cut.texts(row).into_iter().map(Text::trimmed).collect();
        let is_name = |name: &&[u8]| {
            let has_letter = name.iter().any(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80);
            has_letter || [&b""[..], b"#", b"%"].contains(name)
        };
        let is_word = |name: &&[u8]| name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80 || b"_.()%#@/-".contains(byte));
        let is_blank = matches!(self.separator, Separator::Blanks(1));
        let fits = (2..=MOST_COLUMNS).contains(&names.len()) && names.iter().all(is_name);
        if !fits || is_blank && !names.iter().all(is_word) {
            return None;
        }
        let roles: Vec<_> = names.iter().map(|name| self.names.role(name)).collect();
        let is_known = names.iter().zip(&roles).map(|(name, role)| role.is_some() || names::named(name).is_some());
        Some(Header {
            is_known: is_known.collect(),
            roles,
            names,
        })
    }

    /// Whether rows have a number of their own before the first column that has a name: pandas writes no name for it.
    fn is_shifted(&self, body: &[usize], columns: usize) -> bool {
        if !matches!(self.separator, Separator::Blanks(_)) || body.is_empty() {
            return false;
        }
        let exact = body.iter().filter(|row| self.cut.cells(**row).len() == columns).count();
        let more: Vec<usize> = body.iter().copied().filter(|row| self.cut.cells(*row).len() > columns).collect();
        let is_more = exact * 2 < body.len() && share(more.len(), body.len()) >= 0.9;
        let index = self.column(&more, 0);
        is_more && (index.is_index || index.len() == 1 && index.cells[0] == b"0")
    }

    /// The rows of exactly so many cells, or those of more where there are none.
    fn rows_of(&self, rows: &[usize], columns: usize) -> Vec<usize> {
        let of = |is: &dyn Fn(usize) -> bool| -> Vec<usize> {
            rows.iter().copied().filter(|row| is(self.cut.cells(*row).len())).collect()
        };
        let exact = of(&|cells| cells == columns);
        if exact.is_empty() { of(&|cells| cells >= columns) } else { exact }
    }

    fn are_sql_types(&self, row: usize) -> bool {
        let is = |cell: Text<'_>| SQL_TYPES.iter().any(|name| cell.trimmed().eq_ignore_ascii_case(name.as_bytes()));
        self.cut.texts(row).into_iter().all(is)
    }

    fn column(&self, rows: &[usize], column: usize) -> Column<'a> {
        let cells = rows.iter().map(|row| self.cut.text(*row, self.cut.cells(*row)[column]).trimmed());
        Column::of(cells.collect())
    }

    /// The column that the header says has the keys, if what is below it bears that out.
    fn key_by_name(&self, header: &Header<'a>, columns: &[Column<'a>]) -> Option<usize> {
        let candidates = header.roles.iter().enumerate();
        let mut candidates: Vec<(usize, usize)> = candidates
            .filter_map(|(column, role)| role.filter(|(role, _)| *role == Role::Key).map(|(_, rank)| (rank, column)))
            .collect();
        candidates.sort_unstable();
        candidates.into_iter().map(|(_, column)| column).find(|column| {
            self.names.key.is_some() || columns[*column].len() == 0 || self.is_key_below(header, columns, *column)
        })
    }

    fn is_key_below(&self, header: &Header<'a>, columns: &[Column<'a>], key: usize) -> bool {
        let (name, column) = (header.names[key], &columns[key]);
        let is_exact = is_exact(name);
        let is_value = column.is_value();
        let others = || (0..columns.len()).filter(|other| *other != key);
        let is_other_text = || others().any(|other| columns[other].is_text() && columns[other].is_unique());
        // A word that begins the keys, too, is a key itself; and so is one that is spelled as they are.
        let starts = |cell: &&[u8]| {
            let common = common_prefix(&[*cell, name]).len();
            name.len() > 3 && common >= 3 && 10 * common >= 6 * name.len()
        };
        let is_like = |cell: &&[u8]| pattern(cell) == pattern(name);
        let is_of_table = others().any(|other| header.is_known[other] || columns[other].is_value());
        let is_plain = matches!(self.separator, Separator::Byte(_)) && is_exact;
        !column.cells.iter().take(50).any(|cell| *cell == name)
            && !column.is_repetitive()
            && share_of(&column.cells, starts) <= 0.5
            && (is_exact || share_of(&column.cells, is_like) < 0.5)
            && !(is_value && !is_exact && is_other_text())
            && (is_of_table || is_plain)
    }

    /// The one column of texts that all differ, next to numbers below a word.
    fn key_by_content(&self, header: &Header<'a>, columns: &[Column<'a>]) -> Option<usize> {
        let is_key = |column: &&Column<'_>| column.is_text() && column.is_unique() && column.look_like_keys() > 0.5;
        let mut keys = (0..columns.len()).filter(|column| is_key(&&columns[*column]));
        let key = keys.next().filter(|_| keys.next().is_none())?;
        let is_number = |column: &usize| columns[*column].are_numbers() >= 0.8 && !matches!(value(header.names[*column]), Value::Number(_) | Value::Missing);
        let numbers: Vec<usize> = (0..columns.len()).filter(is_number).collect();
        let is_word = |name: &&[u8]| name.len() <= 40 && !name.iter().any(|byte| byte.is_ascii_digit() || b":/".contains(byte));
        let is_known = header.is_known.iter().any(|known| *known);
        let rows = columns[key].len();
        let is_size = |column: &usize| columns[*column].size() == Some(MayBeSize::Likely);
        let is_table = !numbers.is_empty()
            && header.names.iter().all(is_word)
            && !columns[key].cells.contains(&header.names[key])
            && (is_known || rows >= 3 && numbers.iter().any(is_size));
        is_table.then_some(key)
    }

    /// A layout with the key in a column, and what the rows show of the others.
    fn layout(&self, columns: usize, key: usize, cells: &[Column<'a>], exact: &[usize]) -> Layout {
        let mut layout = Layout::new(self.separator, columns);
        layout.at[Role::Key.place()] = Some(key);
        layout.has_border = self.has_border;
        layout.values = cells.iter().map(|column| column.is_value() && column.len() > 0).collect();
        layout.is_trimmed = self.is_padded(exact, key);
        if cells[key].len() > 0 && share_of(&cells[key].cells, |cell| is_python(cell)) >= MOST {
            layout.key_text = KeyText::Python;
        }
        layout
    }

    /// Whether the cells of a column have blanks around them that are not theirs.
    fn is_padded(&self, rows: &[usize], column: usize) -> bool {
        if !matches!(self.separator, Separator::Byte(_)) || self.has_border {
            return true;
        }
        let columns: Vec<usize> = match rows {
            [_, _, _, ..] => vec![column],
            [first, ..] => (0..self.cut.cells(*first).len()).collect(),
            [] => return false,
        };
        let is_bare = |text: Text<'_>| !text.is_quoted && text.raw.len() == text.trimmed().len() && !text.raw.is_empty();
        let texts = |row: &usize| {
            let cells = self.cut.cells(*row);
            columns.iter().filter_map(|column| Some(self.cut.text(*row, *cells.get(*column)?))).collect::<Vec<_>>()
        };
        let all: Vec<Text<'_>> = rows.iter().take(200).flat_map(texts).collect();
        let is_any = all.iter().any(|text| !text.is_quoted && text.raw.len() > text.trimmed().len());
        is_any && !all.into_iter().any(is_bare)
    }

    /// A table without a header: one column is of names that all differ, and all others are values.
    fn without_header(&self) -> Option<Table> {
        let usual = self.cut.usual(0);
        let counts = if usual == 2 { vec![2] } else { vec![usual, 2] };
        counts.into_iter().filter(|columns| *columns > 1).find_map(|columns| self.of_columns(columns))
    }

    fn of_columns(&self, columns: usize) -> Option<Table> {
        let all: Vec<usize> = (0..self.cut.len()).collect();
        let fitting: Vec<usize> = all.iter().copied().filter(|row| self.cut.cells(*row).len() >= columns).collect();
        let exact: Vec<usize> = fitting.iter().copied().filter(|row| self.cut.cells(*row).len() == columns).collect();
        if share(fitting.len(), all.len()) < MOST || exact.is_empty() || share(exact.len(), all.len()) < 0.5 {
            return None;
        }
        let mut cells: Vec<Column<'a>> = (0..columns).map(|column| self.column(&exact, column)).collect();
        let first = self.column(&fitting, 0);
        if first.is_index {
            cells[0] = first;
        }
        if let Some(table) = self.with_names_in_cells(&cells, &exact) {
            return Some(table);
        }
        if columns == 2 && are_slot_counts(&cells) && matches!(self.separator, Separator::Blanks(_)) {
            let layout = Layout::new(self.separator, columns);
            return Some(Table { certainty: Certainty::SlotCounts, layout, unread: Vec::new() });
        }
        let is_key = |column: &usize| cells[*column].is_text() && !cells[*column].is_value();
        let mut keys = (0..columns).filter(is_key);
        let key = keys.next().filter(|_| keys.next().is_none())?;
        let others = || (0..columns).filter(move |column| *column != key);
        let names = &cells[key];
        if !names.is_unique() || !others().all(|column| cells[column].is_value()) {
            return None;
        }
        let sizes: Vec<(usize, MayBeSize)> = others().filter_map(|column| Some((column, cells[column].size()?))).collect();
        let likely = sizes.iter().rev().find(|(_, size)| *size == MayBeSize::Likely).map(|(column, _)| *column);
        let has_words = others().any(|column| cells[column].are_words());
        let is_indented = self.cut.rows[0].first() == Some(&b' ');
        let is_numbered = key > 0 && cells[0].is_index && (names.len() >= 3 || cells[0].is_decorated || is_indented);
        let is_evident = has_words || is_numbered;
        if sizes.is_empty() && !is_evident || names.look_like_keys() < 0.7 && !is_evident {
            return None;
        }
        // Brackets that are whole in a line are whole in a cell.
        let is_whole = |text: &&[u8]| are_balanced(text);
        if share_of(&names.cells, is_whole) < MOST && share_of(&self.cut.rows, is_whole) >= MOST {
            return None;
        }
        let mut layout = self.layout(columns, key, &cells, &exact);
        layout.has_quotes = exact.iter().any(|row| self.cut.cells(*row).iter().any(|cell| cell.is_quoted));
        if matches!(self.separator, Separator::Byte(b'\t' | b'=')) {
            layout.is_trimmed = false;
        }
        layout.skip = self.lines.start as u64;
        layout.at[Role::of(Metric::Bytes).place()] = likely
            .or(sizes.last().map(|(column, _)| *column))
            .filter(|_| !is_numbered || columns > 2);
        let keys = self.keys_of(&layout, is_numbered)?;
        let is_one_family = names.len() >= 3 && families(&names.cells) < 2;
        let are_allocations = likely.is_some_and(|size| cells[size].are_allocations());
        let is_likely = is_evident || likely.is_some() && (!is_one_family || are_allocations);
        if self.separator == Separator::Byte(b'=') && (!is_likely || share_of(&keys, |key| has_query(key)) > 0.2) {
            return None;
        }
        let certainty = if is_likely { Certainty::Likely } else { Certainty::Ambiguous };
        Some(Table { certainty, layout, unread: Vec::new() })
    }

    /// The keys of the rows, where nearly all rows fit the layout: what is beside the key is a value.
    fn keys_of(&self, layout: &Layout, is_numbered: bool) -> Option<Vec<&'a [u8]>> {
        let mut keys = Vec::new();
        for row in 0..self.cut.len() {
            let (text, cells) = (self.cut.rows[row], self.cut.cells(row));
            let Some(key) = layout.key_in(text, cells) else {
                continue;
            };
            let is_apart = |column: usize| {
                let cell = self.cut.text(row, cells[layout.place(column, cells.len())]);
                is_numbered && column == 0 || value(cell.trimmed()) != Value::Text || is_value_in_frame(cell.trimmed())
            };
            if (0..layout.columns).filter(|column| *column != layout.key()).all(is_apart) {
                keys.push(&text[key.span.0 as usize..key.span.1 as usize]);
            }
        }
        (share(keys.len(), self.cut.len()) >= MOST).then_some(keys)
    }

    /// A table whose cells start with their names: `key=K size=N`.
    fn with_names_in_cells(&self, cells: &[Column<'a>], exact: &[usize]) -> Option<Table> {
        let names: Option<Vec<Vec<u8>>> = cells.iter().map(name_before).collect();
        let names = names?;
        let bare = |name: &Vec<u8>| name.iter().copied().filter(|byte| !b"=: \"".contains(byte)).collect::<Vec<u8>>();
        let roles: Vec<_> = names.iter().map(|name| self.names.role(&bare(name))).collect();
        let of = |wanted: Role| roles.iter().position(|role| role.is_some_and(|(role, _)| role == wanted));
        let key = of(Role::Key)?;
        let mut layout = self.layout(cells.len(), key, cells, exact);
        let is_value = |(column, name): (&Column<'_>, &Vec<u8>)| {
            let inside = column.cells.iter().map(|cell| &cell[name.len()..]).collect();
            Column::of(inside).is_value()
        };
        layout.values = vec![false; cells.len()];
        if self.cut.usual(0) == cells.len() {
            layout.values = cells.iter().zip(&names).map(is_value).collect();
        }
        for (column, role) in roles.iter().enumerate() {
            if let Some((role, _)) = role.filter(|(role, _)| layout.at[role.place()].is_none()) {
                layout.at[role.place()] = Some(column);
            }
        }
        layout.before = names;
        layout.is_trimmed = true;
        layout.skip = self.lines.start as u64;
        Some(Table { certainty: Certainty::Proven, layout, unread: Vec::new() })
    }
}

impl Header<'_> {
    /// The same with a column without a name before the others.
    fn shifted(mut self) -> Self {
        self.names.insert(0, b"");
        self.roles.insert(0, None);
        self.is_known.insert(0, true);
        self
    }

    /// The column of a role whose name is preferred.
    fn best(&self, role: Role) -> Option<usize> {
        let columns = self.roles.iter().enumerate();
        let of_role = columns.filter_map(|(column, found)| found.filter(|(found, _)| *found == role).map(|(_, rank)| (rank, column)));
        of_role.min().map(|(_, column)| column)
    }

    /// Each role that a column has, and the column.
    fn all(&self) -> Vec<(Role, usize)> {
        let roles = self.roles.iter().flatten().map(|(role, _)| *role);
        roles.filter_map(|role| Some((role, self.best(role)?))).collect()
    }
}

/// Whether the cells of a column are the slots of those of another: the first is that of the slots.
fn proof(columns: &[Column<'_>]) -> Option<(usize, usize)> {
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
            let right = pairs.filter(|(key, slot)| u64::from(hashslot::slot(key)) == **slot).count();
            right as f64 >= MOST * numbers.len() as f64
        };
        (0..columns.len()).filter(move |key| *key != slots).find(fits).map(|key| (slots, key))
    };
    slots.into_iter().find_map(keys)
}

/// Whether these are slots one after the other, and how many keys each has.
fn are_slot_counts(columns: &[Column<'_>]) -> bool {
    let [slots, counts] = columns else {
        return false;
    };
    let are_whole = |column: &Column<'_>| column.numbers.len() == column.len() && column.cells.iter().all(|cell| cell.iter().all(u8::is_ascii_digit));
    are_whole(slots)
        && are_whole(counts)
        && slots.len() >= 5
        && slots.numbers.windows(2).all(|pair| pair[1] == pair[0] + 1)
        && slots.numbers.iter().all(|slot| *slot < 16384)
        && counts.numbers.iter().all(|keys| *keys < 1_000_000)
}

/// `name=` or `name: ` before each cell.
fn name_before(column: &Column<'_>) -> Option<Vec<u8>> {
    const LONGEST: usize = 20;
    let first = column.cells.first()?;
    let quoted = first.first() == Some(&b'"');
    let rest = &first[usize::from(quoted)..];
    let len = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(byte)).count();
    let starts = rest.first().is_some_and(|byte| byte.is_ascii_alphabetic());
    let mark = match &rest[len..] {
        [b'=', ..] => 1,
        [b':', b' ', ..] => 2,
        _ => return None,
    };
    let name = &first[..usize::from(quoted) + len + mark];
    let is_name = starts && (1..=LONGEST).contains(&len) && !quoted;
    (is_name && column.cells.iter().all(|cell| cell.starts_with(name))).then(|| name.to_vec())
}

/// Whether a cell is a literal of Python, the quotes of which are doubled where the cell is in quotes.
fn is_python(cell: &[u8]) -> bool {
    let is_doubled = memchr::memmem::find(cell, b"\"\"").is_some();
    let single = || String::from_utf8_lossy(cell).replace("\"\"", "\"");
    python::is_bytes(cell) || is_doubled && python::is_bytes(single().as_bytes())
}

/// A number with the punctuation that all of its column have.
fn is_value_in_frame(cell: &[u8]) -> bool {
    let inside = |byte: &u8| b"[]()<>#/%".contains(byte) || byte.is_ascii_digit() || b".:,".contains(byte);
    cell.iter().any(u8::is_ascii_digit) && cell.iter().all(inside)
}

fn are_balanced(text: &[u8]) -> bool {
    let count = |byte: u8| memchr::memchr_iter(byte, text).count();
    [(b'(', b')'), (b'[', b']'), (b'{', b'}')].into_iter().all(|(open, close)| count(open) == count(close))
}

fn has_query(key: &[u8]) -> bool {
    key.iter().any(|byte| b" ?&".contains(byte))
}

/// Whether a column is called key, name or the like, and nothing else.
fn is_exact(name: &[u8]) -> bool {
    const EXACT: [&str; 8] = ["key", "keys", "name", "names", "keyname", "key_name", "key name", "redis_key"];
    let name = name.strip_prefix(b"@").or(name.strip_prefix(b"_")).or(name.strip_prefix(b"#")).unwrap_or(name);
    EXACT.iter().any(|exact| name.eq_ignore_ascii_case(exact.as_bytes()))
}

/// The form of a name: letters as one, digits as one.
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

/// The number of different columns that names are given for by place: `key,size,_`.
pub(super) fn by_place(places: &[String], names: &ColumnNames) -> Result<Vec<Option<Role>>, String> {
    let mut seen = HashSet::new();
    let mut roles = Vec::new();
    for place in places {
        let role = match place.as_str() {
            "_" | "" | "-" => None,
            name => Some(names.role(name.as_bytes()).map(|(role, _)| role).ok_or_else(|| {
                format!("no column is called \"{name}\"; there are key, size, ops, ttl, type, db, elements, idle, lfu, and _ for one that is not read")
            })?),
        };
        if let Some(role) = role.filter(|role| !seen.insert(role.place())) {
            return Err(format!("two columns of the same kind ({role:?})"));
        }
        roles.push(role);
    }
    if !roles.contains(&Some(Role::Key)) {
        return Err(String::from("no column is the key: --columns key,size, say"));
    }
    Ok(roles)
}

/// Whether a cell says that there is nothing.
pub(super) fn is_nothing(cell: &[u8]) -> bool {
    is_missing(cell.trim_ascii())
}
