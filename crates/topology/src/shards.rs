//! CLUSTER SHARDS as `redis-cli --json` prints it: a shard is a primary with its replicas.
//!
//! ```text
//! [{"slots": [first, last, ...], "nodes": [{"id", "port" or "tls-port", "ip", "endpoint", "hostname", "role", "health"}]}]
//! ```

use serde_json::Value;

use slotscope_base::error::Result;

use crate::claims::{Claims, quoted};
use crate::{MAKE_ONE, Node, Topology, field, text_field};

/// Parses the shards in file `source`.
pub(super) fn read(source: &str, shards: &[Value]) -> Result<Topology> {
    let mut claims = Claims::new(source, "shard");
    for (i, shard) in shards.iter().enumerate() {
        add(&mut claims, i + 1, shard)?;
    }
    claims.settle()
}

fn add(claims: &mut Claims<'_>, at: usize, shard: &Value) -> Result<()> {
    let list = |name| field(shard, name).and_then(Value::as_array);
    let (Some(bounds), Some(nodes)) = (list("slots"), list("nodes")) else {
        let reason = "neither CLUSTER SHARDS (a shard has slots and nodes) nor CLUSTER SLOTS (an entry begins with a slot)";
        return Err(claims.bad(at, format!("{reason}; {MAKE_ONE}")));
    };
    let mut ranges = Vec::new();
    for pair in bounds.chunks(2) {
        let [Some(first), Some(last)] =
            [pair.first(), pair.get(1)].map(|bound| bound.and_then(Value::as_u64))
        else {
            return Err(claims.bad(
                at,
                format!("slots that are not pairs of first and last; {MAKE_ONE}"),
            ));
        };
        ranges.push(claims.range(at, first, last)?);
    }
    let (mut primaries, mut followers) = (Vec::new(), Vec::new());
    for node in nodes {
        let id = text_field(node, "id");
        if id.is_empty() {
            return Err(claims.bad(at, format!("a node without an id; {MAKE_ONE}")));
        }
        if matches!(text_field(node, "role"), "master" | "primary") {
            primaries.push((id, place(node), text_field(node, "health") == "online"));
        } else {
            // Servers before 7.0.3 omit the health.
            let is_well = matches!(text_field(node, "health"), "online" | "");
            followers.extend(is_well.then_some(id));
        }
    }
    if primaries.is_empty() && !ranges.is_empty() {
        let first = nodes.first().map_or("", |node| text_field(node, "id"));
        let reason = format!(
            "slots but no primary among its nodes, {} and others; {MAKE_ONE}",
            quoted(first)
        );
        return Err(claims.bad(at, reason));
    }
    // After a failover the old primary may be listed next to the new one; only the one that is up owns the slots.
    let owner = primaries
        .iter()
        .position(|(_, _, online)| *online)
        .unwrap_or(0);
    if let Some((primary, ..)) = primaries.get(owner) {
        followers.iter().for_each(|id| claims.follows(primary, id));
    }
    for (i, (id, place, _)) in primaries.into_iter().enumerate() {
        let ranges = if i == owner {
            std::mem::take(&mut ranges)
        } else {
            Vec::new()
        };
        claims.owns(at, id, place, ranges);
    }
    Ok(())
}

/// A disabled port is missing from the reply; the plain port comes first, as in CLUSTER NODES.
fn place(node: &Value) -> Node {
    let port = ["port", "tls-port"]
        .into_iter()
        .find_map(|name| field(node, name).and_then(Value::as_u64));
    let (ip, hostname) = (text_field(node, "ip"), text_field(node, "hostname"));
    let endpoint = if ip.is_empty() {
        text_field(node, "endpoint")
    } else {
        ""
    };
    let hostname = if hostname.is_empty() {
        endpoint
    } else {
        hostname
    };
    Node {
        // The documentation says "failed", the servers say "fail".
        failed: text_field(node, "health").starts_with("fail"),
        ..Node::listed(ip, hostname, port.unwrap_or(0))
    }
}
