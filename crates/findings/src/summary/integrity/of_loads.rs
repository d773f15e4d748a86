//! Signs of damage in slot and node loads.
//!
//! U is the number of units (distinct tags and untagged keys), S = 16384 slots. The limits are beyond anything seen in
//! clean dumps: among 2,600 simulated ones with sequential ids, the extremes were 33.5 against the limit of 45 in (a),
//! 1.13 of the 99% quantile against 2 in (b), and 6.5 sigma against 10 in (c).

use slotscope_base::metric::{Metric, PerMetric};
use slotscope_base::name::Name;
use slotscope_base::slot::SLOTS;
use slotscope_base::text::short;

use crate::summary::integrity::{TWICE, of_files};
use crate::wording::integrity as said;
use slotscope_model::independent_units::{Unit, UnitKind, Units, UnitsBy};
use slotscope_model::integrity::{Damage, Integrity};
use slotscope_model::limit;
use slotscope_model::nodes::{NodeLoad, Nodes};
use slotscope_topology::ranges;

/// The share of repeated keys in a set of slots.
pub(crate) type DuplicatesIn<'a> = dyn Fn(&dyn Fn(u16) -> bool) -> Option<f64> + 'a;

/// Counts of the input that slot loads do not show.
#[derive(Clone, Copy)]
pub(crate) struct InputCounts<'a> {
    /// Whether part of the input could not be read.
    pub is_incomplete: bool,
    /// Whether it is one RDB file of a server in cluster mode.
    pub is_of_one_server: bool,
    /// Whether it lacks nothing that the servers have.
    pub is_of_all_servers: bool,
    /// Lines that are server or redis-cli errors.
    pub error_lines: u64,
    /// The fraction of keys seen before.
    pub duplicate_share: Option<f64>,
    /// The same for the keys in a set of slots.
    pub duplicates_in: &'a DuplicatesIn<'a>,
    /// Keys in a slot that share their name with another key: frequent names without an id.
    pub repeats_of_slot: &'a dyn Fn(u16) -> u64,
    /// Keys in slots of a node other than the one their file or line is from.
    pub strays: u64,
    /// Keys that a node has evicted since it started.
    pub evicted: &'a dyn Fn(&NodeLoad) -> u64,
}

const S: f64 = SLOTS as f64;
/// A gap this large occurs by chance in e^-45 of all dumps.
const SURELY: f64 = 45.0;
/// The limit for a single RDB file of a server in cluster mode, which implies other nodes: one gap in e^7 dumps.
const LIKELY: f64 = 7.0;
/// Minimum width of a gap: hexadecimal counters skip single slots. With a thousand nodes, each has about this many
/// slots.
const WIDE: usize = 16;
/// (a) A node holds nearly all keys if the others hold at most this fraction, and random units do that once in e^20
/// dumps.
const NEARLY_NONE: f64 = 0.001;
const HARDLY: f64 = 20.0;
/// (b) z of the largest of 16384 slots at 99%, the tolerated multiple of it, and the fraction of repeated keys in the
/// slot that counts.
const LARGEST: f64 = 4.85;
const TOO_FULL: f64 = 2.0;
const REPEATED: f64 = 0.5;
/// A unit is treated separately only if it also has this many times the average: among equal units, none is an outlier.
const STANDS_OUT: f64 = 3.0;
/// (c) A node is off by this fraction and this many sigma.
const OFF: f64 = 0.1;
const SIGMA: f64 = 10.0;
/// (d) Tolerated fraction of stray keys.
const ELSEWHERE: f64 = 0.001;
/// Repeats elsewhere, as a fraction of those of one node, and the minimum number of keys to tell.
const ELSEWHERE_REPEATED: f64 = 0.1;
const FEW: u64 = 100;

/// All signs, clearest first. Checks that need units are skipped if tags were not counted.
pub(crate) fn signs(
    nodes: &Nodes,
    loads: &PerMetric<Vec<u64>>,
    units: &Units,
    counts: InputCounts<'_>,
) -> Vec<Integrity> {
    let keys = &units.per.keys;
    let rest = Rest::of(nodes, keys, &loads.keys);
    let mut signs = Vec::new();
    signs.extend(counts.is_incomplete.then(of_files::incomplete));
    let lines = counts.error_lines;
    signs.extend((lines > 0).then(|| {
        let sentence = said::error_lines(lines);
        Integrity::new(Damage::Incomplete, sentence)
    }));
    signs.extend(twice(nodes, counts));
    signs.extend(elsewhere(nodes, keys.total, counts));
    if keys.squares.is_some() {
        let empty_nodes: Vec<_> = nodes
            .owning()
            .filter(|node| surely_held(node, units.count))
            .map(|node| empty_node(node, counts.is_of_all_servers))
            .collect();
        let of_one_node = counts
            .is_of_one_server
            .then(|| one_node(nodes, &loads.keys, units.count));
        let only = || only_node(nodes, &rest);
        let gap = || gap(&loads.keys, units.count, SURELY).map(|slots| empty_slots(slots, nodes));
        // The lack of a node is measured before a cause is guessed from a run of empty slots.
        let low = || {
            let off = off(nodes, &rest, counts).filter(|sign| sign.kind == Damage::MissingNode);
            off.filter(|_| !nodes.is_even())
        };
        match of_one_node.flatten() {
            Some(sign) => signs.push(sign),
            None if empty_nodes.is_empty() => signs.extend(only().or_else(low).or_else(gap)),
            None => signs.extend(empty_nodes),
        }
        signs.extend(too_full(&loads.keys, keys, &rest, counts));
        if signs.is_empty() {
            signs.extend(if nodes.is_even() {
                lacking(nodes, &rest)
            } else {
                off(nodes, &rest, counts)
            });
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
    /// The variance of slot loads around the mean of their node.
    of_slots: f64,
}

impl<'a> Rest<'a> {
    fn of(nodes: &Nodes, keys: &'a UnitsBy, loads: &[u64]) -> Self {
        let fair = nodes.total(Metric::Keys) as f64 / nodes.owning().count().max(1) as f64;
        let average = if keys.count > 0.0 {
            keys.total / keys.count
        } else {
            0.0
        };
        let least = (limit::HEAVY * fair).max(STANDS_OUT * average);
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
            of_slots: within_nodes(nodes, heavy, loads),
        }
    }

    /// The load of a node without heavy units.
    fn on(&self, node: &NodeLoad) -> f64 {
        let heavy = self.heavy.iter();
        let on_node = heavy.filter(|unit| unit.node.as_ref() == Some(&node.id));
        node.load.keys as f64 - on_node.map(|unit| unit.load).sum::<f64>()
    }
}

/// The variance of slot loads without the `heavy` units, around their owner's mean. If many units share few slots, it
/// is far above what the number of units predicts.
fn within_nodes(nodes: &Nodes, heavy: &[Unit], loads: &[u64]) -> f64 {
    let mut loads: Vec<f64> = loads.iter().map(|load| *load as f64).collect();
    for unit in heavy {
        if let Some(load) = loads.get_mut(usize::from(unit.slot)) {
            *load -= unit.load;
        }
    }
    let (mut squares, mut slots) = (0.0, 0.0);
    for node in nodes.owning() {
        let own: Vec<f64> = ranges::slots(&node.ranges)
            .filter_map(|slot| loads.get(usize::from(slot)).copied())
            .collect();
        let mean = own.iter().sum::<f64>() / own.len().max(1) as f64;
        squares += own.iter().map(|load| (load - mean).powi(2)).sum::<f64>();
        slots += own.len() as f64 - 1.0;
    }
    squares / slots.max(1.0)
}

/// (e)
fn twice(nodes: &Nodes, counts: InputCounts<'_>) -> Option<Integrity> {
    let share = counts.duplicate_share?;
    if share > TWICE {
        return Some(Integrity::new(Damage::Duplicates, said::duplicates(share)));
    }
    // Nearly all repeats are on one node: its dump is given twice, or together with its replica's.
    let owned = |node: &NodeLoad| {
        let ranges = node.ranges.clone();
        move |slot: u16| {
            ranges
                .iter()
                .any(|(first, last)| (*first..=*last).contains(&slot))
        }
    };
    let repeated_of = |node: &NodeLoad| (counts.duplicates_in)(&owned(node)).unwrap_or(0.0);
    let (node, most) = nodes
        .owning()
        .map(|node| (node, repeated_of(node)))
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(node, most)| *most > TWICE && node.load.keys >= FEW)?;
    let is_here = owned(node);
    let elsewhere = (counts.duplicates_in)(&|slot| !is_here(slot)).unwrap_or(0.0);
    (elsewhere < ELSEWHERE_REPEATED * most).then(|| {
        let sentence = said::node_twice(&node.name(), most);
        Integrity::new(Damage::Duplicates, sentence).on(node)
    })
}

/// (d)
fn elsewhere(nodes: &Nodes, keys: f64, counts: InputCounts<'_>) -> Option<Integrity> {
    let (unowned, strays) = (nodes.unowned.load.keys, counts.strays);
    let is_many = |elsewhere: u64| elsewhere as f64 > ELSEWHERE * keys;
    let sentence = match () {
        () if is_many(unowned) => said::unowned_keys(unowned),
        () if is_many(strays) => said::stray_keys(strays),
        () => return None,
    };
    Some(Integrity::new(Damage::Foreign, sentence))
}

/// The slots of a node are empty; if nothing is missing that servers have, its server has no keys.
fn empty_node(node: &NodeLoad, is_of_all_servers: bool) -> Integrity {
    let name = short(&node.name());
    let sign = if is_of_all_servers {
        Integrity::of_loads(Damage::EmptyServer, said::empty_server(&name))
    } else {
        Integrity::of_loads(Damage::MissingNode, said::missing_node(&name))
    };
    sign.on(node)
}

fn empty_slots((first, last): (usize, usize), nodes: &Nodes) -> Integrity {
    let is_in = |(from, to): &(u16, u16)| usize::from(*from) <= first && last <= usize::from(*to);
    let mut owning = nodes.owning().filter(|_| !nodes.is_even());
    let node = owning.find(|node| node.ranges.iter().any(is_in));
    let name = node.map(|node| node.label().to_string());
    let sentence = said::empty_slots(first, last, name.as_deref());
    Integrity::of_loads(Damage::MissingNode, sentence)
}

/// (a), for a node.
fn surely_held(node: &NodeLoad, units: f64) -> bool {
    node.load.keys == 0 && node.slots as usize >= WIDE && f64::from(node.slots) / S * units > SURELY
}

/// (a), for all nodes but one: however few units there are, they do not all land on one node by chance.
fn only_node(nodes: &Nodes, rest: &Rest<'_>) -> Option<Integrity> {
    let (keys, owned) = nodes.owning().fold((0.0, 0.0), |(keys, slots), node| {
        (keys + node.load.keys as f64, slots + f64::from(node.slots))
    });
    let node = nodes.owning().max_by_key(|node| node.load.keys)?;
    let p = f64::from(node.slots) / owned;
    let others = nodes.owning().count() - 1;
    let units = rest.load * rest.load / rest.squares.max(f64::MIN_POSITIVE);
    let has_all = keys - node.load.keys as f64 <= NEARLY_NONE * keys
        && rest.load - rest.on(node) <= NEARLY_NONE * rest.load;
    let is_certain = has_all && -units * p.ln() > HARDLY;
    (others > 0 && !nodes.is_even() && is_certain).then(|| {
        let sentence = said::only_node(&node.name(), others);
        Integrity::of_loads(Damage::MissingNode, sentence).on(node)
    })
}

/// (a), for consecutive slots.
fn gap(keys: &[u64], units: f64, surely: f64) -> Option<(usize, usize)> {
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
    is_sure.then(|| (longest.start, longest.end - 1))
}

/// (a), for the file of one cluster server: other nodes have the slots around or between its own.
fn one_node(nodes: &Nodes, keys: &[u64], units: f64) -> Option<Integrity> {
    let empty = gap(keys, units, (units.max(1.0).ln() + LIKELY).min(SURELY))?;
    let is_held = |keys: &u64| *keys > 0;
    let (first, last) = (
        keys.iter().position(is_held)?,
        keys.iter().rposition(is_held)?,
    );
    if (first..=last).contains(&empty.0) {
        return Some(empty_slots(empty, nodes));
    }
    Some(Integrity::of_loads(
        Damage::MissingNode,
        said::one_node(first, last),
    ))
}

/// (b)
fn too_full(
    keys: &[u64],
    units: &UnitsBy,
    rest: &Rest<'_>,
    counts: InputCounts<'_>,
) -> Option<Integrity> {
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
        let duplicates = (counts.duplicates_in)(&|repeated| repeated == slot).unwrap_or(0.0);
        duplicates > REPEATED || (counts.repeats_of_slot)(slot) as f64 > REPEATED * load
    };
    (*load > most && repeats()).then(|| {
        let sentence = said::overfull_slot(slot, *load as u64, (most / TOO_FULL) as u64);
        Integrity::of_loads(Damage::Truncated, sentence)
    })
}

/// (c)
fn off(nodes: &Nodes, rest: &Rest<'_>, counts: InputCounts<'_>) -> Option<Integrity> {
    let of_mean = off_from(nodes, rest, mean_density);
    if of_mean.is_empty() {
        return None;
    }
    // If one node lacks keys, all others are above the mean but not at fault.
    let of_median = off_from(nodes, rest, median_density);
    let mut off = if of_median.is_empty() {
        of_mean
    } else {
        of_median
    };
    // The node itself lost these keys to eviction; its dump is complete.
    off.retain(|off| !(off.over < 0.0 && (counts.evicted)(off.node) as f64 >= off.lacks()));
    let by_far = |a: &&Off<'_>, b: &&Off<'_>| a.over.total_cmp(&b.over);
    let (fullest, emptiest) = (off.iter().max_by(by_far)?, off.iter().min_by(by_far)?);
    let repeated = counts.duplicate_share.is_some_and(|share| share > 0.005);
    let (node, damage) = match () {
        () if repeated && fullest.over > 0.0 => (fullest, Damage::Duplicates),
        () if emptiest.over < 0.0 => (emptiest, Damage::MissingNode),
        () => (fullest, Damage::Foreign),
    };
    let others = off.iter().filter(|other| other.node.id != node.node.id);
    let others = others.map(|other| (other.node.name(), other.over));
    Some(node.sign(nodes, damage, &others.collect::<Vec<_>>()))
}

/// (c), for an even split: if all nodes but one are equally full, the low one lost keys. One above the others may be
/// due to chance or ids.
fn lacking(nodes: &Nodes, rest: &Rest<'_>) -> Option<Integrity> {
    let off = off_from(nodes, rest, median_density);
    let by_far = |a: &&Off<'_>, b: &&Off<'_>| a.over.total_cmp(&b.over);
    let emptiest = off.iter().min_by(by_far)?;
    let are_low = off.iter().all(|node| node.over < 0.0);
    (are_low && nodes.owning().count() > 2).then(|| emptiest.sign(nodes, Damage::MissingNode, &[]))
}

/// A node further off its share than hashing explains.
struct Off<'a> {
    node: &'a NodeLoad,
    over: f64,
    sigmas: f64,
}

impl Off<'_> {
    /// The number of keys below its share.
    fn lacks(&self) -> f64 {
        let load = self.node.load.keys as f64;
        load / (1.0 + self.over) - load
    }

    fn sign(&self, nodes: &Nodes, damage: Damage, others: &[(Name, f64)]) -> Integrity {
        let name = self.node.name();
        let is_doubt = nodes.is_even();
        let sentence = if is_doubt {
            said::low_node(&name, self.over, self.sigmas)
        } else {
            let of_two = nodes.owning().count() == 2;
            said::unlikely_node(&name, self.over, damage, of_two, others)
        };
        Integrity {
            is_doubt,
            ..Integrity::of_loads(damage, sentence).on(self.node)
        }
    }
}

/// The mean load per slot, from node loads and slot counts.
fn mean_density(loads: &[(f64, f64)]) -> f64 {
    let add = |(load, slots): (f64, f64), node: &(f64, f64)| (load + node.0, slots + node.1);
    let (load, slots) = loads.iter().fold((0.0, 0.0), add);
    load / slots
}

/// The median node's load per slot.
fn median_density(loads: &[(f64, f64)]) -> f64 {
    let mut densities: Vec<f64> = loads.iter().map(|(load, slots)| load / slots).collect();
    densities.sort_by(f64::total_cmp);
    let (upper, lower) = (densities.len() / 2, (densities.len().max(1) - 1) / 2);
    let middle = densities.get(upper).zip(densities.get(lower));
    middle.map_or(0.0, |(upper, lower)| (upper + lower) / 2.0)
}

/// The largest deviation that choosing slots by load, as a plan does, can cause: no slot deviates more than the fullest
/// one, and none is below 0. A node with a single range was not chosen that way.
fn chosen(node: &NodeLoad, rest: &Rest<'_>, usual: f64, is_below: bool) -> f64 {
    if node.ranges.len() < 2 {
        return 0.0;
    }
    let unit = rest.squares / rest.load.max(f64::MIN_POSITIVE);
    let of_range = |(first, last): &(u16, u16)| {
        let expected = (f64::from(*last) - f64::from(*first) + 1.0) * usual;
        let most = LARGEST * (expected * unit).sqrt() + rest.largest;
        if is_below { most.min(expected) } else { most }
    };
    node.ranges.iter().map(of_range).sum()
}

/// The nodes further off than hashing explains, where `usual` gives the load per slot from node loads and slot counts.
/// If slots vary more than the number of units predicts, so do nodes with this many slots.
fn off_from<'a>(
    nodes: &'a Nodes,
    rest: &Rest<'_>,
    usual: impl Fn(&[(f64, f64)]) -> f64,
) -> Vec<Off<'a>> {
    let owned: f64 = nodes.owning().map(|node| f64::from(node.slots)).sum();
    let units = rest.load * rest.load / rest.squares;
    let light = |node: &NodeLoad| (rest.on(node), f64::from(node.slots));
    let usual = usual(&nodes.owning().map(light).collect::<Vec<_>>());
    let off = |node: &'a NodeLoad| {
        let (load, slots) = light(node);
        let (expected, p) = (slots * usual, slots / owned);
        let over = load / expected - 1.0;
        let by_units = ((1.0 - p) / (units * p)).sqrt();
        let by_slots = (rest.of_slots * slots).sqrt() / expected;
        let sigmas = over.abs() / by_units.max(by_slots);
        let is_chosen = (load - expected).abs() <= chosen(node, rest, usual, over < 0.0);
        let is_off = over.is_finite() && over.abs() > OFF && sigmas > SIGMA && !is_chosen;
        is_off.then_some(Off { node, over, sigmas })
    };
    nodes.owning().filter_map(off).collect()
}
