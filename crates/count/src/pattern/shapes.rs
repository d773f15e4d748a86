//! Shapes: a number per key that ignores the digits of its ids, so that keys of one pattern usually share it.
//!
//! Keys with the same shape have the same pattern, barring constructed collisions; one pattern may have a few shapes.

use slotscope_keyname::ids;

use slotscope_base::block::Padded;
use slotscope_base::hash::mix_span;

/// The shape of the key at `start..end`: the text between its ids and the kind of each id, hashed.
///
/// # Panics
/// If the key is not within `base`.
pub fn shape(base: Padded<'_>, start: u32, end: u32) -> u64 {
    let (mut state, mut from) = (1, start);
    ids::each(&base.bytes()[start as usize..end as usize], |id| {
        state = mix_span(state, base, from, start + id.start, 1 + id.id as u64);
        from = start + id.end;
    });
    mix_span(state, base, from, end, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use slotscope_base::block::Block;
    use std::collections::BTreeMap;

    fn assert_shapes_follow_patterns(keys: &[Vec<u8>]) {
        let mut patterns: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
        let mut numbers: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        for key in keys {
            let block = Block::from_bytes(&[b"before", &key[..], b"behind"].concat());
            let shape = shape(block.padded(), 6, 6 + key.len() as u32);
            let pattern = ids::pattern_of(key);
            let first = patterns.entry(shape).or_insert_with(|| pattern.clone());
            assert_eq!(first, &pattern, "{}", String::from_utf8_lossy(key));
            let number = numbers.entry(pattern).or_insert(shape);
            assert_eq!(*number, shape, "{}", String::from_utf8_lossy(key));
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
