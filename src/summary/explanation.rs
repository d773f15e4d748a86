//! Why the verdict is what it is: the numbers and names that its sentence states.

use crate::metric::Metric;
use crate::name::Name;
use crate::summary::cause::{CauseKind, Verdict, limit};
use crate::summary::independent_units::Unit;
use crate::summary::integrity::Sign;
use crate::summary::nodes::Nodes;
use crate::summary::split::Split;

/// What a verdict is explained by.
#[derive(Debug, Clone, PartialEq)]
pub enum Explanation {
    /// The input could not be read to its end, and the part that was read holds no key.
    NothingRead,
    /// All keys are in slots that no node owns.
    Unowned,
    /// There are no keys.
    NoKeys,
    /// The load of the fullest node.
    Fullest(Fullest),
}

/// The fullest node, and why it is above its fair share.
#[derive(Debug, Clone, PartialEq)]
pub struct Fullest {
    /// How many equal nodes were assumed; absent where the user named the nodes.
    pub assumed_nodes: Option<usize>,
    /// Its address, or its id where the address is not known.
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
    /// The input could not be read to its end.
    Incomplete,
    /// Tags were not counted.
    TagsNotCounted,
    /// Chance, with so few independent units.
    Chance {
        /// How many equal units the load behaves like.
        units: f64,
    },
    /// The nodes are even.
    Even,
    /// The nodes are even; tags make the slots uneven.
    EvenButTagged,
    /// The node owns too many slots.
    Placement {
        /// Its slots.
        slots: u32,
        /// The slots of an equal share.
        fair_slots: u32,
    },
    /// One heavy tag or key.
    HeavyUnit {
        /// Which.
        unit: NamedUnit,
        /// The node's load in fair shares without it.
        without: f64,
    },
    /// Several heavy tags or keys.
    HeavyUnits {
        /// The heaviest.
        heaviest: NamedUnit,
        /// The node's load in fair shares without all of them.
        without: f64,
    },
    /// None of the causes above is at least half of the excess.
    Unexplained,
}

/// A tag or a key.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedUnit {
    /// `CauseKind::Tag` or `CauseKind::Key`.
    pub kind: CauseKind,
    /// Its bytes.
    pub name: Name,
}

impl From<&Unit> for NamedUnit {
    fn from(unit: &Unit) -> Self {
        NamedUnit {
            kind: unit.kind,
            name: unit.name.clone(),
        }
    }
}

impl Explanation {
    /// Explains `verdict`. `split` is absent where no node holds anything; `tags_counted` says whether tags can be
    /// named as causes.
    pub fn of(
        verdict: Verdict,
        nodes: &Nodes,
        split: Option<&Split<'_>>,
        by: Metric,
        tags_counted: bool,
        sign: Option<&Sign>,
    ) -> Self {
        let Some(split) = split else {
            return match sign {
                None if verdict == Verdict::Suspicious => Explanation::NothingRead,
                _ if nodes.unowned.load.keys > 0 => Explanation::Unowned,
                _ => Explanation::NoKeys,
            };
        };
        let assumed = format!("assumed even {}", nodes.list.len());
        Explanation::Fullest(Fullest {
            assumed_nodes: (nodes.source.0 == assumed.as_bytes()).then_some(nodes.list.len()),
            node: split.fullest.name().clone(),
            by,
            max_over_mean: split.max_over_mean,
            reason: sign.map_or_else(
                || Reason::of(verdict, split, tags_counted),
                |sign| Reason::Damaged(sign.clone()),
            ),
        })
    }
}

impl Reason {
    fn of(verdict: Verdict, split: &Split<'_>, tags_counted: bool) -> Self {
        let m = split.max_over_mean;
        let heaviest = split
            .heavy
            .iter()
            .max_by(|(_, a), (_, b)| a.total_cmp(b))
            .filter(|(_, excess)| *excess > 0.0);
        match (verdict, heaviest) {
            (Verdict::Suspicious, _) => Reason::Incomplete,
            (Verdict::Watch | Verdict::Skewed, _) if !tags_counted => Reason::TagsNotCounted,
            (Verdict::Balanced | Verdict::Tagged, _)
                if m >= limit::BALANCED && split.is_chance() =>
            {
                Reason::Chance {
                    units: split.rest_units,
                }
            }
            (Verdict::Balanced | Verdict::Empty, _) => Reason::Even,
            (Verdict::Tagged, _) => Reason::EvenButTagged,
            (Verdict::Placement, _) => Reason::Placement {
                slots: split.fullest.slots,
                fair_slots: split.owned_slots / split.nodes as u32,
            },
            (_, Some((unit, excess))) if *excess >= (m - 1.0) / 2.0 => Reason::HeavyUnit {
                unit: NamedUnit::from(*unit),
                without: m - excess,
            },
            (_, Some((unit, _))) if split.heavy_excess() >= (m - 1.0) / 2.0 => Reason::HeavyUnits {
                heaviest: NamedUnit::from(*unit),
                without: m - split.heavy_excess(),
            },
            _ => Reason::Unexplained,
        }
    }
}
