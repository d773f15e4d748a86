//! A table: columns with explanations, and rows of typed cells. A renderer shows as many rows as fit.

use slotscope_base::metric::{Metric, PerMetric};

use crate::view::{Cell, Value};

/// Columns, and rows with a cell for each.
#[derive(Debug, Clone, Default)]
pub struct Table<'a> {
    /// Its columns.
    pub columns: Vec<Column>,
    /// All of its rows.
    pub rows: Vec<Vec<Cell<'a>>>,
    /// The number of rows worth showing, if fewer than requested.
    pub most_rows: Option<usize>,
    /// The file in the output directory with all rows.
    pub file: &'static str,
    /// The total number of rows, if the table has only those worth showing.
    pub total: Option<usize>,
}

/// A column.
#[derive(Debug, Clone, Default)]
pub struct Column {
    /// Its display title; `None` if only in files.
    pub title: Option<String>,
    /// The explanation of the title, if needed.
    pub hint: &'static str,
    /// Its name in files; empty if only displayed.
    pub field: &'static str,
    /// Whether it holds numbers.
    pub is_number: bool,
    /// Whether it is not displayed without values.
    pub is_optional: bool,
    /// Whether it is omitted from files as well in that case.
    pub is_rare: bool,
    /// Whether it gets the remaining width, with text truncated.
    pub is_flexible: bool,
    /// When it is dropped from narrow lines.
    pub rank: Rank,
}

/// The order in which columns are dropped from narrow lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// A metric other than the report's.
    OtherMetric,
    /// A detail.
    Detail,
    /// Most columns.
    #[default]
    Usual,
    /// The main subject of the table.
    Main,
    /// Never dropped.
    Kept,
}

impl<'a> Table<'a> {
    #[cfg(test)]
    pub(crate) fn new(columns: Vec<Column>, rows: impl IntoIterator<Item = Vec<Cell<'a>>>) -> Self {
        Table {
            columns,
            rows: rows.into_iter().collect(),
            ..Table::default()
        }
    }

    /// A table with a row for each of `items`, and no columns yet.
    pub fn of<R>(items: impl IntoIterator<Item = R>) -> TableBuilder<'a, R> {
        let items: Vec<R> = items.into_iter().collect();
        let table = Table {
            rows: items.iter().map(|_| Vec::new()).collect(),
            ..Table::default()
        };
        TableBuilder { items, table }
    }

    /// All of its rows are also in `file` of the output directory.
    pub fn in_file(self, file: &'static str) -> Self {
        Table { file, ..self }
    }

    /// There are `total` rows in all.
    pub(crate) fn out_of(self, total: usize) -> Self {
        Table {
            total: Some(total),
            ..self
        }
    }

    /// At most `rows` rows are worth showing.
    pub fn at_most(self, rows: usize) -> Self {
        Table {
            most_rows: Some(rows),
            ..self
        }
    }

    /// Hides columns of key counts if there are no keys: for captures, the number is unknown, not 0.
    pub(crate) fn hide_unknown_keys(&mut self) {
        let is_none = |at: usize| {
            let mut cells = self.rows.iter().filter_map(|row| row.get(at));
            cells.all(|cell| {
                matches!(
                    cell.value,
                    Value::None | Value::Count(0) | Value::Amount(Metric::Keys, 0)
                )
            })
        };
        let keys = Metric::Keys.name();
        let columns = 0..self.columns.len();
        let unknown: Vec<usize> = columns
            .filter(|at| self.columns[*at].field == keys && is_none(*at))
            .collect();
        unknown
            .into_iter()
            .for_each(|at| self.columns[at].title = None);
    }

    /// The number of rows to show if `rows` are requested.
    pub fn shown(&self, rows: usize) -> usize {
        let most = self.most_rows.map_or(rows, |most| most.min(rows));
        self.rows.len().min(most)
    }

    /// The indices of displayed columns: those with a title, except optional ones without values.
    pub(crate) fn for_people(&self) -> Vec<usize> {
        (0..self.columns.len())
            .filter(|at| self.columns[*at].title.is_some())
            .filter(|at| !self.columns[*at].is_optional || self.has_value(*at))
            .collect()
    }

    /// The indices of columns in files, which include columns without values unless they are rare.
    pub fn for_files(&self) -> Vec<usize> {
        (0..self.columns.len())
            .filter(|at| !self.columns[*at].field.is_empty())
            .filter(|at| !self.columns[*at].is_rare || self.has_value(*at))
            .collect()
    }

    fn has_value(&self, at: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| row.get(at));
        cells.any(|cell| cell.value != Value::None)
    }
}

impl Column {
    /// A text column, with the same name in files.
    pub fn words(title: &'static str) -> Self {
        Column {
            title: Some(title.into()),
            field: title,
            ..Column::default()
        }
    }

    /// A numeric column, with the same name in files.
    pub fn number(title: &'static str) -> Self {
        Column {
            is_number: true,
            ..Column::words(title)
        }
    }

    /// A numeric column that is only displayed.
    pub fn for_people(title: impl Into<String>) -> Self {
        Column::number("").titled(title)
    }

    /// The load in a metric, for a report by metric `main`.
    pub fn load(metric: Metric, main: Metric) -> Self {
        Column {
            is_optional: true,
            rank: if metric == main {
                Rank::Main
            } else {
                Rank::OtherMetric
            },
            is_rare: metric.is_rare(),
            ..Column::number(metric.name()).titled(metric.head())
        }
    }

    /// Changes the display title.
    pub fn titled(self, title: impl Into<String>) -> Self {
        Column {
            title: Some(title.into()),
            ..self
        }
    }

    /// Changes the name in files.
    pub(crate) fn field(self, field: &'static str) -> Self {
        Column { field, ..self }
    }

    /// Only in files.
    pub(crate) fn only_in_files(self) -> Self {
        Column {
            title: None,
            ..self
        }
    }

    /// Only displayed.
    pub(crate) fn only_for_people(self) -> Self {
        Column { field: "", ..self }
    }

    /// Explains the title.
    pub fn hint(self, hint: &'static str) -> Self {
        Column { hint, ..self }
    }

    /// Not displayed without values.
    pub fn optional(self) -> Self {
        Column {
            is_optional: true,
            ..self
        }
    }

    /// Neither displayed nor in files without values.
    pub fn rare(self) -> Self {
        Column {
            is_rare: true,
            ..self.optional()
        }
    }

    /// Gets the remaining width.
    pub fn flexible(self) -> Self {
        Column {
            is_flexible: true,
            rank: Rank::Kept,
            ..self
        }
    }

    /// Changes when it is dropped from narrow lines.
    pub fn rank(self, rank: Rank) -> Self {
        Column { rank, ..self }
    }
}

/// Builds a table column by column, with a cell per item.
pub struct TableBuilder<'a, R> {
    items: Vec<R>,
    table: Table<'a>,
}

impl<'a, R> TableBuilder<'a, R> {
    /// Adds a column; `cell` computes the cell of each item.
    #[must_use]
    pub fn column(mut self, column: Column, cell: impl Fn(&R) -> Cell<'a>) -> Self {
        self.table.columns.push(column);
        for (row, item) in self.table.rows.iter_mut().zip(&self.items) {
            row.push(cell(item));
        }
        self
    }

    /// Adds a column for each of `kinds`.
    #[must_use]
    pub fn columns<K: Copy>(
        self,
        kinds: impl IntoIterator<Item = K>,
        column: impl Fn(K) -> Column,
        cell: impl Fn(K, &R) -> Cell<'a>,
    ) -> Self {
        kinds.into_iter().fold(self, |table, kind| {
            table.column(column(kind), |item| cell(kind, item))
        })
    }

    /// Adds the load in each of `metrics`, for a report by metric `main`.
    #[must_use]
    pub fn loads(
        self,
        metrics: impl IntoIterator<Item = Metric>,
        main: Metric,
        load: impl Fn(&R) -> PerMetric<u64>,
    ) -> Self {
        let column = |metric| Column::load(metric, main);
        self.columns(metrics, column, |metric, item| {
            Cell::load(metric, &load(item))
        })
    }

    /// The table.
    pub fn build(self) -> Table<'a> {
        self.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_without_a_value_is_for_files_only_where_it_is_optional() {
        let columns = vec![
            Column::words("node"),
            Column::number("address").only_in_files(),
            Column::number("slots"),
            Column::load(Metric::Keys, Metric::Keys),
            Column::load(Metric::Bytes, Metric::Keys),
        ];
        let row = vec![
            Cell::text("a"),
            Cell::text("b"),
            Cell::none(),
            Cell::count(1u64),
            Cell::none(),
        ];
        assert_eq!(Table::new(columns, [row]).for_people(), [0, 2, 3]);
    }

    #[test]
    fn keys_that_are_not_known_are_left_out_for_people_and_others_stay() {
        let columns = || {
            let columns = [Metric::Keys, Metric::Ops].map(|of| Column::load(of, Metric::Ops));
            columns.into_iter().collect::<Vec<_>>()
        };
        let row = |keys: u64| {
            vec![
                Cell::amount(Metric::Keys, keys),
                Cell::amount(Metric::Ops, 0),
            ]
        };
        let mut unknown = Table::new(columns(), [row(0), row(0)]);
        unknown.hide_unknown_keys();
        assert_eq!(
            (unknown.for_people(), unknown.for_files()),
            (vec![1], vec![0, 1])
        );
        let mut known = Table::new(columns(), [row(0), row(3)]);
        known.hide_unknown_keys();
        assert_eq!(known.for_people(), [0, 1]);
    }

    #[test]
    fn a_table_shows_no_more_rows_than_it_has_or_are_worth_it() {
        let rows = |count: usize| (0..count).map(|_| vec![Cell::none()]);
        let table = Table::new(vec![Column::words("x")], rows(9));
        assert_eq!((table.shown(20), table.shown(5)), (9, 5));
        assert_eq!(table.at_most(3).shown(5), 3);
    }
}
