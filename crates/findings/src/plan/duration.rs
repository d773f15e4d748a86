//! How long the moves take, as measured on a quiet machine: all nodes on loopback, slots of 12, 91 and 600 keys.

/// CLUSTER SETSLOT four times, and the listings.
const SECS_PER_SLOT: f64 = 0.005;
/// Listing and copying a small key of a slot with few.
const SECS_PER_KEY: f64 = 70e-6;
/// The keys of a slot that are listed one by one.
const FEW: u64 = 100;
/// The same for the others, which are listed many at a time.
const SECS_PER_MORE_KEYS: f64 = 25e-6;
/// Copying large values.
const BYTES_PER_SEC: f64 = 100.0 * 1024.0 * 1024.0;

/// The basis of the estimate, for people.
pub const BASIS: &str = "5 ms a slot, 70 µs a key, 25 µs above 100 keys a slot, 100 MiB/s";

/// Seconds that the setslot script takes if nodes and network are quiet; unknown bytes count as 0.
pub fn setslot_secs(slots: usize, keys: u64, bytes: Option<u64>) -> f64 {
    let few = keys.min(FEW.saturating_mul(slots as u64));
    slots as f64 * SECS_PER_SLOT
        + few as f64 * SECS_PER_KEY
        + (keys - few) as f64 * SECS_PER_MORE_KEYS
        + bytes.unwrap_or(0) as f64 / BYTES_PER_SEC
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_what_is_reckoned_with() {
        let micros = |secs: f64| (1e6 * secs).round();
        let basis = format!(
            "{} ms a slot, {} µs a key, {} µs above {FEW} keys a slot, {} MiB/s",
            1e3 * SECS_PER_SLOT,
            micros(SECS_PER_KEY),
            micros(SECS_PER_MORE_KEYS),
            BYTES_PER_SEC / f64::from(1 << 20)
        );
        assert_eq!(basis, BASIS);
    }
}
