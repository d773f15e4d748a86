//! The index of fields with TTL in a Valkey hash.

use crate::format::rdb::snapshot::memory::Footprint;

/// Milliseconds of expiry per bucket in Valkey; fields per vector; size of two bucket tree nodes, and the share of a
/// branching one.
const EXPIRY_SPAN: u64 = 1 << 13;
const EXPIRY_VECTOR: u64 = 127;
const EXPIRY_NODE: u64 = 16;
const EXPIRY_CHILD: f64 = 10.5;

impl Footprint {
    /// Bytes of the index: a single field, a vector of fields, or a tree of buckets by time.
    pub(super) fn expiries(&self) -> f64 {
        let (count, first, last) = self.expiring;
        let vector = |fields: u64| self.taken(8 + 8 * fields) as f64;
        if count <= 1 || !self.server.has_buckets() {
            return 0.0;
        }
        if count <= EXPIRY_VECTOR {
            return vector(count);
        }
        // Random times leave some buckets empty; a single field needs no vector.
        let buckets = ((last - first) / EXPIRY_SPAN + 1) as f64;
        let mean = count as f64 / buckets;
        let (none, one) = ((-mean).exp(), mean * (-mean).exp());
        let several = (1.0 - none - one).max(f64::MIN_POSITIVE);
        let fields = match ((mean - one) / several).round() as u64 {
            each @ ..=EXPIRY_VECTOR => vector(each),
            each => self.table(each),
        };
        let place = 2.0 * self.taken(EXPIRY_NODE) as f64 + EXPIRY_CHILD;
        buckets * ((1.0 - none) * place + several * fields)
    }
}
