//! How long MIGRATE of one key blocks its node: a key is copied in one piece. The largest key of a slot dominates.
//!
//! Measured on Redis 7.0 to 8.2 and Valkey 9.0 (`tests/live/plan/block_times.rs`): a server takes half as long or twice as long.

use std::time::Duration;

use slotscope_base::name::Name;

use slotscope_model::kinds::LargeKey;

/// Copying a value.
const BYTES_PER_SEC: f64 = 300.0 * 1024.0 * 1024.0;
/// Copying a value whose elements are not known: it may have many.
const UNKNOWN_BYTES_PER_SEC: f64 = 75.0 * 1024.0 * 1024.0;
/// Rebuilding an element, by type; of other types as of a hash.
const SECS_PER_ELEMENT: [(&[u8], f64); 3] =
    [(b"list", 0.1e-6), (b"set", 0.5e-6), (b"zset", 0.5e-6)];
const SECS_PER_FIELD: f64 = 1.5e-6;

/// How long MIGRATE of a key blocks its node, by its known attributes.
pub fn block_time(kind: Option<&Name>, bytes: Option<u64>, elements: Option<u64>) -> Duration {
    let bytes = bytes.unwrap_or(0) as f64;
    let mut rows = SECS_PER_ELEMENT.iter();
    let row = rows.find(|(name, _)| kind.is_some_and(|kind| kind.0 == *name));
    let each = row.map_or(SECS_PER_FIELD, |(_, each)| *each);
    let secs = match elements {
        Some(elements) => (bytes / BYTES_PER_SEC).max(elements as f64 * each),
        None => bytes / UNKNOWN_BYTES_PER_SEC,
    };
    Duration::from_secs_f64(secs)
}

/// The same for a key that is not among the `largest`: it has no more elements than these, and takes no longer than if none
/// were listed.
pub fn unlisted_block_time(bytes: Option<u64>, largest: Option<&[LargeKey]>) -> Duration {
    let fewest = largest.and_then(|largest| largest.iter().map(|key| key.elements).min());
    block_time(None, bytes, fewest).min(block_time(None, bytes, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_key_has_few_elements_whatever_the_list_lacks() {
        let large = |elements| LargeKey {
            key: Name::from("big"),
            kind: Name::from("hash"),
            slot: 0,
            node: None,
            elements,
            load: Default::default(),
        };
        let millis = |bytes, largest: &[LargeKey]| {
            unlisted_block_time(Some(bytes), Some(largest)).as_millis()
        };
        assert_eq!(millis(96, &[large(400_000), large(120_000)]), 0);
        assert_eq!(millis(150 << 20, &[large(400_000)]), 600);
        assert_eq!(millis(150 << 20, &[large(4)]), 500);
        assert_eq!(millis(150 << 20, &[]), 2000);
    }

    #[test]
    fn elements_or_bytes_whichever_take_longer() {
        let of = |kind: &str, bytes, elements| {
            block_time(Some(&Name::from(kind)), bytes, elements).as_millis()
        };
        let millis = |bytes, elements| of("hash", bytes, elements);
        assert_eq!(millis(Some(45 << 20), Some(400_000)), 600);
        assert_eq!(millis(Some(600 << 20), Some(1)), 2000);
        assert_eq!(millis(Some(150 << 20), None), 2000);
        assert_eq!(millis(None, Some(50_000)), 75);
        assert_eq!(millis(None, None), 0);
        assert_eq!(of("zset", Some(15 << 20), Some(150_000)), 75);
        assert_eq!(of("list", Some(15 << 20), Some(150_000)), 50);
        assert!(block_time(None, Some(u64::MAX), Some(u64::MAX)).as_secs() > 1 << 40);
    }
}
