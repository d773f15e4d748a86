//! The claims of a listing about its primaries, independent of its format: claims are checked one by one and yield a
//! `Topology`, or an error naming the two claims that contradict each other.

use std::collections::{HashMap, HashSet};

use slotscope_base::error::{Error, Result};
use slotscope_base::host::host;
use slotscope_base::name::Name;
use slotscope_base::sentence::Sentence;
use slotscope_base::slot::SLOTS;

use crate::{InFlight, MAKE_ONE, NO_NODE, Node, Topology, ranges};

/// The suggested fix for contradicting claims.
const KEEP_ONE: &str = "keep the listing of one node only, taken when no failover is under way";

/// Maximum bytes of an id or address: an id has 40, a host name at most 253.
const MAX_NAME: usize = 300;

/// The claims of one listing.
pub(super) struct Claims<'a> {
    source: &'a str,
    unit: &'static str, // what the listing is made of: line, shard, entry
    claims: Vec<Claim>,
    by_id: HashMap<String, usize>,
    in_flight: Vec<InFlight>,
    /// Replicas that have not failed, as (primary id, replica id).
    followers: HashSet<(String, String)>,
}

/// One primary, with the number (from 1) of the unit that first named it.
struct Claim {
    at: usize,
    node: Node,
}

impl Node {
    /// A node at `ip` and `port`, or at the hostname if the ip is unknown; "" means unknown.
    pub(super) fn listed(ip: &str, hostname: &str, port: u64) -> Self {
        let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Node {
            address: address(ip, hostname, port),
            hostname: known(hostname),
            ..Node::default()
        }
    }

    /// Merges what another unit of the listing knows.
    fn learn(&mut self, other: Node) {
        // A node that does not know its own ip lists itself as ":port"; other nodes know it.
        let is_vague = |known: &String| known.starts_with(':');
        if self.address.as_ref().is_none_or(is_vague) && other.address.is_some() {
            self.address = other.address;
        }
        self.hostname = self.hostname.take().or(other.hostname);
        self.failed |= other.failed;
        self.suspected |= other.suspected;
    }

    fn longest_name(&self) -> usize {
        let names = [
            Some(&self.id),
            self.address.as_ref(),
            self.hostname.as_ref(),
        ];
        names
            .into_iter()
            .flatten()
            .map(String::len)
            .max()
            .unwrap_or(0)
    }
}

impl<'a> Claims<'a> {
    pub(super) fn new(source: &'a str, unit: &'static str) -> Self {
        Claims {
            source,
            unit,
            claims: Vec::new(),
            by_id: HashMap::new(),
            in_flight: Vec::new(),
            followers: HashSet::new(),
        }
    }

    /// An error in unit `at`.
    pub(super) fn bad(&self, at: usize, reason: impl Into<Sentence>) -> Error {
        Error::bad(
            format!("{}: {} {at}", Name::from(self.source), self.unit),
            reason,
        )
    }

    /// Primary `id` owns `ranges` in addition to the slots listed so far. Listings of several nodes in one file repeat
    /// each other, which is fine as long as no slot has two owners.
    pub(super) fn owns(&mut self, at: usize, id: &str, node: Node, ranges: Vec<(u16, u16)>) {
        let next = self.claims.len();
        let index = *self.by_id.entry(id.to_owned()).or_insert(next);
        if index == next {
            let id = id.to_owned();
            let node = Node {
                id,
                ..Node::default()
            };
            self.claims.push(Claim { at, node });
        }
        let known = &mut self.claims[index].node;
        known.learn(node);
        known.ranges.extend(ranges);
    }

    /// Node `id`, which has not failed, replicates `primary`; other listings in the file may repeat it.
    pub(super) fn follows(&mut self, primary: &str, id: &str) {
        if primary.len().max(id.len()) <= MAX_NAME {
            self.followers.insert((primary.to_owned(), id.to_owned()));
        }
    }

    /// Slot `slot` is migrating; both ends may report it.
    pub(super) fn moves(&mut self, slot: u16, from: &str, to: &str) {
        self.in_flight.push(InFlight {
            slot,
            from: from.to_owned(),
            to: to.to_owned(),
        });
    }

    /// The range from `first` to `last`, as given by unit `at`.
    pub(super) fn range(&self, at: usize, first: u64, last: u64) -> Result<(u16, u16)> {
        if first.max(last) >= SLOTS as u64 {
            return Err(self.bad(
                at,
                format!("slots {first}-{last} end past 16383, the last slot; {MAKE_ONE}"),
            ));
        }
        if first > last {
            return Err(self.bad(
                at,
                format!("slots {first}-{last} run backwards; {MAKE_ONE}"),
            ));
        }
        Ok((first as u16, last as u16))
    }

    /// Checks all claims together.
    pub(super) fn settle(mut self) -> Result<Topology> {
        // A report repeats a node's name for each of its slots: a giant name would fill the disk.
        let is_long = |claim: &&Claim| claim.node.longest_name() > MAX_NAME;
        if let Some(long) = self.claims.iter().find(is_long) {
            let reason = format!(
                "the name of node {} is longer than {MAX_NAME} bytes; {MAKE_ONE}",
                quoted(&long.node.id)
            );
            return Err(self.bad(long.at, reason));
        }
        let mut followers: HashMap<&str, u32> = HashMap::new();
        for (primary, _) in &self.followers {
            *followers.entry(primary).or_default() += 1;
        }
        for Claim { node, .. } in &mut self.claims {
            node.ranges = merged(std::mem::take(&mut node.ranges));
            node.slots = ranges::slots(&node.ranges).count() as u32;
            node.suspected &= !node.failed;
            node.replicas = Some(followers.get(&*node.id).copied().unwrap_or(0));
        }
        let first = |claim: &Claim| claim.node.ranges.first().map(|first| first.0);
        self.claims
            .sort_by_key(|claim| first(claim).unwrap_or(u16::MAX));
        if self.claims.first().and_then(first).is_none() {
            let state = if self.claims.is_empty() {
                "no primary in it"
            } else {
                "none of its primaries owns a slot"
            };
            let reason = format!(
                "{state}; ask a node that is part of the cluster: redis-cli -h HOST -p PORT CLUSTER NODES"
            );
            return Err(Error::bad_file(self.source, reason));
        }
        let mut owner = vec![NO_NODE; SLOTS].into_boxed_slice();
        for (index, claim) in self.claims.iter().enumerate() {
            for slot in ranges::slots(&claim.node.ranges) {
                let entry = &mut owner[usize::from(slot)];
                if *entry != NO_NODE {
                    return Err(self.contested(slot, claim, &self.claims[usize::from(*entry)]));
                }
                *entry = index as u16; // below SLOTS: nodes with slots come first, and each has at least one
            }
        }
        self.in_flight.sort();
        self.in_flight.dedup();
        let source = self.source.to_owned();
        let claims = self.claims.into_iter();
        let mut nodes: Vec<Node> = claims.map(|claim| claim.node).collect();
        tell_apart(&mut nodes);
        Ok(Topology {
            source,
            nodes,
            in_flight: self.in_flight,
            owner,
        })
    }

    fn contested(&self, slot: u16, claim: &Claim, rival: &Claim) -> Error {
        let (first, second) = if claim.at < rival.at {
            (claim, rival)
        } else {
            (rival, claim)
        };
        let (unit, at) = (self.unit, first.at);
        let (first, here) = (quoted(&first.node.id), quoted(&second.node.id));
        let reason = format!(
            "slot {slot} belongs to node {here} here and to node {first} in {unit} {at}; {KEEP_ONE}"
        );
        self.bad(second.at, reason)
    }
}

/// Drops names shared by several nodes, hostnames before addresses: all nodes of a load balancer may announce the
/// same one, which reaches none of them in particular.
fn tell_apart(nodes: &mut [Node]) {
    let drop_name: [fn(&mut Node); 2] = [|node| node.hostname = None, |node| node.address = None];
    for drop_name in drop_name {
        let mut times = HashMap::<Name, u32>::new();
        for node in &*nodes {
            *times.entry(node.name()).or_default() += 1;
        }
        let repeats = nodes.iter_mut().filter(|node| times[&node.name()] > 1);
        repeats.for_each(drop_name);
    }
}

/// `ip:port`, or `hostname:port` if the ip is unknown, or the port alone; `None` if nothing can be reached there.
fn address(ip: &str, hostname: &str, port: u64) -> Option<String> {
    match (ip, hostname) {
        ("", _) if port == 0 => None,
        ("", "") => Some(format!(":{port}")),
        _ => [ip, hostname]
            .into_iter()
            .find_map(host)
            .map(|host| format!("{host}:{port}")),
    }
}

/// A piece of the listing, escaped and shortened for an error line.
pub(super) fn quoted(text: &str) -> String {
    const SHOWN: usize = 60; // characters: a node id has 40
    format!(
        "\"{}\"",
        slotscope_base::text::name(&Name::from(text), SHOWN)
    )
}

/// Merges ranges into ascending ones that neither overlap nor touch.
fn merged(mut ranges: Vec<(u16, u16)>) -> Vec<(u16, u16)> {
    ranges.sort_unstable();
    let mut merged: Vec<(u16, u16)> = Vec::new();
    for (first, last) in ranges {
        match merged.last_mut() {
            Some(before) if first <= before.1 + 1 => before.1 = before.1.max(last),
            _ => merged.push((first, last)),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_or_overlap_become_one() {
        assert_eq!(
            merged(vec![(7, 9), (0, 3), (4, 4), (8, 12), (14, 14)]),
            [(0, 4), (7, 12), (14, 14)]
        );
        assert_eq!(merged(vec![(0, 16383), (16383, 16383)]), [(0, 16383)]);
    }

    #[test]
    fn a_node_named_twice_owns_the_slots_of_both_times() {
        let mut claims = Claims::new("x", "line");
        claims.owns(1, "a", Node::listed("", "", 7000), vec![(0, 3), (4, 8)]);
        let place = Node {
            failed: true,
            ..Node::listed("", "h", 7000)
        };
        claims.owns(2, "a", place, vec![(0, 7), (9, 9)]);
        let node = claims.settle().unwrap().nodes.remove(0);
        assert_eq!(node.ranges, [(0, 9)]);
        assert_eq!(
            (
                node.address.as_deref(),
                node.hostname.as_deref(),
                node.failed
            ),
            (Some("h:7000"), Some("h"), true),
            "what any listing knows"
        );
    }

    #[test]
    fn a_giant_name_is_refused() {
        let mut claims = Claims::new("test", "line");
        claims.owns(3, &"a".repeat(MAX_NAME + 1), Node::default(), vec![(0, 9)]);
        let message = claims.settle().unwrap_err().to_string();
        assert!(
            message.starts_with("test: line 3: the name of node") && message.len() < 300,
            "{message}"
        );
    }

    #[test]
    fn a_long_piece_of_the_listing_is_cut_in_an_error() {
        assert_eq!(quoted(&"é".repeat(61)), format!("\"{}…\"", "é".repeat(59)));
    }
}
