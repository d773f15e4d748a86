//! The load of tags by family and choice, from the sample of names and from batches.

use std::collections::BTreeMap;

use rayon::prelude::*;

use slotscope_engine::hash::hash;

use crate::families::Families;
use crate::family::Family;
use crate::joins::{Joins, TouchedKey, braced, tag_hash};
use crate::names::NameSample;
use crate::scheme::{Choice, MOST_FIELDS};
use crate::seeded::SeededMap;

/// Tags tracked per family and choice; the tags of a group's families are summed.
const MOST_TAGS: usize = 64;
/// Windows of a capture, and tags tracked per window.
pub(super) const WINDOWS: usize = 16;
const MOST_TAGS_OF_WINDOW: usize = 16;

/// Tags as hashes, heaviest first.
pub(super) type Heaviest = Vec<(u64, u64)>;

/// The tags of a family under a choice.
#[derive(Debug, Clone, Default)]
pub(crate) struct TagLoads {
    /// By load.
    pub by_load: Heaviest,
    /// By accesses of batches.
    pub by_accesses: Heaviest,
    /// Number of distinct tags in the sample.
    pub distinct: u64,
    /// Number of distinct tags in all names, extrapolated: names that share a tag also do so in the sample.
    pub expected_distinct: f64,
}

/// The tags of all families and choices.
#[derive(Debug, Default)]
pub struct AllTagLoads {
    loads: BTreeMap<(u32, Choice), TagLoads>,
    windows: BTreeMap<(u32, Choice), Vec<Heaviest>>,
    /// Accesses of each window.
    pub window_totals: [u64; WINDOWS],
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
            ..AllTagLoads::default()
        };
        tag_loads.add_accesses(choices, joins);
        tag_loads
    }

    /// The tags of a family under a choice.
    pub(crate) fn get(&self, family: u32, choice: Choice) -> Option<&TagLoads> {
        self.loads.get(&(family, choice))
    }

    /// The same by window of the capture.
    pub fn windows(&self, family: u32, choice: Choice) -> Option<&[Heaviest]> {
        self.windows.get(&(family, choice)).map(Vec::as_slice)
    }

    /// Accesses by tag, in the whole capture and by window.
    fn add_accesses(&mut self, choices: &[Vec<Choice>], joins: &Joins) {
        let mut of_family: Vec<Vec<(u8, &TouchedKey)>> = vec![Vec::new(); choices.len()];
        for batch in 0..joins.batches() {
            let window = (WINDOWS * batch / joins.batches()) as u8;
            for key in joins
                .batch(batch)
                .iter()
                .map(|key| &joins.keys[*key as usize])
            {
                self.window_totals[usize::from(window)] += 1;
                if let Some(keys) = of_family.get_mut(key.family as usize) {
                    keys.push((window, key));
                }
            }
        }
        let families = of_family.par_iter().zip(choices).enumerate();
        let touched = families.filter(|(_, (keys, _))| !keys.is_empty());
        let accesses = touched.flat_map_iter(|(number, (keys, choices))| {
            // The hot keys of a window are found from untagged names.
            let bare = Some(Choice::Bare).filter(|bare| !choices.contains(bare));
            let with_bare = choices.iter().copied().chain(bare);
            with_bare.map(move |choice| (number as u32, choice, accesses_of(choice, keys, joins)))
        });
        let counted: Vec<(u32, Choice, Accesses)> = accesses.collect();
        for (number, choice, (whole, windows)) in counted {
            self.windows.insert((number, choice), windows);
            self.loads.entry((number, choice)).or_default().by_accesses = whole;
        }
    }
}

/// The tags of a whole capture, and of each window.
type Accesses = (Heaviest, Vec<Heaviest>);

/// Number of accesses to each tag of these keys under a choice.
fn accesses_of(choice: Choice, keys: &[(u8, &TouchedKey)], joins: &Joins) -> Accesses {
    let mut whole: SeededMap<u64, u64> = SeededMap::default();
    let mut windows: Vec<SeededMap<u64, u64>> = vec![SeededMap::default(); WINDOWS];
    for (window, key) in keys {
        let tag = joins.tag_of(key, choice);
        *whole.entry(tag).or_default() += 1;
        *windows[usize::from(*window)].entry(tag).or_default() += 1;
    }
    let of_window =
        |tags: SeededMap<u64, u64>| heaviest(tags.into_iter().collect(), MOST_TAGS_OF_WINDOW);
    (
        heaviest(whole.into_iter().collect(), MOST_TAGS),
        windows.into_iter().map(of_window).collect(),
    )
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
            by_accesses: Vec::new(),
            distinct,
            expected_distinct: expected_distinct(
                loads.len() as f64,
                pairs,
                distinct as f64,
                names.share(),
            ),
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
