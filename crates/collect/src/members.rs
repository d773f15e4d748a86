//! The members of a cluster according to one of them: the parts of CLUSTER NODES that a collection needs, including
//! epochs, replication and migrating slots.

use slotscope_base::host::host;
use slotscope_base::slot::SLOTS;
use slotscope_read::source::collection::servers::Role;
use slotscope_topology::node_line::{NodeLine, Slots};

use crate::address::Address;

/// Maximum length of an id or host.
const MAX_NAME: usize = 255;
/// More members than any cluster has.
pub(crate) const MAX_MEMBERS: usize = 10_000;

/// A member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    /// Its id.
    pub id: String,
    /// `host:port`, with the announced hostname if any. Several members may announce the same: `View` makes them
    /// unique.
    pub name: String,
    /// The same with the IP address, if known.
    pub by_ip: Option<String>,
    /// Its address; `None` if not listed.
    pub address: Option<Address>,
    /// Whether it is the node asked.
    pub is_myself: bool,
    /// Its role.
    pub role: Role,
    /// The primary that it replicates.
    pub primary: Option<String>,
    /// Whether it is listed as failed, suspected, or not yet part of the cluster.
    pub failed: bool,
    /// The config epoch of its slots; for each slot the highest one wins.
    pub epoch: u64,
    /// Its slots as first and last.
    pub slots: Vec<(u16, u16)>,
    /// Slots migrating from or to it; nodes only list their own.
    pub in_flight: Vec<u16>,
}

/// Parses a line of the listing from the node at `asked`; `None` if it is not part of a listing.
pub(crate) fn parse(line: &str, asked: &Address) -> Option<Member> {
    let node = NodeLine::parse(line)?;
    if [node.id, node.ip, node.hostname]
        .iter()
        .any(|word| word.len() > MAX_NAME)
    {
        return None;
    }
    let is_myself = node.has("myself");
    let (name, address) = place_of(&node, asked)?;
    let mut member = Member {
        id: node.id.to_owned(),
        name,
        by_ip: host(node.ip).map(|ip| format!("{ip}:{}", node.port)),
        address: address.filter(|_| !node.has("noaddr")),
        is_myself,
        role: if node.is_replica() {
            Role::Replica
        } else {
            Role::Primary
        },
        primary: Some(node.primary)
            .filter(|id| *id != "-")
            .map(str::to_owned),
        failed: ["fail", "fail?", "handshake", "noaddr"]
            .into_iter()
            .any(|flag| node.has(flag)),
        epoch: node.epoch.parse().ok()?,
        slots: Vec::new(),
        in_flight: Vec::new(),
    };
    for slots in node.slots() {
        match slots {
            Slots::Range(first, last) => {
                let is_range = first <= last && is_slot(last);
                member
                    .slots
                    .push(is_range.then_some((first as u16, last as u16))?);
            }
            Slots::InFlight { slot, .. } => member
                .in_flight
                .extend(is_slot(slot).then_some(slot as u16)),
            Slots::Other(_) => return None,
        }
    }
    Some(member)
}

fn is_slot(number: u64) -> bool {
    number < SLOTS as u64
}

/// A node's name and address; a node that does not know its own has the address at which it was queried. One without a
/// host that can be reached is named by its id.
fn place_of(node: &NodeLine<'_>, asked: &Address) -> Option<(String, Option<Address>)> {
    let port = u16::try_from(node.port).ok()?;
    let name = match first_known([node.hostname, node.ip]) {
        Some(host) => format!("{host}:{port}"),
        None if node.has("myself") => asked.to_string(),
        None => node.id.to_owned(),
    };
    // The node is certainly where it answered; its hostname may not resolve here.
    if node.has("myself") && !node.has("noaddr") {
        return Some((name, Some(asked.clone())));
    }
    let host = first_known([node.ip, node.hostname]).filter(|_| port > 0);
    Some((name, host.map(|host| Address::Tcp(host.to_owned(), port))))
}

fn first_known(hosts: [&str; 2]) -> Option<&str> {
    hosts.into_iter().find_map(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked() -> Address {
        Address::Tcp("10.9.9.9".into(), 1)
    }

    #[test]
    fn members_have_their_roles_epochs_and_slots_on_their_way() {
        let text = "a 10.0.0.1:7000@17000,h1 myself,master - 0 0 7 connected 0-99 200 [5->-b] [300-<-b]\n\
            b 10.0.0.2:7000@17000 master,fail? - 0 0 3 connected 100-199\r\n\
            c :7000@17000,h3 slave a 0 0 7 disconnected\n\
            d :0@0 master,noaddr - 0 0 0 disconnected\n";
        let members = text.lines().map(|line| parse(line, &asked()).unwrap());
        let [a, b, c, d] = &members.collect::<Vec<_>>()[..] else {
            panic!("{text}")
        };
        assert_eq!(
            (a.name.as_str(), a.address.clone()),
            ("h1:7000", Some(asked()))
        );
        assert_eq!(
            (&a.slots, &a.in_flight, a.epoch),
            (&vec![(0, 99), (200, 200)], &vec![5, 300], 7)
        );
        assert_eq!(
            (b.failed, b.address.clone()),
            (true, Address::parse("10.0.0.2:7000"))
        );
        assert_eq!((c.role, c.primary.as_deref()), (Role::Replica, Some("a")));
        assert_eq!(c.address, Address::parse("h3:7000"));
        assert_eq!((d.address.clone(), d.failed), (None, true));
    }

    #[test]
    fn a_lone_member_is_where_it_was_asked() {
        let line = "a :7911@17911 myself,master - 0 0 0 connected 0-16383";
        let member = parse(line, &asked()).unwrap();
        assert_eq!(
            (member.name.as_str(), member.address.clone()),
            ("10.9.9.9:1", Some(asked()))
        );
    }

    #[test]
    fn a_member_that_cannot_be_reached_is_named_by_its_id() {
        for place in [
            "?:7000@17000",
            ":7000@17000",
            "$(x):7000@1,x;touch${IFS}PWN;#",
        ] {
            let line = format!("a {place} master - 0 0 0 connected 0-16383");
            let member = parse(&line, &asked()).unwrap();
            assert_eq!(
                (member.name.as_str(), member.address),
                ("a", None),
                "{place}"
            );
        }
        let line = "a 10.0.0.1:7000@1,x;# master - 0 0 0 connected";
        assert_eq!(parse(line, &asked()).unwrap().name, "10.0.0.1:7000");
    }

    #[test]
    fn what_is_no_listing_is_refused() {
        for text in [
            "",
            "OK",
            "a b c d e f g h",
            "a h:1@2 master - 0 0 1 connected 16384",
            "a h:1@2 master - 0 0 1 connected 9-5",
        ] {
            assert_eq!(parse(text, &asked()), None, "{text}");
        }
    }
}
