//! Counts the keys of one block: applies the filter, computes slots, and counts.

use slotscope_base::batch::{KeyBatch, MISSING, Number, Spans, Values};
use slotscope_base::metric::Metric;
use slotscope_base::slot::SlotColumns;
use slotscope_base::slot::policy::Policy;
use slotscope_base::slot::{Kernel, SlotBatch};
use slotscope_read::format::{Notice, ReadStats, Sink};

use crate::scan::Only;
use crate::scan::filter::{Field, KeyFacts};
use crate::tally::Tally;
use crate::tally::rejects::{Reject, Rejects};

/// The reason for rejecting a key that a custom policy assigns no slot: servers refuse it.
const MISFIT: &str = "no pattern of --policy matches this key, so it has no slot";

/// Computes slots for, and counts, what a reader finds in a block.
pub(super) struct Counting<'a> {
    how: How<'a>,
    columns: &'a mut Chosen,
    tally: &'a mut dyn Tally,
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
    /// Whether the block can be read again there.
    pub is_rereadable: bool,
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

/// The columns of the keys to count, and their slots; buffers reused between blocks.
#[derive(Default)]
pub(super) struct Chosen {
    /// The keys that the filter selects.
    wanted: Selection,
    /// Those among them that have a slot.
    fitting: Selection,
    slots: SlotColumns,
}

/// The columns of some keys of a batch.
#[derive(Default)]
struct Selection {
    keys: Spans,
    values: Values,
}

impl<'a> Counting<'a> {
    pub(super) fn new(
        how: How<'a>,
        columns: &'a mut Chosen,
        tally: &'a mut dyn Tally,
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

impl Counting<'_> {
    /// Counts the keys of a batch that the filter selects and that have a slot.
    fn count(&mut self, batch: KeyBatch<'_>, columns: &mut Chosen) {
        let Some(wanted) = self.select(batch, &mut columns.wanted) else {
            return;
        };
        if !self.tally.reads_slots() {
            return;
        }
        let slots = &mut columns.slots;
        let fit = self.fit(wanted, slots, &mut columns.fitting);
        if !fit.keys.is_empty() {
            self.tally.add(&SlotBatch {
                input: self.place.input,
                offset: self.place.offset,
                is_rereadable: self.place.is_rereadable,
                ..slots.hash(self.how.kernel, fit)
            });
        }
    }

    /// The keys that the filter selects; notes why others are left out. `None` if the filter needs a field that the
    /// input lacks.
    fn select<'a>(
        &mut self,
        batch: KeyBatch<'a>,
        selection: &'a mut Selection,
    ) -> Option<KeyBatch<'a>> {
        let only = self.how.only;
        let is_known = !batch.values.number(Number::Database).is_empty();
        if only.database.is_some() && !is_known {
            self.seen.note(Notice::NoDatabase, batch.keys.len() as u64);
        }
        let database = only.database.filter(|_| is_known);
        let filter = only.filter.as_deref();
        if let Some(field) = filter.and_then(|filter| filter.lacks(batch.values)) {
            self.lacking = Some(field);
            return None;
        }
        if database.is_none() && filter.is_none() {
            return Some(batch);
        }
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
        let sizes = batch.values.column(Metric::Bytes);
        for (i, notice) in reasons.iter().enumerate() {
            let Some(notice) = *notice else { continue };
            self.seen.note(notice, 1);
            let size = sizes.map_or(MISSING, |sizes| sizes[i]);
            if notice == Notice::Filtered && size != MISSING {
                self.seen.filtered_bytes = self.seen.filtered_bytes.saturating_add(size);
            }
        }
        Some(selection.choose(batch, &|i| reasons[i].is_none()))
    }

    /// Finds the hashed part of each key; the keys that have one. Rejects the others.
    fn fit<'a>(
        &mut self,
        wanted: KeyBatch<'a>,
        slots: &mut SlotColumns,
        selection: &'a mut Selection,
    ) -> KeyBatch<'a> {
        let How { kernel, policy, .. } = self.how;
        let misfits = slots.find_hashed(policy, kernel, wanted);
        if misfits.is_empty() {
            return wanted;
        }
        self.misfits += misfits.len() as u64;
        for misfit in &misfits {
            self.reject_at(self.place.of(wanted, *misfit as usize), MISFIT);
        }
        let has_slot = |i| misfits.binary_search(&(i as u32)).is_err();
        let fit = selection.choose(wanted, &has_slot);
        slots.find_hashed(policy, kernel, fit);
        fit
    }
}

impl Sink for Counting<'_> {
    fn keys(&mut self, batch: KeyBatch<'_>) {
        let mut columns = std::mem::take(self.columns);
        self.count(batch, &mut columns);
        *self.columns = columns;
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

impl Selection {
    /// Copies the columns of the wanted keys.
    fn choose<'a>(
        &'a mut self,
        batch: KeyBatch<'a>,
        wanted: &dyn Fn(usize) -> bool,
    ) -> KeyBatch<'a> {
        fn each<T: Copy>(from: &[T], to: &mut Vec<T>, wanted: &dyn Fn(usize) -> bool) {
            to.clear();
            let chosen = from.iter().enumerate().filter(|(i, _)| wanted(*i));
            to.extend(chosen.map(|(_, value)| *value));
        }
        let spans = |from: &Spans, to: &mut Spans| {
            each(&from.start, &mut to.start, wanted);
            each(&from.end, &mut to.end, wanted);
        };
        let (from, to) = (batch.values, &mut self.values);
        spans(batch.keys, &mut self.keys);
        for (from, to) in from.words.iter().zip(&mut to.words) {
            spans(from, to);
        }
        to.are_operations = from.are_operations;
        spans(&from.commands, &mut to.commands);
        each(&from.times, &mut to.times, wanted);
        each(&from.offsets, &mut to.offsets, wanted);
        each(&from.extremes, &mut to.extremes, wanted);
        for (from, to) in from.weights.iter().zip(&mut to.weights) {
            each(from, to, wanted);
        }
        for (from, to) in from.numbers.iter().zip(&mut to.numbers) {
            each(from, to, wanted);
        }
        KeyBatch {
            base: batch.base,
            keys: &self.keys,
            values: &self.values,
        }
    }
}
