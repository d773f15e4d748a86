//! Bounded summaries: Count-Min sketch, HyperLogLog, heavy hitters, bottom-k sample, histogram, time spans, top-k.

pub mod bottom_k;
pub mod buckets;
pub mod count_min;
pub(crate) mod heavy_hitters;
pub mod histogram;
pub mod hyper_log_log;
pub mod spans;
pub mod top;
