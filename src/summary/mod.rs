//! Stage 5, FINDINGS: tallies and a topology come in, the numbers of the report go out. No I/O.
//!
//! The fields are those of report.json, in its order and with its names.

pub mod balance;
pub mod expected;
pub mod nodes;
pub mod quantiles;
pub mod sentence;
pub mod tags;
pub mod verdict;

use serde::Serialize;

use crate::name::Name;
use crate::slot::SLOTS;
use crate::tally::Tallies;
use crate::tally::recount::{Recount, hottest};
use crate::topology::Topology;
use balance::{Balance, tidy};
use nodes::Nodes;
use quantiles::Quantiles;
use tags::{TagKeys, Tags};
use verdict::Skew;

/// The name and version of the form of report.json.
pub const SCHEMA: &str = "slotscope.report/1";

/// All findings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// `SCHEMA`.
    pub schema: &'static str,
    /// How the report was made; the only part that differs from run to run.
    pub run: Run,
    /// What was read.
    pub input: InputFacts,
    /// The 16384 hash slots.
    pub slots: Slots,
    /// The primaries.
    pub nodes: Nodes,
    /// The hash tags; absent with `--only slots`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Tags>,
    /// Key lengths in bytes; absent with `--only slots`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lengths: Option<Quantiles>,
    /// The verdict.
    pub skew: Skew,
}

/// How a report was made.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Run {
    /// The version of slotscope.
    pub version: String,
    /// When, in seconds since 1970 (UTC).
    pub started: u64,
    /// How long it took.
    pub elapsed_secs: f64,
    /// Worker threads.
    pub threads: usize,
    /// The kernel that computed the slots.
    pub kernel: String,
    /// How often the input was read.
    pub passes: u32,
    /// Input bytes a second, over all passes.
    pub bytes_per_sec: f64,
    /// Keys a second.
    pub keys_per_sec: f64,
    /// The most memory that was resident, where the system says it.
    pub peak_rss_bytes: Option<u64>,
}

/// What was read.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct InputFacts {
    /// The inputs, in their order.
    pub files: Vec<FileFacts>,
    /// All keys.
    pub keys: u64,
    /// All bytes.
    pub bytes_read: u64,
    /// Lines that are no keys.
    pub rejected: Rejected,
    /// Places behind which an input could not be read.
    pub incomplete: Vec<Incomplete>,
    /// Evidence that the dump is not what it should be.
    pub warnings: Vec<String>,
    /// What the forms that were read cannot show.
    pub notes: Vec<String>,
}

/// One input.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct FileFacts {
    /// As the user named it.
    pub name: Name,
    /// The form it is in.
    pub format: &'static str,
    /// Bytes.
    pub bytes: u64,
    /// Keys.
    pub keys: u64,
}

/// Lines that are no keys.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Rejected {
    /// How many.
    pub count: u64,
    /// The first five.
    pub first: Vec<RejectedLine>,
}

/// A line that is no key.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RejectedLine {
    /// The input it is in.
    pub file: Name,
    /// Its number, from 1; absent where the input cannot be read again to count.
    pub line: Option<u64>,
    /// Its offset in bytes.
    pub byte: u64,
    /// What is wrong with it.
    pub reason: String,
}

/// A place behind which an input could not be read.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Incomplete {
    /// The input.
    pub file: Name,
    /// Offset in bytes.
    pub byte: u64,
    /// Why.
    pub reason: String,
}

/// Keys by slot.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Slots {
    /// Keys of each of the 16384 slots.
    pub keys: Vec<u64>,
    /// Their balance.
    pub stats: SlotStats,
    /// The slots with the most keys.
    pub hottest: Vec<HotSlot>,
}

/// Balance of the slots, by metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SlotStats {
    /// By keys.
    pub keys: Balance,
}

/// One of the hottest slots.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HotSlot {
    /// Its number.
    pub slot: u16,
    /// The node that owns it.
    pub node: Option<Name>,
    /// Its keys.
    pub keys: u64,
    /// Its keys over those of the average slot.
    pub over_mean: f64,
    /// The tags that fill it, heaviest first.
    pub top_tags: Vec<TagKeys>,
}

/// Makes the findings. `recount` is the second pass, where there was one.
pub fn summarise(tallies: &Tallies, recount: Option<&Recount>, topology: &Topology, mut input: InputFacts) -> Summary {
    let keys_by_slot = &tallies.slots.keys;
    input.keys = tallies.slots.total();
    let node_of = |slot: u16| topology.owner(slot).map(|node| Name::from(topology.nodes[node].id.as_str()));

    let hot: Vec<u16> = hottest(keys_by_slot).map(|slot| slot as u16).collect();
    let tags = tallies.tags.as_ref().map(|tags| {
        let mut tags = Tags::of(tags, recount, input.keys, &hot);
        tags.top.iter_mut().for_each(|tag| tag.node = node_of(tag.slot));
        tags
    });
    let nodes = Nodes::of(topology, keys_by_slot);
    let skew = Skew::of(&nodes, tags.as_ref(), input.keys, !input.incomplete.is_empty());
    let mean = input.keys as f64 / SLOTS as f64;
    let hot_slot = |slot: u16| HotSlot {
        slot,
        node: node_of(slot),
        keys: keys_by_slot[usize::from(slot)],
        over_mean: tidy(keys_by_slot[usize::from(slot)] as f64 / mean),
        top_tags: tags.as_ref().and_then(|tags| tags.by_slot.get(&slot)).cloned().unwrap_or_default(),
    };
    let slots = Slots {
        keys: keys_by_slot.clone(),
        stats: SlotStats { keys: Balance::of_keys_by_slot(keys_by_slot) },
        hottest: hot.iter().map(|slot| hot_slot(*slot)).collect(),
    };
    let lengths = tallies.lengths.as_ref().map(Quantiles::of);
    Summary { schema: SCHEMA, run: Run::default(), input, slots, nodes, tags, lengths, skew }
}
