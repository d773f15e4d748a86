//! The names that the model sees: all of a small dump, a sample of a large one, in bounded memory.
//!
//! A bottom-k sample (Cohen, Kaplan, PODC 2007): the names with the smallest hashes. It does not depend on the order of
//! the names, on threads or on how the input is split; and it holds every name below its largest hash, so that a new
//! name can be looked up among the existing ones.

use slotscope_base::batch::MISSING;
use slotscope_base::hash::hash;
use slotscope_base::metric::Metric;
use slotscope_base::slot::SlotBatch;
use slotscope_count::tally::Tally;

use crate::tokens::MOST_BYTES;

/// Limits for the sample: names and their bytes.
const MOST_NAMES: usize = 1 << 18;
const MOST_NAME_BYTES: usize = 12 << 20;

/// Names, each with its load.
#[derive(Debug, Clone)]
pub struct NameSample {
    metric: Metric,
    most: [usize; 2],
    entries: Vec<Entry>,
    bytes: Vec<u8>,
    /// Names with hashes from here on are excluded.
    limit: u64,
    /// Number of names seen, including repeats.
    pub keys: u64,
    /// Their total load.
    pub load: u64,
    /// The load of the heaviest name.
    pub largest: u64,
    /// Names too long to be judged; they are never renamed.
    pub long: u64,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    hash: u64,
    start: u32,
    len: u32,
    times: u32,
    load: u64,
}

impl NameSample {
    /// An empty sample with loads by `metric`.
    pub fn new(metric: Metric) -> Self {
        NameSample::with_room(metric, MOST_NAMES, MOST_NAME_BYTES)
    }

    /// The same with a smaller capacity.
    pub fn with_room(metric: Metric, names: usize, bytes: usize) -> Self {
        NameSample {
            metric,
            most: [names, bytes],
            entries: Vec::new(),
            bytes: Vec::new(),
            limit: u64::MAX,
            keys: 0,
            load: 0,
            largest: 0,
            long: 0,
        }
    }

    /// The metric of load.
    pub(crate) fn metric(&self) -> Metric {
        self.metric
    }

    /// Adds a name with this load.
    pub fn push(&mut self, name: &[u8], load: u64) {
        self.count(load);
        if name.len() > MOST_BYTES {
            self.long += 1;
        } else {
            self.keep(hash(name), name, load);
        }
    }

    fn count(&mut self, load: u64) {
        self.keys += 1;
        self.load = self.load.saturating_add(load);
        self.largest = self.largest.max(load);
    }

    /// Adds a name to the sample if its hash is small enough.
    #[inline]
    fn keep(&mut self, hash: u64, name: &[u8], load: u64) {
        if hash >= self.limit {
            return;
        }
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(name);
        let len = name.len() as u32;
        self.entries.push(Entry {
            hash,
            start,
            len,
            times: 1,
            load,
        });
        let [names, bytes] = self.most;
        if self.entries.len() >= 2 * names || self.bytes.len() >= 2 * bytes {
            self.prune();
        }
    }

    /// Completes the sample: load is the number of names if the input does not have the metric.
    pub fn finish(&mut self) {
        self.prune();
        if self.load == 0 {
            self.metric = Metric::Keys;
            self.entries
                .iter_mut()
                .for_each(|entry| entry.load = u64::from(entry.times));
            self.load = self.keys;
            self.largest = self
                .entries
                .iter()
                .map(|entry| entry.load)
                .max()
                .unwrap_or(0);
        }
    }

    /// Keeps the distinct names with the smallest hashes, up to the capacity.
    pub(crate) fn prune(&mut self) {
        self.entries
            .sort_unstable_by_key(|entry| (entry.hash, entry.start));
        let mut kept: Vec<Entry> = Vec::with_capacity(self.entries.len().min(self.most[0]));
        let mut packed = Vec::with_capacity(self.bytes.len().min(self.most[1]));
        for entry in &self.entries {
            if let Some(last) = kept.last_mut().filter(|last| last.hash == entry.hash) {
                last.times += entry.times;
                last.load = last.load.saturating_add(entry.load);
                continue;
            }
            if kept.len() == self.most[0] || packed.len() + entry.len as usize > self.most[1] {
                self.limit = entry.hash;
                break;
            }
            let start = packed.len() as u32;
            packed.extend_from_slice(&self.bytes[entry.start as usize..][..entry.len as usize]);
            kept.push(Entry { start, ..*entry });
        }
        (self.entries, self.bytes) = (kept, packed);
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the sample is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether the sample has all names.
    pub fn is_whole(&self) -> bool {
        self.limit == u64::MAX
    }

    /// The fraction of all distinct names that is in the sample.
    pub(crate) fn share(&self) -> f64 {
        self.limit as f64 / u64::MAX as f64
    }

    /// All names with hashes below this are in the sample.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// Name `at` and its load, ordered by hash.
    pub fn get(&self, at: usize) -> (&[u8], u64) {
        let entry = &self.entries[at];
        let name = &self.bytes[entry.start as usize..][..entry.len as usize];
        (name, entry.load)
    }

    /// Number of occurrences of name `at`.
    pub(crate) fn times(&self, at: usize) -> u64 {
        u64::from(self.entries[at].times)
    }

    /// Whether a name with this hash is in the sample.
    pub(crate) fn has(&self, hash: u64) -> bool {
        self.entries
            .binary_search_by_key(&hash, |entry| entry.hash)
            .is_ok()
    }
}

/// The load of each key of a batch: 1 if load is the number of keys, else the value in the input.
pub(super) fn weights<'k>(keys: &'k SlotBatch<'_>, metric: Metric) -> impl Fn(usize) -> u64 + 'k {
    let column = keys.batch.values.column(metric);
    move |i| match (metric, column) {
        (Metric::Keys, _) => 1,
        (_, None) => 0,
        (_, Some(column)) => Some(column[i]).filter(|load| *load != MISSING).unwrap_or(0),
    }
}

impl Tally for NameSample {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let weight = weights(keys, self.metric);
        let (names, base) = (keys.batch.keys, keys.batch.base);
        for i in 0..keys.len() {
            let (name, load) = (names.get(base, i), weight(i));
            self.count(load);
            if name.len() > MOST_BYTES {
                self.long += 1;
            } else {
                self.keep(names.hash(base, i), name, load);
            }
        }
    }

    fn merge(&mut self, other: Self) {
        self.keys += other.keys;
        self.load = self.load.saturating_add(other.load);
        self.long += other.long;
        self.largest = self.largest.max(other.largest);
        self.limit = self.limit.min(other.limit);
        for entry in &other.entries {
            let start = self.bytes.len() as u32;
            self.bytes
                .extend_from_slice(&other.bytes[entry.start as usize..][..entry.len as usize]);
            self.entries.push(Entry { start, ..*entry });
        }
        let limit = self.limit;
        self.entries.retain(|entry| entry.hash < limit);
        self.prune();
    }

    fn reads_attributes(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(names: impl Iterator<Item = u32>, room: usize) -> NameSample {
        let mut sample = NameSample::with_room(Metric::Bytes, room, 20 * room);
        names.for_each(|i| sample.push(format!("name:{i}").as_bytes(), u64::from(i)));
        sample
    }

    fn listed(sample: &NameSample) -> Vec<(Vec<u8>, u64)> {
        let names = (0..sample.len()).map(|at| sample.get(at));
        names.map(|(name, load)| (name.to_vec(), load)).collect()
    }

    #[test]
    fn a_sample_does_not_depend_on_order_or_cut_and_is_bounded() {
        let mut whole = sample(0..10_000, 100);
        let mut parts = sample((5000..10_000).rev(), 100);
        parts.merge(sample(0..5000, 100));
        whole.finish();
        parts.finish();
        assert_eq!(listed(&whole), listed(&parts));
        assert_eq!(
            (whole.len(), whole.keys, whole.largest),
            (100, 10_000, 9999)
        );
        assert!(
            !whole.is_whole() && (0.005..0.02).contains(&whole.share()),
            "{}",
            whole.share()
        );
        let below = (0..10_000).filter(|i| hash(format!("name:{i}").as_bytes()) < whole.limit());
        assert!(
            below
                .clone()
                .all(|i| whole.has(hash(format!("name:{i}").as_bytes())))
        );
        assert_eq!(below.count(), 100);
    }

    #[test]
    fn a_name_counts_once_with_all_its_load_and_long_names_are_left() {
        let mut sample = sample((1..50).chain(1..50), 100);
        sample.push(&[b'x'; MOST_BYTES + 1], 1);
        sample.finish();
        assert_eq!((sample.len(), sample.keys, sample.long), (49, 99, 1));
        let (_, load) = (0..49)
            .map(|at| sample.get(at))
            .find(|(name, _)| *name == b"name:7")
            .unwrap();
        assert_eq!(load, 14);
        let mut unweighed = NameSample::with_room(Metric::Bytes, 9, 99);
        unweighed.push(b"a", 0);
        unweighed.finish();
        assert_eq!(
            (unweighed.metric(), unweighed.load, unweighed.get(0).1),
            (Metric::Keys, 1, 1)
        );
    }
}
