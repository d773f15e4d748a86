//! slots.csv, nodes.csv, tags.csv. A metric that the input does not carry is an empty cell.

use std::io::{self, Write};

use crate::metric::{Metric, PerMetric};
use crate::name::Name;
use crate::slot::SLOTS;
use crate::summary::Summary;
use crate::summary::nodes::NodeLoad;
use crate::summary::patterns::Kind;

/// `slot,node,keys,bytes,ops`
pub fn write_slots(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let mut owners: Vec<Option<&NodeLoad>> = vec![None; SLOTS];
    for node in &summary.nodes.list {
        for (first, last) in &node.ranges {
            owners[usize::from(*first)..=usize::from(*last)].fill(Some(node));
        }
    }
    let rows = owners.iter().enumerate().map(|(slot, owner)| {
        let node = owner.map(|node| cell(&node.id)).unwrap_or_default();
        let [keys, bytes, ops] = loads(&summary.slots.loads.map(|_, loads| loads[slot]));
        [slot.to_string(), node, keys, bytes, ops]
    });
    write_table(out, ["slot", "node", "keys", "bytes", "ops"], rows)
}

/// `node,address,slots,keys,bytes,ops`
pub fn write_nodes(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let rows = summary.nodes.list.iter().map(|node| {
        let address = node.address.as_ref().map(cell).unwrap_or_default();
        let [keys, bytes, ops] = loads(&node.load);
        [cell(&node.id), address, node.slots.to_string(), keys, bytes, ops]
    });
    write_table(out, ["node", "address", "slots", "keys", "bytes", "ops"], rows)
}

/// `tag,slot,node,keys,keys_error,bytes,ops,share`
pub fn write_tags(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let rows = summary.tags.iter().flat_map(|tags| &tags.top).map(|tag| {
        let node = tag.node.as_ref().map(cell).unwrap_or_default();
        let [keys, bytes, ops] = loads(&tag.load);
        let [slot, error] = [u64::from(tag.slot), tag.keys_error].map(|number| number.to_string());
        [cell(&tag.tag), slot, node, keys, error, bytes, ops, tag.share.to_string()]
    });
    write_table(out, ["tag", "slot", "node", "keys", "keys_error", "bytes", "ops", "share"], rows)
}

/// `name,keys,bytes,ops,share,tagged_share,slots`
pub fn write_prefixes(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let rows = summary.prefixes.iter().flat_map(|prefixes| &prefixes.top);
    write_kinds(out, rows.map(|row| (&row.prefix, &row.kind)))
}

/// `name,keys,bytes,ops,share,tagged_share,slots`
pub fn write_patterns(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let rows = summary.patterns.iter().flat_map(|patterns| &patterns.top);
    write_kinds(out, rows.map(|row| (&row.pattern, &row.kind)))
}

fn write_kinds<'a>(out: &mut dyn Write, rows: impl Iterator<Item = (&'a Name, &'a Kind)>) -> io::Result<()> {
    let rows = rows.map(|(name, kind)| {
        let [keys, bytes, ops] = loads(&kind.load);
        let slots = kind.slots.map(|slots| slots.to_string()).unwrap_or_default();
        [cell(name), keys, bytes, ops, kind.share.to_string(), kind.tagged_share.to_string(), slots]
    });
    write_table(out, ["name", "keys", "bytes", "ops", "share", "tagged_share", "slots"], rows)
}

/// A cell for each metric, empty where the input does not carry it.
fn loads(load: &PerMetric<u64>) -> [String; 3] {
    Metric::ALL.map(|metric| load.get(metric).map(u64::to_string).unwrap_or_default())
}

/// A name as a cell that no spreadsheet takes for a formula.
fn cell(name: &Name) -> String {
    let text = name.to_string();
    match text.starts_with(['=', '+', '-', '@']) {
        true => format!("'{text}"),
        false => text,
    }
}

fn write_table<const N: usize>(
    out: &mut dyn Write,
    header: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(header)?;
    for row in rows {
        csv.write_record(&row)?;
    }
    csv.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_never_a_formula() {
        let cells = ["=cmd()", "+1", "-1", "@x", "a=b", "'x"].map(|name| cell(&Name::from(name)));
        assert_eq!(cells, ["'=cmd()", "'+1", "'-1", "'@x", "a=b", "'x"]);
    }

    #[test]
    fn what_a_cell_must_not_hold_is_quoted_or_escaped() {
        let mut out = Vec::new();
        write_table(&mut out, ["a", "b"], [[cell(&Name::from("x,\"y\"")), cell(&Name::from("l1\nl2"))]].into_iter())
            .unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a,b\n\"x,\"\"y\"\"\",l1\\nl2\n");
    }
}
