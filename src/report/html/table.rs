//! A table of the page: headed columns, rows of cells that carry their exact numbers, cut to a budget of bytes.

use askama::Template;

use super::spell::{cut, short_count};
use crate::metric::Metric;
use crate::name::Name;
use crate::report::units::{bytes, grouped, percent};

/// Tags and attributes around the text of a cell.
const MARKUP: usize = 42;
/// Characters of a text that is never broken over two lines.
const UNBROKEN: usize = 24;

/// A table.
#[derive(Template)]
#[template(path = "table.html", config = "src/report/html/askama.toml")]
pub struct Table {
    /// Its id in the page; also what its filter and its button are called after.
    pub id: &'static str,
    /// What is in it.
    pub caption: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
    /// Where the rows are that the page has no room for; empty where all are here.
    pub elsewhere: String,
    /// Rows that are seen before the reader asks for all.
    pub seen: usize,
}

/// A column.
pub struct Column {
    /// Its head.
    pub title: String,
    /// What the head means, where that is not plain.
    pub hint: &'static str,
    /// Whether it holds numbers.
    pub numeric: bool,
}

/// A cell.
#[derive(Default)]
pub struct Cell {
    /// As people read it.
    pub text: String,
    /// The number as it stands in report.json, to sort by; empty for words.
    pub value: String,
    /// All of what `text` shortens; empty where it shortens nothing.
    pub title: String,
    /// A bar beside the text.
    pub bar: Option<Bar>,
}

/// A horizontal bar.
pub struct Bar {
    /// Its length in percent.
    pub length: String,
    /// Where the fair share is, in percent; empty where there is none.
    pub fair: String,
    /// Its class: `load`, `watch` or `alarm`.
    pub class: &'static str,
}

impl Table {
    /// A table of as many of `rows` as fit into `budget` bytes; the rest are in `file`.
    pub fn of(
        (id, caption): (&'static str, String),
        columns: Vec<Column>,
        rows: impl ExactSizeIterator<Item = Vec<Cell>>,
        (budget, file): (usize, &str),
    ) -> Self {
        let wanted = rows.len();
        let mut room = budget;
        let fits = |row: &Vec<Cell>| {
            let cost = row.iter().map(Cell::bytes).sum();
            let fits = cost <= room;
            room = room.saturating_sub(cost);
            fits
        };
        let rows: Vec<_> = { rows }.by_ref().take_while(fits).collect();
        let elsewhere = match wanted - rows.len() {
            0 => String::new(),
            more => format!("{} more in {file}", grouped(more as u64)),
        };
        Table { id, caption, columns, rows, elsewhere, seen: usize::MAX }
    }

    /// Whether a filter and a button to show all rows are of use.
    fn is_long(&self) -> bool {
        self.rows.len() > self.seen
    }

    /// The same, of which so many rows are seen before the reader asks for all.
    pub fn seen_to(self, seen: usize) -> Self {
        Table { seen, ..self }
    }
}

impl Column {
    /// Of names.
    pub fn words(title: &str) -> Self {
        Column { title: title.into(), hint: "", numeric: false }
    }

    /// Of numbers.
    pub fn numbers(title: &str, hint: &'static str) -> Self {
        Column { title: title.into(), hint, numeric: true }
    }
}

impl Cell {
    /// Words of the program.
    pub fn words(text: impl Into<String>) -> Self {
        Cell { text: text.into(), ..Cell::default() }
    }

    /// A name, cut where it is long.
    pub fn name(name: &Name) -> Self {
        Cell::words(cut(name))
    }

    /// A hash tag in its braces.
    pub fn tag(name: &Name) -> Self {
        Cell::words(format!("{{{}}}", cut(name)))
    }

    /// A whole number.
    pub fn count(count: u64) -> Self {
        Cell { text: grouped(count), value: count.to_string(), ..Cell::default() }
    }

    /// A number that is an identifier.
    pub fn number(number: impl ToString) -> Self {
        Cell { text: number.to_string(), value: number.to_string(), ..Cell::default() }
    }

    /// A load as its metric is read: sizes with a unit, large counts short.
    pub fn load(metric: Metric, load: u64) -> Self {
        let text = match metric {
            Metric::Bytes => bytes(load),
            _ => short_count(load),
        };
        let exact = format!("{} {}", grouped(load), metric.name());
        let title = if text == grouped(load) { String::new() } else { exact };
        Cell { text, value: load.to_string(), title, bar: None }
    }

    /// A part of one.
    pub fn share(share: f64) -> Self {
        Cell { text: percent(share), value: share.to_string(), ..Cell::default() }
    }

    /// A ratio with so many digits.
    pub fn ratio(ratio: f64, digits: usize) -> Self {
        Cell { text: format!("{ratio:.digits$}"), value: ratio.to_string(), ..Cell::default() }
    }

    /// Nothing to tell.
    pub fn none() -> Self {
        Cell::words("–")
    }

    /// The same with a bar, `part` of its longest; `fair` is where a fair share ends.
    pub fn with_bar(self, part: f64, fair: Option<f64>, class: &'static str) -> Self {
        let percent = |part: f64| format!("{:.1}", 100.0 * part.clamp(0.0, 1.0));
        let bar = Bar { length: percent(part), fair: fair.map(percent).unwrap_or_default(), class };
        Cell { bar: Some(bar), ..self }
    }

    /// Whether it is too short to be broken over two lines.
    fn is_short(&self) -> bool {
        self.text.chars().nth(UNBROKEN).is_none()
    }

    /// Bytes that it takes in the page, or a little more.
    fn bytes(&self) -> usize {
        let escaped = |text: &str| text.len() + 5 * text.matches(['<', '>', '&', '"', '\'']).count();
        let bar = if self.bar.is_some() { 190 } else { 0 };
        MARKUP + escaped(&self.text) + escaped(&self.title) + self.value.len() + bar
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: usize, budget: usize) -> Table {
        let rows = (0..rows).map(|_| vec![Cell::name(&Name(vec![b'<'; 1000]))]);
        Table::of(("t", String::new()), vec![Column::words("name")], rows, (budget, "t.csv"))
    }

    #[test]
    fn a_table_keeps_to_its_budget_and_says_where_the_rest_is() {
        let table = table(500, 20_000);
        let page = table.render().unwrap();
        assert!(page.len() < 21_500 && page.len() > 15_000, "{}", page.len());
        assert!(table.elsewhere.ends_with(" more in t.csv") && page.contains(&table.elsewhere));
        assert!(!page.contains("<<") && page.contains("&#60;&#60;"));
    }

    #[test]
    fn sizes_are_read_with_a_unit_and_exact_in_the_title() {
        let cell = Cell::load(Metric::Bytes, 1_610_612_736);
        assert_eq!((cell.text.as_str(), cell.value.as_str()), ("1.50 GiB", "1610612736"));
        assert_eq!(cell.title, "1,610,612,736 bytes");
        assert_eq!(Cell::load(Metric::Keys, 12_345).title, "");
    }
}
