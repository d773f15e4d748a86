//! The advice as data: the fields of `slotscope advise --json`, in output order.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use slotscope_base::metric::Metric;
use slotscope_base::name::Name;

use crate::batches::Batches;
use crate::carried_out::Scored;
use crate::decision::{Decision, Evidence};
use crate::joins::BatchShape;
use crate::model::Model;
use crate::reasons::KeepReason;
use crate::rename_rules::{generality, rename_rule};
use crate::soundness::Soundness;

/// The name and version of the JSON schema.
pub(crate) const SCHEMA: &str = "slotscope.advise/1";
/// Kinds of batches listed.
const LISTED: usize = 100;

/// All findings; the fields are those of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct AdviseFindings {
    /// The name and version of this form.
    #[cfg_attr(feature = "schemas", schemars(extend("const" = SCHEMA)))]
    pub schema: String,
    /// Whether to change the tags: the first scheme is the recommended one.
    pub advice: Advice,
    /// Its evidence.
    pub evidence: Evidence,
    /// Why nothing changes; absent where something does.
    pub why: Option<KeepReason>,
    /// Primaries.
    pub nodes: usize,
    /// The metric of load.
    pub by: Metric,
    /// Names.
    pub keys: u64,
    /// The part of the names that the families are from; promises are of all names wherever they can be read twice.
    pub names_sampled: f64,
    /// Names of the sample that fit no pattern, and names of more than 512 bytes: they stay.
    pub names_unmatched: u64,
    /// Batches, those of one key among them.
    pub batches: u64,
    /// One of how many batches was kept: the counts of batches below are of these.
    pub one_batch_of: u64,
    /// Batches of two keys or more.
    pub batches_of_several: u64,
    /// Those of them that must be in one slot.
    pub batches_that_must: u64,
    /// Batches of kinds too rare to be counted by themselves; no scheme cures them.
    pub batches_uncounted: u64,
    /// The families, largest first.
    pub families: Vec<FamilyAdvice>,
    /// Families with less load and fewer accesses than those that were scored: they stay.
    pub families_unscored: usize,
    /// The recommended scheme, today's, and others that are better in one thing.
    pub schemes: Vec<SchemeScore>,
    /// Kinds of batches of several keys, most frequent first.
    pub kinds: Vec<BatchKind>,
    /// Rules for `whatif --retag` that rename the keys by the recommended scheme.
    pub rules: Vec<String>,
    /// Names of the sample that those rules make something else of.
    pub rules_differ: u64,
    /// A scheme was left out, as some of its names exist already.
    pub collided: bool,
    /// Demands of `--together` that the advice does not meet.
    pub together_unmet: usize,
}

/// The advice in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// Change the tags.
    Change,
    /// Leave them.
    Keep,
}

/// A family and its new names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FamilyAdvice {
    /// The pattern.
    pub pattern: Name,
    /// The new pattern; absent if it stays.
    pub becomes: Option<Name>,
    /// The rule for `whatif --retag` that renames its names; absent where it stays or is not text. The JSON has all rules
    /// in the order that they apply in.
    #[serde(skip)]
    pub rule: Option<String>,
    /// Its names; an estimate, where families are from a sample.
    pub keys: u64,
    /// Its share of the load.
    pub load_share: f64,
    /// How often the batches that were kept touch it.
    pub accesses: u64,
}

/// A scheme and its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SchemeScore {
    /// Its tags; absent where it leaves them.
    pub tags: Vec<Name>,
    /// Whether it is today's.
    pub is_today: bool,
    /// How sound its tags are.
    pub sound: Soundness,
    /// Whether the load follows one tag over time.
    pub monotonic: bool,
    /// The part of the batches of several keys that is in one slot; absent without such batches.
    pub single_slot_share: Option<f64>,
    /// The same of those that must be.
    pub must_share: Option<f64>,
    /// Mean number of nodes of a batch.
    pub mean_nodes: Option<f64>,
    /// Batches that must be in one slot and are not: a server refuses them.
    pub crossslot: u64,
    /// The fullest node in fair shares.
    pub max_over_mean: NodeFigures,
    /// The heaviest tag, or the heaviest key if the keys have no tags.
    pub heaviest: Name,
    /// Whether it is a tag.
    pub heaviest_is_tag: bool,
    /// Its share of the load.
    pub heaviest_share: f64,
    /// Distinct tags in the sample.
    pub distinct_tags: u64,
    /// Patterns whose names change.
    pub patterns_renamed: usize,
    /// Names that change.
    pub keys_renamed: u64,
}

/// A figure of the nodes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct NodeFigures {
    /// The figure of the cluster's number of nodes.
    pub n: f64,
    /// The figure of twice as many nodes.
    #[serde(rename = "2n")]
    pub twice: f64,
}

/// Batches of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BatchKind {
    /// The command; absent for bare keys.
    pub command: Option<String>,
    /// The patterns of its keys.
    pub keys: Vec<Name>,
    /// Mean number of keys of a batch.
    pub mean_keys: f64,
    /// How many.
    pub batches: u64,
    /// Whether they must be in one slot.
    pub must_be_together: bool,
    /// Mean number of slots of one today.
    pub slots_today: f64,
    /// The same by the recommended scheme.
    pub slots_then: f64,
}

impl AdviseFindings {
    /// The findings for a decision.
    pub fn of(model: &Model<'_>, batches: &Batches, decision: &Decision) -> Self {
        let why = (!decision.is_change()).then(|| model.keep_reason(decision));
        let best = decision.best();
        let list = &model.families.list;
        let renaming = &best.renaming;
        let listed = list
            .iter()
            .enumerate()
            .filter(|(_, family)| !family.names.is_empty() || family.accesses > 0);
        let rows = listed.map(|(number, family)| {
            let pattern = renaming.pattern(number as u32, family);
            let becomes = (pattern != family.pattern).then_some(Name(pattern));
            let rule = becomes
                .as_ref()
                .and_then(|_| rename_rule(renaming, number as u32, family));
            FamilyAdvice {
                becomes,
                rule,
                pattern: Name(family.pattern.clone()),
                keys: (family.names.len() as f64 / model.names.share()).round() as u64,
                load_share: rounded(family.load as f64 / model.sample_load),
                accesses: family.accesses,
            }
        });
        let families: Vec<FamilyAdvice> = rows.collect();
        let known_rules = families.iter().filter_map(|family| family.rule.clone());
        let mut rules: Vec<String> = known_rules.collect();
        // A rule that matches any word may match names of another rule: numeric rules come first.
        rules.sort_by_key(|rule| generality(rule));
        AdviseFindings {
            schema: SCHEMA.into(),
            advice: if decision.is_change() {
                Advice::Change
            } else {
                Advice::Keep
            },
            evidence: decision.evidence,
            why,
            nodes: model.owners.nodes,
            by: model.names.metric(),
            keys: model.names.keys,
            names_sampled: rounded(model.names.share()),
            names_unmatched: list[model.families.other()].names.len() as u64 + model.names.long,
            batches: batches.seen,
            one_batch_of: batches.one_of(),
            batches_of_several: best.batches.multi,
            batches_that_must: best.batches.must,
            batches_uncounted: model.joins.uncounted,
            families,
            families_unscored: model.families.other() - model.choices.len(),
            schemes: decision
                .schemes
                .iter()
                .enumerate()
                .map(|(at, scheme)| score(model, scheme, at == decision.today))
                .collect(),
            kinds: kinds(model, batches, decision),
            rules,
            rules_differ: 0,
            collided: decision.collided,
            together_unmet: model.unmet(&best.renaming.scheme),
        }
    }
}

/// Rounds to six digits: the rest is noise of floating point.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn score(model: &Model<'_>, scheme: &Scored, is_today: bool) -> SchemeScore {
    let has_batches = scheme.batches.multi > 0;
    SchemeScore {
        tags: tags(model, scheme),
        is_today,
        sound: scheme.soundness,
        monotonic: scheme.penalty.is_monotonic,
        single_slot_share: scheme.batches.share().map(rounded),
        must_share: scheme.batches.must_share().map(rounded),
        mean_nodes: has_batches.then(|| rounded(scheme.batches.mean_nodes)),
        crossslot: scheme.batches.must - scheme.batches.must_in_one_slot,
        max_over_mean: NodeFigures {
            n: rounded(scheme.max_over_mean),
            twice: rounded(scheme.max_over_mean_2n),
        },
        heaviest: Name(scheme.names.tag.clone()),
        heaviest_is_tag: scheme.names.is_tag,
        heaviest_share: rounded(scheme.names.heaviest_share),
        distinct_tags: scheme.names.distinct,
        patterns_renamed: changed(model, scheme).count(),
        keys_renamed: scheme.names.renamed,
    }
}

/// The patterns that a scheme changes, and their new form.
fn changed<'a>(model: &'a Model<'_>, scheme: &'a Scored) -> impl Iterator<Item = Vec<u8>> + 'a {
    let families = model.families.list.iter().enumerate();
    families.filter_map(|(number, family)| {
        let pattern = scheme.renaming.pattern(number as u32, family);
        (pattern != family.pattern).then_some(pattern)
    })
}

/// The distinct tags that a scheme produces, those of the largest families first; empty ones are names without braces.
fn tags(model: &Model<'_>, scheme: &Scored) -> Vec<Name> {
    let mut tags: Vec<Name> = Vec::new();
    for pattern in changed(model, scheme) {
        let braced =
            hashslot::tag(&pattern).map_or(&b""[..], |tag| &pattern[tag.start - 1..=tag.end]);
        let tag = Name(braced.to_vec());
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    tags
}

/// Slots per batch by kind of batch, before and after.
fn kinds(model: &Model<'_>, batches: &Batches, decision: &Decision) -> Vec<BatchKind> {
    let shapes = &model.joins.shapes;
    let numbers: HashMap<&BatchShape, usize> = shapes
        .iter()
        .enumerate()
        .map(|(at, (shape, _))| (shape, at))
        .collect();
    let slots = [decision.today(), decision.best()]
        .map(|scheme| model.slots_after(&scheme.renaming, batches));
    let mut sums = vec![[0u64; 2]; shapes.len()];
    for at in 0..batches.len() {
        let Some(number) = model
            .joins
            .shape_of(at, batches)
            .and_then(|shape| numbers.get(&shape).copied())
        else {
            continue;
        };
        for (sum, slots) in sums[number].iter_mut().zip(&slots) {
            let mut touched: Vec<u16> = model
                .joins
                .batch(at)
                .iter()
                .map(|key| slots[*key as usize])
                .collect();
            touched.sort_unstable();
            touched.dedup();
            *sum += touched.len() as u64;
        }
    }
    // For people, kinds with the same families and the same outcome are one.
    let mut kinds: Vec<BatchKind> = Vec::new();
    for ((shape, count), [today, then]) in shapes.iter().zip(sums) {
        let mean = |sum: u64| rounded(sum as f64 / count.batches.max(1) as f64);
        let keys: Vec<Name> = shape
            .families
            .iter()
            .map(|member| Name(model.families.list[member.family as usize].pattern.clone()))
            .collect();
        let kind = BatchKind {
            command: count.command.map(String::from),
            keys,
            mean_keys: mean(count.keys),
            batches: count.batches,
            must_be_together: shape.must_be_together,
            slots_today: mean(today),
            slots_then: mean(then),
        };
        let is_alike = |known: &&mut BatchKind| {
            known.keys == kind.keys
                && known.command == kind.command
                && known.must_be_together == kind.must_be_together
                && (known.slots_then == 1.0) == (kind.slots_then == 1.0)
        };
        match kinds.iter_mut().find(is_alike) {
            Some(known) => known.add(&kind),
            None => kinds.push(kind),
        }
    }
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.batches));
    kinds.truncate(LISTED);
    kinds
}

impl BatchKind {
    fn add(&mut self, other: &BatchKind) {
        let (here, there) = (self.batches as f64, other.batches as f64);
        let mean = |a: f64, b: f64| rounded((a * here + b * there) / (here + there));
        self.mean_keys = mean(self.mean_keys, other.mean_keys);
        self.slots_today = mean(self.slots_today, other.slots_today);
        self.slots_then = mean(self.slots_then, other.slots_then);
        self.batches += other.batches;
    }
}
