//! Memory of Redis 8.8 arrays: slices of 4,096 positions, each either a short list of indexed elements or a window of
//! positions, and a directory of slices. A server loads elements in file order.

use crate::format::rdb::snapshot::memory::{Body, Footprint, MAX_LEN};

/// Positions per slice, and the minimum of a window.
const PLACES: u64 = 4096;
const WINDOW: u64 = 8;

/// Maximum elements of a slice in list form, and its initial capacity.
const MOST_LISTED: u64 = 10;
const FIRST_LISTED: u64 = 4;

/// Slices per directory, or per block of a two-level one; size of a top-level entry, and their initial capacity.
const BLOCK: u64 = 2048;
const BLOCK_ENTRY: u64 = 24;
const FIRST_BLOCKS: u64 = 4;

/// Bytes of an array, of an empty slice, of a pointer.
const ARRAY: u64 = 80;
const SLICE: u64 = 32;
const REFERENCE: u64 = 8;

/// An array, built element by element.
#[derive(Debug, Default)]
pub(in crate::format::rdb::snapshot) struct Array {
    slice: Option<Slice>,
    last_slice: u64,
    blocks: u64,
}

/// A slice: its number, element count, and the range of positions in use.
#[derive(Debug, Clone, Copy)]
struct Slice {
    number: u64,
    count: u64,
    first: u64,
    last: u64,
}

impl Slice {
    /// Requested bytes.
    fn bytes(self) -> u64 {
        if self.count <= MOST_LISTED {
            let room = (self.count.next_power_of_two()).clamp(FIRST_LISTED, MOST_LISTED);
            return SLICE + (2 * room).next_multiple_of(8) + REFERENCE * room;
        }
        let span = self.last.saturating_sub(self.first) + 1;
        SLICE + REFERENCE * span.next_power_of_two().clamp(WINDOW, PLACES)
    }
}

impl Footprint {
    /// Adds an element at a position: a string of this many bytes in its own block, or one that needs none.
    pub(in crate::format::rdb::snapshot) fn placed(
        &mut self,
        array: &mut Array,
        place: u64,
        text: Option<u64>,
    ) {
        if let Some(len) = text.map(|len| len.min(MAX_LEN)) {
            self.add(len + if len < 1 << 15 { 2 } else { 8 });
        }
        let (number, place) = (place / PLACES, place % PLACES);
        if let Some(slice) = array.slice.as_mut().filter(|slice| slice.number == number) {
            (slice.count, slice.last) = (slice.count + 1, slice.last.max(place));
            return;
        }
        let before = array.slice.replace(Slice {
            number,
            count: 1,
            first: place,
            last: place,
        });
        if before.is_none_or(|before| before.number / BLOCK != number / BLOCK) {
            array.blocks += 1;
        }
        array.last_slice = array.last_slice.max(number);
        if let Some(before) = before {
            self.add(before.bytes());
        }
    }

    /// Adds a complete array.
    pub(in crate::format::rdb::snapshot) fn array(&mut self, array: Array) {
        self.body = Body::Blocks;
        self.add(ARRAY);
        if let Some(slice) = array.slice {
            self.add(slice.bytes());
        }
        if array.last_slice < BLOCK {
            self.add(REFERENCE * (array.last_slice + 1).next_power_of_two());
        } else {
            self.add(BLOCK_ENTRY * array.blocks.next_power_of_two().max(FIRST_BLOCKS));
            self.parts += (self.taken(REFERENCE * BLOCK) * array.blocks) as f64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::rdb::snapshot::allocator::Allocator;
    use crate::format::rdb::snapshot::server::Server;

    /// The memory of an array at a one-byte key: positions, with string sizes for elements in own blocks.
    fn bytes(places: &[(u64, Option<u64>)]) -> u64 {
        let mut memory = Footprint::new(Server::Redis810, Allocator::Jemalloc);
        let mut array = Array::default();
        for (place, text) in places {
            memory.placed(&mut array, *place, *text);
        }
        memory.array(array);
        memory.total(1, false, places.len() as u64).unwrap()
    }

    #[test]
    fn an_array_takes_what_a_redis_of_june_2026_says() {
        let numbers = |places: &[u64]| {
            places
                .iter()
                .map(|place| (*place, None))
                .collect::<Vec<_>>()
        };
        assert_eq!(bytes(&[(0, None)]), 188);
        assert_eq!(bytes(&[(0, Some(8))]), 204);
        assert_eq!(bytes(&[(100, Some(8))]), 204);
        let eleven: Vec<u64> = (0..11).map(|at| 3 * at).collect();
        assert_eq!(bytes(&numbers(&eleven)), 428);
        assert_eq!(bytes(&numbers(&[10_000_000])), 16_660);
        assert_eq!(bytes(&numbers(&[0, 9000])), 292);
        assert_eq!(bytes(&numbers(&[0, 10_000_000, 4_000_000_000_000])), 49_588);
    }

    #[test]
    fn places_out_of_order_or_at_the_end_do_no_harm() {
        let places = [u64::MAX, 0, 7, 3, u64::MAX - 1, 0].map(|place| (place, Some(u64::MAX)));
        assert!(bytes(&places) > MAX_LEN);
    }
}
