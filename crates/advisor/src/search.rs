//! The search for schemes: fields that many batches have in common are combined by a beam search, then improved family
//! by family.

use std::collections::{BTreeMap, HashMap};

use crate::joins::BatchShape;
use crate::model::Model;
use crate::scheme::{Choice, MOST_FIELDS, Scheme};

/// The cost of a renamed name and of a field in a tag: ties go to the simpler scheme.
const OF_RENAMED: f64 = 0.004;
const OF_FIELD: f64 = 0.0005;
/// Assignments that are tried: the heaviest ones, each with at least this many batches.
const MOST_ASSIGNMENTS: usize = 256;
const LEAST_BATCHES: u64 = 3;
const LEAST_SHARE: f64 = 0.002;
/// Width of the beam, and number of schemes that are improved family by family.
const BEAM: usize = 8;
const IMPROVED: usize = 4;
/// Families that are improved, and rounds.
const MOST_IMPROVED: usize = 64;
const ROUNDS: usize = 2;
/// Schemes returned.
const FOUND: usize = 24;

/// Values of schemes already evaluated.
#[derive(Default)]
struct Known {
    values: HashMap<Scheme, f64>,
}

impl Model<'_> {
    /// The value that the search maximizes.
    pub fn value(&self, scheme: &Scheme) -> f64 {
        let names: usize = scheme
            .changes()
            .iter()
            .map(|(family, _)| self.families.list[*family as usize].names.len())
            .sum();
        let renamed = names as f64 / self.names.len().max(1) as f64;
        let penalty = self.penalty(scheme).sum;
        self.local(scheme)
            - self.unmet(scheme) as f64
            - penalty
            - OF_RENAMED * renamed
            - OF_FIELD * scheme.fields() as f64
    }

    /// Schemes worth scoring: today's first, then the best.
    pub fn search(&self) -> Vec<Scheme> {
        let mut known = Known::default();
        let beam = self.beam(&mut known);
        let bare = Scheme::without_tags(&self.choices);
        let starts = beam.into_iter().take(IMPROVED).chain([bare.clone()]);
        for start in starts {
            self.improve(start, &mut known);
        }
        let mut valued: Vec<(Scheme, f64)> = known.values.into_iter().collect();
        valued.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let best = valued.into_iter().take(FOUND).map(|(scheme, _)| scheme);
        let mut schemes = vec![Scheme::default()];
        for scheme in best.chain([bare]) {
            if !schemes.contains(&scheme) {
                schemes.push(scheme);
            }
        }
        schemes
    }

    /// Combines assignments, heaviest first; returns the best schemes.
    fn beam(&self, known: &mut Known) -> Vec<Scheme> {
        let today = Scheme::default();
        let mut beam = vec![(self.known(&today, known), today)];
        for assignment in self.assignments() {
            let mut next = beam.clone();
            for (_, scheme) in &beam {
                for overrules in [false, true] {
                    let conflicts = |(family, choice): &(u32, Choice)| {
                        let today = scheme.get(*family);
                        today != Choice::Keep && today != *choice
                    };
                    if !overrules && assignment.iter().any(conflicts) {
                        continue;
                    }
                    let mut tried = scheme.clone();
                    assignment
                        .iter()
                        .for_each(|(family, choice)| tried.set(*family, *choice));
                    if !known.values.contains_key(&tried) {
                        next.push((self.known(&tried, known), tried));
                    }
                }
            }
            next.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
            next.truncate(BEAM);
            beam = next;
        }
        beam.into_iter().map(|(_, scheme)| scheme).collect()
    }

    fn known(&self, scheme: &Scheme, known: &mut Known) -> f64 {
        if let Some(value) = known.values.get(scheme) {
            return *value;
        }
        let value = self.value(scheme);
        known.values.insert(scheme.clone(), value);
        value
    }

    /// For each family in turn, takes the best choice with all others fixed.
    fn improve(&self, start: Scheme, known: &mut Known) {
        let mut value = self.known(&start, known);
        let mut scheme = start;
        for _ in 0..ROUNDS {
            let before = value;
            for family in 0..self.choices.len().min(MOST_IMPROVED) {
                let changed = self.choices[family]
                    .iter()
                    .map(|choice| scheme.with(family as u32, *choice));
                let tried: Vec<Scheme> = changed.collect();
                for candidate in tried {
                    let of_candidate = self.known(&candidate, known);
                    if of_candidate > value + 1e-9 {
                        (value, scheme) = (of_candidate, candidate);
                    }
                }
            }
            if value <= before {
                break;
            }
        }
    }

    /// Choices that bring whole shapes of batches to one slot: distinct, heaviest first.
    fn assignments(&self) -> Vec<Vec<(u32, Choice)>> {
        let mut batches: BTreeMap<Vec<(u32, Choice)>, u64> = BTreeMap::new();
        for (shape, count) in &self.joins.shapes {
            for assignment in self.assignments_of(shape) {
                *batches.entry(assignment).or_default() += count.batches;
            }
        }
        let least = LEAST_BATCHES.max((LEAST_SHARE * self.joins.multi as f64) as u64);
        let mut heavy: Vec<_> = batches
            .into_iter()
            .filter(|(_, batches)| *batches >= least)
            .collect();
        heavy.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        heavy.truncate(MOST_ASSIGNMENTS);
        let required = self
            .required
            .iter()
            .flat_map(|shape| self.assignments_of(shape));
        required
            .chain(heavy.into_iter().map(|(assignment, _)| assignment))
            .collect()
    }

    fn assignments_of(&self, shape: &BatchShape) -> Vec<Vec<(u32, Choice)>> {
        // By class: the fields of each family in it.
        let mut classes: BTreeMap<u16, BTreeMap<u32, Vec<u8>>> = BTreeMap::new();
        for family in &shape.families {
            let Some(choices) = self.choices.get(family.family as usize) else {
                return Vec::new();
            };
            for (at, class) in family.fields.iter().take(MOST_FIELDS).enumerate() {
                if let Some(class) = class.filter(|_| choices.contains(&Choice::Field(at as u8))) {
                    classes
                        .entry(class)
                        .or_default()
                        .entry(family.family)
                        .or_default()
                        .push(at as u8);
                }
            }
        }
        classes.retain(|_, fields| fields.len() == shape.families.len());
        let mut assignments = Vec::new();
        for fields in classes.values() {
            let assignment = |pick: fn(&Vec<u8>) -> u8| {
                fields
                    .iter()
                    .map(|(family, at)| (*family, Choice::Field(pick(at))))
                    .collect()
            };
            assignments.push(assignment(|at| at[0]));
            if fields.values().any(|at| at.len() > 1) {
                assignments.push(assignment(|at| at[at.len() - 1]));
            }
        }
        for first in classes.values() {
            for second in classes.values() {
                let pair = |family: &u32| {
                    let is_next = |at: &&u8| second[family].contains(&(**at + 1));
                    let choice = Choice::Pair(*first[family].iter().find(is_next)?);
                    self.choices[*family as usize]
                        .contains(&choice)
                        .then_some((*family, choice))
                };
                if let Some(pairs) = first.keys().map(pair).collect() {
                    assignments.push(pairs);
                }
            }
        }
        assignments
    }
}
