//! What happens to the keys of one block: some are left out, the rest get their slots and are counted, and neighbours
//! that are the same key are noticed.

use super::repeats::{Edges, Neighbours};
use crate::format::batch::{KeyBatch, MISSING, Spans, Values};
use crate::format::{Notice, Seen, Sink};
use crate::slot::SlotColumns;
use crate::slot::kernel::Kernel;
use crate::tally::Tally;
use crate::tally::rejects::{Reject, Rejects};

/// Computes and counts what a reader finds in a block.
pub struct Counting<'a, T> {
    kernel: &'static Kernel,
    columns: &'a mut Chosen,
    tally: &'a mut T,
    rejects: &'a mut Rejects,
    place: Place,
    neighbours: Neighbours,
    seen: Seen,
}

/// Where a block is from, and which of its keys are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// The input, counted from 0.
    pub input: u32,
    /// The offset of the block in it.
    pub offset: u64,
    /// Only keys of this database.
    pub database: Option<u64>,
}

/// The columns of the keys that are wanted, and their slots; kept from block to block.
#[derive(Default)]
pub struct Chosen {
    keys: Spans,
    values: Values,
    slots: SlotColumns,
}

impl<'a, T: Tally> Counting<'a, T> {
    /// Nothing counted yet.
    pub fn new(
        kernel: &'static Kernel,
        columns: &'a mut Chosen,
        tally: &'a mut T,
        rejects: &'a mut Rejects,
        place: Place,
    ) -> Self {
        Counting { kernel, columns, tally, rejects, place, neighbours: Neighbours::default(), seen: Seen::default() }
    }

    /// What was noticed beside what the reader `saw`, and the first and last key of the block.
    pub fn finish(mut self, mut saw: Seen) -> (Seen, Option<Edges>) {
        saw.keys -= self.seen.count(Notice::OtherDatabase);
        self.seen.note(Notice::Repeated, self.neighbours.repeated);
        saw += self.seen;
        (saw, self.neighbours.edges)
    }
}

impl<T: Tally> Sink for Counting<'_, T> {
    fn keys(&mut self, batch: KeyBatch<'_>) {
        let Chosen { keys, values, slots } = &mut *self.columns;
        let wanted = match self.place.database {
            None => batch,
            Some(_) if batch.values.databases.is_empty() => {
                self.seen.note(Notice::NoDatabase, batch.keys.len() as u64);
                batch
            }
            Some(database) => {
                choose(batch, |i| [database, MISSING].contains(&batch.values.databases[i]), keys, values);
                self.seen.note(Notice::OtherDatabase, (batch.keys.len() - keys.len()) as u64);
                KeyBatch { base: batch.base, keys, values }
            }
        };
        if wanted.keys.is_empty() {
            return;
        }
        let slotted = slots.compute(self.kernel, wanted, self.place.input);
        self.neighbours.look_at(&slotted);
        self.tally.add(&slotted);
    }

    fn reject(&mut self, at: usize, reason: &str) {
        let byte = self.place.offset + at as u64;
        self.rejects.push(Reject { input: self.place.input, byte, reason: reason.to_string() });
    }
}

/// Copies the columns of the keys that are wanted.
fn choose(batch: KeyBatch<'_>, wanted: impl Fn(usize) -> bool, keys: &mut Spans, values: &mut Values) {
    fn each<T: Copy>(from: &[T], to: &mut Vec<T>, wanted: &dyn Fn(usize) -> bool) {
        to.clear();
        to.extend(from.iter().enumerate().filter(|(i, _)| wanted(*i)).map(|(_, value)| *value));
    }
    let spans = |from: &Spans, to: &mut Spans| {
        each(&from.start, &mut to.start, &wanted);
        each(&from.end, &mut to.end, &wanted);
    };
    spans(batch.keys, keys);
    spans(&batch.values.types, &mut values.types);
    each(&batch.values.bytes, &mut values.bytes, &wanted);
    each(&batch.values.ops, &mut values.ops, &wanted);
    each(&batch.values.databases, &mut values.databases, &wanted);
    each(&batch.values.expiring, &mut values.expiring, &wanted);
}
