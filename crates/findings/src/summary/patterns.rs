//! Patterns of key names and their prefixes: the kinds of keys, and how much each holds.
//!
//! Prefixes are rolled up from patterns level by level, stopping before the first level with an id: patterns cover the
//! levels below. Separators inside the hash tag do not split.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use slotscope_base::LISTED;
use slotscope_base::metric::{Load, Metric, PerMetric};
use slotscope_base::name::Name;
use slotscope_base::redact::Redaction;
use slotscope_base::slot::{self, SLOTS};
use slotscope_count::tally::counted_pattern::{Counted, Lifetime};
use slotscope_count::tally::patterns;
use slotscope_count::tally::table::NameTable;
use slotscope_keyname::families::{Row, Rules, families, is_little};
use slotscope_keyname::ids::Id;
use slotscope_model::balance::tidy;
use slotscope_model::patterns::{GroupLoad, KeyGroups, Pattern, Prefix};

/// How key names are split.
#[derive(Debug, Clone, Copy)]
pub struct Levels<'a> {
    /// The separator of segments.
    pub separator: &'a [u8],
    /// Levels of prefixes.
    pub depth: usize,
}

/// The sums for one name.
#[derive(Clone, Default)]
struct Sum {
    load: Load,
    tagged: u64,
    /// Keys with a TTL.
    limited: u64,
    /// Keys without a TTL.
    unlimited: u64,
    /// The patterns it sums up, as counted.
    patterns: Vec<Name>,
}

impl Row for Sum {
    type Load = Load;

    fn load(&self) -> Load {
        self.load
    }

    fn keys(&self) -> u64 {
        self.load[Metric::Keys]
    }

    fn take_in(&mut self, other: Sum) {
        self.load += other.load;
        self.tagged += other.tagged;
        self.limited += other.limited;
        self.unlimited += other.unlimited;
        self.patterns.extend(other.patterns);
    }
}

impl Sum {
    /// The fraction of keys without TTL, among those with known expiry.
    fn no_expiry_share(&self) -> Option<f64> {
        let known = self.limited.saturating_add(self.unlimited);
        (known > 0).then(|| tidy(self.unlimited as f64 / known as f64))
    }

    /// The number of slots that its patterns cover together.
    fn slots(&self, counted: &patterns::Patterns) -> Option<u64> {
        let mut is_in = vec![false; SLOTS];
        for pattern in &self.patterns {
            counted
                .slots(&pattern.0)?
                .for_each(|slot| is_in[usize::from(slot)] = true);
        }
        Some(is_in.into_iter().map(u64::from).sum())
    }
}

/// The patterns, and the requested levels of prefixes, sorted by `metric`.
pub(crate) fn of(
    counted: &patterns::Patterns,
    totals: &PerMetric<u128>,
    metric: Metric,
    levels: Levels<'_>,
    redaction: Option<&Redaction>,
) -> (KeyGroups<Pattern>, KeyGroups<Prefix>) {
    let mut by_pattern: BTreeMap<Vec<u8>, Sum> = BTreeMap::new();
    for (written, _, load) in counted.table().into_iter().flat_map(NameTable::iter) {
        let Counted { name, traits } = Counted::of(written);
        let keys_if = |is_so: bool| if is_so { load[Metric::Keys] } else { 0 };
        let sum = Sum {
            load,
            tagged: keys_if(traits.is_tagged),
            limited: keys_if(traits.lifetime == Lifetime::Limited),
            unlimited: keys_if(traits.lifetime == Lifetime::Unlimited),
            patterns: vec![Name::from(written)],
        };
        by_pattern.entry(name.to_vec()).or_default().take_in(sum);
    }
    let rules = Rules {
        separator: levels.separator,
        are_coarse: counted.coarseness() > 0,
        is_little: &|load: &Load| {
            let weight = |metric| Some((load[metric], *totals.get(metric)?));
            let weights = Metric::WEIGHTS.into_iter().filter_map(weight);
            let all_keys = totals.get(Metric::Keys).copied().unwrap_or_default();
            is_little(load[Metric::Keys], all_keys, weights)
        },
    };
    let summed = families(by_pattern, &rules).into_iter();
    let by_pattern: BTreeMap<Name, Sum> = summed.map(|(name, sum)| (Name(name), sum)).collect();
    let mut by_prefix: BTreeMap<Name, Sum> = BTreeMap::new();
    let mut level_of: BTreeMap<Name, usize> = BTreeMap::new();
    for (name, sum) in &by_pattern {
        for (above, end) in prefix_ends(&name.0, levels).into_iter().enumerate() {
            let prefix = Name::from(&name.0[..end]);
            level_of.insert(prefix.clone(), above + 1);
            by_prefix.entry(prefix).or_default().take_in(sum.clone());
        }
    }
    let shown = |name: Name| redaction.map_or(name.clone(), |redaction| redaction.pattern(&name));
    let patterns = heaviest(by_pattern, counted, totals, metric, |pattern, kind| {
        Pattern {
            pattern: shown(pattern),
            kind,
        }
    });
    let prefixes = heaviest(by_prefix, counted, totals, metric, |prefix, kind| Prefix {
        level: level_of[&prefix],
        prefix: shown(prefix),
        kind,
    });
    (patterns, prefixes)
}

/// Where a pattern's prefixes end: before each separator, up to the first segment with an id.
fn prefix_ends(pattern: &[u8], levels: Levels<'_>) -> Vec<usize> {
    let tag = slot::tag(pattern).unwrap_or(0..0);
    let has_mark =
        |segment: &[u8]| (0..segment.len()).any(|at| Id::marked(&segment[at..]).is_some());
    let mut ends = Vec::new();
    let mut from = 0;
    if levels.separator.is_empty() {
        return ends;
    }
    for at in memchr::memmem::find_iter(pattern, levels.separator).filter(|at| !tag.contains(at)) {
        let segment = pattern.get(from..at).unwrap_or_default();
        if ends.len() == levels.depth || has_mark(segment) {
            break;
        }
        ends.push(at);
        from = at + levels.separator.len();
    }
    ends
}

/// The heaviest of these names, each in a row that `row` makes.
fn heaviest<R>(
    sums: BTreeMap<Name, Sum>,
    counted: &patterns::Patterns,
    totals: &PerMetric<u128>,
    metric: Metric,
    row: impl Fn(Name, GroupLoad) -> R,
) -> KeyGroups<R> {
    let (coarseness, exact) = (counted.coarseness(), counted.table().is_some());
    let mut rows: Vec<(Name, Sum)> = sums.into_iter().collect();
    rows.sort_by(|(a, x), (b, y)| (Reverse(x.load[metric]), a).cmp(&(Reverse(y.load[metric]), b)));
    let cut_off = rows.get(LISTED).map_or(0, |(_, sum)| sum.load[metric]);
    rows.truncate(LISTED);
    let total = totals.get(metric).copied().unwrap_or_default();
    let unknown = if exact { 0 } else { total };
    let kind = |sum: &Sum| GroupLoad {
        load: totals.map(|metric, _| sum.load[metric]),
        share: if total > 0 {
            tidy(sum.load[metric] as f64 / total as f64)
        } else {
            0.0
        },
        tagged_share: tidy(sum.tagged as f64 / sum.load[Metric::Keys].max(1) as f64),
        slots: if coarseness == 0 {
            sum.slots(counted)
        } else {
            None
        },
        no_expiry_share: sum.no_expiry_share(),
    };
    let rows = rows.into_iter().map(|(name, sum)| row(name, kind(&sum)));
    KeyGroups {
        exact,
        coarseness,
        max_error: cut_off.max(u64::try_from(unknown).unwrap_or(u64::MAX)),
        top: rows.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefixes(pattern: &str, depth: usize) -> Vec<&str> {
        let levels = Levels {
            separator: b":",
            depth,
        };
        prefix_ends(pattern.as_bytes(), levels)
            .into_iter()
            .map(|end| &pattern[..end])
            .collect()
    }

    #[test]
    fn prefixes_stop_before_an_id_and_keep_the_tag_whole() {
        assert_eq!(
            prefixes("prod:uc:profile:<n>:base", 4),
            ["prod", "prod:uc", "prod:uc:profile"]
        );
        assert_eq!(prefixes("prod:uc:profile:<n>:base", 2), ["prod", "prod:uc"]);
        assert_eq!(prefixes("<n>:a", 4), [""; 0]);
        assert_eq!(
            prefixes("cart:{user:x}:items:more", 4),
            ["cart", "cart:{user:x}", "cart:{user:x}:items"]
        );
        assert_eq!(prefixes("news<n>:a:b", 4), [""; 0]);
        assert_eq!(prefixes("plain", 4), [""; 0]);
    }
}
