//! Batches of keys: views of one padded buffer, and keys from anywhere copied into one.

use crate::kernel::Kernel;
use crate::slot;

/// Readable bytes on each side of a buffer, which are never part of a key: as many as the widest vector has.
pub const PAD: usize = 64;

/// A view of bytes with [`PAD`] readable bytes before and after.
#[derive(Clone, Copy)]
pub struct Padded<'a> {
    whole: &'a [u8],
}

impl<'a> Padded<'a> {
    /// A view of `buffer`: `PAD` bytes of any value, the content, `PAD` bytes of any value.
    ///
    /// # Panics
    /// Where `buffer` has fewer than `2 * PAD` bytes.
    #[inline(always)]
    pub fn new(buffer: &'a [u8]) -> Self {
        assert!(
            buffer.len() >= 2 * PAD,
            "a buffer without room for its padding"
        );
        Padded { whole: buffer }
    }

    /// The content, without the padding.
    #[inline(always)]
    pub fn bytes(self) -> &'a [u8] {
        &self.whole[PAD..self.whole.len() - PAD]
    }

    /// Length of the content in bytes.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.whole.len() - 2 * PAD
    }

    /// True where there is no content.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The byte before offset `at` of the content; before the first one there is padding.
    ///
    /// # Panics
    /// Where that byte lies after the padding.
    #[inline(always)]
    pub fn byte_before(self, at: u32) -> u8 {
        self.whole[PAD - 1 + at as usize]
    }

    /// The sixteen bytes from offset `at` of the content on, the first one lowest; they may reach into the padding.
    ///
    /// # Panics
    /// Where `at` lies after the content.
    #[inline(always)]
    pub fn sixteen_at(self, at: u32) -> u128 {
        let start = PAD + at as usize;
        assert!(start <= self.whole.len() - PAD);
        u128::from_le_bytes(
            self.whole[start..start + 16]
                .try_into()
                .expect("sixteen bytes"),
        )
    }

    /// The eight bytes before offset `at` of the content, the first one lowest; they may reach into the padding.
    ///
    /// # Panics
    /// Where `at` lies after the content.
    #[inline(always)]
    pub fn eight_before(self, at: u32) -> u64 {
        let end = PAD + at as usize;
        assert!(end <= self.whole.len() - PAD);
        u64::from_le_bytes(self.whole[end - 8..end].try_into().expect("eight bytes"))
    }

    /// The first byte of the content. Reads from `PAD` bytes before it to `PAD` bytes after the last are in bounds.
    #[inline(always)]
    pub fn as_ptr(self) -> *const u8 {
        self.whole[PAD..].as_ptr()
    }
}

/// Keys, or the hashed parts of keys, as spans of one buffer. Span `i` is `start[i]..end[i]`, in bytes from the
/// start of the content; spans may overlap and come in any order.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    base: Padded<'a>,
    start: &'a [u32],
    end: &'a [u32],
}

impl<'a> Batch<'a> {
    /// The spans `start[i]..end[i]` of `base`.
    ///
    /// # Panics
    /// Where the columns are not of one length. Whether the spans lie in `base` is checked where they are used.
    #[inline(always)]
    pub fn new(base: Padded<'a>, start: &'a [u32], end: &'a [u32]) -> Self {
        assert!(
            start.len() == end.len(),
            "{} starts and {} ends",
            start.len(),
            end.len()
        );
        Batch { base, start, end }
    }

    /// Other spans of the same buffer.
    ///
    /// # Panics
    /// Where the columns are not of one length.
    #[inline(always)]
    pub fn with_spans<'b>(self, start: &'b [u32], end: &'b [u32]) -> Batch<'b>
    where
        'a: 'b,
    {
        Batch::new(self.base, start, end)
    }

    /// How many spans there are.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.start.len()
    }

    /// True where there are none.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.start.is_empty()
    }

    /// The buffer.
    #[inline(always)]
    pub fn base(self) -> Padded<'a> {
        self.base
    }

    /// Where each span starts.
    #[inline(always)]
    pub fn starts(self) -> &'a [u32] {
        self.start
    }

    /// Where each span ends.
    #[inline(always)]
    pub fn ends(self) -> &'a [u32] {
        self.end
    }

    /// The bytes of span `i`.
    ///
    /// # Panics
    /// Where there is no such span, or it does not lie in the buffer.
    #[inline(always)]
    pub fn get(self, i: usize) -> &'a [u8] {
        &self.base.bytes()[self.start[i] as usize..self.end[i] as usize]
    }

    /// Panics unless every span lies in the buffer, which makes the passes of a kernel safe.
    ///
    /// Inlined into each pass, it is vectorised with the kernel's instructions: 0.03 ns a key with AVX-512, 0.3
    /// without vectors.
    #[inline(always)]
    pub fn assert_in_bounds(self) {
        let (mut ordered, mut last) = (true, 0);
        for (start, end) in self.start.iter().zip(self.end) {
            ordered &= start <= end;
            last = last.max(*end);
        }
        assert!(
            ordered && last as usize <= self.base.len(),
            "a span outside its buffer"
        );
    }
}

/// Keys that are copied together.
const COPIED_KEYS: usize = 64;

/// Bytes that are copied together: with the padding, a stack frame of 4 KiB.
const COPIED_BYTES: usize = 4096 - 2 * PAD;

/// Writes the slot of each key: keys are copied into a padded buffer on the stack until it is full.
pub(crate) fn slots_of_slices(kernel: &Kernel, keys: &[&[u8]], slots: &mut [u16]) {
    assert!(
        keys.len() == slots.len(),
        "{} keys and {} slots",
        keys.len(),
        slots.len()
    );
    let mut buffer = [0; COPIED_BYTES + 2 * PAD];
    let (mut start, mut end) = ([0; COPIED_KEYS], [0; COPIED_KEYS]);
    let (mut hashed_start, mut hashed_end) = ([0; COPIED_KEYS], [0; COPIED_KEYS]);
    let mut done = 0;
    while done < keys.len() {
        let (mut count, mut used) = (0, 0);
        for key in keys[done..].iter().take(COPIED_KEYS) {
            if key.len() > COPIED_BYTES - used {
                break;
            }
            start[count] = used as u32;
            buffer[PAD + used..PAD + used + key.len()].copy_from_slice(key);
            used += key.len();
            end[count] = used as u32;
            count += 1;
        }
        if count == 0 {
            // A key that is longer than the buffer.
            slots[done] = slot(keys[done]);
            done += 1;
            continue;
        }
        let batch = Batch::new(Padded::new(&buffer), &start[..count], &end[..count]);
        let (hashed_start, hashed_end) = (&mut hashed_start[..count], &mut hashed_end[..count]);
        kernel.hashed_spans(batch, hashed_start, hashed_end);
        kernel.slots(
            batch.with_spans(hashed_start, hashed_end),
            &mut slots[done..done + count],
        );
        done += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::available;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn the_padding_is_around_the_content_and_not_in_it() {
        let mut buffer = vec![b'x'; PAD];
        buffer.extend_from_slice(b"abc");
        buffer.extend_from_slice(&[b'y'; PAD]);
        let padded = Padded::new(&buffer);
        assert_eq!((padded.bytes(), padded.len()), (&b"abc"[..], 3));
        assert_eq!((padded.byte_before(0), padded.byte_before(1)), (b'x', b'a'));
        assert_eq!(padded.sixteen_at(1).to_le_bytes()[..3], *b"bcy");
        assert_eq!(padded.eight_before(2).to_le_bytes(), *b"xxxxxxab");
        assert_eq!(padded.eight_before(3).to_le_bytes(), *b"xxxxxabc");
        assert!(Padded::new(&[0; 2 * PAD]).is_empty());
    }

    #[test]
    #[should_panic(expected = "a buffer without room for its padding")]
    fn a_buffer_without_padding_is_refused() {
        Padded::new(&[0; 2 * PAD - 1]);
    }

    #[test]
    fn keys_from_anywhere_have_the_slots_that_they_have_one_by_one() {
        let lens = (0..200).chain([COPIED_BYTES - 1, COPIED_BYTES, COPIED_BYTES + 1, 9000, 0, 7]);
        let content: Vec<Vec<u8>> = lens
            .map(|len| (0..len).map(|i| b"ab{c}d"[(i * 7 + len) % 6]).collect())
            .collect();
        let keys: Vec<&[u8]> = content.iter().map(Vec::as_slice).collect();
        let expected: Vec<u16> = keys.iter().map(|key| slot(key)).collect();
        for kernel in available() {
            for count in [0, 1, 63, 64, 65, keys.len()] {
                let mut slots = vec![u16::MAX; count];
                slots_of_slices(kernel, &keys[..count], &mut slots);
                assert_eq!(slots, expected[..count], "{}", kernel.name);
            }
        }
    }

    #[test]
    #[should_panic(expected = "1 keys and 2 slots")]
    fn a_column_of_another_length_is_refused() {
        crate::slots(&[b"a"], &mut [0; 2]);
    }
}
