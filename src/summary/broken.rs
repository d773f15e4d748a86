//! Evidence that a dump is not what it should be: keys are missing, cut short, there twice or from elsewhere.
//!
//! U the number of units (distinct tags and keys without one), S = 16384 slots. A slot or node that lies this far from
//! what a perfect hash gives such units has never been seen in a clean dump: of 2,600 simulated ones with sequential
//! ids the largest were 33.5 for the 45 of (a), 1.13 of the 99 % quantile for the 4 of (b), 6.5 sigma for the 10 of (c).

use super::nodes::{NodeLoad, Nodes};
use super::sentence::grouped;
use super::units::{Units, UnitsBy};
use super::verdict::{Cause, CauseKind};
use crate::metric::{Metric, PerMetric};
use crate::name::Name;
use crate::slot::SLOTS;

/// A sign that the dump is broken.
#[derive(Debug, Clone, PartialEq)]
pub struct Broken {
    /// What is wrong.
    pub kind: CauseKind,
    /// The node that it is about, if it is about one.
    pub node: Option<Name>,
    /// For people: an end to "the dump does not look whole: ".
    pub what: String,
}

impl Broken {
    /// As a cause: it has no part in the excess, which is that of the keys that are there.
    pub fn cause(&self) -> Cause {
        Cause { kind: self.kind, name: None, node: self.node.clone(), excess: 0.0, max_over_mean_without: None }
    }

    /// Whether the evidence in the counts does not say it already.
    pub fn is_news(&self) -> bool {
        matches!(self.kind, CauseKind::MissingNode | CauseKind::Truncated)
    }
}

/// What counts of the input say that its slots do not.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hints {
    /// The part of the keys that came before already.
    pub duplicate_share: Option<f64>,
    /// Keys of another node than the one their file or line is from.
    pub strays: u64,
}

const S: f64 = SLOTS as f64;
/// (a) e^-45 of all dumps have such a gap by chance.
const SURELY: f64 = 45.0;
/// And this wide: hexadecimal counters leave single slots out. A thousand nodes have as many slots each.
const WIDE: usize = 16;
/// (b) z of the largest of 16384 slots at 99 %, and how many times that is too much: hexadecimal counters come to
/// twice.
const LARGEST: f64 = 4.85;
const TOO_FULL: f64 = 4.0;
/// (c) A node that is off by this part and by this many sigma.
const OFF: f64 = 0.1;
const SIGMA: f64 = 10.0;
/// (d) The part of the keys that may be elsewhere.
const ELSEWHERE: f64 = 0.001;
/// (e) The part of the keys that may come again.
pub const TWICE: f64 = 0.2;

/// All signs, the clearest first. Without tags counted units are not known, and what needs them is not asked.
pub fn signs(nodes: &Nodes, loads: &PerMetric<Vec<u64>>, units: &Units, hints: Hints) -> Vec<Broken> {
    let keys = &units.per.keys;
    let rest = Rest::of(nodes, keys);
    let mut signs = Vec::new();
    signs.extend(twice(hints));
    signs.extend(elsewhere(nodes, keys.total, hints));
    if keys.squares.is_some() {
        let empty_nodes: Vec<_> = nodes.owning().filter(|node| surely_held(node, units.count)).map(missing).collect();
        if empty_nodes.is_empty() {
            signs.extend(gap(&loads.keys, units.count));
        }
        signs.extend(empty_nodes);
        signs.extend(too_full(&loads.keys, keys, &rest));
        if !nodes.is_even() && signs.is_empty() {
            signs.extend(off(nodes, &rest, hints));
        }
    }
    signs
}

/// The units that are not heavy.
struct Rest<'a> {
    heavy: Vec<&'a super::units::Unit>,
    load: f64,
    squares: f64,
    largest: f64,
}

impl<'a> Rest<'a> {
    fn of(nodes: &Nodes, keys: &'a UnitsBy) -> Self {
        let fair = nodes.total(Metric::Keys) as f64 / nodes.owning().count().max(1) as f64;
        let least = keys.least_heavy(fair);
        let split = keys.named.partition_point(|unit| unit.load >= least);
        let (heavy, light) = keys.named.split_at(split);
        let load = (keys.total - heavy.iter().map(|unit| unit.load).sum::<f64>()).max(0.0);
        let heavy_squares = heavy.iter().map(|unit| unit.load.powi(2)).sum::<f64>();
        let squares = (keys.squares.unwrap_or(keys.total) - heavy_squares).max(load);
        let largest = light.first().map_or(1.0, |unit| unit.at_most.max(1.0)).max(keys.unnamed);
        Rest { heavy: heavy.iter().collect(), load, squares, largest }
    }
}

/// (e)
fn twice(hints: Hints) -> Option<Broken> {
    let share = hints.duplicate_share.filter(|share| *share > TWICE)?;
    let what = format!("{:.0} % of its keys came before already: a replica, or the same node twice", 100.0 * share);
    Some(Broken { kind: CauseKind::Duplicates, node: None, what })
}

/// (d)
fn elsewhere(nodes: &Nodes, keys: f64, hints: Hints) -> Option<Broken> {
    let unowned = nodes.unowned.load.keys;
    let foreign = |what| Some(Broken { kind: CauseKind::Foreign, node: None, what });
    match () {
        () if unowned as f64 > ELSEWHERE * keys => foreign(format!(
            "{} of its keys are in slots that no node owns: the topology is that of another cluster, or an old one",
            grouped(unowned)
        )),
        () if hints.strays as f64 > ELSEWHERE * keys => foreign(format!(
            "{} of its keys are in slots of another node than they were taken from: two clusters, or an old topology",
            grouped(hints.strays)
        )),
        () => None,
    }
}

/// (a), for a node.
fn surely_held(node: &NodeLoad, units: f64) -> bool {
    node.load.keys == 0 && node.slots as usize >= WIDE && f64::from(node.slots) / S * units > SURELY
}

fn missing(node: &NodeLoad) -> Broken {
    let name = node.address.as_ref().unwrap_or(&node.id);
    let what = format!("no key is in the slots of node {}: its dump is missing", super::sentence::short(name));
    Broken { kind: CauseKind::MissingNode, node: Some(node.id.clone()), what }
}

/// (a), for slots in a row.
fn gap(keys: &[u64], units: f64) -> Option<Broken> {
    let (mut longest, mut from) = (0..0, 0);
    for (slot, load) in keys.iter().chain([&1]).enumerate() {
        if *load > 0 {
            longest = if slot - from > longest.len() { from..slot } else { longest };
            from = slot + 1;
        }
    }
    (longest.len() >= WIDE && longest.len() as f64 * units / S > SURELY).then(|| {
        let (first, last) = (longest.start, longest.end - 1);
        let what = format!("no key is in slots {first}-{last}: the dump of a node is missing, or it was cut off");
        Broken { kind: CauseKind::MissingNode, node: None, what }
    })
}

/// (b)
fn too_full(keys: &[u64], units: &UnitsBy, rest: &Rest<'_>) -> Option<Broken> {
    if rest.load <= 0.0 || units.total <= 0.0 {
        return None;
    }
    let mut loads: Vec<f64> = keys.iter().map(|load| *load as f64).collect();
    rest.heavy.iter().for_each(|unit| loads[usize::from(unit.slot)] -= unit.at_most);
    let (mean, mean_unit) = (rest.load / S, rest.squares / rest.load);
    let most = TOO_FULL * (mean + LARGEST * (mean * mean_unit).sqrt() + rest.largest);
    let (slot, load) = loads.iter().enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    (*load > most).then(|| {
        let what = format!(
            "slot {slot} holds {} keys that no tag explains, where {} would be many: names were cut short, at a NUL or a newline",
            grouped(*load as u64),
            grouped((most / TOO_FULL) as u64)
        );
        Broken { kind: CauseKind::Truncated, node: None, what }
    })
}

/// (c)
fn off(nodes: &Nodes, rest: &Rest<'_>, hints: Hints) -> Option<Broken> {
    let owned: f64 = nodes.owning().map(|node| f64::from(node.slots)).sum();
    let units = rest.load * rest.load / rest.squares;
    let of = |node: &NodeLoad| {
        let p = f64::from(node.slots) / owned;
        let heavy: f64 =
            rest.heavy.iter().filter(|unit| unit.node.as_ref() == Some(&node.id)).map(|unit| unit.load).sum();
        let over = (node.load.keys as f64 - heavy) / (p * rest.load) - 1.0;
        (over, over.abs() / ((1.0 - p) / (units * p)).sqrt())
    };
    let far = nodes.owning().map(|node| (node, of(node))).filter(|(_, (over, _))| over.is_finite());
    let (node, (over, sigma)) = far.max_by(|(_, (_, a)), (_, (_, b))| a.total_cmp(b))?;
    if over.abs() <= OFF || sigma <= SIGMA {
        return None;
    }
    let repeated = hints.duplicate_share.is_some_and(|share| share > 0.005);
    let (kind, why) = match over > 0.0 {
        false => (CauseKind::MissingNode, "a part of its dump is missing"),
        true if repeated => (CauseKind::Duplicates, "it is in the dump twice, or with a replica"),
        true => (CauseKind::Foreign, "keys of another cluster are among them"),
    };
    let name = super::sentence::short(node.address.as_ref().unwrap_or(&node.id));
    let side = if over > 0.0 { "above" } else { "below" };
    let what = format!(
        "beside heavy tags node {name} is {:.0} % {side} its part, which no hash does: {why}",
        100.0 * over.abs()
    );
    Some(Broken { kind, node: Some(node.id.clone()), what })
}
