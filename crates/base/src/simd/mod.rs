//! Byte search with a kernel's vector instructions: 64 bytes become a mask of one bit per byte.

pub mod rows;

use hashslot::Kernel;
use hashslot::simd::{Bytes64, LANES, Pass, Portable};

use crate::block::Padded;

/// The result of a search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Found {
    /// The number of ends; less than the space available means that all bytes were searched.
    pub ends: usize,
    /// For cells: how many of them are LF.
    pub lines: usize,
    /// For delimiters alone: whether there may be a blank before the last one, or anywhere if all bytes were searched.
    pub has_blank: bool,
    /// Of cells: whether there may be a double quote there.
    pub has_quote: bool,
    /// Of cells: whether there may be a CR there.
    pub has_return: bool,
}

/// Finds `delimiter` in `base[from..]` with the instructions of `kernel`: fills `ends` with its ascending offsets.
pub fn find_delimiters(
    kernel: &Kernel,
    base: Padded<'_>,
    from: u32,
    delimiter: u8,
    ends: &mut [u32],
) -> Found {
    kernel.run(Find::<false> {
        base,
        from,
        delimiter,
        ends,
    })
}

/// The same with `delimiter` and LF, which end the cells of a table.
pub fn find_cells(
    kernel: &Kernel,
    base: Padded<'_>,
    from: u32,
    delimiter: u8,
    ends: &mut [u32],
) -> Found {
    kernel.run(Find::<true> {
        base,
        from,
        delimiter,
        ends,
    })
}

struct Find<'a, const CELLS: bool> {
    base: Padded<'a>,
    from: u32,
    delimiter: u8,
    ends: &'a mut [u32],
}

impl<const CELLS: bool> Pass for Find<'_, CELLS> {
    type Output = Found;

    /// Masks built from machine words: 4.7 ns per key, where searching delimiter by delimiter takes 5 to 7.
    fn scalar(self) -> Found {
        self.vector::<Portable>()
    }

    #[inline(always)]
    fn vector<B: Bytes64>(self) -> Found {
        let Find {
            base,
            from,
            delimiter,
            ends,
        } = self;
        let (mut at, mut count, mut lines) = (from as usize, 0, 0);
        let (mut blanks, mut quotes, mut returns) = (0, 0, 0);
        while at < base.len() && count < ends.len() {
            // SAFETY: 64 bytes after the block may be read, and the CPU has the instructions.
            let bytes = unsafe { B::load(base.as_ptr().add(at)) };
            let inside = u64::MAX >> LANES.saturating_sub(base.len() - at);
            let mut mask = bytes.equal(delimiter) & inside;
            let mut line_ends = 0;
            if CELLS {
                line_ends = bytes.equal(b'\n') & inside;
                mask |= line_ends;
                quotes |= bytes.equal(b'"');
                returns |= bytes.equal(b'\r');
            } else {
                blanks |= bytes.equal(b' ');
            }
            // SAFETY: the CPU has the instructions.
            count += unsafe { positions(bytes, mask, at, &mut ends[count..]) };
            if CELLS {
                let taken = match ends.get(count) {
                    Some(_) => u64::MAX,
                    // The last of them may not have fit.
                    None => u64::MAX >> (LANES - 1 - (ends[count - 1] as usize - at)),
                };
                lines += (line_ends & taken).count_ones() as usize;
            }
            at += LANES;
        }
        Found {
            ends: count,
            lines,
            has_blank: blanks != 0,
            has_quote: quotes != 0,
            has_return: returns != 0,
        }
    }
}

/// Writes the offsets of the bits of `mask`, for the bytes at `at`, as space permits; returns their number.
///
/// # Safety
/// The CPU must have the instructions of `B`.
#[inline(always)]
unsafe fn positions<B: Bytes64>(bytes: B, mask: u64, at: usize, into: &mut [u32]) -> usize {
    if into.len() >= LANES {
        // SAFETY: there is room for 64.
        return unsafe { bytes.positions(mask, at as u32, into.as_mut_ptr()) };
    }
    let mut buffer = [0; LANES];
    // SAFETY: there is room for 64.
    let count = unsafe { bytes.positions(mask, at as u32, buffer.as_mut_ptr()) }.min(into.len());
    into[..count].copy_from_slice(&buffer[..count]);
    count
}

/// Prefetches a value about to be written.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: every x86-64 CPU has the instruction or ignores it, and the address is that of a value.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(std::ptr::from_ref(value).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Block;
    use proptest::prelude::*;

    /// Blocks with many or few delimiters, shorter and longer than a vector.
    fn content() -> impl Strategy<Value = Vec<u8>> {
        let bytes = |plain: u32, len: std::ops::Range<usize>| {
            let rare = prop_oneof![
                Just(b'{'),
                Just(b'\n'),
                Just(b' '),
                Just(b'"'),
                Just(b'\r'),
                any::<u8>()
            ];
            prop::collection::vec(prop_oneof![4 => rare, plain => Just(b'a')], len)
        };
        prop::collection::vec(
            prop_oneof![bytes(4, 0..80), bytes(40, 0..200), bytes(400, 40..800)],
            0..6,
        )
        .prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn every_delimiter_is_found(content in content(), from in 0usize..3000, room in 0usize..400, other: u8) {
            let block = Block::from_bytes(&content);
            let from = from.min(content.len());
            for delimiter in [b'\n', b'a', b'{', 0, other] {
                let is_one = |i: &usize| content[*i] == delimiter;
                let expected: Vec<u32> =
                    (from..content.len()).filter(is_one).map(|i| i as u32).take(room).collect();
                let is_end = |i: &usize| is_one(i) || content[*i] == b'\n';
                let cells: Vec<u32> =
                    (from..content.len()).filter(is_end).map(|i| i as u32).take(room).collect();
                for kernel in hashslot::available() {
                    for (expected, are_cells) in [(&expected, false), (&cells, true)] {
                        let find = if are_cells { find_cells } else { find_delimiters };
                        let mut ends = vec![u32::MAX; room + 64];
                        let found = find(kernel, block.padded(), from as u32, delimiter, &mut ends[..room]);
                        prop_assert_eq!(&ends[..found.ends], expected, "{}", kernel.name);
                        let lines = expected.iter().filter(|end| content[**end as usize] == b'\n').count();
                        prop_assert_eq!(found.lines, if are_cells { lines } else { 0 }, "{}", kernel.name);
                        let end = if expected.len() < room { content.len() } else { ends[..room].last().map_or(0, |end| *end as usize) };
                        let flags = [(b' ', found.has_blank), (b'"', found.has_quote), (b'\r', found.has_return)];
                        for (byte, has) in flags.into_iter().filter(|(byte, _)| (*byte != b' ') == are_cells) {
                            prop_assert!(has || !content[from..end.max(from)].contains(&byte), "{}", kernel.name);
                            prop_assert!(!has || content.contains(&byte), "{}", kernel.name);
                        }
                        prop_assert!(ends[room..].iter().all(|end| *end == u32::MAX), "{} wrote too far", kernel.name);
                    }
                }
            }
        }
    }
}
