//! What happens to the keys of one block: some are left out, the rest get their slots and are counted, and neighbours
//! that are the same key are noticed.

use super::Only;
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
    only: &'a Only,
    place: Place,
    neighbours: Neighbours,
    seen: Seen,
}

/// Where a block is from.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// The input, counted from 0.
    pub input: u32,
    /// The offset of the block in it.
    pub offset: u64,
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
        only: &'a Only,
        columns: &'a mut Chosen,
        tally: &'a mut T,
        rejects: &'a mut Rejects,
        place: Place,
    ) -> Self {
        Counting {
            kernel,
            only,
            columns,
            tally,
            rejects,
            place,
            neighbours: Neighbours::default(),
            seen: Seen::default(),
        }
    }

    /// What was noticed beside what the reader `saw`, and the first and last key of the block.
    pub fn finish(mut self, mut saw: Seen) -> (Seen, Option<Edges>) {
        saw.keys -= self.seen.count(Notice::OtherDatabase) + self.seen.count(Notice::OfReplica);
        self.seen.note(Notice::Repeated, self.neighbours.repeated);
        saw += self.seen;
        (saw, self.neighbours.edges)
    }
}

impl<T: Tally> Sink for Counting<'_, T> {
    fn keys(&mut self, batch: KeyBatch<'_>) {
        let Chosen { keys, values, slots } = &mut *self.columns;
        let told = !batch.values.databases.is_empty();
        if self.only.database.is_some() && !told {
            self.seen.note(Notice::NoDatabase, batch.keys.len() as u64);
        }
        let database = self.only.database.filter(|_| told);
        let by_node = !self.only.not_of.is_empty() && !batch.values.nodes.is_empty();
        let wanted = if database.is_none() && !by_node {
            batch
        } else {
            let is_of = |i| database.is_none_or(|database| [database, MISSING].contains(&batch.values.databases[i]));
            let of_replica = |i| {
                let node = batch.values.nodes.get(batch.base, i);
                !node.is_empty() && self.only.not_of.iter().any(|replica| replica.as_bytes() == node)
            };
            let reason = |i| match () {
                () if !is_of(i) => Some(Notice::OtherDatabase),
                () if by_node && of_replica(i) => Some(Notice::OfReplica),
                () => None,
            };
            let reasons: Vec<_> = (0..batch.keys.len()).map(reason).collect();
            reasons.iter().flatten().for_each(|notice| self.seen.note(*notice, 1));
            choose(batch, |i| reasons[i].is_none(), keys, values);
            KeyBatch { base: batch.base, keys, values }
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
    spans(&batch.values.nodes, &mut values.nodes);
    each(&batch.values.bytes, &mut values.bytes, &wanted);
    each(&batch.values.ops, &mut values.ops, &wanted);
    each(&batch.values.databases, &mut values.databases, &wanted);
    each(&batch.values.expiring, &mut values.expiring, &wanted);
}
