//! Client endpoints of nodes: from CLUSTER SHARDS, else CLUSTER SLOTS, which have preferred endpoints and TLS ports.
//! Anything missing there is taken from CLUSTER NODES.

use std::collections::HashMap;

use slotscope_base::error::Result;
use slotscope_base::host;

use crate::address::Address;
use crate::connection::Connection;
use crate::resp::Reply;

/// Addresses by node id.
pub(crate) type Endpoints = HashMap<String, Address>;

/// The nodes' addresses according to the server.
///
/// # Errors
/// The server does not answer.
pub(crate) fn ask(connection: &mut Connection, asked: &Address, tls: bool) -> Result<Endpoints> {
    let shards = connection.ask("CLUSTER SHARDS", &[b"CLUSTER", b"SHARDS"])?;
    if let Reply::Array(shards) = &shards {
        return Ok(of_shards(shards, asked, tls));
    }
    // Before Redis 7.0: services put host names here that certificates are for, and not in CLUSTER NODES.
    let slots = connection.ask("CLUSTER SLOTS", &[b"CLUSTER", b"SLOTS"])?;
    match &slots {
        Reply::Array(entries) => Ok(of_slots(entries, asked)),
        _ => Ok(Endpoints::new()),
    }
}

fn of_shards(shards: &[Reply], asked: &Address, tls: bool) -> Endpoints {
    let nodes = shards
        .iter()
        .filter_map(|shard| shard.field("nodes")?.items());
    let ports: [&str; 2] = if tls {
        ["tls-port", "port"]
    } else {
        ["port", "tls-port"]
    };
    let endpoint = |node: &Reply| {
        let port = ports
            .into_iter()
            .find_map(|name| node.field(name)?.number());
        let host = node.field("endpoint").and_then(text);
        Some((text(node.field("id")?)?, address(host, port?, asked)?))
    };
    nodes.flatten().filter_map(endpoint).collect()
}

/// `[first, last, [endpoint, port, id, ...], ...]` each.
fn of_slots(entries: &[Reply], asked: &Address) -> Endpoints {
    let nodes = entries.iter().filter_map(|entry| entry.items()?.get(2..));
    let endpoint = |node: &Reply| {
        let [host, port, id, ..] = node.items()? else {
            return None;
        };
        Some((text(id)?, address(text(host), port.number()?, asked)?))
    };
    nodes.flatten().filter_map(endpoint).collect()
}

/// An empty endpoint means the address used for asking; `?` is unknown, and so is what no host has.
fn address(host: Option<String>, port: u64, asked: &Address) -> Option<Address> {
    let port = u16::try_from(port).ok().filter(|port| *port > 0)?;
    match (host.as_deref(), asked) {
        (None | Some(""), Address::Tcp(host, _)) => Some(Address::Tcp(host.clone(), port)),
        (None | Some(""), Address::Unix(_)) => None,
        (Some(text), _) => Some(Address::Tcp(host::host(text)?.to_owned(), port)),
    }
}

fn text(reply: &Reply) -> Option<String> {
    String::from_utf8(reply.text()?.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t(text: &str) -> Reply {
        Reply::Text(text.as_bytes().to_vec())
    }

    fn asked() -> Address {
        Address::Tcp("10.9.9.9".into(), 1)
    }

    #[test]
    fn shards_have_endpoints_and_ports_of_both_kinds() {
        let node = |id: &str, endpoint: Reply| {
            let port = [t("port"), Reply::Int(7000), t("tls-port"), Reply::Int(7443)];
            let named = [t("id"), t(id), t("endpoint"), endpoint];
            Reply::Array(named.into_iter().chain(port).collect())
        };
        let nodes = vec![node("a", t("h1")), node("b", Reply::Nil), node("c", t("?"))];
        let shards = [Reply::Array(vec![
            t("slots"),
            Reply::Array(vec![]),
            t("nodes"),
            Reply::Array(nodes),
        ])];
        let found = of_shards(&shards, &asked(), false);
        assert_eq!(found["a"], Address::parse("h1:7000").unwrap());
        assert_eq!(found["b"], Address::parse("10.9.9.9:7000").unwrap());
        assert!(!found.contains_key("c"));
        assert_eq!(
            of_shards(&shards, &asked(), true)["a"],
            Address::parse("h1:7443").unwrap()
        );
    }

    #[test]
    fn entries_of_slots_list_the_primary_and_its_replicas() {
        let node = |id: &str, host: &str| {
            Reply::Array(vec![t(host), Reply::Int(7000), t(id), Reply::Array(vec![])])
        };
        let entry = Reply::Array(vec![
            Reply::Int(0),
            Reply::Int(9),
            node("a", ""),
            node("b", "h2"),
        ]);
        let found = of_slots(&[entry, Reply::Nil], &asked());
        assert_eq!(found["a"], Address::parse("10.9.9.9:7000").unwrap());
        assert_eq!(found["b"], Address::parse("h2:7000").unwrap());
    }
}
