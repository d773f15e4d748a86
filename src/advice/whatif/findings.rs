//! Two summaries of the same keys come in, what the change does goes out: the numbers of both sides, and a sentence.

use serde::Serialize;

use super::WhatIf;
use super::parted::Parted;
use crate::metric::{Load, Metric};
use crate::name::Name;
use crate::summary::balance::Balance;
use crate::summary::sentence::grouped;
use crate::summary::tags::Tag;
use crate::summary::verdict::Skew;
use crate::summary::{InputFacts, Summary};

/// The name and version of the form of the JSON.
pub const SCHEMA: &str = "slotscope.whatif/1";

/// The heaviest tags that are listed.
const TOP_TAGS: usize = 10;

/// What a change does; the fields are those of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Findings {
    /// `SCHEMA`.
    pub schema: &'static str,
    /// What was read.
    pub input: InputFacts,
    /// The metric of both sides.
    pub by: Metric,
    /// The keys as they are.
    pub before: Side,
    /// As they would be.
    pub after: Side,
    /// Keys that change their slot.
    pub moved: Amount,
    /// Keys that change their node.
    pub changed_node: Amount,
    /// Keys that get another name.
    pub renamed: u64,
    /// Keys that have no slot afterwards; they are missing there.
    pub unplaced: Amount,
    /// Tags whose keys come to several slots; an estimate where `parted` is of a sample.
    pub parted_tags: u64,
    /// What that was counted on.
    pub parted: Parted,
    /// The heaviest tags afterwards.
    pub top_tags: Vec<Tag>,
    /// What it comes to, for people.
    pub sentence: String,
}

/// One side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    /// Where the nodes are from.
    pub source: Name,
    /// How many of them own slots.
    pub node_count: usize,
    /// What is hashed.
    pub policy: Name,
    /// The balance of the slots.
    pub slots: Balance,
    /// The balance of the nodes.
    pub nodes: Balance,
    /// The verdict.
    pub skew: Skew,
}

/// So much of each metric that the input carries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Amount {
    /// Keys.
    pub keys: u64,
    /// Bytes; absent where the input tells none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ops: Option<u64>,
}

impl Findings {
    /// What the change does; `summaries` and `policies` are those before and after.
    pub fn of(counted: WhatIf, summaries: [Summary; 2], policies: [Name; 2]) -> Self {
        let carried = counted.before.slots.loads.map(|_, _| ());
        let amount = |load: Load| Amount {
            keys: load[Metric::Keys],
            bytes: carried.bytes.map(|()| load[Metric::Bytes]),
            ops: carried.ops.map(|()| load[Metric::Ops]),
        };
        let [before, after] = summaries;
        let distinct = before.tags.as_ref().map_or(0, |tags| tags.distinct);
        let (moved, changed_node, unplaced) = (counted.moved, counted.changed_node, counted.unplaced);
        let (renamed, parted) = (counted.renamed, counted.fates.count());
        let parted_tags = parted.of_all(distinct);
        let input = before.input.clone();
        let top_tags = after.tags.iter().flat_map(|tags| tags.top.iter().take(TOP_TAGS).cloned()).collect();
        let [policy_before, policy_after] = policies;
        let mut findings = Findings {
            schema: SCHEMA,
            by: before.skew.by,
            before: Side::of(before, policy_before),
            after: Side::of(after, policy_after),
            moved: amount(moved),
            changed_node: amount(changed_node),
            renamed,
            unplaced: amount(unplaced),
            parted_tags,
            parted,
            top_tags,
            sentence: String::new(),
            input,
        };
        findings.sentence = findings.in_words();
        findings
    }

    fn in_words(&self) -> String {
        let (Some(before), Some(after)) = (self.before.nodes.max_over_mean, self.after.nodes.max_over_mean) else {
            return String::from("no node has a key on one side, so there is nothing to compare");
        };
        let of = match self.by {
            Metric::Keys => "",
            Metric::Bytes => " of the bytes",
            Metric::Ops => " of the operations",
        };
        let turn = match after - before {
            change if change <= -0.005 => "better",
            change if change >= 0.005 => "worse",
            _ => "no better and no worse",
        };
        let percent = |keys: u64| format!("{:.1} %", 100.0 * keys as f64 / self.input.keys.max(1) as f64);
        let about = if self.parted.exact { "" } else { "about " };
        let parted = match self.parted_tags {
            0 => String::from("no tag is parted"),
            1 => String::from("one tag is parted: commands with several of its keys become CROSSSLOT"),
            tags => {
                format!("{about}{} tags are parted: commands with several keys of one become CROSSSLOT", grouped(tags))
            }
        };
        let unplaced = match self.unplaced.keys {
            0 => String::new(),
            keys => format!("; {} have no slot any more and are left out", grouped(keys)),
        };
        format!(
            "{turn}: the fullest node holds {after:.2} times its fair share{of} in place of {before:.2}; {} of the keys \
             change their slot and {} their node; {parted}{unplaced}",
            percent(self.moved.keys),
            percent(self.changed_node.keys),
        )
    }
}

impl Side {
    fn of(summary: Summary, policy: Name) -> Self {
        let by = summary.skew.by;
        let of = |stats: &crate::metric::PerMetric<Balance>| stats.get(by).unwrap_or(&stats.keys).clone();
        Side {
            node_count: summary.nodes.list.iter().filter(|node| node.slots > 0).count(),
            slots: of(&summary.slots.stats),
            nodes: of(&summary.nodes.balance),
            source: summary.nodes.source,
            policy,
            skew: summary.skew,
        }
    }
}
