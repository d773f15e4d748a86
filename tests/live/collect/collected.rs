//! Reads a collection back.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use serde_json::Value;
use slotscope::name::Name;
use slotscope::source::collection::manifest::{FILE, Manifest};

/// A row of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    /// The file that contains it.
    pub file: String,
    pub key: Name,
    /// The cells by column, without empty ones.
    pub cells: BTreeMap<String, String>,
}

impl Row {
    pub(super) fn cell(&self, column: &str) -> Option<&str> {
        self.cells.get(column).map(String::as_str)
    }

    pub(super) fn number(&self, column: &str) -> Option<u64> {
        self.cell(column).map(|cell| cell.parse().unwrap())
    }
}

/// The manifest of a directory.
pub(super) fn manifest(directory: &Path) -> Manifest {
    let text = std::fs::read(directory.join(FILE)).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// The rows of all files in the manifest, in order; checks the numbers and slots in it.
pub(super) fn rows(directory: &Path) -> Vec<Row> {
    let mut rows = Vec::new();
    for node in manifest(directory).nodes {
        let before = rows.len();
        rows.extend(node.file.iter().flat_map(|file| rows_in(directory, file)));
        assert_eq!((rows.len() - before) as u64, node.keys, "{}", node.name);
    }
    let slot = |row: &Row| row.number("slot").unwrap() as u16;
    assert!(
        rows.iter()
            .all(|row| slot(row) == slotscope::slot(&row.key.0))
    );
    rows
}

fn rows_in(directory: &Path, file: &str) -> Vec<Row> {
    let content = zstd::Decoder::new(File::open(directory.join(file)).unwrap()).unwrap();
    let mut reader = csv::Reader::from_reader(content);
    let columns = reader.headers().unwrap().clone();
    let row = |record: csv::StringRecord| {
        let cells = columns.iter().zip(record.iter());
        let cells = cells.filter(|(_, cell)| !cell.is_empty());
        Row {
            file: file.to_owned(),
            key: Name::parse(record.get(0).unwrap()).unwrap(),
            cells: cells
                .map(|(column, cell)| (column.to_owned(), cell.to_owned()))
                .collect(),
        }
    };
    reader
        .records()
        .map(|record| row(record.unwrap()))
        .collect()
}

/// The lines of slot-stats.json.
pub(super) fn slot_stats(directory: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(directory.join("slot-stats.json")).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
