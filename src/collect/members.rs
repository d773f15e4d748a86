//! The members of a cluster as one of them lists them: CLUSTER NODES with what a collection needs of it, the epochs, who
//! replicates whom, and the slots on their way.

use crate::collect::address::Address;
use crate::collect::manifest::Role;
use crate::slot::SLOTS;
use crate::topology::ranges;

/// The longest id or host that is taken.
const MAX_NAME: usize = 255;
/// More members than any cluster has.
pub const MAX_MEMBERS: usize = 10_000;

/// A member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its id.
    pub id: String,
    /// `host:port`.
    pub name: String,
    /// Where it is reached; `None` where the listing does not say.
    pub address: Option<Address>,
    /// Whether it is the node that was asked.
    pub is_myself: bool,
    /// What it is.
    pub role: Role,
    /// The primary that it replicates.
    pub primary: Option<String>,
    /// Whether the listing has it as failed, as suspected to be, or as not part of the cluster yet.
    pub failed: bool,
    /// The epoch of its claim to its slots; the highest claim to a slot wins.
    pub epoch: u64,
    /// Its slots as first and last.
    pub slots: Vec<(u16, u16)>,
    /// Slots on their way from or to it; only the node that was asked knows its own.
    pub in_flight: Vec<u16>,
}

/// The member in a line of what the node at `asked` lists; `None` where it is no such line.
pub fn parse(line: &str, asked: &Address) -> Option<Member> {
    let mut fields = line.split_ascii_whitespace();
    let mut next = || fields.next();
    let (id, place, flags, primary) = (next()?, next()?, next()?, next()?);
    let (_ping, _pong, epoch, link) = (next()?, next()?, next()?, next()?);
    if id.len() > MAX_NAME || place.len() > 2 * MAX_NAME || !link.ends_with("connected") {
        return None;
    }
    let has = |flag: &str| flags.split(',').any(|of| of == flag);
    let is_myself = has("myself");
    let (name, address) = place_of(place, asked, is_myself && !has("noaddr"))?;
    let mut member = Member {
        id: id.to_owned(),
        name,
        address: address.filter(|_| !has("noaddr")),
        is_myself,
        role: match has("slave") || has("replica") {
            true => Role::Replica,
            false => Role::Primary,
        },
        primary: Some(primary).filter(|id| *id != "-").map(str::to_owned),
        failed: ["fail", "fail?", "handshake", "noaddr"]
            .into_iter()
            .any(has),
        epoch: epoch.parse().ok()?,
        slots: Vec::new(),
        in_flight: Vec::new(),
    };
    for item in fields {
        match item.strip_prefix('[') {
            Some(item) => {
                let slot = item.split_once(['-', '<', '>'])?.0.parse().ok()?;
                member
                    .in_flight
                    .extend(is_slot(slot).then_some(slot as u16));
            }
            None => {
                let (first, last) = ranges::parse(item)?;
                let is_range = first <= last && is_slot(last);
                member
                    .slots
                    .push(is_range.then_some((first as u16, last as u16))?);
            }
        }
    }
    Some(member)
}

fn is_slot(number: u64) -> bool {
    number < SLOTS as u64
}

/// The name and the address in `ip:port@bus,hostname`; a node that does not know its own is where it was asked.
fn place_of(text: &str, asked: &Address, is_asked: bool) -> Option<(String, Option<Address>)> {
    let mut parts = text.split(',');
    let (ip, port) = parts.next()?.split('@').next()?.rsplit_once(':')?;
    let port: u16 = port.parse().ok()?;
    let hostname = parts.next().unwrap_or_default();
    let host = [hostname, ip].into_iter().find(|host| !host.is_empty());
    let name = match host {
        Some(host) => format!("{host}:{port}"),
        None => asked.to_string(),
    };
    // The node is certainly where it answered; its hostname may not be known here.
    let address = match (is_asked, ip) {
        (true, _) => Some(asked.clone()),
        (false, "") => host.map(|host| Address::Tcp(host.to_owned(), port)),
        (false, ip) => Some(Address::Tcp(ip.to_owned(), port)),
    };
    Some((name, address.filter(|_| port > 0 || is_asked)))
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
