//! Monotonic counters by slot: load is the difference of two readings of the same node.
//!
//! CLUSTER SLOT-STATS counts since server start, CONFIG RESETSTAT, or the time the node got the slot. A single reading
//! thus compares slots within a node, but not nodes. If a counter drops between two readings, or the slot changed
//! hands, counting restarts there, and the slot does not cover the whole span of its node. All readings of a slot are in
//! one input.

use std::collections::BTreeMap;

use slotscope_base::slot::SLOTS;
use slotscope_base::text;

/// Counters read per slot: CPU time, and the user's choice of operations.
pub(crate) const COUNTERS: usize = 2;

/// If a larger fraction of its slots changed hands, a node has no span.
const CHANGED: f64 = 0.01;

/// The counters of a slot at a time; absent if the server does not count them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Reading {
    /// In milliseconds since 1970; 0 if a reply does not tell.
    pub time: u64,
    /// CPU time, and operations.
    pub counts: [Option<u64>; COUNTERS],
}

/// Readings of a slot on one node during which no counter drops.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    input: usize,
    node: usize,
    first: Reading,
    last: Reading,
    /// Whether an earlier stretch exists.
    is_anew: bool,
}

impl Stretch {
    /// Whether `next` may continue this stretch.
    fn goes_on(&self, node: usize, next: &Reading) -> bool {
        let mut pairs = self.last.counts.iter().zip(next.counts);
        let falls = pairs.any(|(before, after)| after < *before);
        self.node == node && self.last.time < next.time && !falls
    }

    fn difference(&self, counter: usize) -> Option<u64> {
        let grown = self.last.counts[counter]?.checked_sub(self.first.counts[counter]?);
        grown.filter(|_| self.last.time > self.first.time)
    }
}

/// The readings of a node.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeReadings {
    /// Its name in the lines; `None` for a bare reply.
    pub name: Option<String>,
    /// First and last reading, in milliseconds since 1970; 0 if replies have no time.
    pub times: (u64, u64),
    /// Its slots at the last reading.
    pub slots: u64,
    /// Slots among these with reset counters, or that came or went in between.
    pub changed: u64,
}

impl NodeReadings {
    /// Seconds covered by its load; `None` if it has a single reading, or was reset.
    pub(crate) fn span(&self) -> Option<f64> {
        let is_whole = self.changed as f64 <= CHANGED * self.slots as f64;
        let ms = self.times.1.saturating_sub(self.times.0);
        (ms > 0 && is_whole).then_some(ms as f64 / 1000.0)
    }
}

/// Loads by slot from counters, and their extent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counters {
    /// The nodes in order of appearance.
    pub nodes: Vec<NodeReadings>,
    /// Each slot's node at its last reading.
    pub owners: Vec<Option<usize>>,
    /// Whether no node was read twice: loads are then raw counters with unknown starting times.
    pub is_one_reading: bool,
    /// CPU time and operations by slot; absent if no server counts them.
    pub loads: [Option<Vec<u64>>; COUNTERS],
}

/// Collects readings one by one; within an input in time order.
#[derive(Default)]
pub(crate) struct CounterReadings {
    nodes: Vec<NodeReadings>,
    /// By name, or for a bare reply by input number.
    places: BTreeMap<(Option<String>, usize), usize>,
    /// By slot: the readings since counting last restarted.
    stretches: Vec<Option<Stretch>>,
    /// A slot with readings in two inputs, which do not form one series.
    pub clash: Option<(u16, usize, usize)>,
}

impl CounterReadings {
    /// The index of a node, whose lines in an input have now reached `time`.
    pub(crate) fn node(&mut self, input: usize, name: Option<&str>, time: u64) -> usize {
        let key = match name {
            Some(name) => (Some(name.to_owned()), 0),
            None => (None, input),
        };
        let place = *self.places.entry(key).or_insert(self.nodes.len());
        if place == self.nodes.len() {
            self.nodes.push(NodeReadings {
                name: name.map(str::to_owned),
                times: (time, time),
                slots: 0,
                changed: 0,
            });
        }
        let times = &mut self.nodes[place].times;
        *times = (times.0.min(time), times.1.max(time));
        place
    }

    /// Whether a reading of a node is of a later time than this.
    pub(crate) fn is_later(&self, node: usize, time: u64) -> bool {
        self.nodes[node].times.1 > time
    }

    /// Adds a reading of a slot.
    pub(crate) fn add(&mut self, input: usize, node: usize, slot: u16, reading: Reading) {
        self.stretches.resize(SLOTS, None);
        match &mut self.stretches[usize::from(slot)] {
            Some(before) if before.input != input => {
                self.clash.get_or_insert((slot, before.input, input));
            }
            Some(before) if before.goes_on(node, &reading) => before.last = reading,
            before => {
                *before = Some(Stretch {
                    input,
                    node,
                    first: reading,
                    last: reading,
                    is_anew: before.is_some(),
                });
            }
        }
    }

    /// The input of each slot.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = Option<usize>> {
        let stretches = self.stretches.iter();
        stretches.map(|stretch| Some(stretch.as_ref()?.input))
    }

    /// The loads, after all readings were added.
    pub(crate) fn finish(self) -> Counters {
        let stretches = self.stretches;
        let owners = stretches.iter().map(|stretch| Some(stretch.as_ref()?.node));
        let mut counters = Counters {
            nodes: self.nodes,
            owners: owners.collect(),
            ..Counters::default()
        };
        let mut known = stretches.iter().flatten();
        counters.is_one_reading = !known.any(|stretch| stretch.last.time > stretch.first.time);
        for stretch in stretches.iter().flatten() {
            let node = &mut counters.nodes[stretch.node];
            let is_whole = (stretch.first.time, stretch.last.time) == node.times;
            node.slots += 1;
            node.changed += u64::from(stretch.is_anew || !is_whole);
        }
        for counter in 0..COUNTERS {
            let is_counted = |stretch: &Stretch| stretch.last.counts[counter].is_some();
            if !stretches.iter().flatten().any(is_counted) {
                continue;
            }
            let load = |stretch: &Option<Stretch>| {
                let stretch = stretch.as_ref()?;
                if counters.is_one_reading {
                    stretch.last.counts[counter]
                } else {
                    stretch.difference(counter)
                }
            };
            let loads = stretches.iter().map(|stretch| load(stretch).unwrap_or(0));
            counters.loads[counter] = Some(loads.collect());
        }
        counters
    }
}

impl Counters {
    /// The slots that a node has counts of.
    pub(crate) fn slots(&self) -> Vec<bool> {
        self.owners.iter().map(Option::is_some).collect()
    }

    /// Limitations of the loads; `name` gives a node's display name.
    pub(crate) fn notes(&self, name: impl Fn(&NodeReadings) -> String) -> Vec<String> {
        if self.loads.iter().all(Option::is_none) {
            return Vec::new();
        }
        if self.is_one_reading {
            return vec![
                "CPU time by slot is a single reading: it counts from a start, CONFIG RESETSTAT or a change of owner, ranks \
                 slots within a node and compares no nodes; take two readings: slotscope collect --slots-only --every 60s \
                 --for 60s"
                    .into(),
            ];
        }
        let nodes = self.nodes.iter().filter(|node| node.changed > 0);
        let notes = nodes.map(|node| {
            format!(
                "counters of {} on {} were reset between readings, or came to it or left it (a restart, CONFIG RESETSTAT, a \
                 new owner): they are counted from there{}",
                text::counted(node.changed, "slot"),
                name(node),
                match node.span() {
                    Some(_) => "",
                    None => ", and the node is not compared",
                }
            )
        });
        notes.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An input, its node, a time, and the count of each slot at that time.
    type At<'a> = (usize, &'a str, u64, &'a [(u16, u64)]);

    fn counted(readings: &[At<'_>]) -> Counters {
        let mut all = CounterReadings::default();
        for (input, node, secs, slots) in readings {
            let time = 1_795_341_600_000 + 1000 * secs;
            let node = all.node(*input, Some(node), time);
            for (slot, count) in *slots {
                let counts = [Some(*count), None];
                all.add(*input, node, *slot, Reading { time, counts });
            }
        }
        assert_eq!(all.clash, None);
        all.finish()
    }

    fn loads(counters: &Counters, slots: &[usize]) -> Vec<u64> {
        let loads = counters.loads[0].as_ref().unwrap();
        slots.iter().map(|slot| loads[*slot]).collect()
    }

    fn spans(counters: &Counters) -> Vec<Option<f64>> {
        counters.nodes.iter().map(NodeReadings::span).collect()
    }

    #[test]
    fn a_load_is_the_difference_of_the_first_and_the_last_reading() {
        let found = counted(&[
            (0, "a", 0, &[(1, 9_000_000), (2, 7)]),
            (0, "b", 1, &[(9, 50)]),
            (0, "a", 10, &[(1, 9_000_400), (2, 7)]),
            (0, "a", 20, &[(1, 9_000_500), (2, 8)]),
            (0, "b", 31, &[(9, 90)]),
        ]);
        assert_eq!(loads(&found, &[1, 2, 9, 5]), [500, 1, 40, 0]);
        assert_eq!(spans(&found), [Some(20.0), Some(30.0)]);
        assert!(!found.is_one_reading);
        assert!(found.notes(|_| String::new()).is_empty());
    }

    #[test]
    fn a_counter_that_falls_is_counted_from_there_and_its_node_is_not_compared() {
        let found = counted(&[
            (0, "a", 0, &[(1, 1000), (2, 1000)]),
            (0, "b", 0, &[(9, 50)]),
            (0, "a", 10, &[(1, 10), (2, 20)]),
            (0, "a", 20, &[(1, 15), (2, 26)]),
            (0, "b", 20, &[(9, 51)]),
        ]);
        assert_eq!(loads(&found, &[1, 2, 9]), [5, 6, 1]);
        assert_eq!(spans(&found), [None, Some(20.0)]);
        let notes = found.notes(|node| node.name.clone().unwrap_or_default());
        assert_eq!(notes.len(), 1);
        assert!(notes[0].contains("2 slots on a"), "{notes:?}");
    }

    #[test]
    fn a_slot_that_came_from_another_node_has_no_whole_span() {
        let found = counted(&[
            (0, "a", 0, &[(1, 1000), (2, 0)]),
            (0, "b", 0, &[(9, 0)]),
            (0, "b", 10, &[(1, 3), (9, 4)]),
            (0, "a", 20, &[(2, 5)]),
            (0, "b", 20, &[(1, 7), (9, 9)]),
        ]);
        assert_eq!(loads(&found, &[1, 2, 9]), [4, 5, 9]);
        assert_eq!(spans(&found), [Some(20.0), None]);
        assert_eq!(found.owners[1], Some(1));
    }

    #[test]
    fn a_few_slots_that_moved_do_not_hide_a_node() {
        let slots: Vec<(u16, u64)> = (0..200).map(|slot| (slot, 5)).collect();
        let later: Vec<(u16, u64)> = (0..201).map(|slot| (slot, 8)).collect();
        let found = counted(&[(0, "a", 0, &slots), (0, "a", 4, &later)]);
        assert_eq!(spans(&found), [Some(4.0)]);
        assert_eq!((found.nodes[0].slots, found.nodes[0].changed), (201, 1));
    }

    #[test]
    fn one_reading_is_the_counters_as_they_stand() {
        let found = counted(&[(0, "a", 0, &[(1, 1000)]), (0, "b", 1, &[(2, 7)])]);
        assert!(found.is_one_reading);
        assert_eq!(loads(&found, &[1, 2]), [1000, 7]);
        assert_eq!(spans(&found), [None, None]);
        assert!(found.notes(|_| String::new())[0].contains("compares no nodes"));
    }

    #[test]
    fn a_node_that_was_read_once_beside_others_read_twice_has_no_load() {
        let found = counted(&[
            (0, "a", 0, &[(1, 10)]),
            (0, "b", 0, &[(2, 7_000)]),
            (0, "a", 5, &[(1, 30)]),
        ]);
        assert_eq!(loads(&found, &[1, 2]), [20, 0]);
        assert_eq!(spans(&found), [Some(5.0), None]);
    }
}
