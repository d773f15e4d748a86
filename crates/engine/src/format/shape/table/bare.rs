//! Tables without a header: one column of distinct names, all others values.

use crate::format::parse::value::{Value, value};
use crate::format::shape::column::{Column, MOST, MayBeSize, are_units, families, share, share_of};
use crate::format::shape::table::overfull::before_groups;
use crate::format::shape::table::{Certainty, Searched, Table, proof};
use crate::format::table::columns::Role;
use crate::format::table::layout::Layout;
use crate::format::table::separator::Separator;
use crate::metric::Metric;

impl<'a> Searched<'_, 'a> {
    /// A table without a header: one column of distinct names, all others values.
    pub(super) fn without_header(&self) -> Option<Table> {
        let usual = self.cut.usual(0);
        let counts = if usual == 2 { vec![2] } else { vec![usual, 2] };
        counts
            .into_iter()
            .filter(|columns| *columns > 1)
            .find_map(|columns| self.of_columns(columns))
    }

    pub(super) fn of_columns(&self, columns: usize) -> Option<Table> {
        let rows: Vec<usize> = (0..self.cut.len()).collect();
        let fitting: Vec<usize> = rows
            .iter()
            .copied()
            .filter(|row| self.cut.cells(*row).len() >= columns)
            .collect();
        let exact: Vec<usize> = fitting
            .iter()
            .copied()
            .filter(|row| self.cut.cells(*row).len() == columns)
            .collect();
        if share(fitting.len(), rows.len()) < MOST
            || exact.is_empty()
            || share(exact.len(), rows.len()) < 0.5
        {
            return None;
        }
        let mut cells: Vec<Column<'a>> = (0..columns)
            .map(|column| self.column(&exact, column))
            .collect();
        let first = self.column(&fitting, 0);
        if first.is_index {
            cells[0] = first;
        }
        if let Some(table) = self.with_names_in_cells(&cells, &exact) {
            return Some(table);
        }
        let is_grouped = self.separator == Separator::Byte(b',')
            && share_of(&self.cut.rows, |row| before_groups(row).is_some()) >= MOST;
        // Between blanks the number is one cell.
        if is_grouped {
            let names = self.cut.rows.iter().filter_map(|row| before_groups(row));
            let names = Column::of(names.collect());
            if names.is_unique() && !names.cells.iter().any(|name| name.contains(&b' ')) {
                return None;
            }
        }
        if columns == 2 && are_slot_counts(&cells) && matches!(self.separator, Separator::Blanks(_))
        {
            let layout = Layout::new(self.separator, columns);
            return Some(Table::new(Certainty::SlotCounts, layout));
        }
        let proof = proof(&cells);
        let is_key = |column: &usize| {
            cells[*column].is_text() && !cells[*column].is_value() && !cells[*column].is_filler()
        };
        let mut keys = (0..columns).filter(is_key);
        let only = || keys.next().filter(|_| keys.next().is_none());
        let key = proof.map(|(_, key)| key).or_else(only)?;
        let others = || {
            (0..columns).filter(move |column| {
                *column != key && proof.is_none_or(|(slot, _)| slot != *column)
            })
        };
        let names = &cells[key];
        let is_beside = |column: usize| cells[column].is_value() || cells[column].is_filler();
        if !names.is_unique() || !others().all(is_beside) {
            return None;
        }
        let has_fillers = others().any(|column| cells[column].is_filler());
        let sizes: Vec<(usize, MayBeSize)> = others()
            .filter_map(|column| Some((column, cells[column].size()?)))
            .collect();
        let mut all_likely = sizes
            .iter()
            .rev()
            .filter(|(_, size)| *size == MayBeSize::Likely);
        let likely = all_likely.next().map(|(column, _)| *column);
        let is_one_of_several = all_likely.next().is_some();
        let has_words = others().any(|column| cells[column].are_words());
        let is_indented = self.cut.rows[0].first() == Some(&b' ');
        let is_numbered = key > 0
            && cells[0].is_index
            && (names.len() >= 3 || cells[0].is_decorated || is_indented);
        let is_evident = has_words || is_numbered || proof.is_some();
        let is_doubtful = has_fillers && proof.is_none() && families(&names.cells) < 2;
        if has_fillers && proof.is_none() && likely.is_none() {
            return None;
        }
        if !is_evident && (sizes.is_empty() || names.look_like_keys() < 0.7) {
            return None;
        }
        // Brackets that are balanced in a line must be balanced in its cells.
        let is_whole = |text: &&[u8]| are_balanced(text);
        if share_of(&names.cells, is_whole) < MOST && share_of(&self.cut.rows, is_whole) >= MOST {
            return None;
        }
        let mut layout = self.layout(columns, key, &cells, &exact);
        layout.has_quotes = exact
            .iter()
            .any(|row| self.cut.cells(*row).iter().any(|cell| cell.is_quoted));
        if matches!(self.separator, Separator::Byte(b'\t' | b'=')) {
            layout.is_trimmed = false;
        }
        layout.skip = self.lines.start as u64;
        let has_units = others().any(|column| are_units(&cells[column].cells));
        layout.at[Role::of(Metric::Bytes).place()] = likely
            .or(sizes.last().map(|(column, _)| *column))
            .filter(|_| !has_units)
            .filter(|_| !is_numbered || columns > 2)
            .filter(|_| likely.is_some() || proof.is_none());
        let keys = self.keys_of(&layout, is_numbered)?;
        let is_one_family = names.len() >= 3 && families(&names.cells) < 2;
        let are_allocations = likely.is_some_and(|size| cells[size].are_allocations());
        let is_likely = is_evident || likely.is_some() && (!is_one_family || are_allocations);
        if self.separator == Separator::Byte(b'=')
            && (!is_likely || share_of(&keys, |key| has_query(key)) > 0.2)
        {
            return None;
        }
        let certainty = match () {
            () if is_one_of_several || is_grouped => Certainty::Ambiguous,
            () if proof.is_some() => Certainty::Proven,
            () if is_doubtful => Certainty::Doubtful,
            () if is_likely => Certainty::Likely,
            () => Certainty::Ambiguous,
        };
        let refused = self.overfull(&rows, &layout);
        let table = Table {
            doubts: self.doubts(&layout, &exact, has_units),
            ..Table::new(certainty, layout)
        };
        Some(table.unless(refused))
    }

    /// The keys of the rows, if nearly all rows fit the layout: everything except the key is a value.
    fn keys_of(&self, layout: &Layout, is_numbered: bool) -> Option<Vec<&'a [u8]>> {
        let mut keys = Vec::new();
        for row in 0..self.cut.len() {
            let (text, cells) = (self.cut.rows[row], self.cut.cells(row));
            let Some(key) = layout.key_in(text, cells) else {
                continue;
            };
            let is_apart = |column: usize| {
                let cell = self.cut.text(row, cells[layout.place(column, cells.len())]);
                let cell = cell.trimmed();
                let is_number = || value(cell) != Value::Text || is_value_in_frame(cell);
                is_numbered && column == 0 || !layout.values[column] || is_number()
            };
            if (0..layout.columns)
                .filter(|column| *column != layout.key())
                .all(is_apart)
            {
                keys.push(&text[key.span.0 as usize..key.span.1 as usize]);
            }
        }
        (share(keys.len(), self.cut.len()) >= MOST).then_some(keys)
    }

    /// A table whose cells are labelled: `key=K size=N`.
    fn with_names_in_cells(&self, cells: &[Column<'a>], exact: &[usize]) -> Option<Table> {
        let name = |column: &Column<'a>| {
            let is_beside = column.is_value() || column.is_filler();
            name_before(column).or(is_beside.then(Vec::new))
        };
        let names: Vec<Vec<u8>> = cells.iter().map(name).collect::<Option<_>>()?;
        if names.iter().filter(|name| !name.is_empty()).count() < 2 {
            return None;
        }
        let bare = |name: &Vec<u8>| {
            name.iter()
                .copied()
                .filter(|byte| !b"=: \"".contains(byte))
                .collect::<Vec<u8>>()
        };
        let labels: Vec<Vec<u8>> = names.iter().map(bare).collect();
        let known = self.names.of_header(&labels);
        let roles: Vec<_> = labels.iter().map(|label| known.role(label)).collect();
        let column_of = |wanted: Role| {
            roles
                .iter()
                .position(|role| role.is_some_and(|(role, _)| role == wanted))
        };
        let key = column_of(Role::Key)?;
        let mut layout = self.layout(cells.len(), key, cells, exact);
        let is_value = |(column, name): (&Column<'_>, &Vec<u8>)| {
            let inside = column
                .cells
                .iter()
                .map(|cell| &cell[name.len()..])
                .collect();
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
        Some(Table::new(Certainty::Proven, layout))
    }
}

/// Whether these are consecutive slots with their key counts.
fn are_slot_counts(columns: &[Column<'_>]) -> bool {
    let [slots, counts] = columns else {
        return false;
    };
    let are_whole = |column: &Column<'_>| {
        column.numbers.len() == column.len()
            && column
                .cells
                .iter()
                .all(|cell| cell.iter().all(u8::is_ascii_digit))
    };
    are_whole(slots)
        && are_whole(counts)
        && slots.len() >= 5
        && slots.numbers.windows(2).all(|pair| pair[1] == pair[0] + 1)
        && slots.numbers.iter().all(|slot| *slot < 16384)
        && counts.numbers.iter().all(|keys| *keys < 1_000_000)
}

/// A `name=` or `name: ` before each cell.
fn name_before(column: &Column<'_>) -> Option<Vec<u8>> {
    const LONGEST: usize = 20;
    let first = column.cells.first()?;
    let quoted = first.first() == Some(&b'"');
    let rest = &first[usize::from(quoted)..];
    let len = rest
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(byte))
        .count();
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

/// A number with punctuation common to its column.
fn is_value_in_frame(cell: &[u8]) -> bool {
    let inside =
        |byte: &u8| b"[]()<>#/%".contains(byte) || byte.is_ascii_digit() || b".:,".contains(byte);
    cell.iter().any(u8::is_ascii_digit) && cell.iter().all(inside)
}

fn are_balanced(text: &[u8]) -> bool {
    let count = |byte: u8| memchr::memchr_iter(byte, text).count();
    [(b'(', b')'), (b'[', b']'), (b'{', b'}')]
        .into_iter()
        .all(|(open, close)| count(open) == count(close))
}

fn has_query(key: &[u8]) -> bool {
    key.iter().any(|byte| b" ?&".contains(byte))
}
