//! Files, laws and sample reports: the integration tests without external tools. One module per subject.

#[cfg(feature = "names")]
mod advise;
mod attributes;
mod bench;
#[cfg(feature = "history")]
mod capacity;
mod charts;
mod cli;
mod commands;
mod compressed;
mod coverage;
#[cfg(feature = "history")]
mod diff;
mod docs;
#[cfg(feature = "names")]
mod fanout;
mod file_nodes;
mod filters;
mod find_tag;
mod first_contact;
mod formats;
mod fuzz;
mod golden;
mod hostile_files;
mod language;
mod law;
mod laws;
mod limits;
#[cfg(feature = "names")]
mod lint;
mod manual;
mod memory;
mod names;
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
mod samples;
mod schema;
mod service;
mod shape;
mod statistics;
mod storms;
mod terminal;
#[cfg(feature = "history")]
mod timeline;
mod verdict;
mod whatif;
