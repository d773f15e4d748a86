//! The program with external tools that tests/run installs: servers, a browser, strace, object stores. One module per
//! subject.

mod advise;
mod browser;
mod capture;
mod carried_out;
#[cfg(feature = "cloud")]
mod cloud;
mod collect;
mod collect_access;
mod exporter;
mod extremes;
mod fanout;
#[cfg(target_os = "linux")]
mod faults;
mod filters;
mod filters_collected;
mod formats;
mod honesty;
mod inputs_of_commands;
mod live_redis;
mod openmetrics;
mod plan;
mod rdb;
#[cfg(all(feature = "cloud", unix))]
mod secrets;
mod timeline_series;
#[cfg(target_os = "linux")]
mod top;
