//! Who owns which slot, asked of all primaries again and again: a slot that moves while it is read is noticed, and so is
//! a replica that takes over.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::collect::address::Address;
use crate::collect::connection::{Access, Connection};
use crate::collect::endpoints::Endpoints;
use crate::collect::manifest::Role;
use crate::collect::members::{self, Member};
use crate::collect::slot_set::SlotSet;
use crate::error::{Error, Result};
use crate::slot::SLOTS;

/// What is said of a node that was never asked with success.
const UNANSWERED: &str =
    "no answer; check that it runs, and --address-map where nodes announce other addresses";

/// The id of a node.
pub type Id = Arc<str>;

/// A primary that cannot be reached is tried again after this.
const RETRY: Duration = Duration::from_secs(2);
/// Primaries that are asked at once.
const AT_ONCE: usize = 128;
/// Between two looks while something is waited for.
const LOOK: Duration = Duration::from_millis(100);
/// Of the time of a run, at most one part in so many is spent on looks.
const SHARE: u32 = 20;
/// Between two looks while slots are read.
const INTERVAL: Duration = Duration::from_millis(500);

/// The cluster as it is now.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// What a node answered to CLUSTER NODES.
    pub text: String,
    /// The members by their ids.
    pub members: BTreeMap<String, Member>,
    /// The owner of each slot.
    owner: Vec<Option<Id>>,
    /// Slots on their way.
    in_flight: BTreeSet<u16>,
    /// Primaries that did not answer, and why.
    silent: BTreeMap<String, String>,
}

impl View {
    /// The owner of a slot.
    pub fn owner(&self, slot: u16) -> Option<&Id> {
        self.owner.get(usize::from(slot))?.as_ref()
    }

    /// Whether keys of a slot may be with two nodes.
    pub fn is_in_flight(&self, slot: u16) -> bool {
        self.in_flight.contains(&slot)
    }

    /// The slots that a node owns.
    pub fn slots_of(&self, id: &str) -> SlotSet {
        SlotSet::of(|slot| self.owner(slot).is_some_and(|owner| **owner == *id))
    }

    /// The primaries that own slots, in the order of their first.
    pub fn owners(&self) -> Vec<Id> {
        let mut owners: Vec<Id> = Vec::new();
        let mut known = BTreeSet::new();
        for owner in self.owner.iter().flatten() {
            if known.insert(owner) {
                owners.push(Arc::clone(owner));
            }
        }
        owners
    }

    /// The replicas of a primary that the listing has as well.
    pub fn replicas(&self, primary: &str) -> impl Iterator<Item = &Member> {
        let is_of = move |member: &&Member| {
            member.role == Role::Replica
                && member.primary.as_deref() == Some(primary)
                && !member.failed
        };
        self.members.values().filter(is_of)
    }

    /// Whether a slot can be read now: it has an owner that answers, and is not on its way.
    fn is_settled(&self, slot: u16) -> bool {
        let is_well = |owner: &Id| !self.silent.contains_key(&**owner);
        !self.is_in_flight(slot) && self.owner(slot).is_some_and(is_well)
    }

    /// Whether waiting may help a slot: it is on its way, or a replica can take over.
    fn may_settle(&self, slot: u16) -> bool {
        let has_heir = |owner: &Id| self.replicas(owner).next().is_some();
        !self.is_settled(slot) && (self.is_in_flight(slot) || self.owner(slot).is_none_or(has_heir))
    }

    /// Primaries with slots that do not answer, and whether a replica can take over.
    pub fn unanswered(&self) -> impl Iterator<Item = (&Member, bool)> {
        let owners = self.owners().into_iter();
        let silent = owners.filter(|owner| self.silent.contains_key(&**owner));
        let members = silent.filter_map(|owner| self.members.get(&*owner));
        members.map(|member| (member, self.replicas(&member.id).next().is_some()))
    }

    /// Whether slots have no node that answers for them and none that could take over.
    pub fn is_beyond_waiting(&self) -> bool {
        let has_unowned = self.owner.iter().any(Option::is_none);
        has_unowned || self.unanswered().any(|(_, has_heir)| !has_heir)
    }

    /// Why a primary did not answer; `None` where it did.
    pub fn silence(&self, id: &str) -> Option<&str> {
        self.silent.get(id).map(String::as_str)
    }
}

/// What is asked, and what was seen.
pub struct Watch<'a> {
    access: &'a Access,
    seed: Address,
    endpoints: Endpoints,
    peers: HashMap<String, Peer>,
    /// The cluster when it was asked last.
    pub view: View,
    /// Slots that moved or were on their way since `start`.
    disturbed: SlotSet,
    /// The owners at `start`.
    owners: Vec<Option<Id>>,
    /// How long the last look took, and when it ended.
    last: (Duration, Instant),
}

/// A primary that is asked.
#[derive(Default)]
struct Peer {
    connection: Option<Connection>,
    retry: Option<Instant>,
}

impl<'a> Watch<'a> {
    /// Asks the cluster that the node at `seed` is part of.
    ///
    /// # Errors
    /// No node says who owns the slots.
    pub fn new(
        access: &'a Access,
        seed: Address,
        endpoints: Endpoints,
        mut connection: Connection,
    ) -> Result<Self> {
        let (text, members) = listing(&mut connection, &seed)?;
        let view = View {
            text,
            members: members
                .into_iter()
                .map(|member| (member.id.clone(), member))
                .collect(),
            ..View::default()
        };
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

    /// Where a member is reached.
    pub fn address(&self, member: &Member) -> Option<Address> {
        let announced = self.endpoints.get(&member.id).cloned();
        match &member.address {
            // The node that was asked first is where it answered.
            Some(address) if *address == self.seed => Some(address.clone()),
            address => announced.or_else(|| address.clone()),
        }
    }

    /// From here on, changes count.
    pub fn start(&mut self) {
        self.owners = self.view.owner.clone();
        self.disturbed = SlotSet::none();
        self.note();
    }

    /// Slots that moved or were on their way since `start`.
    pub fn disturbed(&self) -> &SlotSet {
        &self.disturbed
    }

    /// Looks again where the last look is long enough ago.
    ///
    /// # Errors
    /// No node answers.
    pub fn look_now_and_then(&mut self) -> Result<()> {
        let (took, ended) = self.last;
        match ended.elapsed() >= INTERVAL.max(took * SHARE) {
            true => self.look(),
            false => Ok(()),
        }
    }

    /// Looks until all of `slots` can be read, or as many as will; `patience` is how long at most. `on_wait` is called with
    /// what is seen and the time left before each wait.
    ///
    /// # Errors
    /// No node answers.
    pub fn settle(
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

    /// The slots of `wanted` that can be read now.
    pub fn settled(&self, wanted: &SlotSet) -> SlotSet {
        SlotSet::of(|slot| wanted.contains(slot) && self.view.is_settled(slot))
    }

    /// Asks all primaries.
    ///
    /// # Errors
    /// None answers.
    pub fn look(&mut self) -> Result<()> {
        let start = Instant::now();
        let asked = self.ask_all();
        self.last = (start.elapsed(), Instant::now());
        let before = std::mem::take(&mut self.view);
        self.view = match merged(&before, asked) {
            Ok(view) => view,
            Err(error) => {
                self.view = before;
                return Err(error);
            }
        };
        self.note_odd_epochs(&before);
        self.note();
        Ok(())
    }

    /// What each primary lists.
    fn ask_all(&mut self) -> Vec<(String, Result<Listing>)> {
        let primaries = self
            .view
            .members
            .values()
            .filter(|member| member.role == Role::Primary);
        let primaries: Vec<(String, Option<Address>)> = primaries
            .map(|member| (member.id.clone(), self.address(member)))
            .collect();
        let mut peers: Vec<(String, Address, Peer)> = Vec::new();
        for (id, address) in primaries {
            if let Some(address) = address {
                let peer = self.peers.remove(&id).unwrap_or_default();
                peers.push((id, address, peer));
            }
        }
        let access = self.access;
        let ask = |peers: &mut [(String, Address, Peer)]| {
            thread::scope(|threads| {
                let asked: Vec<_> = peers
                    .iter_mut()
                    .map(|(_, address, peer)| threads.spawn(|| peer.listing(address, access)))
                    .collect();
                let lost = || Err(Error::bad("CLUSTER NODES", "the thread that asked ended"));
                let answers = asked
                    .into_iter()
                    .map(|thread| thread.join().unwrap_or_else(|_| lost()));
                answers.collect::<Vec<_>>()
            })
        };
        let answers: Vec<_> = peers.chunks_mut(AT_ONCE).flat_map(ask).collect();
        let ids: Vec<String> = peers.iter().map(|(id, ..)| id.clone()).collect();
        self.peers = peers.into_iter().map(|(id, _, peer)| (id, peer)).collect();
        ids.into_iter().zip(answers).collect()
    }

    /// Notes what is not as it was at `start`.
    fn note(&mut self) {
        for slot in 0..SLOTS as u16 {
            let moved = self.owners.get(usize::from(slot)).and_then(Option::as_ref)
                != self.view.owner(slot);
            if moved || self.view.is_in_flight(slot) {
                self.disturbed.insert(slot);
            }
        }
    }

    /// A new epoch of a node that has got no slot: one may have left and come back between two looks.
    fn note_odd_epochs(&mut self, before: &View) {
        for (id, member) in &self.view.members {
            let Some(old) = before
                .members
                .get(id)
                .filter(|old| old.epoch != member.epoch)
            else {
                continue;
            };
            let (was, is) = (before.slots_of(id), self.view.slots_of(id));
            if is.iter().all(|slot| was.contains(slot)) && old.role == Role::Primary {
                self.disturbed.add(&is);
            }
        }
    }
}

/// What a node answered to CLUSTER NODES, and the members in it.
type Listing = (String, Vec<Member>);

impl Peer {
    fn listing(&mut self, address: &Address, access: &Access) -> Result<Listing> {
        if self.connection.is_none() {
            if self.retry.is_some_and(|retry| Instant::now() < retry) {
                return Err(Error::bad(address.to_string(), UNANSWERED));
            }
            self.retry = Some(Instant::now() + RETRY);
            self.connection = Some(Connection::open(address, access)?);
        }
        let Some(connection) = &mut self.connection else {
            return Err(Error::bad(address.to_string(), UNANSWERED));
        };
        let listed = listing(connection, address);
        if listed.is_err() {
            self.connection = None;
        }
        listed
    }
}

/// Asks one node for its listing.
///
/// # Errors
/// It does not answer, or with something else.
pub fn listing(connection: &mut Connection, asked: &Address) -> Result<Listing> {
    let reply = connection.call("CLUSTER NODES", &[b"CLUSTER", b"NODES"])?;
    let text = reply
        .into_text()
        .and_then(|text| String::from_utf8(text).ok());
    let text = text.ok_or_else(|| connection.odd("CLUSTER NODES"))?;
    let members = members::parse(&text, asked).ok_or_else(|| connection.odd("CLUSTER NODES"))?;
    Ok((text, members))
}

/// One view of what all nodes said: each knows itself best, and the claim of the highest epoch to a slot is the true one.
fn merged(before: &View, asked: Vec<(String, Result<Listing>)>) -> Result<View> {
    let mut silent = BTreeMap::new();
    let mut listings: Vec<Listing> = Vec::new();
    let mut last = None;
    for (id, answer) in asked {
        match answer {
            Ok(listing) => listings.push(listing),
            Err(error) => {
                silent.insert(id, error.to_string());
                last = Some(error);
            }
        }
    }
    let Some((first, _)) = listings.first() else {
        let none = || {
            Error::bad(
                "CLUSTER NODES",
                "no primary is listed; name a node of the cluster",
            )
        };
        return Err(last.unwrap_or_else(none));
    };
    let text = first.clone();
    let mut members: BTreeMap<String, Member> = before.members.clone();
    let of_others = listings
        .iter()
        .flat_map(|(_, of)| of)
        .filter(|member| !member.is_myself);
    let of_themselves = listings
        .iter()
        .flat_map(|(_, of)| of)
        .filter(|member| member.is_myself);
    let mut heard: BTreeMap<&str, &Member> = BTreeMap::new();
    for member in of_others {
        let known = heard.entry(&member.id).or_insert(member);
        if member.epoch > known.epoch
            || (member.epoch == known.epoch && member.role == Role::Replica)
        {
            *known = member;
        }
    }
    members.retain(|id, _| heard.contains_key(id.as_str()));
    for member in heard.into_values().chain(of_themselves) {
        // The address that a node has for itself may be where it was asked.
        members.insert(member.id.clone(), member.clone());
    }
    let in_flight = members
        .values()
        .flat_map(|member| member.in_flight.iter().copied())
        .collect();
    Ok(View {
        text,
        owner: owners(&members),
        in_flight,
        silent,
        members,
    })
}

fn owners(members: &BTreeMap<String, Member>) -> Vec<Option<Id>> {
    let mut by_epoch: Vec<&Member> = members
        .values()
        .filter(|member| !member.slots.is_empty())
        .collect();
    by_epoch.sort_by_key(|member| member.epoch);
    let mut owner = vec![None; SLOTS];
    for member in by_epoch {
        let id: Id = Arc::from(member.id.as_str());
        for (first, last) in &member.slots {
            owner[usize::from(*first)..=usize::from(*last)].fill(Some(Arc::clone(&id)));
        }
    }
    owner
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(listings: &[(&str, Option<&str>)]) -> Result<View> {
        let asked = Address::Tcp("h".into(), 1);
        let answer = |(id, text): &(&str, Option<&str>)| {
            let listed = text.map(|text| (text.to_owned(), members::parse(text, &asked).unwrap()));
            (
                (*id).to_owned(),
                listed.ok_or_else(|| Error::bad("x", "no answer")),
            )
        };
        merged(&View::default(), listings.iter().map(answer).collect())
    }

    #[test]
    fn the_claim_of_the_highest_epoch_wins_and_each_node_knows_its_own_slots_on_their_way() {
        let a = "a h:1@2 myself,master - 0 0 1 connected 0-9 [3->-b]\nb h:2@2 master - 0 0 2 connected 10-19\n";
        let b =
            "a h:1@2 master - 0 0 1 connected 0-8\nb h:2@2 myself,master - 0 0 3 connected 9-19\n";
        let view = heard(&[("a", Some(a)), ("b", Some(b))]).unwrap();
        let owner = |slot| view.owner(slot).map(|id| id.to_string());
        assert_eq!(
            (owner(8), owner(9), owner(20)),
            (Some("a".into()), Some("b".into()), None)
        );
        assert!(view.is_in_flight(3) && !view.is_settled(3) && view.may_settle(3));
        assert!(view.is_settled(9));
        assert_eq!(view.owners().len(), 2);
    }

    #[test]
    fn a_silent_primary_may_come_back_as_its_replica_only() {
        let b =
            "a h:1@2 master - 0 0 1 connected 0-8\nb h:2@2 myself,master - 0 0 3 connected 9-19\n";
        let alone = heard(&[("a", None), ("b", Some(b))]).unwrap();
        assert!(!alone.is_settled(0) && !alone.may_settle(0));
        let lost: Vec<_> = alone.unanswered().collect();
        assert!(lost.len() == 1 && lost[0].0.id == "a" && !lost[0].1);
        assert!(alone.is_beyond_waiting());
        let with_replica = format!("{b}c h:3@2 slave a 0 0 1 connected\n");
        let followed = heard(&[("a", None), ("b", Some(&with_replica))]).unwrap();
        assert!(followed.may_settle(0));
        assert!(followed.unanswered().all(|(_, has_heir)| has_heir));
        assert!(heard(&[("a", None)]).is_err());
    }
}
