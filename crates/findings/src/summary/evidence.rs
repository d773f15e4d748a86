//! Evidence in the counts that the dump is wrong: rows without weights, errors among the keys, repeated keys, keys in
//! slots without an owner or with a different owner.

use std::collections::BTreeMap;

use slotscope_base::metric::{Metric, PerWeight};
use slotscope_base::name::Name;
use slotscope_base::slot;
use slotscope_count::tally::Tallies;
use slotscope_count::tally::counted_pattern::Counted;
use slotscope_count::tally::duplicates::Duplicates;
use slotscope_count::tally::patterns::Patterns;
use slotscope_count::tally::table::NameTable;

use crate::summary::gaps::Gaps;
use crate::summary::integrity::of_loads::{self, InputCounts};
use crate::summary::integrity::{FilesApart, of_files};
use crate::summary::observed::Observed;
use crate::wording::evidence as said;
use slotscope_model::balance::tidy;
use slotscope_model::independent_units::Units;
use slotscope_model::integrity::{Damage, Integrity};
use slotscope_model::nodes::{NodeLoad, Nodes};
use slotscope_model::{FileFacts, InputFacts};
use slotscope_topology::cluster_info::NodeKeys;

/// The name of the format of RDB files.
const RDB: &str = "rdb";
/// Repeated keys are reported above this share.
const REPEATED: f64 = 0.005;
/// An input with this share of its keys on one node counts as a dump of that node. Keys elsewhere are reported from the
/// share `OUTSIDE` on, unless the input has few keys.
const OF_ONE_NODE: f64 = 0.8;
const OUTSIDE: f64 = 0.001;
const FEW: u64 = 100;

/// Adds the evidence in the counts to `input`, and returns what is certainly wrong with the dump. Mere doubts go to the
/// warnings and the doubt of `input` only.
pub(crate) fn of(
    tallies: &Tallies,
    nodes: &Nodes,
    units: &Units,
    observed: &Observed,
    mut input: InputFacts,
) -> (InputFacts, Vec<Integrity>) {
    input.keys = tallies.slots.total();
    let known = |metric| tallies.weights.get(metric).map(|weighed| weighed.known);
    input.weights = PerWeight::from_fn(known);
    let duplicates = tallies.names.as_ref().map(|names| &names.duplicates);
    input.duplicate_share = duplicates
        .and_then(|duplicates| duplicates.share())
        .map(tidy);
    input.duplicate_share_exact = duplicates.is_some_and(Duplicates::is_exact);

    let gaps = Gaps::of(&input);
    let unreadable = [gaps.sizes, gaps.operations]
        .into_iter()
        .flatten()
        .map(|gap| said::unreadable(&gap));
    let lost = (gaps.lost_rows > 0).then(|| said::lost_rows(gaps.lost_rows, gaps.keys));
    let mut evidence: Vec<String> = unreadable.chain(lost).collect();
    if shows_only_operations(tallies) || shows_only_extremes(tallies) {
        // Keys that nobody accessed are missing from a capture, which proves nothing.
        let is_whole = input.incomplete.is_empty();
        let signs = if is_whole {
            Vec::new()
        } else {
            vec![of_files::incomplete()]
        };
        return (input, signs);
    }
    if let error_lines @ 1.. = input.error_lines {
        evidence.push(said::broken_off(error_lines));
    }
    // An empty reply among others may be right; an empty file is not a reply. The reason for an unread file is reported
    // next to it.
    let is_cut_off = |file: &FileFacts| input.incomplete.iter().any(|cut| cut.file == file.name);
    let without_keys = |file: &&FileFacts| {
        let is_empty = file.keys + file.left_out == 0 && !file.is_capture;
        is_empty && (file.bytes == 0 || input.keys == 0) && !is_cut_off(file)
    };
    let nothing = input.files.iter().filter(without_keys);
    evidence.extend(nothing.map(|file| match &file.captured {
        Some((node, secs)) => said::idle(node, *secs),
        None => said::no_keys(&file.name, file.bytes),
    }));
    let operations = tallies.names.as_ref().map(|names| &names.operations);
    let has_captures = operations.is_some_and(|operations| !operations.is_empty());
    for metric in Metric::WEIGHTS {
        let keys = known(metric).map_or(0, |known| input.keys.saturating_sub(known));
        // A key that no capture has was not used in that time.
        if keys > 0 && !(has_captures && matches!(metric, Metric::Ops | Metric::Cpu)) {
            evidence.push(said::weight_missing(metric, keys));
        }
        let weighed = tallies.weights.get(metric);
        if weighed.is_some_and(|weighed| weighed.sum > u128::from(u64::MAX)) {
            evidence.push(said::overflow(metric));
        }
        let are_zeros = weighed.is_some_and(|weighed| weighed.known > 1 && weighed.sum == 0);
        if are_zeros && matches!(metric, Metric::Bytes | Metric::Ops) {
            evidence.push(said::nothing_but_zeros(metric));
        }
    }
    evidence.extend(is_total(tallies).map(|name| said::is_total(&name)));
    let repeated = duplicates.and_then(|duplicates| {
        let (share, exact) = (duplicates.share()?, duplicates.is_exact());
        let of_snapshots = are_snapshots(&input.files);
        let files = input.files.len();
        (share > REPEATED).then(|| said::repeated(share, exact, files, of_snapshots))
    });
    evidence.extend(repeated);
    let apart = of_files::apart(&input.files);
    let (days_apart, hours_apart): (Vec<_>, Vec<_>) =
        apart.into_iter().partition(FilesApart::is_over_a_day);
    evidence.extend(hours_apart.iter().map(said::hours_apart));
    let unowned = nodes.unowned.load.keys;
    if unowned > 0 {
        evidence.push(said::unowned(unowned));
    }
    evidence.extend(foreign(tallies, nodes, &input));
    let counts = InputCounts {
        is_incomplete: !input.incomplete.is_empty(),
        is_of_one_server: matches!(input.files.as_slice(), [file] if file.in_cluster),
        is_of_all_servers: observed.is_whole_collection,
        error_lines: input.error_lines,
        duplicate_share: input.duplicate_share,
        duplicates_in: &|slots| duplicates.and_then(|duplicates| duplicates.share_in(slots)),
        repeats_of_slot: &|slot| repeats_of(tallies, slot),
        strays: strays(tallies, input.are_one_node_each),
        evicted: &|node| {
            let at = nodes.place(&node.id);
            let server = at.and_then(|at| observed.server(at));
            server.and_then(|server| server.evicted_keys).unwrap_or(0)
        },
    };
    let mut signs = std::mem::take(&mut input.of_files);
    let days_apart = days_apart.iter().map(said::days_apart);
    signs.extend(days_apart.map(|sentence| Integrity::new(Damage::Mixed, sentence)));
    let of_loads = of_loads::signs(nodes, &tallies.slots.loads, units, counts).into_iter();
    // With a key filter, no number of keys is expected in a slot or on a node.
    signs.extend(of_loads.filter(|sign| input.filter.is_none() || !sign.is_of_loads));
    if input.sample_percent.is_some() {
        // Slots outside the sample are empty, which proves nothing.
        signs.retain(|sign| !sign.is_of_loads);
    }
    let news = signs.iter().filter(|sign| sign.is_news());
    evidence.extend(news.map(|sign| sign.sentence.clone()));
    input.warnings.extend(evidence);
    input.doubt = signs.iter().find(|sign| sign.is_doubt).cloned();
    signs.retain(|sign| !sign.is_doubt);
    (input, signs)
}

/// Up to this many keys, a total is not searched for.
const FEW_KEYS: u64 = 10;

/// The key that is as large as all others together, to the byte.
fn is_total(tallies: &Tallies) -> Option<Name> {
    let heaviest = &tallies.names.as_ref()?.heaviest;
    let (keys, _) = heaviest.keys(Metric::Bytes)?;
    let [first, second, ..] = &*keys else {
        return None;
    };
    let weighed = tallies.weights.get(Metric::Bytes)?;
    let size = u128::from(first.load[Metric::Bytes]);
    let is_sum = size * 2 == weighed.sum;
    // Among few keys with round sizes, one may equal the sum of the others by chance.
    (is_sum && weighed.known > FEW_KEYS && second.load[Metric::Bytes] > 0)
        .then(|| first.name.clone())
}

/// Whether all files with keys are RDB files.
pub fn are_snapshots(files: &[FileFacts]) -> bool {
    let mut with_keys = files.iter().filter(|file| file.keys > 0);
    with_keys.all(|file| file.format == RDB)
}

/// Whether captures are the only input.
pub(crate) fn shows_only_operations(tallies: &Tallies) -> bool {
    tallies.slots.total() == 0 && tallies.slots.total_of(Metric::Ops) > 0
}

/// Whether key listings (`--bigkeys` and the like) are the only input.
fn shows_only_extremes(tallies: &Tallies) -> bool {
    let names = tallies.names.as_ref();
    tallies.slots.total() == 0 && names.is_some_and(|names| !names.extremes.is_empty())
}

/// Keys of a slot with the name of another key. A name without an id is its own pattern.
fn repeats_of(tallies: &Tallies, slot: u16) -> u64 {
    let patterns = tallies
        .names
        .as_ref()
        .and_then(|names| names.patterns.as_ref());
    let repeats = |written: &[u8], keys: u64| {
        if slot::slot(Counted::of(written).name) == slot {
            keys.saturating_sub(1)
        } else {
            0
        }
    };
    let patterns = patterns.filter(|patterns| patterns.coarseness() == 0);
    let rows = patterns.and_then(Patterns::table).into_iter();
    rows.flat_map(NameTable::iter)
        .map(|(name, _, load)| repeats(name, load[Metric::Keys]))
        .sum()
}

/// Inputs that are dumps of one node but hold keys of another, and nodes with several inputs.
fn foreign(tallies: &Tallies, nodes: &Nodes, input: &InputFacts) -> Vec<String> {
    let mut evidence = Vec::new();
    let mut homes: BTreeMap<usize, Vec<&Name>> = BTreeMap::new();
    let inputs: Vec<&[u64]> = tallies.origins.inputs().collect();
    for (keys, file) in inputs.iter().zip(&input.files) {
        let Some((home, most)) = home(keys, &inputs, input.are_one_node_each) else {
            continue;
        };
        let total: u64 = keys.iter().sum();
        homes.entry(home).or_default().push(&file.name);
        let outside = total - most;
        if outside as f64 > OUTSIDE * total as f64 {
            let node = nodes.list[home].name();
            evidence.push(said::outside_node(&file.name, &node, outside));
        }
    }
    let shared = homes.into_iter().filter(|(_, files)| files.len() > 1);
    evidence.extend(shared.map(|(home, files)| said::same_node(&files, &nodes.list[home].name())));
    evidence
}

/// The node that an input is a dump of, and the number of keys that belong there; `None` if it is not a single-node
/// dump. If all other inputs are, or if no inputs share a slot, it may cover the nodes that the others leave, and its
/// keys elsewhere are foreign.
fn home(keys: &[u64], inputs: &[&[u64]], are_one_node_each: bool) -> Option<(usize, u64)> {
    let (node, most) = fullest(keys)?;
    if is_of_one_node(keys) {
        return Some((node, most));
    }
    let others: Vec<usize> = inputs
        .iter()
        .filter(|keys| is_of_one_node(keys))
        .filter_map(|keys| fullest(keys).map(|(node, _)| node))
        .collect();
    let is_the_only_one = inputs.len() > 1 && others.len() + 1 == inputs.len();
    if !(is_the_only_one || are_one_node_each) || keys.iter().sum::<u64>() < FEW {
        return None;
    }
    let nodes = keys[..keys.len() - 1].iter().enumerate();
    let own = nodes.filter(|(at, _)| *at == node || !others.contains(at));
    Some((node, own.map(|(_, keys)| keys).sum()))
}

fn fullest(keys: &[u64]) -> Option<(usize, u64)> {
    let nodes = keys[..keys.len() - 1].iter().enumerate();
    nodes
        .map(|(node, keys)| (node, *keys))
        .max_by_key(|(_, keys)| *keys)
}

fn is_of_one_node(keys: &[u64]) -> bool {
    let total: u64 = keys.iter().sum();
    let most = fullest(keys).map_or(0, |(_, most)| most);
    total >= FEW && most as f64 >= OF_ONE_NODE * total as f64
}

/// Keys in slots of a node other than the one they were taken from.
fn strays(tallies: &Tallies, are_one_node_each: bool) -> u64 {
    let inputs: Vec<&[u64]> = tallies.origins.inputs().collect();
    let outside = |keys: &&[u64]| {
        let home = home(keys, &inputs, are_one_node_each);
        home.map_or(0, |(_, most)| keys.iter().sum::<u64>() - most)
    };
    inputs.iter().map(outside).sum()
}

/// A warning for each node that reports over 1% more keys than the dump holds: it is incomplete or older.
pub fn shortfalls(nodes: &Nodes, counts: &[NodeKeys]) -> Vec<String> {
    let warning = |node: &NodeLoad| {
        let address = node.address.as_ref().map(|address| address.0.as_slice());
        let counted = counts
            .iter()
            .find(|counted| counted.is(&node.id.0, address))?;
        let is_short = node.load.keys as f64 + 0.01 * (counted.keys as f64) < counted.keys as f64;
        is_short.then(|| said::shortfall(&node.name(), counted.keys, node.load.keys))
    };
    nodes.list.iter().filter_map(warning).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::nodes;
    use slotscope_base::metric::PerMetric;
    use slotscope_topology::Topology;

    #[test]
    fn a_dump_that_is_over_one_percent_short_of_a_node_is_told() {
        let topology = Topology::even(2, String::from("even 2")).unwrap();
        let mut nodes = nodes::of(&topology, &PerMetric::of_keys(vec![1; 16384]));
        nodes.list[0].address = Some(Name::from("10.0.0.1:6379"));
        let counted = |keys| NodeKeys {
            address: "10.0.0.1:6379".into(),
            id_start: "abcd".into(),
            keys,
            slots: 8192,
        };
        assert!(shortfalls(&nodes, &[counted(8192)]).is_empty());
        assert!(shortfalls(&nodes, &[counted(8270)]).is_empty());
        assert_eq!(shortfalls(&nodes, &[counted(8300)]).len(), 1);
    }
}
