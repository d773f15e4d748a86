//! Frequent hash tags in bounded memory: every tag exactly while they fit a table of names, past that in a table that all
//! threads share (`tag_table`). Where there is none, those that are known beforehand are counted by name, and the others in
//! two rows of counters from which heavy ones can be found again (`recount`).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::metric::{Load, Metric};
use crate::slot::SlotBatch;
use crate::tally::Tally;
use crate::tally::preselected::Preselected;
use crate::tally::sketch::bottom_k::SampledTags;
use crate::tally::sketch::count_min::CountMin;
use crate::tally::sketch::heavy_hitters::HeavyHitters;
use crate::tally::table::{MAX_NAMES, NameTable};
use crate::tally::tag_table::{self, CountedTags, TagTable};
use crate::tally::tagged::Tagged;

/// Rows that must be proven before a second pass is left out; tables show fewer.
const PROVEN_ROWS: usize = 100;
/// A table of names is not begun where an estimate says that there are this many times as many as it holds.
const SURE: f64 = 2.0;

/// Counts of hash tags.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TagCounter {
    /// Keys that have a hash tag.
    pub tagged: u64,
    /// The counts of the tags.
    pub counts: TagCounts,
    /// Past the table, how many keys some of them have.
    pub sample: SampledTags,
    /// Past the table, the tags that are counted by name and not in the rows.
    pub known: Option<Preselected>,
    /// Whether heavy tags are followed by name past the tables, because there is no second pass.
    follow: bool,
    /// Where tags are counted past the table of names, if all inputs can be read again.
    #[serde(skip)]
    shared: Option<Arc<TagTable>>,
    #[serde(skip)]
    scratch: Scratch,
}

/// Kept from batch to batch.
#[derive(Debug, Clone, Default, PartialEq)]
struct Scratch {
    tagged: Tagged,
    unknown: Tagged,
    ceilings: Vec<u64>,
    shared: tag_table::Counting,
}

/// The counts of the tags.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum TagCounts {
    /// Every tag and its load.
    Exact(NameTable),
    /// There are too many: cells of counters, and how many tags there are.
    CountMin(Box<CountMin>),
    /// The same, and the names of heavy tags.
    HeavyHitters(Box<HeavyHitters>),
    /// All of them in the table that threads share; its sums, once all keys are counted.
    #[serde(skip)]
    Shared(Box<CountedTags>),
}

impl Default for TagCounts {
    fn default() -> Self {
        TagCounts::Exact(NameTable::default())
    }
}

impl TagCounter {
    /// Nothing counted yet; `follow` where the input can be read only once.
    pub fn new(follow: bool) -> Self {
        TagCounter {
            follow,
            ..TagCounter::default()
        }
    }

    /// Counts these by name, however many others there are.
    pub fn knowing(self, known: Option<Preselected>) -> Self {
        TagCounter { known, ..self }
    }

    /// Counts tags past the table of names in this one, and all of them where more are expected than fit that.
    pub(crate) fn sharing(self, table: Arc<TagTable>, expected: f64) -> Self {
        let counts = if expected > SURE * MAX_NAMES as f64 {
            TagCounts::Shared(Box::default())
        } else {
            self.counts
        };
        TagCounter {
            shared: Some(table),
            counts,
            ..self
        }
    }

    /// The table with the tags, once all keys are counted; `None` where they are counted otherwise.
    pub fn take_shared(&mut self) -> Option<Arc<TagTable>> {
        let table = self.shared.take()?;
        table.add_rest(&mut self.scratch.shared);
        matches!(self.counts, TagCounts::Shared(_)).then_some(table)
    }

    /// Whether heavy tags are followed by name, in one pass.
    pub fn follows(&self) -> bool {
        self.follow
    }

    /// Whether another counts the same names in the same way.
    pub(crate) fn is_like(&self, other: &TagCounter) -> bool {
        let known = match (&self.known, &other.known) {
            (Some(mine), Some(theirs)) => mine.has_the_names_of(theirs),
            (mine, theirs) => mine.is_none() && theirs.is_none(),
        };
        known && self.follow == other.follow
    }

    /// The counts that are known by name, in no order: all, or past the table the heaviest that are followed.
    pub(crate) fn named(&self) -> Vec<(Vec<u8>, Load)> {
        match &self.counts {
            TagCounts::Exact(table) => {
                let names = table.iter();
                names.map(|(name, _, load)| (name.to_vec(), load)).collect()
            }
            TagCounts::CountMin(_) | TagCounts::Shared(_) => Vec::new(),
            TagCounts::HeavyHitters(followed) => {
                let names = followed.tags().into_iter();
                names.map(|tag| (tag.name.0.clone(), tag.load)).collect()
            }
        }
    }

    /// Whether every name is counted.
    pub(crate) fn is_exact(&self) -> bool {
        matches!(self.counts, TagCounts::Exact(_))
    }

    /// How many names there are; an estimate past the table.
    pub fn distinct(&self) -> f64 {
        match &self.counts {
            TagCounts::Exact(table) => table.len() as f64,
            TagCounts::CountMin(rows) => rows.distinct.estimate(),
            TagCounts::HeavyHitters(followed) => followed.rows.distinct.estimate(),
            TagCounts::Shared(counted) => counted.distinct as f64,
        }
    }

    /// Gives up the table of names; its content goes to the shared one, or to the rows.
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
        for (name, hash, load) in table.iter() {
            if add_to_known(&mut self.known, hash, name, load) {
                continue;
            }
            rows.add(hash, load);
            if let keys @ 1.. = load[Metric::Keys] {
                self.sample.add(hash, keys);
            }
        }
        self.counts = if self.follow {
            TagCounts::HeavyHitters(Box::new(HeavyHitters::of(rows, table)))
        } else {
            TagCounts::CountMin(Box::new(rows))
        };
    }

    /// Settles what the tags that are known count for, once all keys are counted: whether it is enough to know these.
    /// Else they go to the rows as well, for a second pass to find those that are missing.
    pub fn settle(&mut self) {
        let TagCounts::CountMin(rows) = &mut self.counts else {
            self.known = None;
            return;
        };
        if let Some(known) = &self.known
            && !are_enough(known, rows)
        {
            return self.forget();
        }
        let known = self.known.iter().flat_map(Preselected::counted);
        for (_, hash, load) in known {
            rows.distinct.add(hash);
            if let keys @ 1.. = load[Metric::Keys] {
                self.sample.add(hash, keys);
            }
        }
    }

    /// Moves the names that are known to the rows.
    fn forget(&mut self) {
        if let Some(known) = self.known.take() {
            known
                .counted()
                .for_each(|(_, hash, load)| self.add_to_rows(hash, load));
        }
    }

    fn add_to_rows(&mut self, hash: u64, load: Load) {
        self.add_to_sample(hash, load);
        if let TagCounts::CountMin(rows) = &mut self.counts {
            rows.add(hash, load);
        }
    }

    /// A name that only one of both knows may be in the rows of the other: it goes to the rows altogether.
    fn merge_known(&mut self, other: &mut Self) {
        if let (Some(mine), Some(theirs)) = (&mut self.known, &mut other.known)
            && mine.has_the_names_of(theirs)
        {
            for (name, hash, load) in theirs.counted() {
                mine.add(hash, name, load);
            }
            return;
        }
        self.forget();
        other.forget();
    }

    /// A name is in the sample with its keys.
    fn add_to_sample(&mut self, hash: u64, load: Load) {
        if let keys @ 1.. = load[Metric::Keys] {
            self.sample.add(hash, keys);
        }
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
        if add_to_known(&mut self.known, hash, name, load) {
            return;
        }
        self.add_to_sample(hash, load);
        match &mut self.counts {
            TagCounts::Exact(_) | TagCounts::Shared(_) => {}
            TagCounts::CountMin(rows) => rows.add(hash, load),
            TagCounts::HeavyHitters(followed) => followed.add(hash, name, load),
        }
    }

    /// Adds operations to names that have nothing else, and that are followed past the table; `name` gives the name.
    pub(crate) fn add_operations(
        &mut self,
        hashes: &[u64],
        ops: &[u64],
        mut name: impl FnMut(usize, &mut Vec<u8>),
    ) {
        let (mut done, mut written) = (0, Vec::new());
        while let TagCounts::Exact(table) = &self.counts
            && done < hashes.len()
        {
            table.look_ahead(&hashes[done..]);
            name(done, &mut written);
            let load = Load::of(Metric::Ops, ops[done]);
            self.add_known(hashes[done], &written, load);
            done += 1;
        }
        if let TagCounts::HeavyHitters(followed) = &mut self.counts {
            let name = |i: usize, written: &mut Vec<u8>| name(done + i, written);
            followed.add_operations(&hashes[done..], &ops[done..], name);
        }
    }
}

impl Tally for TagCounter {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let values = keys.batch.values;
        let are_keys = !values.are_operations;
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
        // The table may fill up in the middle of the batch; the rest of it goes where the table goes.
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
        let (mut keys, mut hashes) = (&tagged.keys[done..], &tagged.hashes[done..]);
        if let Some(known) = &mut self.known {
            let unknown = &mut scratch.unknown;
            unknown.take_if(keys, hashes, |hash, key| {
                !(known.may_have(hash) && known.add(hash, name(key), values.load(key as usize)))
            });
            (keys, hashes) = (&unknown.keys, &unknown.hashes);
        }
        if are_keys {
            self.sample.add_keys(hashes);
        }
        match &mut self.counts {
            TagCounts::Exact(_) | TagCounts::Shared(_) => {}
            TagCounts::CountMin(rows) if values.are_operations => {
                let ops: Vec<u64> = keys.iter().map(|key| values.ops(*key as usize)).collect();
                rows.add_weights(hashes, Metric::Ops, &ops, &mut scratch.ceilings);
            }
            TagCounts::CountMin(rows) => {
                rows.add_keys(hashes);
                for metric in Metric::WEIGHTS
                    .into_iter()
                    .filter(|metric| values.column(*metric).is_some())
                {
                    let weighed = keys.iter().map(|key| values.load(*key as usize)[metric]);
                    hashes
                        .iter()
                        .zip(weighed)
                        .for_each(|(hash, weight)| rows.add_weight(*hash, metric, weight));
                }
            }
            TagCounts::HeavyHitters(followed) if values.are_weighed() => {
                let each = hashes.iter().zip(keys);
                each.for_each(|(hash, key)| {
                    followed.add(*hash, name(*key), values.load(*key as usize))
                });
            }
            TagCounts::HeavyHitters(followed) => followed.add_keys(hashes, |i| name(keys[i])),
        }
        self.scratch = scratch;
    }

    fn merge(&mut self, mut other: Self) {
        if let (TagCounts::Exact(_), TagCounts::CountMin(_) | TagCounts::Shared(_)) =
            (&self.counts, &other.counts)
        {
            // The content of a table can go anywhere.
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
        self.merge_known(&mut other);
        self.sample.merge(other.sample);
        match (&mut self.counts, other.counts) {
            (TagCounts::CountMin(mine), TagCounts::CountMin(theirs)) => mine.merge(*theirs),
            (TagCounts::HeavyHitters(mine), TagCounts::HeavyHitters(theirs)) => mine.merge(*theirs),
            // A tag that one part follows by name is unknown to the other: only the rows have all.
            (TagCounts::HeavyHitters(mine), TagCounts::CountMin(mut rows)) => {
                rows.merge(mine.rows.clone());
                self.counts = TagCounts::CountMin(rows);
            }
            (TagCounts::CountMin(mine), TagCounts::HeavyHitters(theirs)) => mine.merge(theirs.rows),
            // Neither spills to a table of names, and tables that threads share are one.
            (TagCounts::Exact(_) | TagCounts::Shared(_), _)
            | (_, TagCounts::Exact(_) | TagCounts::Shared(_)) => {}
        }
    }
}

/// Whether a list of the known names needs no others, by every metric: its first rows are proven to be the heaviest, or
/// all others are light.
fn are_enough(known: &Preselected, rows: &CountMin) -> bool {
    let (bound, total) = (rows.heaviest_at_most(), known.total());
    Metric::ALL.into_iter().all(|metric| {
        known.holding(metric, bound[metric]) >= PROVEN_ROWS
            || bound[metric] <= rows.light(metric, total[metric])
    })
}

/// Adds to a name if it is known beforehand.
fn add_to_known(known: &mut Option<Preselected>, hash: u64, name: &[u8], load: Load) -> bool {
    let known = known.as_mut();
    known.is_some_and(|known| known.add(hash, name, load))
}
