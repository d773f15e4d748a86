//! The load of tags by family and choice, from the sample of names and from batches.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;

use slotscope_base::hash::hash;

use crate::families::Families;
use crate::family::Family;
use crate::joins::{Joins, TouchedKey, braced, tag_hash};
use crate::names::NameSample;
use crate::scheme::{Choice, MOST_FIELDS};

/// Tags tracked per family and choice; the tags of a group's families are summed.
const MOST_TAGS: usize = 64;
/// Windows of a capture.
const WINDOWS: usize = 16;

/// Tags as hashes, heaviest first.
pub(super) type Heaviest = Vec<(u64, u64)>;

/// The tags of a family under a choice.
#[derive(Debug, Clone, Default)]
pub(crate) struct TagLoads {
    /// By load.
    pub by_load: Heaviest,
    /// By accesses of batches.
    pub by_accesses: Heaviest,
    /// The hottest tag's share of all accesses in a window of the capture, which may be another tag in each: the median,
    /// of tags without what chance adds to the largest of many.
    pub in_window: f64,
    /// Number of distinct tags in the sample.
    pub distinct: u64,
    /// Number of distinct tags in all names, extrapolated: names that share a tag also do so in the sample.
    pub expected_distinct: f64,
}

/// The tags of all families and choices.
#[derive(Debug, Default)]
pub struct AllTagLoads {
    loads: BTreeMap<(u32, Choice), TagLoads>,
}

impl AllTagLoads {
    /// Counts the tags under `choices`.
    pub(crate) fn of(
        names: &NameSample,
        families: &Families,
        choices: &[Vec<Choice>],
        joins: &Joins,
    ) -> Self {
        let list = families.list.par_iter().zip(choices).enumerate();
        let loads = list.flat_map_iter(|(number, (family, choices))| {
            let loads = loads_of(family, choices, names, families);
            loads.map(move |(choice, loads)| ((number as u32, choice), loads))
        });
        let mut tag_loads = AllTagLoads {
            loads: loads.collect(),
        };
        tag_loads.add_accesses(choices, joins);
        tag_loads
    }

    /// The tags of a family under a choice.
    pub(crate) fn get(&self, family: u32, choice: Choice) -> Option<&TagLoads> {
        self.loads.get(&(family, choice))
    }

    /// Accesses by tag.
    fn add_accesses(&mut self, choices: &[Vec<Choice>], joins: &Joins) {
        let mut of_family: Vec<Vec<(usize, &TouchedKey)>> = vec![Vec::new(); choices.len()];
        let mut totals = [0u64; WINDOWS];
        for batch in 0..joins.batches() {
            let window = WINDOWS * batch / joins.batches();
            for key in joins.batch(batch) {
                let key = &joins.keys[*key as usize];
                totals[window] += 1;
                if let Some(keys) = of_family.get_mut(key.family as usize) {
                    keys.push((window, key));
                }
            }
        }
        let families = of_family.par_iter().zip(choices).enumerate();
        let touched = families.filter(|(_, (keys, _))| !keys.is_empty());
        let accesses = touched.flat_map_iter(|(number, (keys, choices))| {
            // Hot keys are found from untagged names.
            let bare = Some(Choice::Bare).filter(|bare| !choices.contains(bare));
            let with_bare = choices.iter().copied().chain(bare);
            with_bare.map(move |choice| {
                let accesses = accesses_of(choice, keys, joins, &totals);
                ((number as u32, choice), accesses)
            })
        });
        let counted: Vec<((u32, Choice), (Heaviest, f64))> = accesses.collect();
        for (choice, (by_accesses, in_window)) in counted {
            let loads = self.loads.entry(choice).or_default();
            (loads.by_accesses, loads.in_window) = (by_accesses, in_window);
        }
    }
}

/// Number of accesses to each tag of these keys under a choice, and the share of a window's hottest one.
fn accesses_of(
    choice: Choice,
    keys: &[(usize, &TouchedKey)],
    joins: &Joins,
    totals: &[u64; WINDOWS],
) -> (Heaviest, f64) {
    let mut windows: Vec<HashMap<u64, u64>> = vec![HashMap::default(); WINDOWS];
    for (window, key) in keys {
        let tag = joins.tag_of(key, choice);
        *windows[*window].entry(tag).or_default() += 1;
    }
    let hottest = windows.iter().map(|tags| tags.values().max().copied());
    let shares = hottest.zip(totals).map(|(hottest, total)| {
        let times = hottest.unwrap_or(0) as f64;
        let is_key = choice == Choice::Bare;
        let surely = if is_key { times } else { less_chance(times) };
        surely / (*total).max(1) as f64
    });
    let mut shares: Vec<f64> = shares.collect();
    shares.sort_by(f64::total_cmp);
    let mut whole: HashMap<u64, u64> = HashMap::default();
    for (tag, times) in windows.into_iter().flatten() {
        *whole.entry(tag).or_default() += times;
    }
    let whole = heaviest(whole.into_iter().collect(), MOST_TAGS);
    (whole, shares[WINDOWS / 2])
}

/// A count minus three standard deviations: the largest of many is high by chance.
pub(crate) fn less_chance(count: f64) -> f64 {
    (count - 3.0 * count.sqrt()).max(0.0)
}

/// The tags of a family's names under each of `choices`.
fn loads_of<'a>(
    family: &'a Family,
    choices: &'a [Choice],
    names: &'a NameSample,
    families: &'a Families,
) -> impl Iterator<Item = (Choice, TagLoads)> + 'a {
    let fields = &family.fields[..family.fields.len().min(MOST_FIELDS + 1)];
    let width = fields.len() + 2;
    let mut tokens = families.tokens();
    let mut hashes: Vec<u64> = Vec::with_capacity(width * family.names.len());
    for name in &family.names {
        let (name, _) = names.get(*name as usize);
        let whole = hash(name);
        let tag = hashslot::tag(name).map_or(whole, |tag| braced(hash(&name[tag])));
        hashes.extend([whole, tag]);
        families.read(name, &mut tokens);
        hashes.extend(fields.iter().map(|field| hash(tokens.bytes(*field))));
    }
    let mut loads: Vec<(u64, u64)> = Vec::with_capacity(family.names.len());
    choices.iter().map(move |choice| {
        loads.clear();
        let rows = hashes.chunks_exact(width).zip(&family.names);
        loads.extend(rows.map(|(row, name)| {
            let tag = tag_hash(*choice, row[0], row[1], &row[2..]);
            (tag, names.get(*name as usize).1)
        }));
        loads.sort_unstable();
        let (tags, pairs) = summed(&loads);
        let distinct = tags.len() as u64;
        let tag_loads = TagLoads {
            by_load: heaviest(tags, MOST_TAGS),
            distinct,
            expected_distinct: expected_distinct(
                loads.len() as f64,
                pairs,
                distinct as f64,
                names.share(),
            ),
            ..TagLoads::default()
        };
        (*choice, tag_loads)
    })
}

/// The sum of sorted loads by tag, and the number of pairs of names that share a tag.
fn summed(loads: &[(u64, u64)]) -> (Heaviest, f64) {
    let mut tags: Heaviest = Vec::new();
    let mut pairs = 0.0;
    for same in loads.chunk_by(|a, b| a.0 == b.0) {
        let names = same.len() as f64;
        pairs += names * (names - 1.0) / 2.0;
        tags.push((same[0].0, same.iter().map(|(_, load)| load).sum()));
    }
    (tags, pairs)
}

/// A sample of one in many names shows few of the tags that names share: both names of a tag are in the sample with the
/// square of its fraction.
fn expected_distinct(names: f64, pairs: f64, distinct: f64, share: f64) -> f64 {
    if share >= 1.0 || names == 0.0 {
        return distinct;
    }
    let names_of_tag = 1.0 + 2.0 * pairs / names / share;
    (names / share / names_of_tag).max(distinct)
}

fn heaviest(mut tags: Heaviest, most: usize) -> Heaviest {
    let order = |a: &(u64, u64), b: &(u64, u64)| b.1.cmp(&a.1).then(a.0.cmp(&b.0));
    if tags.len() > most {
        tags.select_nth_unstable_by(most - 1, order);
        tags.truncate(most);
    }
    tags.sort_unstable_by(order);
    tags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_tells_how_many_names_share_a_tag() {
        // A million names, three per tag, one in fifty sampled: about one tag in 17 is seen twice.
        let (names, share) = (20_000.0, 0.02);
        let pairs = names * share;
        let expected = expected_distinct(names, pairs, 19_600.0, share);
        assert!((320_000.0..340_000.0).contains(&expected), "{expected}");
        assert_eq!(expected_distinct(9.0, 3.0, 3.0, 1.0), 3.0);
    }
}
