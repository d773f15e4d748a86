//! The verdict: how uneven the nodes are in each metric, why, what cures it, and what else is a risk.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::{Metric, PerMetric};
use crate::name::Name;
use crate::summary::balance::tidy;
use crate::summary::cause::{Cause, State};
use crate::summary::explanation::Explanation;
use crate::summary::independent_units::{Units, UnitsBy};
use crate::summary::integrity::{Integrity, Sign};
use crate::summary::judge::judge;
use crate::summary::model::compound::CompoundPoisson;
use crate::summary::model::expected::Expectation;
use crate::summary::nodes::Nodes;
use crate::summary::remedy::Remedy;
use crate::summary::risk::Risk;
use crate::summary::scaling::{self, Scaled};
use crate::summary::split::Split;
use crate::summary::worded::Worded;

/// The verdict and what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The worst state of the metrics keys and bytes.
    pub state: State,
    /// The metric that it is about: of several in that state the one with the larger max/mean.
    pub metric: Metric,
    /// The finding in a sentence.
    #[serde(default)]
    pub sentence: Worded<Explanation>,
    /// Whether the input has the sizes of keys.
    #[serde(default)]
    pub memory_known: bool,
    /// The verdict by every metric that the input carries.
    pub by_metric: Vec<MetricVerdict>,
    /// What is a risk however even the nodes are.
    #[serde(default)]
    pub risks: Vec<Risk>,
    /// Evidence that the dump is not whole.
    #[serde(default)]
    pub integrity: Vec<Integrity>,
}

/// The verdict by one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricVerdict {
    /// The metric.
    pub metric: Metric,
    /// The finding.
    pub state: State,
    /// The finding in a sentence.
    #[serde(default)]
    pub sentence: Worded<Explanation>,
    /// The fullest node; absent without load.
    pub fullest: Option<FullestNode>,
    /// Why it is above its fair share, largest first; the excesses add up to max/mean - 1.
    #[serde(default)]
    pub causes: Vec<Cause>,
    /// What evens the nodes out, the recommended one first.
    #[serde(default)]
    pub remedies: Vec<Remedy>,
    /// The independent units that the load behaves like.
    pub n_eff: Option<f64>,
    /// 0: exact; else the relative standard error of `n_eff`.
    #[serde(default)]
    pub n_eff_error: f64,
    /// What a perfect hash gives the slots with these tags and sizes; absent where tags were not counted.
    pub expected: Option<Expectation>,
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
    /// The same slots on other numbers of equal nodes.
    #[serde(default)]
    pub by_node_count: Vec<Scaled>,
}

/// The fullest node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FullestNode {
    /// Its id.
    pub node: Name,
    /// Its load in fair shares.
    pub max_over_mean: f64,
}

/// The relative standard error of an estimated number of units.
const N_EFF_ERROR: f64 = 0.0055;

impl Verdict {
    /// Judges the nodes by every metric that the input carries. `incomplete` says that a part of the input could not be
    /// read, `signs` what else is wrong with it.
    pub fn of(
        nodes: &Nodes,
        loads: &PerMetric<Vec<u64>>,
        units: &Units,
        signs: &[Sign],
        risks: Vec<Risk>,
    ) -> Self {
        let judged = Judged {
            nodes,
            units,
            signs,
        };
        let by_metric: Vec<MetricVerdict> = units
            .per
            .iter()
            .zip(loads.iter())
            .map(|((metric, of_metric), (_, loads))| judged.by(metric, of_metric, loads))
            .collect();
        // Captures alone say nothing of what nodes hold.
        let holds_keys = nodes.total(Metric::Keys) > 0 || nodes.total(Metric::Ops) == 0;
        // Of equals the first: keys.
        let worst = by_metric
            .iter()
            .rev()
            .filter(|found| found.metric.is_of_use() != holds_keys)
            .max_by(|a, b| {
                a.severity()
                    .partial_cmp(&b.severity())
                    .unwrap_or(std::cmp::Ordering::Equal)
            });
        Verdict {
            state: worst.map_or(State::Empty, |worst| worst.state),
            metric: worst.map_or(Metric::Keys, |worst| worst.metric),
            sentence: worst.map_or_else(Worded::default, |worst| worst.sentence.clone()),
            memory_known: loads.get(Metric::Bytes).is_some(),
            by_metric,
            risks,
            integrity: signs.iter().map(Integrity::from).collect(),
        }
    }

    /// Says of an input without keys that it has lists of extremes.
    pub fn names_only_extremes(&mut self) {
        let by_metric = self.by_metric.iter_mut().map(|by| &mut by.sentence);
        let sentences = by_metric.chain([&mut self.sentence]);
        for sentence in sentences.filter(|of| **of == Explanation::NoKeys.into()) {
            *sentence = Explanation::OnlyExtremes.into();
        }
    }

    /// The verdict by `metric`.
    pub fn by(&self, metric: Metric) -> Option<&MetricVerdict> {
        self.by_metric.iter().find(|found| found.metric == metric)
    }

    /// The verdict that the state is from.
    pub fn worst(&self) -> Option<&MetricVerdict> {
        self.by(self.metric)
    }
}

impl MetricVerdict {
    /// The fullest node in fair shares.
    pub fn max_over_mean(&self) -> Option<f64> {
        self.fullest.as_ref().map(|fullest| fullest.max_over_mean)
    }

    fn severity(&self) -> (State, f64) {
        (self.state, self.max_over_mean().unwrap_or(0.0))
    }
}

/// What the verdicts of all metrics are made from.
struct Judged<'a> {
    nodes: &'a Nodes,
    units: &'a Units,
    signs: &'a [Sign],
}

impl Judged<'_> {
    fn by(&self, metric: Metric, units: &UnitsBy, loads: &[u64]) -> MetricVerdict {
        let keys = match self.nodes.total(Metric::Keys) {
            0 => units.positive,
            keys => keys as f64,
        };
        let split = Split::of(self.nodes, units, metric);
        let state = judge(split.as_ref(), keys, !self.signs.is_empty());
        let causes = split
            .iter()
            .flat_map(|split| split.causes(loads))
            .collect::<Vec<_>>();
        let (split, signs) = (split.as_ref(), self.signs);
        // Without tags counted, n_eff is not known.
        let n_eff = units.effective();
        MetricVerdict {
            metric,
            state,
            sentence: Explanation::of(state, self.nodes, split, metric, &causes, signs.first())
                .into(),
            fullest: split.map(|split| FullestNode {
                node: split.fullest.id.clone(),
                max_over_mean: tidy(split.max_over_mean),
            }),
            causes,
            remedies: Vec::new(),
            n_eff: n_eff.map(tidy),
            n_eff_error: if self.units.are_exact {
                0.0
            } else {
                N_EFF_ERROR
            },
            expected: CompoundPoisson::of(self.units, metric)
                .zip(n_eff)
                .map(|(slots, n_eff)| slots.expectation(n_eff)),
            design_ratio: n_eff.map(|n_eff| tidy(units.positive / n_eff)),
            size_ratio: units.size_ratio().map(tidy),
            tag_ratio: units.tag_ratio().map(tidy),
            hash_ratio: n_eff.and_then(|n_eff| scaling::hash_ratio(loads, n_eff)),
            floor: scaling::floor(units, metric, self.nodes.owning().count()),
            usable_capacity: split.map(|split| tidy(1.0 / split.max_over_mean)),
            by_node_count: match units.total > 0.0 {
                true => scaling::by_node_count(loads, units, metric, keys),
                false => Vec::new(),
            },
        }
    }
}
