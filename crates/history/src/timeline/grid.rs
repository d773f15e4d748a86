//! Exact amounts by time and slot, in buckets of a second, or as many seconds as it takes to keep the number of columns
//! small.

use slotscope_base::slot::SLOTS;
use slotscope_count::tally::operations::SECOND;

/// Maximum columns; a long enough picture has at least half of them.
pub(super) const COLUMNS: u64 = 400;

/// Saturation value of a cell: the sum of all cells still fits. Saturation does not depend on order.
const MOST: u64 = 1 << 40;

/// Amounts by time bucket and slot. Bucket length depends only on the first and last time, so the order of additions
/// does not matter.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Grid {
    /// How often the bucket length was doubled from one second.
    doublings: u32,
    /// In time order; empty buckets are omitted.
    columns: Vec<Column>,
    /// The column of the last addition; the next one usually goes there too.
    recent: usize,
}

/// The amounts of one bucket.
#[derive(Debug, Clone, PartialEq)]
struct Column {
    /// Its number, counted from 1970.
    bucket: u64,
    /// By slot.
    ops: Box<[u64]>,
}

/// The time axis of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimeAxis {
    /// The number of the first bucket, counted from 1970.
    first: u64,
    doublings: u32,
    /// The number of buckets.
    pub len: usize,
}

impl TimeAxis {
    /// Seconds of a bucket.
    pub(super) fn bucket_secs(&self) -> u64 {
        1 << self.doublings
    }

    /// The bucket index of a time in milliseconds since 1970.
    pub(super) fn place(&self, time: u64) -> Option<usize> {
        let place = ((time / SECOND) >> self.doublings).checked_sub(self.first)?;
        usize::try_from(place)
            .ok()
            .filter(|place| *place < self.len)
    }

    /// The start of a bucket, in seconds since 1970.
    pub(super) fn start(&self, place: usize) -> u64 {
        (self.first + place as u64) << self.doublings
    }
}

impl Grid {
    /// Adds operations on a slot at a time in milliseconds since 1970.
    pub(super) fn add(&mut self, time: u64, slot: u16, ops: u64) {
        let bucket = (time / SECOND) >> self.doublings;
        if self.columns.get(self.recent).map(|column| column.bucket) != Some(bucket) {
            self.recent = self.find(bucket);
        }
        if let Some(column) = self.columns.get_mut(self.recent) {
            let sum = &mut column.ops[usize::from(slot)];
            *sum = sum.saturating_add(ops).min(MOST);
        }
        while self.axis().is_some_and(|axis| axis.len as u64 > COLUMNS) {
            self.double();
        }
    }

    /// Adds amounts of slots spread evenly between two times in milliseconds since 1970. Parts are split at bucket
    /// ends, so buckets merged later have the same content as wider ones from the start.
    pub(super) fn spread(&mut self, (from, to): (u64, u64), amounts: &[(u16, u64)]) {
        // Add both ends first, which limits the number of buckets in between.
        self.add(from, 0, 0);
        self.add(to - 1, 0, 0);
        let bucket_ms = SECOND << self.doublings;
        let mut place = from / bucket_ms;
        let until = |at: u64, amount: u64| {
            (u128::from(amount) * u128::from(at - from) / u128::from(to - from)) as u64
        };
        let mut start = from;
        while start < to {
            let end = ((place + 1) * bucket_ms).min(to);
            let at = self.find(place);
            let column = &mut self.columns[at].ops;
            for (slot, amount) in amounts {
                let sum = &mut column[usize::from(*slot)];
                let part = until(end, *amount) - until(start, *amount);
                *sum = sum.saturating_add(part).min(MOST);
            }
            (start, place) = (end, place + 1);
        }
        self.recent = 0;
    }

    /// Merges buckets until each has at least this many seconds.
    pub(super) fn lengthen(&mut self, secs: u64) {
        while !self.columns.is_empty() && 1 << self.doublings < secs && self.doublings < 60 {
            self.double();
        }
    }

    /// The time axis; `None` without operations.
    pub(super) fn axis(&self) -> Option<TimeAxis> {
        let (first, last) = (self.columns.first()?.bucket, self.columns.last()?.bucket);
        Some(TimeAxis {
            first,
            doublings: self.doublings,
            len: (last - first + 1) as usize,
        })
    }

    /// Every non-empty column: its index on the axis, and the operations by slot.
    pub(super) fn columns(&self) -> impl Iterator<Item = (usize, &[u64])> {
        let first = self.columns.first().map_or(0, |column| column.bucket);
        let columns = self.columns.iter();
        columns.map(move |column| ((column.bucket - first) as usize, &*column.ops))
    }

    /// The index of a bucket's column, created if missing.
    fn find(&mut self, bucket: u64) -> usize {
        match self
            .columns
            .binary_search_by_key(&bucket, |column| column.bucket)
        {
            Ok(place) => place,
            Err(place) => {
                let ops = vec![0; SLOTS].into();
                self.columns.insert(place, Column { bucket, ops });
                place
            }
        }
    }

    fn double(&mut self) {
        self.doublings += 1;
        self.recent = 0;
        let mut doubled: Vec<Column> = Vec::with_capacity(self.columns.len());
        for column in std::mem::take(&mut self.columns) {
            let bucket = column.bucket >> 1;
            match doubled.last_mut() {
                Some(last) if last.bucket == bucket => add_all(&mut last.ops, &column.ops),
                _ => doubled.push(Column { bucket, ..column }),
            }
        }
        self.columns = doubled;
    }
}

fn add_all(sums: &mut [u64], ops: &[u64]) {
    let pairs = sums.iter_mut().zip(ops);
    pairs.for_each(|(sum, ops)| *sum = sum.saturating_add(*ops).min(MOST));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(seconds: impl Iterator<Item = u64>) -> Grid {
        let mut grid = Grid::default();
        seconds.for_each(|second| grid.add(second * 1000 + 999, (second % 7) as u16, 1));
        grid
    }

    fn dense(grid: &Grid) -> Vec<(usize, Vec<u64>)> {
        let columns = grid.columns();
        columns
            .map(|(place, ops)| (place, ops[..7].to_vec()))
            .collect()
    }

    #[test]
    fn buckets_are_the_shortest_that_fit_whatever_the_order() {
        let times = (0..3001).map(|i| 1_700_000_000 + i * 7 % 3001);
        let whole = counted(times.clone());
        let axis = whole.axis().unwrap();
        assert_eq!(axis.bucket_secs(), 8, "3,001 seconds in 400 buckets");
        assert!((200..=400).contains(&axis.len));
        let mut sorted: Vec<u64> = times.collect();
        sorted.sort_unstable();
        for order in [sorted.clone(), sorted.into_iter().rev().collect()] {
            let grid = counted(order.into_iter());
            assert_eq!((grid.axis(), dense(&grid)), (whole.axis(), dense(&whole)));
        }
    }

    #[test]
    fn what_is_spread_is_whole_and_does_not_depend_on_the_order() {
        let start = 1_700_000_000_000;
        let spans = [
            (0, 10_500, 7),
            (10_500, 21_001, 1000),
            (700_000, 990_017, 13),
        ];
        let spread = |order: &[usize]| {
            let mut grid = Grid::default();
            for at in order {
                let (from, to, amount) = spans[*at];
                grid.spread((start + from, start + to), &[(3, amount), (5, 2 * amount)]);
            }
            grid
        };
        let grid = spread(&[0, 1, 2]);
        let sum = |slot: usize| grid.columns().map(|(_, ops)| ops[slot]).sum::<u64>();
        assert_eq!((sum(3), sum(5)), (1020, 2040));
        assert_eq!(grid.axis().unwrap().bucket_secs(), 4);
        for order in [[2, 1, 0], [1, 2, 0]] {
            assert_eq!(dense(&spread(&order)), dense(&grid));
        }
        let mut longer = grid.clone();
        longer.lengthen(10);
        assert_eq!(longer.axis().unwrap().bucket_secs(), 16);
        let mut far = Grid::default();
        far.spread((0, u64::MAX / 2), &[(0, 400)]);
        assert!(far.columns().count() as u64 <= COLUMNS);
    }

    #[test]
    fn any_time_has_a_place_in_bounded_memory() {
        let grid = counted([0, u64::MAX / 2000, 17].into_iter());
        let axis = grid.axis().unwrap();
        assert!(axis.len as u64 <= COLUMNS && grid.columns().count() <= 3);
        assert_eq!(axis.place(0), Some(0));
        assert_eq!(axis.place(u64::MAX), None);
        assert_eq!(Grid::default().axis(), None);
    }
}
