//! Why the state is what it is: the numbers and names that its sentence has.

use crate::metric::Metric;
use crate::name::Name;
use crate::summary::cause::{Cause, CauseKind, State, limit};
use crate::summary::integrity::Sign;
use crate::summary::judge;
use crate::summary::nodes::Nodes;
use crate::summary::split::Split;

/// What a state is explained by.
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
    /// There are keys, but the sum of this metric is 0.
    NoLoad(Metric),
    /// The load of the fullest node.
    Fullest(Fullest),
}

/// The fullest node, and why it is above its fair share.
#[derive(Debug, Clone, PartialEq)]
pub struct Fullest {
    /// How many equal nodes were assumed; absent where the user named the nodes.
    pub assumed_nodes: Option<usize>,
    /// What it is called.
    pub node: Name,
    /// The metric of its load.
    pub by: Metric,
    /// Its load in fair shares.
    pub max_over_mean: f64,
    /// Why.
    pub reason: Reason,
}

/// Why the fullest node is above its fair share, or that it hardly is.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// The dump is damaged, by this sign above all.
    Damaged(Sign),
    /// It is not.
    Even,
    /// So few keys are that uneven by chance.
    TooFewKeys {
        /// All keys.
        keys: u64,
        /// The nodes that they are on.
        nodes: usize,
    },
    /// The causes that add most, largest first.
    Causes(Vec<Cause>),
}

impl Explanation {
    /// Explains `state`. `split` is absent where no node holds anything of `by`.
    pub fn of(
        state: State,
        nodes: &Nodes,
        split: Option<&Split<'_>>,
        by: Metric,
        causes: &[Cause],
        sign: Option<&Sign>,
    ) -> Self {
        let keys = nodes.total(Metric::Keys) as u64;
        let Some(split) = split else {
            return match () {
                () if nodes.unowned.load.keys > 0 && keys == 0 => Explanation::Unowned,
                () if keys > 0 => Explanation::NoLoad(by),
                () if state == State::Suspicious => Explanation::NothingRead,
                () => Explanation::NoKeys,
            };
        };
        let reason = match (state, sign) {
            (State::Suspicious, Some(sign)) => Reason::Damaged(sign.clone()),
            (State::Watch | State::Skewed, _) => Reason::Causes(named(causes)),
            _ if split.max_over_mean > limit::BALANCED
                && judge::has_too_few_keys(split, keys as f64) =>
            {
                Reason::TooFewKeys {
                    keys,
                    nodes: split.nodes,
                }
            }
            _ => Reason::Even,
        };
        Explanation::Fullest(Fullest {
            assumed_nodes: nodes.are_assumed().then_some(nodes.list.len()),
            node: split.fullest.name().clone(),
            by,
            max_over_mean: split.max_over_mean,
            reason,
        })
    }
}

/// Causes that a sentence has room for in addition to those that add a fifth of the excess.
const ROOM: usize = 3;
/// What differs by less is the same to the digits that a sentence has.
const EQUAL: f64 = 0.0005;

/// Every cause that adds a fifth of the excess, and up to three that add much: never one without another of its size.
/// Tags or keys that add a fifth together are a cause as well.
fn named(causes: &[Cause]) -> Vec<Cause> {
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
