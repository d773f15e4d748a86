//! CLUSTER SLOT-STATS of all primaries at regular times, one per line.

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use slotscope_engine::error::{Error, Result};
use slotscope_engine::slot::SLOTS;
use slotscope_engine::slot::set::SlotSet;
use slotscope_engine::source::collection::manifest::SeriesEntry;

use crate::clock::now;
use crate::connection::{Access, Connection};
use crate::resp::Reply;
use crate::slot_stats;
use crate::watch::Watch;

/// Numbers of a slot, and letters of their names, several times those that servers have.
const MAX_METRICS: usize = 16;
const MAX_NAME: usize = 64;

/// When lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// Between two lines of a node.
    pub every: Duration,
    /// How long in all.
    pub during: Duration,
}

/// The lines of one time; `None` where the servers do not have the command or do not allow it.
pub(crate) fn once(access: &Access, watch: &Watch<'_>) -> Option<String> {
    let lines = lines_once(access, watch)?;
    Some(lines.iter().map(|line| format!("{line}\n")).collect())
}

/// The memory of each slot, where the servers count it.
pub(crate) fn memory_by_slot(access: &Access, watch: &Watch<'_>) -> Option<Vec<u64>> {
    memory_in(&lines_once(access, watch)?)
}

/// The statistics of each slot that an owner has; empty where the servers do not have the command or do not allow it.
pub(crate) fn stats_by_slot(
    access: &Access,
    watch: &Watch<'_>,
) -> HashMap<u64, Map<String, Value>> {
    stats_in(lines_once(access, watch).unwrap_or_default())
}

fn lines_once(access: &Access, watch: &Watch<'_>) -> Option<Vec<Value>> {
    let times = Times {
        every: Duration::ZERO,
        during: Duration::ZERO,
    };
    let mut series = Series::new(access, times, Box::new(std::io::sink()), PathBuf::new());
    series.lines(watch).ok()
}

/// The rows of all lines, by slot.
fn stats_in(lines: Vec<Value>) -> HashMap<u64, Map<String, Value>> {
    let rows = lines
        .into_iter()
        .flat_map(|mut line| match line["slots"].take() {
            Value::Array(rows) => rows,
            _ => Vec::new(),
        });
    let row = |mut row: Value| match (row[0].as_u64(), row[1].take()) {
        (Some(slot), Value::Object(stats)) => Some((slot, stats)),
        _ => None,
    };
    rows.filter_map(row).collect()
}

/// The memory of each slot in lines; absent where a line has none.
fn memory_in(lines: &[Value]) -> Option<Vec<u64>> {
    let mut memory = vec![0; SLOTS];
    for line in lines {
        for row in line["slots"].as_array()? {
            let slot = usize::try_from(row[0].as_u64()?).ok()?;
            *memory.get_mut(slot)? += row[1]["memory-bytes"].as_u64()?;
        }
    }
    Some(memory)
}

/// A series under way.
pub(crate) struct Series<'a> {
    access: &'a Access,
    times: Times,
    start: Instant,
    /// Times at which lines have been written.
    written: u32,
    /// How many these are.
    samples: u64,
    connections: HashMap<String, Connection>,
    out: Box<dyn Write>,
    /// Where the lines go, for messages.
    place: PathBuf,
    /// Whether any line has operations, and not keys alone.
    pub has_operations: bool,
    /// Lines that a node did not give.
    pub gaps: u64,
    /// Rows of slots that a node does not own, which are left out.
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
            access,
            times,
            start: Instant::now(),
            written: 0,
            samples: 0,
            connections: HashMap::new(),
            out,
            place,
            has_operations: false,
            gaps: 0,
            foreign: 0,
        }
    }

    /// How long until the next lines; `None` after the last.
    pub(crate) fn due(&self) -> Option<Duration> {
        let at = self.times.every * self.written;
        (at <= self.times.during).then(|| at.saturating_sub(self.start.elapsed()))
    }

    /// Writes a line of each primary where it is time.
    ///
    /// # Errors
    /// The file cannot be written to, or the servers do not know the command.
    pub(crate) fn tick(&mut self, watch: &Watch<'_>) -> Result<()> {
        if self.due() != Some(Duration::ZERO) {
            return Ok(());
        }
        // A time that was missed is not made up for.
        let periods = self.start.elapsed().as_secs_f64() / self.times.every.as_secs_f64().max(1e-3);
        self.written = (periods as u32).max(self.written) + 1;
        self.samples += 1;
        for line in self.lines(watch)? {
            writeln!(self.out, "{line}").map_err(|error| Error::io(&self.place, error))?;
        }
        self.out
            .flush()
            .map_err(|error| Error::io(&self.place, error))
    }

    /// A line of each primary.
    fn lines(&mut self, watch: &Watch<'_>) -> Result<Vec<Value>> {
        let mut lines = Vec::new();
        for owner in watch.view.owners() {
            let Some(member) = watch.view.members.get(&**owner) else {
                continue;
            };
            // It keeps nobody waiting again.
            if watch.view.silence(owner).is_some() {
                self.gaps += 1;
                continue;
            }
            match self.ask(watch, owner) {
                Ok(slots) => {
                    // A connection of each primary is kept only where they are asked again.
                    if self.times.every.is_zero() {
                        self.connections.remove(&**owner);
                    }
                    lines.push(json!({"time": now(), "node": member.name, "slots": slots}));
                }
                // The first time shows whether the servers know it at all.
                Err(error) if self.samples <= 1 => return Err(error),
                Err(_) => {
                    self.connections.remove(&**owner);
                    self.gaps += 1;
                }
            }
        }
        Ok(lines)
    }

    /// Its entry in collect.json.
    pub(crate) fn entry(&self) -> SeriesEntry {
        SeriesEntry {
            every: self.times.every.as_secs_f64(),
            during: self.times.during.as_secs_f64(),
            samples: self.samples,
            nodes: self.connections.len() as u64,
        }
    }

    /// The reply of a node.
    fn ask(&mut self, watch: &Watch<'_>, owner: &str) -> Result<Value> {
        if !self.connections.contains_key(owner) {
            let address = watch
                .view
                .members
                .get(owner)
                .and_then(|member| watch.address(member));
            let address =
                address.ok_or_else(|| Error::bad(owner.to_owned(), "the address is not known"))?;
            self.connections
                .insert(owner.to_owned(), Connection::open(&address, self.access)?);
        }
        let Some(connection) = self.connections.get_mut(owner) else {
            return Err(Error::bad(owner.to_owned(), "no connection"));
        };
        let reply = match connection.ask("CLUSTER SLOT-STATS", &slot_stats::COMMAND)? {
            Reply::Error(said) if said.starts_with("ERR") => {
                let what = "CLUSTER SLOT-STATS is not known; --every needs Valkey 8.0 or Redis 8.2, --slots-only alone counts keys on all";
                return Err(Error::bad(connection.place(), what));
            }
            Reply::Error(said) => return Err(connection.refused("CLUSTER SLOT-STATS", &said)),
            reply => reply,
        };
        let read = slots(&reply, &watch.view.slots_of(owner));
        let (slots, foreign) = read.ok_or_else(|| connection.odd("CLUSTER SLOT-STATS"))?;
        drop(reply);
        connection.forget();
        self.foreign += foreign;
        self.has_operations |= slots
            .first()
            .is_some_and(|slot| slot[1].as_object().is_some_and(|metrics| metrics.len() > 1));
        Ok(Value::Array(slots))
    }
}

/// `[[slot, {metric: value}], ...]` of `owned` slots, of the flat maps of RESP2, and how many rows are of others; `None`
/// where it is something else.
fn slots(reply: &Reply, owned: &SlotSet) -> Option<(Vec<Value>, u64)> {
    let mut slots = Vec::new();
    let metric = |[name, value]: &[Reply; 2]| {
        let name = String::from_utf8(name.clone().into_text()?).ok()?;
        let name = Some(name).filter(|name| name.len() <= MAX_NAME)?;
        Some((name, Value::from(value.number()?)))
    };
    let take = |slot: u16, metrics: &[[Reply; 2]]| {
        if metrics.len() > MAX_METRICS {
            return None;
        }
        let metrics: Option<Map<String, Value>> = metrics.iter().map(metric).collect();
        slots.push(json!([slot, metrics?]));
        Some(())
    };
    let foreign = slot_stats::each(reply, owned, take)?;
    Some((slots, foreign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_by_slot_is_that_of_all_nodes_or_unknown() {
        let line = |slot: u64, metrics: Value| json!({"slots": [[slot, metrics]]});
        let lines = [
            line(3, json!({"key-count": 1, "memory-bytes": 70})),
            line(9, json!({"memory-bytes": 5})),
        ];
        let memory = memory_in(&lines).unwrap();
        assert_eq!((memory[3], memory[9], memory[4]), (70, 5, 0));
        assert_eq!(memory_in(&[line(3, json!({"key-count": 1}))]), None);
        assert_eq!(memory_in(&[line(16_384, json!({"memory-bytes": 1}))]), None);
    }

    #[test]
    fn statistics_of_all_nodes_are_found_by_slot() {
        let lines = vec![
            json!({"slots": [[3, {"memory-bytes": 70}], [4, {"memory-bytes": 1}]]}),
            json!({"slots": [[9, {"cpu-usec": 5}]]}),
            json!({"slots": 7}),
        ];
        let stats = stats_in(lines);
        assert_eq!(stats.len(), 3);
        assert_eq!(stats[&3]["memory-bytes"], 70);
        assert_eq!(stats[&9]["cpu-usec"], 5);
    }

    #[test]
    fn flat_maps_become_objects_and_unknown_metrics_are_passed_on() {
        let text = |text: &str| Reply::Text(text.as_bytes().to_vec());
        let metrics = vec![
            text("key-count"),
            Reply::Int(3),
            text("new-metric"),
            Reply::Int(9),
        ];
        let row = Reply::Array(vec![Reply::Int(7), Reply::Array(metrics)]);
        let (reply, all) = (Reply::Array(vec![row]), SlotSet::all());
        let expected = json!([7, {"key-count": 3, "new-metric": 9}]);
        assert_eq!(slots(&reply, &all), Some((vec![expected], 0)));
        assert_eq!(slots(&reply, &SlotSet::none()), Some((vec![], 1)));
        assert_eq!(slots(&Reply::Array(vec![Reply::Int(1)]), &all), None);
        assert_eq!(slots(&Reply::Nil, &all), None);
    }
}
