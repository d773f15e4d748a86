//! The effect of a change: the numbers of both sides, and a sentence.

use serde::Serialize;

use slotscope_base::metric::{Load, Metric, PerMetric};
use slotscope_base::name::Name;
use slotscope_model::balance::{Balance, tidy};
use slotscope_model::nodes::NodeLoad;
use slotscope_model::tags::Tag;
use slotscope_model::verdict::Verdict;
use slotscope_model::{InputFacts, Summary};

use crate::whatif::WhatIf;
use crate::whatif::tag_splits::SplitTags;

/// Schema name and version.
pub const SCHEMA: &str = "slotscope.whatif/2";

/// Number of heaviest tags listed.
const TOP_TAGS: usize = 10;

/// The effect of a change; the fields are those of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct WhatIfFindings {
    /// The name and version of this form.
    #[cfg_attr(feature = "schemas", schemars(extend("const" = SCHEMA)))]
    pub schema: &'static str,
    /// Facts about the input.
    pub input: InputFacts,
    /// The metric of both sides.
    pub by: Metric,
    /// The keys as they are.
    pub before: Side,
    /// As they would be.
    pub after: Side,
    /// Keys that change their slot.
    pub moved: PerMetric<u64>,
    /// Keys that change their node.
    pub changed_node: PerMetric<u64>,
    /// Keys that get another name; of captures alone, operations on them.
    pub renamed: u64,
    /// Keys that have no slot afterwards; they are missing there.
    pub unplaced: PerMetric<u64>,
    /// Tags whose keys are in several slots; an estimate where `tag_sample` is of a sample.
    pub parted_tags: u64,
    /// The sample that this was counted on.
    pub tag_sample: SplitTags,
    /// Rules that no key matches; for people.
    pub without_keys: Vec<String>,
    /// The heaviest tags afterwards.
    pub top_tags: Vec<Tag>,
    /// Bytes that a node may use, where the user says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maxmemory: Option<u64>,
    /// The nodes afterwards: what the nodes of `top_tags` are called.
    #[serde(skip)]
    pub nodes_after: Vec<NodeLoad>,
    /// The result, in a sentence.
    pub sentence: String,
}

/// One side.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Side {
    /// Where the nodes are from.
    pub source: Name,
    /// How many of them own slots.
    pub node_count: usize,
    /// All keys.
    pub keys: u64,
    /// The part of all load that is on the fullest node.
    pub fullest_share: Option<f64>,
    /// The part of a key that is hashed.
    pub policy: Name,
    /// The nodes that own slots.
    pub list: Vec<SideNode>,
    /// The balance of the slots.
    pub slots: Balance,
    /// The balance of the nodes.
    pub nodes: Balance,
    /// The verdict.
    pub verdict: Verdict,
}

/// A node of one side.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SideNode {
    /// Its id.
    pub id: Name,
    /// Its display name.
    pub node: Name,
    /// Its load.
    #[serde(flatten)]
    pub load: PerMetric<u64>,
}

impl WhatIfFindings {
    /// The numbers, still without a sentence; `summaries` and `policies` are before and after.
    pub(crate) fn of(counted: WhatIf, summaries: [Summary; 2], policies: [Name; 2]) -> Self {
        let carried = counted.before.slots.loads.map(|_, _| ());
        let amount = |load: Load| carried.map(|metric, ()| load[metric]);
        let [before, after] = summaries;
        let distinct = before.tags.as_ref().map_or(0, |tags| tags.distinct);
        let (moved, changed_node, unplaced) =
            (counted.moved, counted.changed_node, counted.unplaced);
        let without_keys = counted.without_keys();
        let (renamed, tag_sample) = (counted.renamed, counted.tag_splits.count());
        let parted_tags = tag_sample.of_all(distinct);
        let input = before.input.clone();
        let renamed = match input.keys {
            0 => renamed[Metric::Ops],
            _ => renamed[Metric::Keys],
        };
        let top_tags = after
            .tags
            .iter()
            .flat_map(|tags| tags.top.iter().take(TOP_TAGS).cloned())
            .collect();
        let nodes_after = after.nodes.list.clone();
        let [policy_before, policy_after] = policies;
        WhatIfFindings {
            schema: SCHEMA,
            by: before.by,
            before: Side::of(before, policy_before),
            after: Side::of(after, policy_after),
            moved: amount(moved),
            changed_node: amount(changed_node),
            renamed,
            unplaced: amount(unplaced),
            parted_tags,
            tag_sample,
            without_keys,
            maxmemory: None,
            top_tags,
            nodes_after,
            sentence: String::new(),
            input,
        }
    }
}

impl Side {
    fn of(summary: Summary, policy: Name) -> Self {
        let metric = summary.by;
        let balance = |stats: &PerMetric<Balance>| stats.get(metric).unwrap_or(&stats.keys).clone();
        let nodes = balance(&summary.nodes.balance);
        let total = summary.nodes.total(metric) as f64;
        Side {
            node_count: summary.nodes.owning().count(),
            list: summary
                .nodes
                .owning()
                .map(|node| SideNode {
                    id: node.id.clone(),
                    node: node.label(),
                    load: node.load,
                })
                .collect(),
            keys: summary.slots.loads.keys.iter().sum(),
            fullest_share: (total > 0.0).then(|| tidy(nodes.max as f64 / total)),
            slots: balance(&summary.slots.stats),
            nodes,
            source: summary.nodes.source,
            policy,
            verdict: summary.verdict,
        }
    }
}
