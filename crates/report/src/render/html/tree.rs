//! Prefixes as a tree: every listed prefix below the one it continues.

use std::collections::BTreeMap;

use askama::Template;

use slotscope_engine::metric::{Metric, PerMetric};
use slotscope_engine::text::{amount_cell, percent};
use slotscope_findings::summary::patterns::Prefix;

use crate::render::html::spell::cut;

/// Maximum levels; deeper ones are put into the last. Browsers flatten deeper nesting anyway.
const LEVELS: usize = 16;
/// Bytes of a branch without its name.
const MARKUP: usize = 420;
/// Bytes of the text about expiry.
const EXPIRY_MARKUP: usize = 70;

/// Maximum bytes of a tree.
const TREE: usize = 80_000;

/// Prefixes, each below the one it continues.
#[derive(Template)]
#[template(path = "tree.html", config = "src/render/html/askama.toml")]
pub(super) struct Tree {
    metric: &'static str,
    branches: Vec<Branch>,
    left_out: usize,
    /// Whether expiry of keys is known.
    has_expiry: bool,
}

impl Tree {
    /// As many of `prefixes` as fit.
    pub(super) fn of(prefixes: &[Prefix], metric: Metric) -> Self {
        let (branches, shown) = trees(prefixes, metric, TREE);
        Tree {
            metric: metric.head(),
            branches,
            left_out: prefixes.len() - shown,
            has_expiry: prefixes
                .iter()
                .any(|row| row.kind.no_expiry_share.is_some()),
        }
    }
}

/// A prefix and those that continue it.
#[derive(Template)]
#[template(path = "branch.html", config = "src/render/html/askama.toml")]
struct Branch {
    name: String,
    value: u64,
    load: String,
    share: String,
    part: String,
    tagged: String,
    no_expiry: Option<String>,
    children: Vec<Branch>,
}

/// The trees of as many `prefixes` as fit into `budget` bytes, heaviest first, and their number.
fn trees(prefixes: &[Prefix], metric: Metric, budget: usize) -> (Vec<Branch>, usize) {
    let mut room = budget;
    let fits = |row: &&Prefix| {
        let name = cut(&row.prefix);
        let expiry = row.kind.no_expiry_share.map_or(0, |_| EXPIRY_MARKUP);
        let cost =
            MARKUP + expiry + name.len() + 5 * name.matches(['<', '>', '&', '"', '\'']).count();
        let fits = cost <= room;
        room = room.saturating_sub(cost);
        fits
    };
    let prefixes: Vec<&Prefix> = prefixes.iter().take_while(fits).collect();
    let mut children: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    let mut levels = vec![0; prefixes.len()];
    for (index, parent) in parents(&prefixes).into_iter().enumerate() {
        // Parents are at least as heavy as their children, so they come first.
        let parent = parent.map(|parent| {
            let mut parent = parent;
            while levels[parent] + 1 >= LEVELS {
                match parents_of(&children, parent) {
                    Some(above) => parent = above,
                    None => break,
                }
            }
            parent
        });
        levels[index] = parent.map_or(0, |parent| levels[parent] + 1);
        children.entry(parent).or_default().push(index);
    }
    (branches(None, &children, &prefixes, metric), prefixes.len())
}

fn parents_of(children: &BTreeMap<Option<usize>, Vec<usize>>, child: usize) -> Option<usize> {
    children
        .iter()
        .find(|(_, places)| places.contains(&child))
        .and_then(|(parent, _)| *parent)
}

/// For each prefix, the preceding one a level above that it continues; the longest, if names contain other separators.
fn parents(prefixes: &[&Prefix]) -> Vec<Option<usize>> {
    let mut known: BTreeMap<(usize, &[u8]), usize> = BTreeMap::new();
    let mut parents = Vec::with_capacity(prefixes.len());
    for (index, row) in prefixes.iter().enumerate() {
        let name = row.prefix.0.as_slice();
        let above = row.level.wrapping_sub(1);
        parents.push(
            (1..name.len())
                .rev()
                .find_map(|end| known.get(&(above, &name[..end])).copied()),
        );
        known.insert((row.level, name), index);
    }
    parents
}

fn branches(
    parent: Option<usize>,
    children: &BTreeMap<Option<usize>, Vec<usize>>,
    prefixes: &[&Prefix],
    metric: Metric,
) -> Vec<Branch> {
    let branch = |index: &usize| {
        let row = prefixes[*index];
        let value = load(&row.kind.load, metric);
        Branch {
            name: cut(&row.prefix),
            value,
            load: amount_cell(metric, value),
            share: percent(row.kind.share),
            part: format!("{:.1}", 100.0 * row.kind.share.clamp(0.0, 1.0)),
            tagged: percent(row.kind.tagged_share),
            no_expiry: row.kind.no_expiry_share.map(percent),
            children: branches(Some(*index), children, prefixes, metric),
        }
    };
    children
        .get(&parent)
        .into_iter()
        .flatten()
        .map(branch)
        .collect()
}

fn load(load: &PerMetric<u64>, metric: Metric) -> u64 {
    load.get(metric).copied().unwrap_or(load.keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_engine::name::Name;
    use slotscope_findings::summary::patterns::GroupLoad;

    fn prefix(name: &str, keys: u64) -> Prefix {
        let kind = GroupLoad {
            load: PerMetric::of_keys(keys),
            share: keys as f64 / 100.0,
            ..GroupLoad::default()
        };
        Prefix {
            prefix: Name::from(name),
            level: name.split(':').count(),
            kind,
        }
    }

    fn spelled(branches: &[Branch]) -> String {
        let of = |branch: &Branch| match branch.children.as_slice() {
            [] => branch.name.clone(),
            children => format!("{}({})", branch.name, spelled(children)),
        };
        branches.iter().map(of).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_prefix_stands_under_the_one_that_it_continues() {
        let rows = [
            ("a", 50),
            ("b", 30),
            ("a:b", 20),
            ("b-x", 9),
            ("ab", 8),
            ("a:b:c", 7),
            ("b:d", 6),
            ("b-x:y", 5),
        ];
        let rows = rows.map(|(name, keys)| prefix(name, keys));
        let (trees, shown) = trees(&rows, Metric::Keys, 1 << 20);
        assert_eq!(
            (spelled(&trees).as_str(), shown),
            ("a(a:b(a:b:c)) b(b:d) b-x(b-x:y) ab", 8)
        );
    }

    #[test]
    fn a_deep_tree_is_flattened_and_a_large_one_is_cut() {
        let rows: Vec<_> = (0..300)
            .map(|level| prefix(&["a"].repeat(level + 1).join(":"), 1000 - level as u64))
            .collect();
        let (trees, shown) = trees(&rows, Metric::Keys, 1 << 20);
        assert_eq!(shown, 300);
        assert_eq!(spelled(&trees).matches(")))))))))))))))").count(), 1);
        assert!(!spelled(&trees).contains(&")".repeat(LEVELS)));
        let (_, cut) = super::trees(&rows, Metric::Keys, 10_000);
        assert!(cut < 30, "{cut}");
    }
}
