//! Limitations of the comparison: reports of different kinds, excluded reports, and missing parts.

use slotscope_engine::metric::Metric;
use slotscope_engine::name::Name;
use slotscope_engine::text::list;

use crate::diff::doubt::Doubt;
use crate::trend::Options;
use crate::trend::forecast::{Basis, Forecast, Full};
use crate::trend::point::Condensed;

/// Maximum files named in a note.
const NAMED: usize = 3;

/// Incomparable neighbours: the later file, and the difference.
pub(super) fn differences(reports: &[Condensed]) -> Vec<(Name, String)> {
    let pairs = reports.windows(2);
    pairs
        .flat_map(|pair| {
            let [old, new] = [&pair[0], &pair[1]];
            let differences = new.basis.differences((&old.point.file, &old.basis));
            let sentences = differences.into_iter().chain(clusters(old, new));
            sentences.map(|sentence| (new.point.file.clone(), sentence))
        })
        .collect()
}

/// Listings of the same cluster have a node in common.
fn clusters(old: &Condensed, new: &Condensed) -> Option<String> {
    let is_old = |id: &Name| old.nodes.binary_search(id).is_ok();
    let are_known = !old.nodes.is_empty() && !new.nodes.is_empty();
    let is_other = are_known && !new.nodes.iter().any(is_old);
    is_other.then(|| {
        let file = &old.point.file;
        format!(
            "none of its nodes is in {file}: it is of another cluster, or redacted with another key"
        )
    })
}

/// Doubtful reports, excluded from growth or used anyway.
pub(super) fn doubts(reports: &[Condensed]) -> Vec<String> {
    let files = |doubt: Doubt| {
        let doubtful = reports
            .iter()
            .filter(move |report| report.point.left_out == Some(doubt));
        doubtful
            .map(|report| &report.point.file)
            .collect::<Vec<_>>()
    };
    let note = |doubt| {
        let files = files(doubt);
        let flag = match doubt {
            Doubt::Empty => "",
            _ => "; --with-doubtful takes them in",
        };
        (!files.is_empty()).then(|| {
            let named = list(files.iter(), NAMED);
            format!("left out of growth: {named}: {doubt}{flag}")
        })
    };
    Doubt::ALL.into_iter().filter_map(note).collect()
}

/// Limitations of the forecast.
pub(super) fn fits(
    used: &[&Condensed],
    forecast: Option<&Forecast>,
    options: &Options,
) -> Vec<String> {
    let Some(forecast) = forecast else {
        let why = match used.len() {
            0 | 1 => "fewer than two reports can be used",
            _ => "the reports are of less than a day",
        };
        return vec![format!("no growth is computed: {why}")];
    };
    let mut notes = Vec::new();
    let lacking = options.maxmemory.is_some() && forecast.full.is_none();
    if lacking {
        notes.push(String::from(
            "--maxmemory: fewer than two of the reports have the bytes of keys, so it is not known when a node is full",
        ));
    }
    if forecast.growth.keys.reports == 2 {
        notes.push(String::from(
            "two reports give a rate and no interval: how far off it may be shows from three on",
        ));
    }
    if let Some(full) = &forecast.full {
        notes.extend(full_notes(full, forecast.span_months));
    }
    notes
}

fn full_notes(full: &Full, span_months: f64) -> Vec<String> {
    let mut notes = Vec::new();
    let changed = match full.basis {
        Basis::AllData => {
            "nodes or slots changed between the reports, so the fullest node is taken to grow as all data do"
        }
        Basis::FullestNodes if full.measured => {
            "used_memory was measured in one report: memory that is not keys is taken to stay as it is"
        }
        _ => "",
    };
    if !changed.is_empty() {
        notes.push(String::from(changed));
    }
    if full
        .months
        .estimate
        .is_some_and(|months| months > span_months)
    {
        let note = "the forecast reaches further ahead than the reports reach back: growth may change until then";
        notes.push(String::from(note));
    }
    if !full.measured {
        let note = "memory is that of the dump's keys, without the server's tables, buffers and fragmentation; \
                    analyze --used-memory measures them";
        notes.push(String::from(note));
    }
    notes
}

/// The first neighbours of which different parts of the keys have a size.
pub(super) fn other_sized(used: &[&Condensed], metric: Metric) -> Option<String> {
    let other_sized = |pair: &[&Condensed]| {
        let (old, new) = (&pair[0].point.file, &pair[1].point.file);
        let difference = pair[1].basis.other_sized((old, &pair[0].basis))?;
        Some(format!(
            "{new}: {difference}: their bytes are not the same amount"
        ))
    };
    let mut pairs = used.windows(2).filter(|_| metric == Metric::Bytes);
    pairs.find_map(other_sized)
}
