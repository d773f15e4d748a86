//! Heat by time and slot as a map drawn by the script, from embedded data.
//!
//! Rows are run-length encoded: base-36 numbers separated by spaces, with `5*` before a number that repeats five times.

use askama::{Result, Template};
use serde::Serialize;

use slotscope_base::text::truncated as cut;

use crate::render::html::embed::{base36, for_script};
use crate::view::{Heat, TimeMap};

/// Maximum bursts and names on the page, and characters of their texts.
const BURSTS: usize = 200;
const NAMES: usize = 50;
const NAME: usize = 80;
const WORDS: usize = 400;

/// Minimum top of the colour scale, in grains.
const LEAST_TOP: u64 = 10;

/// The map.
#[derive(Template)]
#[template(path = "heat_map.html", config = "src/render/html/askama.toml")]
struct HeatMap {
    data: String,
    slots_per_row: usize,
}

/// The data for the script.
#[derive(Serialize)]
struct Data {
    heat: Heat,
    least: u64,
    from: u64,
    secs: u64,
    columns: usize,
    slots: usize,
    rows: Vec<String>,
    bursts: Vec<Burst>,
    names: Vec<Named>,
    owners: Vec<(u16, u16, String)>,
}

#[derive(Serialize)]
struct Burst {
    slot: u16,
    from: u64,
    to: u64,
    words: String,
}

#[derive(Serialize)]
struct Named {
    name: String,
    slot: u16,
    ops: String,
}

/// The map as HTML.
///
/// # Errors
/// None: the template cannot fail.
pub(super) fn render(map: &TimeMap) -> Result<String> {
    let bursts = map.bursts.iter().take(BURSTS).map(|burst| Burst {
        slot: burst.slot,
        from: burst.times.0,
        to: burst.times.1,
        words: cut(&burst.words, WORDS),
    });
    let names = map.names.iter().take(NAMES).map(|named| Named {
        name: cut(&named.name, NAME),
        slot: named.slot,
        ops: packed(&named.ops),
    });
    let owners = map.owners.iter().take(1000);
    let data = Data {
        heat: map.heat,
        least: LEAST_TOP * map.heat.grain(),
        from: map.from,
        secs: map.bucket_secs,
        columns: map.len(),
        slots: map.slots_per_row,
        rows: map.rows.iter().map(|row| packed(row)).collect(),
        bursts: bursts.collect(),
        names: names.collect(),
        owners: owners
            .map(|(first, last, name)| (*first, *last, cut(name, NAME)))
            .collect(),
    };
    let heat_map = HeatMap {
        data: for_script(&serde_json::to_string(&data).unwrap_or_default()),
        slots_per_row: map.slots_per_row,
    };
    heat_map.render()
}

fn packed(numbers: &[u64]) -> String {
    let runs = numbers.chunk_by(|a, b| a == b);
    let words = runs.map(|run| match run {
        [number] => base36(*number),
        run => format!("{}*{}", run.len(), base36(run[0])),
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_counted() {
        assert_eq!(packed(&[0, 0, 0, 40, 7, 7]), "3*0 14 2*7");
        assert_eq!(packed(&[]), "");
    }
}
