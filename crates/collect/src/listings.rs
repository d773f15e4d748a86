//! Folds the CLUSTER NODES replies of all primaries into one view as they arrive: a node is authoritative about itself,
//! and for claims about others the highest epoch wins. Memory is that of one listing, however many primaries there are.

use std::collections::{BTreeMap, HashMap, HashSet};

use slotscope_base::error::{Error, Result};
use slotscope_base::slot::SLOTS;
use slotscope_read::source::collection::servers::Role;

use crate::address::Address;
use crate::cluster::View;
use crate::connection::NONSENSE;
use crate::members::{self, MAX_MEMBERS, Member};

/// Maximum slot claims of all members: each slot has one owner, and a few past or future ones.
const MAX_CLAIMS: usize = 8 * SLOTS;

/// The listings so far.
#[derive(Default)]
pub(crate) struct Listings {
    of_others: HashMap<String, Member>,
    of_themselves: HashMap<String, Member>,
    /// Number of slot ranges and migrating slots in these.
    claims: usize,
    /// The listing of the primary with the smallest id.
    text: Option<(String, String)>,
    silent: BTreeMap<String, String>,
    last: Option<Error>,
}

impl Listings {
    /// Adds the reply of node `id` at `asked`.
    ///
    /// # Errors
    /// The rule that the reply breaks; it then has no effect.
    pub(crate) fn add(
        &mut self,
        id: &str,
        asked: &Address,
        text: String,
    ) -> std::result::Result<(), &'static str> {
        let members = self.members_in(&text, asked)?;
        members.into_iter().for_each(|member| self.keep(member));
        if self.text.as_ref().is_none_or(|(least, _)| *id < **least) {
            self.text = Some((id.to_owned(), with_own_host(text, asked)));
        }
        Ok(())
    }

    /// Records that node `id` did not answer.
    pub(crate) fn fail(&mut self, id: String, error: Error) {
        self.silent.insert(id, error.to_string());
        self.last = Some(error);
    }

    /// The members in a listing, or the rule that it breaks.
    fn members_in(
        &self,
        text: &str,
        asked: &Address,
    ) -> std::result::Result<Vec<Member>, &'static str> {
        let (mut members, mut claims, mut unheard) = (Vec::new(), self.claims, 0);
        let mut ids = HashSet::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let member = members::parse(line, asked).ok_or(NONSENSE)?;
            claims += member.claims();
            unheard += usize::from(!self.of_others.contains_key(&member.id));
            if self.of_others.len() + unheard > MAX_MEMBERS {
                return Err("lists more than 10,000 members, which no cluster has");
            }
            if claims > MAX_CLAIMS {
                return Err("lists more ranges of slots than a cluster has");
            }
            // One of two would be lost here.
            if !ids.insert(member.id.clone()) {
                return Err("lists two members with one id");
            }
            members.push(member);
        }
        if members.is_empty() {
            return Err(NONSENSE);
        }
        Ok(members)
    }

    fn keep(&mut self, member: Member) {
        let members = if member.is_myself {
            &mut self.of_themselves
        } else {
            &mut self.of_others
        };
        match members.get_mut(&member.id) {
            None => {
                self.claims += member.claims();
                members.insert(member.id.clone(), member);
            }
            Some(known) if known.rank() < member.rank() => {
                self.claims = self.claims + member.claims() - known.claims();
                *known = member;
            }
            Some(_) => {}
        }
    }

    /// The combined view.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn into_view(self) -> Result<View> {
        let Some((_, text)) = self.text else {
            let reason = "no primary is listed; name a node of the cluster";
            return Err(self
                .last
                .unwrap_or_else(|| Error::bad("CLUSTER NODES", reason)));
        };
        let mut members: BTreeMap<String, Member> = self.of_others.into_iter().collect();
        // A node's address for itself may be the one used for asking.
        members.extend(self.of_themselves);
        Ok(View::new(text, members, self.silent))
    }
}

impl Member {
    /// Ranks two nodes' claims about a member: the higher one wins. Independent of the order of listings, so that the
    /// view is deterministic.
    fn rank(&self) -> (u64, bool, bool, &[(u16, u16)], &str) {
        let is_replica = self.role == Role::Replica;
        (
            self.epoch,
            is_replica,
            !self.failed,
            &self.slots,
            &self.name,
        )
    }

    fn claims(&self) -> usize {
        self.slots.len() + self.in_flight.len()
    }
}

/// Fills in the host of the node that wrote a listing: before it meets another node it does not know its own.
fn with_own_host(text: String, asked: &Address) -> String {
    let Address::Tcp(host, _) = asked else {
        return text;
    };
    let is_without = |line: &&str| {
        let mut words = line.split(' ').skip(1);
        let is_here = words.next().is_some_and(|place| place.starts_with(':'));
        is_here
            && words
                .next()
                .is_some_and(|flags| flags.split(',').any(|flag| flag == "myself"))
    };
    match text.lines().find(is_without) {
        Some(line) => {
            let filled = line.replacen(" :", &format!(" {host}:"), 1);
            text.replacen(line, &filled, 1)
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(listings: &[(&str, Option<&str>)]) -> Result<View> {
        let asked = Address::Tcp("h".into(), 1);
        let mut all = Listings::default();
        for (id, text) in listings {
            match text {
                Some(text) => all.add(id, &asked, (*text).to_owned()).unwrap(),
                None => all.fail((*id).into(), Error::bad("x", "no answer")),
            }
        }
        all.into_view()
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
        assert_eq!(view.slots_of("b").ranges(), [(9, 19)]);
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

    #[test]
    fn the_order_of_the_listings_does_not_matter() {
        let listing = |id: &str, slots: &str| {
            let me = format!("{id} h:1@2 myself,master - 0 0 1 connected");
            (
                id.to_owned(),
                format!("{me}\nx h:9@2 master - 0 0 7 connected {slots}\n"),
            )
        };
        let mut listings = [listing("a", "1-5"), listing("b", "2-6"), listing("c", "0")];
        let mut views = Vec::new();
        for _ in 0..listings.len() {
            listings.rotate_left(1);
            let asked = listings.iter().map(|(id, text)| (&**id, Some(&**text)));
            let view = heard(&asked.collect::<Vec<_>>()).unwrap();
            views.push((view.slots_of("x").ranges(), view.text, view.members));
        }
        assert!(views.windows(2).all(|two| two[0] == two[1]), "{views:?}");
    }

    #[test]
    fn more_members_or_claims_than_clusters_have_are_no_listing() {
        let asked = Address::Tcp("h".into(), 1);
        let lines = |from: usize, to: usize, slots: &str| -> String {
            let line = |i| format!("n{i} h:{i}@2 master - 0 0 1 connected{slots}\n");
            (from..to).map(line).collect()
        };
        let mut all = Listings::default();
        let why = |added: std::result::Result<(), &'static str>| added.unwrap_err();
        let many = "lists more than 10,000 members, which no cluster has";
        assert_eq!(
            why(all.add("a", &asked, lines(0, MAX_MEMBERS + 1, ""))),
            many
        );
        all.add("a", &asked, lines(0, MAX_MEMBERS, "")).unwrap();
        let one_more = lines(MAX_MEMBERS, MAX_MEMBERS + 1, "");
        assert_eq!(why(all.add("a", &asked, one_more)), many);
        let ranges = " 0 2 4 6 8".repeat(2 * SLOTS / 5);
        let added = Listings::default().add("a", &asked, lines(0, 100, &ranges));
        assert_eq!(why(added), "lists more ranges of slots than a cluster has");
    }

    #[test]
    fn two_members_with_one_id_are_no_listing() {
        let asked = Address::Tcp("h".into(), 1);
        let two = |id: &str| {
            format!(
                "a h:1@2 myself,master - 0 0 1 connected 0-8191\n\
                 {id} h:2@2 master - 0 0 2 connected 8192-16383\n"
            )
        };
        Listings::default().add("a", &asked, two("b")).unwrap();
        let added = Listings::default().add("a", &asked, two("a"));
        assert_eq!(added, Err("lists two members with one id"));
    }

    #[test]
    fn a_node_that_met_no_other_is_where_it_was_asked() {
        let asked = Address::Tcp("10.0.0.7".into(), 7391);
        let line = |place: &str| {
            format!("a1 {place}:7391@17391 myself,master - 0 0 1 connected 0-16383\n")
        };
        assert_eq!(with_own_host(line(""), &asked), line("10.0.0.7"));
        assert_eq!(with_own_host(line("10.1.1.1"), &asked), line("10.1.1.1"));
        let other = "b2 :0@0 master,noaddr - 0 0 2 disconnected\n".to_owned();
        assert_eq!(with_own_host(other.clone(), &asked), other);
    }
}
