//! Heat by time and slot: what the maps of the terminal, the page and the chart draw.

use crate::view::Heat;

/// Heat by time and slot.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeMap {
    /// The counted kind of load.
    pub heat: Heat,
    /// The start of the first column, in seconds since 1970.
    pub from: u64,
    /// Seconds of a column.
    pub bucket_secs: u64,
    /// Slots that share a row.
    pub slots_per_row: usize,
    /// The amounts of each row by column.
    pub rows: Vec<Vec<u64>>,
    /// Parts to look at, the most important first.
    pub bursts: Vec<Marked>,
    /// Names with a slot, over time.
    pub names: Vec<NamedSeries>,
    /// The first and the last slot of each range of a node, and the node's name.
    pub owners: Vec<(u16, u16, String)>,
}

/// A part to look at.
#[derive(Debug, Clone, PartialEq)]
pub struct Marked {
    /// Its slot.
    pub slot: u16,
    /// Its start and its end, in seconds since 1970.
    pub times: (u64, u64),
    /// Its subject, in a few words.
    pub name: String,
    /// The words about it.
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
    /// Columns.
    pub(crate) fn len(&self) -> usize {
        self.rows.first().map_or(0, Vec::len)
    }

    /// The end of the last column, in seconds since 1970.
    pub fn to(&self) -> u64 {
        self.from + self.len() as u64 * self.bucket_secs
    }

    /// The first and the last slot of a row.
    pub(crate) fn slots(&self, row: usize) -> (usize, usize) {
        let first = row * self.slots_per_row;
        (first, first + self.slots_per_row - 1)
    }

    /// The same with fewer and larger cells.
    pub(crate) fn coarser(&self, rows: usize, columns: usize) -> Vec<Vec<u64>> {
        let merged = |rows: &[Vec<u64>]| {
            let sum = |at: usize| rows.iter().map(|row| row[at]).sum::<u64>();
            let sums: Vec<u64> = (0..self.len()).map(sum).collect();
            sums.chunks(columns)
                .map(|cells| cells.iter().sum())
                .collect()
        };
        self.rows.chunks(rows).map(merged).collect()
    }
}
