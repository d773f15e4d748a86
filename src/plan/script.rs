//! A plan as a bash script to review and run: the nodes at its top, then what moves a range, then the ranges.

use std::io::{self, Write};

use crate::name::Name;
use crate::plan::outcome::{NodeOutcome, PlanOutcome, PlannedNode};
use crate::plan::view::{floor, headline, node_name};

/// The commands that move slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum MoveCommands {
    /// CLUSTER SETSLOT and MIGRATE: every version
    Setslot,
    /// CLUSTER MIGRATESLOTS: Valkey 9.0 or later
    Valkey,
    /// CLUSTER MIGRATION: Redis 8.4 or later
    #[cfg_attr(feature = "cli", value(name = "redis-8.4"))]
    Redis84,
}

impl MoveCommands {
    /// The shell functions that move a range of slots.
    fn functions(self) -> [&'static str; 2] {
        match self {
            MoveCommands::Setslot => ["", include_str!("script/setslot.sh")],
            MoveCommands::Valkey => [
                include_str!("script/owns.sh"),
                include_str!("script/valkey.sh"),
            ],
            MoveCommands::Redis84 => [
                include_str!("script/owns.sh"),
                include_str!("script/redis84.sh"),
            ],
        }
    }
}

/// Writes it. `nodes` are those of the outcome, in its order.
pub fn write(
    commands: MoveCommands,
    outcome: &PlanOutcome,
    nodes: &[PlannedNode],
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "#!/usr/bin/env bash")?;
    writeln!(out, "# slotscope plan: {}", headline(outcome))?;
    writeln!(out, "# {}", floor(outcome))?;
    outcome
        .warnings
        .iter()
        .try_for_each(|text| writeln!(out, "# warning: {}", Name::from(text.as_str())))?;
    writeln!(
        out,
        "# Review it, then run it with bash; where it was cut off, run it again."
    )?;
    writeln!(out, "set -euo pipefail\nexport LC_ALL=C\n")?;
    writeln!(out, "cli=(redis-cli)  # and its options: --tls ...")?;
    writeln!(
        out,
        "user=''          # of an ACL; the password is that of REDISCLI_AUTH"
    )?;
    writeln!(out, "[[ -z $user ]] || cli+=(--user \"$user\")\n")?;
    writeln!(out, "declare -a host port id")?;
    let is_used = |at: usize| {
        outcome
            .moves
            .iter()
            .any(|of| [&of.from, &of.to].contains(&&outcome.nodes[at].id))
    };
    for (at, (node, shown)) in nodes.iter().zip(&outcome.nodes).enumerate() {
        write_node(at, node, shown, is_used(at), out)?;
    }
    out.write_all(include_str!("script/nodes.sh").as_bytes())?;
    commands
        .functions()
        .iter()
        .try_for_each(|text| out.write_all(text.as_bytes()))?;
    let number = |id: &Name| {
        outcome
            .nodes
            .iter()
            .position(|node| node.id == *id)
            .map_or(0, |at| at + 1)
    };
    for of in &outcome.moves {
        for (first, last) in &of.ranges {
            writeln!(
                out,
                "move {first} {last} {} {}",
                number(&of.from),
                number(&of.to)
            )?;
        }
    }
    writeln!(
        out,
        "say 'done; redis-cli --cluster check HOST:PORT looks at all nodes'"
    )
}

/// The line of a node. Where it takes part in no move and its address is not known, it is left out.
fn write_node(
    at: usize,
    node: &PlannedNode,
    shown: &NodeOutcome,
    is_used: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let number = at + 1;
    // Ids of an even split and of nodes to be added are made up here: the node itself knows the real one.
    let is_real = node.id.len() == 40 && node.id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let id = if is_real { node.id.as_str() } else { "" };
    match node.address.as_deref().and_then(host_and_port) {
        Some((host, port)) => {
            let (host, id) = (quoted(host), quoted(id));
            writeln!(
                out,
                "host[{number}]={host} port[{number}]={port} id[{number}]={id}  # {}",
                node_name(shown)
            )
        }
        None if is_used => {
            let id = quoted(id);
            writeln!(
                out,
                "host[{number}]='' port[{number}]='' id[{number}]={id}  # {}: fill in host and port; it is a primary of the cluster by then",
                node_name(shown)
            )
        }
        None => Ok(()),
    }
}

/// The parts of an address that can be connected to: a name with blanks or controls in it cannot.
fn host_and_port(address: &str) -> Option<(&str, u16)> {
    let (host, port) = address.rsplit_once(':')?;
    let port = port.parse().ok().filter(|port| *port > 0)?;
    (!host.is_empty() && host.bytes().all(|byte| byte.is_ascii_graphic())).then_some((host, port))
}

/// Printable text as one word of bash.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_connected_to_is_an_address() {
        assert_eq!(host_and_port("10.0.0.1:6379"), Some(("10.0.0.1", 6379)));
        assert_eq!(host_and_port("::1:7000"), Some(("::1", 7000)));
        for none in [
            "",
            ":1",
            "h:",
            "h:0",
            "h:99999",
            "h:1x",
            "a b:1",
            "a\nFLUSHALL:1",
            "\u{202e}:1",
            "h",
        ] {
            assert_eq!(host_and_port(none), None, "{none:?}");
        }
    }

    #[test]
    fn a_hostile_address_is_one_word() {
        assert_eq!(quoted("$(reboot)'`x`;"), r"'$(reboot)'\''`x`;'");
    }
}
