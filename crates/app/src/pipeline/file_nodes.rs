//! Infers nodes from the dumps alone: one file per primary.

use std::collections::BTreeSet;
use std::path::Path;

use slotscope_base::error::Result;
use slotscope_base::text;
use slotscope_count::scan::Scanned;
use slotscope_count::tally::slots_by_input::SlotsByInput;
use slotscope_findings::summary::evidence;
use slotscope_findings::summary::integrity::of_files::of_overlap;
use slotscope_findings::wording::evidence::same_node;
use slotscope_model::{InputFacts, Summary};
use slotscope_read::format::rdb::snapshot::Rdb;
use slotscope_read::format::{Format, Notice, slot_stats};
use slotscope_read::source::stem::stem;
use slotscope_topology::Topology;
use slotscope_topology::file_groups::FileSlots;
use slotscope_topology::of_files::{NotNodes, OfFiles, of_files};
use slotscope_topology::overlap::Overlap;

use crate::pipeline::reading::Reading;
use crate::pipeline::{captured, collected_nodes};

/// The nodes that the scanned inputs are dumps of; the note on why they are not, if they might be.
pub fn of<'p, T>(
    paths: impl Iterator<Item = &'p Path>,
    scanned: &Scanned<T>,
    counted: &SlotsByInput,
) -> Result<OfFiles, Option<String>> {
    // Captures next to dumps are of the same nodes, and commands after an RDB file are of its node. Key listings have
    // no slots.
    let has_dumps = scanned.inputs.iter().any(|input| input.seen.keys > 0);
    let is_dump = |at: &usize| {
        let input = &scanned.inputs[*at];
        let is_series = input.format == slot_stats::NAME && has_dumps;
        let is_capture = captured::is_capture(input);
        let has_none = is_series || is_capture && (has_dumps || counted.of(*at).is_empty());
        input.seen.keys > 0 || !has_none
    };
    let places: Vec<usize> = (0..scanned.inputs.len()).filter(is_dump).collect();
    let paths: Vec<&Path> = paths.collect();
    let chosen: Vec<&Path> = places.iter().map(|at| paths[*at]).collect();
    let files = places.iter().zip(names(&chosen)).map(|(at, name)| {
        let input = &scanned.inputs[*at];
        FileSlots {
            name,
            slots: counted.of(*at),
            is_snapshot: input.format == Rdb.name(),
            // Counts by slot are the reply of one node.
            is_of_cluster: input.seen.count(Notice::InCluster) > 0
                || input.format == slot_stats::NAME,
        }
    });
    let files: Vec<FileSlots> = files.collect();
    let mut nodes = of_files(&files).map_err(|why| note(why, files.len()).filter(|_| has_dumps))?;
    for file in nodes.files.iter_mut().flatten() {
        *file = places[*file];
    }
    match &mut nodes.overlap {
        // Captures of two nodes may share slots because of redirects, which is not damage.
        Some(_) if !has_dumps => return Err(None),
        Some(overlap) => overlap.files = overlap.files.map(|file| places[file]),
        None => {}
    }
    Ok(nodes)
}

/// A note on why files are not taken as nodes; `None` if they are too few.
fn note(why: NotNodes, files: usize) -> Option<String> {
    let why = match why {
        NotNodes::Alone => return None,
        NotNodes::TooMany => "a cluster has fewer nodes".into(),
        NotNodes::SameSlots => "they hold keys of the same slots, as parts of one dump do".into(),
        NotNodes::Shared(slots) => format!(
            "{} are in more than one of them",
            text::counted(slots.into(), "slot")
        ),
        NotNodes::TooFewKeys => "they have too few keys to tell".into(),
    };
    let files = text::grouped(files as u64);
    Some(format!(
        "the {files} files are not taken as a node each: {why}; --topology FILE or --nodes N names the nodes"
    ))
}

/// The nodes inferred from the inputs, or listed by a collection, scanning only for this; three assumed nodes if the
/// inputs are not nodes.
///
/// # Errors
/// As for a scan.
pub fn read(reading: &Reading) -> Result<Topology> {
    if let Some(topology) = collected_nodes::beside(reading)? {
        return Ok(topology);
    }
    let inputs = reading.sources.len();
    if inputs < 2 || !reading.is_rereadable() {
        return Topology::assumed();
    }
    let scanned = reading.scan("finding nodes", || SlotsByInput::new(inputs))?;
    let nodes = of(reading.paths(), &scanned, &scanned.tally);
    nodes.map_or_else(|_| Topology::assumed(), |nodes| Ok(nodes.topology))
}

/// Records the damage shown by nodes with common slots.
pub(crate) fn note_overlap(overlap: Option<&Overlap>, input: &mut InputFacts) {
    let are_snapshots = evidence::are_snapshots(&input.files);
    let sign = overlap.map(|overlap| of_overlap(overlap, &input.files, are_snapshots));
    input.of_files.extend(sign);
}

/// Warns of nodes with several files; `files` has the file indices of each node.
pub(crate) fn warn_of_several(files: &[Vec<usize>], summary: &mut Summary) {
    let nodes = files.iter().zip(&summary.nodes.list);
    for (files, node) in nodes.filter(|(files, _)| files.len() > 1) {
        let names = files.iter().map(|file| &summary.input.files[*file].name);
        let warning = same_node(&names.collect::<Vec<_>>(), &node.name());
        summary.input.warnings.push(warning);
    }
}

/// Node names: file names without extensions, or if these are all equal, the names of their directories. If that is
/// ambiguous, entire paths.
fn names(paths: &[&Path]) -> Vec<String> {
    let part = |above: usize| -> Option<Vec<String>> {
        let name = |path: &&Path| {
            let file = path.ancestors().nth(above)?.file_name()?;
            let name = if above == 0 { stem(file) } else { file.into() };
            Some(name.to_string_lossy().into_owned())
        };
        paths.iter().map(name).collect()
    };
    let deepest = paths.iter().map(|path| path.components().count()).max();
    let levels = (0..deepest.unwrap_or(0)).map_while(part);
    let mut parts = levels.skip_while(|names| names.windows(2).all(|pair| pair[0] == pair[1]));
    let is_clear = |names: &Vec<String>| names.iter().collect::<BTreeSet<_>>().len() == names.len();
    let whole = || paths.iter().map(|path| path.to_string_lossy().into_owned());
    parts
        .next()
        .filter(is_clear)
        .unwrap_or_else(|| whole().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_called_as_their_files_or_directories() {
        let names = |paths: &[&str]| {
            let paths: Vec<&Path> = paths.iter().map(Path::new).collect();
            names(&paths)
        };
        assert_eq!(names(&["x/7001.rdb", "x/7002.rdb.gz"]), ["7001", "7002"]);
        assert_eq!(names(&["7001/dump.rdb", "7002/dump.rdb"]), ["7001", "7002"]);
        assert_eq!(names(&["a/x/dump.rdb", "b/x/dump.rdb"]), ["a", "b"]);
        assert_eq!(
            names(&["10.0.0.1:1.keys", "10.0.0.2:1.keys"]),
            ["10.0.0.1:1", "10.0.0.2:1"]
        );
        let alike = ["a/1.rdb", "b/1.rdb", "b/2.rdb"];
        assert_eq!(names(&alike), alike);
        assert_eq!(
            names(&["dump.rdb", "b/dump.rdb"]),
            ["dump.rdb", "b/dump.rdb"]
        );
    }
}
