//! One line per tag: slot, tag in braces and, if nodes are known, node.

use std::io::{self, Write};

use serde::Serialize;

use slotscope_base::name::Name;
use slotscope_topology::Topology;

use crate::find_tag::FoundTag;

/// A tag and where it lands; the fields are those of a line of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct TagLine {
    /// The tag, without braces.
    pub tag: Name,
    /// Its slot.
    pub slot: u16,
    /// The id of the node that owns the slot; absent if no node does or nodes are not known.
    pub node: Option<Name>,
    /// The display name of that node, if it is not the id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_name: Option<Name>,
}

impl TagLine {
    pub(crate) fn of(tag: FoundTag, topology: Option<&Topology>) -> Self {
        let owner = |topology: &Topology| {
            let node = &topology.nodes[topology.owner(tag.slot)?];
            Some((Name::from(node.id.as_str()), node.name()))
        };
        let (node, node_name) = topology.and_then(owner).unzip();
        TagLine {
            node_name: node_name.filter(|name| node.as_ref() != Some(name)),
            node,
            tag: tag.tag,
            slot: tag.slot,
        }
    }
}

/// Writes the line, with a node column if nodes are known.
///
/// # Errors
/// `out` cannot be written.
pub(crate) fn write(line: &TagLine, nodes_are_known: bool, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{}\t{{{}}}", line.slot, line.tag)?;
    if nodes_are_known {
        let name = line.node_name.as_ref().or(line.node.as_ref());
        writeln!(out, "\t{}", name.cloned().unwrap_or_default())
    } else {
        writeln!(out)
    }
}
