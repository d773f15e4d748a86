//! The cluster according to its nodes: members, slot owners, migrating slots, and primaries that do not answer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use slotscope_base::slot::SLOTS;
use slotscope_base::slot::set::SlotSet;
use slotscope_read::source::collection::servers::Role;

use crate::members::Member;

/// A node id.
pub(crate) type Id = Arc<str>;

/// A snapshot of the cluster.
#[derive(Debug, Clone, Default)]
pub(crate) struct View {
    /// A node's reply to CLUSTER NODES.
    pub text: String,
    /// The members by id.
    pub members: BTreeMap<String, Member>,
    /// The owner of each slot.
    owner: Vec<Option<Id>>,
    /// The primaries with slots, by first slot.
    owners: Vec<Id>,
    /// The healthy replicas of each primary.
    replicas: BTreeMap<String, Vec<String>>,
    /// Slots in migration.
    in_flight: SlotSet,
    /// Primaries that did not answer, with the reason.
    silent: BTreeMap<String, String>,
}

impl View {
    /// The cluster with these members, of which these primaries did not answer.
    pub(crate) fn new(
        text: String,
        mut members: BTreeMap<String, Member>,
        silent: BTreeMap<String, String>,
    ) -> View {
        tell_apart(&mut members);
        let mut in_flight = SlotSet::none();
        let mut replicas = BTreeMap::<String, Vec<String>>::new();
        for member in members.values() {
            member
                .in_flight
                .iter()
                .for_each(|slot| in_flight.insert(*slot));
            if let (Role::Replica, Some(primary), false) =
                (member.role, &member.primary, member.failed)
            {
                let of_primary = replicas.entry(primary.clone()).or_default();
                of_primary.push(member.id.clone());
            }
        }
        let owner = owner_of_slots(&members);
        View {
            owners: owners(&owner),
            text,
            members,
            owner,
            replicas,
            in_flight,
            silent,
        }
    }

    /// The owner of a slot.
    pub(crate) fn owner(&self, slot: u16) -> Option<&Id> {
        self.owner.get(usize::from(slot))?.as_ref()
    }

    /// Whether keys of a slot may be on two nodes.
    pub(crate) fn is_in_flight(&self, slot: u16) -> bool {
        self.in_flight.contains(slot)
    }

    /// The slots that a node owns, a subset of those it claims.
    pub(crate) fn slots_of(&self, id: &str) -> SlotSet {
        let mut slots = SlotSet::none();
        let member = self.members.get(id);
        for (first, last) in member.into_iter().flat_map(|member| &member.slots) {
            for slot in *first..=*last {
                if self.owner(slot).is_some_and(|owner| **owner == *id) {
                    slots.insert(slot);
                }
            }
        }
        slots
    }

    /// The primaries with slots, by first slot.
    pub(crate) fn owners(&self) -> &[Id] {
        &self.owners
    }

    /// The owners of any of `slots`.
    pub(crate) fn owners_of(&self, slots: &SlotSet) -> BTreeSet<&str> {
        let owners = slots.iter().filter_map(|slot| self.owner(slot));
        owners.map(|owner| &**owner).collect()
    }

    /// The healthy replicas of a primary.
    pub(crate) fn replicas(&self, primary: &str) -> impl Iterator<Item = &Member> {
        let ids = self.replicas.get(primary).into_iter().flatten();
        ids.filter_map(|id| self.members.get(id))
    }

    /// Whether a slot can be read now: its owner answers, and it is not in migration.
    pub(crate) fn is_settled(&self, slot: u16) -> bool {
        let is_well = |owner: &Id| !self.silent.contains_key(&**owner);
        !self.is_in_flight(slot) && self.owner(slot).is_some_and(is_well)
    }

    /// Whether waiting may help a slot: it is in migration, or a replica can take over.
    pub(crate) fn may_settle(&self, slot: u16) -> bool {
        let has_heir = |owner: &Id| self.replicas(owner).next().is_some();
        !self.is_settled(slot) && (self.is_in_flight(slot) || self.owner(slot).is_none_or(has_heir))
    }

    /// Primaries with slots that do not answer, and whether a replica can take over.
    pub(crate) fn unanswered(&self) -> impl Iterator<Item = (&Member, bool)> {
        let owners = self.owners.iter();
        let silent = owners.filter(|owner| self.silent.contains_key(&***owner));
        let members = silent.filter_map(|owner| self.members.get(&**owner));
        members.map(|member| (member, self.replicas(&member.id).next().is_some()))
    }

    /// Whether some slots have neither an answering owner nor a replica that can take over.
    pub(crate) fn is_beyond_waiting(&self) -> bool {
        let has_unowned = self.owner.iter().any(Option::is_none);
        has_unowned || self.unanswered().any(|(_, has_heir)| !has_heir)
    }

    /// Why a primary did not answer, if so.
    pub(crate) fn silence(&self, id: &str) -> Option<&str> {
        self.silent.get(id).map(String::as_str)
    }
}

/// Gives members unique names: those sharing a load balancer may announce one hostname, and with NAT one address.
fn tell_apart(members: &mut BTreeMap<String, Member>) {
    let other_names: [fn(&Member) -> Option<String>; 2] = [
        |member| member.by_ip.clone(),
        |member| Some(member.id.clone()),
    ];
    for other_name in other_names {
        let mut times = BTreeMap::<String, u32>::new();
        for member in members.values() {
            *times.entry(member.name.clone()).or_default() += 1;
        }
        for member in members.values_mut().filter(|node| times[&node.name] > 1) {
            member.name = other_name(member).unwrap_or_else(|| member.id.clone());
        }
    }
}

/// The claim with the highest epoch wins a slot.
fn owner_of_slots(members: &BTreeMap<String, Member>) -> Vec<Option<Id>> {
    let mut by_epoch: Vec<&Member> = members
        .values()
        .filter(|member| !member.slots.is_empty())
        .collect();
    by_epoch.sort_by_key(|member| member.epoch);
    let mut owner = vec![None; SLOTS];
    for (at, member) in by_epoch.iter().enumerate() {
        for (first, last) in &member.slots {
            owner[usize::from(*first)..=usize::from(*last)].fill(Some(at));
        }
    }
    let ids: Vec<Id> = by_epoch.iter().map(|node| Id::from(&*node.id)).collect();
    let id = |at: Option<usize>| at.map(|at| Arc::clone(&ids[at]));
    owner.into_iter().map(id).collect()
}

fn owners(owner: &[Option<Id>]) -> Vec<Id> {
    let mut known = BTreeSet::new();
    let new = owner.iter().flatten().filter(|owner| known.insert(*owner));
    new.cloned().collect()
}
