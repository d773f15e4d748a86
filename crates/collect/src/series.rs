//! CLUSTER SLOT-STATS of all primaries at regular intervals, one per line.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use slotscope_base::error::{Error, Result};
use slotscope_read::source::collection::manifest::SeriesEntry;

use crate::connection::Access;
use crate::probe::{self, Probe, Reading};
use crate::watch::Watch;

/// When lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// Interval between two lines of a node.
    pub every: Duration,
    /// Total duration.
    pub during: Duration,
}

/// A reading of each primary that answers; `None` if one of them does not count by slot.
pub(crate) fn once(access: &Access, watch: &Watch<'_>) -> Option<Vec<Reading>> {
    let mut servers = probe::primaries(watch);
    servers.retain(|server| watch.view.silence(server.key()).is_none());
    let answers = Probe::once(access, &servers).ok()?;
    let readings: Vec<Reading> = answers.into_iter().collect::<Result<_>>().ok()?;
    let is_by_slot = readings.iter().all(|reading| reading.slots.is_some());
    (is_by_slot && !readings.is_empty()).then_some(readings)
}

/// A series in progress.
pub(crate) struct Series<'a> {
    probe: Probe<'a>,
    times: Times,
    start: Instant,
    /// Intervals elapsed at the last write.
    written: u32,
    /// Number of times written.
    samples: u64,
    /// Maximum number of nodes at any time.
    nodes: u64,
    out: Box<dyn Write>,
    /// The file, for messages.
    place: PathBuf,
    /// Whether any line has operations rather than just keys.
    pub has_operations: bool,
    /// Missing lines of nodes.
    pub gaps: u64,
    /// Rows of slots that a node does not own, which are dropped.
    pub foreign: u64,
}

impl<'a> Series<'a> {
    /// Starts now.
    pub(crate) fn new(
        access: &'a Access,
        times: Times,
        out: Box<dyn Write>,
        place: PathBuf,
    ) -> Self {
        Series {
            probe: Probe::new(access),
            times,
            start: Instant::now(),
            written: 0,
            samples: 0,
            nodes: 0,
            out,
            place,
            has_operations: false,
            gaps: 0,
            foreign: 0,
        }
    }

    /// Time until the next lines; `None` after the last.
    pub(crate) fn due(&self) -> Option<Duration> {
        let at = self.times.every * self.written;
        (at <= self.times.during).then(|| at.saturating_sub(self.start.elapsed()))
    }

    /// Writes a line per primary if due.
    ///
    /// # Errors
    /// The file cannot be written, or servers do not know the command.
    pub(crate) fn tick(&mut self, watch: &Watch<'_>) -> Result<()> {
        if self.due() != Some(Duration::ZERO) {
            return Ok(());
        }
        // Missed times are skipped.
        let periods = self.start.elapsed().as_secs_f64() / self.times.every.as_secs_f64().max(1e-3);
        self.written = (periods as u32).max(self.written) + 1;
        self.samples += 1;
        let (mut nodes, mut refusal) = (0, None);
        for reading in self.probe.read(&probe::primaries(watch))? {
            match reading.and_then(|reading| self.line(&reading)) {
                Ok(line) => {
                    nodes += 1;
                    let written = self.out.write_all(line.as_bytes());
                    written.map_err(|error| Error::io(&self.place, error))?;
                }
                Err(error) => {
                    self.gaps += 1;
                    refusal.get_or_insert(error);
                }
            }
        }
        // The first time shows whether servers know it at all.
        if let Some(error) = refusal.filter(|_| self.samples == 1 && nodes == 0) {
            return Err(error);
        }
        self.nodes = self.nodes.max(nodes);
        self.out
            .flush()
            .map_err(|error| Error::io(&self.place, error))
    }

    /// The line of a reading.
    fn line(&mut self, reading: &Reading) -> Result<String> {
        let line = reading.line().ok_or_else(|| {
            let refusal = reading.refusal.as_deref();
            let reason = refusal.unwrap_or("it counts nothing by slot");
            Error::bad(
                "--every",
                format!("{reason}; --slots-only alone counts keys on all servers"),
            )
        })?;
        self.foreign += reading.foreign;
        self.has_operations |= reading.counts_cpu_by_slot();
        Ok(line)
    }

    /// Its entry in collect.json.
    pub(crate) fn entry(&self) -> SeriesEntry {
        SeriesEntry {
            every: self.times.every.as_secs_f64(),
            during: self.times.during.as_secs_f64(),
            samples: self.samples,
            nodes: self.nodes,
        }
    }
}
