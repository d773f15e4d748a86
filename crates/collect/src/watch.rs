//! Tracks slot owners by polling all primaries, to notice slots that move while being read, and failovers.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use slotscope_base::error::Result;
use slotscope_base::slot::SLOTS;
use slotscope_base::slot::set::SlotSet;
use slotscope_read::source::collection::servers::Role;

use crate::address::Address;
use crate::cluster::{Id, View};
use crate::connection::{Access, Connection};
use crate::crew;
use crate::endpoints::Endpoints;
use crate::listings::Listings;
use crate::members::Member;

/// Polling interval while waiting for something.
const LOOK: Duration = Duration::from_millis(100);
/// Polling takes at most one in this many parts of the time.
const SHARE: u32 = 20;
/// Polling interval while slots are read.
const INTERVAL: Duration = Duration::from_millis(500);

/// Tracks slot owners.
pub(crate) struct Watch<'a> {
    access: &'a Access,
    seed: Address,
    endpoints: Endpoints,
    /// Connections to primaries, by id.
    peers: HashMap<String, Connection>,
    /// The cluster as last seen.
    pub view: View,
    /// Slots that moved or migrated since `start`.
    disturbed: SlotSet,
    /// The owners at `start`.
    owners: Vec<Option<Id>>,
    /// The duration of the last poll, and when it ended.
    last: (Duration, Instant),
}

impl<'a> Watch<'a> {
    /// Asks for the cluster of the node at `seed`.
    ///
    /// # Errors
    /// No node lists the owners of slots.
    pub(crate) fn new(
        access: &'a Access,
        seed: Address,
        endpoints: Endpoints,
        mut connection: Connection,
    ) -> Result<Self> {
        let text = listing(&mut connection)?;
        let mut listings = Listings::default();
        let added = listings.add("", &seed, text);
        added.map_err(|rule| connection.wrong("CLUSTER NODES", rule))?;
        let view = listings.into_view()?;
        let mut watch = Watch {
            access,
            seed,
            endpoints,
            peers: HashMap::new(),
            view,
            disturbed: SlotSet::none(),
            owners: Vec::new(),
            last: (Duration::ZERO, Instant::now()),
        };
        watch.look()?;
        watch.start();
        Ok(watch)
    }

    /// The address of a member.
    pub(crate) fn address(&self, member: &Member) -> Option<Address> {
        let announced = self.endpoints.get(&member.id).cloned();
        match &member.address {
            // The node asked first is reachable where it answered.
            Some(address) if *address == self.seed => Some(address.clone()),
            address => announced.or_else(|| address.clone()),
        }
    }

    /// Starts recording changes.
    pub(crate) fn start(&mut self) {
        self.owners = (0..SLOTS as u16)
            .map(|slot| self.view.owner(slot).cloned())
            .collect();
        self.disturbed = SlotSet::none();
        self.note();
    }

    /// Slots that moved or migrated since `start`.
    pub(crate) fn disturbed(&self) -> &SlotSet {
        &self.disturbed
    }

    /// Polls if due; returns whether it did so successfully.
    pub(crate) fn poll_if_due(&mut self) -> bool {
        let (took, ended) = self.last;
        ended.elapsed() >= INTERVAL.max(took * SHARE) && self.look().is_ok()
    }

    /// Polls until all of `slots` can be read, or as many as ever will, for at most `patience`. Calls `on_wait` with
    /// the current state and remaining time before each wait.
    ///
    /// # Errors
    /// No node answers.
    pub(crate) fn settle(
        &mut self,
        slots: &SlotSet,
        patience: Duration,
        on_wait: &mut dyn FnMut(&View, Duration),
    ) -> Result<()> {
        let end = Instant::now() + patience;
        loop {
            let looked = self.look();
            let may_settle = looked.is_err() || slots.iter().any(|slot| self.view.may_settle(slot));
            let left = end.saturating_duration_since(Instant::now());
            if !may_settle || left.is_zero() {
                return looked;
            }
            on_wait(&self.view, left);
            thread::sleep(LOOK.max(self.last.0));
        }
    }

    /// The `wanted` slots that can be read now.
    pub(crate) fn settled(&self, wanted: &SlotSet) -> SlotSet {
        SlotSet::of(|slot| wanted.contains(slot) && self.view.is_settled(slot))
    }

    /// Polls all primaries.
    ///
    /// # Errors
    /// No primary answers.
    pub(crate) fn look(&mut self) -> Result<()> {
        let start = Instant::now();
        let view = self.ask_all().and_then(Listings::into_view);
        self.last = (start.elapsed(), Instant::now());
        let before = std::mem::replace(&mut self.view, view?);
        self.note_odd_epochs(&before);
        self.note();
        Ok(())
    }

    /// The listings of all primaries, folded as they arrive.
    fn ask_all(&mut self) -> Result<Listings> {
        let members = self.view.members.values();
        let primaries = members.filter(|member| member.role == Role::Primary);
        let place = |member: &Member| Some((member.id.clone(), self.address(member)?));
        let primaries: Vec<(String, Address)> = primaries.filter_map(place).collect();
        let mut peers = std::mem::take(&mut self.peers);
        let (listings, access) = (Mutex::new(Listings::default()), self.access);
        let tasks: Vec<(&String, &Address, Option<Connection>)> = primaries
            .iter()
            .map(|(id, address)| (id, address, peers.remove(id)))
            .collect();
        let ask = |(id, address, peer): (&String, &Address, Option<Connection>)| {
            let connection = peer.map_or_else(|| Connection::open(address, access), Ok)?;
            list(connection, id, address, &listings)
        };
        let answers = crew::all(tasks.into_iter(), ask)?;
        let mut listings = listings
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        for ((id, _), answer) in primaries.into_iter().zip(answers) {
            match answer {
                Ok(peer) => drop(self.peers.insert(id, peer)),
                Err(error) => listings.fail(id, error),
            }
        }
        Ok(listings)
    }

    /// Records changes since `start`.
    fn note(&mut self) {
        for slot in 0..SLOTS as u16 {
            let moved = self.owners.get(usize::from(slot)).and_then(Option::as_ref)
                != self.view.owner(slot);
            if moved || self.view.is_in_flight(slot) {
                self.disturbed.insert(slot);
            }
        }
    }

    /// Looks for a new epoch of a node that got no slot: one may have left and come back between two polls.
    fn note_odd_epochs(&mut self, before: &View) {
        for (id, member) in &self.view.members {
            let Some(old) = before
                .members
                .get(id)
                .filter(|old| old.epoch != member.epoch)
            else {
                continue;
            };
            let (old_slots, slots) = (before.slots_of(id), self.view.slots_of(id));
            if slots.iter().all(|slot| old_slots.contains(slot)) && old.role == Role::Primary {
                self.disturbed.add(&slots);
            }
        }
    }
}

/// Adds a node's listing to `listings`, without keeping its text while others are asked.
fn list(
    mut connection: Connection,
    id: &str,
    address: &Address,
    listings: &Mutex<Listings>,
) -> Result<Connection> {
    let text = listing(&mut connection)?;
    let mut listings = listings.lock().unwrap_or_else(PoisonError::into_inner);
    let added = listings.add(id, address, text);
    added.map_err(|rule| connection.wrong("CLUSTER NODES", rule))?;
    connection.forget();
    Ok(connection)
}

/// Asks one node for its listing.
fn listing(connection: &mut Connection) -> Result<String> {
    let reply = connection.call("CLUSTER NODES", &[b"CLUSTER", b"NODES"])?;
    let text = reply.into_text().map(String::from_utf8);
    text.and_then(|text| text.ok())
        .ok_or_else(|| connection.odd("CLUSTER NODES"))
}
