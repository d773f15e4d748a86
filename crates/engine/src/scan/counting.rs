//! Counts the keys of one block: applies the filter, computes slots, and counts.

use crate::format::batch::{KeyBatch, MISSING, Number, Spans, Values};
use crate::format::{Notice, ReadStats, Sink};
use crate::metric::Metric;
use crate::scan::Only;
use crate::scan::filter::{Field, KeyFacts};
use crate::slot::Kernel;
use crate::slot::SlotColumns;
use crate::slot::policy::Policy;
use crate::tally::Tally;
use crate::tally::rejects::{Reject, Rejects};

/// The reason for rejecting a key that a custom policy assigns no slot: servers refuse it.
const MISFIT: &str = "no pattern of --policy matches this key, so it has no slot";

/// Computes slots for, and counts, what a reader finds in a block.
pub(super) struct Counting<'a, T> {
    how: How<'a>,
    columns: &'a mut Chosen,
    tally: &'a mut T,
    rejects: &'a mut Rejects,
    place: Place,
    seen: ReadStats,
    /// Keys without a slot under the policy.
    misfits: u64,
    /// A field that the filter needs but the input lacks.
    lacking: Option<Field>,
}

/// How slots are computed, and for which keys.
#[derive(Clone, Copy)]
pub(super) struct How<'a> {
    /// The kernel that computes them.
    pub kernel: &'static Kernel,
    /// The filter.
    pub only: &'a Only,
    /// The hash policy.
    pub policy: &'a Policy,
}

/// The origin of a block.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Index of the input.
    pub input: u32,
    /// The offset of the block in the input, if it is a piece of it.
    pub offset: u64,
}

impl Place {
    /// The offset in the input of key `i` of a batch.
    fn of(&self, batch: KeyBatch<'_>, i: usize) -> u64 {
        let in_block = || self.offset + u64::from(batch.keys.start[i]);
        batch
            .values
            .offsets
            .get(i)
            .copied()
            .unwrap_or_else(in_block)
    }
}

/// The columns of the selected keys, and their slots; buffers reused between blocks.
#[derive(Default)]
pub(super) struct Chosen {
    keys: Spans,
    values: Values,
    slots: SlotColumns,
    fitting: (Spans, Values),
}

impl<'a, T: Tally> Counting<'a, T> {
    pub(super) fn new(
        how: How<'a>,
        columns: &'a mut Chosen,
        tally: &'a mut T,
        rejects: &'a mut Rejects,
        place: Place,
    ) -> Self {
        Counting {
            how,
            columns,
            tally,
            rejects,
            place,
            seen: ReadStats::default(),
            misfits: 0,
            lacking: None,
        }
    }

    /// A field that the filter needs but the input lacks.
    pub(super) fn lacking(&self) -> Option<Field> {
        self.lacking
    }

    /// The notices including those of the reader (`saw`).
    pub(super) fn finish(self, mut saw: ReadStats) -> ReadStats {
        let left_out = self.seen.left_out() + self.misfits;
        // A block holds either keys or operations.
        match saw.operations {
            0 => saw.keys -= left_out,
            _ => saw.operations -= left_out,
        }
        saw += self.seen;
        saw
    }
}

impl<T: Tally> Counting<'_, T> {
    /// Counts a batch.
    fn count(&mut self, batch: KeyBatch<'_>) {
        let How {
            kernel,
            only,
            policy,
        } = self.how;
        let Chosen {
            keys,
            values,
            slots,
            fitting,
        } = &mut *self.columns;
        let is_known = !batch.values.number(Number::Database).is_empty();
        if only.database.is_some() && !is_known {
            self.seen.note(Notice::NoDatabase, batch.keys.len() as u64);
        }
        let database = only.database.filter(|_| is_known);
        let filter = only.filter.as_deref();
        if let Some(field) = filter.and_then(|filter| filter.lacks(batch.values)) {
            self.lacking = Some(field);
            return;
        }
        let takes_all = database.is_none() && filter.is_none();
        let wanted = if takes_all {
            batch
        } else {
            let is_of_database = |i| {
                database.is_none_or(|database| {
                    [database, MISSING].contains(&batch.values.number(Number::Database)[i])
                })
            };
            let reason = |i| match () {
                () if !is_of_database(i) => Some(Notice::OtherDatabase),
                () if filter.is_none_or(|filter| filter.keeps(&KeyFacts::of(batch, i))) => None,
                () if batch.values.are_operations => Some(Notice::FilteredOperation),
                () => Some(Notice::Filtered),
            };
            let reasons: Vec<_> = (0..batch.keys.len()).map(reason).collect();
            reasons
                .iter()
                .flatten()
                .for_each(|notice| self.seen.note(*notice, 1));
            if let Some(sizes) = batch.values.column(Metric::Bytes) {
                let sized = reasons.iter().zip(sizes);
                let of_filtered = sized.filter(|(reason, size)| {
                    **reason == Some(Notice::Filtered) && **size != MISSING
                });
                let bytes = of_filtered.fold(0, |sum: u64, (_, size)| sum.saturating_add(*size));
                self.seen.filtered_bytes = self.seen.filtered_bytes.saturating_add(bytes);
            }
            choose(batch, |i| reasons[i].is_none(), keys, values);
            KeyBatch {
                base: batch.base,
                keys,
                values,
            }
        };
        if wanted.keys.is_empty() {
            return;
        }
        let mut fit = wanted;
        let misfits = slots.find_hashed(policy, kernel, wanted);
        if !misfits.is_empty() {
            self.misfits += misfits.len() as u64;
            let byte = |misfit: &u32| self.place.of(wanted, *misfit as usize);
            let reject = |byte| Reject {
                input: self.place.input,
                byte,
                reason: MISFIT.into(),
            };
            misfits
                .iter()
                .map(byte)
                .map(reject)
                .for_each(|reject| self.rejects.push(reject));
            choose(
                wanted,
                |i| misfits.binary_search(&(i as u32)).is_err(),
                &mut fitting.0,
                &mut fitting.1,
            );
            fit = KeyBatch {
                base: wanted.base,
                keys: &fitting.0,
                values: &fitting.1,
            };
            slots.find_hashed(policy, kernel, fit);
        }
        if fit.keys.is_empty() {
            return;
        }
        let slotted = slots.hash(kernel, fit, (self.place.input, self.place.offset));
        self.tally.add(&slotted);
    }
}

impl<T: Tally> Sink for Counting<'_, T> {
    fn keys(&mut self, batch: KeyBatch<'_>) {
        self.count(batch);
    }

    fn reject(&mut self, at: usize, reason: &str) {
        self.reject_at(self.place.offset + at as u64, reason);
    }

    fn reject_at(&mut self, byte: u64, reason: &str) {
        self.rejects.push(Reject {
            input: self.place.input,
            byte,
            reason: reason.to_string(),
        });
    }
}

/// Copies the columns of the selected keys.
fn choose(
    batch: KeyBatch<'_>,
    wanted: impl Fn(usize) -> bool,
    keys: &mut Spans,
    values: &mut Values,
) {
    fn each<T: Copy>(from: &[T], to: &mut Vec<T>, wanted: &dyn Fn(usize) -> bool) {
        to.clear();
        to.extend(
            from.iter()
                .enumerate()
                .filter(|(i, _)| wanted(*i))
                .map(|(_, value)| *value),
        );
    }
    let spans = |from: &Spans, to: &mut Spans| {
        each(&from.start, &mut to.start, &wanted);
        each(&from.end, &mut to.end, &wanted);
    };
    spans(batch.keys, keys);
    for (from, to) in batch.values.words.iter().zip(&mut values.words) {
        spans(from, to);
    }
    values.are_operations = batch.values.are_operations;
    spans(&batch.values.commands, &mut values.commands);
    each(&batch.values.times, &mut values.times, &wanted);
    each(&batch.values.offsets, &mut values.offsets, &wanted);
    each(&batch.values.extremes, &mut values.extremes, &wanted);
    for (from, to) in batch.values.weights.iter().zip(&mut values.weights) {
        each(from, to, &wanted);
    }
    for (from, to) in batch.values.numbers.iter().zip(&mut values.numbers) {
        each(from, to, &wanted);
    }
}
