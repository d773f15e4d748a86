//! A diff for people: the sentence, then small tables of what changed most.

use std::io::{self, Write};

use crate::advice::diff::{Change, Diff, HotKind, Names, NodeChange, OldNew};
use crate::command::columns;
use crate::metric::Metric;
use crate::report::units::{bytes, grouped, percent};

/// Writes it with at most `rows` rows in a table.
pub fn write(diff: &Diff, rows: usize, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", diff.sentence)?;
    let page = Page { by: diff.skew.by, rows };
    page.nodes(&diff.nodes, out)?;
    page.hot(diff, out)?;
    let kinds =
        [("tag", "Tags", &diff.tags), ("prefix", "Prefixes", &diff.prefixes), ("pattern", "Patterns", &diff.patterns)];
    for (one, many, names) in kinds {
        page.names(one, many, names.as_ref(), out)?;
    }
    if !diff.notes.is_empty() {
        writeln!(out)?;
    }
    diff.notes.iter().try_for_each(|note| writeln!(out, "note: {note}"))
}

struct Page {
    by: Metric,
    rows: usize,
}

impl Page {
    fn nodes(&self, nodes: &[NodeChange], out: &mut dyn Write) -> io::Result<()> {
        let by = self.by.name();
        let columns = ["node", " slots before", " now", &format!(" {by} before"), " now", " x fair before", " now"];
        let fair = |value: Option<f64>| value.map_or(String::from("-"), |value| format!("{value:.3}"));
        let row = |node: &NodeChange| {
            let load = node.load.get(self.by).copied().unwrap_or_default();
            let [slots_before, slots_now] =
                [node.slots.old, node.slots.new].map(|slots| slots.map_or(String::from("-"), grouped));
            let [before, now] = self.amounts(&load);
            vec![
                node.id.to_string(),
                slots_before,
                slots_now,
                before,
                now,
                fair(node.over_fair.old),
                fair(node.over_fair.new),
            ]
        };
        columns::write(out, "Nodes", &columns, nodes.iter().map(row), self.rows)
    }

    fn hot(&self, diff: &Diff, out: &mut dyn Write) -> io::Result<()> {
        let part = |share: Option<f64>| share.map_or(String::from("-"), percent);
        let rows = diff.hot.iter().map(|hot| {
            let name = match hot.kind {
                HotKind::Node => format!("node {}", hot.name),
                HotKind::Slot => format!("slot {}", hot.name),
                HotKind::Tag => format!("tag {{{}}}", hot.name),
            };
            vec![name, part(hot.share.old), part(hot.share.new)]
        });
        columns::write(out, "Got hot: their part of the load", &["", " before", " now"], rows, self.rows)
    }

    fn names(&self, one: &str, many: &str, names: Option<&Names>, out: &mut dyn Write) -> io::Result<()> {
        let Some(names) = names else { return Ok(()) };
        let lists = [
            ("grew", &names.grew),
            ("appeared", &names.appeared),
            ("vanished", &names.vanished),
            ("shrank", &names.shrank),
        ];
        for (what, changes) in lists {
            let row = |change: &Change| {
                let [before, now] = self.amounts(&change.load.get(self.by).copied().unwrap_or_default());
                vec![change.name.to_string(), before, now, self.amount(change.at_least)]
            };
            let heading = format!("{many} that {what}");
            columns::write(
                out,
                &heading,
                &[one, " before", " now", " by at least"],
                changes.iter().map(row),
                self.rows,
            )?;
        }
        match names.below_the_list.len() as u64 {
            0 => Ok(()),
            below => writeln!(
                out,
                "\n{many} that one report lists and the other may have below its list: {}",
                grouped(below)
            ),
        }
    }

    fn amounts(&self, load: &OldNew<u64>) -> [String; 2] {
        [load.old, load.new].map(|load| load.map_or(String::from("-"), |load| self.amount(load)))
    }

    fn amount(&self, load: u64) -> String {
        if self.by == Metric::Bytes { bytes(load) } else { grouped(load) }
    }
}
