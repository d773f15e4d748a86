//! A running cluster polled at intervals, for the exporter and the live screen.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use slotscope_base::error::{Error, Result};
use slotscope_read::source::collection::manifest::Level;

use crate::address::Address;
use crate::connection::Access;
use crate::crew;
use crate::discovery::{self, Site};
use crate::probe::{self, Probe, Reading, SlotCounts};
use crate::readings::Asked;
use crate::scan;
use crate::slot_keys::{self, SlotKeys};
use crate::task::{Plan, Task};
use crate::watch::Watch;

/// Its primaries, with connections.
pub struct Live<'a> {
    access: &'a Access,
    watch: Watch<'a>,
    probe: Probe<'a>,
    /// By server, the last known memory of its keys.
    datasets: BTreeMap<String, u64>,
}

/// The cluster at one time.
#[derive(Debug)]
pub struct Snapshot {
    /// CLUSTER NODES.
    pub nodes: String,
    /// The primaries that own slots.
    pub primaries: Vec<Primary>,
}

/// A primary at one time.
#[derive(Debug)]
pub struct Primary {
    /// Its id in the cluster.
    pub id: String,
    /// Its display name.
    pub name: String,
    /// Its reading, or why there is none.
    pub reading: Result<Reading>,
}

impl Snapshot {
    /// The reading of a primary that answered.
    pub fn reading(&self, id: &str) -> Option<&Reading> {
        let primary = self.primaries.iter().find(|primary| primary.id == id)?;
        primary.reading.as_ref().ok()
    }
}

impl<'a> Live<'a> {
    /// Finds the cluster.
    ///
    /// # Errors
    /// No server answers, or it is not part of a cluster.
    pub fn connect(seeds: &[Address], access: &'a Access) -> Result<Live<'a>> {
        match discovery::find(seeds, access)? {
            Site::Cluster(watch) => Ok(Live {
                access,
                watch: *watch,
                probe: Probe::new(access),
                datasets: BTreeMap::new(),
            }),
            Site::Lone(address) => {
                let reason = "is not in cluster mode, so there are no nodes to compare";
                Err(Error::bad(address.to_string(), reason))
            }
        }
    }

    /// Reads all primaries at once. If servers do not count by slot, counts their keys slot by slot.
    ///
    /// # Errors
    /// No primary answers: the cluster may have moved.
    pub fn read(&mut self) -> Result<Snapshot> {
        // Owners change rarely; a node that does not answer is noticed by its reading.
        self.watch.poll_if_due();
        let servers = probe::primaries(&self.watch);
        let mut readings = self.probe.read(&servers)?;
        for (server, reading) in servers.iter().zip(&mut readings) {
            let Ok(reading) = reading else { continue };
            match reading.server.dataset() {
                Some(size) => drop(self.datasets.insert(server.key().to_owned(), size)),
                None => {
                    let size = self.datasets.get(server.key()).copied();
                    reading.server.used_memory_dataset = size;
                }
            }
        }
        self.count_keys(&servers, &mut readings)?;
        if let Some(Err(error)) = readings.first()
            && readings.iter().all(Result::is_err)
        {
            return Err(Error::silent("no primary answers", error.to_string()));
        }
        let primary = |(server, reading): (Asked, Result<Reading>)| Primary {
            id: server.key().to_owned(),
            name: server.name,
            reading,
        };
        Ok(Snapshot {
            nodes: self.watch.view.text.clone(),
            primaries: servers.into_iter().zip(readings).map(primary).collect(),
        })
    }

    /// At most `most` keys of a slot, from its owner.
    ///
    /// # Errors
    /// The slot has no owner, or the owner does not answer.
    pub fn keys_of(&self, slot: u16, most: u64) -> Result<SlotKeys> {
        let view = &self.watch.view;
        let owner = view.owner(slot).and_then(|id| view.members.get(&**id));
        let place = owner.and_then(|owner| self.watch.address(owner));
        let address = place.ok_or_else(|| {
            let reason = "no primary owns it; wait until a replica has taken over";
            Error::bad(format!("slot {slot}"), reason)
        })?;
        slot_keys::ask(&address, self.access, slot, most)
    }

    /// COUNTKEYSINSLOT of the slots of nodes that have no SLOT-STATS.
    fn count_keys(&mut self, servers: &[Asked], readings: &mut [Result<Reading>]) -> Result<()> {
        let is_without = |reading: &Result<Reading>| {
            let reading = reading.as_ref();
            reading.is_ok_and(|reading| reading.slots.is_none())
        };
        let pairs = servers.iter().zip(readings);
        let mut without: Vec<_> = pairs.filter(|(_, reading)| is_without(reading)).collect();
        let tasks: Vec<Task> = without.iter().map(|(server, _)| Task::of(server)).collect();
        let outage = AtomicBool::new(false);
        let plan = self.plan(&outage);
        let outcomes = crew::all(tasks.iter(), |task| scan::counts(&plan, task))?;
        for ((_, reading), outcome) in without.iter_mut().zip(outcomes) {
            let (Ok(reading), Ok(outcome)) = (reading, outcome) else {
                continue;
            };
            let by_slot = outcome.counts.into_iter();
            let counts = by_slot.map(|(slot, keys)| SlotCounts {
                slot,
                keys,
                ..SlotCounts::default()
            });
            reading.slots = Some(counts.collect());
        }
        Ok(())
    }

    fn plan<'p>(&'p self, outage: &'p AtomicBool) -> Plan<'p> {
        Plan {
            access: self.access,
            level: Level::Slots,
            count: 0,
            max_load: 100.0,
            remembered: 0,
            is_cluster: true,
            outage,
        }
    }
}
