//! The index by which a hash of Valkey finds fields that expire.

use crate::format::rdb::snapshot::memory::Footprint;

/// Milliseconds of fields that expire in one bucket, in Valkey; how many fields a vector holds; two nodes of the tree of
/// buckets, and its part of one that branches.
const EXPIRY_SPAN: u64 = 1 << 13;
const EXPIRY_VECTOR: u64 = 127;
const EXPIRY_NODE: u64 = 16;
const EXPIRY_CHILD: f64 = 10.5;

impl Footprint {
    /// The bytes of the index of fields that expire: one field, a vector of them, or a tree of buckets by their time.
    pub(super) fn expiries(&self) -> f64 {
        let (count, first, last) = self.expiring;
        let vector = |fields: u64| self.taken(8 + 8 * fields) as f64;
        if count <= 1 || !self.server.has_buckets() {
            return 0.0;
        }
        if count <= EXPIRY_VECTOR {
            return vector(count);
        }
        // Times at random leave some buckets empty; one field needs no vector.
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
