//! `slotscope exporter`: the state of a running cluster for Prometheus, as a bounded number of series.
//!
//! A background thread reads the cluster at intervals; a scrape returns the last reading, and starts nothing.

pub(crate) mod hosts;
pub(crate) mod http;
pub(crate) mod judged;
pub(crate) mod page;
