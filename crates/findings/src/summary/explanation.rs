//! Why a role has its state: the numbers and names that its sentence has.

use slotscope_engine::name::Name;

use crate::summary::cause::{Cause, CauseKind};
use crate::summary::gaps::Gap;
use crate::summary::integrity::Sign;
use crate::summary::limit;
use crate::summary::measure::Measure;

/// The explanation of a state.
#[derive(Debug, Clone, PartialEq)]
pub enum Explanation {
    /// The input could not be read to its end, and the part that was read holds no key.
    NothingRead,
    /// All keys are in slots that no node owns.
    Unowned,
    /// There are no keys.
    NoKeys,
    /// There are no keys but those of lists of extremes.
    OnlyExtremes,
    /// There are keys, but the sum of this measure is 0.
    NoLoad(Measure),
    /// The load of the fullest node.
    Fullest(Fullest),
    /// Nodes are not compared.
    NotCompared(NotCompared),
}

/// The fullest node, and why it is above its fair share.
#[derive(Debug, Clone, PartialEq)]
pub struct Fullest {
    /// How many equal nodes were assumed; absent where the user named the nodes.
    pub assumed_nodes: Option<usize>,
    /// Its name.
    pub node: Name,
    /// The measure of its load.
    pub measure: Measure,
    /// Its load in fair shares.
    pub max_over_mean: f64,
    /// Why.
    pub reason: Why,
    /// Compared nodes and all of them, where these are not the same.
    pub compared: Option<(usize, usize)>,
    /// Whether memory is judged by the number of keys because sizes are unknown.
    pub memory_is_unknown: bool,
    /// Whether a part of the load is estimated.
    pub is_estimated: bool,
    /// Whether operations are those of append-only files.
    pub are_writes: bool,
}

/// Why the fullest node is above its fair share, or that it hardly is.
#[derive(Debug, Clone, PartialEq)]
pub enum Why {
    /// The dump is damaged, by this sign above all.
    Damaged(Sign),
    /// It is not.
    Even,
    /// There is one node.
    OneNode,
    /// There is so little that the nodes cannot be judged.
    TooFew {
        /// All keys or operations.
        counted: u64,
        /// The nodes that they are on.
        nodes: usize,
    },
    /// The nodes do next to nothing.
    Idle,
    /// All nodes are at their limit and evict.
    Capped,
    /// Values could not be read.
    Unreadable(Gap),
    /// Too many keys have no size.
    Missing {
        /// How many.
        missing: u64,
        /// All keys.
        keys: u64,
    },
    /// More rows could not be read as keys than an even node may have.
    LostRows(u64),
    /// The causes that add most, largest first; whether a node is being filled or drained.
    Causes(Vec<Cause>, Option<Name>),
}

/// Why nodes are not compared, and the load that was seen.
#[derive(Debug, Clone, PartialEq)]
pub struct NotCompared {
    /// The measure.
    pub measure: Measure,
    /// Why.
    pub why: Unseen,
    /// The heaviest tag or key of the load that was seen, whether it is a tag, and its part of that load.
    pub heaviest: Option<(Name, bool, f64)>,
}

/// Why nodes are not compared.
#[derive(Debug, Clone, PartialEq)]
pub enum Unseen {
    /// Only these nodes of this many were captured.
    Captured(Vec<Name>, usize),
    /// A sample of the slots leaves the heaviest out.
    Sample,
    /// One reading of counters, which count from different starts.
    OneReading,
    /// The captures of nodes do not overlap.
    Apart,
    /// The counters are those of replicas.
    Replicas,
}

/// Causes that a sentence has room for in addition to those that add a fifth of the excess.
const ROOM: usize = 3;
/// Ratios that differ by less are the same to the digits that a sentence has.
const EQUAL: f64 = 0.0005;

/// Every cause that adds a fifth of the excess, and up to three that add much: never one without another of its size.
/// Tags or keys that add a fifth together are a cause as well.
pub(crate) fn named(causes: &[Cause]) -> Vec<Cause> {
    let excess: f64 = causes.iter().map(|cause| cause.excess).sum();
    let is_part = |added: f64| added >= limit::NAMED_PART * excess;
    let alike: Vec<&[Cause]> = alike(causes).collect();
    let of_its_size = |cause: &Cause| {
        let group = alike.iter().find(|group| group.contains(cause));
        let added = group.into_iter().flat_map(|group| group.iter());
        added.map(|cause| cause.excess).sum::<f64>()
    };
    let is_named = |(at, cause): &(usize, &Cause)| {
        let has_room = *at < ROOM && cause.excess >= limit::NAMED;
        cause.excess > 0.0 && (has_room || is_part(cause.excess) || is_part(of_its_size(cause)))
    };
    let causes = causes
        .iter()
        .filter(|cause| cause.kind != CauseKind::Elsewhere);
    causes
        .enumerate()
        .filter(is_named)
        .map(|(_, cause)| cause.clone())
        .collect()
}

/// Causes that follow each other and are named together: three tags, or keys, and more of which none adds less than half of
/// the first, or two that add the same.
pub fn alike(causes: &[Cause]) -> impl Iterator<Item = &[Cause]> {
    let mut rest = causes;
    std::iter::from_fn(move || {
        let first = rest.first()?;
        let run = |least: f64| {
            let is_like = |cause: &&Cause| {
                cause.name.is_some() && cause.kind == first.kind && cause.excess >= least
            };
            rest.iter().take_while(is_like).count()
        };
        let (similar, equal) = (run(first.excess / 2.0), run(first.excess - EQUAL));
        let together = match similar {
            3.. => similar,
            _ => equal.max(1),
        };
        let (group, others) = rest.split_at(together);
        rest = others;
        Some(group)
    })
}
