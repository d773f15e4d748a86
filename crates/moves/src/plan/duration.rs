//! Estimated duration of moves. Measured on an idle machine: all nodes on loopback, slots of 12, 91 and 600 keys.

/// Four CLUSTER SETSLOT calls plus listing.
const SECS_PER_SLOT: f64 = 0.005;
/// Listing and copying one small key, for the first `FEW` keys of a slot.
const SECS_PER_KEY: f64 = 70e-6;
/// Up to this many keys of a slot cost `SECS_PER_KEY` each.
const FEW: u64 = 100;
/// Each key beyond `FEW`, which are listed in larger batches.
const SECS_PER_MORE_KEYS: f64 = 25e-6;
/// Throughput of copying large values.
const BYTES_PER_SEC: f64 = 100.0 * 1024.0 * 1024.0;

/// The basis of the estimate, for people.
pub const BASIS: &str = "5 ms a slot, 70 µs a key, 25 µs above 100 keys a slot, 100 MiB/s";

/// Duration of the setslot script on idle nodes and network; unknown bytes count as 0.
pub(crate) fn setslot_secs(slots: usize, keys: u64, bytes: Option<u64>) -> f64 {
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
