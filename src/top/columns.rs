//! The columns of the tables.

use slotscope_collect::slot_keys::SlotKey;
use slotscope_engine::name::Name;
use slotscope_engine::text;
use slotscope_findings::summary::state::State;

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
    /// Heading of the default sort column.
    const SORTED_BY: &'static str;

    /// An id that identifies the row across readings.
    fn id(&self) -> String;

    /// The text that filters search.
    fn text(&self) -> String;

    /// Its state, if that is not normal.
    fn state(&self) -> Option<State> {
        None
    }
}

/// A column of rows of `T`.
pub(crate) struct Column<T> {
    pub heading: &'static str,
    width: usize,
    /// The minimum screen width to show it.
    from: usize,
    cell: Cell<T>,
    /// The sort key, largest first.
    pub order: fn(&T) -> Option<f64>,
}

/// The cell of a row in a column.
enum Cell<T> {
    /// A name, limited to the characters that other columns leave.
    Name(fn(&T, usize) -> String),
    Word(fn(&T) -> String),
    Number(fn(&T) -> Option<String>),
}

impl Row for Shard {
    const SORTED_BY: &'static str = "state";
    const COLUMNS: &'static [Column<Shard>] = &[
        name("shard", |shard, most| address(&shard.name, most), |_| None),
        number(
            "memory",
            10,
            |shard| shard.memory.map(text::bytes),
            |shard| shard.memory.map(|bytes| bytes as f64),
        ),
        medium(number(
            "limit",
            7,
            |shard| shard.of_limit.map(text::percent),
            |shard| shard.of_limit,
        )),
        wide(number(
            "share",
            6,
            |shard| shard.memory_share.map(times),
            |shard| shard.memory_share,
        )),
        wide(number(
            "keys",
            11,
            |shard| Some(text::grouped(shard.keys)),
            |shard| Some(shard.keys as f64),
        )),
        number(
            "ops/s",
            7,
            |shard| shard.work.ops_per_sec.map(rate),
            |shard| shard.work.ops_per_sec,
        ),
        wide(number(
            "in/s",
            10,
            |shard| shard.work.net_in_per_sec.map(bytes),
            |shard| shard.work.net_in_per_sec,
        )),
        wide(number(
            "out/s",
            10,
            |shard| shard.work.net_out_per_sec.map(bytes),
            |shard| shard.work.net_out_per_sec,
        )),
        number(
            "cpu",
            7,
            |shard| shard.work.cpu.map(text::percent),
            |shard| shard.work.cpu,
        ),
        number(
            "load",
            6,
            |shard| shard.load_share.map(times),
            |shard| shard.load_share,
        ),
        medium(number(
            "lag",
            9,
            |shard| shard.lag.map(text::bytes),
            |shard| shard.lag.map(|bytes| bytes as f64),
        )),
        word(
            "state",
            10,
            |shard| shard.health.word(),
            |shard| Some(shard.health.urgency),
        ),
    ];

    fn id(&self) -> String {
        self.name.clone()
    }

    fn text(&self) -> String {
        format!("{} {}", Name::from(self.name.as_str()), self.health.word())
    }

    fn state(&self) -> Option<State> {
        self.health.state
    }
}

impl Row for Slot {
    const SORTED_BY: &'static str = "cpu";
    const COLUMNS: &'static [Column<Slot>] = &[
        number(
            "slot",
            5,
            |slot| Some(slot.slot.to_string()),
            |slot| Some(-f64::from(slot.slot)),
        ),
        name("shard", |slot, most| address(&slot.shard, most), |_| None),
        number(
            "cpu",
            7,
            |slot| slot.cpu.map(text::percent),
            |slot| slot.cpu.or(Some(0.0)),
        ),
        number(
            "share",
            7,
            |slot| slot.cpu_share.map(text::percent),
            |slot| slot.cpu_share,
        ),
        medium(number(
            "in/s",
            10,
            |slot| slot.net_in.map(bytes),
            |slot| slot.net_in,
        )),
        medium(number(
            "out/s",
            10,
            |slot| slot.net_out.map(bytes),
            |slot| slot.net_out,
        )),
        number(
            "keys",
            11,
            |slot| Some(text::grouped(slot.keys)),
            |slot| Some(slot.keys as f64),
        ),
        wide(number(
            "memory",
            10,
            |slot| slot.memory.map(text::bytes),
            |slot| slot.memory.map(|bytes| bytes as f64),
        )),
    ];

    fn id(&self) -> String {
        self.slot.to_string()
    }

    fn text(&self) -> String {
        format!("{} {}", self.slot, Name::from(self.shard.as_str()))
    }
}

impl Row for SlotKey {
    const SORTED_BY: &'static str = "memory";
    const COLUMNS: &'static [Column<SlotKey>] = &[
        name("key", |key, most| key.name.short(most), |_| None),
        word(
            "type",
            10,
            |key| Name::from(key.kind.as_str()).short(10),
            |_| None,
        ),
        number(
            "elements",
            11,
            |key| key.elements.map(text::grouped),
            |key| key.elements.map(|count| count as f64),
        ),
        number(
            "memory",
            10,
            |key| key.memory.map(text::bytes),
            |key| key.memory.map(|bytes| bytes as f64),
        ),
    ];

    fn id(&self) -> String {
        self.name.to_string()
    }

    fn text(&self) -> String {
        format!("{} {}", self.name, self.kind)
    }
}

impl<T> Column<T> {
    /// Whether its cells are right-aligned.
    pub(crate) fn is_number(&self) -> bool {
        matches!(self.cell, Cell::Number(_))
    }

    /// The cell of a row, for a column this wide.
    pub(crate) fn cell(&self, row: &T, width: usize) -> String {
        match self.cell {
            Cell::Name(cell) => cell(row, width),
            Cell::Word(cell) => cell(row),
            Cell::Number(cell) => cell(row).unwrap_or_else(|| UNKNOWN.to_owned()),
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

/// A column for wide screens only.
const fn wide<T>(column: Column<T>) -> Column<T> {
    Column {
        from: WIDE,
        ..column
    }
}

/// A column omitted on narrow screens.
const fn medium<T>(column: Column<T>) -> Column<T> {
    Column {
        from: MEDIUM,
        ..column
    }
}

const fn column<T>(
    heading: &'static str,
    width: usize,
    cell: Cell<T>,
    order: fn(&T) -> Option<f64>,
) -> Column<T> {
    Column {
        heading,
        width,
        from: 0,
        cell,
        order,
    }
}

const fn name<T>(
    heading: &'static str,
    cell: fn(&T, usize) -> String,
    order: fn(&T) -> Option<f64>,
) -> Column<T> {
    column(heading, 0, Cell::Name(cell), order)
}

const fn word<T>(
    heading: &'static str,
    width: usize,
    cell: fn(&T) -> String,
    order: fn(&T) -> Option<f64>,
) -> Column<T> {
    column(heading, width, Cell::Word(cell), order)
}

const fn number<T>(
    heading: &'static str,
    width: usize,
    cell: fn(&T) -> Option<String>,
    order: fn(&T) -> Option<f64>,
) -> Column<T> {
    column(heading, width, Cell::Number(cell), order)
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

/// Bytes a second.
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
