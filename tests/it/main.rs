//! All integration tests in one binary; one module a subject.

mod support;

mod advise;
mod attributes;
mod browser;
mod capture;
mod carried_out;
mod charts;
mod cli;
#[cfg(feature = "cloud")]
mod cloud;
mod collect;
mod collect_access;
mod commands;
mod compressed;
mod diff;
mod docs;
mod every_tag;
mod exporter;
mod extremes;
mod fanout;
#[cfg(target_os = "linux")]
mod faults;
mod file_nodes;
mod filters;
mod find_tag;
mod first_contact;
mod formats;
mod fuzz;
mod golden;
mod honesty;
mod hostile_files;
mod inputs_of_commands;
mod language;
mod laws;
mod limits;
mod lint;
mod live_redis;
mod manual;
mod memory;
mod memory_of_commands;
mod names;
mod openmetrics;
mod outputs;
mod package;
mod packaging;
mod partial;
mod patterns;
mod pictures;
mod plan;
mod policies;
mod python_options;
mod rdb;
mod reads;
mod redact;
mod same_report;
mod sampled;
mod samples;
mod schema;
#[cfg(all(feature = "cloud", unix))]
mod secrets;
mod service;
mod shape;
mod statistics;
mod storms;
mod timeline;
mod timeline_series;
#[cfg(target_os = "linux")]
mod top;
mod trend;
mod verdict;
mod weighed;
mod whatif;
