//! A running cluster polled at intervals, for the exporter and the live screen.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use slotscope_engine::error::{Error, Result};
use slotscope_engine::slot::set::SlotSet;
use slotscope_engine::source::collection::load::HotSlotKeys;
use slotscope_engine::source::collection::manifest::Level;
use slotscope_engine::source::collection::servers::Role;

use crate::address::Address;
use crate::connection::Access;
use crate::crew;
use crate::discovery::{self, Site};
use crate::hot_slots;
use crate::probe::{self, Probe, Reading, SlotCounts};
use crate::readings::Asked;
use crate::scan;
use crate::slot_keys::{self, SlotKeys};
use crate::task::{Outcome, Plan, Task};
use crate::watch::Watch;

/// Its primaries, with connections.
pub struct Live<'a> {
    access: &'a Access,
    watch: Watch<'a>,
    probe: Probe<'a>,
    /// By server, the commands that counting its keys took so far, which no client sent.
    own: BTreeMap<String, u64>,
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
                own: BTreeMap::new(),
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
            let own = self.own.get(server.key()).copied().unwrap_or(0);
            let Ok(reading) = reading else { continue };
            if let Some(commands) = &mut reading.server.total_commands_processed {
                *commands = commands.saturating_sub(own);
            }
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

    /// The slots with the most CPU time between two readings of each server, if any stand out, with keys; the second
    /// value tells why a slot has none.
    pub fn hot_slots(&mut self, readings: &[[&Reading; 2]]) -> (Vec<HotSlotKeys>, Option<String>) {
        hot_slots::list(&mut self.probe, readings)
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
        let task = |(at, server): (usize, &Asked)| {
            let reading = readings[at].as_ref().ok()?;
            let id = server.id.as_deref().filter(|_| reading.slots.is_none())?;
            let slots = self.watch.view.slots_of(id);
            Some((at, task(server, slots)))
        };
        let tasks: Vec<(usize, Task)> = servers.iter().enumerate().filter_map(task).collect();
        let places: Vec<usize> = tasks.iter().map(|(at, _)| *at).collect();
        let outage = AtomicBool::new(false);
        let mut counted = Vec::new();
        let plan = self.plan(&outage);
        let count = |(_, task): &(usize, Task)| scan::counts(&plan, task);
        let take = |at: usize, outcome: Result<Outcome>| {
            let reading = readings[places[at]].as_mut();
            if let (Ok(reading), Ok(outcome)) = (reading, outcome) {
                counted.push((servers[places[at]].key(), outcome.counts.len() as u64));
                let by_slot = outcome.counts.into_iter();
                let counts = by_slot.map(|(slot, keys)| SlotCounts {
                    slot,
                    keys,
                    ..SlotCounts::default()
                });
                reading.slots = Some(counts.collect());
            }
        };
        let result = crew::each(tasks.iter(), count, take, || {});
        for (key, commands) in counted {
            *self.own.entry(key.to_owned()).or_default() += commands;
        }
        result
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

fn task(server: &Asked, slots: SlotSet) -> Task {
    Task {
        address: server.address.clone(),
        role: Role::Primary,
        primary: None,
        owned: slots.clone(),
        slots,
    }
}
