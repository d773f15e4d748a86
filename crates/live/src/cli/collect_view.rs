//! A collection as sections: what was read, from which nodes, and what is missing.

use slotscope_app::pipeline::collected::{facts, missing};
use slotscope_app::pipeline::strays;
use slotscope_base::text::{counted, grouped};
use slotscope_read::source::collection::load::LoadEntry;
use slotscope_read::source::collection::manifest::{Level, Manifest};
use slotscope_report::view::{Block, Cell, Column, Section, Table};

/// The sections for a collection in `directory`, whose name is already escaped.
pub(super) fn sections<'a>(manifest: &'a Manifest, directory: &str) -> Vec<Section<'a>> {
    let mut top = Section::untitled().paragraph(headline(manifest, directory));
    for text in remarks(manifest) {
        top = top.paragraph(text);
    }
    for command in commands(manifest) {
        top = top.with(Block::Command(format!("slotscope {command} {directory}")));
    }
    let mut sections = vec![top];
    if !manifest.nodes.is_empty() {
        sections.push(Section::untitled().table(nodes(manifest)));
    }
    sections
}

/// Suggested commands to read the collection.
fn commands(manifest: &Manifest) -> impl Iterator<Item = &'static str> {
    let analyze =
        (manifest.series.is_none() || manifest.level != Level::Slots).then_some("analyze");
    let timeline = manifest.series.as_ref().map(|_| "timeline");
    analyze.into_iter().chain(timeline)
}

fn headline(manifest: &Manifest, directory: &str) -> String {
    let files = manifest
        .nodes
        .iter()
        .filter(|node| node.file.is_some())
        .count();
    let nodes = counted(manifest.nodes.len() as u64, "node");
    let contents = match (manifest.level, &manifest.series) {
        (Level::Slots, Some(series)) => format!(
            "{} of CLUSTER SLOT-STATS of {}, one every {} s",
            counted(series.samples, "sample"),
            counted(series.nodes, "node"),
            series.every
        ),
        (Level::Slots, None) => {
            let keys = manifest.nodes.iter().filter_map(|node| node.counted).sum();
            format!("{} of {nodes} counted by slot", counted(keys, "key"))
        }
        _ => format!(
            "{} of {nodes}, in {}",
            counted(manifest.keys, "key"),
            counted(files as u64, "file")
        ),
    };
    let whole = if manifest.incomplete {
        "INCOMPLETE: "
    } else {
        ""
    };
    format!("{whole}{contents}: {directory}")
}

fn remarks(manifest: &Manifest) -> impl Iterator<Item = String> {
    let skipped = manifest
        .skipped
        .iter()
        .map(|part| format!("not collected: {part}"));
    let troubles = down(manifest).into_iter().chain(missing(manifest, None));
    troubles
        .chain(strays::in_words(manifest, None))
        .chain(facts(manifest))
        .chain(manifest.load.as_ref().map(load))
        .chain(skipped)
        .collect::<Vec<_>>()
        .into_iter()
}

/// How load was measured.
fn load(load: &LoadEntry) -> String {
    let by_slot = match load.nodes_by_slot {
        0 => "not by slot".to_owned(),
        some if some == load.nodes.len() as u64 => "by slot too".to_owned(),
        some => format!("by slot on {}", grouped(some)),
    };
    let monitor = load.monitor.as_ref().map_or_else(String::new, |monitor| {
        let commands = monitor.nodes.iter().map(|node| node.commands).sum();
        let commands = counted(commands, "command");
        format!("; MONITOR for {:.0} s: {commands}", monitor.secs)
    });
    format!(
        "load of {} over the same {:.1} s, read within {:.0} ms, {by_slot}{monitor}",
        counted(load.nodes.len() as u64, "primary").replace("primarys", "primaries"),
        load.secs,
        1000.0 * load.spread_secs
    )
}

/// The primaries' view of the cluster, if one of them reports it down.
fn down(manifest: &Manifest) -> Option<String> {
    let (asked, down) = manifest.cluster_state();
    (down > 0).then(|| {
        let noun = if asked == 1 { "primary" } else { "primaries" };
        format!(
            "the cluster is down: {down} of {asked} {noun} that answered say cluster_state:fail"
        )
    })
}

fn nodes(manifest: &Manifest) -> Table<'_> {
    Table::of(&manifest.nodes)
        .column(Column::words("node"), |node| Cell::text(&*node.name))
        .column(Column::words("read as"), |node| {
            Cell::text(node.role.word())
        })
        .column(Column::words("server"), |node| {
            Cell::text(node.server.as_deref().unwrap_or_default())
        })
        .column(Column::number("keys"), |node| match manifest.level {
            Level::Slots => Cell::of(node.counted, Cell::count),
            _ => Cell::text(grouped(node.keys)),
        })
        .column(Column::number("DBSIZE"), |node| {
            Cell::of(node.dbsize.after, Cell::count)
        })
        .column(Column::words("file"), |node| {
            Cell::text(node.file.as_deref().unwrap_or_default())
        })
        .build()
}
