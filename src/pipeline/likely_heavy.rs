//! Finds probably heavy hash tags in a small sample of the inputs: counted by name from the first key, they make a
//! second pass unnecessary for most dumps.

use std::cmp::Reverse;

use slotscope_engine::metric::{Load, Metric};
use slotscope_engine::name::Name;
use slotscope_engine::scan::Scan;
use slotscope_engine::scan::sample::WINDOW;
use slotscope_engine::slot::SlotBatch;
use slotscope_engine::source::Source;
use slotscope_engine::tally::Tally;
use slotscope_engine::tally::preselected::{MAX_KNOWN, Preselected};
use slotscope_engine::tally::recount::{Candidates, Recount};
use slotscope_engine::tally::sketch::count_min::CountMin;
use slotscope_engine::tally::slots::SlotCounts;
use slotscope_engine::tally::tag_table::{MAX_TAGS, TagTable};
use slotscope_engine::tally::tagged::Tagged;

/// Smaller inputs are read twice if needed, which takes no time.
const WORTH_BYTES: u64 = 128 << 20;
/// The sample is 1 / `PART` of the inputs, within these bounds.
const PART: u64 = 64;
const MIN_BYTES: u64 = 8 << 20;
const MAX_BYTES: u64 = 16 << 20;
/// How many of the largest cells of each row of the sample are examined; the counts of the names in them decide.
const CANDIDATE_CELLS: usize = 8192;
/// The sample's rows rotate hashes by this many bits, so that tags are selected by other cells than those used for
/// counting the rest. With the same cells, the fullest would lose their tags, leaving the rest more even than chance
/// and its second moment too small: n_eff was 3.5% too high with 9,000 equal tags of 150 keys.
const TURN: u32 = 32;
/// Tags remembered within a batch of keys.
const RECENT: usize = 1024;
/// A tag with fewer keys in the sample may be there by chance.
const MIN_KEYS: u64 = 3;

/// The sample size; only tests choose this.
#[derive(Debug, Clone, Copy)]
pub struct Sampling {
    /// Smaller inputs are not sampled.
    pub worth_bytes: u64,
    /// Minimum bytes of the sample.
    pub min_bytes: u64,
    /// Maximum distinct tags counted individually: with more, or none, a sample is taken.
    pub most_tags: usize,
}

impl Default for Sampling {
    fn default() -> Self {
        Sampling {
            worth_bytes: WORTH_BYTES,
            min_bytes: MIN_BYTES,
            most_tags: MAX_TAGS,
        }
    }
}

impl Sampling {
    /// One in how many windows is read; `None` if sampling is not worthwhile.
    pub(crate) fn every(self, sources: &[Box<dyn Source>]) -> Option<u64> {
        let sizes = sources.iter().filter_map(|source| source.size_bytes());
        let bytes = sizes.fold(0u64, u64::saturating_add);
        let sample = (bytes / PART).clamp(self.min_bytes, MAX_BYTES);
        let windows = (sample / WINDOW as u64).max(1);
        let every = (bytes / WINDOW as u64).div_ceil(windows);
        (bytes >= self.worth_bytes && every > 1).then_some(every)
    }

    /// A table for all tags of `sources`, if names can be reread.
    pub(crate) fn table(self, scan: &Scan<'_>, sources: &[Box<dyn Source>]) -> Option<TagTable> {
        let are_rereadable = sources.iter().all(|source| source.is_rereadable());
        let sizes: Vec<_> = sources.iter().map(|source| source.size_bytes()).collect();
        (self.most_tags > 0 && are_rereadable)
            .then(|| TagTable::of(scan.kernel, &sizes, self.most_tags))
    }

    /// Whether sampling is worthwhile.
    pub fn is_worth_it(self, sources: &[Box<dyn Source>]) -> bool {
        self.every(sources).is_some()
    }

    /// The tags that are frequent in a sample of `sources`, or heavy by a metric; `None` if sampling is not worthwhile
    /// or finds none. Errors in inputs are left to the actual scan.
    ///
    /// The sample, and hence the tags, do not depend on threads or chunks.
    pub(crate) fn tags(self, scan: &Scan<'_>, sources: &[Box<dyn Source>]) -> Option<Preselected> {
        let every = self.every(sources)?;
        let sample = scan.sample(sources, every, Sample::default).ok()?;
        let chosen =
            Candidates::choose_cells(CANDIDATE_CELLS, TURN, sample.rows, &sample.slots.loads);
        let recount = Recount::new(chosen.into());
        let again = scan.sample(sources, every, || recount.clone());
        let tags = again.ok()?.into_tags();
        let known = heaviest(&tags);
        (!known.is_empty()).then(|| Preselected::of(known))
    }
}

/// The names with the most keys, and those with the most of each other metric, with their hashes.
fn heaviest(tags: &[(u64, Name, Load)]) -> Vec<(u64, &Name)> {
    let by_metric = |metric: Metric| {
        let least = if metric == Metric::Keys { MIN_KEYS } else { 1 };
        let mut order: Vec<_> = tags
            .iter()
            .filter(|(.., load)| load[metric] >= least)
            .collect();
        order.sort_by_key(|(_, name, load)| (Reverse(load[metric]), name));
        order
    };
    let mut orders: Vec<_> = Metric::ALL.into_iter().map(by_metric).collect();
    orders.retain(|order| !order.is_empty());
    let each = MAX_KNOWN / orders.len().max(1);
    let mut known: Vec<_> = orders
        .into_iter()
        .flat_map(|order| order.into_iter().take(each))
        .map(|(hash, name, _)| (*hash, name))
        .collect();
    known.sort();
    known.dedup();
    known
}

/// The counts of a sample: slots, and tags in rows. If all keys of a tag are close together, as in a sorted dump, they
/// are in the sample by chance, so they count only once.
#[derive(Default)]
struct Sample {
    slots: SlotCounts,
    rows: Box<CountMin>,
    tagged: Tagged,
}

impl Tally for Sample {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        self.slots.add(keys);
        let mut tagged = std::mem::take(&mut self.tagged);
        tagged.find(keys, |_| true);
        let mut recent = [0; RECENT];
        for hash in &tagged.hashes {
            let known = &mut recent[*hash as usize % RECENT];
            if *known != *hash {
                *known = *hash;
                self.rows.add_key(hash.rotate_left(TURN));
            }
        }
        let values = keys.batch.values;
        for metric in Metric::WEIGHTS {
            if values.column(metric).is_some() {
                for (hash, key) in tagged.hashes.iter().zip(&tagged.keys) {
                    let weight = values.load(*key as usize)[metric];
                    self.rows.add_weight(hash.rotate_left(TURN), metric, weight);
                }
            }
        }
        self.tagged = tagged;
    }

    fn merge(&mut self, other: Self) {
        self.slots.merge(other.slots);
        self.rows.merge(*other.rows);
    }
}
