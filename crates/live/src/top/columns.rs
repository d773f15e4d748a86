//! The columns of the tables.

use slotscope_base::name::Name;
use slotscope_base::text;
use slotscope_collect::slot_keys::SlotKey;
use slotscope_model::state::State;

use crate::top::rows::{Shard, Slot};

/// The width from which a screen has all columns, and from which it has most.
const WIDE: usize = 110;
const MEDIUM: usize = 76;
/// Blanks between columns.
const GAP: usize = 1;
/// Minimum width of a name.
const LEAST_NAME: usize = 10;
/// The text for unknown values.
const UNKNOWN: &str = "-";

/// A row of a table.
pub(crate) trait Row: Sized + 'static {
    /// The columns.
    const COLUMNS: &'static [Column<Self>];
    /// Headings of the columns to sort by: the first one in which any row has more than nothing.
    const SORTED_BY: &'static [&'static str];

    /// An id that identifies the row across readings.
    fn id(&self) -> String;

    /// Its state, if that is not normal.
    fn state(&self) -> Option<State> {
        None
    }
}

/// A column of rows of `T`.
pub(crate) struct Column<T> {
    pub heading: &'static str,
    /// The minimum screen width to show it.
    from: usize,
    width: usize,
    cell: Cell<T>,
}

/// The cell of a row in a column.
enum Cell<T> {
    /// A name, limited to the characters that other columns leave.
    Name(fn(&T, usize) -> String),
    /// A word, and what it is sorted by.
    Word(fn(&T) -> String, fn(&T) -> f64),
    /// A number, and how it is spelled.
    Number(fn(&T) -> Option<f64>, fn(f64) -> String),
}

impl Row for Shard {
    const SORTED_BY: &'static [&'static str] = &["state", "cpu", "ops/s", "memory"];
    const COLUMNS: &'static [Column<Shard>] = &[
        name("shard", |shard, most| address(&shard.name, most)),
        number("memory", 0, 10, |shard| shard.memory.map(float), bytes),
        number("limit", MEDIUM, 7, |shard| shard.of_limit, text::percent),
        number("share", WIDE, 6, |shard| shard.memory_share, times),
        number("keys", WIDE, 11, |shard| Some(float(shard.keys)), grouped),
        number("ops/s", 0, 7, |shard| shard.work.ops_per_sec, rate),
        number("in/s", WIDE, 10, |shard| shard.work.net_in_per_sec, bytes),
        number("out/s", WIDE, 10, |shard| shard.work.net_out_per_sec, bytes),
        number("cpu", 0, 7, |shard| shard.work.cpu, text::percent),
        number("load", 0, 6, |shard| shard.load_share, times),
        number("lag", MEDIUM, 9, |shard| shard.lag.map(float), bytes),
        word(
            "state",
            |shard| shard.health.word(),
            |shard| shard.health.urgency,
        ),
    ];

    fn id(&self) -> String {
        self.name.clone()
    }

    fn state(&self) -> Option<State> {
        self.health.state
    }
}

impl Row for Slot {
    const SORTED_BY: &'static [&'static str] = &["cpu", "memory", "keys"];
    const COLUMNS: &'static [Column<Slot>] = &[
        number(
            "slot",
            0,
            5,
            // The largest comes first: of slots, the first one.
            |slot| Some(-f64::from(slot.slot)),
            |slot| (-slot).to_string(),
        ),
        name("shard", |slot, most| address(&slot.shard, most)),
        number("cpu", 0, 7, |slot| slot.cpu, text::percent),
        number("share", 0, 7, |slot| slot.cpu_share, text::percent),
        number("in/s", MEDIUM, 10, |slot| slot.net_in, bytes),
        number("out/s", MEDIUM, 10, |slot| slot.net_out, bytes),
        number("keys", 0, 11, |slot| Some(float(slot.keys)), grouped),
        number("memory", WIDE, 10, |slot| slot.memory.map(float), bytes),
    ];

    fn id(&self) -> String {
        self.slot.to_string()
    }
}

impl Row for SlotKey {
    const SORTED_BY: &'static [&'static str] = &["memory", "elements"];
    const COLUMNS: &'static [Column<SlotKey>] = &[
        name("key", |key, most| key.name.short(most)),
        word(
            "type",
            |key| Name::from(key.kind.as_str()).short(10),
            |_| 0.0,
        ),
        number("elements", 0, 11, |key| key.elements.map(float), grouped),
        number("memory", 0, 10, |key| key.memory.map(float), bytes),
    ];

    fn id(&self) -> String {
        self.name.to_string()
    }
}

impl<T> Column<T> {
    /// Whether its cells are right-aligned.
    pub(crate) fn is_number(&self) -> bool {
        matches!(self.cell, Cell::Number(..))
    }

    /// The cell of a row, for a column this wide.
    pub(crate) fn cell(&self, row: &T, width: usize) -> String {
        match self.cell {
            Cell::Name(cell) => cell(row, width),
            Cell::Word(cell, _) => cell(row),
            Cell::Number(number, spell) => number(row).map_or(UNKNOWN.to_owned(), spell),
        }
    }

    /// The sort key, largest first.
    pub(crate) fn order(&self, row: &T) -> f64 {
        match self.cell {
            Cell::Name(_) => 0.0,
            Cell::Word(_, order) => order(row),
            Cell::Number(number, _) => number(row).unwrap_or(f64::NEG_INFINITY),
        }
    }
}

/// The columns that fit a screen of this width, with their widths.
pub(crate) fn fitting<T: Row>(width: usize) -> Vec<(&'static Column<T>, usize)> {
    let shown = T::COLUMNS.iter().filter(|column| width >= column.from);
    let columns: Vec<&Column<T>> = shown.collect();
    let fixed: usize = columns.iter().map(|column| column.width + GAP).sum();
    let left = (width + GAP).saturating_sub(fixed + GAP).max(LEAST_NAME);
    let width = |column: &Column<T>| match column.cell {
        Cell::Name(_) => left,
        _ => column.width,
    };
    let with_width = |column: &'static Column<T>| (column, width(column));
    columns.into_iter().map(with_width).collect()
}

const fn name<T>(heading: &'static str, cell: fn(&T, usize) -> String) -> Column<T> {
    Column {
        heading,
        from: 0,
        width: 0,
        cell: Cell::Name(cell),
    }
}

const fn word<T>(heading: &'static str, cell: fn(&T) -> String, order: fn(&T) -> f64) -> Column<T> {
    Column {
        heading,
        from: 0,
        width: 10,
        cell: Cell::Word(cell, order),
    }
}

const fn number<T>(
    heading: &'static str,
    from: usize,
    width: usize,
    number: fn(&T) -> Option<f64>,
    spell: fn(f64) -> String,
) -> Column<T> {
    Column {
        heading,
        from,
        width,
        cell: Cell::Number(number, spell),
    }
}

/// An address in up to `most` characters. The port stays: it may be all that differs.
fn address(address: &str, most: usize) -> String {
    let whole = Name::from(address).to_string();
    let count = whole.chars().count();
    if count <= most {
        return whole;
    }
    let back = whole.chars().skip(count + 1 - most);
    std::iter::once('…').chain(back).collect()
}

fn float(count: u64) -> f64 {
    count as f64
}

fn grouped(count: f64) -> String {
    text::grouped(count as u64)
}

/// Bytes, or bytes a second.
fn bytes(count: f64) -> String {
    text::bytes(count as u64)
}

/// Calls per second.
fn rate(calls: f64) -> String {
    text::three_digits(if calls < 100.0 { calls.round() } else { calls })
}

/// Fair shares.
fn times(shares: f64) -> String {
    format!("{shares:.2}x")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_of_a_long_address_stays() {
        assert_eq!(address("127.0.0.1:27201", 20), "127.0.0.1:27201");
        assert_eq!(address("127.0.0.1:27201", 10), "…0.1:27201");
        assert_eq!(address("shop-0.shop.svc:6379", 9), "…svc:6379");
    }
}
