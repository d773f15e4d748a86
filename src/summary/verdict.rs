//! The verdict in each metric and the numbers that it depends on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::{Metric, PerMetric};
use crate::summary::balance::tidy;
use crate::summary::cause::{Cause, Verdict};
use crate::summary::explanation::Explanation;
use crate::summary::independent_units::Units;
use crate::summary::integrity::Sign;
use crate::summary::judge::judge;
use crate::summary::model::expected::slot_cv;
use crate::summary::nodes::Nodes;
use crate::summary::scaling;
use crate::summary::scaling::Scaled;
use crate::summary::split::Split;
use crate::summary::worded::Worded;

/// The verdict and what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Skew {
    /// The metric it is about.
    pub by: Metric,
    /// The finding.
    pub verdict: Verdict,
    /// The finding in a sentence.
    #[serde(default)]
    pub sentence: Worded<Explanation>,
    /// The independent units that the keys behave like.
    pub n_eff: Option<f64>,
    /// The coefficient of variation of slot loads that a perfect hash would give those units.
    pub expected_cv: Option<f64>,
    /// How many keys there are for each unit that they behave like: the product of the next two.
    pub design_ratio: Option<f64>,
    /// N_w sum w_k^2 / W^2 over keys: how much sizes differ.
    pub size_ratio: Option<f64>,
    /// sum w_g^2 over units / sum w_k^2 over keys: how much tags bind keys together.
    pub tag_ratio: Option<f64>,
    /// How much more uneven ranges of slots are than a perfect hash would have them: a hint, no alarm.
    pub hash_ratio: Option<f64>,
    /// No move of slots or tags gets the fullest node below this, in fair shares.
    pub floor: Option<f64>,
    /// 1 / M: with equal nodes the cluster is full when its fullest node is.
    pub usable_capacity: Option<f64>,
    /// What is wrong with the dump, then why the fullest node is above its fair share, in order of weight.
    #[serde(default)]
    pub causes: Vec<Cause>,
    /// The same slots on other numbers of equal nodes.
    #[serde(default)]
    pub by_node_count: Vec<Scaled>,
    /// The verdict by every other metric that the input carries.
    #[serde(default)]
    pub other: Vec<Other>,
}

/// A verdict in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Other {
    /// The metric.
    pub by: Metric,
    /// The finding.
    pub verdict: Verdict,
    /// The finding in a sentence.
    #[serde(default)]
    pub sentence: Worded<Explanation>,
}

impl Skew {
    /// Judges the nodes by a metric that the input carries. `incomplete` says that a part of the input could not be
    /// read, `signs` what else is wrong with it.
    pub fn of(nodes: &Nodes, units: &Units, by: Metric, incomplete: bool, signs: &[Sign]) -> Self {
        let others = units
            .per
            .iter()
            .map(|(metric, _)| metric)
            .filter(|metric| *metric != by);
        let other = |by| {
            let Skew {
                verdict, sentence, ..
            } = Skew::by(nodes, units, by, incomplete, signs);
            Other {
                by,
                verdict,
                sentence,
            }
        };
        Skew {
            other: others.map(other).collect(),
            ..Skew::by(nodes, units, by, incomplete, signs)
        }
    }

    /// Adds what the loads of slots show in addition to those of nodes.
    pub fn on_slots(self, loads: &PerMetric<Vec<u64>>, units: &Units) -> Self {
        let units = units.per.get(self.by).unwrap_or(&units.per.keys);
        let slots = loads.get(self.by);
        Skew {
            hash_ratio: slots
                .zip(units.effective())
                .and_then(|(slots, n_eff)| scaling::hash_ratio(slots, n_eff)),
            by_node_count: if units.total > 0.0 {
                scaling::by_node_count(loads, units, self.by)
            } else {
                Vec::new()
            },
            ..self
        }
    }

    fn by(nodes: &Nodes, units: &Units, by: Metric, incomplete: bool, signs: &[Sign]) -> Self {
        let units = units.per.get(by).unwrap_or(&units.per.keys);
        // Without tags counted, n_eff is not known.
        let n_eff = units.effective();
        let split = Split::of(nodes, units, by);
        let verdict = judge(
            units.total,
            split.as_ref(),
            units.tag_ratio().unwrap_or(1.0),
            incomplete || !signs.is_empty(),
        );
        Skew {
            by,
            verdict,
            sentence: Explanation::of(
                verdict,
                nodes,
                split.as_ref(),
                by,
                units.squares.is_some(),
                signs.first(),
            )
            .into(),
            n_eff: n_eff.map(tidy),
            expected_cv: n_eff.map(slot_cv).map(tidy),
            design_ratio: n_eff.map(|n_eff| tidy(units.positive / n_eff)),
            size_ratio: units.size_ratio().map(tidy),
            tag_ratio: units.tag_ratio().map(tidy),
            hash_ratio: None,
            floor: scaling::floor(units, nodes.owning().count()),
            usable_capacity: split.as_ref().map(|split| tidy(1.0 / split.max_over_mean)),
            causes: signs
                .iter()
                .map(Sign::cause)
                .chain(split.iter().flat_map(Split::causes))
                .collect(),
            by_node_count: Vec::new(),
            other: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::Name;
    use crate::summary::cause::CauseKind;
    use crate::summary::explanation::Reason;
    use crate::summary::independent_units::{Unit, UnitsBy};
    use crate::topology::Topology;

    /// Keys by slot and tags, judged on `topology`.
    fn skew_of(topology: &Topology, keys_by_slot: &[u64], tags: &[(&str, u16, u64)]) -> Skew {
        let nodes = Nodes::of(topology, &PerMetric::of_keys(keys_by_slot.to_vec()));
        let total = keys_by_slot.iter().sum::<u64>() as f64;
        let node = |slot| {
            topology
                .owner(slot)
                .map(|node| Name::from(topology.nodes[node].id.as_str()))
        };
        let unit = |(tag, slot, keys): &(&str, u16, u64)| Unit {
            kind: CauseKind::Tag,
            name: Name::from(*tag),
            slot: *slot,
            node: node(*slot),
            load: *keys as f64,
            at_most: *keys as f64,
        };
        let named: Vec<_> = tags.iter().map(unit).collect();
        let tagged: f64 = named.iter().map(|tag| tag.load).sum();
        let squares = named.iter().map(|tag| tag.load.powi(2)).sum::<f64>() + total - tagged;
        let count = total - tagged + named.len() as f64;
        let keys = UnitsBy {
            total,
            count,
            squares: Some(squares),
            key_squares: total,
            positive: total,
            named,
            unnamed: 0.0,
        };
        Skew::of(
            &nodes,
            &Units {
                per: PerMetric::of_keys(keys),
                count,
                ..Units::default()
            },
            Metric::Keys,
            false,
            &[],
        )
    }

    fn even(n: usize) -> Topology {
        Topology::even(n, format!("even {n}")).unwrap()
    }

    #[test]
    fn even_keys_are_balanced_and_no_keys_are_empty() {
        let skew = skew_of(&even(3), &[10; 16384], &[]);
        assert_eq!(skew.verdict, Verdict::Balanced);
        assert_eq!(skew.n_eff, Some(163_840.0));
        let skew = skew_of(&even(3), &[0; 16384], &[]);
        assert_eq!(
            (skew.verdict, skew.n_eff, skew.causes.len()),
            (Verdict::Empty, None, 0)
        );
    }

    #[test]
    fn a_hot_tag_is_the_cause_and_moving_slots_is_not_the_cure() {
        let mut keys = [10; 16384];
        keys[12_000] += 40_000;
        let skew = skew_of(&even(3), &keys, &[("config", 12_000, 40_000)]);
        assert_eq!(skew.verdict, Verdict::Skewed);
        assert_eq!(skew.causes[0].kind, CauseKind::Tag);
        assert_eq!(skew.causes[0].name, Some(Name::from("config")));
        let Worded::Finding(Explanation::Fullest(fullest)) = &skew.sentence else {
            panic!("{:?}", skew.sentence);
        };
        assert_eq!(fullest.node, Name::from("even-3"));
        let Reason::HeavyUnit { unit, without } = &fullest.reason else {
            panic!("{fullest:?}");
        };
        assert_eq!(unit.name, Name::from("config"));
        assert!((0.9..1.1).contains(without), "{without}");
    }

    #[test]
    fn the_parts_add_up_to_the_excess() {
        let listing = b"a 1.1.1.1:1 master - 0 0 1 connected 0-6000\nb 1.1.1.1:2 master - 0 0 1 connected 6001-16383\n";
        let topology = Topology::parse("test", listing).unwrap();
        let mut keys = [7; 16384];
        (keys[5], keys[9000]) = (20_000, 31_000);
        let skew = skew_of(&topology, &keys, &[("x", 5, 19_993), ("y", 9000, 30_993)]);
        let total: u64 = keys.iter().sum();
        let fullest: u64 = keys[6001..].iter().sum();
        let excess: f64 = skew.causes.iter().map(|cause| cause.excess).sum();
        assert!(
            (excess - (fullest as f64 * 2.0 / total as f64 - 1.0)).abs() < 1e-7,
            "{:?}",
            skew.causes
        );
    }

    #[test]
    fn unequal_slots_are_placement() {
        let listing =
            b"a 1.1.1.1:1 master - 0 0 1 connected 0-12000\nb 1.1.1.1:2 master - 0 0 1 connected 12001-16383\n";
        let skew = skew_of(
            &Topology::parse("test", listing).unwrap(),
            &[10; 16384],
            &[],
        );
        assert_eq!(skew.verdict, Verdict::Placement);
        assert_eq!(skew.causes[0].kind, CauseKind::Placement);
    }

    #[test]
    fn what_no_node_owns_stands_apart() {
        let listing = b"a 1.1.1.1:1 master - 0 0 1 connected 0-49\nb 1.1.1.1:2 master - 0 0 1 connected 50-89\n";
        let topology = Topology::parse("test", listing).unwrap();
        let mut keys = [6; 16384];
        keys[16_000] += 60_000;
        let skew = skew_of(&topology, &keys, &[("common", 16_000, 60_000)]);
        assert_eq!(skew.verdict, Verdict::Placement, "{:?}", skew.sentence);
        let mut keys = [6; 16384];
        (keys[3], keys[16_000]) = (300, 60_000);
        let skew = skew_of(&topology, &keys, &[("common", 16_000, 59_994)]);
        assert!(
            !format!("{:?}", skew.sentence).contains("common"),
            "{:?}",
            skew.sentence
        );
        assert!(
            skew.causes.iter().all(|cause| cause.kind != CauseKind::Tag),
            "{:?}",
            skew.causes
        );
    }

    #[test]
    fn few_keys_are_uneven_by_chance() {
        let mut keys = [0; 16384];
        (0..30).for_each(|i| keys[i * 97] = 1);
        (0..20).for_each(|i| keys[6000 + i * 97] = 1);
        (0..25).for_each(|i| keys[11_000 + i * 97] = 1);
        let skew = skew_of(&even(3), &keys, &[]);
        assert_eq!(skew.verdict, Verdict::Balanced, "{:?}", skew.sentence);
        assert!(
            matches!(&skew.sentence, Worded::Finding(Explanation::Fullest(fullest))
                if matches!(fullest.reason, Reason::Chance { .. })),
            "{:?}",
            skew.sentence
        );
    }

    #[test]
    fn many_small_tags_leave_the_nodes_even_but_shape_the_slots() {
        let keys: Vec<u64> = (0..16384)
            .map(|slot| if slot % 16 == 0 { 100 } else { 0 })
            .collect();
        let names: Vec<String> = (0..1024).map(|i| format!("t{i}")).collect();
        let tags: Vec<_> = names
            .iter()
            .enumerate()
            .map(|(i, name)| (name.as_str(), i as u16 * 16, 100))
            .collect();
        assert_eq!(skew_of(&even(4), &keys, &tags).verdict, Verdict::Tagged);
    }
}
