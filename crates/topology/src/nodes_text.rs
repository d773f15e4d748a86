//! The output of CLUSTER NODES, and nodes.conf, which has the same lines.

use slotscope_base::error::Result;

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

/// The epoch that a server keeps in its nodes.conf, or the highest of the nodes in it.
pub(super) fn epoch(text: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(text);
    let of_line = |line: &str| {
        let kept = line.strip_prefix("vars currentEpoch ");
        let of_node = || NodeLine::parse(line).map(|node| node.epoch.to_owned());
        let epoch = kept.and_then(|kept| kept.split(' ').next().map(str::to_owned));
        epoch.or_else(of_node)?.parse().ok()
    };
    text.lines().filter_map(of_line).max().unwrap_or(0)
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
        claims.owns(at, id, place, ranges);
    } else if node.is_replica() && !is_lost {
        claims.follows(node.primary, id);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::InFlight;

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
}
