//! `slotscope exporter`: the state of a running cluster for Prometheus, with a bounded number of series.
//!
//! A background thread reads the cluster at intervals; a scrape only returns the last reading.

pub(crate) mod http;
pub(crate) mod page;
