//! A table of the page: cells carry exact numbers; rows are limited by a byte budget.

use askama::Template;

use slotscope_base::name::ISOLATION;
use slotscope_base::text::grouped;

use crate::render::html::spell::{SHOWN, cut, short_count};
use crate::view::cell::Tone;
use crate::view::table::Rank;
use crate::view::{self, Value};

/// Bytes of markup around a cell's text.
const MARKUP: usize = 42;
/// Texts up to this length are never wrapped.
const UNBROKEN: usize = 24;
/// Maximum bytes of a table that also exists as a file, and of any other.
const LONG: usize = 130_000;
const SHORT: usize = 24_000;

/// A table.
#[derive(Template)]
#[template(path = "table.html", config = "src/render/html/askama.toml")]
pub(super) struct Table<'a> {
    /// The id of its section: prefix of its own id, and the label of the table.
    section: &'static str,
    /// Its index among the section's tables; the first one's id has no number.
    place: usize,
    columns: Vec<Column<'a>>,
    /// Explanations of column titles, with equal ones merged.
    legend: Vec<(String, &'static str)>,
    /// The rows that fit, each as long as `columns`.
    rows: Vec<Vec<Cell>>,
    /// Where to find omitted rows; empty if complete.
    elsewhere: String,
    /// Rows initially visible.
    seen: usize,
    /// The total number of rows, including omitted ones.
    total: usize,
}

/// The title of a column, and properties of all its cells.
struct Column<'a> {
    title: &'a str,
    is_number: bool,
    /// Whether it is hidden on phones.
    is_detail: bool,
}

/// A cell.
#[derive(Default)]
struct Cell {
    /// Its display form.
    text: String,
    /// The number as in report.json, for sorting; empty for text.
    value: String,
    /// The full text if `text` is shortened; otherwise empty.
    title: String,
    /// A bar next to the text.
    bar: Option<Bar>,
    /// Names with amounts instead of text: each name has its own text direction.
    named: Vec<(String, String)>,
}

/// A horizontal bar.
struct Bar {
    /// Its length in percent.
    length: String,
    /// The position of the fair share in percent; empty if there is none.
    fair: String,
    /// Its CSS class.
    class: &'static str,
}

impl<'a> Table<'a> {
    /// As many rows of `table` as fit, `seen` of which are initially visible.
    pub(super) fn of(section: &'static str, table: &'a view::Table<'_>, seen: usize) -> Self {
        let columns = table.for_people();
        let mut room = if table.file.is_empty() { SHORT } else { LONG };
        let rows = table.rows.iter().map(|row| {
            let cells = columns.iter().map(|at| Cell::of(&row[*at]));
            cells.collect::<Vec<_>>()
        });
        let rows: Vec<_> = rows
            .take_while(|row| {
                let cost = row.iter().map(Cell::bytes).sum();
                let fits = cost <= room;
                room = room.saturating_sub(cost);
                fits
            })
            .collect();
        let file = if table.file.is_empty() {
            "report.json"
        } else {
            table.file
        };
        let elsewhere = match table.rows.len() - rows.len() {
            0 => String::new(),
            more => format!("{} more in {file}", grouped(more as u64)),
        };
        Table {
            section,
            place: 0,
            legend: legend(columns.iter().map(|at| &table.columns[*at])),
            columns: columns
                .iter()
                .map(|at| Column::of(&table.columns[*at]))
                .collect(),
            rows,
            elsewhere,
            seen,
            total: table.total.unwrap_or(table.rows.len()),
        }
    }

    /// Changes its index among the section's tables.
    pub(super) fn at(self, place: usize) -> Self {
        Table { place, ..self }
    }

    /// Whether a filter and a "show all" button are useful.
    fn is_long(&self) -> bool {
        self.rows.len() > self.seen
    }
}

impl<'a> Column<'a> {
    fn of(column: &'a view::Column) -> Self {
        Column {
            title: column.title.as_deref().unwrap_or_default(),
            is_number: column.is_number,
            is_detail: column.rank <= Rank::Detail,
        }
    }

    /// The class attribute of its title.
    fn class(&self) -> &'static str {
        class_attribute(self.is_number, false, self.is_detail)
    }

    /// The class attribute of one of its cells.
    fn class_of(&self, cell: &Cell) -> &'static str {
        let is_number = self.is_number || !cell.value.is_empty();
        class_attribute(is_number, cell.is_short(), self.is_detail)
    }
}

/// Explanations of the titles of `columns`, with equal ones merged.
fn legend<'a>(columns: impl Iterator<Item = &'a view::Column>) -> Vec<(String, &'static str)> {
    let mut legend: Vec<(String, &'static str)> = Vec::new();
    for column in columns.filter(|column| !column.hint.is_empty()) {
        let title = column.title.as_deref().unwrap_or_default();
        match legend.iter_mut().find(|(_, hint)| *hint == column.hint) {
            Some((titles, _)) if titles.split(", ").any(|known| known == title) => {}
            Some((titles, _)) => *titles += &format!(", {title}"),
            None => legend.push((title.into(), column.hint)),
        }
    }
    legend
}

/// Numbers are right-aligned, short texts not wrapped, details hidden on narrow screens.
fn class_attribute(is_number: bool, is_short: bool, is_detail: bool) -> &'static str {
    match (is_number, is_short, is_detail) {
        (true, _, true) => r#" class="n less""#,
        (true, _, false) => r#" class="n""#,
        (false, true, true) => r#" class="s less""#,
        (false, true, false) => r#" class="s""#,
        (false, false, true) => r#" class="less""#,
        (false, false, false) => "",
    }
}

impl Cell {
    fn of(cell: &view::Cell<'_>) -> Self {
        let text = match &cell.value {
            Value::None => String::from("–"),
            Value::Amount(metric, amount) if !metric.has_unit() => short_count(*amount),
            Value::SignedBytes(_) | Value::Change(_) => cell.spelled(SHOWN).replace('-', "−"),
            Value::Named(_) => String::new(),
            // The cell is isolated already, and its name can be copied.
            _ => cell.spelled(SHOWN).replace(ISOLATION, ""),
        };
        let title = match &cell.value {
            Value::Node(id, name) if *id != name => cut(id),
            Value::Amount(metric, amount) if text != grouped(*amount) => {
                let unit = if metric.is_time() {
                    metric.units()
                } else {
                    metric.name()
                };
                format!("{} {unit}", grouped(*amount))
            }
            _ => String::new(),
        };
        let value = if cell.is_number() {
            cell.exact()
        } else {
            String::new()
        };
        let named = match &cell.value {
            Value::Named(named) => named.clone(),
            _ => Vec::new(),
        };
        Cell {
            text,
            value,
            title,
            bar: cell.bar.map(Bar::of),
            named,
        }
    }

    /// Whether it is too short to be wrapped.
    fn is_short(&self) -> bool {
        self.named.is_empty() && self.text.chars().nth(UNBROKEN).is_none()
    }

    /// An upper bound on its bytes in the page.
    fn bytes(&self) -> usize {
        let escaped =
            |text: &str| text.len() + 5 * text.matches(['<', '>', '&', '"', '\'']).count();
        let bar = if self.bar.is_some() { 190 } else { 0 };
        let pairs = self.named.iter();
        let named = pairs.map(|(name, amount)| MARKUP + escaped(name) + amount.len());
        MARKUP
            + named.sum::<usize>()
            + escaped(&self.text)
            + escaped(&self.title)
            + self.value.len()
            + bar
    }
}

impl Bar {
    fn of(bar: view::Bar) -> Self {
        let percent = |part: f64| format!("{:.1}", 100.0 * part.clamp(0.0, 1.0));
        Bar {
            length: percent(bar.part),
            fair: bar.fair.map(percent).unwrap_or_default(),
            class: match bar.tone {
                Tone::Plain => "load",
                Tone::Watch => "watch",
                Tone::Alarm => "alarm",
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_base::metric::Metric;
    use slotscope_base::name::Name;

    #[test]
    fn a_table_keeps_to_its_budget_and_says_where_the_rest_is() {
        let name = Name(vec![b'<'; 1000]);
        let rows = (0..500).map(|_| vec![view::Cell::name(&name)]);
        let table = view::Table::new(vec![view::Column::words("name")], rows).in_file("t.csv");
        let table = Table::of("t", &table, 20);
        let page = table.render().unwrap();
        let expected = LONG * 3 / 4..LONG + 1500;
        assert!(expected.contains(&page.len()), "{}", page.len());
        assert!(table.elsewhere.ends_with(" more in t.csv") && page.contains(&table.elsewhere));
        assert!(!page.contains("<<") && page.contains("&#60;&#60;"));
    }

    #[test]
    fn sizes_are_read_with_a_unit_and_exact_in_the_title() {
        let cell = Cell::of(&view::Cell::bytes(1_610_612_736));
        assert_eq!(
            (cell.text.as_str(), cell.value.as_str()),
            ("1.50 GiB", "1610612736")
        );
        assert_eq!(cell.title, "1,610,612,736 bytes");
        let cell = Cell::of(&view::Cell::amount(Metric::Keys, 12_345));
        assert_eq!((cell.title.as_str(), cell.value.as_str()), ("", "12345"));
    }
}
