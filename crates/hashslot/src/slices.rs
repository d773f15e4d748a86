//! Scattered keys, copied into one padded buffer.

use crate::batch::{Batch, PAD, Padded};
use crate::kernel::Kernel;
use crate::slot;

/// Keys copied together.
const COPIED_KEYS: usize = 64;

/// Bytes copied together: with the padding, a stack frame of 4 KiB.
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
    use crate::registry::available;
    use std::vec;
    use std::vec::Vec;

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
