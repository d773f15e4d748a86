//! Precomputed counts: replies to CLUSTER SLOT-STATS are used directly, not scanned. For keys and bytes the last state
//! counts, for CPU time the increase between first and last reading (`counters`).

use std::io::{BufRead, BufReader, Read};

use slotscope_base::error::{Error, Result};
use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_base::slot::SLOTS;
use slotscope_base::small_file;
use slotscope_count::scan::{Incomplete, Scanned, SeenInput};
use slotscope_count::tally::rejects::Rejects;
use slotscope_count::tally::slots_by_input::SlotsByInput;
use slotscope_count::tally::{Parts, Tallies};
use slotscope_read::format::ReadStats;
use slotscope_read::format::slot_stats::{self, MAX_BYTES, NAME, Sample, Spelling};
use slotscope_read::source::{Source, stream};

use crate::pipeline::counters::{CounterReadings, Counters, Reading};

/// The statistic used as load of a slot.
const CPU: &str = "cpu-usec";
/// The statistics of which the last state counts.
const STATES: [(Metric, &str); 3] = [
    (Metric::Keys, "key-count"),
    (Metric::Bytes, "memory-bytes"),
    // Only tables have operations; servers do not count them.
    (Metric::Ops, slot_stats::OPS),
];
/// The metrics of a reading's counters, in order.
const COUNTED: [Metric; 2] = [Metric::Cpu, Metric::Ops];
/// Bytes of an input that determine its form.
const HEAD: u64 = 1024;
const TOO_LONG: &str = "is longer than any answer to CLUSTER SLOT-STATS";
/// Why a line at the end of an input is not counted.
const TORN: &str = "the last line has no end";

/// Counts made by servers.
pub(crate) struct Taken {
    /// Keys, sizes and loads by slot.
    pub scanned: Scanned<Tallies>,
    /// The extent of the loads.
    pub counters: Counters,
}

/// The counts of all inputs; `None` if they are key dumps. `ops` is the statistic that counts as operations.
///
/// # Errors
/// Key dumps and counts are mixed, two inputs have counts for the same slot, or one cannot be read.
pub(crate) fn take(inputs: &[Box<dyn Source>], ops: Option<&str>) -> Result<Option<Taken>> {
    let Some(spellings) = spellings(inputs)? else {
        return Ok(None);
    };
    let sources: Vec<_> = inputs.iter().map(|input| &**input).zip(spellings).collect();
    read(&sources, ops).map(Some)
}

/// Reads counts.
///
/// # Errors
/// As for `take`.
pub(crate) fn read(inputs: &[(&dyn Source, Spelling)], ops: Option<&str>) -> Result<Taken> {
    let mut states = States::new(inputs.len(), ops);
    let (mut seen, mut incomplete) = (Vec::new(), Vec::new());
    for (input, (source, spelling)) in inputs.iter().enumerate() {
        let read = each(*source, *spelling, &|_| true, |sample| {
            states.add(input, &sample)
        })?;
        incomplete.extend(read.stop(input));
        seen.push(SeenInput {
            format: NAME,
            bytes: read.bytes,
            ..SeenInput::default()
        });
    }
    if let Some((slot, first, second)) = states.readings.clash {
        let reason = format!(
            "slot {slot} is in \"{}\" as well: one file of each primary, with all of its readings, and none of a replica",
            Name::from(inputs[first].0.path())
        );
        return Err(bad(inputs[second].0, reason));
    }
    for (input, seen) in seen.iter_mut().enumerate() {
        seen.seen = ReadStats::of_keys(states.keys_of(input));
    }
    let counters = states.readings.finish();
    let mut tallies = states.tallies;
    set_loads(&mut tallies, &counters);
    Ok(Taken {
        scanned: Scanned {
            tally: tallies,
            inputs: seen,
            incomplete,
            rejects: Rejects::default(),
        },
        counters,
    })
}

/// Sets slot loads from server counters.
pub(crate) fn set_loads(tallies: &mut Tallies, counters: &Counters) {
    for (metric, loads) in COUNTED.into_iter().zip(&counters.loads) {
        if let Some(loads) = loads {
            *tallies.slots.loads.get_or_insert_with(metric, Vec::new) = loads.clone();
        }
    }
}

/// Each slot's last state, and its counter readings.
struct States<'o> {
    tallies: Tallies,
    ops: Option<&'o str>,
    readings: CounterReadings,
}

impl<'o> States<'o> {
    fn new(inputs: usize, ops: Option<&'o str>) -> Self {
        let mut tallies = Tallies::new(Parts::Slots);
        tallies.inputs = SlotsByInput::new(inputs);
        States {
            tallies,
            ops,
            readings: CounterReadings::default(),
        }
    }

    /// Adds a sample.
    fn add(&mut self, input: usize, sample: &Sample<'_>) -> std::result::Result<(), String> {
        let time = sample.time.unwrap_or(0);
        let node = self.readings.node(input, sample.node.as_deref(), time);
        if self.readings.is_later(node, time) {
            return Err(
                "readings go back in time; join files from the oldest to the newest (cat)".into(),
            );
        }
        for (slot, stats) in &sample.slots {
            let counts = [Some(CPU), self.ops].map(|name| stats.get(name?));
            if let Some(ops) = self.ops.filter(|_| counts[1].is_none()) {
                let (ops, names) = (Name::from(ops), stats.names());
                return Err(format!("slot {slot} has no \"{ops}\"; it has: {names}"));
            }
            self.readings
                .add(input, node, *slot, Reading { time, counts });
            self.tallies.inputs.note(input, *slot);
            let loads = &mut self.tallies.slots.loads;
            for (metric, name) in STATES {
                if let Some(value) = stats.get(name) {
                    loads.get_or_insert_with(metric, || vec![0; SLOTS])[usize::from(*slot)] = value;
                }
            }
        }
        Ok(())
    }

    fn keys_of(&self, input: usize) -> u64 {
        let keys = self.readings.inputs().zip(&self.tallies.slots.loads.keys);
        let own = keys.filter(|(from, _)| *from == Some(input));
        own.map(|(_, keys)| keys).sum()
    }
}

/// The spelling of each input's counts; `None` if no input has any.
///
/// # Errors
/// Key dumps and counts are mixed.
pub fn spellings(inputs: &[Box<dyn Source>]) -> Result<Option<Vec<Spelling>>> {
    let spellings = inputs
        .iter()
        .map(|input| spelling(&**input))
        .collect::<Result<Vec<_>>>()?;
    if spellings.iter().all(Option::is_none) {
        return Ok(None);
    }
    if let Some(dump) = spellings.iter().position(Option::is_none) {
        let reason = "is a key dump and another input is CLUSTER SLOT-STATS; only analyze, plan, and whatif for other nodes read both together";
        return Err(bad(&*inputs[dump], reason.into()));
    }
    Ok(Some(spellings.into_iter().flatten().collect()))
}

/// Only for files: the start of a pipe could not be reread.
///
/// # Errors
/// It cannot be read.
pub(crate) fn spelling(input: &dyn Source) -> Result<Option<Spelling>> {
    if !input.is_rereadable() {
        return Ok(None);
    }
    let mut head = Vec::new();
    stream::open(input)?
        .take(HEAD)
        .read_to_end(&mut head)
        .map_err(|error| Error::io(input.path(), error))?;
    Ok(slot_stats::spelling(&head))
}

/// How an input was read.
pub struct ReadInput {
    /// Its bytes.
    pub bytes: u64,
    /// The offset of an unterminated last line, which may still be being written.
    pub torn: Option<u64>,
}

impl ReadInput {
    /// Why it is incomplete, if so.
    pub fn stop(&self, input: usize) -> Option<Incomplete> {
        let stop = |byte| Incomplete {
            input,
            byte,
            reason: TORN.into(),
        };
        self.torn.map(stop)
    }
}

/// Passes every sample of an input to `add`. `proceed` is called with the bytes of each; false ends the run.
///
/// # Errors
/// It cannot be read, has no counts, or `add` refuses a sample.
pub fn each(
    input: &dyn Source,
    spelling: Spelling,
    proceed: &dyn Fn(u64) -> bool,
    mut add: impl FnMut(Sample<'_>) -> std::result::Result<(), String>,
) -> Result<ReadInput> {
    let stream = stream::open(input)?;
    if spelling != Spelling::Lines {
        let text = small_file::read_from(stream, input.path(), MAX_BYTES as u64, TOO_LONG)?;
        let sample = match spelling {
            Spelling::Table => slot_stats::table(&text),
            _ => slot_stats::answer(&text),
        };
        let added = sample.and_then(&mut add);
        added.map_err(|reason| bad(input, reason))?;
        let (bytes, torn) = (text.len() as u64, None);
        return Ok(ReadInput { bytes, torn });
    }
    let mut reader = BufReader::with_capacity(1 << 20, stream);
    let (mut text, mut bytes) = (Vec::new(), 0);
    for number in 1u64.. {
        text.clear();
        let most = MAX_BYTES as u64 + 1;
        let outcome = reader.by_ref().take(most).read_until(b'\n', &mut text);
        let read = outcome.map_err(|error| Error::io(input.path(), error))? as u64;
        let in_line = |reason: String| {
            let place = format!("{}: line {number}", Name::from(input.path()));
            Error::bad(place, reason)
        };
        if read == most {
            return Err(in_line(TOO_LONG.into()));
        }
        if read == 0 {
            break;
        }
        let line = text.trim_ascii();
        match slot_stats::line(line) {
            _ if line.is_empty() => {}
            Ok(sample) => add(sample).map_err(in_line)?,
            Err(_) if !text.ends_with(b"\n") => {
                let torn = Some(bytes);
                return Ok(ReadInput { bytes, torn });
            }
            Err(reason) => return Err(in_line(reason)),
        }
        bytes += read;
        if !proceed(read) {
            return Err(Error::Cancelled);
        }
    }
    Ok(ReadInput { bytes, torn: None })
}

fn bad(input: &dyn Source, reason: String) -> Error {
    Error::bad_file(input.path(), reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_read::source::find;

    /// The counts of inputs with these texts.
    fn taken(texts: &[&str], ops: Option<&str>) -> Result<Option<Scanned<Tallies>>> {
        let dir = tempfile::tempdir().unwrap();
        for (number, text) in texts.iter().enumerate() {
            std::fs::write(dir.path().join(format!("{number}.json")), text).unwrap();
        }
        let taken = take(&find(&[dir.path()]).unwrap().sources, ops)?;
        Ok(taken.map(|taken| taken.scanned))
    }

    const ANSWER: &str =
        r#"[ [0,{"key-count":3,"cpu-usec":5,"network-bytes-in":26}], [7,{"key-count":4}] ]"#;

    #[test]
    fn keys_bytes_and_cpu_time_are_taken_over_and_operations_where_a_statistic_is_named() {
        let found = taken(&[ANSWER], None).unwrap().unwrap();
        let loads = &found.tally.slots.loads;
        assert_eq!((loads.keys[0], loads.keys[7]), (3, 4));
        assert_eq!(loads.get(Metric::Cpu).unwrap()[0], 5);
        assert_eq!((loads.bytes(), loads.get(Metric::Ops)), (None, None));
        assert_eq!(found.inputs[0].seen.keys, 7);
        let named = taken(&[ANSWER], Some("key-count")).unwrap().unwrap();
        let ops = named.tally.slots.loads.get(Metric::Ops).unwrap();
        assert_eq!((ops[0], ops[7]), (3, 4));
        let missing = taken(&[ANSWER], Some("network-bytes-in")).err().unwrap();
        let what = "slot 7 has no \"network-bytes-in\"; it has: \"key-count\"";
        assert!(missing.to_string().ends_with(what), "{missing}");
    }

    #[test]
    fn of_lines_the_last_keys_of_a_slot_count_and_the_cpu_time_between_them() {
        let line = |second: u32, node: u32, slots: &str| {
            format!(
                "{{\"time\":\"2026-11-22T10:00:{second:02}Z\",\"node\":\"h:{node}\",\"slots\":[{slots}]}}\n"
            )
        };
        let series = [
            line(
                0,
                1,
                r#"[0,{"key-count":3,"cpu-usec":5}],[1,{"key-count":9}]"#,
            ),
            line(0, 2, r#"[7,{"key-count":4}]"#),
            line(9, 1, r#"[0,{"key-count":2,"cpu-usec":8}]"#),
        ];
        let torn = format!("{}{{\"time\":\"2026", series.concat());
        for text in [series.concat(), torn.clone()] {
            let found = taken(&[&text], None).unwrap().unwrap();
            let loads = &found.tally.slots.loads;
            assert_eq!((loads.keys[0], loads.keys[1], loads.keys[7]), (2, 9, 4));
            assert_eq!(loads.get(Metric::Cpu).unwrap()[0], 3);
            let stops: Vec<u64> = found.incomplete.iter().map(|stop| stop.byte).collect();
            let torn_at = series.concat().len() as u64;
            assert_eq!(stops, if text == torn { vec![torn_at] } else { vec![] });
        }
        let bad = series.concat().replace("[7,", "[70000,");
        let refused = taken(&[&bad], None).err().unwrap().to_string();
        assert!(refused.contains("0.json: line 2: "), "{refused}");
        let back = [&series[2][..], &series[0]].concat();
        let refused = taken(&[&back], None).err().unwrap().to_string();
        assert!(refused.contains("readings go back in time"), "{refused}");
    }

    #[test]
    fn a_slot_in_two_files_and_a_dump_among_counts_are_refused() {
        let refused = |texts: &[&str]| taken(texts, None).err().unwrap().to_string();
        let twice = refused(&[ANSWER, r#"[[7,{"key-count":1}]]"#]);
        assert!(twice.contains("slot 7 is in "), "{twice}");
        let mixed = refused(&[ANSWER, "user:1\n"]);
        assert!(mixed.contains("1.json: is a key dump"), "{mixed}");
        assert!(taken(&["user:1\n"], None).unwrap().is_none());
    }
}
