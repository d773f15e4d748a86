//! CLUSTER SLOTS as `redis-cli --json` prints it: ranges with their nodes, the primary first.
//!
//! ```text
//! [[first, last, [endpoint, port, id, {"ip", "hostname"}], [a replica], ...], ...]
//! ```
//! It omits primaries without slots, and servers before 4.0 omit ids.

use serde_json::Value;

use slotscope_engine::error::Result;

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
        claims.owns_also(at, &node.id.clone(), node, range);
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

#[cfg(test)]
mod tests {
    use crate::Topology;

    fn parse(text: &str) -> Topology {
        Topology::parse("slots.json", text.as_bytes()).unwrap()
    }

    #[test]
    fn ranges_of_a_primary_are_gathered_and_replicas_left_out() {
        let topology = parse(
            r#"[[0,5460,["127.0.0.1",7901,"a",{"hostname":"h1"}],["127.0.0.1",7909,"r",{}]],
                [5462,5462,["127.0.0.1",7901,"a",{}]],
                [5461,5461,["h2",7902,"b",{"ip":"10.0.0.2"}]],
                [5463,5463,[null,7903,"c",["ip","","hostname","h3"]]],
                [5464,5464,["?",7904,"d",{"ip":"::1"}]]]"#,
        );
        let found: Vec<_> = topology
            .nodes
            .iter()
            .map(|node| {
                (
                    node.id.as_str(),
                    node.address.as_deref().unwrap(),
                    node.ranges.as_slice(),
                )
            })
            .collect();
        let names: Vec<_> = topology
            .nodes
            .iter()
            .map(|node| node.name().to_string())
            .collect();
        assert_eq!(names, ["h1:7901", "h2:7902", "h3:7903", "::1:7904"]);
        let replicas = topology.nodes.iter().map(|node| node.replicas);
        let expected = [Some(1), Some(0), Some(0), Some(0)];
        assert_eq!(replicas.collect::<Vec<_>>(), expected);
        assert_eq!(
            found,
            [
                ("a", "127.0.0.1:7901", [(0, 5460), (5462, 5462)].as_slice()),
                ("b", "10.0.0.2:7902", &[(5461, 5461)]),
                ("c", "h3:7903", &[(5463, 5463)]),
                ("d", "::1:7904", &[(5464, 5464)]),
            ]
        );
    }

    #[test]
    fn a_server_that_gives_no_ids_has_its_nodes_named_by_address() {
        let topology =
            parse(r#"[[0,9,["10.0.0.1",1]],[10,19,["10.0.0.2",1]],[20,29,["10.0.0.1",1]]]"#);
        assert_eq!(topology.nodes[0].id, "10.0.0.1:1");
        assert_eq!(topology.nodes[0].ranges, [(0, 9), (20, 29)]);
    }

    #[test]
    fn an_entry_that_cannot_be_right_is_named() {
        for (second, expected) in [
            (r#"[10,12]"#, "entry 2: no entry of CLUSTER SLOTS: "),
            (
                r#"[10,12,["h",1,7]]"#,
                "entry 2: no entry of CLUSTER SLOTS: ",
            ),
            (
                r#"[10,12,["h","1","b"]]"#,
                "entry 2: no entry of CLUSTER SLOTS: ",
            ),
            (
                r#"[12,10,["h",1,"b"]]"#,
                "entry 2: slots 12-10 run backwards; ",
            ),
            (
                r#"[10,99999,["h",1,"b"]]"#,
                "entry 2: slots 10-99999 end past 16383, ",
            ),
            (
                r#"[9,12,["h",1,"b"]]"#,
                "entry 2: slot 9 belongs to node \"b\" here and to node \"a\" in entry 1; ",
            ),
        ] {
            let text = format!(r#"[[0,9,["h",1,"a"]],{second}]"#);
            let message = Topology::parse("slots.json", text.as_bytes())
                .unwrap_err()
                .to_string();
            assert!(
                message.starts_with(&format!("slots.json: {expected}")),
                "{second}: {message}"
            );
        }
    }
}
