//! Shapes: a number per key that ignores the digits of its ids, so that keys of one pattern usually share it.
//!
//! Keys with the same shape have the same pattern, barring constructed collisions; one pattern may have a few shapes.

use hashslot::simd::{Bytes64, Pass};
use hashslot::{Batch, Kernel};
use slotscope_keyname::ids::{self as keyname, Found};

use crate::format::batch::Spans;
use crate::hash::mix_span;
use crate::pattern::ids;
use crate::source::block::Padded;

/// The shape of a key, with the instructions of `kernel`.
pub fn shape(kernel: &Kernel, base: Padded<'_>, start: u32, end: u32) -> u64 {
    let mut shape = 0;
    let keys = Batch::new(
        base,
        std::slice::from_ref(&start),
        std::slice::from_ref(&end),
    );
    let shapes = std::slice::from_mut(&mut shape);
    kernel.run(Shapes { keys, shapes });
    shape
}

/// Computes the shape of each key with the instructions of `kernel`; shapes of different kernels are not comparable.
///
/// # Panics
/// If a key is not within `base`.
pub fn shapes(kernel: &Kernel, base: Padded<'_>, keys: &Spans, shapes: &mut Vec<u64>) {
    shapes.resize(keys.len(), 0);
    let keys = keys.in_block(base);
    kernel.run(Shapes { keys, shapes });
}

pub(super) struct Shapes<'a> {
    pub(super) keys: Batch<'a>,
    pub(super) shapes: &'a mut [u64],
}

/// Mixes the text between ids and the kind of each id into a hash.
struct Mixer<'a> {
    base: Padded<'a>,
    state: u64,
    from: u32,
}

impl<'a> Mixer<'a> {
    #[inline(always)]
    fn new(base: Padded<'a>, start: u32) -> Self {
        Mixer {
            base,
            state: 1,
            from: start,
        }
    }

    #[inline(always)]
    fn id(&mut self, found: Found) {
        self.state = mix_span(
            self.state,
            self.base,
            self.from,
            found.start,
            1 + found.id as u64,
        );
        self.from = found.end;
    }

    #[inline(always)]
    fn finish(self, end: u32) -> u64 {
        mix_span(self.state, self.base, self.from, end, 0)
    }
}

impl Pass for Shapes<'_> {
    type Output = ();

    fn scalar(self) {
        self.keys.assert_in_bounds();
        for (i, shape) in self.shapes.iter_mut().enumerate() {
            let (start, end) = (self.keys.starts()[i], self.keys.ends()[i]);
            let mut mixer = Mixer::new(self.keys.base(), start);
            keyname::each(self.keys.get(i), |id| mixer.id(ids::moved(id, start)));
            *shape = mixer.finish(end);
        }
    }

    #[inline(always)]
    fn vector<B: Bytes64>(self) {
        self.keys.assert_in_bounds();
        let keys = self.keys.starts().iter().zip(self.keys.ends());
        for ((&start, &end), shape) in keys.zip(self.shapes) {
            // SAFETY: the keys lie in the block, and the CPU has the instructions.
            *shape = unsafe { id_by_id::<B>(self.keys.base(), start, end) };
        }
    }
}

/// The shape of one key.
///
/// # Safety
/// The key must lie in `base`, the CPU must have the instructions of `B`.
#[inline(always)]
pub(super) unsafe fn id_by_id<B: Bytes64>(base: Padded<'_>, start: u32, end: u32) -> u64 {
    let mut mixer = Mixer::new(base, start);
    // SAFETY: passed on.
    unsafe { ids::by_masks::<B>(base, start, end, |found| mixer.id(found)) };
    mixer.finish(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::block::Block;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn assert_shapes_follow_patterns(keys: &[Vec<u8>]) {
        let (mut content, mut spans) = (Vec::new(), Spans::default());
        for key in keys {
            spans.push(content.len() as u32, (content.len() + key.len()) as u32);
            content.extend_from_slice(key);
        }
        let block = Block::from_bytes(&content);
        for kernel in hashslot::available() {
            let mut shapes = Vec::new();
            super::shapes(kernel, block.padded(), &spans, &mut shapes);
            let mut patterns: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
            let mut numbers: BTreeMap<Vec<u8>, Vec<u64>> = BTreeMap::new();
            for (key, shape) in keys.iter().zip(&shapes) {
                let pattern = keyname::pattern_of(key);
                let first = patterns.entry(*shape).or_insert_with(|| pattern.clone());
                assert_eq!(
                    first,
                    &pattern,
                    "{}: {}",
                    kernel.name,
                    String::from_utf8_lossy(key)
                );
                let numbers = numbers.entry(pattern).or_default();
                if !numbers.contains(shape) {
                    numbers.push(*shape);
                }
                // Short keys, long keys and those with hyphens may take different paths.
                assert!(
                    numbers.len() <= 2,
                    "{}: {}",
                    kernel.name,
                    String::from_utf8_lossy(key)
                );
            }
        }
    }

    #[test]
    fn ids_of_any_length_at_any_place_have_one_shape() {
        let mut keys = Vec::new();
        for before in 0..30 {
            for len in 0..34 {
                for id in ["4", "4f", "4z", "f4", "zz9"] {
                    let id: String = id.chars().cycle().take(len).collect();
                    keys.push(format!("{}:{id}", "k".repeat(before)).into_bytes());
                    keys.push(format!("{}{id}:b7:{id}", "k".repeat(before)).into_bytes());
                }
            }
        }
        assert_shapes_follow_patterns(&keys);
    }

    #[test]
    fn zero_bytes_count() {
        assert_shapes_follow_patterns(&[
            b"a".to_vec(),
            b"a\0".to_vec(),
            b"a\0\0".to_vec(),
            b"\0a".to_vec(),
            vec![],
        ]);
    }

    proptest! {
        #[test]
        fn keys_of_one_shape_have_one_pattern(
            keys in prop::collection::vec(
                "([a-f0-9]{1,12}|[0-9]{1,18}|[a-z]{1,9}[0-9]{0,4}|[:{}-]|é|[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,4}([.][0-9]{1,3}){3}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}){0,7}",
                0..60,
            ),
        ) {
            let keys: Vec<Vec<u8>> = keys.into_iter().map(String::into_bytes).collect();
            assert_shapes_follow_patterns(&keys);
        }
    }
}
