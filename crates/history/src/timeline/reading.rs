//! Turns inputs into a timeline. Captures take one pass for slots and time, a second for names, and a third if there
//! are too many. CLUSTER SLOT-STATS has no names and takes one pass.

use std::sync::{Arc, Mutex, PoisonError};

use slotscope_app::pipeline::reading::Reading;
use slotscope_app::pipeline::{file_nodes, rejected, slot_stats};
use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_base::redact::{Redaction, spelled};
use slotscope_base::text;
use slotscope_count::scan::{Incomplete as Stop, Scanned, SeenInput};
use slotscope_model::Incomplete;
use slotscope_read::format::Format;
use slotscope_read::format::rdb::snapshot::Rdb;
use slotscope_read::format::slot_stats::Spelling;
use slotscope_report::view::Heat;
use slotscope_topology::Topology;

use crate::timeline::Timeline;
use crate::timeline::counts::Counts;
use crate::timeline::grid::{Grid, TimeAxis};
use crate::timeline::names::{Names, heavy_tags};
use crate::timeline::picture::Picture;
use crate::timeline::redacted;
use crate::timeline::series::Series;

/// The load to measure, and how to show it.
#[derive(Default)]
pub(crate) struct Options<'a> {
    /// The kind of load; by default operations for captures and CPU time for CLUSTER SLOT-STATS.
    pub by: Option<Heat>,
    /// The nodes; `None` if the inputs may show them.
    pub topology: Option<Topology>,
    /// Number of tags tracked.
    pub top: usize,
    /// Replaces names.
    pub redaction: Option<&'a Redaction>,
}

/// Reads captures, or CLUSTER SLOT-STATS over time.
///
/// # Errors
/// An input cannot be read, or has no times.
pub(crate) fn read(reading: &Reading, options: &Options<'_>) -> Result<Timeline> {
    let heat = options.by;
    let mut timeline = match slot_stats::spellings(&reading.sources)? {
        Some(spellings) => {
            let heat = heat.unwrap_or(Heat::Cpu);
            if heat == Heat::Ops {
                let reason =
                    "CLUSTER SLOT-STATS does not count operations; --by cpu or --by network";
                return Err(Error::option("by", "ops", reason));
            }
            if !reading.options.policy.is_oss() {
                let reason =
                    "CLUSTER SLOT-STATS has slots as the server hashed them; leave --policy out";
                return Err(Error::option("policy", "", reason));
            }
            series(reading, &spellings, heat, options)?
        }
        None => match heat {
            None | Some(Heat::Ops) => captures(reading, options)?,
            Some(heat) => {
                let reason = "captures have operations alone; CPU time and network traffic are in CLUSTER SLOT-STATS over \
                            time, as slotscope collect --every 10s writes them";
                let name = if heat == Heat::Cpu { "cpu" } else { "network" };
                return Err(Error::option("by", name.to_string(), reason));
            }
        },
    };
    if let Some(redaction) = options.redaction {
        redacted::hide(&mut timeline, redaction);
    }
    Ok(timeline)
}

/// The operations of captures.
fn captures(reading: &Reading, options: &Options<'_>) -> Result<Timeline> {
    let shared = Arc::new(Mutex::new(Grid::default()));
    let inputs = reading.sources.len();
    let scanned = reading.scan("counting", || Counts::new(&shared, inputs))?;
    let grid = std::mem::take(&mut *shared.lock().unwrap_or_else(PoisonError::into_inner));
    let axis = check_times(reading, &scanned, &grid)?;
    let topology = options.topology.clone().or_else(|| {
        let nodes = file_nodes::of(reading.paths(), &scanned, &scanned.tally.inputs);
        nodes.ok().map(|nodes| nodes.topology)
    });
    let shown = redacted::topology(options.redaction, topology);
    let picture = Picture::new(Heat::Ops, &grid, axis, shown.as_ref());

    let untimed = scanned.tally.untimed;
    let mut notes = Vec::new();
    if untimed > 0 {
        let operations = text::counted(untimed, "operation");
        notes.push(format!("{operations} without a time: not counted"));
    }
    notes.extend(bases(reading, &scanned).filter(|_| options.redaction.is_none()));
    let (mut series, mut in_bursts) = (None, None);
    if reading.is_rereadable() {
        let tags = heavy_tags(reading, &scanned.tally, &grid, options.top)?;
        let names = Names::read(reading, &tags, axis, &picture.bursts)?;
        in_bursts = names.heaviest(picture.bursts.len());
        if in_bursts.is_none() {
            notes.push("too many names in bursts: they are named by their slots".into());
        }
        series = Some(tags.into_iter().zip(names.tags).collect());
    } else {
        let note = "tags and the names in bursts need a second pass, and a pipe is read once: write the capture to a file";
        notes.push(note.into());
    }
    Ok(Timeline {
        untimed,
        rejected: rejected::of(&reading.sources, &scanned.rejects),
        incomplete: incomplete(reading, &scanned.incomplete, options.redaction),
        notes,
        ..picture.timeline(series, in_bursts)
    })
}

/// CLUSTER SLOT-STATS over time.
fn series(
    reading: &Reading,
    spellings: &[Spelling],
    heat: Heat,
    options: &Options<'_>,
) -> Result<Timeline> {
    let (mut series, mut torn) = (Series::new(heat), Vec::new());
    reading.with_scan("counting", |scan| {
        for (input, spelling) in spellings.iter().enumerate() {
            series.start_file(input);
            let source = &*reading.sources[input];
            let read = slot_stats::each(source, *spelling, scan.proceed, |sample| {
                series.add(&sample)
            })?;
            torn.extend(read.stop(input));
        }
        Ok(())
    })?;
    check_files(reading, &series)?;
    series.fit_buckets();
    let axis = series.grid.axis().ok_or_else(|| {
        let reason = "one sample of each slot, and what came between two is counted; take more: slotscope collect --every \
                    10s --for 10m";
        Error::bad("CLUSTER SLOT-STATS", reason)
    })?;
    let topology = options.topology.clone();
    let owners = topology.unwrap_or_else(|| series.topology());
    let shown = redacted::topology(options.redaction, Some(owners));
    let picture = Picture::new(heat, &series.grid, axis, shown.as_ref());
    Ok(Timeline {
        incomplete: incomplete(reading, &torn, options.redaction),
        notes: series.note().into_iter().collect(),
        ..picture.timeline(None, None)
    })
}

/// Fails if files have the same node at the same time, which would count twice.
fn check_files(reading: &Reading, series: &Series) -> Result<()> {
    let Some((first, second)) = series.overlap() else {
        return Ok(());
    };
    let [file, other] = [first, second].map(|at| Name::from(reading.sources[at].path()));
    let reason = format!("has a node at times that are in \"{other}\" as well; name one of them");
    Err(Error::bad(file.to_string(), reason))
}

/// The time axis, provided that every input with rows has times.
fn check_times(reading: &Reading, scanned: &Scanned<Counts>, grid: &Grid) -> Result<TimeAxis> {
    let timed = &scanned.tally.timed;
    let timeless = scanned.inputs.iter().enumerate().find(|(input, seen)| {
        seen.seen.keys + seen.seen.operations > 0
            && !timed.contains_key(&(*input as u32))
            && !is_base(scanned, seen)
    });
    let way_out = "timeline reads captures (redis-cli MONITOR > FILE) and append-only files with times \
                   (aof-timestamp-enabled yes); analyze reads key dumps";
    if let Some((input, seen)) = timeless {
        let file = Name::from(reading.sources[input].path());
        let reason = format!("rows of {} that have no time; {way_out}", seen.format);
        return Err(Error::bad(file.to_string(), reason));
    }
    let nothing = || Error::bad("no operations in the input", way_out);
    grid.axis().ok_or_else(nothing)
}

/// Whether an input is the base of an append-only file, next to its commands.
fn is_base(scanned: &Scanned<Counts>, seen: &SeenInput) -> bool {
    seen.format == Rdb.name() && seen.seen.operations == 0 && !scanned.tally.timed.is_empty()
}

fn bases(reading: &Reading, scanned: &Scanned<Counts>) -> Option<String> {
    let inputs = reading.sources.iter().zip(&scanned.inputs);
    let bases = inputs.filter(|(_, seen)| is_base(scanned, seen) && seen.seen.keys > 0);
    let names: Vec<Name> = bases.map(|(source, _)| Name::from(source.path())).collect();
    (!names.is_empty()).then(|| {
        format!(
            "keys of RDB files have no times, passed over: {}",
            text::list(names.iter(), 3)
        )
    })
}

fn incomplete(reading: &Reading, stops: &[Stop], redaction: Option<&Redaction>) -> Vec<Incomplete> {
    let stops = stops.iter().map(|stop| Incomplete {
        file: Name::from(reading.sources[stop.input].path()),
        byte: stop.byte,
        reason: spelled(&stop.reason, redaction),
    });
    stops.collect()
}
