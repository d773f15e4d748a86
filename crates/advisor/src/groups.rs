//! Judges groups of families: does a tag become too heavy for a node, now or over time?

use std::collections::{BTreeMap, HashMap};

use crate::field_kinds::FieldKind;
use crate::model::Model;
use crate::scheme::{Choice, Scheme};
use crate::soundness::{self, Penalty, Soundness};
use crate::tag_loads::less_chance;

/// Load of the heaviest tag in fair shares of twice the nodes: below the first limit it is good, below the second
/// limited.
const GOOD: f64 = 0.2;
const LIMITED: f64 = 0.7;
/// How much heavier than the heaviest key a tag may be: such a key is heavy without a tag, too.
const OF_KEY: f64 = 1.25;
/// Families below this share of the load may have few tags.
const SMALL: f64 = 0.02;
/// Tags spread well with at least this many per node (of twice the nodes).
const TAGS_A_NODE: u64 = 4;
/// With at least this many keys per tag, a date tag concentrates the load of a period.
const KEYS_OF_DATE: f64 = 5.0;
/// Accesses needed to judge windows and hot keys.
const LEAST_IN_WINDOWS: u64 = 3000;
const LEAST_ACCESSES: u64 = 1000;
/// A scheme is needed if it makes at least this fraction of the hard batches run.
const NEEDED: f64 = 0.5;
/// A cured shape connects its families if it has at least this fraction of the batches.
const CONNECTING: f64 = 0.001;

impl Model<'_> {
    /// The families that a scheme connects, as lists of numbers.
    pub(crate) fn groups(&self, scheme: &Scheme) -> Vec<Vec<u32>> {
        let mut parent: BTreeMap<u32, u32> = (0..self.choices.len() as u32)
            .map(|family| (family, family))
            .collect();
        fn root(parent: &mut BTreeMap<u32, u32>, family: u32) -> u32 {
            let up = *parent.entry(family).or_insert(family);
            if up == family {
                return family;
            }
            let root = root(parent, up);
            parent.insert(family, root);
            root
        }
        let least = CONNECTING * self.joins.multi as f64;
        let frequent = self
            .joins
            .shapes
            .iter()
            .filter(|(_, count)| count.batches as f64 >= least);
        for shape in frequent.map(|(shape, _)| shape).chain(&self.required) {
            if shape.families.len() > 1 && shape.is_in_one_slot(scheme) {
                let first = root(&mut parent, shape.families[0].family);
                for member in &shape.families[1..] {
                    let root = root(&mut parent, member.family);
                    parent.insert(root, first);
                }
            }
        }
        let members: Vec<u32> = parent.keys().copied().collect();
        let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for family in members {
            let root = root(&mut parent, family);
            groups.entry(root).or_default().push(family);
        }
        groups.into_values().collect()
    }

    /// The penalty of a scheme.
    pub(crate) fn penalty(&self, scheme: &Scheme) -> Penalty {
        let mut penalty = Penalty::default();
        for group in self.groups(scheme) {
            let tagged = group.iter().any(|family| match scheme.get(*family) {
                Choice::Bare => false,
                Choice::Keep => self.families.list[*family as usize].braces.is_some(),
                _ => true,
            });
            if !tagged {
                continue;
            }
            let key: Vec<(u32, Choice)> = group
                .iter()
                .map(|family| (*family, scheme.get(*family)))
                .collect();
            let (soundness, is_monotonic) = self.judged.of(key, |key| self.judge(key));
            penalty.sum += match soundness {
                Soundness::Good => 0.0,
                Soundness::Limited => soundness::LIMITED,
                Soundness::Bad => 1.0,
            };
            penalty.is_monotonic |= is_monotonic;
        }
        if penalty.sum > soundness::LIMITED && self.worst_soundness(scheme) < Soundness::Bad {
            penalty.sum = soundness::LIMITED;
        }
        penalty
    }

    /// The floor for the soundness of a scheme: none is judged worse. Commands that the cluster refuses today run in
    /// one slot or not at all: if a scheme makes many of them run, heavy tags are a price and not a fault.
    pub(crate) fn worst_soundness(&self, scheme: &Scheme) -> Soundness {
        let hard = || {
            let shapes = self.joins.shapes.iter();
            shapes.filter(|(shape, _)| shape.must_be_together)
        };
        let run = |scheme: &Scheme| -> u64 {
            let run = hard().filter(|(shape, _)| shape.is_in_one_slot(scheme));
            run.map(|(_, count)| count.batches).sum()
        };
        let total: u64 = hard().map(|(_, count)| count.batches).sum();
        let gain = run(scheme).saturating_sub(run(&Scheme::default()));
        if gain > 0 && gain as f64 >= NEEDED * total as f64 {
            Soundness::Limited
        } else {
            Soundness::Bad
        }
    }

    /// The soundness of a group, and whether its load follows a tag.
    fn judge(&self, group: &[(u32, Choice)]) -> (Soundness, bool) {
        let (mut by_load, mut by_accesses) = (HashMap::new(), HashMap::new());
        let (mut distinct, mut load, mut follows) = (0, 0, false);
        let (mut in_window, mut key_in_window) = (0.0, 0.0);
        for (number, choice) in group {
            let family = &self.families.list[*number as usize];
            load += family.load;
            let is_tagged = match choice {
                Choice::Bare => false,
                Choice::Keep => family.braces.is_some(),
                _ => true,
            };
            let Some(tags) = self.tags.get(*number, *choice).filter(|_| is_tagged) else {
                continue;
            };
            tags.by_load
                .iter()
                .for_each(|(tag, load)| *by_load.entry(*tag).or_insert(0u64) += load);
            tags.by_accesses
                .iter()
                .for_each(|(tag, times)| *by_accesses.entry(*tag).or_insert(0u64) += times);
            distinct = distinct.max(tags.distinct);
            in_window += tags.in_window;
            let keys = self.tags.get(*number, Choice::Bare);
            key_in_window = keys.map_or(0.0, |keys| keys.in_window).max(key_in_window);
            follows |= self.is_of_dates(*number, *choice)
                && family.names.len() as f64 / self.names.share()
                    >= KEYS_OF_DATE * tags.expected_distinct.max(1.0);
        }
        let nodes = 2.0 * self.owners.nodes as f64;
        let heaviest = by_load.values().max().copied().unwrap_or(0) as f64 / self.sample_load;
        let mut soundness = self.by_heaviest(nodes * heaviest, nodes * self.heaviest_key);
        if let Some(times) = by_accesses
            .values()
            .max()
            .filter(|_| self.judges_accesses())
        {
            let total = self.joins.total_accesses as f64;
            let share = less_chance(*times as f64) / total;
            soundness = soundness.max(self.by_heaviest(nodes * share, nodes * self.hottest_key));
            // One tag is hot in most windows of the capture, but not over all of it.
            follows |= self.joins.total_accesses >= LEAST_IN_WINDOWS
                && nodes * in_window > LIMITED
                && in_window > 3.0 * key_in_window
                && in_window > 2.0 * *times as f64 / total;
        }
        let is_large = load as f64 > SMALL * self.sample_load;
        if is_large
            && distinct < TAGS_A_NODE * 2 * self.owners.nodes as u64
            && !self.has_few_names()
        {
            soundness = soundness.max(Soundness::Limited);
        }
        if self.has_few_names() {
            soundness = soundness.min(Soundness::Limited);
        }
        (if follows { Soundness::Bad } else { soundness }, follows)
    }

    /// The soundness if the heaviest tag and the heaviest key have this many fair shares.
    pub(crate) fn by_heaviest(&self, tag: f64, key: f64) -> Soundness {
        match () {
            () if tag <= GOOD.max(OF_KEY * key) => Soundness::Good,
            () if tag <= LIMITED.max(OF_KEY * key) || key > LIMITED => Soundness::Limited,
            () => Soundness::Bad,
        }
    }

    /// Whether there are too few names to demand many tags.
    pub(crate) fn has_few_names(&self) -> bool {
        self.names.keys < 100 * self.owners.nodes as u64
    }

    /// Whether batches have enough accesses to judge by them.
    pub(crate) fn judges_accesses(&self) -> bool {
        self.joins.total_accesses >= LEAST_ACCESSES
    }

    /// Whether all fields of the tag are dates.
    pub(crate) fn is_of_dates(&self, number: u32, choice: Choice) -> bool {
        let family = &self.families.list[number as usize];
        let fields: Vec<usize> = match choice {
            Choice::Keep => family.fields_of_today().unwrap_or_default(),
            _ => choice.fields().collect(),
        };
        !fields.is_empty()
            && fields
                .iter()
                .all(|field| family.kinds[*field] == FieldKind::Date)
    }
}
