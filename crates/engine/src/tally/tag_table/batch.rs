//! A batch of keys goes into the table: the lines of the tags that follow are on the way while one is counted.

use std::sync::atomic::Ordering::Relaxed;

use hashslot::simd::{Bytes64, Pass, Portable};

use crate::metric::Metric;
use crate::simd::prefetch;
use crate::slot::SlotBatch;
use crate::tally::tag_table::front::Front;
use crate::tally::tag_table::{AHEAD, Added, IS_KEPT, PLACE, TagTable, add_to, identity};
use crate::tally::tagged::Tagged;

/// A batch of tagged keys for the table, and what a thread keeps for it from batch to batch.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counting {
    tagged: Tagged,
    rest: Tagged,
    cells: Vec<u32>,
    fresh: Vec<(u32, u32)>,
    front: Front,
}

/// The scratch that is kept from batch to batch is not part of the value.
impl PartialEq for Counting {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl TagTable {
    /// Counts the tagged keys of a batch except the first `from` of them; returns how many there are.
    pub(crate) fn add_batch(
        &self,
        keys: &SlotBatch<'_>,
        counting: &mut Counting,
        from: usize,
    ) -> usize {
        let Counting {
            tagged,
            rest,
            cells,
            fresh,
            front,
        } = counting;
        self.hashing.find_tagged(keys, tagged);
        let found = tagged.keys.len();
        let (mut numbers, mut hashes) = (&tagged.keys[from..], &tagged.hashes[from..]);
        let values = keys.batch.values;
        let is_weighed = values.are_weighed() || values.are_operations;
        if !is_weighed {
            front.split(numbers, hashes, rest);
            (numbers, hashes) = (&rest.keys, &rest.hashes);
        }
        cells.clear();
        fresh.clear();
        let pass = AddBatch {
            table: self,
            keys,
            numbers,
            hashes,
            each: u64::from(!values.are_operations),
            fresh,
            cells: is_weighed.then_some(&mut *cells),
        };
        if !keys.kernel.run(pass) {
            return found;
        }
        for metric in Metric::WEIGHTS {
            if is_weighed && values.column(metric).is_some() {
                let column = self.column(metric);
                for (cell, key) in cells.iter().zip(numbers) {
                    add_to(
                        column.get(*cell as usize),
                        values.load(*key as usize)[metric],
                    );
                }
            }
        }
        if !is_weighed {
            front.learn(keys.slots, rest, |tag, keys| self.add_keys(tag, keys));
        }
        found
    }

    /// Adds what the tags at the front of a thread hold.
    pub(crate) fn add_front(&self, counting: &mut Counting) {
        counting.front.flush(|tag, keys| self.add_keys(tag, keys));
    }

    /// Where a key is, as far as places tell: of an input of unknown size, its start.
    #[inline(always)]
    fn place_of(&self, keys: &SlotBatch<'_>, key: usize) -> u32 {
        let block = (keys.offset + u64::from(keys.batch.keys.start[key])) / PLACE;
        match self.first_places.get(keys.input as usize..) {
            Some([first, next, ..]) => {
                let last = next.saturating_sub(1).max(*first);
                first
                    .saturating_add(block.min(u64::from(IS_KEPT)) as u32)
                    .min(last)
            }
            _ => 0,
        }
    }
}

/// Adds the keys of a batch, one after the other, while the lines of those that follow are on the way; false where the table
/// is full.
struct AddBatch<'a> {
    table: &'a TagTable,
    keys: &'a SlotBatch<'a>,
    numbers: &'a [u32],
    hashes: &'a [u64],
    /// The amount that each adds to the keys of its tag.
    each: u64,
    /// Gets the cell and the key of each tag that is new.
    fresh: &'a mut Vec<(u32, u32)>,
    /// Gets the cell of each, where that is wanted.
    cells: Option<&'a mut Vec<u32>>,
}

impl Pass for AddBatch<'_> {
    type Output = bool;

    fn scalar(self) -> bool {
        self.vector::<Portable>()
    }

    #[inline(always)]
    fn vector<B: Bytes64>(self) -> bool {
        let AddBatch {
            table,
            keys,
            numbers,
            hashes,
            each,
            fresh,
            mut cells,
        } = self;
        let reserved = table.reserved();
        let mut added = Added::default();
        for hash in hashes.iter().take(AHEAD) {
            prefetch(&reserved.lines[reserved.line_of(*hash)]);
        }
        for (i, (hash, key)) in hashes.iter().zip(numbers).enumerate() {
            if let Some(next) = hashes.get(i + AHEAD) {
                prefetch(&reserved.lines[reserved.line_of(*next)]);
            }
            let key = *key as usize;
            let tag = (*hash, keys.slots[key]);
            let home = reserved.line_of(*hash);
            // SAFETY: the CPU has the instructions.
            let word = unsafe { reserved.lines[home].word_with::<B>(identity(tag)) };
            let cell = match word {
                Some(word) => {
                    let cell = 8 * home + word;
                    table.carry(cell, reserved.word(cell), each);
                    cell
                }
                None => match table.add(reserved, &mut added, tag, each) {
                    Some((cell, is_new)) => {
                        if is_new {
                            fresh.push((cell as u32, key as u32));
                        }
                        cell
                    }
                    None => return false,
                },
            };
            if let Some(cells) = &mut cells {
                cells.push(cell as u32);
            }
        }
        table.note_new(&mut added);
        // Stores that miss the caches wait for each other only where a count comes between: its lock waits for all of them.
        for (cell, key) in fresh.iter() {
            let place = table.place_of(keys, *key as usize);
            reserved.places[*cell as usize].store(place, Relaxed);
        }
        true
    }
}
