//! Server counts next to the keys of a dump: keys and sizes come from the dump, CPU time by slot from the servers.

use crate::source::{self, Source};
use slotscope_base::error::Result;
use slotscope_count::scan::{Incomplete, Scanned};
use slotscope_count::tally::Tallies;
use slotscope_read::format::ReadStats;
use slotscope_read::format::slot_stats::Spelling;
use slotscope_read::source::collection::manifest::{Level, SLOT_STATS_FILE};

use crate::pipeline::counters::Counters;
use crate::pipeline::reading::Reading;
use crate::pipeline::slot_stats;

/// Inputs with counts by slot, alongside keys or captures.
#[derive(Default)]
pub struct Beside {
    sources: Vec<(Box<dyn Source>, Spelling)>,
}

impl Beside {
    /// Removes them from the inputs, and adds those that collections have next to their keys.
    ///
    /// # Errors
    /// An input cannot be read.
    pub fn take_from(reading: &mut Reading) -> Result<Self> {
        let mut beside = Beside::default();
        for input in std::mem::take(&mut reading.sources) {
            match slot_stats::spelling(&*input)? {
                Some(spelling) => beside.sources.push((input, spelling)),
                None => reading.sources.push(input),
            }
        }
        if reading.sources.is_empty() {
            let alone = beside.sources.into_iter();
            reading.sources = alone.map(|(input, _)| input).collect();
            return Ok(Beside::default());
        }
        for collection in &reading.collections {
            let series = collection.file(SLOT_STATS_FILE)?;
            if collection.manifest.level == Level::Slots || !series.is_file() {
                continue;
            }
            for input in source::find(&[series])?.sources {
                let spelling = slot_stats::spelling(&*input)?;
                let is_known = |(known, _): &(Box<dyn Source>, _)| known.path() == input.path();
                if !beside.sources.iter().any(is_known) {
                    beside.sources.extend(Some(input).zip(spelling));
                }
            }
        }
        Ok(beside)
    }

    /// Reads them and adds their loads to the counts of the other inputs. `ops` is the statistic that counts as
    /// operations.
    ///
    /// # Errors
    /// As for `join`.
    pub(crate) fn add_to(
        self,
        counted: &mut Scanned<Tallies>,
        reading: &mut Reading,
        ops: Option<&str>,
    ) -> Result<Option<Counters>> {
        let counters = self.join(counted, reading, ops)?;
        if let Some(counters) = &counters {
            slot_stats::set_loads(&mut counted.tally, counters);
        }
        Ok(counters)
    }

    /// Reads them and appends them to the inputs of `counted` and `reading` again; the counts stay as they are.
    ///
    /// # Errors
    /// An input cannot be read, or two have counts for the same slot.
    pub fn join<T>(
        self,
        counted: &mut Scanned<T>,
        reading: &mut Reading,
        ops: Option<&str>,
    ) -> Result<Option<Counters>> {
        if self.sources.is_empty() {
            return Ok(None);
        }
        let inputs = self.sources.iter();
        let sources: Vec<_> = inputs
            .map(|(source, spelling)| (&**source, *spelling))
            .collect();
        let slot_stats::Taken { scanned, counters } = slot_stats::read(&sources, ops)?;
        let before = reading.sources.len();
        for mut input in scanned.inputs {
            // Keys are counted from the dump.
            input.seen = ReadStats::default();
            counted.inputs.push(input);
        }
        let stops = scanned.incomplete.into_iter().map(|stop| Incomplete {
            input: before + stop.input,
            ..stop
        });
        counted.incomplete.extend(stops);
        let sources = self.sources.into_iter().map(|(source, _)| source);
        reading.sources.extend(sources);
        Ok(Some(counters))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::Analysis;
    use slotscope_base::metric::Metric;
    use slotscope_model::Summary;
    use slotscope_read::source::collection::manifest::{FILE, example};

    /// A line of a node: the counter of slot 7 at a time.
    fn series(second: u32, cpu: u64) -> String {
        format!(
            "{{\"time\":\"2026-11-22T10:00:{second:02}Z\",\"node\":\"127.0.0.1:7001\",\"slots\":[[7,{{\"key-count\":40,\"cpu-usec\":{cpu}}}]]}}\n"
        )
    }

    /// The report of a collection with these lines next to its keys.
    fn of_collection(lines: &str) -> Summary {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text);
        let mut manifest = example(&["a.csv"]);
        manifest.cluster = false;
        write(FILE, &serde_json::to_string(&manifest).unwrap()).unwrap();
        write("a.csv", "key,memory\nuser:1,100\nuser:2,50\n").unwrap();
        write(SLOT_STATS_FILE, lines).unwrap();
        Analysis::new().run(&[directory.path()]).unwrap()
    }

    #[test]
    fn keys_and_sizes_are_of_the_dump_and_cpu_time_is_of_the_servers() {
        let found = of_collection(&(series(0, 9_000) + &series(10, 9_250)));
        assert_eq!(found.input.keys, 2);
        let total = |metric| found.nodes.total(metric);
        assert_eq!((total(Metric::Keys), total(Metric::Bytes)), (2, 150));
        assert_eq!(total(Metric::Cpu), 250);
        assert_eq!(found.slots.loads.get(Metric::Cpu).unwrap()[7], 250);
        let files: Vec<&str> = found.input.files.iter().map(|of| &*of.format).collect();
        assert_eq!(files, ["csv", "slot-stats"]);
        let notes = found.input.notes.join("\n");
        assert!(!notes.contains("single reading"), "{notes}");
    }

    #[test]
    fn a_file_of_counts_beside_a_dump_needs_no_collection() {
        let directory = tempfile::tempdir().unwrap();
        let paths = ["stats.json", "7001.keys"].map(|name| directory.path().join(name));
        std::fs::write(&paths[0], series(0, 5) + &series(9, 8)).unwrap();
        std::fs::write(&paths[1], "user:1\nuser:2\n").unwrap();
        let found = Analysis::new().run(&paths).unwrap();
        assert_eq!((found.input.keys, found.nodes.total(Metric::Cpu)), (2, 3));
        // The file of counts is not a node of its own.
        assert_eq!(found.nodes.list.len(), 3);
    }
}
