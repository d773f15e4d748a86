//! CLUSTER SHARDS as `redis-cli --json` prints it: a shard is a primary with its replicas.
//!
//! ```text
//! [{"slots": [first, last, ...], "nodes": [{"id", "port" or "tls-port", "ip", "endpoint", "hostname", "role", "health"}]}]
//! ```

use serde_json::Value;

use slotscope_engine::error::Result;

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
        claims.owns(at, id, place, ranges)?;
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

#[cfg(test)]
mod tests {
    use crate::Topology;

    fn parse(text: &str) -> Topology {
        Topology::parse("shards.json", text.as_bytes()).unwrap()
    }

    fn error(text: &str) -> String {
        Topology::parse("shards.json", text.as_bytes())
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn maps_as_objects_or_as_flat_arrays_of_an_older_protocol_are_the_same() {
        let objects = r#"[{"slots":[10,20,30,30],"nodes":[
            {"id":"r","port":7903,"ip":"10.0.0.3","endpoint":"10.0.0.3","role":"replica","health":"online"},
            {"id":"b","port":7902,"ip":"10.0.0.2","endpoint":"h2","hostname":"h2","role":"master","health":"online"}]},
          {"slots":[0,9],"nodes":[{"id":"a","tls-port":7901,"ip":"","endpoint":"?","hostname":"h1","role":"master","health":"fail"}]},
          {"slots":[],"nodes":[{"id":"c","port":7904,"ip":"::1","endpoint":"::1","role":"master","health":"online"}]}]"#;
        let arrays = r#"[["slots",[0,9],"nodes",[["id","a","tls-port",7901,"ip","","endpoint",null,"hostname","h1","role","master","health","fail"]]],
          ["slots",[10,20,30,30],"nodes",[["id","r","port",7903,"ip","10.0.0.3","role","replica"],["id","b","port",7902,"ip","10.0.0.2","hostname","h2","role","master","health","online"]]],
          ["slots",[],"nodes",[["id","c","port",7904,"ip","::1","role","master","health","online"]]]]"#;
        let topology = parse(objects);
        assert_eq!(topology, parse(arrays));
        let found: Vec<_> = topology
            .nodes
            .iter()
            .map(|node| (node.name().to_string(), node.failed, node.slots))
            .collect();
        assert_eq!(
            found,
            [
                ("h1:7901".into(), true, 10),
                ("h2:7902".into(), false, 12),
                ("::1:7904".into(), false, 0)
            ]
        );
        assert_eq!(topology.nodes[1].address.as_deref(), Some("10.0.0.2:7902"));
        let replicas = topology.nodes.iter().map(|node| node.replicas);
        assert_eq!(replicas.collect::<Vec<_>>(), [Some(0), Some(1), Some(0)]);
    }

    #[test]
    fn after_a_failover_the_primary_that_is_up_has_the_slots() {
        let topology = parse(
            r#"[{"slots":[0,16383],"nodes":[{"id":"old","port":1,"ip":"h","role":"master","health":"fail"},
                {"id":"new","port":2,"ip":"h","role":"master","health":"online"},
                {"id":"r","port":3,"ip":"h","role":"replica","health":"online"},
                {"id":"s","port":4,"ip":"h","role":"replica","health":"loading"}]}]"#,
        );
        let found: Vec<_> = topology
            .nodes
            .iter()
            .map(|node| (node.id.as_str(), node.slots))
            .collect();
        assert_eq!(found, [("new", 16384), ("old", 0)]);
        assert_eq!(topology.nodes[0].replicas, Some(1));
    }

    #[test]
    fn a_shard_that_cannot_be_right_is_named() {
        let good = r#"{"slots":[0,9],"nodes":[{"id":"a","port":1,"ip":"h","role":"master","health":"online"}]}"#;
        for (second, expected) in [
            (
                r#"{"slots":[9,12],"nodes":[{"id":"b","role":"master"}]}"#,
                "shard 2: slot 9 belongs to node \"b\" here",
            ),
            (
                r#"{"slots":[10],"nodes":[{"id":"b","role":"master"}]}"#,
                "shard 2: slots that are not pairs",
            ),
            (
                r#"{"slots":[12,10],"nodes":[{"id":"b","role":"master"}]}"#,
                "shard 2: slots 12-10 run backwards",
            ),
            (
                r#"{"slots":[10,16384],"nodes":[{"id":"b","role":"master"}]}"#,
                "shard 2: slots 10-16384 end past 16383",
            ),
            (
                r#"{"slots":[-1,10],"nodes":[{"id":"b","role":"master"}]}"#,
                "shard 2: slots that are not pairs",
            ),
            (
                r#"{"slots":[10,11],"nodes":[{"id":"b","role":"replica"}]}"#,
                "shard 2: slots but no primary",
            ),
            (
                r#"{"slots":[10,11],"nodes":[{"role":"master"}]}"#,
                "shard 2: a node without an id",
            ),
            (
                r#"{"slots":[10,11],"nodes":[{"id":"a","role":"master"}]}"#,
                "shard 2: node \"a\" owns 10-11 here and 0-9",
            ),
            (r#"{"nodes":[]}"#, "shard 2: neither CLUSTER SHARDS"),
            ("7", "shard 2: neither CLUSTER SHARDS"),
        ] {
            let message = error(&format!("[{good},{second}]"));
            assert!(
                message.starts_with(&format!("shards.json: {expected}")),
                "{second}: {message}"
            );
        }
    }
}
