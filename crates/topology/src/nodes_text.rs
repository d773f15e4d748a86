//! The output of CLUSTER NODES, and nodes.conf, which has the same lines.

use slotscope_engine::error::Result;

use crate::claims::{Claims, quoted};
use crate::node_line::{NodeLine, Slots};
use crate::{FORMS, MAKE_ONE, Node, Topology};

/// Parses `text`, the listing in file `source`.
pub(super) fn read(source: &str, text: &str) -> Result<Topology> {
    let mut claims = Claims::new(source, "line");
    for (i, line) in text.lines().enumerate() {
        if !is_between_nodes(line) {
            add(&mut claims, i + 1, line)?;
        }
    }
    claims.settle()
}

/// Blank lines, the last line of nodes.conf, and the prompt of a copied session (`host:port> cluster nodes`).
fn is_between_nodes(line: &str) -> bool {
    line.split_ascii_whitespace()
        .next()
        .is_none_or(|first| first == "vars" || first.ends_with('>'))
}

fn add(claims: &mut Claims<'_>, at: usize, line: &str) -> Result<()> {
    let Some(node) = NodeLine::parse(line) else {
        let instead = if line.contains("cluster support disabled") {
            "the server is not in cluster mode: --nodes N shows its keys on N shards"
        } else {
            MAKE_ONE
        };
        let reason = format!("{} is not a line of {FORMS}; {instead}", quoted(line));
        return Err(claims.bad(at, reason));
    };
    let id = node.id;
    let mut place = Node::listed(node.ip, node.hostname, node.port);
    (place.failed, place.suspected) = (node.has("fail"), node.has("fail?"));
    let is_lost = place.failed || node.has("noaddr") || node.has("handshake");
    if node.has("noaddr") {
        place.address = None;
    }
    let mut ranges = Vec::new();
    for slots in node.slots() {
        match slots {
            Slots::Range(first, last) => ranges.push(claims.range(at, first, last)?),
            Slots::InFlight { slot, from, to } => {
                let (slot, _) = claims.range(at, slot, slot)?;
                claims.moves(slot, from, to);
            }
            Slots::Other(word) => {
                let reason = format!(
                    "{} is neither a slot nor a range of slots; {MAKE_ONE}",
                    quoted(word)
                );
                return Err(claims.bad(at, reason));
            }
        }
    }
    if node.is_replica() && !ranges.is_empty() {
        return Err(claims.bad(
            at,
            format!("a replica that owns slots, {}; {MAKE_ONE}", quoted(id)),
        ));
    }
    // A node that owns slots is a primary, even if it has failed. A node in handshake is not part of the cluster yet.
    if node.has("master") || node.has("primary") || !ranges.is_empty() {
        claims.owns(at, id, place, ranges)?;
    } else if node.is_replica() && !is_lost {
        claims.follows(node.primary, id);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InFlight, Node};

    fn node(id: &str, address: Option<&str>, ranges: &[(u16, u16)]) -> Node {
        let slots = ranges
            .iter()
            .map(|(first, last)| u32::from(last - first) + 1)
            .sum();
        Node {
            id: id.to_owned(),
            address: address.map(str::to_owned),
            hostname: None,
            failed: false,
            suspected: false,
            replicas: Some(0),
            ranges: ranges.to_vec(),
            slots,
        }
    }

    fn nodes(text: &str) -> Vec<Node> {
        read("nodes.txt", text).unwrap().nodes
    }

    fn error(text: &str) -> String {
        read("nodes.txt", text).unwrap_err().to_string()
    }

    #[test]
    fn three_primaries_and_three_replicas_as_copied_from_a_session() {
        let text = "127.0.0.1:6379> cluster nodes\r\n\
            9ecc22a32815eb4f769069541279569c36b4b1d9 172.26.0.7:6379@16379 slave cc6e6b899e6f2b90f829aeff9ec36316433258a6 0 1685681651000 2 connected\r\n\
            f36960e21b778e1483237504fbffa2086ede7f4d 172.26.0.4:6379@16379 master - 0 1685681652000 3 connected 10923-16383\r\n\
            cc6e6b899e6f2b90f829aeff9ec36316433258a6 172.26.0.5:6379@16379 master - 0 1685681651976 2 connected 5461-10922\r\n\
            4523ca5ef7bfa6b7a22e39a418e2417204d5f34f 172.26.0.2:6379@16379 slave f36960e21b778e1483237504fbffa2086ede7f4d 0 1685681651000 3 connected\r\n\
            9cc6263d5ea15dcfb8795ce5e19f7844c5958781 172.26.0.3:6379@16379 slave 5bb46d5bb5df18a1977260da6183ec1cef9b8b00 0 1685681652984 1 connected\r\n\
            5bb46d5bb5df18a1977260da6183ec1cef9b8b00 172.26.0.6:6379@16379 myself,master - 0 1685681650000 1 connected 0-5460\r\n";
        let followed = |node: Node| Node {
            replicas: Some(1),
            ..node
        };
        let expected = [
            node(
                "5bb46d5bb5df18a1977260da6183ec1cef9b8b00",
                Some("172.26.0.6:6379"),
                &[(0, 5460)],
            ),
            node(
                "cc6e6b899e6f2b90f829aeff9ec36316433258a6",
                Some("172.26.0.5:6379"),
                &[(5461, 10922)],
            ),
            node(
                "f36960e21b778e1483237504fbffa2086ede7f4d",
                Some("172.26.0.4:6379"),
                &[(10923, 16383)],
            ),
        ];
        assert_eq!(nodes(text), expected.map(followed));
    }

    #[test]
    fn nodes_conf_with_hostnames_and_more_after_them() {
        let text = "a 127.0.0.1:7901@17901,,tls-port=0,shard-id=2607 master - 0 0 1 connected 0-1 3 5\n\
            b :7902@17902,h2.example.com,tls-port=0,shard-id=2608 myself,master - 0 0 2 connected 2\n\
            c 10.0.0.3:7903@17903,h3.example.com,shard-id=2609 master - 0 0 2 connected 4 6-16383\n\
            vars currentEpoch 3 lastVoteEpoch 0\n";
        let named = |hostname: &str, node: Node| Node {
            hostname: Some(hostname.to_owned()),
            ..node
        };
        let expected = [
            node("a", Some("127.0.0.1:7901"), &[(0, 1), (3, 3), (5, 5)]),
            named(
                "h2.example.com",
                node("b", Some("h2.example.com:7902"), &[(2, 2)]),
            ),
            named(
                "h3.example.com",
                node("c", Some("10.0.0.3:7903"), &[(4, 4), (6, 16383)]),
            ),
        ];
        assert_eq!(nodes(text), expected);
        let names = expected.map(|node| node.name().to_string());
        assert_eq!(
            names,
            [
                "127.0.0.1:7901",
                "h2.example.com:7902",
                "h3.example.com:7903"
            ]
        );
    }

    #[test]
    fn older_servers_ipv6_and_nodes_that_have_failed_or_gone() {
        let text = "a 10.0.0.1:6379 myself,master - 0 0 1 connected 0-99\n\
            b ::1:7000@17000 master,fail? - 17 16 3 disconnected 100-199\n\
            c :0@0 master,fail,noaddr - 17 16 3 disconnected 200-299\n\
            d 10.0.0.4:0 master,noaddr - 0 0 0 disconnected\n\
            e 10.0.0.5:6379@16379 handshake - 0 0 0 connected\n\
            f 10.0.0.6:6379@16379 noflags - 0 0 0 connected\n\
            g 10.0.0.7:6379@16379 slave,nofailover a 0 0 0 connected\n\
            h 10.0.0.8:6379@16379 master,nofailover - 0 0 0 connected\n";
        let expected = [
            Node {
                replicas: Some(1),
                ..node("a", Some("10.0.0.1:6379"), &[(0, 99)])
            },
            Node {
                suspected: true,
                ..node("b", Some("::1:7000"), &[(100, 199)])
            },
            Node {
                failed: true,
                ..node("c", None, &[(200, 299)])
            },
            node("d", None, &[]),
            node("h", Some("10.0.0.8:6379"), &[]),
        ];
        assert_eq!(nodes(text), expected);
    }

    #[test]
    fn replicas_count_once_a_primary_unless_they_have_failed_or_gone() {
        let text = "a h:1@2 master - 0 0 1 connected 0-99\n\
            b h:2@2 slave a 0 0 1 connected\n\
            c h:3@2 slave,fail a 0 0 1 disconnected\n\
            d :0@0 slave,noaddr a 0 0 1 disconnected\n\
            e h:5@2 replica,fail? a 0 0 1 connected\n";
        let again = format!("{text}{text}");
        assert_eq!(nodes(&again)[0].replicas, Some(2));
    }

    #[test]
    fn a_slot_on_its_way_stays_with_its_owner_and_is_listed_once() {
        let one = "a h:1@2 myself,master - 0 0 1 connected 0-99 [5->-b] [9->-b]\n\
            b h:3@4 master - 0 0 1 connected 100-199\n";
        let two = "a h:1@2 master - 0 0 1 connected 0-99\n\
            b h:3@4 myself,master - 0 0 1 connected 100-199 [5-<-a] [107->-a]\n";
        let topology = read("nodes.txt", &format!("{one}{two}")).unwrap();
        let moving = |slot, from: &str, to: &str| InFlight {
            slot,
            from: from.to_owned(),
            to: to.to_owned(),
        };
        assert_eq!(
            topology.in_flight,
            [
                moving(5, "a", "b"),
                moving(9, "a", "b"),
                moving(107, "b", "a")
            ]
        );
        assert_eq!(
            (topology.owner(5), topology.owner(107), topology.owner(200)),
            (Some(0), Some(1), None)
        );
    }

    #[test]
    fn a_line_that_cannot_be_right_is_named_with_the_way_out() {
        let line = |slots: &str| {
            error(&format!(
                "a h:1@2 master - 0 0 1 connected 0-9\nb h:3@4 master - 0 0 1 connected {slots}"
            ))
        };
        for (slots, expected) in [
            (
                "16384",
                "nodes.txt: line 2: slots 16384-16384 end past 16383, ",
            ),
            (
                "10-99999999999999999999",
                "nodes.txt: line 2: \"10-99999999999999999999\" is neither ",
            ),
            ("20-10", "nodes.txt: line 2: slots 20-10 run backwards; "),
            ("10-", "nodes.txt: line 2: \"10-\" is neither "),
            ("+10", "nodes.txt: line 2: \"+10\" is neither "),
            ("10 [11>b]", "nodes.txt: line 2: \"[11>b]\" is neither "),
            (
                "10 [16384->-a]",
                "nodes.txt: line 2: slots 16384-16384 end past 16383, ",
            ),
            (
                "9",
                "nodes.txt: line 2: slot 9 belongs to node \"b\" here and to node \"a\" in line 1; ",
            ),
        ] {
            let message = line(slots);
            assert!(
                message.starts_with(expected) && message.contains("; "),
                "{slots}: {message}"
            );
        }
        let replica = error("a h:1@2 slave b 0 0 1 connected 0-9");
        assert!(
            replica.starts_with(
                "nodes.txt: line 1: a replica that owns slots, \"a\"; make one with: "
            ),
            "{replica}"
        );
    }

    #[test]
    fn another_kind_of_file_is_recognised_by_its_first_line() {
        for text in ["user:1\nuser:2\n", "a b c d e f g h\n", "<html>\n"] {
            let message = error(text);
            assert!(message.starts_with("nodes.txt: "), "{message}");
            assert!(
                message.contains("redis-cli -h HOST -p PORT CLUSTER NODES"),
                "{message}"
            );
        }
    }

    #[test]
    fn a_server_outside_of_a_cluster_has_no_listing() {
        let message = error("ERR This instance has cluster support disabled\n");
        assert!(
            message.contains("not in cluster mode: --nodes N"),
            "{message}"
        );
    }

    #[test]
    fn replicas_alone_or_primaries_without_a_slot_are_no_topology() {
        let message = error("a h:1@2 slave b 0 0 1 connected\n");
        assert!(
            message.starts_with("nodes.txt: no primary in it; "),
            "{message}"
        );
        let message = error("a h:1@2 myself,master - 0 0 1 connected\n");
        assert!(
            message.starts_with("nodes.txt: none of its primaries owns a slot; "),
            "{message}"
        );
    }
}
