//! Heat by time and slot, drawn as maps by terminal, page and chart.

use crate::view::Heat;

/// Heat by time and slot.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeMap {
    /// The counted kind of load.
    pub heat: Heat,
    /// The start of the first column, in seconds since 1970.
    pub from: u64,
    /// Seconds per column.
    pub bucket_secs: u64,
    /// Slots per row.
    pub slots_per_row: usize,
    /// The amounts of each row by column.
    pub rows: Vec<Vec<u64>>,
    /// Noteworthy parts, most important first.
    pub bursts: Vec<Marked>,
    /// Names with a slot, over time.
    pub names: Vec<NamedSeries>,
    /// The first and the last slot of each range of a node, and the node's name.
    pub owners: Vec<(u16, u16, String)>,
}

/// A noteworthy part.
#[derive(Debug, Clone, PartialEq)]
pub struct Marked {
    /// Its slot.
    pub slot: u16,
    /// Start and end, in seconds since 1970.
    pub times: (u64, u64),
    /// Its subject in short.
    pub name: String,
    /// Its description.
    pub words: String,
}

/// The amounts of a name by column.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedSeries {
    /// Its name.
    pub name: String,
    /// Its slot.
    pub slot: u16,
    /// By column.
    pub ops: Vec<u64>,
}

impl TimeMap {
    /// The number of columns.
    pub(crate) fn len(&self) -> usize {
        self.rows.first().map_or(0, Vec::len)
    }

    /// The end of the last column, in seconds since 1970.
    pub fn to(&self) -> u64 {
        self.from + self.len() as u64 * self.bucket_secs
    }
}
