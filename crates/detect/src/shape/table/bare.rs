//! Tables without a header: one column of distinct names, all others values.

use slotscope_base::metric::Metric;
use slotscope_read::format::parse::value::{Value, value};
use slotscope_read::format::table::columns::Role;
use slotscope_read::format::table::layout::Layout;
use slotscope_read::format::table::separator::Separator;

use crate::shape::column::{Column, MOST, MayBeSize, are_units, families, share, share_of};
use crate::shape::table::{Certainty, Searched, Table, proof};

impl<'a> Searched<'_, 'a> {
    /// A table without a header: one column of distinct names, all others values.
    pub(super) fn without_header(&self) -> Option<Table> {
        // Only a header shows that these are between cells.
        if matches!(self.separator, Separator::Byte(b'^' | b'~')) {
            return None;
        }
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
        let last = all_likely.next().map(|(column, _)| *column);
        let others_likely: Vec<usize> = all_likely.map(|(column, _)| *column).collect();
        let is_one_of_several = !others_likely.is_empty();
        // The same sizes to the byte, beside those that were rounded to a unit.
        let is_exact =
            |other: &&usize| last.is_some_and(|last| cells[last].rounds(&cells[**other]));
        let likely = others_likely.iter().find(is_exact).copied().or(last);
        let has_words = others().any(|column| cells[column].are_words());
        let is_indented = self.cut.rows[0].first() == Some(&b' ');
        let is_numbered = key > 0
            && cells[0].is_index
            && (names.len() >= 3 || cells[0].is_decorated || is_indented);
        let is_evident = has_words || is_numbered || proof.is_some();
        if has_fillers && proof.is_none() && likely.is_none() {
            return None;
        }
        if !is_evident && (sizes.is_empty() || names.look_like_keys() < 0.7) {
            return None;
        }
        // Between blanks a number with a comma between thousands is one cell.
        let is_grouped = self.separator == Separator::Byte(b',')
            && share_of(&names.cells, |name| ends_with_number(name)) >= MOST;
        if is_grouped {
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
            layout.padded = None;
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
            () if is_one_of_several => Certainty::Ambiguous,
            () if proof.is_some() => Certainty::Proven,
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
                is_numbered && column == 0 || !layout.values[column] || value(cell) != Value::Text
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
}

/// Whether a blank and a number of up to three digits end a name.
fn ends_with_number(name: &[u8]) -> bool {
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit());
    let len = digits.count();
    (1..=3).contains(&len) && name[..name.len() - len].ends_with(b" ")
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
