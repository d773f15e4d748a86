//! Why a role has its state: the numbers and names for its sentence.

use slotscope_base::name::Name;

use crate::summary::gaps::Gap;
use slotscope_model::cause::{Cause, CauseKind};
use slotscope_model::integrity::Integrity;
use slotscope_model::limit;
use slotscope_model::measure::Measure;

/// The fullest node, and why it is above its fair share.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fullest {
    /// Number of equal nodes assumed; absent if the user named the nodes.
    pub assumed_nodes: Option<usize>,
    /// Its name.
    pub node: Name,
    /// The measure of its load.
    pub measure: Measure,
    /// Its load in fair shares.
    pub max_over_mean: f64,
    /// The reason.
    pub reason: Why,
    /// Number of compared nodes and of all nodes, if these differ.
    pub compared: Option<(usize, usize)>,
    /// The node that was captured for a shorter time than the others, in seconds, and theirs.
    pub shorter: Option<(Name, f64, f64)>,
    /// Whether memory is judged by key count because sizes are unknown.
    pub memory_is_unknown: bool,
    /// Whether a part of the load is estimated.
    pub is_estimated: bool,
    /// Whether operations come from append-only files.
    pub are_writes: bool,
}

/// Why the fullest node is above its fair share, or that it hardly is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Why {
    /// The dump is damaged; this is the strongest sign.
    Damaged(Integrity),
    /// This was not seen, so that the others say nothing of all nodes; with their causes.
    Unseen(String, Vec<Cause>),
    /// It is not above its fair share.
    Even,
    /// There is only one node.
    OneNode,
    /// There is too little data to judge the nodes.
    TooFew {
        /// All keys or operations.
        counted: u64,
        /// The number of nodes.
        nodes: usize,
    },
    /// The nodes are nearly idle.
    Idle,
    /// All nodes are at their memory limit and evict.
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
    /// More rows could not be read as keys than an even node may hold.
    LostRows(u64),
    /// The causes that add most, largest first; the node being filled or drained, if any.
    Causes(Vec<Cause>, Option<Name>),
}

/// Extra causes a sentence has room for, beyond those that add a fifth of the excess.
const ROOM: usize = 3;
/// Ratios closer than this print the same.
const EQUAL: f64 = 0.0005;

/// Every cause that adds a fifth of the excess, and up to three more large ones; equal causes are named together or not
/// at all. Tags or keys that jointly add a fifth also count.
pub fn named(causes: &[Cause]) -> Vec<Cause> {
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

/// Leading causes of one kind that are named together: three or more tags or keys if each adds at least half of the
/// first, or two that add the same.
pub(crate) fn alike(causes: &[Cause]) -> impl Iterator<Item = &[Cause]> {
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
