//! The model: names and batches as families, joins and tags; schemes are judged by it alone.

use std::collections::HashSet;

use slotscope_base::hash::hash;
use slotscope_base::metric::Metric;

use crate::batches::Batches;
use crate::families::{Families, NameLoad};
use crate::joins::{BatchShape, Joins};
use crate::names::NameSample;
use crate::owners::Owners;
use crate::places::Places;
use crate::scheme::{Choice, MOST_SCORED, Scheme, choices};
use crate::soundness::Judged;
use crate::tag_loads::AllTagLoads;

/// Names and batches as families, joins and tags.
#[derive(Debug)]
pub struct Model<'a> {
    /// The names.
    pub names: &'a NameSample,
    /// The primaries of the cluster and their slots.
    pub owners: Owners,
    /// The families; scored ones first.
    pub families: Families,
    /// The choices for scored families.
    pub choices: Vec<Vec<Choice>>,
    /// The joins found in batches.
    pub joins: Joins,
    /// The tags under every choice.
    pub tags: AllTagLoads,
    /// The total load of the sample.
    pub sample_load: f64,
    /// The heaviest key's share of the load.
    pub heaviest_key: f64,
    /// The hottest key's share of the accesses.
    pub hottest_key: f64,
    /// Shapes that must be in one slot by the user's demand.
    pub required: Vec<BatchShape>,
    /// Cached judgements of groups.
    pub judged: Judged,
}

impl<'a> Model<'a> {
    /// The model of these names and batches in a cluster; families for which `is_kept` returns true are not renamed.
    pub fn of(
        names: &'a NameSample,
        batches: &Batches,
        owners: Owners,
        is_kept: impl Fn(&[u8]) -> bool,
    ) -> Self {
        let listed: Vec<&[u8]> = (0..names.len()).map(|at| names.get(at).0).collect();
        let touched: Vec<&[u8]> = (0..batches.len()).flat_map(|at| batches.keys(at)).collect();
        let each_once = each_once(&touched, names);
        let mut families = Families::of(&each_once, Places::of(batches));
        add_names(&mut families, &listed, names);
        add_accesses(&mut families, &touched);
        families.reorder(&by_importance(&families, names, batches));
        let scored = families.other().min(MOST_SCORED);
        let of_families = families.list[..scored].iter().map(|family| {
            if is_kept(&family.pattern) {
                vec![Choice::Keep]
            } else {
                choices(family)
            }
        });
        let choices: Vec<Vec<Choice>> = of_families.collect();
        let joins = Joins::of(batches, &families);
        let tags = AllTagLoads::of(names, &families, &choices, &joins);
        let share = |part: f64, whole: f64| part / whole.max(1.0);
        let hottest = joins.accesses.iter().max().copied().unwrap_or(0);
        let sample_load: u64 = families.list.iter().map(|family| family.load).sum();
        Model {
            names,
            owners,
            choices,
            tags,
            sample_load: sample_load.max(1) as f64,
            heaviest_key: share(names.largest as f64, names.load as f64),
            hottest_key: share(f64::from(hottest), joins.total_accesses as f64),
            joins,
            families,
            required: Vec::new(),
            judged: Judged::default(),
        }
    }

    /// The fraction of the batches with several keys that a scheme brings to one slot.
    pub fn local(&self, scheme: &Scheme) -> f64 {
        let run = self
            .joins
            .shapes
            .iter()
            .filter(|(shape, _)| shape.is_in_one_slot(scheme));
        let batches: u64 = run.map(|(_, count)| count.batches).sum();
        batches as f64 / self.joins.multi.max(1) as f64
    }
}

/// Every name, and every key in batches that is not among the names.
fn each_once<'a>(touched: &[&'a [u8]], names: &'a NameSample) -> Vec<(&'a [u8], NameLoad)> {
    let mut seen: HashSet<u64> = HashSet::default();
    let is_new = |key: &&&[u8]| {
        let hash = hash(key);
        !names.has(hash) && seen.insert(hash)
    };
    let has_weight = names.metric() != Metric::Keys;
    let listed = (0..names.len()).map(|at| {
        let (name, load) = names.get(at);
        let (keys, load) = (names.times(at), if has_weight { load } else { 0 });
        (name, NameLoad { keys, load })
    });
    let unlisted = touched.iter().filter(is_new);
    let new = unlisted.map(|key| (*key, NameLoad { keys: 1, load: 0 }));
    listed.chain(new).collect()
}

fn add_names(families: &mut Families, listed: &[&[u8]], names: &NameSample) {
    for (at, number) in families.find_all(listed).into_iter().enumerate() {
        let family = &mut families.list[number as usize];
        family.names.push(at as u32);
        family.load += names.get(at).1;
    }
}

fn add_accesses(families: &mut Families, touched: &[&[u8]]) {
    for number in families.find_all(touched) {
        families.list[number as usize].accesses += 1;
    }
}

/// The families by load and accesses; the last one stays last.
fn by_importance(families: &Families, names: &NameSample, batches: &Batches) -> Vec<usize> {
    let accesses: u64 = families.list.iter().map(|family| family.accesses).sum();
    let importance = |at: &usize| {
        let family = &families.list[*at];
        let share = |part: f64, whole: f64| part / whole.max(1.0);
        let of_accesses = if batches.is_empty() {
            0.0
        } else {
            share(family.accesses as f64, accesses as f64)
        };
        share(family.load as f64, names.load as f64)
            + share(family.names.len() as f64, names.len() as f64)
            + of_accesses
    };
    let mut order: Vec<usize> = (0..families.other()).collect();
    order.sort_by(|a, b| {
        let pattern = |at: &usize| &families.list[*at].pattern;
        importance(b)
            .total_cmp(&importance(a))
            .then_with(|| pattern(a).cmp(pattern(b)))
    });
    order.push(families.other());
    order
}
