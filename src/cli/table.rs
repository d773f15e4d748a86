//! The table of commands, in the order of the help.

use slotscope_app::cli::Command;

use crate::cli::schema::outputs;
use crate::cli::{analyze, bench, dump, find_tag, generate};
use crate::cli::{help, keyslot, manual, plan, schema, whatif};

/// The commands, those of rooms if the program has these.
pub(super) static COMMANDS: &[Command] = &[
    Command::new::<analyze::AnalyzeArgs>(
        "analyze",
        outputs!("report": slotscope_model::Summary, "node-counts": slotscope_model::node_counts::NodeCounts),
    ),
    #[cfg(feature = "live")]
    Command::new::<slotscope_live::cli::collect::CollectArgs>(
        "collect",
        outputs!("collect": slotscope_read::source::collection::manifest::Manifest),
    ),
    #[cfg(feature = "live")]
    Command::new::<slotscope_live::cli::exporter::ExporterArgs>("exporter", &[]),
    #[cfg(feature = "live")]
    Command::new::<slotscope_live::cli::top::TopArgs>("top", &[]),
    Command::new::<plan::PlanArgs>(
        "plan",
        outputs!("plan": slotscope_moves::plan::outcome::PlanOutcome),
    ),
    Command::new::<whatif::WhatIfArgs>(
        "whatif",
        outputs!("whatif": crate::whatif::findings::WhatIfFindings),
    ),
    #[cfg(feature = "history")]
    Command::new::<slotscope_history::cli::timeline::TimelineArgs>(
        "timeline",
        outputs!("timeline": slotscope_history::timeline::Timeline),
    ),
    #[cfg(feature = "history")]
    Command::new::<slotscope_history::cli::diff::DiffArgs>(
        "diff",
        outputs!("diff": slotscope_history::diff::Diff),
    ),
    #[cfg(feature = "history")]
    Command::new::<slotscope_history::cli::capacity::CapacityArgs>(
        "capacity",
        outputs!("capacity": slotscope_history::capacity::Capacity),
    ),
    #[cfg(feature = "names")]
    Command::new::<slotscope_names::cli::fanout::FanoutArgs>(
        "fanout",
        outputs!("fanout": slotscope_names::fanout::FanoutFindings),
    ),
    #[cfg(feature = "names")]
    Command::new::<slotscope_names::cli::advise::AdviseArgs>(
        "advise",
        outputs!("advise": slotscope_names::advise::findings::AdviseFindings),
    ),
    #[cfg(feature = "names")]
    Command::new::<slotscope_names::cli::lint::LintArgs>(
        "lint",
        outputs!("lint": slotscope_names::lint::LintFindings),
    ),
    Command::new::<keyslot::KeyslotArgs>("keyslot", outputs!("keyslot": keyslot::KeySlot)),
    Command::new::<find_tag::FindTagArgs>(
        "find-tag",
        outputs!("find-tag": crate::find_tag::view::TagLine),
    ),
    Command::new::<dump::DumpArgs>("dump", outputs!("dump": dump::RecordLine)),
    #[cfg(feature = "parts")]
    Command::new::<slotscope_parts::cli::tally::TallyArgs>("tally", &[]),
    #[cfg(feature = "parts")]
    Command::new::<slotscope_parts::cli::tally::MergeArgs>("merge", &[]),
    #[cfg(feature = "parts")]
    Command::new::<slotscope_parts::cli::tally::RecountArgs>("recount", &[]),
    Command::new::<generate::GenerateArgs>("generate", &[]),
    Command::new::<bench::BenchArgs>("bench", outputs!("bench": crate::bench::Figures)),
    Command::new::<manual::CompletionsArgs>("completions", &[]),
    Command::new::<manual::ManArgs>("man", &[]),
    Command::new::<schema::SchemaArgs>("schema", &[]),
    Command::new::<help::HelpArgs>("help", &[]),
];
