//! Hash tag counts in bounded memory: exact in a table of names while they fit, beyond that in a table shared by all
//! threads (`tag_table`). Without the latter, in two rows of counters from which heavy ones can be recovered
//! (`recount`), or in a single pass with heavy ones by name.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use slotscope_base::hash::hash;
use slotscope_base::metric::{Load, Metric, PerMetric};
use slotscope_base::name::Name;
use slotscope_base::slot::SlotBatch;

use crate::tally::Tally;
use crate::tally::listed_tags::{Bounded, ListedTags};
use crate::tally::recount::{Candidates, Recount};
use crate::tally::sketch::bottom_k::SampledTags;
use crate::tally::sketch::count_min::CountMin;
use crate::tally::sketch::heavy_hitters::HeavyHitters;
use crate::tally::sketch::histogram::{COARSE, Histogram};
use crate::tally::table::NameTable;
use crate::tally::tag_table::{self, CountedTags, TagTable};
use crate::tally::tagged::Tagged;

/// Names up to which a table of them is as fast as the shared one.
const FEW: usize = 1 << 12;

/// Counts of hash tags.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TagCounter {
    /// Keys with a hash tag.
    pub tagged: u64,
    counts: TagCounts,
    /// If the table overflowed: a sample of tags with their key counts.
    sample: SampledTags,
    /// Whether heavy tags are tracked by name because there is no second pass.
    follow: bool,
    /// Where tags are counted if the table of names overflows, provided all inputs can be reread.
    #[serde(skip)]
    shared: Option<Arc<TagTable>>,
    #[serde(skip)]
    scratch: Scratch,
}

/// Buffers, reused between batches.
#[derive(Debug, Clone, Default, PartialEq)]
struct Scratch {
    tagged: Tagged,
    shared: tag_table::Counting,
}

/// The counts of the tags.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum TagCounts {
    /// Every tag and its load.
    Exact(NameTable),
    /// Too many tags: cells of counters, and the number of tags.
    CountMin(Box<CountMin>),
    /// The same, with heavy tags by name.
    HeavyHitters(Box<HeavyHitters>),
    /// All tags in the shared table; its totals, once all keys are counted.
    #[serde(skip)]
    Shared(Box<CountedTags>),
}

impl Default for TagCounts {
    fn default() -> Self {
        TagCounts::Exact(NameTable::default())
    }
}

impl TagCounter {
    /// Starts empty; `follow` if the input can be read only once.
    pub fn new(follow: bool) -> Self {
        TagCounter {
            follow,
            ..TagCounter::default()
        }
    }

    /// Uses this shared table once the table of names overflows.
    pub(crate) fn sharing(self, table: Arc<TagTable>) -> Self {
        let shared = Some(table);
        TagCounter { shared, ..self }
    }

    /// The shared table, once all keys are counted; `None` if tags are counted otherwise.
    pub fn take_shared(&mut self) -> Option<Arc<TagTable>> {
        self.share_many();
        let table = self.shared.take()?;
        table.add_rest(&mut self.scratch.shared);
        matches!(self.counts, TagCounts::Shared(_)).then_some(table)
    }

    /// Whether heavy tags are tracked by name, in one pass.
    pub fn follows(&self) -> bool {
        self.follow
    }

    /// Whether another one counts the same names in the same way.
    pub(crate) fn is_like(&self, other: &TagCounter) -> bool {
        self.follow == other.follow
    }

    /// Whether these may be counts of names.
    pub(super) fn is_sound(&self) -> bool {
        let is_followed = matches!(self.counts, TagCounts::HeavyHitters(_));
        let has_sound_cells = |cells: &CountMin| cells.is_sound() && is_followed == self.follow;
        self.cells().is_none_or(has_sound_cells) && self.sample.is_sound()
    }

    /// The table of all names; `None` if it overflowed.
    pub fn table(&self) -> Option<&NameTable> {
        match &self.counts {
            TagCounts::Exact(table) => Some(table),
            _ => None,
        }
    }

    /// An empty count for a second pass, which names the heavy tags, given the loads by slot; `None` if none is needed.
    pub fn recount(&self, loads: &PerMetric<Vec<u64>>) -> Option<Recount> {
        match &self.counts {
            TagCounts::CountMin(rows) => {
                let candidates = Candidates::choose(rows.clone(), loads);
                Some(Recount::new(candidates))
            }
            _ => None,
        }
    }

    /// Takes the counts of the shared table, once it is swept.
    pub fn take_counted(&mut self, counted: CountedTags) {
        self.counts = TagCounts::Shared(Box::new(counted));
    }

    /// The tags known by name, and by the second pass, if there was one.
    pub fn listed(&self, recount: Option<&Recount>) -> ListedTags {
        let exactly = |name: Name, load: Load| Bounded {
            name,
            load,
            ceiling: load,
        };
        let mut is_exact = self.is_counted();
        let (tags, bound) = match (&self.counts, recount) {
            (TagCounts::Exact(table), _) => {
                let names = table.iter();
                let tags = names.map(|(name, _, load)| exactly(name.into(), load));
                (tags.collect(), Load::default())
            }
            (TagCounts::Shared(counted), _) => {
                let names = counted.named.iter().cloned();
                let tags = names.map(|(name, load)| exactly(name, load));
                (tags.collect(), counted.bound)
            }
            (TagCounts::CountMin(_), Some(recount)) => {
                is_exact = true;
                let names = recount.tags();
                let tags = names.map(|(name, load)| exactly(name.clone(), load));
                (tags.collect(), recount.max_error())
            }
            (TagCounts::CountMin(rows), None) => (Vec::new(), rows.heaviest_at_most()),
            (TagCounts::HeavyHitters(followed), _) => (followed.tags(), followed.bound()),
        };
        ListedTags {
            tags,
            bound,
            is_exact,
        }
    }

    /// Whether every tag is counted by itself, if not by name.
    pub fn is_counted(&self) -> bool {
        matches!(self.counts, TagCounts::Exact(_) | TagCounts::Shared(_))
    }

    /// The counters of all tags, if not every tag is counted by itself.
    fn cells(&self) -> Option<&CountMin> {
        match &self.counts {
            TagCounts::Exact(_) | TagCounts::Shared(_) => None,
            TagCounts::CountMin(rows) => Some(rows),
            TagCounts::HeavyHitters(followed) => Some(&followed.rows),
        }
    }

    /// An upper bound on the load of a listed tag that does not depend on the order of keys.
    pub fn at_most(&self, tag: &Bounded, metric: Metric) -> u64 {
        self.cells().map_or(tag.load[metric], |rows| {
            rows.at_most_of(hash(&tag.name.0).max(1), metric)
        })
    }

    /// The sum of the squared loads; an estimate if not every tag is counted by itself.
    pub fn squares(&self, metric: Metric) -> f64 {
        match &self.counts {
            TagCounts::Exact(table) => {
                let loads = table.iter().map(|(_, _, load)| load[metric] as f64);
                loads.map(|load| load.powi(2)).sum()
            }
            TagCounts::Shared(counted) => {
                counted.squares.get(metric).copied().unwrap_or_default() as f64
            }
            TagCounts::CountMin(rows) => rows.second_moment(metric),
            TagCounts::HeavyHitters(followed) => followed.rows.second_moment(metric),
        }
    }

    /// The key counts of the tags; of a sample if not every tag is counted by itself.
    pub fn sizes(&self) -> Histogram {
        let mut sizes = Histogram::default();
        match &self.counts {
            TagCounts::Exact(table) => {
                sizes.add(table.iter().map(|(_, _, load)| load[Metric::Keys]));
            }
            TagCounts::Shared(counted) => return counted.sizes.clone(),
            _ => sizes.add(self.sample.values().copied()),
        }
        sizes
    }

    /// The loads of the tags, without zeros; `None` if not every tag is counted by itself.
    pub fn weights(&self, metric: Metric) -> Option<Histogram<COARSE>> {
        let mut weights = Histogram::default();
        match &self.counts {
            TagCounts::Exact(table) => {
                let loads = table.iter().map(|(_, _, load)| load[metric]);
                weights.add(loads.filter(|load| *load > 0));
            }
            TagCounts::Shared(counted) => {
                return counted.weights.get(metric).cloned().or(Some(weights));
            }
            _ => return None,
        }
        Some(weights)
    }

    /// The number of names; an estimate if the table overflowed.
    pub fn distinct(&self) -> f64 {
        match &self.counts {
            TagCounts::Exact(table) => table.len() as f64,
            TagCounts::Shared(counted) => counted.distinct as f64,
            TagCounts::CountMin(rows) => rows.distinct.estimate(),
            TagCounts::HeavyHitters(followed) => followed.rows.distinct.estimate(),
        }
    }

    /// Uses the shared table if it is the faster one: if it finds names without another pass.
    fn share_many(&mut self) {
        if let (TagCounts::Exact(table), Some(shared)) = (&self.counts, &self.shared)
            && table.len() > FEW
            && shared.finds_names()
        {
            self.spill();
        }
    }

    /// Moves the table of names to the shared table, or to the rows.
    fn spill(&mut self) {
        let TagCounts::Exact(table) = &self.counts else {
            return;
        };
        if let Some(shared) = &self.shared {
            shared.add_names(table);
            self.counts = TagCounts::Shared(Box::default());
            return;
        }
        let mut rows = CountMin::default();
        for (_, hash, load) in table.iter() {
            rows.add(hash, load);
            self.sample.add(hash, load[Metric::Keys]);
        }
        self.counts = if self.follow {
            TagCounts::HeavyHitters(Box::new(HeavyHitters::of(rows, table)))
        } else {
            TagCounts::CountMin(Box::new(rows))
        };
    }

    /// Adds to a name.
    pub fn add_known(&mut self, hash: u64, name: &[u8], load: Load) {
        if let TagCounts::Exact(table) = &mut self.counts
            && table.add(hash, name, load) == Ok(())
        {
            return;
        }
        self.spill();
        if let (TagCounts::Shared(_), Some(shared)) = (&self.counts, &self.shared) {
            return shared.add_name(name, load);
        }
        self.sample.add(hash, load[Metric::Keys]);
        match &mut self.counts {
            TagCounts::Exact(_) | TagCounts::Shared(_) => {}
            TagCounts::CountMin(rows) => rows.add(hash, load),
            TagCounts::HeavyHitters(followed) => followed.add(hash, name, load),
        }
    }

    /// Adds amounts of some metrics to names, which are tracked if the table overflows; `name` returns the name.
    pub(crate) fn add_operations(
        &mut self,
        hashes: &[u64],
        amounts: &[(Metric, &[u64])],
        mut name: impl FnMut(usize, &mut Vec<u8>),
    ) {
        let (mut done, mut written) = (0, Vec::new());
        while let TagCounts::Exact(table) = &self.counts
            && done < hashes.len()
        {
            table.look_ahead(&hashes[done..]);
            name(done, &mut written);
            self.add_known(hashes[done], &written, Load::of_row(amounts, done));
            done += 1;
        }
        if let TagCounts::HeavyHitters(followed) = &mut self.counts {
            let name = |i: usize, written: &mut Vec<u8>| name(done + i, written);
            let rest = amounts
                .iter()
                .map(|(metric, amounts)| (*metric, &amounts[done..]));
            let rest: Vec<_> = rest.collect();
            followed.add_amounts(&hashes[done..], &rest, name);
        }
    }
}

impl Tally for TagCounter {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let values = keys.batch.values;
        let are_keys = !values.are_operations;
        if let Some(shared) = &self.shared
            && !keys.is_rereadable
        {
            shared.note_no_place();
        }
        self.share_many();
        let mut scratch = std::mem::take(&mut self.scratch);
        if let (TagCounts::Shared(_), Some(shared)) = (&self.counts, &self.shared) {
            let tagged = shared.add_batch(keys, &mut scratch.shared, 0);
            self.tagged += if are_keys { tagged as u64 } else { 0 };
            self.scratch = scratch;
            return;
        }
        let tagged = &mut scratch.tagged;
        tagged.find(keys, |_| true);
        self.tagged += if are_keys {
            tagged.keys.len() as u64
        } else {
            0
        };
        let name = |key: u32| keys.hashed.get(keys.batch.base, key as usize);
        let mut done = 0;
        // The table may overflow in the middle of the batch; the rest goes where the table goes.
        while let TagCounts::Exact(table) = &self.counts
            && done < tagged.keys.len()
        {
            table.look_ahead(&tagged.hashes[done..]);
            let key = tagged.keys[done];
            self.add_known(tagged.hashes[done], name(key), values.load(key as usize));
            done += 1;
        }
        if let (TagCounts::Shared(_), Some(shared)) = (&self.counts, &self.shared) {
            shared.add_batch(keys, &mut scratch.shared, done);
            self.scratch = scratch;
            return;
        }
        let (keys, hashes) = (&tagged.keys[done..], &tagged.hashes[done..]);
        if are_keys {
            self.sample.add_keys(hashes);
        }
        match &mut self.counts {
            TagCounts::Exact(_) | TagCounts::Shared(_) => {}
            TagCounts::CountMin(rows) => {
                rows.see(hashes);
                if are_keys {
                    rows.add_amounts(hashes, Metric::Keys, |_| 1);
                }
                for metric in Metric::WEIGHTS {
                    if values.column(metric).is_some() {
                        let amount = |i: usize| values.load(keys[i] as usize)[metric];
                        rows.add_amounts(hashes, metric, amount);
                    }
                }
            }
            TagCounts::HeavyHitters(followed) if values.are_weighed() => {
                let tags = hashes.iter().zip(keys);
                tags.for_each(|(hash, key)| {
                    followed.add(*hash, name(*key), values.load(*key as usize))
                });
            }
            TagCounts::HeavyHitters(_) if !are_keys => {}
            TagCounts::HeavyHitters(followed) => {
                let ones = vec![1; hashes.len()];
                let name = |i: usize, written: &mut Vec<u8>| {
                    written.clear();
                    written.extend_from_slice(name(keys[i]));
                };
                followed.add_amounts(hashes, &[(Metric::Keys, &ones)], name);
            }
        }
        self.scratch = scratch;
    }

    fn merge(&mut self, mut other: Self) {
        if let (TagCounts::Exact(_), TagCounts::CountMin(_) | TagCounts::Shared(_)) =
            (&self.counts, &other.counts)
        {
            // A table's content can be added to anything.
            std::mem::swap(self, &mut other);
        }
        self.tagged = self.tagged.saturating_add(other.tagged);
        if let TagCounts::Exact(theirs) = &other.counts
            && !matches!(self.counts, TagCounts::HeavyHitters(_))
        {
            theirs
                .iter()
                .for_each(|(name, hash, load)| self.add_known(hash, name, load));
            return;
        }
        if let (TagCounts::Shared(_), Some(shared)) = (&other.counts, &other.shared) {
            return shared.add_rest(&mut other.scratch.shared);
        }
        self.spill();
        other.spill();
        self.sample.merge(other.sample);
        match (&mut self.counts, other.counts) {
            (TagCounts::CountMin(mine), TagCounts::CountMin(theirs)) => mine.merge(*theirs),
            (TagCounts::HeavyHitters(mine), TagCounts::HeavyHitters(theirs)) => mine.merge(*theirs),
            // Parts count in the same way (`is_like`), and a shared table is always the same one.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::tag_table::MAX_TAGS;
    use slotscope_base::hash::hash;

    #[test]
    fn whether_tags_are_shared_depends_on_how_many_all_parts_have_together() {
        let table = Arc::new(TagTable::of(hashslot::best(), &[Some(1 << 20)], MAX_TAGS));
        let part = |tags: std::ops::Range<usize>| {
            let mut part = TagCounter::new(false).sharing(table.clone());
            for tag in tags {
                let name = tag.to_string();
                part.add_known(hash(name.as_bytes()), name.as_bytes(), Load::KEY);
            }
            part
        };
        let mut few = part(0..FEW);
        assert!(few.take_shared().is_none() && few.distinct() == FEW as f64);
        let mut many = part(0..FEW);
        many.merge(part(1..FEW + 1));
        assert!(many.take_shared().is_some());
    }
}
