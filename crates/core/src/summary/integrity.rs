//! Evidence that a dump is not what it should be: keys are missing, cut short, there twice or from elsewhere.
//!
//! U the number of units (distinct tags and keys without one), S = 16384 slots. A slot or node that lies this far from
//! what a perfect hash gives such units has never been seen in a clean dump: of 2,600 simulated ones with sequential
//! ids the largest were 33.5 for the 45 of (a), 1.13 of the 99 % quantile for the 2 of (b), 6.5 sigma for the 10 of (c).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::{Metric, PerMetric};
use crate::name::Name;
use crate::slot::SLOTS;
use crate::summary::independent_units::{Unit, UnitKind, Units, UnitsBy};
use crate::summary::nodes::{NodeLoad, Nodes};
use crate::summary::worded::Worded;

/// A sign that the dump is damaged.
#[derive(Debug, Clone, PartialEq)]
pub enum Sign {
    /// The input could not be read to its end.
    Incomplete,
    /// Lines are errors of a server or of redis-cli: a scan broke off.
    ErrorLines {
        /// How many.
        lines: u64,
    },
    /// Many keys occur more than once.
    Duplicates {
        /// The part of the keys that occurred before.
        share: f64,
    },
    /// The keys of one node occur more than once.
    NodeTwice {
        /// The node.
        node: NodeName,
        /// The part of its keys that occurred before.
        share: f64,
    },
    /// Keys are in slots that no node owns.
    UnownedKeys {
        /// How many.
        keys: u64,
    },
    /// Keys are in slots of another node than they were taken from.
    StrayKeys {
        /// How many.
        keys: u64,
    },
    /// The slots of a node are empty.
    EmptyNode {
        /// The node.
        node: NodeName,
    },
    /// The input is the RDB file of one node of a cluster, and all its keys are between two slots.
    OneNode {
        /// The first slot with keys.
        first: usize,
        /// The last one.
        last: usize,
    },
    /// Consecutive slots are empty.
    EmptySlots {
        /// The first slot.
        first: usize,
        /// The last slot.
        last: usize,
    },
    /// A slot holds far more keys than any tag explains.
    OverfullSlot {
        /// The slot.
        slot: usize,
        /// Its keys that no tag explains.
        keys: u64,
        /// So many would be unusual already.
        unusual: u64,
    },
    /// The load of a node is further from its share than hashing explains.
    UnlikelyNode {
        /// The node.
        node: NodeName,
        /// How far it is above its share, as a part of the share.
        over: f64,
        /// What is likely wrong: `MissingNode`, `Duplicates` or `Foreign`.
        damage: Damage,
        /// Whether there is one other node, so that either may be the one that is wrong.
        of_two: bool,
    },
}

/// A node by its id and by the name that sentences use.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeName {
    /// Its id.
    pub id: Name,
    /// Its address, or its id where the address is not known.
    pub name: Name,
}

impl From<&NodeLoad> for NodeName {
    fn from(node: &NodeLoad) -> Self {
        NodeName {
            id: node.id.clone(),
            name: node.name().clone(),
        }
    }
}

/// What is wrong with a dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Damage {
    /// The input could not be read to its end.
    Incomplete,
    /// Keys of a node, or a part of them, are missing.
    MissingNode,
    /// Names were cut short.
    Truncated,
    /// Keys occur twice.
    Duplicates,
    /// Keys are from elsewhere.
    Foreign,
}

/// Evidence that the dump is not whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Integrity {
    /// What is wrong.
    pub kind: Damage,
    /// The node that is concerned.
    pub node: Option<Name>,
    /// The evidence in a sentence.
    #[serde(default)]
    pub sentence: Worded<Sign>,
}

impl From<&Sign> for Integrity {
    fn from(sign: &Sign) -> Self {
        Integrity {
            kind: sign.kind(),
            node: match sign {
                Sign::EmptyNode { node }
                | Sign::UnlikelyNode { node, .. }
                | Sign::NodeTwice { node, .. } => Some(node.id.clone()),
                _ => None,
            },
            sentence: sign.clone().into(),
        }
    }
}

impl Sign {
    /// The kind of damage.
    pub fn kind(&self) -> Damage {
        match self {
            Sign::Incomplete | Sign::ErrorLines { .. } => Damage::Incomplete,
            Sign::Duplicates { .. } | Sign::NodeTwice { .. } => Damage::Duplicates,
            Sign::UnownedKeys { .. } | Sign::StrayKeys { .. } => Damage::Foreign,
            Sign::OneNode { .. } | Sign::EmptyNode { .. } | Sign::EmptySlots { .. } => {
                Damage::MissingNode
            }
            Sign::OverfullSlot { .. } => Damage::Truncated,
            Sign::UnlikelyNode { damage, .. } => *damage,
        }
    }

    /// Whether the loads of slots and nodes alone show it.
    pub fn is_of_loads(&self) -> bool {
        matches!(
            self,
            Sign::EmptyNode { .. }
                | Sign::OneNode { .. }
                | Sign::EmptySlots { .. }
                | Sign::OverfullSlot { .. }
                | Sign::UnlikelyNode { .. }
        )
    }

    /// Whether the counts of the input do not show it already.
    pub fn is_news(&self) -> bool {
        matches!(self.kind(), Damage::MissingNode | Damage::Truncated)
    }
}

/// The share of repeated keys in a set of slots.
pub type DuplicatesIn<'a> = dyn Fn(&dyn Fn(u16) -> bool) -> Option<f64> + 'a;

/// Counts of the input that the loads of slots do not show.
#[derive(Clone, Copy)]
pub struct InputCounts<'a> {
    /// Whether a part of the input could not be read.
    pub is_incomplete: bool,
    /// Whether it is one RDB file, of a server in cluster mode.
    pub is_of_one_server: bool,
    /// Lines that are errors of a server or of redis-cli.
    pub error_lines: u64,
    /// The part of the keys that occurred before.
    pub duplicate_share: Option<f64>,
    /// The same of the keys in a set of slots.
    pub duplicates_in: &'a DuplicatesIn<'a>,
    /// Keys in a slot whose name is that of another key: names without an id that occur often.
    pub repeats_of_slot: &'a dyn Fn(u16) -> u64,
    /// Keys in the slots of another node than their file or line is from.
    pub strays: u64,
}

const S: f64 = SLOTS as f64;
/// (a) e^-45 of all dumps have such a gap by chance.
const SURELY: f64 = 45.0;
/// The same of the one RDB file of a server in cluster mode, of which there are others: e^-7 have one such gap.
const LIKELY: f64 = 7.0;
/// And this wide: hexadecimal counters leave single slots out. A thousand nodes have as many slots each.
const WIDE: usize = 16;
/// (b) z of the largest of 16384 slots at 99 %, and how many times that is too much where the keys of the slot repeat:
/// this part of them.
const LARGEST: f64 = 4.85;
const TOO_FULL: f64 = 2.0;
const REPEATED: f64 = 0.5;
/// A unit is set apart only if it also has so many times the average: where all units are alike, none is an outlier.
const STANDS_OUT: f64 = 3.0;
/// (c) A node that is off by this part and by this many sigma.
const OFF: f64 = 0.1;
const SIGMA: f64 = 10.0;
/// (d) The part of the keys that may be elsewhere.
const ELSEWHERE: f64 = 0.001;
/// (e) The part of the keys that may come again.
pub const TWICE: f64 = 0.2;
/// Repeats elsewhere, as a part of those of one node, and the least keys that are enough to tell.
const ELSEWHERE_REPEATED: f64 = 0.1;
const FEW: u64 = 100;

/// All signs, the clearest first. Without tags counted units are not known, and what needs them is not asked.
pub fn signs(
    nodes: &Nodes,
    loads: &PerMetric<Vec<u64>>,
    units: &Units,
    counts: InputCounts<'_>,
) -> Vec<Sign> {
    let keys = &units.per.keys;
    let rest = Rest::of(nodes, keys);
    let mut signs = Vec::new();
    signs.extend(counts.is_incomplete.then_some(Sign::Incomplete));
    let lines = counts.error_lines;
    signs.extend((lines > 0).then_some(Sign::ErrorLines { lines }));
    signs.extend(twice(nodes, counts));
    signs.extend(elsewhere(nodes, keys.total, counts));
    if keys.squares.is_some() {
        let empty_nodes: Vec<_> = nodes
            .owning()
            .filter(|node| surely_held(node, units.count))
            .map(|node| Sign::EmptyNode { node: node.into() })
            .collect();
        let of_one_node = counts
            .is_of_one_server
            .then(|| one_node(&loads.keys, units.count));
        match of_one_node.flatten() {
            Some(sign) => signs.push(sign),
            None if empty_nodes.is_empty() => signs.extend(gap(&loads.keys, units.count, SURELY)),
            None => signs.extend(empty_nodes),
        }
        signs.extend(too_full(&loads.keys, keys, &rest, counts));
        if !nodes.is_even() && signs.is_empty() {
            signs.extend(off(nodes, &rest, counts));
        }
    }
    signs
}

/// The units that are not heavy.
struct Rest<'a> {
    heavy: Vec<&'a Unit>,
    load: f64,
    squares: f64,
    largest: f64,
}

impl<'a> Rest<'a> {
    fn of(nodes: &Nodes, keys: &'a UnitsBy) -> Self {
        let fair = nodes.total(Metric::Keys) as f64 / nodes.owning().count().max(1) as f64;
        let average = if keys.count > 0.0 {
            keys.total / keys.count
        } else {
            0.0
        };
        let least = keys.least_heavy(fair).max(STANDS_OUT * average);
        let split = keys.named.partition_point(|unit| unit.load >= least);
        let (heavy, light) = keys.named.split_at(split);
        let load = (keys.total - heavy.iter().map(|unit| unit.load).sum::<f64>()).max(0.0);
        let heavy_squares = heavy.iter().map(|unit| unit.load.powi(2)).sum::<f64>();
        let squares = (keys.squares.unwrap_or(keys.total) - heavy_squares).max(load);
        let largest = light
            .first()
            .map_or(1.0, |unit| unit.at_most.max(1.0))
            .max(keys.unnamed);
        Rest {
            heavy: heavy.iter().collect(),
            load,
            squares,
            largest,
        }
    }
}

/// (e)
fn twice(nodes: &Nodes, counts: InputCounts<'_>) -> Option<Sign> {
    let share = counts.duplicate_share?;
    if share > TWICE {
        return Some(Sign::Duplicates { share });
    }
    // Hardly any repeats but those of one node: its dump occurs twice, or with its replica's.
    let owned = |node: &NodeLoad| {
        let ranges = node.ranges.clone();
        move |slot: u16| {
            ranges
                .iter()
                .any(|(first, last)| (*first..=*last).contains(&slot))
        }
    };
    let of = |node: &NodeLoad| (counts.duplicates_in)(&owned(node)).unwrap_or(0.0);
    let (node, most) = nodes
        .owning()
        .map(|node| (node, of(node)))
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(node, most)| *most > TWICE && node.load.keys >= FEW)?;
    let is_here = owned(node);
    let elsewhere = (counts.duplicates_in)(&|slot| !is_here(slot)).unwrap_or(0.0);
    (elsewhere < ELSEWHERE_REPEATED * most).then(|| Sign::NodeTwice {
        node: node.into(),
        share: most,
    })
}

/// (d)
fn elsewhere(nodes: &Nodes, keys: f64, counts: InputCounts<'_>) -> Option<Sign> {
    let (unowned, strays) = (nodes.unowned.load.keys, counts.strays);
    let is_many = |elsewhere: u64| elsewhere as f64 > ELSEWHERE * keys;
    match () {
        () if is_many(unowned) => Some(Sign::UnownedKeys { keys: unowned }),
        () if is_many(strays) => Some(Sign::StrayKeys { keys: strays }),
        () => None,
    }
}

/// (a), for a node.
fn surely_held(node: &NodeLoad, units: f64) -> bool {
    node.load.keys == 0 && node.slots as usize >= WIDE && f64::from(node.slots) / S * units > SURELY
}

/// (a), for slots in a row.
fn gap(keys: &[u64], units: f64, surely: f64) -> Option<Sign> {
    let (mut longest, mut from) = (0..0, 0);
    for (slot, load) in keys.iter().chain([&1]).enumerate() {
        if *load > 0 {
            longest = if slot - from > longest.len() {
                from..slot
            } else {
                longest
            };
            from = slot + 1;
        }
    }
    let is_sure = longest.len() >= WIDE && longest.len() as f64 * units / S > surely;
    is_sure.then(|| Sign::EmptySlots {
        first: longest.start,
        last: longest.end - 1,
    })
}

/// (a), for the file of one server of a cluster: other nodes have the slots around or between its own.
fn one_node(keys: &[u64], units: f64) -> Option<Sign> {
    let empty = gap(keys, units, (units.max(1.0).ln() + LIKELY).min(SURELY))?;
    let is_held = |keys: &u64| *keys > 0;
    let (first, last) = (
        keys.iter().position(is_held)?,
        keys.iter().rposition(is_held)?,
    );
    let is_outside = |sign: &Sign| match sign {
        Sign::EmptySlots { first: from, .. } => !(first..=last).contains(from),
        _ => false,
    };
    match is_outside(&empty) {
        true => Some(Sign::OneNode { first, last }),
        false => Some(empty),
    }
}

/// (b)
fn too_full(
    keys: &[u64],
    units: &UnitsBy,
    rest: &Rest<'_>,
    counts: InputCounts<'_>,
) -> Option<Sign> {
    if rest.load <= 0.0 || units.total <= 0.0 {
        return None;
    }
    let mut loads: Vec<f64> = keys.iter().map(|load| *load as f64).collect();
    let tags = units.named.iter().filter(|unit| unit.kind == UnitKind::Tag);
    tags.for_each(|tag| loads[usize::from(tag.slot)] -= tag.at_most);
    let (mean, mean_unit) = (rest.load / S, rest.squares / rest.load);
    let most = TOO_FULL * (mean + LARGEST * (mean * mean_unit).sqrt() + rest.largest);
    let (slot, load) = loads
        .iter()
        .enumerate()
        .max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let repeats = || {
        let slot = slot as u16;
        let duplicates = (counts.duplicates_in)(&|other| other == slot).unwrap_or(0.0);
        duplicates > REPEATED || (counts.repeats_of_slot)(slot) as f64 > REPEATED * load
    };
    (*load > most && repeats()).then(|| Sign::OverfullSlot {
        slot,
        keys: *load as u64,
        unusual: (most / TOO_FULL) as u64,
    })
}

/// (c)
fn off(nodes: &Nodes, rest: &Rest<'_>, counts: InputCounts<'_>) -> Option<Sign> {
    let of_mean = off_from(nodes, rest, |loads| {
        let (load, slots) = loads
            .iter()
            .fold((0.0, 0.0), |(load, slots), of| (load + of.0, slots + of.1));
        load / slots
    });
    if of_mean.is_empty() {
        return None;
    }
    // What one node lacks puts all others above the mean: those are not at fault.
    let of_median = off_from(nodes, rest, |loads| {
        let mut densities: Vec<f64> = loads.iter().map(|(load, slots)| load / slots).collect();
        densities.sort_by(f64::total_cmp);
        let (upper, lower) = (densities.len() / 2, (densities.len() - 1) / 2);
        (densities[upper] + densities[lower]) / 2.0
    });
    let off = if of_median.is_empty() {
        of_mean
    } else {
        of_median
    };
    let by_far = |a: &&(&NodeLoad, f64), b: &&(&NodeLoad, f64)| a.1.total_cmp(&b.1);
    let (fullest, emptiest) = (off.iter().max_by(by_far)?, off.iter().min_by(by_far)?);
    let repeated = counts.duplicate_share.is_some_and(|share| share > 0.005);
    let ((node, over), damage) = match () {
        () if repeated && fullest.1 > 0.0 => (fullest, Damage::Duplicates),
        () if emptiest.1 < 0.0 => (emptiest, Damage::MissingNode),
        () => (fullest, Damage::Foreign),
    };
    Some(Sign::UnlikelyNode {
        node: (*node).into(),
        over: *over,
        damage,
        of_two: nodes.owning().count() == 2,
    })
}

/// The nodes that are further off than hashing explains, and how far, where a slot usually holds what `usual` makes of the
/// load and the slots of each node.
fn off_from<'a>(
    nodes: &'a Nodes,
    rest: &Rest<'_>,
    usual: impl Fn(&[(f64, f64)]) -> f64,
) -> Vec<(&'a NodeLoad, f64)> {
    let owned: f64 = nodes.owning().map(|node| f64::from(node.slots)).sum();
    let units = rest.load * rest.load / rest.squares;
    let light = |node: &NodeLoad| {
        let heavy = rest
            .heavy
            .iter()
            .filter(|unit| unit.node.as_ref() == Some(&node.id));
        let heavy: f64 = heavy.map(|unit| unit.load).sum();
        (node.load.keys as f64 - heavy, f64::from(node.slots))
    };
    let usual = usual(&nodes.owning().map(light).collect::<Vec<_>>());
    let of = |node: &'a NodeLoad| {
        let (load, slots) = light(node);
        let (over, p) = (load / (slots * usual) - 1.0, slots / owned);
        let sigma = over.abs() / ((1.0 - p) / (units * p)).sqrt();
        (over.is_finite() && over.abs() > OFF && sigma > SIGMA).then_some((node, over))
    };
    nodes.owning().filter_map(of).collect()
}
