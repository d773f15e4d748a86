//! One line per key: slot, key and, if nodes are known, node, separated by tabs.

use std::io::{self, Write};

use crate::keyslot::KeySlot;

/// Writes the line.
///
/// # Errors
/// `out` cannot be written.
pub(crate) fn write(key_slot: &KeySlot, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{}\t{}", key_slot.slot, key_slot.key)?;
    match &key_slot.node {
        Some(Some(node)) => writeln!(out, "\t{}", key_slot.node_name.as_ref().unwrap_or(node)),
        Some(None) => writeln!(out, "\t"),
        None => writeln!(out),
    }
}
