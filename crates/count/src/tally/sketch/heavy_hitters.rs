//! Heavy tags by name in one pass: a tag is tracked once its cells exceed 1/4096 of the load of all tags, in any
//! metric.
//!
//! From then on it is counted whenever its cells hold that much; the load missed before, or while its cells held less,
//! is at most the growth of its cells. Its true load is thus between `load` and a ceiling, and a tag that was never
//! tracked, or was evicted, holds at most `bound`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use slotscope_base::metric::{Load, Metric, PerMetric};

use crate::tally::listed_tags::Bounded;
use crate::tally::sketch::buckets::{Buckets, Counted};
use crate::tally::sketch::count_min::CountMin;
use crate::tally::table::NameTable;
use crate::tally::tagged::list;

/// Tags with at least this fraction (1 / n) of the total load are tracked: few enough to fit into the buckets.
const FOLLOWED_PART: u64 = 4096;

/// The rows, and heavy tags by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct HeavyHitters {
    /// All tags, in cells.
    pub rows: CountMin,
    /// Heavy tags by metric.
    tags: PerMetric<Buckets>,
    total: Load,
}

impl HeavyHitters {
    /// Starts from rows and the table they were made from, whose counts are exact.
    pub(crate) fn of(rows: CountMin, table: &NameTable) -> Self {
        let total = rows.total();
        let mut followed = HeavyHitters {
            rows,
            tags: PerMetric::default(),
            total,
        };
        for (name, hash, load) in table.iter() {
            for metric in Metric::ALL
                .into_iter()
                .filter(|metric| load[*metric] > total[*metric] / FOLLOWED_PART)
            {
                let cells = followed.rows.at_most(hash);
                let tag = Counted {
                    rank: load[metric],
                    hash,
                    load,
                    ceiling: load,
                    cells,
                    ..Counted::default()
                };
                followed.buckets(metric).enter(name, tag);
            }
        }
        followed
    }

    fn buckets(&mut self, metric: Metric) -> &mut Buckets {
        self.tags.get_or_insert_with(metric, Buckets::default)
    }

    /// Adds to a tag.
    pub(crate) fn add(&mut self, hash: u64, name: &[u8], load: Load) {
        self.total += load;
        self.rows.add(hash, load);
        for metric in Metric::ALL {
            // Cells of a metric without any load are all 0.
            if self.total[metric] > 0
                && self.rows.at_most_of(hash, metric) > self.total[metric] / FOLLOWED_PART
            {
                self.follow(metric, hash, name, load, self.rows.at_most(hash));
            }
        }
    }

    /// Adds amounts of some metrics, one for each of `hashes`; `name` writes the tag's name.
    #[inline]
    pub(crate) fn add_amounts(
        &mut self,
        hashes: &[u64],
        amounts: &[(Metric, &[u64])],
        mut name: impl FnMut(usize, &mut Vec<u8>),
    ) {
        // A tag may be tracked slightly early in the batch, never late.
        let before = self.total;
        self.rows.see(hashes);
        for (metric, amounts) in amounts {
            let sum = amounts.iter().copied().fold(0, u64::saturating_add);
            self.total += Load::of(*metric, sum);
            self.rows.add_amounts(hashes, *metric, |i| amounts[i]);
        }
        let (mut heavy, mut written) = (Vec::new(), Vec::new());
        for (metric, _) in amounts {
            let floor = before[*metric] / FOLLOWED_PART;
            list(&mut heavy, hashes.len(), |i| {
                self.rows.at_most_of(hashes[i], *metric) > floor
            });
            for i in heavy.iter().map(|i| *i as usize) {
                name(i, &mut written);
                let (load, cells) = (Load::of_row(amounts, i), self.rows.at_most(hashes[i]));
                self.follow(*metric, hashes[i], &written, load, cells);
            }
        }
    }

    /// Counts a key of a tag whose cells, including it, hold `cells`.
    fn follow(&mut self, metric: Metric, hash: u64, name: &[u8], load: Load, cells: Load) {
        let floor = self.total[metric] / FOLLOWED_PART;
        let tags = self.buckets(metric);
        match tags.find(hash, name) {
            Some(tag) => {
                tag.catch_up(metric, floor, cells.over(load));
                tag.load += load;
                tag.ceiling += load;
                (tag.cells, tag.rank) = (cells, tag.ceiling[metric]);
            }
            None => {
                tags.enter(
                    name,
                    Counted {
                        rank: cells[metric],
                        hash,
                        load,
                        ceiling: cells,
                        cells,
                        ..Counted::default()
                    },
                );
            }
        }
    }

    /// An upper bound on any tag not tracked in a metric.
    pub(crate) fn bound(&self) -> Load {
        let left_out = |metric| {
            self.tags
                .get(metric)
                .map_or(0, |tags| tags.left_out[metric])
        };
        Load::from_fn(|metric| (self.total[metric] / FOLLOWED_PART).max(left_out(metric)))
    }

    /// The tracked tags with their bounds.
    pub(crate) fn tags(&self) -> Vec<Bounded> {
        let mut by_name = BTreeMap::new();
        for (metric, tags) in self.tags.iter() {
            for tag in tags.iter() {
                let tag = self.settled(metric, tag);
                let known = by_name
                    .entry(tag.name)
                    .or_insert((Load::default(), tag.ceiling));
                *known = (known.0.max(tag.load), known.1.min(tag.ceiling));
            }
        }
        by_name
            .into_iter()
            .map(|(name, (load, ceiling))| Bounded {
                name,
                load,
                ceiling,
            })
            .collect()
    }

    /// A tag with an upper bound that includes growth since a key of it was last counted.
    fn settled(&self, metric: Metric, tag: &Counted) -> Counted {
        let mut tag = tag.clone();
        let cells = self.rows.at_most(tag.hash);
        tag.catch_up(metric, self.total[metric] / FOLLOWED_PART, cells);
        Counted {
            ceiling: tag.ceiling.min(cells),
            cells,
            ..tag
        }
    }

    /// Merges another part of the input: a tag tracked by only one part may have held up to the other's bound there.
    pub(crate) fn merge(&mut self, other: HeavyHitters) {
        let (mine, theirs) = (self.bound(), other.bound());
        let mut merged = PerMetric::<Buckets>::default();
        for metric in Metric::ALL {
            let parts = [self.tags.get(metric), other.tags.get(metric)];
            if parts == [None, None] {
                continue;
            }
            let buckets = merged.get_or_insert_with(metric, Buckets::default);
            buckets.left_out = Load::from_fn(|metric| mine[metric].saturating_add(theirs[metric]));
            let sides = [(&*self, &other, theirs), (&other, &*self, mine)];
            for (side, (here, there, bound)) in sides.into_iter().enumerate() {
                for tag in here.tags.get(metric).into_iter().flat_map(Buckets::iter) {
                    let twin = there
                        .tags
                        .get(metric)
                        .and_then(|tags| tags.get(tag.hash, &tag.name.0));
                    // A tag of both parts is merged with the first.
                    if side == 1 && twin.is_some() {
                        continue;
                    }
                    let mut sum = here.settled(metric, tag);
                    let at_most = there.rows.at_most(tag.hash);
                    let rest = twin.map(|twin| there.settled(metric, twin));
                    sum.load += rest.as_ref().map_or(Load::default(), |rest| rest.load);
                    // The bound is for this metric: for others, only the cells are known.
                    let unfollowed = Load::from_fn(|column| {
                        if column == metric {
                            bound[column]
                        } else {
                            u64::MAX
                        }
                    });
                    sum.ceiling += rest.map_or(unfollowed.min(at_most), |rest| rest.ceiling);
                    sum.cells += at_most;
                    sum.rank = sum.ceiling[metric];
                    buckets.enter(&tag.name.0, sum);
                }
            }
        }
        self.tags = merged;
        self.rows.merge(other.rows);
        self.total += other.total;
    }
}

impl Counted {
    /// Raises the ceiling by the growth of the cells: while they hold at most `floor` of the metric it is tracked by,
    /// its keys are not counted.
    fn catch_up(&mut self, metric: Metric, floor: u64, cells: Load) {
        if self.cells[metric] <= floor {
            self.ceiling += cells.over(self.cells);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_base::hash::hash;

    /// Counts names with equal hashes, one of them heavy.
    fn colliding(names: u64) -> HeavyHitters {
        let mut followed = HeavyHitters::of(CountMin::default(), &NameTable::default());
        for i in 0..names {
            followed.add(7, &i.to_le_bytes(), Load::new(1, 10, 0));
            followed.add(7, b"heavy", Load::new(1, 5, 0));
        }
        followed
    }

    #[test]
    fn names_that_all_collide_are_counted_separately_or_bounded() {
        let mut parts = colliding(5000);
        parts.merge(colliding(300));
        for tag in parts.tags() {
            let keys = match tag.name.0.as_slice() {
                b"heavy" => 5300,
                i => 1 + u64::from(u64::from_le_bytes(i.try_into().unwrap()) < 300),
            };
            let bytes = if keys == 5300 { 5 * keys } else { 10 * keys };
            for (metric, truth) in [(Metric::Keys, keys), (Metric::Bytes, bytes)] {
                assert!(
                    (tag.load[metric]..=tag.ceiling[metric]).contains(&truth),
                    "{truth} of {tag:?}"
                );
            }
        }
        assert!(
            parts.tags().iter().any(|tag| tag.name.0 == b"heavy")
                || parts.bound()[Metric::Keys] >= 5300
        );
    }

    #[test]
    fn keys_of_a_tag_that_come_while_it_is_light_are_within_its_ceiling() {
        let mut followed = HeavyHitters::of(CountMin::default(), &NameTable::default());
        let many = |followed: &mut HeavyHitters, from: u64, to: u64| {
            (from..to)
                .for_each(|i| followed.add(hash(&i.to_le_bytes()), &i.to_le_bytes(), Load::KEY));
        };
        // Among few other keys it is heavy and gets tracked; among many it becomes light again, and its keys are not
        // counted.
        let (few, all) = (50_000, 1_000_000);
        let heavy_among_few = 2 * (few / FOLLOWED_PART);
        let light_among_all = all / FOLLOWED_PART / 2;
        let truth = heavy_among_few + light_among_all;
        let comes_back = |followed: &mut HeavyHitters, times: u64| {
            let tag = b"comes back";
            (0..times).for_each(|_| followed.add(hash(tag), tag, Load::KEY));
        };
        many(&mut followed, 0, few);
        comes_back(&mut followed, heavy_among_few);
        many(&mut followed, few, all);
        comes_back(&mut followed, light_among_all);
        let tags = followed.tags();
        let tag = tags
            .iter()
            .find(|tag| tag.name.0 == b"comes back")
            .expect("it was followed");
        assert!(
            tag.load[Metric::Keys] < truth && tag.ceiling[Metric::Keys] >= truth,
            "{truth} of {tag:?}"
        );
    }
}
