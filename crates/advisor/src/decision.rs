//! The decision: the recommended scheme, or the reason for none.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;

use crate::batches::Batches;
use crate::carried_out::Scored;
use crate::family::Family;
use crate::field_kinds::FieldKind;
use crate::model::Model;
use crate::scheme::{Choice, Scheme};
use crate::soundness::{LIMITED, Soundness};

/// Captures count as evidence with at least this many batches, and as evidence of locality with this many that have
/// several keys.
const LEAST_BATCHES: u64 = 100;
/// Schemes that are applied, including today's.
const MOST_SCORED: usize = 7;
/// Schemes in the answer.
const LISTED: usize = 5;
/// The minimum gain for a change, as a fraction of the batches and of a fair share.
const GAIN: f64 = 0.05;
/// The same as a fraction of the fullest node's excess over its share: renaming all keys is not worth a smaller gain.
const GAIN_OF_EXCESS: f64 = 0.1;
/// The fraction of the hard batches that a scheme may lose.
const LOST: f64 = 0.001;
/// Below this many tags per key, a narrower tag still holds keys together.
const TOGETHER: f64 = 0.67;

/// The evidence for the advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// No batch was seen.
    NamesAlone,
    /// Fewer than a hundred.
    FewBatches,
    /// Enough batches.
    Batches,
}

/// The content of a tag: fields, each with the word before it, or constant text.
type TagOf = (Vec<(FieldKind, Vec<u8>)>, Vec<u8>);

/// The advice.
#[derive(Debug, Clone)]
pub struct Decision {
    /// The schemes in the answer: the recommended one, today's, then others that are better in one respect.
    pub schemes: Vec<Scored>,
    /// The index of today's scheme.
    pub today: usize,
    /// The evidence it is based on.
    pub evidence: Evidence,
    /// Whether schemes are judged by the number of batches in one slot.
    pub judges_locality: bool,
    /// A scheme was dropped because its names exist already or two names become one.
    pub collided: bool,
}

impl Decision {
    /// Whether a change is recommended.
    pub fn is_change(&self) -> bool {
        self.today != 0
    }

    /// The recommended scheme.
    pub fn best(&self) -> &Scored {
        &self.schemes[0]
    }

    /// Today's scheme.
    pub(crate) fn today(&self) -> &Scored {
        &self.schemes[self.today]
    }
}

impl Model<'_> {
    /// The candidates, applied to the sample: today's scheme first.
    pub fn candidates(&self, batches: &Batches) -> Vec<Scored> {
        let schemes = match self.judges_locality() {
            true => self.search(),
            false if !self.required.is_empty() => self.search(),
            false => self.narrowed(self.joins.batches() as u64 >= LEAST_BATCHES),
        };
        let chosen = &schemes[..schemes.len().min(MOST_SCORED)];
        let scored = chosen.par_iter().map(|scheme| self.score(scheme, batches));
        scored.collect()
    }

    /// Whether there are enough batches with several keys.
    pub(crate) fn judges_locality(&self) -> bool {
        self.joins.batches() as u64 >= LEAST_BATCHES && self.joins.multi >= LEAST_BATCHES
    }

    /// Decides among candidates.
    pub fn decide(&self, schemes: Vec<Scored>) -> Decision {
        let best = self.best(&schemes);
        let collided = schemes.iter().any(|scheme| scheme.names.collisions > 0);
        let evidence = match self.joins.batches() as u64 {
            0 => Evidence::NamesAlone,
            batches if batches < LEAST_BATCHES => Evidence::FewBatches,
            _ => Evidence::Batches,
        };
        let (schemes, today) = self.listed(schemes, best);
        Decision {
            schemes,
            today,
            evidence,
            judges_locality: self.judges_locality(),
            collided,
        }
    }

    fn locality(&self, scheme: &Scored) -> f64 {
        if self.judges_locality() {
            scheme.batches.share().unwrap_or(0.0)
        } else {
            0.0
        }
    }

    /// The index of the recommended scheme; 0 is today's.
    fn best(&self, schemes: &[Scored]) -> usize {
        let today = &schemes[0];
        let allowed = (1..schemes.len()).filter(|at| self.is_allowed(&schemes[*at], today));
        let best = allowed.rev().max_by(|a, b| {
            let (a, b) = (self.rank(&schemes[*a]), self.rank(&schemes[*b]));
            a.iter()
                .zip(&b)
                .map(|(a, b)| a.total_cmp(b))
                .find(|order| order.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        best.filter(|best| self.is_worth_it(&schemes[*best], today))
            .unwrap_or(0)
    }

    fn is_allowed(&self, scheme: &Scored, today: &Scored) -> bool {
        let loses = match (scheme.batches.must_share(), today.batches.must_share()) {
            (Some(then), Some(now)) => then < now - LOST,
            _ => false,
        };
        let is_as_bad =
            scheme.soundness == Soundness::Bad && scheme.penalty.sum >= today.penalty.sum - 0.5;
        let gains_nothing = !self.judges_locality()
            && scheme.penalty.sum >= today.penalty.sum
            && scheme.soundness >= today.soundness;
        scheme.names.collisions == 0
            && !loses
            && !is_as_bad
            && (!gains_nothing || !self.required.is_empty())
            && self.unmet(&scheme.renaming.scheme) == 0
    }

    /// The rank of a scheme, most important criterion first.
    fn rank(&self, scheme: &Scored) -> [f64; 4] {
        let base = match scheme.soundness {
            Soundness::Good => 0.0,
            Soundness::Limited => LIMITED,
            Soundness::Bad => 1.0 + scheme.penalty.sum,
        };
        let cost = if scheme.soundness < Soundness::Bad {
            base + (scheme.penalty.sum - 1.0).max(0.0)
        } else {
            base
        };
        let worth = ((self.locality(scheme) - cost) * 100.0).round();
        let fields = -(scheme.renaming.scheme.fields() as f64);
        if self.judges_locality() {
            [
                worth,
                -(scheme.names.renamed as f64),
                -scheme.names.heaviest_share,
                fields,
            ]
        } else {
            [worth, 0.0, -(scheme.names.distinct as f64), fields]
        }
    }

    /// Whether a scheme gains enough over today's.
    fn is_worth_it(&self, scheme: &Scored, today: &Scored) -> bool {
        if self.unmet(&today.renaming.scheme) > 0 {
            return true;
        }
        let gain = self.locality(scheme) - self.locality(today);
        let is_sounder = scheme.soundness < today.soundness;
        if gain < 0.0 && !is_sounder && today.penalty.sum <= scheme.penalty.sum {
            return false;
        }
        let ratios = [
            [today.max_over_mean, scheme.max_over_mean],
            [today.max_over_mean_2n, scheme.max_over_mean_2n],
        ];
        // A loss as large as a gain, on today's nodes or on twice as many, rules the scheme out.
        let falls = ratios
            .map(|[before, after]| (before - after) / GAIN.max(GAIN_OF_EXCESS * (before - 1.0)));
        let is_evener = falls.iter().any(|fall| *fall >= 1.0)
            && falls.iter().all(|fall| *fall > -1.0)
            || self.is_of_time(&today.renaming.scheme) && !self.is_of_time(&scheme.renaming.scheme)
            || today.penalty.is_monotonic && !scheme.penalty.is_monotonic;
        let is_sounder = is_sounder || scheme.penalty.sum < today.penalty.sum - 0.5;
        gain >= GAIN || is_sounder && is_evener
    }

    /// Whether a date tag holds many names.
    fn is_of_time(&self, scheme: &Scheme) -> bool {
        let families = self.families.list.iter().enumerate();
        families.into_iter().any(|(number, family)| {
            family.names.len() > 20 && self.is_of_dates(number as u32, scheme.get(number as u32))
        })
    }

    /// The best scheme, today's, and those that neither dominates.
    fn listed(&self, schemes: Vec<Scored>, best: usize) -> (Vec<Scored>, usize) {
        let mut order: Vec<usize> = (1..schemes.len()).filter(|at| *at != best).collect();
        order.sort_by(|a, b| {
            let locality = self
                .locality(&schemes[*b])
                .total_cmp(&self.locality(&schemes[*a]));
            locality.then_with(|| {
                schemes[*a]
                    .max_over_mean_2n
                    .total_cmp(&schemes[*b].max_over_mean_2n)
            })
        });
        let mut listed = vec![best];
        if best != 0 {
            listed.push(0);
        }
        let today = listed.len() - 1;
        for at in order {
            let scheme = &schemes[at];
            let beats = |place: &usize| {
                let known = &schemes[*place];
                self.locality(known) >= self.locality(scheme) - 0.005
                    && known.max_over_mean_2n <= scheme.max_over_mean_2n + 0.02
                    && known.names.renamed <= scheme.names.renamed
            };
            let gains = self.locality(scheme) >= self.locality(&schemes[0]) + GAIN
                || scheme.max_over_mean_2n <= schemes[0].max_over_mean_2n - GAIN;
            if listed.len() < LISTED
                && gains
                && scheme.names.collisions == 0
                && !listed.iter().any(beats)
            {
                listed.push(at);
            }
        }
        let mut schemes: Vec<Option<Scored>> = schemes.into_iter().map(Some).collect();
        let listed = listed
            .into_iter()
            .filter_map(|at| schemes[at].take())
            .collect();
        (listed, today)
    }

    /// Alternatives if no batch tells what belongs together: unsound tags are narrowed by the next field, in all
    /// families with that tag alike, or removed.
    fn narrowed(&self, single_keys_seen: bool) -> Vec<Scheme> {
        let (mut narrower, mut bare) = (Scheme::default(), Scheme::default());
        for families in self.families_by_tag() {
            if !self.is_unsound(&families) {
                continue;
            }
            for number in &families {
                bare.set(*number, Choice::Bare);
                let pair = self.field_behind_tag(*number).filter(|_| !single_keys_seen);
                let holds_together = |pair: &Choice| {
                    let tags = self
                        .tags
                        .get(*number, *pair)
                        .map_or(0.0, |tags| tags.expected_distinct);
                    let with_field = families.iter().filter(|family| {
                        self.families.list[**family as usize].fields.len() >= pair.fields().end
                    });
                    let names: usize = with_field
                        .map(|family| self.families.list[*family as usize].names.len())
                        .sum();
                    tags < TOGETHER * names as f64 / self.names.share()
                };
                narrower.set(*number, pair.filter(holds_together).unwrap_or(Choice::Bare));
            }
        }
        let mut schemes = vec![Scheme::default()];
        for scheme in [narrower, bare] {
            if !schemes.contains(&scheme) {
                schemes.push(scheme);
            }
        }
        schemes
    }

    fn field_behind_tag(&self, number: u32) -> Option<Choice> {
        let last = *self.families.list[number as usize]
            .fields_of_today()?
            .last()?;
        let pair = Choice::Pair(u8::try_from(last).ok()?);
        self.choices[number as usize]
            .contains(&pair)
            .then_some(pair)
    }

    /// Families that have a tag today, by its content.
    fn families_by_tag(&self) -> Vec<Vec<u32>> {
        let mut by_tag: BTreeMap<TagOf, Vec<u32>> = BTreeMap::new();
        for number in 0..self.choices.len() as u32 {
            let family = &self.families.list[number as usize];
            let Some(fields) = family.fields_of_today() else {
                continue;
            };
            if family.names.is_empty() || !self.choices[number as usize].contains(&Choice::Bare) {
                continue;
            }
            let word = |field: usize| family.word_before(field).unwrap_or_default().to_vec();
            let parts: Vec<_> = fields
                .iter()
                .map(|field| (family.kinds[*field], word(*field)))
                .collect();
            let constant = if parts.is_empty() {
                self.tag_of_first(family)
            } else {
                Vec::new()
            };
            by_tag.entry((parts, constant)).or_default().push(number);
        }
        by_tag.into_values().collect()
    }

    fn tag_of_first(&self, family: &Family) -> Vec<u8> {
        let (name, _) = self.names.get(family.names[0] as usize);
        name[hashslot::hashed_part(name)].to_vec()
    }

    /// Whether today's tags of these families are unsound.
    fn is_unsound(&self, families: &[u32]) -> bool {
        let mut tags = HashMap::new();
        let (mut names, mut distinct) = (0, 0);
        for number in families {
            let Some(loads) = self.tags.get(*number, Choice::Keep) else {
                continue;
            };
            loads
                .by_load
                .iter()
                .for_each(|(tag, load)| *tags.entry(*tag).or_insert(0u64) += load);
            names += self.families.list[*number as usize].names.len();
            distinct = distinct.max(loads.distinct);
        }
        let nodes = 2.0 * self.owners.nodes as f64;
        let heaviest = tags.values().max().copied().unwrap_or(0) as f64 / self.sample_load;
        let soundness = self.by_heaviest(nodes * heaviest, nodes * self.heaviest_key);
        let has_few_tags = names as f64 > 0.02 * self.names.len() as f64
            && distinct < 8 * self.owners.nodes as u64;
        soundness > Soundness::Good
            || has_few_tags
            || families
                .iter()
                .any(|number| self.is_of_dates(*number, Choice::Keep))
    }
}
