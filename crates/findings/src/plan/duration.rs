//! How long the moves take, from what they took on a quiet machine: all nodes on loopback, slots of 12, 91 and 600 keys.

/// CLUSTER SETSLOT four times, and the listings.
const SECS_PER_SLOT: f64 = 0.004;
/// Listing and copying a small key.
const SECS_PER_KEY: f64 = 30e-6;
/// Copying large values.
const BYTES_PER_SEC: f64 = 100.0 * 1024.0 * 1024.0;

/// What the estimate is made of, for people.
pub const BASIS: &str = "4 ms a slot, 30 µs a key, 100 MiB/s";

/// Seconds that the setslot script takes where nodes and network are quiet; bytes that are not known count as none.
pub fn setslot_secs(slots: usize, keys: u64, bytes: Option<u64>) -> f64 {
    slots as f64 * SECS_PER_SLOT
        + keys as f64 * SECS_PER_KEY
        + bytes.unwrap_or(0) as f64 / BYTES_PER_SEC
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_what_is_reckoned_with() {
        let basis = format!(
            "{} ms a slot, {} µs a key, {} MiB/s",
            1e3 * SECS_PER_SLOT,
            (1e6 * SECS_PER_KEY).round(),
            BYTES_PER_SEC / f64::from(1 << 20)
        );
        assert_eq!(basis, BASIS);
    }
}
