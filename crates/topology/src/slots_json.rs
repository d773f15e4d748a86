//! CLUSTER SLOTS as `redis-cli --json` prints it: ranges with their nodes, the primary first.
//!
//! ```text
//! [[first, last, [endpoint, port, id, {"ip", "hostname"}], [a replica], ...], ...]
//! ```
//! It omits primaries without slots, and servers before 4.0 omit ids.

use serde_json::Value;

use slotscope_base::error::Result;

use crate::claims::Claims;
use crate::{MAKE_ONE, Node, Topology, known_text, text_field};

/// Parses the entries in file `source`.
pub(super) fn read(source: &str, entries: &[Value]) -> Result<Topology> {
    let mut claims = Claims::new(source, "entry");
    for (i, entry) in entries.iter().enumerate() {
        let at = i + 1;
        let Some((first, last, node, replicas)) = parse(entry) else {
            let reason = "no entry of CLUSTER SLOTS: first slot, last slot, then its primary as endpoint, port and id";
            return Err(claims.bad(at, format!("{reason}; {MAKE_ONE}")));
        };
        let range = claims.range(at, first, last)?;
        // Servers omit failed replicas.
        for replica in replicas {
            claims.follows(&node.id, &replica.id);
        }
        claims.owns(at, &node.id.clone(), node, vec![range]);
    }
    claims.settle()
}

fn parse(entry: &Value) -> Option<(u64, u64, Node, Vec<Node>)> {
    let [first, last, primary, replicas @ ..] = entry.as_array()?.as_slice() else {
        return None;
    };
    let replicas = replicas.iter().filter_map(listed).collect();
    Some((first.as_u64()?, last.as_u64()?, listed(primary)?, replicas))
}

fn listed(node: &Value) -> Option<Node> {
    let [endpoint, port, rest @ ..] = node.as_array()?.as_slice() else {
        return None;
    };
    // The endpoint is the address for clients: the ip with the hostname in the metadata, or vice versa.
    let meta = rest.get(1).unwrap_or(&Value::Null);
    let endpoint = known_text(endpoint);
    let (ip, hostname) = match (text_field(meta, "ip"), text_field(meta, "hostname")) {
        ("", hostname) if endpoint == hostname => ("", hostname),
        ("", hostname) => (endpoint, hostname),
        (ip, "") if endpoint != ip => (ip, endpoint),
        (ip, hostname) => (ip, hostname),
    };
    let listed = Node::listed(ip, hostname, port.as_u64()?);
    let id = match rest.first() {
        Some(id) => id.as_str()?.to_owned(),
        None => listed.address.clone()?,
    };
    Some(Node { id, ..listed })
}
