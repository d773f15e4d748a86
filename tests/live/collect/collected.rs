//! Reads a collection back, which is in `out`.

use std::collections::BTreeMap;
use std::fs::File;

use serde_json::Value;
use slotscope::name::Name;
use slotscope::source::collection::manifest::{FILE, Manifest};
use testkit::run::Scratch;

/// A row of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub key: Name,
    /// The cells by column, without empty ones.
    pub cells: BTreeMap<String, String>,
}

impl Row {
    pub(crate) fn cell(&self, column: &str) -> Option<&str> {
        self.cells.get(column).map(String::as_str)
    }

    pub(crate) fn number(&self, column: &str) -> Option<u64> {
        self.cell(column).map(|cell| cell.parse().unwrap())
    }
}

/// Its manifest.
pub(super) fn manifest(scratch: &Scratch) -> Manifest {
    serde_json::from_str(&scratch.read(format!("out/{FILE}"))).unwrap()
}

/// The rows of all files in the manifest, in order; checks the numbers and slots in it.
pub(crate) fn rows(scratch: &Scratch) -> Vec<Row> {
    let mut rows = Vec::new();
    for node in manifest(scratch).nodes {
        let before = rows.len();
        rows.extend(node.file.iter().flat_map(|file| rows_in(scratch, file)));
        assert_eq!((rows.len() - before) as u64, node.keys, "{}", node.name);
    }
    let is_right = |row: &Row| row.number("slot") == Some(slotscope::slot(&row.key.0).into());
    assert!(rows.iter().all(is_right));
    rows
}

fn rows_in(scratch: &Scratch, file: &str) -> Vec<Row> {
    let file = File::open(scratch.path("out").join(file)).unwrap();
    let mut reader = csv::Reader::from_reader(zstd::Decoder::new(file).unwrap());
    let cells = reader.deserialize::<BTreeMap<String, String>>();
    let row = |mut cells: BTreeMap<String, String>| {
        cells.retain(|_, cell| !cell.is_empty());
        let key = Name::parse(cells.get("key").map_or("", String::as_str)).unwrap();
        Row { key, cells }
    };
    cells.map(|cells| row(cells.unwrap())).collect()
}

/// The lines of slot-stats.json.
pub(super) fn slot_stats(scratch: &Scratch) -> Vec<Value> {
    let text = scratch.read("out/slot-stats.json");
    let lines = text.lines().map(serde_json::from_str);
    lines.map(Result::unwrap).collect()
}
