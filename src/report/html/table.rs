//! Tables and trees of the page: what a cell shows, and the exact number that it is sorted by.

use askama::Template;

use crate::metric::{Metric, PerMetric};
use crate::name::Name;
use crate::report::units::{bytes, grouped, percent, short_id};

/// Characters that are shown of a name.
const NAME: usize = 120;

/// A table with a heading.
#[derive(Template)]
#[template(path = "table.html", config = "src/report/html/askama.toml")]
pub struct Table {
    pub id: &'static str,
    pub title: String,
    pub note: Option<String>,
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Cell>>,
    /// Rows that are shown until one asks for all.
    pub shown: usize,
}

pub struct Column {
    pub name: &'static str,
    pub is_number: bool,
}

/// What stands in a cell.
pub enum Cell {
    /// Words.
    Text(String),
    /// A number, as people read it and as it is.
    Number { shown: String, exact: String },
    /// Part of the widest bar, and whether it is more than it should be.
    Bar { part: f64, is_loud: bool },
}

impl Cell {
    pub fn name(name: &Name) -> Self {
        Cell::Text(cut(&name.to_string()))
    }

    pub fn optional_name(name: Option<&Name>) -> Self {
        name.map_or(Cell::Text(String::from("-")), Cell::name)
    }

    /// A node, by as much of its id as tells it from others.
    pub fn node(id: Option<&Name>) -> Self {
        Cell::Text(id.map_or(String::from("nobody's"), |id| cut(&short_id(id))))
    }

    pub fn count(count: u64) -> Self {
        Cell::Number { shown: grouped(count), exact: count.to_string() }
    }

    /// A slot: its number is a name, no amount.
    pub fn slot(slot: u16) -> Self {
        Cell::Number { shown: slot.to_string(), exact: slot.to_string() }
    }

    pub fn amount(metric: Metric, amount: u64) -> Self {
        Cell::Number { shown: amount_text(metric, amount), exact: amount.to_string() }
    }

    pub fn share(share: f64) -> Self {
        Cell::Number { shown: percent(share), exact: share.to_string() }
    }

    pub fn ratio(ratio: Option<f64>) -> Self {
        let (shown, exact) = ratio.map_or(("-".into(), "-1".into()), |x| (format!("{x:.3}"), x.to_string()));
        Cell::Number { shown, exact }
    }

    pub fn loads(load: &PerMetric<u64>) -> impl Iterator<Item = Cell> {
        load.iter().map(|(metric, load)| Cell::amount(metric, *load))
    }

    fn is_number(&self) -> bool {
        matches!(self, Cell::Number { .. })
    }

    fn exact(&self) -> Option<&str> {
        if let Cell::Number { exact, .. } = self { Some(exact) } else { None }
    }

    fn bar(&self) -> Option<String> {
        if let Cell::Bar { part, .. } = self { Some(bar(*part)) } else { None }
    }

    fn is_loud(&self) -> bool {
        matches!(self, Cell::Bar { is_loud: true, .. })
    }

    fn text(&self) -> &str {
        match self {
            Cell::Text(text) | Cell::Number { shown: text, .. } => text,
            Cell::Bar { .. } => "",
        }
    }
}

/// Columns by name; those that begin with `#` hold numbers.
pub fn columns(names: impl IntoIterator<Item = &'static str>) -> Vec<Column> {
    let column = |name: &'static str| match name.strip_prefix('#') {
        Some(name) => Column { name, is_number: true },
        None => Column { name, is_number: false },
    };
    names.into_iter().map(column).collect()
}

/// A prefix and those below it.
#[derive(Template)]
#[template(path = "branch.html", config = "src/report/html/askama.toml")]
pub struct Branch {
    pub name: String,
    pub bar: String,
    pub share: String,
    pub load: String,
    pub tagged: String,
    pub slots: String,
    pub children: Vec<Branch>,
}

/// The width of a bar, in hundredths of the widest.
pub fn bar(part: f64) -> String {
    format!("{:.1}", 100.0 * part.clamp(0.0, 1.0))
}

pub fn amount_text(metric: Metric, amount: u64) -> String {
    if metric == Metric::Bytes { bytes(amount) } else { grouped(amount) }
}

/// The beginning of a name that is too long, and an ellipsis.
pub fn cut(text: &str) -> String {
    cut_at(NAME, text)
}

/// The first so many characters.
pub fn cut_at(characters: usize, text: &str) -> String {
    match text.char_indices().nth(characters) {
        None => text.to_string(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
